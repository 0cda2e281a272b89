# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""What test/lab/bench makes of its samples: tables, target figures, data for the plots.

Everything follows from the files that bcast_bench wrote, so a report can be made again from them.
An interval is a 95 % interval by bootstrap over the repeats: a repeat is a job of its own, and
samples of one job are alike, so repeats and not samples are drawn anew.
"""

import collections
import csv
import math
import random
import re
import statistics

# A series is a way to broadcast that is compared with others; loss 0 or more on top of it. rails:
# the parts of the run's rate that its own rails have, where it does not run on those of the run;
# used: how many of them it is spread over, 0 for all.
Series = collections.namedtuple("Series", "key impl algorithm title rails used", defaults=((), 0))
SERIES = (
    Series("push", "hwmc", "two_stage-push", "hwmc, push"),
    Series("pull", "hwmc", "two_stage-pull", "hwmc, pull"),
    Series("multicast", "hwmc", "two_stage", "hwmc, striped multicast"),
    Series("multilane", "hwmc", "multilane", "hwmc, multilane"),
    Series("rails4", "hwmc", "two_stage", "hwmc, multicast on 4 rails", (1, 1, 1, 1)),
    Series("unequal", "hwmc", "two_stage", "hwmc, multicast, fast + slow rail", (1, 0.25)),
    Series("fast", "hwmc", "two_stage", "hwmc, multicast, fast rail alone", (1, 0.25), 1),
    Series("auto", "mpich", "auto", "MPICH (hwmc off)"),
    Series("binomial", "mpich", "binomial", "MPICH, binomial"),
    Series("ring", "mpich", "scatter_ring_allgather", "MPICH, scatter and ring"),
    Series("doubling", "mpich", "scatter_recursive_doubling_allgather", "MPICH, scatter and doubling"),
    Series("openmpi", "openmpi", "tuned", "Open MPI"),
    Series("adapt", "openmpi", "adapt", "Open MPI, adapt"),
)
OURS = ("push", "pull", "multicast", "multilane", "rails4", "unequal", "fast")
PEERS = ("auto", "binomial", "ring", "doubling", "openmpi", "adapt")
LARGE = 1 << 20  # bytes from which on the rails' bandwidth is what counts

# On the wire: the message in datagrams of one Ethernet frame, each with its headers.
MTU = 1500
ETHERNET, IP, UDP, HWMC = 14, 20, 8, 40

RAW_NAME = re.compile(r"(\w+)\.h(\d+)\.l([\d.]+)\.r(\d+)\.txt")
REDRAWS = 400


class Sample:
    """One iteration, times in us; cast: every rank had it by multicast."""

    __slots__ = ("time", "local", "late", "cast", "repaired", "tail", "recovery", "exits")

    def __init__(self, words):
        self.time, self.local, self.late = (int(word) / 1000 for word in words[:3])
        self.cast, self.repaired, self.tail = (int(word) for word in words[3:6])
        self.recovery = int(words[6]) / 1000
        self.exits = [int(word) / 1000 for word in words[7:]]


class Results:
    """All samples of a run: cells[key, hosts, loss, bytes] = a list of samples for each repeat."""

    def __init__(self, setting):
        self.setting = setting  # of the lab: rate_mbit, rails, ppn
        self.cells = collections.defaultdict(list)
        self.counting = {}  # (key, hosts, loss): the library counts multicasts and repairs

    def read(self, directory):
        for path in sorted(directory.glob("*.txt")):
            match = RAW_NAME.fullmatch(path.name)
            if match:
                place = match[1], int(match[2]), float(match[3])
                self.read_job(place, path.read_text().splitlines())
        return self

    def read_job(self, place, lines):
        found = collections.defaultdict(list)
        for line in lines:
            words = line.split()
            if words[0] == "#":
                self.counting[place] = words[-1] == "1"
            else:
                found[int(words[0])].append(Sample(words[2:]))
        for size, samples in found.items():
            self.cells[place + (size,)].append(samples)

    def values(self, axis):
        return sorted({place[axis] for place in self.cells})

    def repeats(self, key, hosts, size, loss=0.0, of="time"):
        """The named figure of every sample, a list for each repeat."""
        samples = self.cells.get((key, hosts, loss, size), [])
        return [[getattr(sample, of) for sample in repeat] for repeat in samples]

    def median(self, key, hosts, size, loss=0.0):
        """None where it was not measured."""
        repeats = self.repeats(key, hosts, size, loss)
        return median(repeats) if repeats else None

    def rates(self, series=None):
        """Mbit/s of each rail that a series is spread over; without one, of the run's rails."""
        parts = (series.rails if series else ()) or (1,) * self.setting["rails"]
        used = (series.used if series else 0) or len(parts)
        return [part * self.setting["rate_mbit"] for part in parts[:used]]

    def limit(self, size, series=None):
        """us to put the message on the rails once; less than a burst of the shaper goes faster."""
        rate = sum(self.rates(series))
        if not rate:
            return 0.0
        datagrams = max(1, math.ceil(size / (MTU - IP - UDP - HWMC)))
        return (size + datagrams * (ETHERNET + IP + UDP + HWMC)) * 8 / rate


