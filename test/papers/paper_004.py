# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""Velamati et al. 2007: collectives among ranks that share memory."""

import collections
import csv
import os
import random

import bench
import frame
from frame import Claim, Figure, Paper, Structure, bytes_axis, curves, number, points, select

CORES = len(os.sched_getaffinity(0))
SIZES = tuple(8 << 2 * i for i in range(10))  # 8 B to 2 MiB
RANKS = (2, 4, 8)
SHORT, LONG = 8, SIZES[-1]
TUNE = "MPIR_CVAR_HWMC_TUNE"

Candidate = collections.namedtuple("Candidate", "name algorithm degree", defaults=(0,))
BARRIERS = (Candidate("tree, degree 2", "tree", 2), Candidate("tree, degree 3", "tree", 3),
            Candidate("tree, degree 4", "tree", 4), Candidate("tree, degree 8", "tree", 8),
            Candidate("one to all (OTA)", "ota"), Candidate("signal word (SIG)", "sig"),
            Candidate("pairwise exchange (PE)", "pe"), Candidate("dissemination (DIS)", "dis"))
BCASTS = (Candidate("TREEMM, degree 3", "treemm", 3), Candidate("OTA", "ota"), Candidate("G", "g"), Candidate("AG", "ag"),
          Candidate("TREE, degree 1", "tree", 1), Candidate("TREE, degree 2", "tree", 2),
          Candidate("TREE, degree 3", "tree", 3), Candidate("hwmc's choice", "auto"))
REDUCES = (Candidate("TREEMM, degree 3", "treemm", 3), Candidate("AG", "ag"), Candidate("TREE, degree 1", "tree", 1),
           Candidate("TREE, degree 2", "tree", 2), Candidate("TREE, degree 3", "tree", 3),
           Candidate("TREE, degree 4", "tree", 4), Candidate("hwmc's choice", "auto"))


def settings(op, candidate):
    env = {"MPIR_CVAR_HWMC_%s_ALGORITHM" % op.upper(): candidate.algorithm}
    if candidate.degree:
        env[TUNE] = "shm_degree=%d" % candidate.degree
    return env


def job(ctx, op, candidate, ranks, sizes, method):
    """{(op, bytes): [us of a call]} of one job of node_bench, memory's copies among them."""
    out = bench.OUT / "node.csv"
    out.unlink(missing_ok=True)
    crowded = ranks > CORES
    env = {key: value for key, value in os.environ.items() if not key.startswith("MPIR_CVAR_HWMC")}
    bench.command([bench.PREFIX / "bin" / "mpiexec", "-bind-to", "none" if crowded else "core", "-n", ranks,
                   ctx.program("node_bench"), "-out=%s" % out, "-ops=%s%s" % (op, "" if op == "barrier" else ",copies"),
                   "-bytes=" + ",".join(map(str, sizes)), "-methods=" + method, "-ms=%d" % (8 if ctx.quick else 15),
                   "-batch=%d" % (5000 if crowded else 1000)], dict(env, **settings(op, candidate)))
    found = collections.defaultdict(list)
    lines = out.read_text(encoding="ascii").splitlines()
    for line in lines:
        words = line.split()
        if line.startswith("# cell") and words[3] == op and words[6] != words[8]:
            raise frame.PaperError("%s on %d ranks: %s of %s calls by hwmc" % (candidate.name, ranks, words[8], words[6]))
    kept = [line for line in lines if not line.startswith("#")]
    for row in csv.DictReader(kept, ("method", "op", "bytes", "calls", "time_ns", "late_ns")):
        found[row["op"], int(row["bytes"])].append(float(row["time_ns"]) / float(row["calls"]) / 1000)
    return found


def measure(ctx, op, candidates, ranks, sizes, method, repeats=5):
    """Candidates take turns in each repeat, in shuffled order."""
    samples, rng = collections.defaultdict(list), random.Random(1)
    for _ in range(ctx.repeats(repeats)):
        for candidate in rng.sample(candidates, len(candidates)):
            for count in rng.sample(ranks, len(ranks)):
                for (what, size), times in job(ctx, op, candidate, count, sizes, method).items():
                    samples[candidate.name if what == op else "memory's copies", count, size].append(times)
    rows = []
    for (name, count, size), repeats in sorted(samples.items()):
        middle, low, high = frame.middle(repeats)
        sure_low, sure_high = frame.median_interval([frame.statistics.median(times) for times in repeats])
        rows.append({"algorithm": name, "ranks": count, "bytes": size, "us": "%.3f" % middle, "low": "%.3f" % low,
                     "high": "%.3f" % high, "repeats": len(repeats), "sure_low": "%.3f" % sure_low,
                     "sure_high": "%.3f" % sure_high})
    return rows


