# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
#
# Time against bytes, at one number of hosts, with what the wire allows.

load common
set title sprintf("Broadcast on %g hosts, slowest rank: median and 95 %% interval\n%s", \
                  middle, setting) font ",15"
set logscale x 2
set logscale y 10
set xlabel "message"
set ylabel "time [µs]"
set xtics ("8 B" 8, "64 B" 64, "512 B" 512, "4 KiB" 4096, "16 KiB" 16384, "64 KiB" 65536, "1 MiB" 1048576, "4 MiB" 4194304, "32 MiB" 33554432)
set offsets graph 0.03, graph 0.03, 0, 0

list = with_data("sizes", keys)
limit_there = rate > 0
plot for [k in list] file("sizes", k) using 1:2:3:4 with yerrorlines lt number(k) title title(k), \
     data . "/limit.dat" using 1:(limit_there ? $2 : NaN) with lines lc rgb "#000000" lw 1.5 dt 2 \
     title (limit_there ? "what the wire allows" : "")
