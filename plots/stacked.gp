# Stacked bars: the parts of a whole, from zero.
# $Points: x, middle, low, high of each part; one block a part.
set style fill solid 0.92 border rgb '#ffffff'
set yrange [0 : *]
if (SHARES) { set yrange [0 : 1] }
if (Y_TOP == Y_TOP) { set yrange [: Y_TOP] }
plot for [i = 1:N] $Points index i - 1 using 1:2:($1 - BAR / 2):($1 + BAR / 2):3:4 with boxxyerror \
    fillcolor rgb look(i) linecolor rgb '#ffffff' linewidth 0.4 title TITLES[i]
