# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""Vishnu et al. 2007: automatic path migration, of queue pairs and under whole programs."""

import collections
import os
import random
import re
import statistics
import time

import bench
import frame
from frame import Claim, Figure, Paper, Structure, bytes_axis, curves, data, number, points, script, select

jobs = bench.lab_jobs
LIMIT = 60  # s for a program
RESILIENT = ["MPIR_CVAR_HWMC_RESILIENT=1", "MPIR_CVAR_HWMC_LANE=rc", "MPIR_CVAR_HWMC_TUNE=rc_timeout=14"]

# A way to run a program: its name, more of its environment, whether a rail is cut in mid-run.
Way = collections.namedtuple("Way", "name env cut")
WAYS = (Way("no alternate path", ["MPIR_CVAR_HWMC_APM=0"], False), Way("armed", [], False),
        Way("cut, hardware migrates", [], True), Way("cut, software migrates", ["MPIR_CVAR_HWMC_APM=0"], True))
UNARMED, ARMED, HARDWARE, SOFTWARE = (way.name for way in WAYS)
COUNTED = {"migrated": "hwmc_rc_migrated", "sent_again": "hwmc_session_replays", "streams_moved": "hwmc_session_moves"}


STEADY = 1.5  # repeats of a point that differ by more say nothing of its shape


def claim(holds, text, why, rows=()):
    """rows: of medians of repeats; if those are too unsteady they show no cause but that."""
    spread = statistics.median(number(row["high"]) / number(row["low"]) for row in rows) if rows else 1
    if spread > STEADY:
        why = "not decided by these rows: other programs had the processors meanwhile, and repeats of one point differ by " \
              "%.1f times for half of the points. To be measured again on a machine that is quiet." % spread
    return Claim(bool(holds), text, "" if holds else why)


# Figures 5 to 8: queue pairs

def pairs(ctx, plan):
    """Rows of apm_pingpong: medians of repeats; plan: [(options, whether the path is cut)]."""
    apm = bench.load_program(bench.LAB / "bench_apm")
    out = bench.OUT / "apm"
    out.mkdir(parents=True, exist_ok=True)
    apm.build(out)
    found = collections.defaultdict(list)
    with jobs.Network(apm.NAME, 2, 2, 1000) as network:
        runs = apm.Runs(network, out)
        for _ in range(ctx.repeats(3 if any(cut for _, cut in plan) else 5)):
            for words, cut in plan:
                try:
                    lines_of_run = runs.one(*words, cut=cut)
                except jobs.JobError as error:  # one lost run is not the end of all
                    if error.status > 128:
                        raise
                    ctx.remark("A run was lost: %s." % error)
                    continue
                for test, qps, size, what, _, mean, _ in lines_of_run:
                    found[test, what, int(qps), int(size)].append(float(mean))
    return [{"test": test, "what": what, "qps": qps, "bytes": size, "us": "%.2f" % statistics.median(us),
             "low": "%.2f" % min(us), "high": "%.2f" % max(us), "repeats": len(us)}
            for (test, what, qps, size), us in sorted(found.items())]


def kinds(rows):
    return sorted({row["what"] for row in rows})


def lines(rows, x):
    return [(what, [tuple(number(row[key]) for key in (x, "us", "low", "high"))
                    for row in sorted(select(rows, what=what), key=lambda row: number(row[x]))]) for what in kinds(rows)]


def measure_transitions(counts):
    return lambda ctx: pairs(ctx, [(("--test", "times", "--qps", n), False) for n in (counts[:3:2] if ctx.quick else counts)])


def draw_transitions(rows):
    return curves("transitions of path migration, emulated adapter", lines(rows, "qps"), "set logscale xy 2",
                  "set xlabel 'queue pairs'", "set ylabel 'time [us]'")


def transition(rows, word):
    """{queue pairs: us} of the transition whose name ends so."""
    return points(rows, "qps", "us", what=[what for what in kinds(rows) if what.endswith(word)][0])