def pooled(repeats):
    return [value for repeat in repeats for value in repeat]


def median(repeats):
    return statistics.median(pooled(repeats))


def quantile(values, q):
    """The smallest value that at least the part q of all is not above."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(q * len(ordered)) - 1)]


def interval(statistic, *groups):
    """95 % of the values of statistic(group, ...) when the repeats of each group are drawn anew."""
    rng = random.Random(1)
    drawn = sorted(statistic(*([rng.choice(group) for _ in group] for group in groups))
                   for _ in range(REDRAWS))
    return drawn[round(0.025 * (REDRAWS - 1))], drawn[round(0.975 * (REDRAWS - 1))]


def rank_medians(repeats):
    """repeats of lists of exits -> the median exit of each place after the root."""
    return [statistics.median(exits) for exits in zip(*pooled(repeats))]


def spread(repeats):
    """(median, maximum) over ranks of how far a rank's time is from the median rank's, as a part.

    The root is left out: it has the data, and its time is that of giving it away.
    """
    times = rank_medians(repeats)[1:]
    middle = statistics.median(times)
    apart = [abs(time - middle) / middle for time in times]
    return statistics.median(apart), max(apart)


# Tables


def series_of(results):
    keys = {place[0] for place in results.cells}
    return [series for series in SERIES if series.key in keys]


def cells(results):
    """(series, hosts, loss, bytes) in the order of the tables."""
    for series in series_of(results):
        places = sorted(place for place in results.cells if place[0] == series.key)
        for _, hosts, loss, size in places:
            yield series, hosts, loss, size


def write_csv(path, header, rows):
    with open(path, "w", newline="", encoding="ascii") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def rails_columns(results, series):
    """How many rails, and the rate of each; of all of them where they are not alike."""
    rates = results.rates(series)
    alike = rates[:1] if len(set(rates)) == 1 else rates
    return [len(rates), "+".join("%g" % rate for rate in alike)]


def write_tables(results, directory):
    setting = results.setting
    main, more, ranks = [], [], []
    for series, hosts, loss, size in cells(results):
        repeats = results.repeats(series.key, hosts, size, loss)
        local = results.repeats(series.key, hosts, size, loss, "local")
        late = results.repeats(series.key, hosts, size, loss, "late")
        samples = pooled(results.cells[series.key, hosts, loss, size])
        times = pooled(repeats)
        low, high = interval(median, repeats)
        key = [series.impl, series.algorithm, hosts, setting["ppn"]]
        key += rails_columns(results, series) + ["%g" % loss, size]
        main.append(key + [len(times), "%.2f" % median(repeats), "%.2f" % quantile(times, 0.99),
                           "%.2f" % results.limit(size, series)])
        counted = results.counting[series.key, hosts, loss]
        more.append(key + [len(repeats), "%.2f" % low, "%.2f" % high, "%.2f" % median(local),
                           "%.2f" % median(late),
                           sum(s.cast > 0 for s in samples) if counted else "",
                           sum(s.repaired > 0 for s in samples) if counted else ""])
        exits = results.repeats(series.key, hosts, size, loss, "exits")
        for place, values in enumerate(zip(*pooled(exits))):
            ranks.append(key + [place, "%.2f" % statistics.median(values),
                                "%.2f" % quantile(values, 0.25), "%.2f" % quantile(values, 0.75)])
    key = "impl,algorithm,hosts,ppn,rails,rate_mbit,loss_pct,bytes".split(",")
    write_csv(directory / "bcast.csv", key + "iters,median_us,p99_us,limit_us".split(","), main)
    write_csv(directory / "intervals.csv", key + ["repeats", "low95_us", "high95_us",
              "local_median_us", "late_median_us", "iters_multicast", "iters_repaired"], more)
    write_csv(directory / "ranks.csv", key + ["rank", "median_us", "q25_us", "q75_us"], ranks)


# Target figures

Target = collections.namedtuple("Target", "what series limit measured text reached")


def best_peer(results, figure):
    """(value, series) of the peer whose figure(key) is least; (None, None) without peers."""
    found = [(figure(series.key), series) for series in series_of(results) if series.key in PEERS]
    found = [pair for pair in found if pair[0] is not None]
    return min(found, key=lambda pair: pair[0]) if found else (None, None)


def at_most(what, series, limit, measured, text, form="%.2f"):
    return Target(what, series, "<= " + form % limit, form % measured, text, measured <= limit)


def speed_target(results, series, hosts, size):
    ours = results.median(series.key, hosts, size)
    theirs, peer = best_peer(results, lambda key: results.median(key, hosts, size))
    if ours is None or theirs is None:
        return []
    low, high = interval(lambda a, b: median(b) / median(a),
                         results.repeats(series.key, hosts, size),
                         results.repeats(peer.key, hosts, size))
    text = "%.0f us; %s %.0f us; ratio %.2f to %.2f" % (ours, peer.title, theirs, low, high)
    return [Target("%d B, %d hosts: times faster than the best peer" % (size, hosts), series,
                   ">= 1.50", "%.2f" % (theirs / ours), text, theirs / ours >= 1.5)]


def bare_limit(results, series, size):
    """us that the message's own bytes take on the rails of one host."""
    return size * 8 / sum(results.rates(series))


