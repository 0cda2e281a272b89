# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""What check-faults --soak keeps of a job: how much memory and how many descriptors each process has, as it goes on."""

import csv
import pathlib
import re
import shutil
import statistics
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
GROWN_KIB = 1024  # of one process, after the first third of the time
# Of the time: before it is watched, for connections are made when they are first used; what the
# ends are medians of.
WARM, PART = 0.33, 0.1


def memory_kib(pid):
    """What is the process's own, without files and shared memory."""
    text = pathlib.Path("/proc/%d/status" % pid).read_text(encoding="ascii")
    return int(re.search(r"RssAnon:\s+(\d+) kB", text)[1])


def descriptors(pid):
    return sum(1 for _ in pathlib.Path("/proc/%d/fd" % pid).iterdir())


class Record:
    def __init__(self, pids):
        self.pids, self.began = pids, time.monotonic()
        self.samples = []  # (s, [KiB of each], [descriptors of each])

    def take(self):
        self.samples.append((time.monotonic() - self.began, [memory_kib(pid) for pid in self.pids],
                             [descriptors(pid) for pid in self.pids]))

    def ends(self, column):
        """For each process: its medians over a tenth of the time after the first third, and over the last tenth."""
        whole = self.samples[-1][0]
        first = [s[column] for s in self.samples if WARM <= s[0] / whole <= WARM + PART]
        last = [s[column] for s in self.samples if s[0] / whole >= 1 - PART]
        return [(statistics.median(f), statistics.median(l)) for f, l in zip(zip(*first), zip(*last))]

    def grown(self, column):
        """Of the process that grew most: by how much."""
        return max(last - first for first, last in self.ends(column))

    def write(self, out):
        out.mkdir(parents=True, exist_ok=True)
        with open(out / "soak.csv", "w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file)
            lines.writerow(["s"] + ["KiB of %d" % i for i in range(len(self.pids))] +
                           ["descriptors of %d" % i for i in range(len(self.pids))])
            for when, memory, files in self.samples:
                lines.writerow(["%.1f" % when] + memory + files)
        if not shutil.which("gnuplot"):
            return
        with open(out / "soak.dat", "w", encoding="utf-8") as file:
            for when, memory, files in self.samples:
                file.write("%.3f %.3f %.3f %.3f %d %d %d\n" % (
                    (when / 60,) + tuple(f(memory) / 1024 for f in (min, statistics.median, max)) +
                    tuple(f(files) for f in (min, statistics.median, max))))
        subprocess.run(["gnuplot", "-e", 'data = "%s"; picture = "%s"' %
                        (out / "soak.dat", out / "soak.png"), HERE / "soak.gp"], check=True)
