# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""What test/lab/bench_node makes of its samples: tables, target figures, data for the plots.

The figure of a repeat is the median of its samples, that of a cell the median of its repeats, with a
95 % interval by bootstrap over the repeats (bench_report.interval): a repeat is a job of its own, and
samples of one job are alike. Series are compared within a repeat, where they ran one soon after the
other: the median over repeats of the ratio of two series, not the ratio of their medians.
"""

import collections
import math
import re
import statistics

import bench_report
from bench_report import Series, Target, columns, interval, write_csv, write_data

SERIES = (
    Series("hwmc", "hwmc", "node", "hwmc"),
    Series("off", "mpich", "hwmc_off", "hwmc off"),
    Series("ucx", "mpich", "ucx", "MPICH over UCX"),
    Series("shm", "mpich", "release_gather", "MPICH shm, release_gather"),
    Series("shmauto", "mpich", "shm_auto", "MPICH shm, its choice"),
    Series("shmoff", "mpich", "shm_mpir", "MPICH shm, no release_gather"),
    Series("openmpi", "openmpi", "tuned", "Open MPI"),
    Series("ompism", "openmpi", "sm", "Open MPI, coll/sm"),
)
KEYS = tuple(series.key for series in SERIES)
OURS = SERIES[0]
JUDGED = ("barrier", "bcast", "reduce", "allreduce")
MORE = ("allgather", "alltoall", "gather", "scatter")
NONBLOCKING = ("ibarrier", "ibcast", "ireduce", "iallreduce", "iallgather", "ialltoall")
METHODS = ("each", "loop")
AT_LEAST, ON_AVERAGE = 1.0, 1.5  # times as fast as the best peer, at every size and over all
COPY_BYTES, COPY_PART = 1 << 20, 0.8  # large broadcasts against memcpy
CROWD = 2.0  # of the time per rank of two ranks

RAW_NAME = re.compile(r"(\w+)\.n(\d+)\.r(\d+)\.csv")
Cell = collections.namedtuple("Cell", "key ranks method op bytes")


class Results:
    """cells[cell], late[cell]: us by repeat."""

    def __init__(self, setting):
        self.setting = setting  # machine, cores, bind, rotate, failures, near
        self.cells = collections.defaultdict(dict)
        self.late = collections.defaultdict(dict)
        self.copies = collections.defaultdict(list)  # (ranks, method, op, bytes): of all series
        self.outside = collections.Counter()  # cell: calls of hwmc's that went past its node layer
        self.far = collections.Counter()  # ranks: cells of a repeat, measured while processors were far

    def read(self, directory):
        for path in sorted(directory.glob("*.csv")):
            match = RAW_NAME.fullmatch(path.name)
            if match:
                self.read_job(match[1], int(match[2]), int(match[3]), path.read_text().splitlines())
        return self

    def read_job(self, key, ranks, repeat, lines):
        times, late = collections.defaultdict(list), collections.defaultdict(list)
        for line in lines:
            words = line.replace(",", " ").split()
            if words[:2] == ["#", "cell"]:
                self.read_counts(key, ranks, words[2:])
                if self.is_far(int(words[10])):
                    del times[words[2], words[3], int(words[4])]
                    self.far[ranks] += 1
            elif words[0] != "#":
                place = (words[0], words[1], int(words[2]))
                times[place].append(int(words[4]) / int(words[3]) / 1000)
                late[place].append(int(words[5]) / 1000)
        for place, values in times.items():
            if place[1] in ("copy", "copies"):
                self.copies[(ranks,) + place].append(statistics.median(values))
            else:
                cell = Cell(key, ranks, *place)
                self.cells[cell][repeat] = statistics.median(values)
                self.late[cell][repeat] = statistics.median(late[place])

    def read_counts(self, key, ranks, words):
        method, op, size, _, calls, _, node, _, _ = words
        if key == OURS.key and op not in ("copy", "copies") and int(calls) > int(node):
            self.outside[Cell(key, ranks, method, op, int(size))] += int(calls) - max(0, int(node))

    def is_far(self, line):
        near = self.setting.get("near", 0)
        return near > 0 and line > 3 * near

    def values(self, axis):
        return sorted({getattr(cell, axis) for cell in self.cells})

    def ops(self):
        return [op for op in JUDGED + MORE + NONBLOCKING if op in self.values("op")]

    def series(self):
        return [series for series in SERIES if series.key in self.values("key")]

    def repeats(self, key, *place):
        """In the form of bench_report: a list for each repeat; empty where nothing was measured."""
        return [[value] for value in self.cells.get(Cell(key, *place), {}).values()]

    def median(self, key, *place):
        repeats = self.repeats(key, *place)
        return bench_report.median(repeats) if repeats else None

    def sizes(self, ranks, method, op):
        return sorted({cell.bytes for cell in self.cells
                       if (cell.ranks, cell.method, cell.op) == (ranks, method, op)})

    def ratios(self, key, *place):
        """{repeat: how many times as long as hwmc the series took}."""
        ours, theirs = (self.cells.get(Cell(each, *place), {}) for each in (OURS.key, key))
        return {repeat: theirs[repeat] / ours[repeat] for repeat in sorted(ours.keys() & theirs.keys())}

    def best_peer(self, *place):
        """(ratios, series) of the peer that is fastest beside hwmc; ({}, None) if none ran."""
        found = [(self.ratios(series.key, *place), series) for series in self.series()
                 if series != OURS]
        found = [pair for pair in found if pair[0]]
        return min(found, key=lambda pair: middle(pair[0])) if found else ({}, None)

    def copy(self, ranks, op, size):
        """us that memcpy of so many bytes takes, by one rank or by as many as there are cores."""
        found = self.copies.get((ranks, "each", op, size))
        return statistics.median(found) if found else None


def binding(wanted, ranks, cores):
    """What all libraries' mpiexec are told."""
    return wanted if wanted != "auto" else "core" if ranks <= cores else "none"


