# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""What test/lab/bench_collectives makes of its samples: tables, figures, data for the plots.

A figure is the median of all samples of a cell, its interval one by bootstrap over turns (bench_report.interval):
samples of one turn are alike. The ratio of a cell is the least median of the peers by hwmc's; above 1 hwmc is faster.
"""

import collections
import math
import re

from bench_report import columns, interval, median, pooled, quantile, write_csv, write_data

KEYS = ("hwmc", "lossy", "two_stage", "multilane", "off", "openmpi", "bare")
TITLES = {"hwmc": "hwmc", "lossy": "hwmc, 1 % lost", "two_stage": "two_stage", "multilane": "multilane",
          "off": "hwmc off", "openmpi": "Open MPI", "bare": "bare"}
OURS, PEERS = "hwmc", ("off", "openmpi")
OPS = ("barrier", "bcast", "reduce", "allreduce", "allgather", "reduce_scatter_block", "gather", "scatter",
       "alltoall", "alltoallv", "alltoallw", "scan")
# Rails, Mbit/s of each, MTU.
NETS = {"gbit": (1, 1000.0, 1500), "2x100": (2, 100.0, 1500), "norate": (1, 0.0, 1500), "norate9000": (1, 0.0, 9000)}
LOSSY, LOSS = "lossy", 1.0  # percent of multicast datagrams that each process loses
# What a host must receive, or send, as a multiple of the bytes: by hosts, and ranks on each.
PARTS = {
    "barrier": lambda p, n: 0,
    "bcast": lambda p, n: 1,
    "reduce": lambda p, n: 1,
    "scan": lambda p, n: 1,
    "allreduce": lambda p, n: 2 * (p - 1) / p,
    "reduce_scatter_block": lambda p, n: (p - 1) / p,
    "allgather": lambda p, n: (p - 1) * n,
    "gather": lambda p, n: (p - 1) * n,
    "scatter": lambda p, n: (p - 1) * n,
    "alltoall": lambda p, n: (p - 1) * n * n,
    "alltoallv": lambda p, n: (p - 1) * n * n,
    "alltoallw": lambda p, n: (p - 1) * n * n,
}
RAW_NAME = re.compile(r"(\w+)\.(\d+)x(\d+)\.(\w+)\.(\d+)\.txt")
Cell = collections.namedtuple("Cell", "net shape op bytes")


def shape_text(shape):
    return "%dx%d" % tuple(shape)


def place_text(net, shape):
    rails, rate, mtu = NETS[net]
    network = ("%d rails of %g Mbit/s" % (rails, rate) if rails > 1 else "%g Mbit/s" % rate) if rate else "no rate"
    if mtu != 1500:
        network += ", MTU %d" % mtu
    return "%d hosts of %d rank%s, %s" % (*shape, "s" if shape[1] > 1 else "", network)


def wire_limit(net, shape, op, size):
    """us; 0 where the wire sets none. net: as in NETS."""
    rails, rate, _ = net
    return PARTS[op](*shape) * size * 8 / (rails * rate) if rate else 0.0


class Results:
    """cells[cell][key]: samples in us, a list for each turn; spread, root and other (cells.h) likewise."""

    def __init__(self, setting):
        self.setting = setting  # machine, failures
        self.cells = collections.defaultdict(lambda: collections.defaultdict(list))
        self.spread = collections.defaultdict(lambda: collections.defaultdict(list))
        self.root = collections.defaultdict(lambda: collections.defaultdict(list))
        self.other = collections.defaultdict(lambda: collections.defaultdict(list))

    def read(self, directory):
        for path in sorted(directory.glob("*.txt")):
            match = RAW_NAME.fullmatch(path.name)
            if match:
                self.read_job(match[1], (int(match[2]), int(match[3])), match[4], path.read_text().splitlines())
        return self

    def read_job(self, net, shape, key, lines):
        turns = collections.defaultdict(list)
        for words in (line.split() for line in lines):
            if len(words) == 7 and words[0] != "#":
                turns[words[0], int(words[1]), words[2]].append([int(word) / 1000 for word in words[3:]])
        for (op, size, _), samples in turns.items():
            cell = Cell(net, shape, op, size)
            if not self.failure(cell, key):
                for kept, column in zip((self.cells, self.spread, self.root, self.other), zip(*samples)):
                    kept[cell][key].append(list(column))

    def failure(self, cell, key):
        """Why a key is not in a cell, or nothing."""
        for one in self.setting["failures"]:
            if (one["net"], one["shape"], one["key"], one["op"], one["bytes"]) == \
                    (cell.net, shape_text(cell.shape), key, cell.op, cell.bytes):
                return one["why"]
        return ""

    def has(self, key):
        """Whether it took part anywhere."""
        return any(key in by_key for by_key in self.cells.values()) or \
            any(one["key"] == key for one in self.setting["failures"])

    def places(self):
        """(net, shape) in the order of the tables."""
        found = {cell[:2] for cell in self.cells}
        return sorted(found, key=lambda place: (list(NETS).index(place[0]), place[1][1], place[1]))

    def of_place(self, place):
        return sorted((cell for cell in self.cells if cell[:2] == place),
                      key=lambda cell: (OPS.index(cell.op), cell.bytes))

    def median(self, cell, key):
        """None where it was not measured."""
        turns = self.cells[cell].get(key)
        return median(turns) if turns else None

    def limit(self, cell):
        """us, 0 where there is none: a barrier's, and that of a broadcast without a rate, were measured."""
        if cell.op == "barrier" or (cell.op == "bcast" and NETS[cell.net][1] == 0):
            return self.median(cell, "bare") or 0.0
        return wire_limit(NETS[cell.net], cell.shape, cell.op, cell.bytes)

    def ratio(self, cell):
        """(best peer's time / hwmc's, the peer); None where one of them is missing."""
        ours = self.median(cell, OURS)
        peers = [(self.median(cell, key), key) for key in PEERS if self.median(cell, key) is not None]
        if ours is None or not peers:
            return None
        return min(peers)[0] / ours, min(peers)[1]

    def ratios(self, op=None):
        """[(ratio, peer, cell)], the worst first."""
        found = [(*self.ratio(cell), cell) for cell in self.cells
                 if op in (None, cell.op) and self.ratio(cell)]
        return sorted(found, key=lambda one: one[0])


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def time_cell(results, cell, key):
    turns = results.cells[cell].get(key)
    if not turns:
        return results.failure(cell, key)
    if len(turns) < 2:
        return "%.0f" % median(turns)
    return "%.0f [%.0f, %.0f]" % (median(turns), *interval(median, turns))


