# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""What measurements of figures share: labs, programs that are built once, jobs of bcast_bench, the simulator."""

import collections
import contextlib
import csv
import importlib.machinery
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import time

import frame

sys.path.insert(0, str(frame.TOP / "test" / "lab"))
import bench_report  # pylint: disable=wrong-import-position
import lab_jobs  # pylint: disable=wrong-import-position

LAB = frame.TOP / "test" / "lab"
BUILD = lab_jobs.BUILD
PREFIX = pathlib.Path(os.environ.get("HWMC_PREFIX") or BUILD / "install")
OUT = BUILD / "papers"

# A way to broadcast: its title, "mpich" or "openmpi", its environment, and the counter that says it was taken.
Series = collections.namedtuple("Series", "title mpi env counter", defaults=("hwmc_two_stage",))
OFF = {"MPIR_CVAR_HWMC_ENABLE": "0", "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE": "0"}
ON = {"MPIR_CVAR_BCAST_INTRA_ALGORITHM": "hw", "MPIR_CVAR_HWMC_BCAST_ALGORITHM": "two_stage"}
SERIES = {
    "pull": Series("hwmc, pull", "mpich", dict(ON, MPIR_CVAR_HWMC_REPAIR="pull")),
    "push": Series("hwmc, push", "mpich", dict(ON, MPIR_CVAR_HWMC_REPAIR="push")),
    "two_stage": Series("hwmc, two_stage", "mpich", dict(ON, MPIR_CVAR_HWMC_BCAST_ALGORITHM="two_stage")),
    "span": Series("hwmc, two_stage, multicast over both sites", "mpich", dict(ON, MPIR_CVAR_HWMC_BCAST_ALGORITHM="two_stage")),
    "multilane": Series("hwmc, multilane", "mpich", dict(ON, MPIR_CVAR_HWMC_BCAST_ALGORITHM="multilane"),
                        "hwmc_multilane"),
    "off": Series("MPICH (hwmc off)", "mpich", OFF),
    "binomial": Series("MPICH, binomial", "mpich", dict(OFF, MPIR_CVAR_BCAST_INTRA_ALGORITHM="binomial")),
    "ring": Series("MPICH, scatter and ring", "mpich",
                   dict(OFF, MPIR_CVAR_BCAST_INTRA_ALGORITHM="scatter_ring_allgather")),
    "doubling": Series("MPICH, scatter and doubling", "mpich",
                       dict(OFF, MPIR_CVAR_BCAST_INTRA_ALGORITHM="scatter_recursive_doubling_allgather")),
    "openmpi": Series("Open MPI", "openmpi", {}, "none"),
}


def say(text):
    print(text, flush=True)


def load_program(path):
    """A program without .py, as a module."""
    loader = importlib.machinery.SourceFileLoader(path.name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(path.name, loader))
    loader.exec_module(module)
    return module


def command(words, env=None, check=True):
    """Run a program to its end; (status, what it said). It ends when this one does."""
    with subprocess.Popen([str(word) for word in words], env=env, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          preexec_fn=lab_jobs.end_with_parent) as child:
        try:
            said = child.communicate()[0]
        except BaseException:
            child.terminate()  # lab ends its job on that
            child.communicate()
            raise
    if check and child.returncode != 0:
        last = said.strip().splitlines() or ["said nothing"]
        raise frame.PaperError("%s: %s" % (words[0], last[-1]), child.returncode)
    return child.returncode, said


