# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""Hoefler, Siebert, Rehm 2007: broadcast in practically constant time. Figures 4 to 7 are of one campaign."""

import statistics

import bench
from bench import bench_report
from frame import Claim, Figure, Paper, Structure, curves, middle, number, points, select, slope, spread

HOSTS = (2, 4, 8, 12, 16)
KEYS = ("pull", "push", "off", "binomial", "openmpi")
OURS, PEERS = KEYS[:2], KEYS[2:]
BYTES = 2
RATE = 1000
GAP_US = 50  # for each rank, as test/lab/bench has it

campaigns = {}  # of this run, by whether it is quick
bare = {}  # of that campaign, by hosts: us without a library


def campaign(ctx):
    """{(series, hosts): [samples of a repeat]}, made once in a run."""
    if ctx.quick in campaigns:
        ctx.say("  from the samples that this run has")
        return campaigns[ctx.quick]
    keys, found = ctx.series(*KEYS), {}
    for repeat in range(ctx.repeats(2)):
        for hosts in (4, 8, 16) if ctx.quick else HOSTS:
            ctx.say("  repeat %d, %d hosts" % (repeat + 1, hosts))
            with ctx.lab(hosts, "--rate", RATE) as name:
                for key in keys:
                    got = ctx.bcast(name, key, {BYTES: ctx.repeats(150, 80)}, gap=GAP_US * hosts, warm=40, timeout=40)
                    if got:
                        found.setdefault((key, hosts), []).append(got[BYTES])
                bare[hosts] = bare.get(hosts, []) + ctx.bare(name, hosts, 8)
    campaigns[ctx.quick] = found
    return found


def rows_of(found, value):
    """A row for each series and number of hosts; value: us of a sample."""
    rows = []
    for (key, hosts), repeats in sorted(found.items()):
        mean, low, high = middle([[value(sample) for sample in samples] for samples in repeats])
        rows.append({"series": key, "hosts": hosts, "us": "%.1f" % mean, "low": "%.1f" % low, "high": "%.1f" % high})
    return rows


def slowest_rows(ctx):
    """The slowest rank's time; and that of a multicast without a library, which has to wake as many."""
    rows = rows_of(campaign(ctx), lambda s: s.time)
    return rows + [{"series": "bare", "hosts": hosts, "us": "%.1f" % statistics.median(times),
                    "low": "%.1f" % bench_report.quantile(times, 0.25), "high": "%.1f" % bench_report.quantile(times, 0.75)}
                   for hosts, times in sorted(bare.items()) if times]


def measure_ranks(ctx):
    """Time of each rank on the most hosts."""
    found = campaign(ctx)
    most = max(hosts for _, hosts in found)
    rows = []
    for key in KEYS:
        samples = [sample for repeat in found.get((key, most), ()) for sample in repeat]
        for rank in range(most if samples else 0):
            rows.append({"series": key, "rank": rank, "us": "%.1f" % statistics.median(s.exits[rank] for s in samples)})
    return rows


def draw_hosts(title):
    def draw(rows):
        series = [(bench.SERIES[key].title, [(number(r["hosts"]), number(r["us"]), number(r["low"]), number(r["high"]))
                                             for r in select(rows, series=key)]) for key in KEYS]
        series += [("without a library, 8 B", list(points(rows, "hosts", "us", series="bare").items()))]
        return curves(title, series, "set yrange [0:*]", "set xlabel 'hosts'", "set ylabel 'time [us]'")
    return draw


def draw_ranks(rows):
    series = [(bench.SERIES[key].title, list(points(rows, "rank", "us", series=key).items())) for key in KEYS]
    return curves("2 B, time rank by rank", series, "set yrange [0:*]", "set xlabel 'rank'", "set ylabel 'time [us]'")


def best_peer(rows, hosts, peers=PEERS):
    return min(((points(rows, "hosts", "us", series=key)[hosts], key) for key in peers
                if hosts in points(rows, "hosts", "us", series=key)), default=(float("inf"), peers[0]))


def growth(rows, key):
    """us for each host more."""
    return slope(points(rows, "hosts", "us", series=key))