def place_table(results, place):
    keys = [key for key in KEYS if key != "bare" and results.has(key)]
    rows = [["us", "bytes"] + [TITLES[key] for key in keys] + ["limit", "hwmc / limit", "best peer / hwmc"]]
    for cell in results.of_place(place):
        limit, ours, ratio = results.limit(cell), results.median(cell, OURS), results.ratio(cell)
        rows.append([cell.op, "%d" % cell.bytes] + [time_cell(results, cell, key) for key in keys] +
                    ["%.1f" % limit if limit else "", "%.2f" % (ours / limit) if limit and ours else "",
                     "%.2f" % ratio[0] if ratio else ""])
    return ["", place_text(*place)] + columns(rows)


def worst_text(ratio, peer, cell):
    return "%.2f (%s; %s, %d B, %s)" % (ratio, TITLES[peer], cell.op, cell.bytes, place_text(*cell[:2]))


def figures(results):
    every = results.ratios()
    if not every:
        return ["", "no cell has both hwmc and a peer"]
    lines = ["", "best peer's time / hwmc's: geometric mean over %d cells %.3f; worst cell %s" %
             (len(every), geometric_mean([one[0] for one in every]), worst_text(*every[0]))]
    rows = [["collective", "cells", "mean", "below 1", "worst cell"]]
    for op in OPS:
        some = results.ratios(op)
        if some:
            rows.append([op, "%d" % len(some), "%.3f" % geometric_mean([one[0] for one in some]),
                         "%d" % sum(one[0] < 1 for one in some), worst_text(*some[0])])
    return lines + columns(rows)


def lost_part(results, cell):
    """(what a call with a loss took beyond one without, us; how many of the calls had one), as far as quantiles tell: of a
    collective whose hosts each await one datagram, the slowest part of the samples."""
    had = 1 - (1 - LOSS / 100) ** (cell.shape[0] - 1)
    lossy, clean = (pooled(results.cells[cell][key]) for key in (LOSSY, OURS))
    return quantile(lossy, 1 - had / 2) - quantile(clean, 1 - had / 2), had


