# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
#
# Collectives over hosts: time against bytes, a panel each, with what the network allows; barriers
# by shape. bench_collectives sets data, net, shape, title_text and picture.

load common
keys = "hwmc off openmpi bare"
titles = "'hwmc' 'MPICH (hwmc off)' 'Open MPI' 'without a library'"
numbers = "1 3 5 8"

set terminal pngcairo size 1700, 1150 font "DejaVu Sans,11" background "#ffffff"
set multiplot layout 3, 4 title \
    "Collectives, slowest rank: median and 95 % interval (" . title_text . ")" font ",15" offset 0, -0.3
unset key
set logscale y 10
set yrange [10:*]
set ylabel "time [µs]"

do for [op in "bcast reduce allreduce scan allgather gather scatter alltoall reduce_scatter_block"] {
    set title op noenhanced
    set logscale x
    set xrange [4:8388608]
    set xlabel "bytes"
    set xtics ("8" 8, "64" 64, "512" 512, "4 Ki" 4096, "32 Ki" 32768, "256 Ki" 262144, "4 Mi" 4194304)
    name = sprintf("%s.%s.%s", op, net, shape)
    list = with_data(name, "hwmc off openmpi")
    limit = words(with_data(name, "limit")) > 0 ? file(name, "limit") : ""
    if (words(list) == 0) {
        set multiplot next
    } else { if (limit eq "") {
        plot for [k in list] file(name, k) using 1:2:3:4 with yerrorlines lt number(k)
    } else {
        plot for [k in list] file(name, k) using 1:2:3:4 with yerrorlines lt number(k), \
             limit using 1:2 with lines lc rgb "#000000" lw 1.5 dt 2
    } }
}

name = "barrier." . net
list = with_data(name, keys)
set offsets 0, 0.5, 0, 0
if (words(list) == 0) {
    set multiplot next
} else {
    unset logscale x
    set title "barrier"
    set xlabel "hosts x ranks"
    set xtics auto
    set xrange [-0.5:*]
    plot for [k in list] file(name, k) using 1:2:3:4:xtic(5) with yerrorbars lt number(k)
}

# What the lines are, in a panel of its own.
unset title
unset border
unset tics
unset xlabel
unset ylabel
unset logscale
set xrange [0:1]
set yrange [0:1]
set key inside left center
plot for [k in keys] NaN with linespoints lt number(k) title title(k), \
     NaN with lines lc rgb "#000000" lw 1.5 dt 2 title "what the network allows"
unset multiplot
