# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""What a job leaves on its host when one of its ranks is killed in a collective; for check-mpi."""

import os
import pathlib
import re
import signal
import subprocess
import time

import mpisuite

PROGRAM = "hwmc_shm_killed"
SHARED = pathlib.Path("/dev/shm")
ENDS = 60  # seconds that a job may take to end
GONE = 20  # seconds in which its processes must be gone after that

# Ranks, who is killed and before which call: the first ones make the segment.
CASES = [(ranks, victim, call, algorithm)
         for algorithm in ("auto", "none")
         for ranks, victim, call in ((2, 1, 0), (3, 0, 1), (4, 3, 2), (4, 0, 57), (5, 2, 100))]


class Wrong(Exception):
    """What should not have been left."""


def name(case):
    return "%s %d rank %d before call %d copy %s" % (PROGRAM, *case)


def alive(pids):
    """Those of them that still run the program; the number may be another's by now."""
    left = []
    for pid in pids:
        try:
            if PROGRAM in pathlib.Path("/proc/%d/cmdline" % pid).read_text():
                left.append(pid)
        except OSError:
            pass
    return left


def wait_gone(look):
    """What `look` still finds when all should be gone; other jobs of the host have files too."""
    end = time.monotonic() + GONE
    left = look()
    while left and time.monotonic() < end:
        time.sleep(0.1)
        left = look()
    return left


def run(directory, case):
    """What the job printed; the program does not end by itself."""
    ranks, victim, call, copy = case
    env = {**os.environ, **mpisuite.LOOPBACK, "MPIR_CVAR_HWMC_TUNE": "shm_after=0,shm_copy=" + copy}
    words = [str(mpisuite.PREFIX / "bin" / "mpiexec"), "-n", str(ranks), str(directory / PROGRAM),
             "-rank=%d" % victim, "-call=%d" % call]
    with subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, start_new_session=True) as job:
        try:
            said, _ = job.communicate(timeout=ENDS)
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGKILL)
            raise Wrong("the job goes on") from None
        except BaseException:
            os.killpg(job.pid, signal.SIGKILL)
            raise
    return said


def check(directory, case):
    before = set(os.listdir(SHARED))
    said = run(directory, case)
    pids = [int(pid) for pid in re.findall(r"process (\d+)", said)]
    if len(pids) != case[0]:
        raise Wrong("%d of %d ranks said who they are" % (len(pids), case[0]))
    left = wait_gone(lambda: alive(pids))
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    if left:
        raise Wrong("%d processes left" % len(left))
    files = wait_gone(lambda: set(os.listdir(SHARED)) - before)
    if files:
        raise Wrong("left in %s: %s" % (SHARED, " ".join(sorted(files))))
