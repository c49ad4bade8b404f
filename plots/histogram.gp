# Shares of rows in bins of width BIN.
# $Points: middle of the bin, share; one block a series.
set yrange [0 : *]
if (Y_TOP == Y_TOP) { set yrange [: Y_TOP] }
set boxwidth BIN absolute
if (N == 1) {
    set style fill solid 0.85 noborder
    plot $Points index 0 using 1:2 with boxes linecolor rgb look(1) linewidth 0 title TITLES[1]
} else {
    # Filled thinly, so that one does not hide the other, with the outline to tell them apart.
    set style fill transparent solid 0.25 noborder
    plot for [i = 1:N] $Points index i - 1 using 1:2 with boxes linecolor rgb look(i) linewidth 0 notitle, \
        for [i = 1:N] $Points index i - 1 using 1:2 with histeps linestyle LOOKS[i] dashtype 1 linewidth 1 title TITLES[i]
}