class Context:
    """What a measurement is given."""

    def __init__(self, quick=False):
        self.quick = quick
        self.start = time.monotonic()
        self.remarks = []  # go to the page, with the setting
        self.built = {}

    def say(self, text):
        say("%5.0f s  %s" % (time.monotonic() - self.start, text))

    def repeats(self, full, quick=1):
        return quick if self.quick else full

    def remark(self, text):
        self.remarks.append(text)

    def program(self, name, mpi="mpich", *more):
        """test/lab/NAME.c built for an MPI ("none": for none); None where there is no Open MPI."""
        path = OUT / ("%s.%s" % (name, mpi))
        if path in self.built:
            return self.built[path]
        compiler = {"mpich": lab_jobs.compiler(PREFIX) if mpi == "mpich" else None, "none": "gcc",
                    "openmpi": shutil.which("mpicc.openmpi")}[mpi]
        self.built[path] = path if compiler else None
        if compiler:
            OUT.mkdir(parents=True, exist_ok=True)
            command([compiler, "-O2", "-o", path, LAB / (name + ".c"), *more])
        return self.built[path]

    def series(self, *keys):
        """Those of SERIES that can run here."""
        found = [key for key in keys if SERIES[key].mpi == "mpich" or shutil.which("mpicc.openmpi")]
        for key in set(keys) - set(found):
            self.say("left out, not installed: %s (Debian: libopenmpi-dev)" % SERIES[key].title)
        return found

    @contextlib.contextmanager
    def lab(self, hosts, *options):
        """A lab with these options of `lab up`, for as long as the block takes; yields its name."""
        name = "papers%d" % os.getpid()
        words = [LAB / "lab", "up", "--name", name, "--owner", os.getpid(), "--hosts", hosts, *options]
        command(words)
        try:
            yield name
        finally:
            command([LAB / "lab", "down", "--name", name], check=False)

    def run(self, name, program, *words, env=None, mpi="mpich", ppn=1, timeout=60, what=None):
        """An MPI job in a lab; what it said."""
        full = {key: value for key, value in os.environ.items() if not key.startswith("MPIR_CVAR_HWMC")}
        status, said = command([LAB / "lab", "run", "--name", name, "--ppn", ppn, "--mpi", mpi, "--timeout", timeout,
                                *(["--prefix", PREFIX] if mpi == "mpich" else []), "--", program, *words],
                               dict(full, **(env or {})), check=False)
        if status != 0:
            last = said.strip().splitlines() or ["said nothing"]
            self.say("  %s: status %d: %s" % (what or pathlib.Path(program).name, status, last[-1][:100]))
        return status, said

    def bcast(self, name, key, sizes, env=None, **options):
        """A job of bcast_bench in a lab, sizes {bytes: iterations}: {bytes: [bench_report.Sample]}; {} if it failed.

        options: gap (us), warm, late (us), rotate, ppn, timeout, counter.
        """
        series = SERIES[key]
        program = self.program("bcast_bench", series.mpi)
        out = OUT / ("samples.%s.txt" % name)
        out.unlink(missing_ok=True)
        words = ["-out=%s" % out, "-sizes=" + ",".join("%d:%d" % item for item in sizes.items()),
                 "-counter=" + options.get("counter", series.counter)]
        words += ["-%s=%g" % (word, options[word]) for word in ("gap", "warm", "late") if word in options]
        words += ["-rotate"] if options.get("rotate") else []
        status, _ = self.run(name, program, *words, env=dict(series.env, **(env or {})), mpi=series.mpi,
                             ppn=options.get("ppn", 1), timeout=options.get("timeout", 60), what=series.title)
        found = collections.defaultdict(list)
        if status == 0:
            for line in out.read_text(encoding="ascii").splitlines():
                if not line.startswith("#"):
                    words = line.split()
                    found[int(words[0])].append(bench_report.Sample(words[2:]))
        return dict(found)

    def bare(self, name, hosts, size):
        """us of broadcasts by multicast without a library, one process on each host of a lab: test/lab/bare.c."""
        program, turns, out = self.program("bare", "none"), OUT / ("turns." + name), OUT / ("bare." + name)
        turns.write_bytes(bytes(8192))
        words = ["-size=%d" % hosts, "-turns=%s:0:1" % turns, "-cells=bcast:%d" % size, "-cell-ms=600", "-out=%s" % out]
        with contextlib.ExitStack() as ranks:
            jobs = []
            for rank in range(hosts):
                full = [LAB / "lab", "exec", "--name", name, "h%d" % rank, "--", program, "-rank=%d" % rank] + words
                jobs.append(ranks.enter_context(subprocess.Popen([str(word) for word in full], stdin=subprocess.DEVNULL,
                                                                 preexec_fn=lab_jobs.end_with_parent)))
            try:
                good = [job.wait(40) == 0 for job in jobs]
            except subprocess.TimeoutExpired:
                good = [False]
            finally:
                for job in jobs:
                    job.terminate()
        if not all(good):
            self.say("  bare on %d hosts failed" % hosts)
            return []
        lines = [line.split() for line in out.read_text(encoding="ascii").splitlines()]
        return [int(words[3]) / 1000 for words in lines if words[0] == "bcast"]

    def simulator(self):
        if "sim" not in self.built:
            command(["make", "-s", "-C", frame.TOP / "test" / "sim"])
            self.built["sim"] = BUILD / "sim" / "hwmc_sim"
        return self.built["sim"]

    def simulate(self, words):
        """One run of hwmc_sim, options in one text; its result as a dictionary."""
        said = command([self.simulator(), "--csv"] + words.split())[1]
        return next(csv.DictReader([line for line in said.splitlines() if "," in line]))