def middle(ratios):
    return statistics.median(ratios.values())


def mean_ratio(repeats):
    """Geometric mean over sizes of the median over repeats; repeats: {size: ratio} each."""
    sizes = {size for repeat in repeats for size in repeat}
    logs = [math.log(statistics.median(repeat[size] for repeat in repeats if size in repeat))
            for size in sizes]
    return math.exp(statistics.fmean(logs))


def by_repeat(ratios):
    """{size: {repeat: ratio}} -> {size: ratio} for each repeat."""
    repeats = sorted({repeat for column in ratios.values() for repeat in column})
    return [{size: column[repeat] for size, column in ratios.items() if repeat in column}
            for repeat in repeats]


def size_text(size):
    for unit, text in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return "%g %s" % (size / unit, text)
    return "%d B" % size


def time_text(value):
    return "%.2f" % value if value < 100 else "%.0f" % value


def cell_text(repeats):
    if len(repeats) < 2:
        return time_text(repeats[0][0]) if repeats else ""
    low, high = interval(bench_report.median, repeats)
    return "%s [%s, %s]" % tuple(time_text(v) for v in (bench_report.median(repeats), low, high))


# Target figures


def speed_targets(results, ranks, method, op):
    """At every size, and at the geometric mean over sizes, of those that hwmc and a peer have."""
    ratios, peers = {}, {}
    for size in results.sizes(ranks, method, op):
        best, peer = results.best_peer(ranks, method, op, size)
        if peer:
            ratios[size], peers[size] = best, peer
    if not ratios:
        return []
    what = "%s, %d ranks, %s: times as fast as the best peer" % (op, ranks, method)
    size = min(ratios, key=lambda size: middle(ratios[size]))
    ratio, peer = middle(ratios[size]), peers[size]
    text = "%s: %s us; %s %s us; ratio %.2f to %.2f" % (
        (size_text(size), time_text(results.median(OURS.key, ranks, method, op, size)), peer.title,
         time_text(results.median(peer.key, ranks, method, op, size))) +
        interval(mean_ratio, by_repeat({size: ratios[size]})))
    every = Target(what + ", every size", OURS, ">= %.2f" % AT_LEAST, "%.2f" % ratio, text,
                   ratio >= AT_LEAST)
    repeats = by_repeat(ratios)
    ratio = mean_ratio(repeats)
    text = "%d size(s); %.2f to %.2f" % ((len(ratios),) + interval(mean_ratio, repeats))
    return [every, Target(what + ", mean", OURS, ">= %.2f" % ON_AVERAGE, "%.2f" % ratio, text,
                          ratio >= ON_AVERAGE)]


