# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
#
# Collectives on the ranks of one host: time against bytes, a panel each, and barriers against
# ranks; or how many times as long as hwmc the others take.

load common
keys = "hwmc off ucx shm shmauto shmoff openmpi ompism"
titles = "'hwmc' 'hwmc off' 'MPICH over UCX' 'MPICH shm, release\\_gather' 'MPICH shm, its choice' \
'MPICH shm, no release\\_gather' 'Open MPI' 'Open MPI, coll/sm'"
numbers = "1 2 3 4 7 6 5 8"

times = kind eq "time"
set terminal pngcairo size (times ? 1300 : 1500), (times ? 980 : 560) font "DejaVu Sans,12" background "#ffffff"
set multiplot layout (times ? 2 : 1), (times ? 2 : 3) title \
    sprintf(times ? "%g ranks of one host, slowest rank: median and 95 %% interval" : \
            "%g ranks of one host: how many times as long as hwmc, with 95 %% interval", ranks) \
    font ",15" offset 0, -0.3
set key inside left top
set logscale xy
set xtics ("8" 8, "64" 64, "512" 512, "4 Ki" 4096, "32 Ki" 32768, "256 Ki" 262144, "2 Mi" 2097152, "16 Mi" 16777216)
set xlabel "bytes"
set ylabel (times ? "time [µs]" : "time / hwmc's time")
set offsets graph 0.03, graph 0.03, 0, 0

do for [op in "bcast reduce allreduce"] {
    set title op
    name = sprintf("%s_%s_%d", kind, op, ranks)
    list = with_data(name, keys)
    if (words(list) == 0) {
        set multiplot next
    } else {
        plot for [k in list] file(name, k) using 1:2:3:4 with yerrorlines lt number(k) title title(k), \
             (times ? NaN : 1) with lines lc rgb "#000000" dt 2 notitle
        unset key
    }
}
list = with_data("barrier", keys)
if (times && words(list) > 0) {
    set title "barrier"
    set xlabel "ranks"
    set xtics (2, 4, 8, 16, 32, 64)
    plot for [k in list] file("barrier", k) using 1:2:3:4 with yerrorlines lt number(k) title title(k)
}
unset multiplot