def times(rows, name, ranks, size=None):
    """us by bytes, or at one size."""
    found = points(rows, "bytes", "us", algorithm=name, ranks=ranks)
    return found if size is None else found[size]


def series(rows, candidates, x, **wanted):
    return [(one.name, [tuple(number(row[key]) for key in (x, "us", "low", "high"))
                        for row in sorted(select(rows, algorithm=one.name, **wanted), key=lambda row: number(row[x]))])
            for one in candidates]


STEADY = 1.5  # repeats of a point that differ by more say nothing of its shape


def unsure(row):
    """By how much a point's median is unsure; of rows without its interval, by how much its samples differ."""
    return number(row.get("sure_high", row["high"])) / number(row.get("sure_low", row["low"]))


def claims_of(rows, *found):
    """(holds, text, why)s as claims. Rows that are too unsteady show no cause but that."""
    spread, most = frame.statistics.median(map(unsure, rows)), max(rows, key=unsure)
    noise = "not decided by these rows: where ranks share processors jobs of one point are of two kinds, so its median is " \
            "unsure: by %.1f times for half of the points, and for %s on %s ranks it is between %.1f and %.1f us." % (
                spread, most["algorithm"], most["ranks"], number(most.get("sure_low", most["low"])),
                number(most.get("sure_high", most["high"])))
    return [Claim(bool(holds), text, "" if holds else noise if spread > STEADY else why) for holds, text, why in found]


# Figure 2

def measure_barriers(ctx):
    return measure(ctx, "barrier", BARRIERS, RANKS, (SHORT,), "loop", 25)  # whose bytes are 0


def draw_barriers(rows):
    return curves("barriers inside a host", series(rows, BARRIERS, "ranks"), "set logscale xy 2", "set xlabel 'ranks'",
                  "set xtics (%s)" % ", ".join("%d" % n for n in RANKS), "set xrange [1.8:9]", "set ylabel 'time [us]'")


def judge_barriers(rows):
    at = {(one.name, ranks): times(rows, one.name, ranks, 0) for one in BARRIERS for ranks in RANKS}
    trees = [one.name for one in BARRIERS if one.algorithm == "tree"]
    pe, dis, ota = "pairwise exchange (PE)", "dissemination (DIS)", "one to all (OTA)"
    best = min(trees, key=lambda name: at[name, 8])
    phases = "log p phases, in each of which a rank waits for another one: 8 ranks on %d processors wait in turn. PE takes " \
             "%.2f us with 2 ranks and %.1f with 8; OTA, where a rank waits twice whatever their number, %.2f and %.1f." % (
                 CORES, at[pe, 2], at[pe, 8], at[ota, 2], at[ota, 8])
    return claims_of(
        rows,
        (at["tree, degree 8", 8] > at[best, 8] and best != "tree, degree 8",
              "on 8 ranks a tree of degree 8 is slower than one of a lower degree: %.1f us, degree %s %.1f" %
              (at["tree, degree 8", 8], best[-1], at[best, 8]),
              "a tree of degree 8 is one level high, so that a rank waits once for its turn on a shared processor; one of "
              "degree 2 is three levels high and takes %.1f us." % at["tree, degree 2", 8]),
        (min(at[pe, 8], at[dis, 8]) < min(at[name, 8] for name in trees + [ota]),
              "on 8 ranks PE or DIS is faster than each way by a root: %.1f and %.1f us, the best of those %.1f" %
              (at[pe, 8], at[dis, 8], min(at[name, 8] for name in trees + [ota])), phases),
        (0.75 < at[pe, 8] / at[dis, 8] < 1.33, "up to 8 ranks PE and DIS take about the same: %.2f of DIS's time" %
              (at[pe, 8] / at[dis, 8]), phases),
        (at["signal word (SIG)", 8] > 0.9 * at[ota, 8],
              "the signal word is no faster than OTA: %.1f us on 8 ranks, OTA %.1f" % (at["signal word (SIG)", 8], at[ota, 8]),
              "ranks add a bit to one word instead of writing eight cache lines that the root has to read."))


# Figures 3 and 4

def measure_sizes(op, candidates, ranks):
    return lambda ctx: measure(ctx, op, candidates, (ranks,), SIZES[::3] if ctx.quick else SIZES, "each")


def draw_sizes(op, candidates, ranks):
    def draw(rows):
        where = "a processor each" if ranks <= CORES else "on %d processors" % CORES
        return curves("%s, %d ranks, %s" % (op, ranks, where), series(rows, candidates, "bytes", ranks=ranks),
                      bytes_axis(sorted({int(row["bytes"]) for row in rows})[::2]), "set logscale y", "set ylabel 'time [us]'")
    return draw


