# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
#
# How many broadcasts take longer than a time, with and without loss.

load common
set title sprintf("Broadcasts of %s on %g hosts that take longer than a time\nwith %g %% of the multicast lost, and without", \
                  size_text(small), middle, loss) font ",15"
set logscale xy 10
set xlabel "time of the slowest rank [µs]"
set ylabel "part of the broadcasts that take longer"
set yrange [*:1]
set format y "%g"
set arrow 1 from graph 0, first 0.01 to graph 1, first 0.01 nohead dt 3 lc rgb "#888888"
set label 1 "99th percentile" at graph 0.99, first 0.0115 right font ",11" textcolor rgb "#666666"

clean = with_data("loss0", keys)
lossy = with_data("loss1", keys)
plot for [k in clean] file("loss0", k) using 1:2 with steps lt number(k) dt 2 \
     title title(k) . ", no loss", \
     for [k in lossy] file("loss1", k) using 1:2 with steps lt number(k) \
     title title(k) . sprintf(", %g %%", loss)
