# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""Running lines of a testlist through MPICH's own runtests; for check-mpi and check-mpich.

Each line is a run of runtests of its own, so that results appear as they come, and a test that
hangs costs its time limit and nothing more.
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import findings

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("HWMC_BUILD") or TOP / "build")
PREFIX = pathlib.Path(os.environ.get("HWMC_PREFIX") or BUILD / "install")
FORCED = {"MPIR_CVAR_BCAST_INTRA_ALGORITHM": "hw"}
RESILIENT = {"MPIR_CVAR_HWMC_RESILIENT": "1"}
# All traffic of these tests stays on this machine; processes of one node use shared memory too.
LOOPBACK = {"MPIR_CVAR_HWMC_RAILS": "lo", "UCX_NET_DEVICES": "lo", "HYDRA_IFACE": "lo"}


class Unusable(Exception):
    """Why the suite of a build tree cannot be run."""


def test_lines(path):
    """The tests of a testlist, comments left out."""
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


def short(line):
    """A line of a testlist as people read it: "hw" if multicast is forced, no long prefixes."""
    hidden = ("HWMC_RAILS=", "env=HWTEST_", "strict=", "timeLimit=", "mem=")
    words = [re.sub(r"^env=MPIR_CVAR_", "", word) for word in line.split()]
    words = [word.removeprefix("arg=") for word in words if not word.startswith(hidden)]
    return " ".join(words).replace("BCAST_INTRA_ALGORITHM=hw", "hw")


def variable(makefile, name):
    """What a Makefile sets a variable to."""
    try:
        return re.search("^%s = (.*)$" % name, makefile.read_text(), re.M)[1]
    except (OSError, TypeError):
        raise Unusable("%s does not say %s; run 'make mpich'" % (makefile, name)) from None


class Suite:
    """MPICH's test/mpi in a build tree of MPICH, whose library is installed."""

    def __init__(self, tree):
        tree = pathlib.Path(tree).resolve()
        self.prefix = pathlib.Path(variable(tree / "Makefile", "prefix"))
        self.build = tree / "test" / "mpi"
        self.source = pathlib.Path(variable(tree / "Makefile", "abs_top_srcdir")) / "test" / "mpi"
        if not (self.build / "Makefile").exists():
            self.configure()
        # Made by configure in 4.0; a file of the sources since
        places = (self.build / "runtests", self.source / "runtests")
        self.runtests = places[0] if places[0].exists() else places[1]

    def configure(self):
        """MPICH 4.2 and later leave that to who wants the suite; it takes what is installed."""
        self.build.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([str(self.source / "configure"), "--with-mpi=%s" % self.prefix,
                               "--disable-fortran", "--disable-cxx"], cwd=self.build,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Unusable("configure of MPICH's test suite: see %s/config.log" % self.build)

    def has(self, part, line):
        """Whether the program of a testlist's line is in this release of MPICH."""
        makefile = (self.build / part / "Makefile").read_text()
        return re.search(r"\b%s\$\(EXEEXT\)" % re.escape(line.split()[0]), makefile) is not None

    def prepare(self):
        """Build what the programs of test/mpi/coll link with, once and not for each of them."""
        for part in ("util", "dtpools"):
            make("-C", str(self.build / part))

    def run_line(self, line, directory, settings, log):
        """The verdict of one test, "ok", "FAIL" or "skip", and the time it took."""
        (directory / ".hw-testlist").write_text(line + "\n")
        env = {**os.environ, **LOOPBACK, **settings, "MPITEST_RUN_INDIVIDUAL": "1",
               "MPIEXEC": str(self.prefix / "bin" / "mpiexec")}  # 4.0 has it from configure
        start = time.monotonic()
        with subprocess.Popen(["perl", str(self.runtests), "-srcdir=.", "-tests=.hw-testlist"],
                              cwd=directory, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", start_new_session=True) as process:
            try:
                said, _ = process.communicate()
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)  # mpiexec's helpers notice and follow
                raise
        findings.note(said)
        verdict = "FAIL"
        if "All 1 tests passed" in said:
            verdict = "ok"
        elif "All 0 tests passed" in said:
            verdict = "skip"
        log.write("== %s %s\n%s\n" % (verdict, line, said if verdict == "FAIL" else ""))
        log.flush()
        return verdict, time.monotonic() - start


def make(*arguments):
    done = subprocess.run(["make", "-s", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unusable("make %s: %s" % (" ".join(arguments), done.stderr.strip()[-2000:]))


class Tally:
    """The lines of a check, and its last one."""

    def __init__(self):
        self.count = {"ok": 0, "FAIL": 0, "skip": 0}

    def tell(self, verdict, name, reason):
        verdict, reason = findings.judged(verdict, reason)
        self.count[verdict] += 1
        print("%s %s (%s)" % (verdict, name, reason), flush=True)

    def finish(self):
        """Print the last line; the exit status."""
        print("%d passed, %d failed, %d skipped" % tuple(self.count.values()))
        return 1 if self.count["FAIL"] else 0


def relay(tally, prefix, command, env):
    """Run a check; its lines are the tally's too, each test's name after `prefix`."""
    last, before = "", dict(tally.count)
    with subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          text=True) as process:
        try:
            for last in process.stdout:
                found = re.match(r"(ok|FAIL|skip) (.*?) \((.*)\)$", last)
                if found:
                    tally.tell(found[1], "%s: %s" % (prefix, found[2]), found[3])
        except BaseException:
            process.terminate()
            process.wait()
            raise
    relayed = tuple(tally.count[verdict] - before[verdict] for verdict in before)
    if last.strip() != "%d passed, %d failed, %d skipped" % relayed:
        tally.tell("FAIL", "%s: %s" % (prefix, pathlib.Path(command[0]).name),
                   "exit status %d, and its last line is %s" % (process.returncode, last.strip()))


def interrupted(signum, _frame):
    sys.exit(128 + signum)


def catch_signals():
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, interrupted)