def judge_transitions(rows):
    claims = []
    loads, moves = transition(rows, "armed"), transition(rows, "migrated")
    for word, times in (("armed", loads), ("migrated", moves)):
        least, most = min(times), max(times)
        each = times[most] / most
        flat = frame.slope(times)
        claims.append(claim(0.5 < flat / each < 2, "the time to %s grows with queue pairs along a line: %.1f us more for each, "
                            "%.1f a pair with %d" % (word, flat, each, most),
                            "one takes %.0f us, which is mostly what the event takes to reach its thread; %d take %.0f us." %
                            (times[least], most, times[most])))
    ratios = [moves[n] / loads[n] for n in moves if n in loads]
    claims.append(claim(all(ratio > 1 for ratio in ratios), "to migrate takes longer than to arm, by 16 to 30 %% there: here "
                        "%.2f to %.2f times as long" % (min(ratios), max(ratios)),
                        "the emulated adapter loads a path by a packet each way on every queue pair, where theirs does so by "
                        "itself, and migrates by a system call: %.0f us a pair to arm, %.1f to migrate." %
                        (loads[max(loads)] / max(loads), moves[max(moves)] / max(moves))))
    return claims


def measure_latency(ctx):
    sizes = (128, 4096) if ctx.quick else (1, 128, 1024, 4096, 16384)
    return pairs(ctx, [(("--test", "latency", "--qps", 16, "--bytes", size), False) for size in sizes])


def draw_latency(title):
    def draw(rows):
        return curves(title, lines(rows, "bytes"), bytes_axis(sorted({int(row["bytes"]) for row in rows})), "set logscale y",
                      "set ylabel 'round trip [us]'")
    return draw


def judge_latency(rows):
    names = kinds(rows)
    plain = [what for what in names if not what.endswith(("armed", "migrated"))][0]
    still = points(rows, "bytes", "us", what=plain)
    claims = []
    for what in names:
        if what == plain:
            continue
        more = {size: us - still[size] for size, us in points(rows, "bytes", "us", what=what).items()}
        claims.append(claim(min(more.values()) > 0, "%s under way adds to a round trip: %.0f to %.0f us" %
                            (what, min(more.values()), max(more.values())),
                            "a round trip takes %.0f us by system calls of the emulated adapter, and repeats differ by up to "
                            "%.1f times: more than a transition adds." %
                            (min(still.values()), max(number(row["high"]) / number(row["low"]) for row in rows)), rows))
        claims.append(claim(max(more.values()) < 3 * max(min(more.values()), 0.01 * max(still.values())),
                            "what %s adds does not depend on bytes" % what,
                            "it is the time of a thread that wants a processor, from %.0f to %.0f us; a round trip alone takes "
                            "%.0f to %.0f." % (min(more.values()), max(more.values()), min(still.values()),
                                               max(still.values())), rows))
    return claims


def measure_cut(ctx):
    sizes = (128, 4096) if ctx.quick else (1, 128, 1024, 4096)
    return pairs(ctx, [(("--test", "cut", "--qps", 8 if ctx.quick else 64, "--bytes", size), True) for size in sizes])


def judge_cut(rows):
    found = points(rows, "bytes", "us", what="cut")
    return [claim(max(found.values()) < 1.2 * min(found.values()),
                  "a round trip in which hardware migrates takes about as long for all lengths: %.0f to %.0f ms" %
                  (min(found.values()) / 1000, max(found.values()) / 1000),
                  "repeats of one length differ by up to %.1f times." %
                  max(number(row["high"]) / number(row["low"]) for row in select(rows, what="cut")))]


# Paths by the program's hand

RAIL_MBIT, PAIRS = 100, 4
PAIR_BITS = PAIRS * 8 * 64 * 1024 * 8  # kernel_pair, a step: what goes each way
PATHS = ("default", "1", "balance", "0", "default")  # values of hwmc_path, one after the other


def run_paths(path):
    options = jobs.Options(bench.PREFIX, RESILIENT, PAIRS)
    with jobs.Network("pair%d" % os.getpid(), 2, 2, RAIL_MBIT) as network:
        return run_job(network, options, path, ["-steps=%d" % (8 * len(PATHS))], {"HWTEST_PATHS": ",".join(PATHS)})


def measure_paths(ctx):
    path, rates, counts = kernel(ctx, "pair"), collections.defaultdict(list), collections.Counter()
    for _ in range(ctx.repeats(3)):
        said = run_paths(path)
        steps = re.findall(r"^step (\S+) ([\d.]+)$", said, re.M)
        for i, (word, seconds) in enumerate(steps):
            rates[i, word].append(PAIR_BITS / float(seconds) / 1e6)
        counts["errors"] += int(re.search(r"checked \d+ broadcasts, \d+ KiB, (\d+) errors", said)[1])
        counts["moved"] += int(figure_of(said, "hwmc_rc_moved"))
        counts["sent_again"] += int(figure_of(said, "hwmc_session_replays"))
    return [{"step": i, "path": word, "mbit": "%.1f" % statistics.median(mbit), "low": "%.1f" % min(mbit),
             "high": "%.1f" % max(mbit), "repeats": len(mbit), **counts} for (i, word), mbit in sorted(rates.items())]


