# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
#
# Time against ranks from a CSV file of test/sim/figures, which sets table and picture. Colours as in
# figures.gp.

set linetype 1 lc rgb "#0072b2" lw 2 pt 7 ps 1.2
set linetype 2 lc rgb "#56b4e9" lw 2 pt 5 ps 1.2
set linetype 3 lc rgb "#e69f00" lw 2 pt 11 ps 1.2
set linetype 4 lc rgb "#d55e00" lw 2 pt 9 ps 1.2

keys = "barrier allreduce degree10 dissemination"
titles = "'barrier' 'allreduce, 8 B' 'the same, degree 10' 'dissemination, 8 B'"

set terminal pngcairo size 1000, 560 font "DejaVu Sans,13" background "#ffffff"
set output picture
set datafile separator ","
set border 3 lw 1.2 lc rgb "#444444"
set tics nomirror out
set grid back dt 1 lc rgb "#e4e4e4" lw 1
set key outside right top vertical Left reverse samplen 2 spacing 1.3

set title "Simulated barrier and allreduce, one rail of 1 Gbit/s, 20 us, 1 us a message" font ",15"
set logscale x 10
set xlabel "ranks, one a host"
set ylabel "time [us]"
set xtics ("2" 2, "10" 10, "100" 100, "1,000" 1000, "10,000" 10000, "100,000" 100000, "1,000,000" 1000000)
set yrange [0:*]
set offsets graph 0.03, graph 0.03, 0, 0

pick(k) = sprintf("< grep '^%s,' '%s'", k, table)
plot for [i = 1:words(keys)] pick(word(keys, i)) using 2:3 with linespoints lt i \
     title word(titles, i)