def near_best(rows, names, candidates, ranks, size, by=1.15):
    """(whether one of the names is within `by` of the fastest, the fastest, time of the best of names over its time)."""
    every = {one.name: times(rows, one.name, ranks, size) for one in candidates if one.algorithm != "auto"}
    best = min(every, key=every.get)
    ratio = min(times(rows, name, ranks, size) for name in names) / every[best]
    return ratio <= by, best, ratio


def about_best(rows, names, candidates, ranks, size, why):
    holds, best, ratio = near_best(rows, names, candidates, ranks, size)
    return (holds, "at %s %s is the fastest or near it: %.2f of the time of %s" %
                 (frame.size_text(size), " or ".join(names), ratio, best), why)


def sizes_of(rows):
    return sorted({int(row["bytes"]) for row in rows})


def copies(rows, ranks, size):
    return times(rows, "memory's copies", ranks, size)


def of_copies(rows, name, ranks, size):
    """A cause: what a candidate's long message takes, in multiples of copies of it by all processors."""
    return "%s %.2f" % (name, times(rows, name, ranks, size) / copies(rows, ranks, size))


def long_cause(rows, names, ranks, size):
    return "a copy of %s by each processor takes %.0f us, and in multiples of that: %s. A long message costs what its copies " \
           "cost, however they are dealt: there is no local store that would save one." % (
               frame.size_text(size), copies(rows, ranks, size),
               ", ".join(of_copies(rows, name, ranks, size) for name in names))


def short_cause(rows, candidates, ranks):
    every = {one.name: times(rows, one.name, ranks, SHORT) for one in candidates if one.algorithm != "auto"}
    if ranks <= CORES:
        return "two ranks are a root and a leaf, whatever the tree is; what differs is who acknowledges what: %s." % \
            ", ".join("%s %.2f us" % item for item in sorted(every.items(), key=lambda item: item[1]))
    return "%d ranks share %d processors, so a level of a tree is a wait for a processor: %s." % (
        ranks, CORES, ", ".join("%s %.1f us" % item for item in sorted(every.items(), key=lambda item: item[1])))


def judge_bcasts(ranks):
    def judge(rows):
        long = sizes_of(rows)[-1]
        short = ["G"] if ranks <= 4 else ["TREE, degree 3"]
        deep = [one.name for one in BCASTS if one.algorithm != "auto"]
        every = {size: near_best(rows, ["hwmc's choice"], BCASTS, ranks, size)[2] for size in sizes_of(rows)}
        worst = max(every, key=every.get)
        return claims_of(rows, about_best(rows, short, BCASTS, ranks, SHORT, short_cause(rows, BCASTS, ranks)),
                about_best(rows, ["AG"], BCASTS, ranks, long, long_cause(rows, deep, ranks, long)),
                about_best(rows, ["AG", "TREE, degree 1"], BCASTS, ranks, long, long_cause(rows, deep, ranks, long)),
                (all(not near_best(rows, ["TREEMM, degree 3"], BCASTS, ranks, size, 1.0)[0] for size in sizes_of(rows)),
                      "TREEMM is the fastest at no size", long_cause(rows, deep, ranks, long)),
                (every[worst] <= 1.25, "hwmc's choice is within a quarter of the fastest at every size: at most %.2f of its "
                      "time, at %s" % (every[worst], frame.size_text(worst)),
                      "it was tuned on another machine; hwmc_tune makes one for this (docs/tuning.md)."))
    return judge


def judge_reduces(ranks):
    def judge(rows):
        sizes = sizes_of(rows)
        middle = [size for size in sizes if 2048 <= size <= 131072]
        deep = [one.name for one in REDUCES if one.algorithm != "auto"]
        trees = [name for name in deep if name.startswith("TREE,")]
        claims = [about_best(rows, ["TREE, degree 3"] if ranks > 4 else trees, REDUCES, ranks, SHORT,
                             short_cause(rows, REDUCES, ranks))]
        slow = times(rows, "AG", ranks, SHORT)
        fast = min(times(rows, name, ranks, SHORT) for name in trees)
        claims.append((slow > fast, "AG is slower than trees with short messages: %.2f us, trees %.2f" % (slow, fast),
                            "its pieces are no shorter than hwmc's least one, so one rank combines all."))
        at = max(middle, key=lambda size: near_best(rows, ["AG"], REDUCES, ranks, size)[2])
        claims.append(about_best(rows, ["AG"], REDUCES, ranks, at, long_cause(rows, deep, ranks, at)))
        claims.append(about_best(rows, ["AG"] if ranks == 4 else ["TREE, degree 1"], REDUCES, ranks, sizes[-1],
                                 long_cause(rows, deep, ranks, sizes[-1])))
        claims.append((all(not near_best(rows, ["TREEMM, degree 3"], REDUCES, ranks, size, 1.0)[0] for size in sizes),
                            "TREEMM is the fastest at no size", long_cause(rows, deep, ranks, sizes[-1])))
        return claims_of(rows, *claims)
    return judge


