# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
#
# Memory and descriptors of a soaked job's processes. check-faults sets data (lines: minutes; least,
# median and most MiB; least, median and most descriptors) and picture (a file).

set terminal pngcairo size 1000, 620 font "DejaVu Sans,13" background "#ffffff"
set output picture
set border 3 lw 1.2 lc rgb "#444444"
set tics nomirror out
set grid back dt 1 lc rgb "#e4e4e4" lw 1
set key off
set multiplot layout 2, 1 title "A job under faults: its processes' least, median and most" font ",15"
set xrange [*:*] noextend
set yrange [0:*]
set ylabel "own memory, MiB"
plot data using 1:2:4 with filledcurves lc rgb "#56b4e9" fs solid 0.4, data using 1:3 with lines lc rgb "#0072b2" lw 2
set xlabel "minutes"
set ylabel "descriptors"
plot data using 1:5:7 with filledcurves lc rgb "#e69f00" fs solid 0.4, data using 1:6 with lines lc rgb "#d55e00" lw 2
unset multiplot