# (series, bytes from, most that the median may be as a multiple of the bare limit)
BANDWIDTH = {"multicast": ((1 << 20, 1.1), (4 << 20, 1.1), (32 << 20, 1.1)),
             "multilane": ((4 << 20, 1.4), (32 << 20, 1.2)),
             "rails4": ((1 << 20, 1.2), (4 << 20, 1.2))}
TIMES_FASTER = {"multicast": 3.0, "multilane": 2.0}
GROWTH_BYTES, GROWTH = 4 << 20, 1.1  # long multicast, from the fewest hosts to the most


def bandwidth_targets(results, series, hosts):
    found = []
    for size, most in BANDWIDTH.get(series.key, ()):
        repeats = results.repeats(series.key, hosts, size)
        if repeats and results.setting["rate_mbit"]:
            limit = bare_limit(results, series, size)
            low, high = interval(median, repeats)
            found.append(at_most("%d KiB, %d hosts: times bytes / (rails * rate)" %
                                 (size >> 10, hosts), series, most, median(repeats) / limit,
                                 "%.1f ms; ratio %.3f to %.3f" %
                                 (median(repeats) / 1000, low / limit, high / limit), "%.3f"))
    return found


def faster_target(results, series, hosts, size):
    ours = results.median(series.key, hosts, size)
    theirs, peer = best_peer(results, lambda key: results.median(key, hosts, size))
    if ours is None or theirs is None or series.key not in TIMES_FASTER:
        return []
    least = TIMES_FASTER[series.key]
    return [Target("%d KiB, %d hosts: times faster than the best peer" % (size >> 10, hosts), series,
                   ">= %.2f" % least, "%.2f" % (theirs / ours),
                   "%.1f ms; %s %.1f ms" % (ours / 1000, peer.title, theirs / 1000),
                   theirs / ours >= least)]


