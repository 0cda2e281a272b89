# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
#
# How long the longest call of a case was, by fault. check-faults sets data (lines: number from
# the bottom, fault, cases, least, first quartile, median, third quartile, most; ms) and picture (a
# file).

set terminal pngcairo size 1000, 680 font "DejaVu Sans,13" background "#ffffff"
set output picture
set border 1 lw 1.2 lc rgb "#444444"
set xtics nomirror out
set ytics scale 0 nomirror
set grid xtics back dt 1 lc rgb "#e4e4e4" lw 1
set title "The longest call of a case, by fault" font ",15"
set logscale x 10
set xlabel "ms: half of the cases, their median; least and most"
set yrange [0.4:*]
set key off
plot data using 6:1:4:8 with xerrorbars lc rgb "#999999" lw 1 pt 0, \
     data using (($5 + $7) / 2):1:5:7:($1 - 0.3):($1 + 0.3) with boxxyerror lc rgb "#56b4e9" fs solid 0.7 noborder, \
     data using 6:1:ytic(2) with points lc rgb "#0072b2" pt 7 ps 1.2
