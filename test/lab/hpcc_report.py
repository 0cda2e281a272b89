# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""What a run of HPC Challenge has written: its own checks, its figures, and ways to run side by side."""

import collections
import csv
import math
import re
import statistics

import bench_report

EPSILON = 2.0 ** -53  # as HPL_dlamch has it
THRESHOLD = 16.0  # of scaled residuals, as in hpccinf.txt
MOST_ERRORS = 0.01  # of the words of a RandomAccess table: HPC Challenge's own tolerance

Figure = collections.namedtuple("Figure", "key title")  # its name in the summary
FIGURES = (
    Figure("wall", "whole run, s"),
    Figure("HPL_time", "HPL, s"),
    Figure("PTRANS_time", "PTRANS, s"),
    Figure("MPIRandomAccess_time", "RandomAccess, s"),
    Figure("MPIRandomAccess_LCG_time", "RandomAccess LCG, s"),
    Figure("MPIFFT_Gflops", "FFT, Gflop/s"),
    Figure("AvgPingPongLatency_usec", "ping pong, us"),
    Figure("RandomlyOrderedRingLatency_usec", "random ring, us"),
    Figure("AvgPingPongBandwidth_GBytes", "ping pong, GB/s"),
    Figure("RandomlyOrderedRingBandwidth_GBytes", "random ring, GB/s"),
)


def summary(text):
    """The NAME=VALUE lines of the summary section; empty if the run did not get there."""
    section = re.search(r"^Begin of Summary section\.\n(.*?)^End of Summary section\.", text,
                        re.MULTILINE | re.DOTALL)
    return dict(line.split("=", 1) for line in section[1].splitlines()) if section else {}


def residual_tests(text):
    """How many tests PTRANS and HPL say passed, and failed, their residual checks."""
    counts = {"passed": 0, "failed": 0}
    for number, how in re.findall(r"(\d+) tests completed and (passed|failed) residual checks", text):
        counts[how] += int(number)
    return counts["passed"], counts["failed"]


def wrong(text):
    """What is wrong in what a run has written: a list, empty if all its checks are passed."""
    found = summary(text)
    if not found or "End of HPC Challenge tests." not in text:
        return ["it did not get to its end"]
    faults = [] if found.get("Success") == "1" else ["Success=%s" % found.get("Success")]
    passed, failed = residual_tests(text)
    if passed < 2 or failed > 0 or "PASSED" not in text:
        faults.append("residuals of HPL and PTRANS: %d passed, %d failed" % (passed, failed))
    if text.count("FAILED") > 0:
        faults.append("%d lines with FAILED" % text.count("FAILED"))
    for key in ("MPIRandomAccess", "MPIRandomAccess_LCG"):
        if not float(found[key + "_ErrorsFraction"]) <= MOST_ERRORS:
            faults.append("%s: %s errors" % (key, found[key + "_Errors"]))
    scaled = float(found["MPIFFT_maxErr"]) / math.log(float(found["MPIFFT_N"])) / EPSILON
    if not scaled < THRESHOLD:
        faults.append("MPIFFT: error of %s" % found["MPIFFT_maxErr"])
    nodes = re.findall(r"Node\(s\) with error (\d+)", text)
    if len(nodes) < 6 or any(number != "0" for number in nodes):
        faults.append("nodes with errors: %s" % ", ".join(nodes))
    if "Solution Validates" not in text:
        faults.append("StarSTREAM: not validated")
    return faults


def errors_counted(text):
    """RandomAccess's errors: how many follows from its algorithm, and is the same in every right run."""
    found = summary(text)
    return tuple(found.get(key + "_Errors") for key in ("MPIRandomAccess", "MPIRandomAccess_LCG"))


def figures(text, wall):
    """The figures of a run, by key; none of a run that did not get to its end."""
    found = dict(summary(text), wall=wall)
    return {figure.key: float(found[figure.key]) for figure in FIGURES if figure.key in found} \
        if "Success" in found else {}


def median_text(values):
    if not values:
        return "-"
    if len(values) == 1:
        return "%.4g" % values[0]
    low, high = bench_report.interval(statistics.median, values)
    return "%.4g [%.4g, %.4g]" % (statistics.median(values), low, high)


def ratio_text(values, others):
    """The ratio of medians, with its interval if there are repeats."""
    if not values or not others:
        return "-"
    ratio = statistics.median(values) / statistics.median(others)
    if len(values) == len(others) == 1:
        return "%.3f" % ratio
    low, high = bench_report.interval(
        lambda a, b: statistics.median(a) / statistics.median(b), values, others)
    return "%.3f [%.3f, %.3f]" % (ratio, low, high)


def table(runs, ways, ratios):
    """Lines: a figure each, with each way's median, and the ratios asked for: [(way, to way)]."""
    rows = [["median [95 % interval]"] + list(ways) + ["%s / %s" % pair for pair in ratios]]
    for figure in FIGURES:
        values = {way: [run.figures[figure.key] for run in runs
                        if run.way == way and figure.key in run.figures] for way in ways}
        rows.append([figure.title] + [median_text(values[way]) for way in ways] +
                    [ratio_text(values[way], values[to]) for way, to in ratios])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def write_csv(runs, path):
    with open(path, "w", newline="", encoding="ascii") as out:
        rows = csv.writer(out)
        rows.writerow(["way", "repeat", "right", "cut_s", "mb_before_cut"] +
                      [figure.key for figure in FIGURES])
        for run in runs:
            cut = ["", ""] if run.cut_at is None else ["%.1f" % run.cut_at, "%.0f" % run.cut_mb]
            rows.writerow([run.way, run.repeat, 0 if run.faults else 1] + cut +
                          [run.figures.get(figure.key, "") for figure in FIGURES])