def ratio_target(what, series, most, ours, theirs, against):
    """ours and theirs: repeats; ours is to take at most so many times as long."""
    if not ours or not theirs:
        return []
    low, high = interval(lambda a, b: median(a) / median(b), ours, theirs)
    text = "%.1f ms, %s %.1f ms; ratio %.3f to %.3f" % (
        median(ours) / 1000, against, median(theirs) / 1000, low, high)
    return [at_most(what, series, most, median(ours) / median(theirs), text, "%.3f")]


def constant_target(results, series, first, last):
    """The time of a long multicast is to be the same on few hosts and on many."""
    if series.key != "multicast" or first == last:
        return []
    few, many = (results.repeats(series.key, hosts, GROWTH_BYTES) for hosts in (first, last))
    if few and many and median(few) > median(many):
        few, many, first, last = many, few, last, first
    return ratio_target("%d KiB, %d against %d hosts: times as long" %
                        (GROWTH_BYTES >> 10, last, first), series, GROWTH, many, few,
                        "%d hosts" % first)


def unequal_targets(results, series, hosts, sizes):
    """A slow rail beside a fast one is to cost nothing."""
    found = []
    for size in sizes if series.key == "unequal" else ():
        found += ratio_target("%d KiB, %d hosts: times the fast rail alone" % (size >> 10, hosts),
                              series, 1.0, results.repeats(series.key, hosts, size),
                              results.repeats("fast", hosts, size), "alone")
    return found


def growth_target(results, series, first, last, size):
    def growth(key):
        ends = [results.median(key, hosts, size) for hosts in (first, last)]
        return None if None in ends else ends[1] - ends[0]

    ours, (theirs, peer) = growth(series.key), best_peer(results, growth)
    if ours is None or theirs is None or first == last:
        return []
    text = "%+.0f us (x%.2f); %s %+.0f us (x%.2f)" % (
        ours, results.median(series.key, last, size) / results.median(series.key, first, size),
        peer.title, theirs,
        results.median(peer.key, last, size) / results.median(peer.key, first, size))
    what = "%d B, %d to %d hosts: growth, part of the best peer's" % (size, first, last)
    if theirs <= 0:
        return [Target(what, series, "<= 0.50", "-", text, ours <= 0)]
    return [at_most(what, series, 0.5, ours / theirs, text)]


def ranks_target(results, series, hosts, size):
    exits = results.repeats(series.key, hosts, size, of="exits")
    if not exits or hosts * results.setting["ppn"] < 2:
        return []
    middle, largest = spread(exits)
    text = "largest %.0f %%" % (100 * largest)
    for key in PEERS:
        theirs = results.repeats(key, hosts, size, of="exits")
        if theirs:
            text += "; %s %.0f, %.0f %%" % ((key,) + tuple(100 * part for part in spread(theirs)))
    return [at_most("%d B, %d hosts: %% a rank is off the median rank" % (size, hosts), series,
                    14.0, 100 * middle, text, "%.1f")]


