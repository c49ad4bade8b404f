# The looks of every figure: terminals, axes, and one colour, dash and mark for each strategy in all figures.
# Loaded once a format, after the variables that `ocsim plot` writes (see README.md).

set encoding utf8
# 7 points in print. cairo's PDF halves fonts unless told otherwise; its PNG pixel is 1/72 inch, so at 300 dots an inch
# everything is drawn 300/72 times as large.
if (FORMAT eq 'probe') { set terminal unknown }
if (FORMAT eq 'pdf') {
    set terminal pdfcairo enhanced color size WIDTH_CM cm, HEIGHT_CM cm font "Helvetica,7" fontscale 1 linewidth 1 dashlength 0.4
    set output PDF
}
if (FORMAT eq 'png') {
    set terminal pngcairo enhanced color size int(WIDTH_CM / 2.54 * 300), int(HEIGHT_CM / 2.54 * 300) \
        font "Helvetica,7" fontscale 300 / 72. linewidth 300 / 72. pointscale 300 / 72. dashlength 0.4 background '#ffffff'
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
array SIZES[9] = [0.45, 0.6, 0.45, 0.7, 0.55, 0.55, 0.55, 0.5, 0.6]
array DASHES[9] = [1, 2, 1, 4, 1, 5, 3, 1, 2]
do for [s = 1:9] {
    set style line s linecolor rgb COLOURS[s] linewidth 1.5 pointtype MARKS[s] pointsize SIZES[s] dashtype DASHES[s]
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
array HOLLOWS[8] = [6, 2, 4, 1, 8, 12, 10, 14]
hollow(i) = HOLLOWS[(i - 1) % 8 + 1] # by place: neighbours in the legend differ most
look(i) = i > 0 ? COLOURS[(LOOKS[i] - 1) % 9 + 1] : '#222222'

# ---- axes ----
set border 3 linewidth 0.6 linecolor rgb '#222222'
set tics nomirror out scale 0.5 textcolor rgb '#222222'
set grid ytics linecolor rgb '#E3E3E3' linetype 1 linewidth 0.4
set key above center horizontal Left reverse noenhanced samplen 1.6 spacing 1.15 height 0 width KEY_WIDTH nobox
if (N + R + H > 6 && WIDTH_CM < 10) { set key font ",6" samplen 1 width 2.5 * KEY_WIDTH } # three to a row, not two
if (NOTE ne '') { set label 1 NOTE at graph 0.99, 0.955 right front noenhanced textcolor rgb '#CC0000' }
if (X_LOG) { set logscale x 10 }
if (Y_LOG) { set logscale y 10; set format y '10^{%L}'; set mytics 10 }
if (X_LOG && !PLAIN_X) { set format x '10^{%L}'; set mxtics 10 }
if (X_LOG && X_MAX >= 100 * X_MIN) { set xrange [X_MIN / 1.2 : X_MAX * 1.2] }
if (X_LOG && PLAIN_X) { set xrange [X_MIN / 1.1 : X_MAX * 1.1] }
if (!X_LOG && CATEGORIES == 0 && X_MAX > X_MIN) {
    set xrange [X_MIN - X_PAD * (X_MAX - X_MIN) : X_MAX + X_PAD * (X_MAX - X_MIN)]
}
if (CATEGORIES > 0) {
    set xrange [-0.6 : CATEGORIES - 0.4]
    set xtics scale 0
    if (ROTATE) { set xtics rotate by 30 right offset 0.5, -0.1 noenhanced } else { set xtics norotate noenhanced }
}

# About six tics, at round numbers; large and small ones are told in powers of ten, in the title: "throughput [10^7 B/s]".
# The range is known from a first plot into nowhere.
step_of(span) = (raw = span / 6., power = 10 ** floor(log10(raw)), \
    raw <= power * 1.0001 ? power : raw <= 2.0001 * power ? 2 * power : raw <= 5.0001 * power ? 5 * power : 10 * power)
DIGITS = '⁰¹²³⁴⁵⁶⁷⁸⁹'
digit_of(d) = DIGITS[d + 1 : d + 1]
raised(n) = (n < 0 ? '⁻' : '') . (abs(n) >= 10 ? digit_of(abs(n) / 10) : '') . digit_of(abs(n) % 10)
in_powers(title, n) = n == 0 ? title : \
    strstrt(title, '[') ? title[1 : strstrt(title, '[')] . '10' . raised(n) . ' ' . title[strstrt(title, '[') + 1 : *] : \
    title . ' [10' . raised(n) . ']'
exponent_of(most) = most <= 0 ? 0 : (most >= 1e5 || most < 1e-2) ? int(floor(log10(most) * 1.0000001)) : 0
X_POWER = 0
Y_POWER = 0
Y_TOP = Y_HIGH eq '' ? NaN : Y_HIGH + 0 # NaN = automatic
if (FORMAT ne 'probe' && !Y_LOG && GPVAL_Y_MAX > GPVAL_Y_MIN) {
    Y_POWER = exponent_of(GPVAL_Y_MAX)
    Y_STEP = step_of(GPVAL_Y_MAX - GPVAL_Y_MIN)
    Y_TOP = Y_HIGH eq '' ? ceil(GPVAL_Y_MAX / Y_STEP - 1e-6) * Y_STEP : Y_HIGH + 0
    set ytics ()
    do for [k = int(ceil(GPVAL_Y_MIN / Y_STEP - 1e-6)) : int(floor(Y_TOP / Y_STEP + 1e-6))] {
        set ytics add (sprintf('%g', k * Y_STEP / 10. ** Y_POWER) k * Y_STEP)
    }
}
if (FORMAT ne 'probe' && !X_LOG && CATEGORIES == 0 && GPVAL_X_MAX > GPVAL_X_MIN) {
    X_POWER = exponent_of(GPVAL_X_MAX)
    X_STEP = step_of(GPVAL_X_MAX - GPVAL_X_MIN)
    set xtics ()
    do for [k = int(ceil(GPVAL_X_MIN / X_STEP - 1e-6)) : int(floor(GPVAL_X_MAX / X_STEP + 1e-6))] {
        set xtics add (sprintf('%g', k * X_STEP / 10. ** X_POWER) k * X_STEP)
    }
}
set xlabel in_powers(XLABEL, X_POWER) noenhanced offset 0, (ROTATE ? -0.2 : 0.3)
set ylabel in_powers(YLABEL, Y_POWER) noenhanced offset 0, 0
