# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""The ranks of a host share a session, and mpiexec ends them as ever; for check-mpi."""

import os
import re
import select
import signal
import subprocess
import sys
import time

import mpisuite

LIMIT = 30  # s
# In one write each, so that what ranks say at the same time is not mixed.
WHERE = "import os; os.write(1, b'<%d %d %d>\\n' % (os.getsid(0), os.getpgid(0), os.getpid()))"
STAY = "import os, time; os.write(1, b'<%%d>\\n' %% os.getpid()); time.sleep(%d)" % (10 * LIMIT)


class Wrong(Exception):
    """What was not as expected."""


def command(words, code):
    return [str(mpisuite.PREFIX / "bin" / "mpiexec"), *words, "-n", "3", sys.executable, "-c", code]


def environment(**more):
    return {**os.environ, **mpisuite.LOOPBACK, **more}


def ranks(*options, **more):
    """Session, process group and number of each rank."""
    done = subprocess.run(command(options, WHERE), env=environment(**more), timeout=LIMIT, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = [tuple(int(word) for word in words) for words in re.findall(r"<(\d+) (\d+) (\d+)>", done.stdout)]
    if done.returncode != 0 or len(found) != 3:
        raise Wrong(done.stdout)
    return found


def expect_sessions(number, found):
    sessions = {session for session, _, _ in found}
    if len(sessions) != number or os.getsid(0) in sessions:
        raise Wrong("sessions %s, and the test's own %d" % (sorted(sessions), os.getsid(0)))
    if any(group != process for _, group, process in found):
        raise Wrong("a rank is in another one's process group: %s" % found)


def shared():
    expect_sessions(1, ranks())


def own():
    expect_sessions(3, ranks(HWMC_LAUNCH_SESSION="own"))


def own_by_option():
    expect_sessions(3, ranks("-genv", "HWMC_LAUNCH_SESSION", "own"))
    expect_sessions(1, ranks("-genv", "HWMC_LAUNCH_SESSION", "shared", HWMC_LAUNCH_SESSION="own"))


def is_there(process):
    try:
        with open("/proc/%d/stat" % process, encoding="ascii") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def started(job):
    """The numbers of its ranks, whatever else it writes."""
    text, found = "", []
    while len(found) < 3:
        told, _, _ = select.select([job.stdout], [], [], LIMIT)
        more = os.read(job.stdout.fileno(), 4096).decode() if told else ""
        if not more:
            raise Wrong("ranks %s have started: %s" % (found, text))
        text += more
        found = [int(number) for number in re.findall(r"<(\d+)>", text)]
    return found


def ends(number):
    """A signal to mpiexec ends the ranks."""
    job = subprocess.Popen(command((), STAY), env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           start_new_session=True)
    try:
        ranks_ = started(job)
        job.send_signal(number)
        job.wait(LIMIT)
    except subprocess.TimeoutExpired as error:
        raise Wrong("mpiexec does not end") from error
    finally:
        job.kill()
        job.wait()
        job.stdout.close()
    by = time.monotonic() + LIMIT
    while any(is_there(process) for process in ranks_):
        if time.monotonic() > by:
            raise Wrong("ranks are left: %s" % [process for process in ranks_ if is_there(process)])
        time.sleep(0.05)


CHECKS = (("session: shared by the ranks of a host", shared),
          ("session: each its own, by the environment", own),
          ("session: each its own, by an option of mpiexec", own_by_option),
          ("session: SIGTERM to mpiexec ends the ranks", lambda: ends(signal.SIGTERM)),
          ("session: SIGINT to mpiexec ends the ranks", lambda: ends(signal.SIGINT)))


def names():
    return [name for name, _ in CHECKS]


def run(only):
    """Names, and what was wrong, or None."""
    for name, check in CHECKS:
        if only not in name:
            continue
        try:
            check()
            yield name, None
        except (Wrong, subprocess.TimeoutExpired) as error:
            yield name, error