def loss_target(results, series, hosts, size, loss):
    lossy = results.repeats(series.key, hosts, size, loss)
    clean = results.repeats(series.key, hosts, size)
    if not lossy or not clean:
        return []
    low, high = interval(lambda a, b: median(a) / median(b), lossy, clean)
    text = "%.0f us, no loss %.0f us; ratio %.2f to %.2f" % (median(lossy), median(clean), low, high)
    return [at_most("%d B, %d hosts, %g %% loss: median, times no loss's" % (size, hosts, loss),
                    series, 1.15 if size >= LARGE else 1.2, median(lossy) / median(clean), text)]


def repair_target(results, series, hosts, size, loss):
    """What an iteration took beyond the median without loss, where the last datagram was lost."""
    samples = pooled(results.cells.get((series.key, hosts, loss, size), []))
    clean = results.median(series.key, hosts, size)
    # A message of one datagram has no other: whatever was repaired was the last.
    single = size <= MTU - IP - UDP - HWMC
    hit = [s for s in samples if (s.repaired if single else s.tail)]
    if clean is None or not hit:
        return []
    extra = [max(0.0, sample.time - clean) / 1000 for sample in hit]
    text = "%d repaired of %d; median %.2f ms, largest %.2f ms" % (
        len(hit), len(samples), quantile(extra, 0.5), max(extra))
    return [at_most("%d B, %d hosts, %g %% loss: ms to repair the last datagram, p99" %
                    (size, hosts, loss), series, 5.0, quantile(extra, 0.99), text)]


