# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""What test/lab/bench makes of the lines of bcast_memory: what processes and communicators take."""

import collections
import re
import statistics

import bench_report as report

STAGES = {"init": "after MPI_Init", "world": "broadcasts on MPI_COMM_WORLD",
          "few": "%d communicators more, broadcasts on each", "many": "%d communicators",
          "freed": "all of those freed"}
RAW_NAME = re.compile(r"(\w+)\.h(\d+)\.memory")
MIB = 1024.0  # KiB

# A communicator has at most this many channels of this length by default, and machines of 200
# bytes.
CHANNELS_MIB = 16 * 64 / MIB
PER_COMMUNICATOR = 1.1 * CHANNELS_MIB
# MPIR_CVAR_HWMC_MEMORY: however many communicators, a process has channels of 256 MiB.
PER_PROCESS = 1.1 * 256

# Of a stage of a series: comms, and rss and hwm in KiB, of each rank.
Stage = collections.namedtuple("Stage", "comms rss hwm")


def read_lines(lines):
    """stage -> Stage; None of a job that did not come to its end."""
    found = {}
    for line in lines:
        words = line.split()
        if words[0] == "#":
            return found
        stage = found.setdefault(words[0], Stage(int(words[1]), [], []))
        stage.rss.append(int(words[3]))
        stage.hwm.append(int(words[4]))
    return None


def read(directory):
    """(series key, hosts) -> stages."""
    found = {}
    for path in sorted(directory.glob("*.memory")):
        match = RAW_NAME.fullmatch(path.name)
        stages = read_lines(path.read_text().splitlines())
        if match and stages:
            found[match[1], int(match[2])] = stages
    return found


def growth(stages, first, last):
    """MiB that the rank whose memory grew most has more at the stage `last` than at `first`."""
    return max(b - a for a, b in zip(stages[first].rss, stages[last].rss)) / MIB


def jobs(results, found):
    """(series, hosts, stages) in the order of the tables."""
    for series in report.SERIES:
        for (key, hosts), stages in sorted(found.items()):
            if key == series.key:
                yield series, hosts, stages


def write_csv(results, found, directory):
    rows = []
    for series, hosts, stages in jobs(results, found):
        for name, stage in stages.items():
            for rank, (rss, hwm) in enumerate(zip(stage.rss, stage.hwm)):
                rows.append([series.impl, series.algorithm, hosts, name, stage.comms, rank, rss, hwm])
    report.write_csv(directory / "memory.csv", "impl,algorithm,hosts,stage,communicators,rank,rss_kib,"
                     "hwm_kib".split(","), rows)


def table(results, found):
    rows = [["hosts", "MiB of a process"] + list(STAGES) + ["largest", "a communicator"]]
    for series, hosts, stages in jobs(results, found):
        row = ["%d" % hosts, series.title]
        row += ["%.1f" % (statistics.median(stages[name].rss) / MIB) for name in STAGES]
        row += ["%.1f" % (max(max(stage.hwm) for stage in stages.values()) / MIB),
                "%.2f" % (growth(stages, "world", "few") / stages["few"].comms)]
        rows.append(row)
    return report.columns(rows)


def targets(results, found):
    targets_found = []
    for series, hosts, stages in jobs(results, found):
        if series.key not in report.OURS:
            continue
        few, many = stages["few"].comms, stages["many"].comms
        targets_found.append(report.at_most(
            "%d hosts, %d communicators: MiB for each" % (hosts, few), series, PER_COMMUNICATOR,
            growth(stages, "world", "few") / few,
            "%.1f MiB in all; channels of %g MiB" % (growth(stages, "world", "few"), CHANNELS_MIB)))
        targets_found.append(report.at_most(
            "%d hosts, %d communicators: MiB of a process" % (hosts, many), series, PER_PROCESS,
            growth(stages, "world", "many"),
            "%.1f MiB left when they are freed" % growth(stages, "world", "freed"), "%.1f"))
    return targets_found


def summary(results, found):
    if not found:
        return []
    lines = ["Resident memory, median over ranks:"] + table(results, found)
    comms = next(iter(found.values()))
    lines += ["  %s: %s" % (name, text % comms[name].comms if "%d" in text else text)
              for name, text in STAGES.items()]
    lines += ["  a communicator: growth from world to few for each, of the rank where it is most"]
    return lines + [""]
