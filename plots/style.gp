# The looks of every figure: terminals, axes, and one colour, dash and mark for each strategy in all figures.
# Loaded once a format, after the variables that `ocsim plot` writes (see README.md).

set encoding utf8
if (FORMAT eq 'pdf') {
    set terminal pdfcairo enhanced color size WIDTH_CM cm, HEIGHT_CM cm font "Helvetica,8" linewidth 1 dashlength 0.7
    set output PDF
} else {
    # 300 dots an inch; cairo's pixel is 1/72 inch, so everything is drawn 300/72 times as large.
    set terminal pngcairo enhanced color size int(WIDTH_CM / 2.54 * 300), int(HEIGHT_CM / 2.54 * 300) \
        font "Helvetica,8" fontscale 300 / 72. linewidth 300 / 72. pointscale 300 / 72. dashlength 0.7 background '#ffffff'
    set output PNG
}

# ---- one style for each name ----
# Colours: seaborn's "colorblind" palette, told apart with every common colour blindness. Names that stand here keep
# their style in all figures; others take what is left, in order of appearance.
STYLES = '|PAC-ML=1|pac_ml=1|fixed=1|max=2|Para_max=2|min_sufficient=3|Para_min=3|random=4|Random=4' . \
         '|exact_min=5|trace=6|sequential=7|fixed 1=7|fixed 2=6|fixed 4=8|fixed 8=1|fixed 16=9|comp_s=1|comm_s=2|reconfig_s=4|wait_s=7|'
style_count = 36
style_of(name) = strstrt(STYLES, '|' . name . '=') == 0 ? 0 : \
    int(STYLES[strstrt(STYLES, '|' . name . '=') + strlen(name) + 2 : strstrt(STYLES, '|' . name . '=') + strlen(name) + 2])

array COLOURS[9] = ['#0173B2', '#DE8F05', '#029E73', '#D55E00', '#CC78BC', '#CA9161', '#949494', '#56B4E9', '#222222']
array MARKS[9] = [7, 2, 5, 1, 9, 13, 11, 15, 3]
array DASHES[9] = [1, 2, 1, 4, 1, 5, 3, 1, 2]
do for [s = 1:9] {
    set style line s linecolor rgb COLOURS[s] linewidth 1.5 pointtype MARKS[s] pointsize 0.45 dashtype DASHES[s]
    # The same colours with hollow marks and other dashes, three times over, for figures with many series.
    do for [more = 1:3] {
        style_number = 9 * more + s
        style_mark = 2 + 2 * more
        style_dash = more + 1
        set style line style_number linecolor rgb COLOURS[s] linewidth 1.5 pointsize 0.5 pointtype style_mark \
            dashtype style_dash
    }
}

array STYLE_USED[style_count]
array LOOKS[N]
do for [s = 1:style_count] { STYLE_USED[s] = 0 }
do for [i = 1:N] {
    LOOKS[i] = style_of(NAMES[i])
    if (LOOKS[i] > 0) { if (STYLE_USED[LOOKS[i]]) { LOOKS[i] = 0 } else { STYLE_USED[LOOKS[i]] = 1 } }
}
style_next = 1
do for [i = 1:N] {
    if (LOOKS[i] == 0) {
        while (style_next < style_count && STYLE_USED[style_next]) { style_next = style_next + 1 }
        LOOKS[i] = style_next
        STYLE_USED[style_next] = 1
    }
}
look(i) = i > 0 ? COLOURS[(LOOKS[i] - 1) % 9 + 1] : '#222222'

# ---- axes ----
set border 3 linewidth 0.6 linecolor rgb '#222222'
set tics nomirror out scale 0.5 textcolor rgb '#222222'
set grid ytics linecolor rgb '#E3E3E3' linetype 1 linewidth 0.4
set key above center horizontal noenhanced samplen 2.2 spacing 0.95 height 0.1 width -0.5 nobox
set xlabel XLABEL noenhanced offset 0, 0.4
set ylabel YLABEL noenhanced offset 0.8, 0
set lmargin
set bars small
set errorbars linewidth 0.9
if (X_LOG) { set logscale x 10 }
if (X_LOG && !PLAIN_X) { set format x '10^{%L}'; set mxtics 10 }
if (PLAIN_X) { set format x '%.4g' }
if (Y_LOG) { set logscale y 10; set format y '10^{%L}'; set mytics 10 }
if (!Y_LOG) { set format y '%.3g' }
if (!X_LOG && CATEGORIES == 0) { set format x '%.4g'; set xtics autofreq norotate }
if (CATEGORIES > 0) {
    set xrange [-0.6 : CATEGORIES - 0.4]
    set xtics scale 0
    if (ROTATE) { set xtics rotate by 35 right offset 0, -0.1 noenhanced } else { set xtics norotate noenhanced }
}
if (NOTE ne '') {
    set label 1 NOTE at graph 0.985, 0.955 right front noenhanced textcolor rgb '#CC0000' font ",8"
}
