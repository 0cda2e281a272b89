# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""What Chiba et al. measure between sites, in the lab: rate of TCP connections (Figure 6), and broadcasts on two sites
10 ms apart with real libraries instead of a simulator."""

import statistics
import subprocess

import bench
from frame import HERE, Claim, PaperError, bytes_axis, curves, number, points, select

RATE = 1000  # Mbit/s of the cable
OLD = 128 << 10  # bytes of a connection's buffers, as Linux 2.6.16 allowed: tcp_wmem's 128 KiB
BUFFERS = {"old": OLD, "auto": 0}
PORT = 7000


def rate_of(name, connections, seconds, room):
    """Mbit/s from the first host of a lab to the second."""
    words = ["ip", "netns", "exec", "hwmc.%s.h1" % name, "python3", HERE / "streams.py", "receive", PORT, connections, room]
    with subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, text=True) as receiver:
        try:
            if receiver.stdout.readline() != "ready\n":
                raise PaperError("streams.py does not receive")
            bench.command([bench.LAB / "lab", "exec", "--name", name, "h0", "--", "python3", HERE / "streams.py", "send",
                           "10.77.0.2", PORT, connections, seconds, room])
            came, took = receiver.stdout.readline().split()
        except BaseException:
            receiver.kill()
            raise
    return int(came) * 8 / float(took) / 1e6


def again(name):
    """Segments that the first host has sent again so far."""
    said = bench.command([bench.LAB / "lab", "exec", "--name", name, "h0", "--", "cat", "/proc/net/snmp"])[1]
    names, values = [line.split() for line in said.splitlines() if line.startswith("Tcp:")]
    return int(values[names.index("RetransSegs")])


def measure_connections(ctx):
    rows = []
    for delay in (0, 5, 10, 20):
        with ctx.lab(2, "--rate", RATE, *(["--delay", delay] if delay else [])) as name:
            ctx.say("  %d ms" % delay)
            for connections in (1, 4, 32) if ctx.quick else (1, 4, 16, 32, 64):
                for buffers, room in BUFFERS.items():
                    if buffers == "auto" and connections not in (1, 4):
                        continue
                    before = again(name)
                    rate = rate_of(name, connections, 1 if ctx.quick else 2, room)
                    rows.append({"buffers": buffers, "delay_ms": delay, "connections": connections, "mbit": "%.1f" % rate,
                                 "sent_again": again(name) - before})
    return rows


def draw_connections(rows):
    series = [("%d ms" % delay, list(points(rows, "connections", "mbit", buffers="old", delay_ms=delay).items()))
              for delay in (0, 5, 10, 20)]
    series += [("20 ms, buffers grow", list(points(rows, "connections", "mbit", buffers="auto", delay_ms=20).items()))]
    return curves("TCP from host to host over a cable of 1 Gbit/s", series, "set logscale x 2", "set yrange [0:*]",
                  "set xlabel 'connections'", "set ylabel 'rate in all [Mbit/s]'")


def judge_connections(rows):
    far = points(rows, "connections", "mbit", buffers="old", delay_ms=20)
    near = points(rows, "connections", "mbit", buffers="old", delay_ms=0)
    most = max(far, key=far.get)
    lost, = select(rows, buffers="old", delay_ms=20, connections=int(max(far)))
    grown = points(rows, "connections", "mbit", buffers="auto", delay_ms=20)
    growth = far[4] / far[1]
    return [Claim(far[1] < 0.1 * near[1], "one connection over 20 ms has a few hundredths of the rate: %.0f of %.0f Mbit/s "
                  "(theirs 40 of 1000)" % (far[1], near[1]),
                  "" if far[1] < 0.1 * near[1] else "its window was %.0f KiB." % (far[1] * 40 / 8.192)),
            Claim(3 < growth < 5, "the rate grows linearly with connections: with 4 it is %.1f times that of one" % growth,
                  "one has %.0f Mbit/s and 4 have %.0f." % (far[1], far[4])),
            Claim(far[most] > 0.9 * RATE * 0.95, "with enough of them more than 90 %% is reached: %.0f Mbit/s with %d" %
                  (far[most], most),
                  "a window is %.0f KiB a round trip, so %d of them would have %.0f Mbit/s; but they sent %s segments again, which the "
                  "shaper's queue of 400 kB had no room for (a hardware emulator of delay has more), and had %.0f. With buffers that "
                  "grow, as Linux has them today, one has %.0f Mbit/s and 4 have %.0f." %
                  (far[1] * 40 / 8.192, max(far), min(RATE, far[1] * max(far)), lost["sent_again"], far[max(far)],
                   grown[1], grown[4]))]


# Broadcasts on two sites

HOSTS, RAILS, LAN = 8, 2, 100
FAR = 10  # ms
KEYS = ("two_stage", "multilane", "binomial", "ring", "doubling", "openmpi")
SPAN = "span"  # where a switch joins the sites, so that multicast passes
PEERS = ("binomial", "ring", "doubling", "openmpi")


def measure_broadcasts(ctx):
    keys = ctx.series(*KEYS)
    sizes = {65536: 5, 1 << 20: 4} if ctx.quick else {8: 6, 65536: 5, 1 << 20: 3, 4 << 20: 2}
    labs = ((1, keys, ()), (2, keys, ("--delay", FAR, "--subnets", 2)), (2, [SPAN], ("--delay", FAR, "--sites", 2)))
    ways = {(sites, key): [] for sites, there, _ in labs for key in there}
    for sites, there, options in labs:
        with ctx.lab(HOSTS, "--rails", RAILS, "--rate", LAN, "--adm", *options) as name:
            for key in there:
                ctx.say("  %d sites: %s" % (sites, bench.SERIES[key].title))
                ways[sites, key].append(ctx.bcast(name, key, sizes, gap=30000, warm=1, timeout=40))
    rows = []
    for (sites, key), jobs in ways.items():
        for size in sizes:
            times = [sample.time / 1000 for job in jobs for sample in job.get(size, ())]
            rows.append({"sites": sites, "series": key, "bytes": size, "samples": len(times),
                         "ms": "%.2f" % statistics.median(times) if times else "",
                         "low": "%.2f" % min(times) if times else "", "high": "%.2f" % max(times) if times else ""})
    return rows


def measured(rows):
    return [row for row in rows if row["ms"]]


def limit_ms(size, sites):
    return size * 8 / (RAILS * LAN * 1000) + (FAR if sites == 2 else 0)


def draw_broadcasts(rows):
    rows = measured(rows)
    sizes = sorted({int(row["bytes"]) for row in rows})
    series = [(bench.SERIES[key].title, [(number(row["bytes"]), number(row["ms"]), number(row["low"]), number(row["high"]))
                                         for row in select(rows, sites=2, series=key)]) for key in (*KEYS, SPAN)]
    return curves("8 hosts on two sites 10 ms apart, 2 rails of 100 Mbit/s", series, bytes_axis(sizes), "set logscale y",
                  "set ylabel 'time, slowest rank [ms]'")


def judge_broadcasts(rows):
    rows = measured(rows)
    size = max(int(row["bytes"]) for row in rows)
    time = {(int(row["sites"]), row["series"]): number(row["ms"]) for row in rows if row["bytes"] == str(size)}
    best = min((time[2, key], key) for key in PEERS if (2, key) in time)
    claims = []
    for key, most in (("multilane", 1.5), ("two_stage", 1.5), (SPAN, 1.5)):
        ours = time[2, key]
        ratio = ours / limit_ms(size, 2)
        claims.append(Claim(ratio < most, "%s takes about what both rails and one crossing take: %s in %.0f ms, %.2f times "
                            "that" % (bench.SERIES[key].title, bench.frame.size_text(size), ours, ratio),
                            "" if ratio < most else "on one site it takes %.0f ms." % time[1, "two_stage" if key == SPAN else key]))
    for key in PEERS:
        if (2, key) in time and (1, key) in time:
            ratio = time[2, key] / time[2, "multilane"]
            claims.append(Claim(ratio > 2, "%s takes a multiple of multilane: %.1f times as long, on one site %.1f times" %
                                (bench.SERIES[key].title, ratio, time[1, key] / time[1, "multilane"]),
                                "it takes %.0f ms on one site and %.0f on two, multilane %.0f and %.0f." %
                                (time[1, key], time[2, key], time[1, "multilane"], time[2, "multilane"])))
    near, far = time[1, "multilane"], time[2, "multilane"]
    claims.append(Claim(far - near < 6 * FAR, "the distance costs multilane a few crossings and no rate: %.0f ms on one site, "
                        "%.0f on two; the best of the others (%s) goes from %.0f to %.0f" %
                        (near, far, bench.SERIES[best[1]].title, time.get((1, best[1]), float("nan")), best[0]),
                        "" if far - near < 6 * FAR else "%.0f crossings." % ((far - near) / FAR)))
    return claims