def measure_bandwidth(ctx):
    return [dict(row, mbytes_s="%.0f" % (int(row["bytes"]) * int(row["ranks"]) / number(row["us"])))
            for row in measure(ctx, "bcast", BCASTS[-1:], RANKS, SIZES[::3] if ctx.quick else SIZES, "each")]


def bandwidth(rows, ranks, name="hwmc's choice"):
    return points(rows, "bytes", "mbytes_s", algorithm=name, ranks=ranks)


def draw_bandwidth(rows):
    lines = [("%d ranks" % ranks, list(bandwidth(rows, ranks).items())) for ranks in RANKS]
    lines.append(("copies by %d processors" % CORES, [(size, CORES * size / us) for size, us in
                                                      times(rows, "memory's copies", 2).items()]))
    return curves("broadcast inside a host, hwmc's choice: bytes read and written", lines, bytes_axis(SIZES[::2]),
                  "set logscale y", "set ylabel 'MB/s'")


def judge_bandwidth(rows):
    claims = []
    for ranks in RANKS:
        found = bandwidth(rows, ranks)
        peak = max(found.values())
        long = [size for size in found if size >= 16384]
        least = min(found[size] for size in long)
        copied = max(CORES * size / us for size, us in times(rows, "memory's copies", 2).items() if size in long)
        claims.append((least > 0.5 * peak, "with %d ranks at 16 KiB and more at least half of the highest bandwidth is "
                            "reached: %.0f of %.0f MB/s" % (ranks, least, peak),
                            "copies of these lengths by both processors go at %.0f MB/s at most, when the message is in their "
                            "caches, and at %.0f when it is not, at %s." % (
                                copied, CORES * max(long) / copies(rows, 2, max(long)), frame.size_text(max(long)))))
    return claims_of(rows, *claims)


BARRIER_HOW = "node_bench on one host, every algorithm by its control variable, calls in a row; the slowest rank's time, the " \
              "median of interleaved repeats and the range of their medians. "
SIZES_HOW = "node_bench on one host, every algorithm by its control variable, one call between two fences; the slowest " \
            "rank's time, the median of interleaved repeats and the range of their medians. "
BCAST_SHOWS = "On sixteen processes TREE of degree 3 is the fastest with short messages, with four or fewer G; AG from 8 KiB " \
              "on, and the pipeline (degree 1) for the longest."
REDUCE_SHOWS = {2: "They show none on two processes; on four, trees of degrees 2 to 4 are alike with short messages, AG is the "
                   "best with long ones.",
                4: "On four processes trees of degrees 2 to 4 are alike with short messages, AG is the best with long ones.",
                8: "On eight and more TREE of degree 3 is the best with short messages, AG with medium ones, the pipeline "
                   "(degree 1) with the longest; TREEMM nowhere."}

PAPER = Paper("004", "Velamati et al.: Optimization of collective communication in intra-Cell MPI, HiPC 2007.", [
    Structure("fig1", "Figure 1, overview of the Cell processor", "Eight cores with a local store each, and main memory.",
              "Processors with caches instead of local stores: what hwmc knows of them is in "
              "`src/mpi/coll/bcast_hw/shm/topo/levels.h`.", ("src/mpi/coll/bcast_hw/shm/topo/levels.h",)),
    Figure("fig2", "Figure 2, barriers: trees of several degrees, and four algorithms",
           "Trees of degree 2 and 4 are faster than of degree 8; PE and DIS are much faster than ways by a root, and alike up "
           "to eight processes; signal registers gain nothing.",
           BARRIER_HOW, measure_barriers, draw_barriers, judge_barriers, 60),
    *(Figure("fig3-%d" % ranks, "Figure 3 left, broadcast, %d ranks" % ranks, BCAST_SHOWS, SIZES_HOW,
             measure_sizes("bcast", BCASTS, ranks), draw_sizes("broadcast", BCASTS, ranks), judge_bcasts(ranks), 50)
      for ranks in RANKS),
    Figure("fig3-bandwidth", "Figure 3 right, memory bandwidth with a good choice of algorithms",
           "From 16 KiB on close to the memory's peak, for four processes or more.",
           SIZES_HOW + "Bytes are the message times ranks: one read and all but one write. ", measure_bandwidth, draw_bandwidth,
           judge_bandwidth, 30),
    *(Figure("fig4-%d" % ranks, "Figure 4, reduce, %d ranks" % ranks, REDUCE_SHOWS[ranks], SIZES_HOW,
             measure_sizes("reduce", REDUCES, ranks), draw_sizes("reduce", REDUCES, ranks), judge_reduces(ranks), 50)
      for ranks in RANKS),
])