def phases(rows):
    """[(value, its rows)], in the order of time."""
    found = []
    for row in sorted(rows, key=lambda row: number(row["step"])):
        if not found or found[-1][0] != row["path"]:
            found.append((row["path"], []))
        found[-1][1].append(row)
    return found


def draw_paths(rows):
    return curves("rate while the program sets hwmc_path, two rails of %d Mbit/s" % RAIL_MBIT,
                  [("%d. %s" % (i + 1, word), [tuple(number(row[key]) for key in ("step", "mbit", "low", "high")) for row in kept])
                   for i, (word, kept) in enumerate(phases(rows))],
                  "set xlabel 'step'", "set ylabel 'rate of a host each way [Mbit/s]'", "set yrange [0:*]", "set key bottom")


def judge_paths(rows):
    rate = {}
    for word, kept in phases(rows):
        rate.setdefault(word, []).append(statistics.median(number(row["mbit"]) for row in kept))
    one, both = max(rate["1"] + rate["0"]), min(rate["balance"])
    return [
        claim(one < 1.1 * RAIL_MBIT, "connections on one path carry what its rail does: %.0f Mbit/s of %d" % (one, RAIL_MBIT),
              "some of them had not migrated.", rows),
        claim(both > 1.5 * one, "balanced they carry what both do: %.0f Mbit/s, %.1f times as much" % (both, both / one),
              "with all on their own rails it is %.0f." % min(rate["default"]), rows),
        claim(all(row["errors"] == "0" and row["sent_again"] == "0" for row in rows),
              "no message is lost or wrong, and no frame is sent again: %s migrations" % rows[0]["moved"],
              "%s errors, %s frames sent again." % (rows[0]["errors"], rows[0]["sent_again"])),
    ]


# Figures 9 to 12: programs

def kernel(ctx, name):
    path = bench.OUT / ("kernel_%s.mpich" % name)
    if path not in ctx.built:
        bench.OUT.mkdir(parents=True, exist_ok=True)
        bench.command([jobs.compiler(bench.PREFIX), "-O2", "-o", path, bench.LAB / "kernels" / ("kernel_%s.c" % name), "-lm"])
        jobs.build_adapters()
        ctx.built[path] = path
    return path


def run_job(network, options, path, words, env, meanwhile=None):
    """One job of a kernel; what it said. meanwhile is called once it is "halfway", or ended, or out of time."""
    job = jobs.Job(network, options, [path, "-report", *words], {**jobs.ADAPTERS, **env}, bench.OUT / "kernel.log")
    deadline = time.monotonic() + LIMIT
    try:
        while meanwhile and job.status() is None and "halfway" not in job.output() and time.monotonic() < deadline:
            time.sleep(0.01)
        if meanwhile:
            meanwhile()
        while job.status() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        said = job.output()
        if job.status() != 0:
            raise frame.PaperError("%s: status %s: %s" % (path.name, job.status(), said[-200:]))
        return said
    finally:
        job.stop()


def run_kernel(path, words, way):
    """One job on 4 hosts of 2 ranks; what it said. With a cut the first rail of a host is gone from half of the steps on."""
    options = jobs.Options(bench.PREFIX, RESILIENT + way.env, 2)
    go = bench.OUT / "kernel.go"
    go.unlink(missing_ok=True)
    with jobs.Network("kern%d" % os.getpid(), 4, 2, 1000) as network:
        def go_on():
            if way.cut:
                network.cut("h1", 0, "silent")
            go.touch()
        try:
            return run_job(network, options, path, words, {"HWTEST_GO": str(go)}, go_on)
        except frame.PaperError as error:
            raise frame.PaperError("%s, %s" % (way.name, error)) from None


def figure_of(said, name):
    found = re.search(r"^%s ([\d.]+)$" % name, said, re.M)
    return float(found[1]) if found else 0


