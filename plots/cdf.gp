# Distributions as steps.
# $Points: x, share of the rows at or below it; one block a series.
set yrange [(Y_LOW eq '' ? 0 : Y_LOW + 0) : (Y_HIGH eq '' ? 1 : Y_HIGH + 0)]
plot for [i = 1:N] $Points index i - 1 using 1:2 with steps linestyle LOOKS[i] title TITLES[i]
