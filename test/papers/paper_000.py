# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""Yu, Sur, Panda, Aulwes, Graham 2005: broadcast by Quadrics' hardware in LA-MPI. Broadcasts in a row, as they measure."""

import re
import statistics

import bench
from frame import Claim, Figure, Paper, Structure, bytes_axis, curves, middle, number, points, select, spread

RATE = 1000
KEYS = ("pull", "push", "off", "binomial", "openmpi")
AHEAD = "pull64"  # pull with 64 channels: how far a root may be ahead
PEERS = ("off", "binomial", "openmpi")
SIZES = (8, 512, 4096, 16384, 65536)
CHANNELS = (2, 4, 8, 16, 32)


def in_a_row(ctx, name, key, size=8, env=None, count=200):
    """A job of bcast_row in a lab: (us of its samples, its counters and memory); None if it failed."""
    series = bench.SERIES[key]
    program = ctx.program("bcast_row", series.mpi)
    status, said = ctx.run(name, program, "-bytes=%d" % size, "-count=%d" % count, "-samples=%d" % ctx.repeats(8, 5),
                           env=dict(series.env, **(env or {})), mpi=series.mpi, timeout=40,
                           what=series.title)
    samples = [float(us) for us in re.findall(r"^sample ([\d.]+)$", said, re.M)]
    counters = {what: int(value) for what, value in re.findall(r"^(hwmc_\w+) (\d+)$", said, re.M)}
    counters["kib"] = max([int(kib) for kib in re.findall(r"^rank \d+ (\d+)$", said, re.M)], default=0)
    return (samples, counters) if status == 0 and samples else None


def summary(jobs):
    """Columns of a row, of jobs that worked."""
    mean, low, high = middle([samples for samples, _ in jobs])
    return {"us": "%.2f" % mean, "low": "%.2f" % low, "high": "%.2f" % high}


