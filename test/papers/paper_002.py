# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""Chiba, Endo, Matsuoka 2007: broadcast over several rails and sites."""

import bench
import sites
from frame import Claim, Figure, Paper, Structure, bytes_axis, curves, number, points

ALGORITHMS = ("chain", "binary", "binomial", "vandegeijn", "multilane", "striped")
TREES = ("binary", "binomial")
NAMES = {"chain": "single chain", "binary": "binary tree", "binomial": "binomial tree", "vandegeijn": "van de Geijn",
         "multilane": "multilane", "striped": "hwmc, multicast on both rails"}
SIMULATED = "hwmc_sim, 32 ranks with two links of 1 Gbit/s, no headers, segments of 4 KiB; latency inside a site 2 ms " \
            "(docs/simulator.md says why)."


def simulated(ctx, sites):
    """Time of each algorithm against bytes."""
    ctx.simulator()
    figures = bench.load_program(bench.frame.TOP / "test" / "sim" / "figures")
    rows = []
    for bits in range(13, 28, 2 if ctx.quick else 1):
        for algorithm in ALGORITHMS:
            size = 1 << bits
            run = figures.simulate(algorithm, size, "%s --sites %d" % (figures.PAPER, sites))
            formula = figures.formula(algorithm, size, sites)
            rows.append({"algorithm": algorithm, "bytes": size, "us": run["us"],
                         "formula_us": "" if formula is None else "%.1f" % formula})
    return rows


def draw_simulated(title):
    def draw(rows):
        sizes = sorted(points(rows, "bytes", "us", algorithm="multilane"))
        series = [(NAMES[name], [(size, us / 1000) for size, us in points(rows, "bytes", "us", algorithm=name).items()])
                  for name in ALGORITHMS]
        return curves(title, series, bytes_axis(int(size) for size in sizes[::2]), "set logscale y", "set ylabel 'time [ms]'")
    return draw


def times_multilane(rows, algorithm, size):
    return points(rows, "bytes", "us", algorithm=algorithm)[size] / points(rows, "bytes", "us", algorithm="multilane")[size]


def ends(rows):
    sizes = points(rows, "bytes", "us", algorithm="multilane")
    return min(sizes), max(sizes)


def about(rows, algorithm, theirs, band):
    """That a long message takes `theirs` times as long as multilane's."""
    _, long = ends(rows)
    ours = times_multilane(rows, algorithm, long)
    return Claim(band[0] <= ours <= band[1], "of the longest message %s takes about %s times as long as multilane: here %.1f" %
                 (NAMES[algorithm], theirs, ours))


def judge_one_site(rows):
    short, long = ends(rows)
    multilane = points(rows, "bytes", "us", algorithm="multilane")
    chain = points(rows, "bytes", "us", algorithm="chain")
    gap = {size: (chain[size] - multilane[size]) / 1000 for size in chain}
    behind = [times_multilane(rows, name, short) for name in TREES]
    return [Claim(all(part <= 1 for part in behind) and min(behind) > 0.75,
                  "with the shortest message the two trees are slightly faster than multilane: %.2f and %.2f of its time" %
                  tuple(behind)),
            about(rows, "binary", "2", (1.8, 2.2)), about(rows, "binomial", "4 to 5", (3.8, 5.2)),
            Claim(max(gap.values()) - min(gap.values()) < 20 and min(gap.values()) > 30,
                  "the chain takes about 50 ms longer than multilane at every size: %.0f to %.0f ms" %
                  (min(gap.values()), max(gap.values()))),
            Claim(times_multilane(rows, "chain", long) < times_multilane(rows, "binary", long),
                  "of the longest message the trees are slower than the chain")]


def judge_two_sites(rows):
    short, _ = ends(rows)
    claims = [about(rows, "binary", "3", (2.5, 3.3)), about(rows, "binomial", "4", (3.5, 5.2))]
    trees = min(points(rows, "bytes", "us", algorithm=name)[short] for name in TREES) / 1000
    multilane = points(rows, "bytes", "us", algorithm="multilane")[short] / 1000
    claims.append(Claim(multilane < 1.25 * trees, "with the shortest message multilane is as fast as the trees: %.1f ms, "
                        "trees %.1f" % (multilane, trees),
                        "" if multilane < 1.25 * trees else
                        "a rank is sent nothing before it has granted, so a message crosses to the second site after a "
                        "grant has crossed from it: %.1f ms more, and one crossing is 10 ms." % (multilane - trees)))
    return claims


def measure_table(ctx):
    """Both sites of the formulas are of one run each: the simulator is deterministic."""
    return [dict(row, ratio="%.3f" % (number(row["us"]) / number(row["formula_us"])))
            for row in simulated(ctx, 1) if row["formula_us"]]


