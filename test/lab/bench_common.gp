# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
#
# What the plots of test/lab/bench share: the series, and one colour and point for each in all of
# them.  bench sets data (a directory), picture (a file), and the numbers in the titles.

keys = "push pull multicast multilane auto binomial ring doubling openmpi adapt"
titles = "'hwmc, push' 'hwmc, pull' 'hwmc, striped multicast' 'hwmc, multilane' 'MPICH (hwmc off)' \
'MPICH, binomial' 'MPICH, scatter and ring' 'MPICH, scatter and doubling' 'Open MPI' 'Open MPI, adapt'"
numbers = "1 2 1 2 3 4 6 7 5 8"
place(k) = sum [i = 1:words(keys)] (word(keys, i) eq k ? i : 0)
title(k) = word(titles, place(k))
number(k) = int(word(numbers, place(k)))

# Those of a list of keys for which the run has data of that name.
with_data(name, all) = system("cd '" . data . "'; for k in " . all . "; do [ ! -s " . name . \
                              ".$k.dat ] || printf '%s ' $k; done")
file(name, k) = sprintf("%s/%s.%s.dat", data, name, k)
setting = exists("rate") ? sprintf("%g Mbit/s, %g rail%s", rate, rails, rails > 1 ? "s" : "") : ""
size_text(b) = b >= 1048576 ? sprintf("%g MiB", b / 1048576.0) : b >= 1024 ? sprintf("%g KiB", b / 1024.0) : sprintf("%g B", b)

# Colours that differ for the colour-blind and in grey (Okabe and Ito).
set linetype 1 lc rgb "#0072b2" lw 2 pt 7 ps 1.2
set linetype 2 lc rgb "#56b4e9" lw 2 pt 5 ps 1.2
set linetype 3 lc rgb "#d55e00" lw 2 pt 9 ps 1.3
set linetype 4 lc rgb "#e69f00" lw 2 pt 11 ps 1.3
set linetype 5 lc rgb "#666666" lw 2 pt 13 ps 1.4
set linetype 6 lc rgb "#cc79a7" lw 2 pt 4 ps 1.2
set linetype 7 lc rgb "#b8a000" lw 2 pt 6 ps 1.2
set linetype 8 lc rgb "#999999" lw 2 pt 12 ps 1.4

set terminal pngcairo size 1000, 640 font "DejaVu Sans,13" background "#ffffff"
set output picture
set border 3 lw 1.2 lc rgb "#444444"
set tics nomirror out
set grid back dt 1 lc rgb "#e4e4e4" lw 1
set key outside right top vertical Left reverse samplen 2 spacing 1.3
