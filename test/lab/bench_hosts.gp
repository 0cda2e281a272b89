# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
#
# Time against hosts, a small message and a large one.

load common
set terminal pngcairo size 1280, 620 font "DejaVu Sans,13" background "#ffffff"
set multiplot layout 1, 2 title \
    sprintf("Broadcast, slowest rank: median and 95 %% interval (%s)", setting) \
    font ",15" offset 0, -0.3
set key inside left top
set logscale x 2
set xlabel "hosts"
set ylabel "time [µs]"
set yrange [0:*]
set xtics (1, 2, 4, 8, 16, 32, 64)
set offsets graph 0.08, graph 0.08, graph 0.15, 0

do for [name in "small large"] {
    set title size_text(name eq "small" ? small : large)
    list = with_data("hosts_" . name, keys)
    plot for [k in list] file("hosts_" . name, k) using 1:2:3:4 with yerrorlines \
        lt number(k) title title(k)
    unset key
}
unset multiplot