def draw_table(rows):
    sizes = sorted({int(row["bytes"]) for row in rows})
    series = [(NAMES[name], list(points(rows, "bytes", "ratio", algorithm=name).items())) for name in ALGORITHMS]
    return curves("Simulated time in multiples of the cost by Table 1", series, bytes_axis(sizes[::2]),
                  "set yrange [0:4]", "set ylabel 'simulated / formula'")


def judge_table(rows):
    claims = []
    for name in ALGORITHMS:
        ratios = points(rows, "bytes", "ratio", algorithm=name)
        if not ratios:
            continue
        low, high = min(ratios.values()), max(ratios.values())
        why = ""
        if name == "vandegeijn":
            far = points(rows, "bytes", "us", algorithm=name)
            why = "the formula's allgather is recursive doubling, 2 log p l = 20 ms; this one goes around the ring, " \
                  "(p - 1) l + log p l = 72 ms, and the shortest message took %.0f ms." % (far[min(far)] / 1000)
        if name == "multilane":
            why = "its trees have more levels than log p, and segments of a tree that come over one rail wait for those " \
                  "over the other: the ratio is %.2f at the longest message." % ratios[max(ratios)]
        holds = 0.9 <= low and high <= 1.1
        claims.append(Claim(holds, "%s costs what the formula says: %.2f to %.2f of it" % (NAMES[name], low, high),
                            "" if holds else why))
    return claims


PAPER = Paper("002", "Chiba, Endo, Matsuoka: High-performance MPI broadcast algorithm for grid environments utilizing "
              "multi-lane NICs, CCGrid 2007.", [
                  Structure("fig1", "Figure 1, multilane tree in a single site",
                            "Two binary trees, one for each half of the message, whose leaves feed the other tree.",
                            "The same trees for any number of ranks and rails: `src/mpi/coll/bcast_hw/core/place/trees.c`.",
                            ("src/mpi/coll/bcast_hw/core/place/trees.c",)),
                  Figure("table1", "Table 1, estimated costs in a single site",
                         "Formulas for five algorithms, in latency l, bandwidth b, message M and ranks p.",
                         SIMULATED, measure_table, draw_table, judge_table, 10),
                  Structure("fig2", "Figures 2 to 4, several sites; binomial tree; van de Geijn",
                            "Sites are a chain for each tree; the two algorithms that are compared.",
                            "Sites, a chain for each tree: `src/mpi/coll/bcast_hw/core/place/trees.c`; the other two, in the "
                            "simulator: `test/sim/shapes.cc`, `test/sim/scatter_ring.cc`.",
                            ("src/mpi/coll/bcast_hw/core/place/trees.c", "test/sim/shapes.cc", "test/sim/scatter_ring.cc")),
                  Structure("fig5", "Figure 5, overview of the simulator, and Table 2, the cluster",
                            "Clients with a communication and a routing layer, told by a manager; Opteron 242, 1 Gbit/s.",
                            "A simulator on virtual time, which runs hwmc's own state machines: `test/sim/simulator.cc`. The "
                            "machine is named with each figure.", ("test/sim/simulator.cc",)),
                  Figure("fig6", "Figure 6, rate of several TCP connections, delay 0 to 20 ms",
                         "One connection over 20 ms has 40 of 1000 Mbit/s; the rate grows almost linearly with connections, "
                         "to more than 90 %.",
                         "Two hosts of the lab (lab up --delay), a cable of 1 Gbit/s, buffers of 128 KiB a connection as Linux "
                         "2.6.16 had them, and as the kernel sizes them today.",
                         sites.measure_connections, sites.draw_connections, sites.judge_connections, 160),
                  Figure("fig7", "Figure 7, one site of 32 nodes",
                         "Multilane is as fast as the trees with short messages, the fastest with long ones; binary takes "
                         "twice, binomial four times as long; the chain always 50 ms more.",
                         SIMULATED, lambda ctx: simulated(ctx, 1), draw_simulated("32 ranks on one site"),
                         judge_one_site, 10),
                  Figure("fig8", "Figure 8, two sites of 16 nodes, 10 ms apart",
                         "As on one site; binary takes three times, binomial four times as long as multilane.",
                         SIMULATED, lambda ctx: simulated(ctx, 2), draw_simulated("32 ranks on two sites, 10 ms apart"),
                         judge_two_sites, 10),
                  Figure("fig8lab", "Figure 8 with libraries instead of a simulator: two sites 10 ms apart",
                         "Multilane takes about what the bandwidth allows and one crossing; the others multiples of that.",
                         "8 hosts of the lab on one site, and on two of 4 that are 10 ms apart, 2 rails of 100 Mbit/s; median "
                         "of the slowest rank's times, with the lowest and highest. The two sites are subnets that a router "
                         "joins, so two_stage multicasts inside each and sends along trees between them; in one more "
                         "series a switch joins them, and multicast spans both.",
                         sites.measure_broadcasts, sites.draw_broadcasts, sites.judge_broadcasts, 240),
              ])