def loss_table(results):
    """hwmc's times where multicast is lost, beside those where it is not."""
    rows = [["hwmc, us", "shape", "bytes", "none lost", "lost", "ratio", "a lost datagram"]]
    for cell in (cell for place in results.places() for cell in results.of_place(place)):
        lossy_turns, clean_turns = (results.cells[cell].get(key) for key in (LOSSY, OURS))
        if not lossy_turns or not clean_turns:
            continue
        low, high = interval(lambda a, b: median(a) / median(b), lossy_turns, clean_turns)
        more = ""
        if cell.op == "barrier" or cell.bytes <= 1024:
            beyond, had = lost_part(results, cell)
            more = "+%.0f us in %.1f %%" % (beyond, 100 * had)
        rows.append([cell.op, shape_text(cell.shape), "%d" % cell.bytes, "%.0f" % median(clean_turns),
                     "%.0f" % median(lossy_turns),
                     "%.2f [%.2f, %.2f]" % (median(lossy_turns) / median(clean_turns), low, high),
                     more])
    return ["", "Medians where multicast is lost, by those where none is"] + columns(rows) if len(rows) > 1 else []


def processor_table(results):
    """ns of a processor for a KiB, where there is no rate: at the root, and at the busiest of the others."""
    keys = [key for key in KEYS if results.has(key)]
    rows = [["hosts", "MTU", "bytes"] + [TITLES[key] for key in keys]]
    for place in results.places():
        if NETS[place[0]][1] > 0:
            continue
        for cell in results.of_place(place):
            if cell.op == "bcast" and cell.bytes >= 1024:
                rows.append([shape_text(cell.shape), "%d" % NETS[cell.net][2], "%d" % cell.bytes] +
                            [processor_cell(results, cell, key) for key in keys])
    if len(rows) == 1:
        return []
    return ["", "Broadcasts without a rate: ns of a processor for a KiB, root / busiest of the others"] + columns(rows)


def processor_cell(results, cell, key):
    if not results.cells[cell].get(key):
        return ""
    return "%.0f / %.0f" % tuple(median(kept[cell][key]) * 1000 * 1024 / cell.bytes
                                 for kept in (results.root, results.other))


def failure_lines(results):
    return ["FAILED: %(key)s, %(net)s, %(shape)s, %(op)s, %(bytes)d B: %(why)s" % one
            for one in results.setting["failures"]]


def summary(results):
    row = results.setting.get("row", 1)
    lines = ["Collectives over hosts, slowest rank%s: median and 95 %% interval; %s" %
             (", mean of %d calls in a row" % row if row > 1 else "", results.setting["machine"])]
    for place in results.places():
        lines += place_table(results, place)
    return lines + figures(results) + loss_table(results) + processor_table(results) + failure_lines(results)


def write_table(results, directory):
    rows = []
    for place in results.places():
        for cell in results.of_place(place):
            rails, rate, mtu = NETS[cell.net]
            for key in KEYS:
                turns = results.cells[cell].get(key)
                if not turns and not results.failure(cell, key):
                    continue
                row = [cell.net, rails, "%g" % rate, mtu, *cell.shape, cell.op, cell.bytes, key]
                if turns:
                    figures_of = [median(turns), *interval(median, turns), quantile(pooled(turns), 0.99),
                                  *(median(kept[cell][key]) for kept in
                                    (results.spread, results.root, results.other))]
                    row += [len(pooled(turns)), len(turns)] + ["%.2f" % figure for figure in figures_of]
                else:
                    row += [0, 0] + [""] * 7
                rows.append(row + ["%.2f" % results.limit(cell), results.failure(cell, key)])
    write_csv(directory / "collectives.csv",
              ["network", "rails", "rate_mbit", "mtu", "hosts", "ppn", "op", "bytes", "impl", "samples", "turns", "median_us",
               "low95_us", "high95_us", "p99_us", "spread_us", "root_us", "other_us", "limit_us", "failure"], rows)


def write_plot_data(results, directory):
    """OP.NET.SHAPE.KEY.dat for each, with "limit" for a key too. Returns the places."""
    shapes = {}  # by net
    for net, shape in results.places():
        shapes.setdefault(net, []).append(shape)
    for place in results.places():
        data = collections.defaultdict(list)
        for cell in results.of_place(place):
            name = "%s.%s.%s" % (cell.op, cell.net, shape_text(cell.shape))
            for key, turns in results.cells[cell].items():
                if cell.op == "barrier":
                    name = "barrier." + cell.net
                at = shapes[cell.net].index(cell.shape) if cell.op == "barrier" else cell.bytes
                data[name, key].append(["%g" % at, "%.3f" % median(turns)] +
                                       ["%.3f" % value for value in interval(median, turns)] + [shape_text(cell.shape)])
            if results.limit(cell) and cell.op != "barrier":
                data[name, "limit"].append([cell.bytes, "%.3f" % results.limit(cell)])
        for (name, key), rows in data.items():
            path = directory / ("%s.%s.dat" % (name, key))
            before = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
            write_data(path, before + rows)
    return results.places()
