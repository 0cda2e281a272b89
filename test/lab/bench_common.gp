# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
#
# What the plots of test/lab/bench share: the series, and one colour and point for each in all of
# them.  bench sets data (a directory), picture (a file), and the numbers in the titles.

keys = "push pull auto binomial openmpi"
title(k) = k eq "push" ? "hwmc, push" : k eq "pull" ? "hwmc, pull" : \
           k eq "auto" ? "MPICH (hwmc off)" : k eq "binomial" ? "MPICH, binomial" : "Open MPI"
number(k) = k eq "push" ? 1 : k eq "pull" ? 2 : k eq "auto" ? 3 : k eq "binomial" ? 4 : 5

# Those of a list of keys for which the run has data of that name.
with_data(name, all) = system(sprintf("cd '%s'; for k in %s; do [ ! -s %s.$k.dat ] || printf '%%s ' $k; done", \
                                      data, all, name))
file(name, k) = sprintf("%s/%s.%s.dat", data, name, k)
setting = sprintf("%g Mbit/s, %g rail%s", rate, rails, rails > 1 ? "s" : "")
size_text(b) = b >= 1024 ? sprintf("%g KiB", b / 1024.0) : sprintf("%g B", b)

# Colours that differ for the colour-blind and in grey (Okabe and Ito).
set linetype 1 lc rgb "#0072b2" lw 2 pt 7 ps 1.2
set linetype 2 lc rgb "#56b4e9" lw 2 pt 5 ps 1.2
set linetype 3 lc rgb "#d55e00" lw 2 pt 9 ps 1.3
set linetype 4 lc rgb "#e69f00" lw 2 pt 11 ps 1.3
set linetype 5 lc rgb "#666666" lw 2 pt 13 ps 1.4

set terminal pngcairo size 1000, 640 font "DejaVu Sans,13" background "#ffffff"
set output picture
set border 3 lw 1.2 lc rgb "#444444"
set tics nomirror out
set grid back dt 1 lc rgb "#e4e4e4" lw 1
set key outside right top vertical Left reverse samplen 2 spacing 1.3
