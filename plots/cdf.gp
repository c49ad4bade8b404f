# Distributions as steps, with a few marks on each to tell them apart.
# $Points: x, share of the rows at or below it; one block a series, from a share of 0.
set yrange [(Y_LOW eq '' ? 0 : Y_LOW + 0) : (Y_HIGH eq '' ? 1 : Y_HIGH + 0)]
# Solid: a dash hides where a curve is steep. Some six marks a curve, none at 0, shifted so that curves do not share them.
mark_step(i) = COUNTS[i] > 6 ? int(COUNTS[i] / 6) : 1
mark_first(i) = COUNTS[i] > 6 ? 1 + int(mark_step(i) * ((i - 1) % 4 + 0.5) / 4) : 1
plot for [i = 1:N] $Points index i - 1 using 1:2 with steps linestyle LOOKS[i] dashtype 1 linewidth 1.2 notitle, \
    for [i = 1:N] $Points index i - 1 every mark_step(i)::mark_first(i) using 1:2 with points linestyle LOOKS[i] notitle, \
    for [i = 1:N] NaN with linespoints linestyle LOOKS[i] dashtype 1 linewidth 1.2 title TITLES[i]
