# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
#
# Time rank by rank: how far apart a broadcast leaves the ranks.

load common
set title sprintf("When each rank has the broadcast: %s, %g hosts\nmedian, and the middle half of all broadcasts", \
                  size_text(small), last) font ",15"
set xlabel "ranks after the root"
set ylabel "time since the root began [µs]"
set yrange [0:*]
set xtics 1
set xrange [-0.6:ranks - 0.4]

list = with_data("ranks", keys)
count = words(list)
shift(k) = 0.12 * (number(k) - 3)
plot for [k in list] file("ranks", k) using ($1 + shift(k)):2:3:4 with yerrorbars \
     lt number(k) lw 1.5 ps 1 title title(k), \
     for [k in list] file("ranks", k) using ($1 + shift(k)):2 with lines lt number(k) lw 0.7 notitle