def measure_kernel(name, steps, *words):
    def measure(ctx):
        path, rng, rows = kernel(ctx, name), random.Random(1), []
        for repeat in range(ctx.repeats(3)):
            for way in rng.sample(WAYS, len(WAYS)):
                said = run_kernel(path, ["-steps=%d" % (steps // 4 if ctx.quick else steps), *words], way)
                errors = re.search(r"checked \d+ broadcasts, \d+ KiB, (\d+) errors", said)
                rows.append({"way": way.name, "repeat": repeat, "steps": "%d" % figure_of(said, "steps"),
                             "work_s": "%.3f" % figure_of(said, "work"), "longest_ms": "%.1f" % figure_of(said, "longest"),
                             "errors": errors[1] if errors else "", **{key: "%d" % figure_of(said, counter)
                                                                      for key, counter in COUNTED.items()}})
        return rows
    return measure


def column(rows, way, key):
    return [number(row[key]) for row in select(rows, way=way)]


def draw_kernel(title):
    def draw(rows):
        bars = [(i + 1, statistics.median(times), min(times), max(times))
                for i, times in enumerate(column(rows, way.name, "work_s") for way in WAYS)]
        ticks = ", ".join("'%s' %d" % (way.name.replace(", ", ",\\n"), i + 1) for i, way in enumerate(WAYS))
        return data("d", bars) + script(title, "set boxwidth 0.6", "set style fill solid 0.7", "set yrange [0:*]",
                                        "set xrange [0.4:4.6]", "unset key", "set ylabel 'time [s]'", "set xtics (%s)" % ticks,
                                        "plot $d using 1:2 with boxes lt 1, $d using 1:2:3:4 with yerrorbars lt 3")
    return draw


def judge_kernel(rows):
    middle = {way.name: statistics.median(column(rows, way.name, "work_s")) for way in WAYS}
    spread = max(max(times) / min(times) for times in (column(rows, way, "work_s") for way in (UNARMED, ARMED)))
    stall = statistics.median(column(rows, HARDWARE, "longest_ms")) - statistics.median(column(rows, ARMED, "longest_ms"))
    hardware, software = select(rows, way=HARDWARE), select(rows, way=SOFTWARE)
    armed, cut = middle[ARMED] / middle[UNARMED], middle[HARDWARE] / middle[ARMED]
    return [
        claim(all(row["errors"] == "0" for row in rows), "no message is lost: every step of all %d runs is verified" % len(rows),
              "a step was wrong, which is a bug."),
        claim(all(number(row["migrated"]) > 0 and row["sent_again"] == "0" for row in hardware),
              "hardware migrates %g to %g connections, and no frame is sent again" %
              (min(column(rows, HARDWARE, "migrated")), max(column(rows, HARDWARE, "migrated"))),
              "%g frames were sent again by the sessions at most: these connections had not loaded their alternate path when "
              "the rail was cut, and %g migrated at least." % (max(column(rows, HARDWARE, "sent_again")),
                                                               min(column(rows, HARDWARE, "migrated")))),
        claim(all(row["migrated"] == "0" and number(row["streams_moved"]) > 0 for row in software),
              "without alternate paths %g to %g streams move in software, with %g to %g frames sent again" %
              (min(column(rows, SOFTWARE, "streams_moved")), max(column(rows, SOFTWARE, "streams_moved")),
               min(column(rows, SOFTWARE, "sent_again")), max(column(rows, SOFTWARE, "sent_again"))),
              "no stream went by that rail."),
        claim(armed <= max(1.1, spread), "armed paths cost nothing that shows: %.2f of the time without, whose runs differ by "
              "%.2f" % (armed, spread), "the runs were not alone on their processors: the slowest of %s took %.2f times the "
              "fastest." % (ARMED, max(column(rows, ARMED, "work_s")) / min(column(rows, ARMED, "work_s")))),
        claim(1 <= cut, "a cut costs time once: %.2f of the time without, %.2f s; the longest step is %.0f ms longer" %
              (cut, middle[HARDWARE] - middle[ARMED], stall),
              "the longest step is %.0f ms longer, but runs differ by %.2f of their time." % (stall, spread)),
    ]


TRANSITIONS_SHOW = "Both grow with queue pairs along a line; to migrate takes 30 % longer with few, 16 % with many."
PAIRS_HOW = "apm_pingpong on two hosts of the lab with emulated adapters (test/lab/ibemu); medians of interleaved repeats and " \
            "their range. "
KERNELS_HOW = "A kernel of our own with the communication of %s, on 4 hosts of 2 ranks in resilient mode over reliable " \
              "connections of emulated adapters with two ports of 1 Gbit/s; between two of its steps, after half of them, the first " \
              "rail of one host falls silent for good. The time of its work: median and range of interleaved runs. "
IS_SHOWS = "Transitions cost a little, a cut costs much of a short run."
LONG_SHOWS = "A cut costs 5 to 7 % of a long run, which needs no restart."


def program(figure, title, shows, like, steps, *words):
    """like: the kernel's name, and its size in words."""
    return Figure(figure, title, shows, KERNELS_HOW % like.split(",")[0],
                  measure_kernel(like[:2].lower(), steps, *words), draw_kernel("%s: path migration" % like), judge_kernel, 75)


PAPER = Paper("003", "Vishnu, Mamidala, Narravula, Panda: Automatic path migration over InfiniBand: early experiences, "
              "IPDPS 2007.", [
                  Structure("fig1", "Figures 1 and 2, states of a queue pair and of its path",
                            "Communication from RESET to RTS; path migration from MIGRATED over REARM to ARMED and back.",
                            "The machine in `src/mpi/coll/bcast_hw/core/path/apm.h`.",
                            ("src/mpi/coll/bcast_hw/core/path/apm.h",)),
                  Structure("fig3", "Figures 3 and 4, modules and threads",
                            "Modules that specify, load and migrate paths; a thread that takes the device's events.",
                            "The modules `src/mpid/ch4/netmod/hwmc/apm/specify.h`, `src/mpid/ch4/netmod/hwmc/apm/load.h` and "
                            "`src/mpid/ch4/netmod/hwmc/apm/migrate.h`; the thread is "
                            "`src/mpid/ch4/netmod/hwmc/verbs/events.h`.",
                            ("src/mpid/ch4/netmod/hwmc/apm/specify.h", "src/mpid/ch4/netmod/hwmc/apm/load.h",
                             "src/mpid/ch4/netmod/hwmc/apm/migrate.h", "src/mpid/ch4/netmod/hwmc/verbs/events.h")),
                  Figure("fig5", "Figure 5, transitions, few queue pairs", TRANSITIONS_SHOW, PAIRS_HOW,
                         measure_transitions((1, 2, 4, 8, 16)), draw_transitions, judge_transitions, 20),
                  Figure("fig6", "Figure 6, transitions, many queue pairs", TRANSITIONS_SHOW, PAIRS_HOW,
                         measure_transitions((32, 64, 128, 256, 512)), draw_transitions, judge_transitions, 40),
                  Figure("fig7", "Figure 7, latency while paths change",
                         "Both transitions add much to a round trip, the same at all lengths.", PAIRS_HOW + "16 queue pairs. ",
                         measure_latency, draw_latency("round trips, 16 queue pairs"), judge_latency, 20),
                  Figure("fig8", "Figure 8, latency while hardware migrates",
                         "What a fault costs a queue pair does not depend on bytes.",
                         PAIRS_HOW + "64 queue pairs (theirs: 512). ", measure_cut,
                         draw_latency("round trips while the first path is dead"), judge_cut, 60),
                  program("fig9", "Figure 9, IS, class A", IS_SHOWS, "IS, 2^16 keys", 48),
                  program("fig10", "Figure 10, IS, class B", IS_SHOWS, "IS, 2^19 keys", 16, "-n=19"),
                  program("fig11", "Figure 11, FT, class B", LONG_SHOWS, "FT, 64^3 numbers", 12, "-n=64"),
                  program("fig12", "Figure 12, LU, class B", LONG_SHOWS, "LU, 24^3 points", 12),
                  Figure("extra-paths", "Beyond the paper: paths by the program's hand",
                         "Their module migrates on a program's request, to balance load for example; no figure shows it.",
                         "4 pairs of ranks on two hosts, in resilient mode over reliable connections of emulated adapters with "
                         "two ports of %d Mbit/s, send each other 8 messages of 64 KiB a step (test/lab/kernels/kernel_pair.c). "
                         "Every 8 steps the program sets info key `hwmc_path` anew. Medians of the runs, and their range. " %
                         RAIL_MBIT, measure_paths, draw_paths, judge_paths, 40),
                  program("extra-cg", "Beyond the paper: CG", "They have none.", "CG, 4000 rows", 12),
              ])