def copy_part(results, ranks, size):
    """Of memcpy's rate, what a broadcast reaches for the (ranks - 1) * size bytes that must move:
    (part of the rate of as many cores as can copy, part of one core's). None where not measured."""
    ours = results.median(OURS.key, ranks, "each", "bcast", size)
    one, all_at_once = (results.copy(ranks, op, size) for op in ("copy", "copies"))
    if None in (ours, one, all_at_once):
        return None
    cores = min(ranks, results.setting["cores"])
    return (ranks - 1) * all_at_once / (cores * ours), (ranks - 1) * one / ours


def copy_targets(results, ranks):
    found = []
    for size in results.sizes(ranks, "each", "bcast"):
        parts = copy_part(results, ranks, size) if size >= COPY_BYTES else None
        if parts:
            found.append(Target(
                "bcast of %s, %d ranks: of memcpy's rate by %d cores" %
                (size_text(size), ranks, min(ranks, results.setting["cores"])), OURS,
                ">= %.2f" % COPY_PART, "%.2f" % parts[0], "%.2f of one core's" % parts[1],
                parts[0] >= COPY_PART))
    return found


def crowd_targets(results, op):
    """Time per rank of the most ranks against that of two; of calls in a row, which processors share."""
    counts = results.values("ranks")
    few, many = counts[0], counts[-1]
    if few != 2 or many <= results.setting["cores"]:
        return []
    found = []
    for size in results.sizes(many, "loop", op):
        ends = [results.median(OURS.key, ranks, "loop", op, size) for ranks in (few, many)]
        if None not in ends:
            found.append(((ends[1] / many) / (ends[0] / few), size, ends))
    if not found:
        return []
    ratio, size, ends = max(found)
    return [Target("%s, %d against 2 ranks: time per rank, every size" % (op, many), OURS,
                   "<= %.2f" % CROWD, "%.2f" % ratio, "%s: %s us; 2 ranks %s us" % (
                       size_text(size), time_text(ends[1]), time_text(ends[0])), ratio <= CROWD)]


def targets(results):
    found = []
    judged = [op for op in JUDGED if op in results.ops()]
    for method in METHODS:
        for ranks in results.values("ranks"):
            for op in judged:
                found += speed_targets(results, ranks, method, op)
    for ranks in results.values("ranks"):
        found += copy_targets(results, ranks)
    for op in judged:
        found += crowd_targets(results, op)
    return found


# Tables


def medians_table(results, ranks, method):
    """A line for each op and series, a column for each size; barriers stand in the first."""
    sizes = [size for size in results.values("bytes") if size > 0] or [0]
    rows = []
    for op in results.ops():
        for series in results.series():
            row = [cell_text(results.repeats(series.key, ranks, method, op, size))
                   for size in ([0] if op == "barrier" else sizes)]
            if any(row):
                rows.append([op, series.title] + row + [""] * (len(sizes) - len(row)))
    return columns([["", "us"] + [size_text(size) for size in sizes]] + rows) if rows else []


def copy_lines(results):
    """memcpy, and what the fences cost: a copy of next to nothing between them."""
    for ranks in results.values("ranks"):
        sizes = sorted({place[3] for place in results.copies if place[0] == ranks})
        if not sizes:
            continue
        rates = ["%s %.1f, %.1f" % (size_text(size), *(size / results.copy(ranks, op, size) / 1000
                                                        for op in ("copy", "copies")))
                 for size in sizes if size >= COPY_BYTES]
        yield "%d ranks: a copy of %s by rank 0 takes %s us, seen as a call; memcpy by one core, and by " \
            "each of %d at once, GB/s: %s" % (
                ranks, size_text(sizes[0]), time_text(results.copy(ranks, "copy", sizes[0])),
                min(ranks, results.setting["cores"]), "; ".join(rates) or "-")