def targets(results):
    """The figures to reach, where the run has what they need; small first."""
    found = []
    counts = sorted({place[1] for place in results.cells})
    sizes = results.values(3)
    losses = [loss for loss in results.values(2) if loss > 0]
    if not counts:
        return found
    middle = 8 if 8 in counts else counts[len(counts) // 2]
    ours = [series for series in series_of(results) if series.key in OURS]
    if sizes[0] >= LARGE:
        for make in (
                lambda s: bandwidth_targets(results, s, middle),
                lambda s: [t for size in sizes for t in faster_target(results, s, middle, size)],
                lambda s: constant_target(results, s, counts[0], counts[-1]),
                lambda s: unequal_targets(results, s, middle, sizes),
                lambda s: [t for loss in losses for size in sizes
                           for t in loss_target(results, s, middle, size, loss)]):
            for series in ours:
                found += make(series)
        return found
    for make in (
            lambda s: speed_target(results, s, middle, sizes[0]),
            lambda s: growth_target(results, s, counts[0], counts[-1], sizes[0]),
            lambda s: [t for hosts in sorted({middle, counts[-1]})
                       for t in ranks_target(results, s, hosts, sizes[0])],
            lambda s: [t for loss in losses for size in sizes
                       for t in loss_target(results, s, middle, size, loss)],
            lambda s: [t for loss in losses for size in sizes
                       for t in repair_target(results, s, middle, size, loss)]):
        for series in ours:
            found += make(series)
    return found


def columns(rows):
    """Rows of texts as lines, each column as wide as its widest."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip()
            for row in rows]


def time_text(repeats):
    if len(repeats) < 2:
        return "%.0f" % median(repeats) if repeats else ""
    return "%.0f [%.0f, %.0f]" % ((median(repeats),) + interval(median, repeats))


def medians_table(results):
    """Median and interval in us: a line for each series and number of hosts, a column for each size."""
    rows = []
    sizes = results.values(3)
    for hosts in results.values(1):
        for loss in results.values(2):
            for series in series_of(results):
                row = []
                for size in sizes:
                    row.append(time_text(results.repeats(series.key, hosts, size, loss)))
                if any(row):
                    rows.append(["%d" % hosts, "%g %%" % loss, series.title] + row)
    return columns([["hosts", "loss", "us"] + ["%d B" % size for size in sizes]] + rows)


def remarks(results):
    """What a reader must know before believing the figures."""
    said = ["%s: %d job(s) failed" % pair for pair in results.setting["failures"].items()]
    for (key, hosts, loss), counted in sorted(results.counting.items()):
        if key not in OURS:
            continue
        samples = [sample for place, repeats in results.cells.items()
                   if place[:3] == (key, hosts, loss) for sample in pooled(repeats)]
        wanted = "along trees" if key == "multilane" else "by multicast"
        by_multicast = sum(sample.cast > 0 for sample in samples)
        where = "hwmc, %s, %d hosts, %g %% loss: " % (key, hosts, loss)
        if not counted:
            said.append(where + "the library does not say which way they went")
        elif by_multicast < len(samples):
            said.append(where + "only %d of %d broadcasts went %s" %
                        (by_multicast, len(samples), wanted))
    return said


def summary(results, more=()):
    """The lines of the summary; `more` are targets that others found."""
    counts = sorted({len(repeats) for repeats in results.cells.values()})
    lines = ["Time of the slowest rank, median [95 %% interval over repeats, of which there are %s], "
             "us:" % " to ".join("%d" % count for count in counts[:1] + counts[1:][-1:])]
    lines += medians_table(results)
    found = targets(results) + list(more)
    lines += ["", "Target figures:"]
    if found:
        rows = [["", "what", "series", "target", "measured", ""]]
        rows += [["yes" if t.reached else "NO", t.what, t.series.title, t.limit, t.measured, t.text]
                 for t in found]
        lines += columns(rows)
        for series in series_of(results):
            own = [t for t in found if t.series == series]
            if own:
                lines.append("%s: %d of %d reached" % (series.title, sum(t.reached for t in own),
                                                       len(own)))
    else:
        lines.append("none can be judged: this run has no figures of hwmc's, or none of a peer's")
    return lines + [""] + remarks(results)


# Data for the plots, a file for each series; gnuplot takes those that are there.


def write_data(path, rows):
    if rows:
        path.write_text("".join(" ".join(str(word) for word in row) + "\n" for row in rows))


def write_plot_data(results, directory):
    """Returns the variables that the gnuplot scripts expect."""
    counts, sizes = results.values(1), results.values(3)
    losses = [loss for loss in results.values(2) if loss > 0]
    middle, last, small = (8 if 8 in counts else counts[len(counts) // 2]), counts[-1], sizes[0]
    large = 16384 if 16384 in sizes else GROWTH_BYTES if GROWTH_BYTES in sizes else sizes[-1]
    if small >= LARGE:
        last = middle  # where all series are
    for series in (series for series in series_of(results) if not series.rails):
        def point(hosts, size, key=series.key):
            repeats = results.repeats(key, hosts, size)
            return [median(repeats), *interval(median, repeats)] if repeats else None

        for name, size in (("small", small), ("large", large)):
            rows = [(hosts, point(hosts, size)) for hosts in counts]
            write_data(directory / ("hosts_%s.%s.dat" % (name, series.key)),
                       [[hosts] + values for hosts, values in rows if values])
        rows = [(size, point(middle, size)) for size in sizes]
        write_data(directory / ("sizes.%s.dat" % series.key),
                   [[size] + values for size, values in rows if values])
        exits = pooled(results.repeats(series.key, last, small, of="exits"))
        write_data(directory / ("ranks.%s.dat" % series.key),
                   [[place, statistics.median(v), quantile(v, 0.25), quantile(v, 0.75)]
                    for place, v in enumerate(zip(*exits))])
        for loss in [0.0] + losses[:1]:
            times = sorted(pooled(results.repeats(series.key, middle, small, loss)))
            if series.key in OURS and losses:
                write_data(directory / ("loss%d.%s.dat" % (loss > 0, series.key)),
                           [[time, 1 - i / len(times)] for i, time in enumerate(times)])
    write_data(directory / "limit.dat", [[size, results.limit(size)] for size in sizes])
    return {"small": small, "large": large, "middle": middle, "last": last,
            "ranks": last * results.setting["ppn"],
            "loss": losses[0] if losses else 0, "rate": results.setting["rate_mbit"],
            "rails": results.setting["rails"]}
