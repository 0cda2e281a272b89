# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
#
# Time against bytes from a CSV file of hwmc_sim. test/sim/figures sets table, picture, what and
# keys.

titles = "'chain' 'binary' 'binomial' 'van de Geijn' 'multilane' 'striped multicast'"

# As in test/lab/bench_common.gp: colours that differ for the colour-blind and in grey (Okabe and
# Ito).
set linetype 1 lc rgb "#666666" lw 2 pt 13 ps 1.2
set linetype 2 lc rgb "#d55e00" lw 2 pt 9 ps 1.2
set linetype 3 lc rgb "#e69f00" lw 2 pt 11 ps 1.2
set linetype 4 lc rgb "#cc79a7" lw 2 pt 4 ps 1.2
set linetype 5 lc rgb "#56b4e9" lw 3 pt 5 ps 1.3
set linetype 6 lc rgb "#0072b2" lw 2 pt 7 ps 1.2

set terminal pngcairo size 1000, 640 font "DejaVu Sans,13" background "#ffffff"
set output picture
set datafile separator ","
set border 3 lw 1.2 lc rgb "#444444"
set tics nomirror out
set grid back dt 1 lc rgb "#e4e4e4" lw 1
set key outside right top vertical Left reverse samplen 2 spacing 1.3

set title "Simulated broadcast, " . what . ", 2 links of 1 Gbit/s a rank" font ",15"
set logscale x 2
set logscale y 10
set xlabel "message"
set ylabel "time [ms]"
set xtics ("8 KiB" 8192, "64 KiB" 65536, "512 KiB" 524288, "4 MiB" 4194304, "32 MiB" 33554432, "128 MiB" 134217728)
set offsets graph 0.03, graph 0.03, 0, 0

pick(k) = sprintf("< grep '^%s,' '%s'", k, table)
plot for [i = 1:words(keys)] pick(word(keys, i)) using 3:($8 / 1000) with linespoints lt i \
     title word(titles, i), \
     pick("chain") using 3:($3 * 8 / 2e6) with lines lc rgb "#000000" lw 1.5 dt 2 title "M / b"