def flat(rows, key):
    """That a series grows at most half as fast with hosts as the peer that grows the slowest."""
    ours = growth(rows, key)
    peer = min((growth(rows, peer), peer) for peer in PEERS if select(rows, series=peer))
    return Claim(ours <= peer[0] / 2, "the time of %s does not depend on hosts: here it grows by %.1f us a host, that of %s by "
                 "%.1f" % (bench.SERIES[key].title, ours, bench.SERIES[peer[1]].title, peer[0]),
                 "all hosts share two processors, and in this time each must be woken once" +
                 ("; a multicast without any library grows by %.1f us a host there." % growth(rows, "bare")
                  if len(select(rows, series="bare")) > 1 else ": %.1f us for a host more." % ours))


def crossover(rows, key, peers=PEERS):
    """The fewest hosts from which on a series is faster than all these peers; None: never."""
    ours = points(rows, "hosts", "us", series=key)
    from_on = None
    for hosts in sorted(ours, reverse=True):
        if ours[hosts] >= best_peer(rows, hosts, peers)[0]:
            break
        from_on = int(hosts)
    return from_on


def judge_hosts(rows):
    claims = [flat(rows, "pull")]
    at = crossover(rows, "pull")
    each = [(key, crossover(rows, "pull", (key,))) for key in PEERS if select(rows, series=key)]
    most = max(points(rows, "hosts", "us", series="pull"))
    claims.append(Claim(at is not None, "from some number of hosts on multicast is faster than all peers (theirs: 20): %s" %
                        (("here from %d" % at if at else "not here") + "".join(
                            ", than %s %s" % (bench.SERIES[key].title, "from %d" % there if there else "not")
                            for key, there in each)),
                        "" if at else "on %d hosts it takes %.0f us, %s %.0f." %
                        (most, points(rows, "hosts", "us", series="pull")[most],
                         bench.SERIES[best_peer(rows, most)[1]].title, best_peer(rows, most)[0])))
    push = crossover(rows, "push")
    pull, push_us = (points(rows, "hosts", "us", series=key)[most] for key in OURS)
    claims.append(Claim(push is not None, "so is the paper's own way, where each rank sends on what it has (push): %s" %
                        ("from %d" % push if push else "not here"),
                        "" if push else "on %d hosts push takes %.0f us and pull, which sends nothing without a loss, %.0f: "
                        "each rank's message to the next is a turn of two processors." % (most, push_us, pull)))
    return claims


def deviations(rows, key):
    """(all, most) ranks' deviation from the median rank, %: the largest, and that of 9 in 10."""
    times = [us for rank, us in points(rows, "rank", "us", series=key).items() if rank > 0]
    median = statistics.median(times)
    return max(abs(us - median) for us in times) / median * 100


def judge_ranks(rows):
    claims = []
    binomial = deviations(rows, "binomial")
    for key in OURS:
        ours = deviations(rows, key)
        claims.append(Claim(ours <= 14, "%s ends on all ranks at almost the same time, theirs 14 %% off the median: here %.0f %% "
                            "at the most" % (bench.SERIES[key].title, ours),
                            "" if ours <= 14 else "ranks that share a processor leave one after the other; binomial is %.0f %% off." %
                            binomial))
    for key in ("binomial", "openmpi"):
        times = points(rows, "rank", "us", series=key)
        if times:
            first, last = min(us for rank, us in times.items() if rank > 0), max(times.values())
            early = (1 - first / last) * 100
            claims.append(Claim(early > 40, "with %s some ranks are through much earlier than others, theirs 79.4 %%: here %.0f %%" %
                                (bench.SERIES[key].title, early), "the first rank is through after %.0f us, the last after %.0f." %
                                (first, last)))
    return claims


