# One mark a row, hollow and thin, the first series largest: where marks of several series meet, each is seen in the other.
# $Points: x, y; one block a series. $References: x, value; one block a reference.
set grid xtics ytics linecolor rgb '#E3E3E3' linetype 1 linewidth 0.4
if (!Y_LOG) { set yrange [(Y_LOW eq '' ? (Y_NEGATIVE ? NaN : 0) : Y_LOW + 0) : *] }
if (Y_LOG && Y_LOW ne '') { set yrange [Y_LOW + 0 : *] }
if (Y_TOP == Y_TOP) { set yrange [: Y_TOP] }
mark_size(i) = N == 1 ? 0.35 : 0.25 + 0.4 * (N - i) / (N - 1.)
if (DIAGONAL && FORMAT ne 'probe') {
    diagonal_end = X_MAX < GPVAL_Y_MAX ? X_MAX : GPVAL_Y_MAX
    set label 2 'y = x' at first diagonal_end, first diagonal_end right offset 0, -1.2 textcolor rgb '#222222'
}
plot for [i = 1:N] $Points index i - 1 using 1:2 with points pointtype hollow(i) linecolor rgb look(i) linewidth 0.6 pointsize mark_size(i) \
        title TITLES[i], \
    for [d = 1:DIAGONAL] x with lines linecolor rgb '#222222' dashtype 3 linewidth 0.8 notitle, \
    for [h = 1:H] H_VALUES[h] with lines linecolor rgb look(H_SERIES[h]) dashtype 2 linewidth 1 title H_TITLES[h], \
    for [r = 1:R] $References index r - 1 using 1:2 with points pointtype 12 pointsize 0.7 linewidth 1.2 \
        linecolor rgb look(R_SERIES[r]) title R_TITLES[r]
