# Grouped bars from zero with 95 % intervals; published numbers as diamonds or dashed levels.
# $Points: x, mean, low, high; one block a series. $References: x, value; one block a reference.
set style fill solid 0.92 border rgb '#ffffff'
set boxwidth BAR absolute
set yrange [(Y_LOW eq '' ? 0 : Y_LOW + 0) : *]
if (Y_TOP == Y_TOP) { set yrange [: Y_TOP] }
plot for [i = 1:N] $Points index i - 1 using 1:2 with boxes linecolor rgb look(i) linewidth 0.4 title TITLES[i], \
    for [i = 1:N] $Points index i - 1 using 1:3:(0):($4 - $3) with vectors heads nofilled size screen CAP, 90 linewidth 0.8 linecolor rgb '#222222' notitle, \
    for [h = 1:H] H_VALUES[h] with lines linecolor rgb look(H_SERIES[h]) dashtype 2 linewidth 1 title H_TITLES[h], \
    for [r = 1:R] $References index r - 1 using 1:2 with points pointtype 12 pointsize 0.45 linewidth 0.9 linecolor rgb '#000000' \
        title R_TITLES[r]