def remarks(results):
    """What a reader must know before believing the figures."""
    said = ["%s: %d job(s) failed" % pair for pair in results.setting["failures"].items()]
    said += ["%d ranks: set aside, for the processors were far from each other: %d figure(s) of a repeat" %
             pair for pair in sorted(results.far.items())]
    by_place = collections.defaultdict(list)
    for cell in sorted(results.outside):
        if cell.method == METHODS[0] and cell.bytes not in by_place[cell.ranks, cell.op]:
            by_place[cell.ranks, cell.op].append(cell.bytes)
    said += ["hwmc, %d ranks, %s: not all calls ran over the node layer: %s" %
             (ranks, op, ", ".join(size_text(size) for size in sizes))
             for (ranks, op), sizes in by_place.items()]
    return said


def summary(results):
    setting = results.setting
    repeats = sorted({len(values) for values in results.cells.values()})
    lines = [setting["machine"], "root %s; ranks bound: %s" % (
        "rotating" if setting["rotate"] else "0",
        ", ".join("%d %s" % (ranks, binding(setting["bind"], ranks, setting["cores"]))
                  for ranks in results.values("ranks")))]
    for method, what in zip(METHODS, ("one call, all beginning together", "calls in a row, of one")):
        for ranks in results.values("ranks"):
            table = medians_table(results, ranks, method)
            if table:
                lines += ["", "%d ranks, %s: %s; slowest rank, median [95 %% interval over %s repeats]" %
                          (ranks, method, what, " to ".join("%d" % n for n in
                                                            repeats[:1] + repeats[1:][-1:]))] + table
    lines += [""] + list(copy_lines(results)) + ["", "Target figures:"]
    found = targets(results)
    if found:
        rows = [["", "what", "target", "measured", ""]]
        rows += [["yes" if t.reached else "NO", t.what, t.limit, t.measured, t.text] for t in found]
        lines += columns(rows)
        lines.append("%d of %d reached" % (sum(t.reached for t in found), len(found)))
    else:
        lines.append("none can be judged: this run has no figures of hwmc's, or none of a peer's")
    return lines + [""] + remarks(results)


def write_table(results, directory):
    rows = []
    for cell in sorted(results.cells):
        series = next(series for series in SERIES if series.key == cell.key)
        repeats = results.repeats(*cell)
        ratios, peer = results.best_peer(*cell[1:]) if series == OURS else ({}, None)
        rows.append([series.impl, series.algorithm, cell.ranks, cell.method, cell.op, cell.bytes,
                     len(repeats), "%.3f" % bench_report.median(repeats)] +
                    ["%.3f" % end for end in interval(bench_report.median, repeats)] +
                    ["%.3f" % min(results.cells[cell].values()),
                     "%.3f" % statistics.median(results.late[cell].values()),
                     peer.key if peer else "", "%.3f" % middle(ratios) if peer else ""])
    write_csv(directory / "node.csv", "impl,algorithm,ranks,method,op,bytes,repeats,median_us,"
              "low95_us,high95_us,least_us,late_us,best_peer,times_as_fast".split(","), rows)
    write_csv(directory / "copy.csv", ["ranks", "method", "copying", "bytes", "median_us"],
              [[ranks, method, 1 if op == "copy" else min(ranks, results.setting["cores"]), size,
                "%.3f" % statistics.median(values)]
               for (ranks, method, op, size), values in sorted(results.copies.items())])


def write_plot_data(results, directory):
    """Of the method `each`. Returns the numbers of ranks that there are pictures of."""
    counts = results.values("ranks")
    for series in results.series():
        rows = [(ranks, results.repeats(series.key, ranks, "each", "barrier", 0)) for ranks in counts]
        write_data(directory / ("barrier.%s.dat" % series.key),
                   [[ranks, bench_report.median(r), *interval(bench_report.median, r)]
                    for ranks, r in rows if r])
        for ranks in counts:
            for op in JUDGED[1:]:
                times, ratios = [], []
                for size in results.sizes(ranks, "each", op):
                    place = (series.key, ranks, "each", op, size)
                    repeats, beside = results.repeats(*place), results.ratios(*place)
                    if repeats:
                        times.append([size, bench_report.median(repeats),
                                      *interval(bench_report.median, repeats)])
                    if beside and series != OURS:
                        ratios.append([size, middle(beside),
                                       *interval(mean_ratio, by_repeat({size: beside}))])
                write_data(directory / ("time_%s_%d.%s.dat" % (op, ranks, series.key)), times)
                write_data(directory / ("ratio_%s_%d.%s.dat" % (op, ranks, series.key)), ratios)
    return counts