def measure_sizes(ctx):
    keys = ctx.series(*KEYS)
    sizes = (8, 4096, 65536) if ctx.quick else SIZES
    found = {(key, size): [] for key in keys + [AHEAD] for size in sizes}
    for repeat in range(ctx.repeats(2)):
        with ctx.lab(8, "--rate", RATE) as name:
            for size in sizes:
                ctx.say("  repeat %d, %d B" % (repeat + 1, size))
                count = max(10, min(200, 600000 // size))
                for key in keys:
                    found[key, size].append(in_a_row(ctx, name, key, size, count=count))
                found[AHEAD, size].append(in_a_row(ctx, name, "pull", size, {"MPIR_CVAR_HWMC_CHANNELS": "64"}, count))
    return [dict({"series": key, "bytes": size}, **summary([job for job in jobs if job]))
            for (key, size), jobs in found.items() if any(jobs)]


def with_range(rows, x, **wanted):
    return [(number(row[x]), number(row["us"]), number(row["low"]), number(row["high"])) for row in select(rows, **wanted)]


def draw_sizes(rows):
    series = [(bench.SERIES[key].title, with_range(rows, "bytes", series=key)) for key in KEYS]
    series += [("hwmc, pull, 64 channels", with_range(rows, "bytes", series=AHEAD))]
    return curves("8 hosts, broadcasts in a row", series, bytes_axis(sorted({int(row["bytes"]) for row in rows})),
                  "set logscale y", "set ylabel 'time of a broadcast [us]'")


def judge_sizes(rows):
    claims = []
    for size in sorted({int(row["bytes"]) for row in rows}):
        at = {row["series"]: number(row["us"]) for row in select(rows, bytes=size)}
        peer = min((at[key], key) for key in PEERS if key in at)
        ours = min((at[key], key) for key in KEYS[:2])
        holds = ours[0] < peer[0]
        why = "" if holds else "in a row a peer's root is ahead of its members by what sockets hold, many messages to a " \
            "system call; a root of hwmc by 16 channels. With 64 of them it takes %.1f us. Alone (001, Figure 4) the order is " \
            "another." % at[AHEAD]
        claims.append(Claim(holds, "%d B: by multicast faster than all peers: %.1f us (%s), %s %.1f" %
                            (size, ours[0], bench.SERIES[ours[1]].title, bench.SERIES[peer[1]].title, peer[0]), why))
    return claims


def measure_hosts(ctx):
    keys = ctx.series(*KEYS)
    found = {}
    for repeat in range(ctx.repeats(2)):
        for hosts in (4, 16) if ctx.quick else (4, 8, 12, 16):
            ctx.say("  repeat %d, %d hosts" % (repeat + 1, hosts))
            with ctx.lab(hosts, "--rate", RATE) as name:
                for key in keys:
                    found.setdefault((key, hosts), []).append(in_a_row(ctx, name, key))
    return [dict({"series": key, "hosts": hosts}, **summary([job for job in jobs if job]))
            for (key, hosts), jobs in found.items() if any(jobs)]


def draw_hosts(rows):
    series = [(bench.SERIES[key].title, with_range(rows, "hosts", series=key)) for key in KEYS]
    return curves("8 B, broadcasts in a row", series, "set yrange [0:*]", "set xlabel 'hosts'",
                  "set ylabel 'time of a broadcast [us]'")


def judge_hosts(rows):
    def more(key):
        times = points(rows, "hosts", "us", series=key)
        return times[max(times)] - times[min(times)]

    peers = {key: more(key) for key in PEERS if select(rows, series=key)}
    slowest = min(peers, key=peers.get)
    holds = more("pull") < peers[slowest]
    return [Claim(holds, "with more processes multicast takes less time more than trees do: %.0f us, %s %.0f" %
                  (more("pull"), bench.SERIES[slowest].title, peers[slowest]),
                  "" if holds else "each host more is woken by the same two processors, whoever sends to it: push, in which each "
                  "rank sends once, takes %.0f us more." % more("push"))]


# Channels, and the period of synchronization

def measure_channels(ctx):
    found = {channels: [] for channels in CHANNELS}
    for repeat in range(ctx.repeats(3)):
        with ctx.lab(8, "--rate", RATE) as name:
            ctx.say("  repeat %d" % (repeat + 1))
            for channels in CHANNELS:
                found[channels].append(in_a_row(ctx, name, "pull", env={"MPIR_CVAR_HWMC_CHANNELS": str(channels)}))
    rows = []
    for channels, jobs in found.items():
        jobs = [job for job in jobs if job]
        calls = 200 * len(jobs[0][0])
        rows.append(dict({"channels": channels}, **summary(jobs),
                         stalls="%.4f" % (statistics.median(counters["hwmc_stalls"] for _, counters in jobs) / calls / 8),
                         syncs="%.4f" % (statistics.median(counters["hwmc_syncs"] for _, counters in jobs) / calls / 8)))
    return rows


def draw_channels(rows):
    return curves("8 B on 8 hosts, by channels", [("hwmc, pull", with_range(rows, "channels"))], "set logscale x 2",
                  "set yrange [0:*]", "set xlabel 'channels'", "set ylabel 'time of a broadcast [us]'")


def judge_channels(rows):
    times = points(rows, "channels", "us")
    stalls = points(rows, "channels", "stalls")
    syncs = points(rows, "channels", "syncs")
    falls = times[2] > times[4] > times[16] * 0.98
    ratio = times[2] / times[16]
    cost = (times[2] - times[16]) / max(syncs[2] - syncs[16], 1e-9)
    return [Claim(falls, "more channels take less time: " + ", ".join("%d: %.0f us" % pair for pair in times.items()),
                  "" if falls else "a rank waited for a channel in %.2f of its broadcasts with 2 and %.2f with 16." %
                  (stalls[2], stalls[16])),
            Claim(ratio > 2, "2 channels take several times as long as 16, theirs 4.0: here %.1f" % ratio,
                  "" if ratio > 2 else "a synchronization takes %.0f us, a broadcast without one %.0f: two processors serve "
                  "both, while theirs took 13 and 4." % (cost, times[16])),
            Claim(syncs[16] < syncs[2] / 3, "synchronizations are amortized: %.2f for a broadcast with 2 channels, %.3f with 16" %
                  (syncs[2], syncs[16]),
                  "ranks waited for a channel in %.2f and %.2f of their broadcasts." % (stalls[2], stalls[16]))]


PERIODS = (1, 2, 4, 8, 16, 32)


def measure_period(ctx):
    """Channels twice the period, as by default, and 32 whatever the period; messages that fill a channel."""
    found = {(channels, period): [] for period in PERIODS for channels in ("twice", "32")}
    for repeat in range(ctx.repeats(2)):
        with ctx.lab(8, "--rate", RATE) as name:
            ctx.say("  repeat %d" % (repeat + 1))
            for channels, period in found:
                number_of = 32 if channels == "32" else 2 * period
                env = {"MPIR_CVAR_HWMC_CHANNELS": str(number_of), "MPIR_CVAR_HWMC_TUNE": "sync_period=%d" % period}
                short = in_a_row(ctx, name, "pull", env=env)
                long = in_a_row(ctx, name, "pull", 65536, env, count=40) if repeat == 0 else None
                found[channels, period].append((short, long))
    rows = []
    for (channels, period), jobs in found.items():
        short = [job for job, _ in jobs if job]
        long = [job for _, job in jobs if job]
        rows.append(dict({"channels": channels, "period": period}, **summary(short),
                         us_64k="%.0f" % statistics.median(long[0][0]) if long else "",
                         kib=long[0][1]["kib"] if long else ""))
    return rows


def draw_period(rows):
    series = [("8 B, twice as many channels", with_range(rows, "period", channels="twice")),
              ("8 B, 32 channels", with_range(rows, "period", channels="32"))]
    memory = [(x, y / 1024) for x, y in points(rows, "period", "kib", channels="twice").items()]
    return curves("8 hosts: period of synchronization", series + [("memory [MiB], twice as many channels, 64 KiB", memory)],
                  "set logscale x 2", "set yrange [0:*]", "set xlabel 'broadcasts from synchronization to synchronization'",
                  "set ylabel 'time of a broadcast [us]; MiB'", width=900)


def judge_period(rows):
    time, memory = points(rows, "period", "us", channels="twice"), points(rows, "period", "kib", channels="twice")
    fixed = points(rows, "period", "us", channels="32")
    return [Claim(time[1] > 1.3 * time[8], "synchronizing rarely is faster: %.0f us a broadcast with a period of 1, %.0f with 8" %
                  (time[1], time[8]),
                  "the quartiles are %s and %s us." % (spread(rows, channels="twice", period=1),
                                                              spread(rows, channels="twice", period=8))),
            Claim(memory[32] - memory[1] > 62 * 64 * 0.8, "and takes memory, a channel of 64 KiB for each broadcast that waits: "
                  "%.1f MiB more with a period of 32 than of 1" % ((memory[32] - memory[1]) / 1024),
                  "62 channels more would be %.1f MiB; channels take memory as they are used." % (62 * 64 / 1024)),
            Claim(fixed[1] < time[1], "it is waiting for channels that costs, more than the synchronization itself: with 32 channels "
                  "a period of 1 takes %.0f us" % fixed[1],
                  "" if fixed[1] < time[1] else "here it costs as much with many channels.")]


# What reliability costs

WAYS = {"off": {"MPIR_CVAR_HWMC_INTEGRITY": "off"}, "crc32c": {"MPIR_CVAR_HWMC_INTEGRITY": "crc32c"},
        "keyed": {"MPIR_CVAR_HWMC_INTEGRITY": "keyed"}}
LONG = (8, 256, 4096, 65536, 1 << 20)


def measure_reliability(ctx):
    sizes = (8, 4096, 1 << 20) if ctx.quick else LONG
    found = {(way, size): [] for way in WAYS for size in sizes}
    for repeat in range(ctx.repeats(3)):
        with ctx.lab(8) as name:
            ctx.say("  repeat %d" % (repeat + 1))
            for size in sizes:
                for way, env in WAYS.items():
                    found[way, size].append(in_a_row(ctx, name, "pull", size, env, max(10, min(200, 2000000 // size))))
    return [dict({"integrity": way, "bytes": size}, **summary([job for job in jobs if job]))
            for (way, size), jobs in found.items() if any(jobs)]


def draw_reliability(rows):
    series = [(title, with_range(rows, "bytes", integrity=way)) for way, title in
              (("off", "neither"), ("crc32c", "a CRC in each message"), ("keyed", "an authentication code"))]
    return curves("8 hosts without a rate: cost of checks", series, bytes_axis(sorted({int(row["bytes"]) for row in rows})),
                  "set logscale y", "set ylabel 'time of a broadcast [us]'")


def judge_reliability(rows):
    none, crc, keyed = (points(rows, "bytes", "us", integrity=way) for way in ("off", "crc32c", "keyed"))
    short, long = min(none), max(none)
    little = (crc[short] - none[short]) / none[short]
    much = (crc[long] - none[long]) / none[long]
    with_crc, without = (select(rows, integrity=way, bytes=int(long))[0] for way in ("crc32c", "off"))
    noise = "the difference is not told from noise: quartiles %s to %s and %s to %s us." % (
        with_crc["low"], with_crc["high"], without["low"], without["high"]) \
        if number(with_crc["low"]) < number(without["high"]) else ""
    return [Claim(little < 0.15, "checks cost short messages little: 8 B takes %.1f us with a CRC, %.1f without (theirs: 1 us)" %
                  (crc[short], none[short]), "" if little < 0.15 else "the quartiles are %s and %s us." % tuple(
                      "%s to %s" % (row["low"], row["high"]) for row in rows if row["bytes"] == "8" and row["integrity"] != "keyed")),
            Claim(much > 0.15, "and long messages much: 1 MiB takes %.0f us with a CRC, %.0f without, %+.0f %%" %
                  (crc[long], none[long], 100 * much),
                  noise if noise and much <= 0.15 else "CRC-32C is an instruction of today's processors: %.0f us more for %d members and the root "
                  "on two processors; their checksum was a loop on a Pentium III. An authentication code, which is none, takes "
                  "%+.0f %%." % (crc[long] - none[long], 7, 100 * (keyed[long] - none[long]) / none[long]))]


ROW = "broadcasts in a row after a barrier, as theirs; median and quartiles of the samples."
PAPER = Paper("000", "Yu, Sur, Panda, Aulwes, Graham: High performance broadcast support in LA-MPI over Quadrics, 2005.", [
    Structure("fig1", "Figures 1 to 4, hardware broadcast; LA-MPI; flow path; synchronization",
              "A broadcast binds to a channel; acknowledgements are combined up a tree, whose manager frees channels.",
              "Channels and their synchronization: `src/mpi/coll/bcast_hw/core/flow/channel.c`; the messages: `PROTOCOL.md`, "
              "section 6.", ("src/mpi/coll/bcast_hw/core/flow/channel.c",)),
    Figure("fig5", "Figure 5, latency against bytes",
           "By hardware broadcast much faster than the generic tree, and than two other libraries up to 16 KiB.",
           "8 hosts of the lab, one rail of 1 Gbit/s; " + ROW, measure_sizes, draw_sizes, judge_sizes, 150),
    Figure("fig6", "Figure 6, scalability: 8 B against processes",
           "The generic tree's time grows with processes, that by hardware broadcast hardly.",
           "Hosts of the lab, one rail of 1 Gbit/s; " + ROW, measure_hosts, draw_hosts, judge_hosts, 120),
    Figure("fig7", "Figure 7, number of broadcast channels",
           "17.1 us with two channels, 4.3 us with sixteen: the synchronization, 13 us, is amortized.",
           "8 hosts of the lab, one rail of 1 Gbit/s, pull, `MPIR_CVAR_HWMC_CHANNELS`; " + ROW,
           measure_channels, draw_channels, judge_channels, 60),
    Figure("fig8", "Figure 8, cost of reliability",
           "About 1 us for messages up to 256 bytes; much for long ones, whose checksum takes time.",
           "8 hosts of the lab without a rate, pull, `MPIR_CVAR_HWMC_INTEGRITY`. Retransmission cannot be turned off; " + ROW,
           measure_reliability, draw_reliability, judge_reliability, 90),
    Figure("period", "Section 4.3, delayed synchronization (no figure)",
           "Synchronizing once for many broadcasts amortizes its cost; it takes as many buffers.",
           "8 hosts of the lab, pull; the period of synchronization against time (8 B) and a process's memory (64 KiB); " + ROW,
           measure_period, draw_period, judge_period, 120),
])