def first_rows(ctx):
    """Rank 1's time; beside it that of rank N / 2."""
    found = campaign(ctx)
    rows = rows_of(found, lambda s: s.exits[1])
    for row in rows:
        samples = [s for one in found[row["series"], row["hosts"]] for s in one]
        row["half_us"] = "%.1f" % statistics.median(s.exits[row["hosts"] // 2] for s in samples)
    return rows


def constant(rows, key):
    times = {hosts: us for hosts, us in points(rows, "hosts", "us", series=key).items() if hosts >= 4}
    few, most = min(times), max(times)
    holds = times[most] < 1.5 * times[few]
    return Claim(holds, "the time of rank 1 is constant with %s: %.0f us on %d hosts, %.0f on %d" %
                 (bench.SERIES[key].title, times[few], few, times[most], most),
                 "" if holds else "hosts share two processors, and %.1f us come with each host more; rank N / 2 of %d takes %s us." %
                 ((times[most] - times[few]) / (most - few), most, select(rows, series=key, hosts=int(most))[0]["half_us"]))


def judge_first(rows):
    most = max(points(rows, "hosts", "us", series="pull"))
    claims = [constant(rows, key) for key in ("pull", "openmpi") if select(rows, series=key)]
    for key in ("binomial", "openmpi"):
        times = points(rows, "hosts", "us", series=key)
        if times:
            ours = points(rows, "hosts", "us", series="pull")[most]
            claims.append(Claim(times[most] < ours, "rank 1 leaves %s's tree earlier than multicast: on %d hosts after %.0f us, "
                                "multicast %.0f" % (bench.SERIES[key].title, most, times[most], ours),
                                "" if times[most] < ours else "its root sends to rank N / 2 first, which leaves after %s us, and "
                                "to rank 1 last; theirs sends to rank 1 first." %
                                select(rows, series=key, hosts=int(most))[0]["half_us"]))
    return claims


def judge_last(rows):
    claims = [flat(rows, "pull")]
    for key in ("binomial", "openmpi"):
        times = points(rows, "hosts", "us", series=key)
        if times:
            few, most = min(times), max(times)
            claims.append(Claim(times[most] > 1.5 * times[few], "the last rank's time grows steadily with %s: %.0f us on %d hosts, "
                                "%.0f on %d" % (bench.SERIES[key].title, times[few], few, times[most], most),
                                "a host more takes %.1f us." % growth(rows, key)))
    return claims


# Root delays: section 2.1 has three, and no figure of them

DELAYS = ("none", "fixed", "adaptive", "random")
CASES = {"in time": (0, 0), "late": (1000, 0), "in time, 5 % lost": (0, 5), "late, 5 % lost": (1000, 5)}


def measure_delays(ctx):
    found = {(delay, case): [] for delay in DELAYS for case in CASES}
    for repeat in range(ctx.repeats(3)):
        with ctx.lab(8, "--rate", RATE) as name:
            for case, (late, loss) in CASES.items():
                ctx.say("  repeat %d, %s" % (repeat + 1, case))
                for delay in DELAYS:
                    env = {"MPIR_CVAR_HWMC_ROOT_DELAY": delay}
                    if loss:
                        env["MPIR_CVAR_HWMC_DEBUG"] = "fault=[drop=%d,seed=%d]" % (loss, repeat + 1)
                    got = ctx.bcast(name, "pull", {BYTES: ctx.repeats(150, 80)}, env, gap=400, late=late, warm=40, timeout=30)
                    if got:
                        found[delay, case].append(got[BYTES])
    rows = []
    for (delay, case), repeats in found.items():
        mean, low, high = middle([[s.time - s.late if CASES[case][0] else s.time for s in one] for one in repeats])
        every = [s for one in repeats for s in one]
        rows.append({"delay": delay, "case": case, "us": "%.1f" % mean, "low": "%.1f" % low, "high": "%.1f" % high,
                     "repaired": "%.3f" % (sum(s.repaired for s in every) / len(every)),
                     "root_us": "%.1f" % statistics.median(s.exits[0] for s in every)})
    return rows


def draw_delays(rows):
    series = [(case, [(i, number(row["us"]), number(row["low"]), number(row["high"])) for i, row in
                      enumerate(select(rows, case=case))]) for case in CASES]
    ticks = ", ".join("'%s' %d" % (delay, i) for i, delay in enumerate(DELAYS))
    return curves("2 B on 8 hosts, by what the root waits for", series, "set xtics (%s)" % ticks, "set xrange [-0.3:3.3]",
                  "set yrange [0:*]", "set ylabel 'time after the last rank came [us]'")


def judge_delays(rows):
    def of(delay, case, what="us"):
        return number(select(rows, delay=delay, case=case)[0][what])

    best = min(DELAYS, key=lambda delay: of(delay, "in time"))

    waits = {delay: of(delay, "in time") - of("none", "in time") for delay in DELAYS[1:]}
    lost = {delay: of(delay, "late", "repaired") for delay in DELAYS}
    return [Claim(of("none", "in time") <= min(of(delay, "in time") for delay in DELAYS) * 1.1,
                  "no delay is the fastest where members come in time: %.0f us; fixed %+.0f, adaptive %+.0f, random %+.0f" %
                  ((of("none", "in time"),) + tuple(waits.values())),
                  "quartiles without a delay are %s us, with %s %s; what a root would wait for is there already (the "
                  "multicast needed %.2f and %.2f repairs)." %
                  (spread(rows, delay="none", case="in time"), best, spread(rows, delay=best, case="in time"),
                   of("none", "in time", "repaired"), of(best, "in time", "repaired"))),
            Claim(lost["none"] > 1, "without a delay a root that is early multicasts in vain: %.2f repairs a broadcast of 7 members "
                  "that come up to 1 ms late" % lost["none"],
                  "" if lost["none"] > 1 else "a member's socket takes what comes before its call: no delay has fewer repairs than "
                  "none (%s), while theirs had to post receives." %
                  ", ".join("%s %.2f" % pair for pair in lost.items())),
            Claim(of("random", "late", "root_us") > 3 * of("none", "late", "root_us"),
                  "waiting for a random member keeps an early root: it leaves after %.0f us, %.0f without" %
                  (of("random", "late", "root_us"), of("none", "late", "root_us")),
                  "fixed keeps it for %.0f us, adaptive for %.0f." % (of("fixed", "late", "root_us"),
                                                                      of("adaptive", "late", "root_us")))]


# To a million ranks

def measure_million(ctx):
    found = campaign(ctx)
    rows = [{"where": "lab", "algorithm": key, "ranks": row["hosts"], "us": row["us"]}
            for key in ("pull", "binomial") for row in select(rows_of(found, lambda s: s.time), series=key)]
    rows += [{"where": "lab", "algorithm": "bare", "ranks": hosts, "us": "%.1f" % statistics.median(times)}
             for hosts, times in sorted(bare.items()) if times]
    for algorithm in ("two_stage", "binomial"):
        for ranks in (4, 16, 100, 1000, 10000, 100000) + (() if ctx.quick else (1000000,)):
            run = ctx.simulate("--algorithm %s --ranks %d --bytes 8 --rates %d --latency-us 20 --host-ns 1000" %
                               (algorithm, ranks, RATE))
            rows.append({"where": "simulator", "algorithm": algorithm, "ranks": ranks, "us": run["us"]})
    return rows


def draw_million(rows):
    names = (("lab", "pull", "hwmc, lab"), ("lab", "bare", "multicast without a library, lab"), ("lab", "binomial", "MPICH's binomial, lab"),
             ("simulator", "two_stage", "hwmc, simulator"), ("simulator", "binomial", "binomial, simulator"))
    series = [(title, list(points(rows, "ranks", "us", where=where, algorithm=algorithm).items()))
              for where, algorithm, title in names]
    return curves("Time against ranks, to a million", series, "set logscale x", "set logscale y", "set xlabel 'ranks'",
                  "set format x '10^{%L}'", "set ylabel 'time [us]'")


def judge_million(rows):
    ours = points(rows, "ranks", "us", where="simulator", algorithm="two_stage")
    tree = points(rows, "ranks", "us", where="simulator", algorithm="binomial")
    lab = points(rows, "ranks", "us", where="lab", algorithm="pull")
    alone = points(rows, "ranks", "us", where="lab", algorithm="bare")
    few, most = min(ours), max(ours)
    return [Claim(ours[most] < 1.05 * ours[few], "the time is constant: %.1f us on %d ranks, %.1f on %d" %
                  (ours[few], few, ours[most], most),
                  "it grows by %.3f us a rank." % slope(ours)),
            Claim(tree[most] > 3 * tree[few], "a binomial tree's grows with the logarithm: %.0f and %.0f us" %
                  (tree[few], tree[most]),
                  "it grows by %.3f us a rank." % slope(tree)),
            Claim(lab[max(lab)] < 1.5 * lab[4], "the lab shows the same as far as it goes: %.0f us on 4 hosts, %.0f on %d" %
                  (lab[4], lab[max(lab)], max(lab)),
                  "the simulator gives each host a processor; in the lab two processors wake all. A host more takes %.1f us, and "
                  "%.1f without any library: %s." %
                  (slope(lab), slope(alone) if len(alone) > 1 else float("nan"),
                   ", ".join("%d hosts %.0f us" % pair for pair in alone.items())))]


LAB = "Hosts of the lab, one rail of 1 Gbit/s, rank 0 is the root; "
PAPER = Paper("001", "Hoefler, Siebert, Rehm: A practically constant-time MPI broadcast algorithm for large-scale InfiniBand "
              "clusters with multicast, IPDPS 2007.", [
                  Structure("fig1", "Figures 1 to 3, two stages; the datagram; a binomial tree",
                            "Multicast, then a ring in which each rank has a predecessor; sequence number and broadcast "
                            "identifier before the data.",
                            "The stages: `src/mpi/coll/bcast_hw/core/bcast/two_stage.c`; the datagram: `PROTOCOL.md`.",
                            ("src/mpi/coll/bcast_hw/core/bcast/two_stage.c", "PROTOCOL.md")),
                  Figure("fig4", "Figure 4, latency against size of the communicator",
                         "Multicast takes the same time on 2 to 116 hosts; Open MPI's tree grows with the logarithm and is "
                         "slower from 20 hosts on.",
                         LAB + "2 B; median of the slowest rank's times, with quartiles.",
                         slowest_rows, draw_hosts("2 B, slowest rank"), judge_hosts, 240),
                  Figure("fig5", "Figure 5, latency for each rank",
                         "With multicast all of 116 ranks end within 14 % of the median; with the tree rank 1 ends 79.4 % "
                         "earlier than rank 98.",
                         LAB + "2 B; medians; the root's time is not counted among the deviations.", measure_ranks, draw_ranks,
                         judge_ranks, 5),
                  Figure("fig6", "Figure 6, latency of rank 1",
                         "Constant for both; rank 1 gets the message first in the tree, and so earlier than by multicast.",
                         LAB + "2 B; time from the root's entry to rank 1's exit.",
                         first_rows, draw_hosts("2 B, rank 1"), judge_first, 5),
                  Figure("fig7", "Figure 7, latency of rank N - 1",
                         "Constant by multicast; growing steadily in the tree.",
                         LAB + "2 B; time from the root's entry to the last rank's exit.",
                         lambda ctx: rows_of(campaign(ctx), lambda s: s.exits[-1]), draw_hosts("2 B, rank N - 1"),
                         judge_last, 5),
                  Figure("delays", "Section 2.1, what a root waits for (no figure)",
                         "No delay is the fastest if members are there; if the root comes first, a fixed delay, an adaptive one "
                         "or waiting for a random member keep the multicast from being in vain.",
                         "8 hosts of the lab, pull, 2 B; members come in time or up to 1 ms after the root; 0 or 5 % of the "
                         "datagrams are lost. Time after the last member came.", measure_delays, draw_delays, judge_delays, 150),
                  Figure("million", "Section 5, many more ranks than 116 (no figure)",
                         "There is no reason to assume scalability problems beyond 116 nodes.",
                         "8 B in hwmc_sim, one rail of 1 Gbit/s, latency 20 us, 1 us of host time a message; beside it the lab.",
                         measure_million, draw_million, judge_million, 60),
              ])
