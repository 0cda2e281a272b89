# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""What users see of a job: its counters in docs/counters.md, while it runs by hwmc_info --live, when it ends
by MPIR_CVAR_HWMC_SUMMARY, and what it says when it gets no more memory; for check-mpi."""

import contextlib
import os
import re
import resource
import select
import signal
import subprocess

import cvars
import mpisuite
import nobody

INFO = mpisuite.PREFIX / "bin" / "hwmc_info"
MPIEXEC = mpisuite.PREFIX / "bin" / "mpiexec"
COUNTERS = mpisuite.TOP / "docs" / "counters.md"
PROGRAM = "hwmc_export"
HUNGRY = "hwmc_no_memory"
SUMMARY = "MPIR_CVAR_HWMC_SUMMARY"
FORCED = {**mpisuite.LOOPBACK, **mpisuite.FORCED, "MPIR_CVAR_HWMC_TUNE": "shm_after=0"}
# One buffer at a time, so large that it comes from the operating system
BUFFERS = {"UCX_TLS": "tcp", "UCX_TCP_TX_SEG_SIZE": "256k", "UCX_TCP_RX_SEG_SIZE": "256k",
           "UCX_TCP_TX_BUFS_GROW": "1"}
PATIENCE = "no_memory_ms of MPIR_CVAR_HWMC_TUNE"
REFUSED = "Failed to allocate memory pool"  # in UCX's words
ENDS = 90  # seconds that a job may take


class Wrong(Exception):
    """What should have been seen and was not, or the other way round."""


class Skipped(Exception):
    """What is not there."""


def expect(condition, what):
    if not condition:
        raise Wrong(what)


def info(*words, status=0, **more):
    """What hwmc_info prints, on either stream."""
    done = subprocess.run([str(INFO), *map(str, words)], env={**os.environ, **mpisuite.LOOPBACK},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
                          check=False, **more)
    expect(done.returncode == status, "hwmc_info %s: exit status %d: %s" %
           (" ".join(map(str, words)), done.returncode, done.stdout.strip()[-200:]))
    return done.stdout


def documented():
    """What docs/counters.md has, by name: what it is if it does not count, and its text."""
    rows = re.findall(r"^\| `(\w+)`(?: \((\w+)\))? \| (.*) \|$", COUNTERS.read_text(), re.M)
    return {name: (kind, text) for name, kind, text in rows}


def registered():
    found = re.findall(r"^(\w+)(?: \((\w+)\))?\n((?:    .*\n)+)", info("--pvars"), re.M)
    return {name: (kind, " ".join(text.split())) for name, kind, text in found}


def docs():
    """The documents and the library have the same variables, of the same kind, and say the same of each."""
    there, here = registered(), documented()
    if "verbs: not built" in info():
        here = {name: what for name, what in here.items() if not name.startswith("hwmc_rc_")}
    expect(there, "no variables are registered")
    for name in sorted(there.keys() | here.keys()):
        expect(name in here, "%s is not in %s" % (name, COUNTERS.name))
        expect(name in there, "%s is in %s, and is not registered" % (name, COUNTERS.name))
        expect(there[name] == here[name], "%s: registered as %s, documented as %s" %
               (name, there[name], here[name]))


@contextlib.contextmanager
def job(directory, ranks, *words, program=PROGRAM, before=(), **settings):
    """A job, killed if it is still there at the end. `before`: what mpiexec is told before these ranks' program; without
    it, their number."""
    env = cvars.merged(os.environ, FORCED, settings)
    command = [str(MPIEXEC), *(before or ("-n", str(ranks))), str(directory / program), *words]
    with subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def run(directory, ranks, *words, status=0, **settings):
    """Both streams of a job that ends by itself."""
    with job(directory, ranks, *words, **settings) as process:
        try:
            out, err = process.communicate(timeout=ENDS)
        except subprocess.TimeoutExpired:
            raise Wrong("the job hangs") from None
    expect(process.returncode == status or status is None,
           "the job's exit status is %d: %s" % (process.returncode, err[-300:]))
    return out, err


def rows(text):
    """Of a summary, by name: total (None of a level), least, most, rank."""
    found = re.findall(r"^(\w+) +(\d+|-) +(\d+) +(\d+)  (\d+) \(\S+\)$", text, re.M)
    return {name: (None if total == "-" else int(total), int(least), int(most), int(rank))
            for name, total, least, most, rank in found}


def check_summary(text, ranks):
    """The one table of a job."""
    expect(text.count("hwmc ") == 1 and re.match(r"hwmc \S+: %d ranks\n" % ranks, text),
           "not one table of %d ranks: %s" % (ranks, text[:100]))
    table = rows(text)
    head = [line for line in text.splitlines() if line.startswith(("hwmc ", "rail ", " "))]
    expect(len(table) + len(head) == len(text.splitlines()), "lines that are no rows: %s" % text)
    for name, (total, least, most, rank) in table.items():
        expect(least <= most and most > 0 and rank < ranks, "%s: %s" % (name, table[name]))
        if total is not None:
            expect(most + (ranks - 1) * least <= total <= least + (ranks - 1) * most,
                   "%s: %s" % (name, table[name]))
    return table


def off(directory):
    for word in ({}, {SUMMARY: ""}, {SUMMARY: "0"}):
        out, err = run(directory, 4, **word)
        expect("hwmc" not in out + err, "there is a summary: %s" % (out + err)[:200])


def four(directory):
    table = check_summary(run(directory, 4, **{SUMMARY: "stderr"})[1], 4)
    for name in ("hwmc_calls", "hwmc_two_stage", "hwmc_datagrams_sent",
                 "hwmc_shm_calls", "hwmc_setup_on"):
        expect(name in table, "no row %s" % name)
    total, least, most, rank = table["hwmc_calls"]
    expect(total == 4 * least == 4 * most and rank == 0, "hwmc_calls: %s" %
           str(table["hwmc_calls"]))
    expect("hwmc_drop_crc" not in table, "a row of zeroes")


def one(directory):
    """Alone there is nothing to count."""
    check_summary(run(directory, 1, **{SUMMARY: "1"})[1], 1)


def odd(directory):
    for ranks in (2, 3, 5):
        check_summary(run(directory, ranks, **{SUMMARY: "stderr"})[1], ranks)


def file(directory):
    """To a file, after what is in it; to standard error if that cannot be."""
    path = directory / "summary"
    path.write_text("")
    for _ in range(2):
        out, err = run(directory, 2, **{SUMMARY: str(path)})
        expect("hwmc" not in out + err, "a file is named, and there is output")
    tables = path.read_text().split("hwmc ")[1:]
    expect(len(tables) == 2, "%d tables in the file" % len(tables))
    for text in tables:
        check_summary("hwmc " + text, 2)
    err = run(directory, 2, **{SUMMARY: "/nowhere/summary"})[1]
    first, rest = err.split("\n", 1)
    expect(first == "hwmc: %s: /nowhere/summary: No such file or directory" % SUMMARY, first)
    check_summary(rest, 2)


def aborted(directory):
    err = run(directory, 3, "-abort", status=None, **{SUMMARY: "stderr"})[1]
    expect(not rows(err), "a summary of a job that was aborted")


def processes(running, ranks):
    """The ids that the ranks print when they have done their first work."""
    return [int(re.fullmatch(r"process (\d+)\n", running.stdout.readline())[1])
            for _ in range(ranks)]


@contextlib.contextmanager
def ending(pids):
    """Around the end of a job: returns when its ranks have ended, which they do some time after a killed mpiexec."""
    ends = [os.pidfd_open(pid) for pid in pids]
    try:
        yield
        for pid, end in zip(pids, ends):
            expect(select.select([end], [], [], ENDS)[0], "process %d outlives its mpiexec" % pid)
    finally:
        for end in ends:
            os.close(end)


def counters(text):
    part = text.partition("counters that are not 0\n")[2]
    return {name: int(value) for name, value in re.findall(r"^(\w+) +(\d+)$", part, re.M)}


def live(directory):
    """Each rank shows what it has done; twice, and the second time it is not less."""
    with job(directory, 4, "-seconds=600") as running:
        pids = processes(running, 4)
        seen = []
        for pid in pids:
            said = info("--live", pid)
            found = re.match(r"process %d: rank (\d) of 4, hwmc \S+\n" % pid, said)
            expect(found, "not a rank of 4: %s" % said[:100])
            seen.append(int(found[1]))
            before, after = counters(said), counters(info("--live", pid))
            expect(before.get("hwmc_two_stage", 0) >= 80, "too few broadcasts: %s" % said)
            expect(before.get("hwmc_shm_calls", 0) >= 160, "too few collectives: %s" % said)
            expect("hwmc_drop_crc" not in before, "a row of zeroes")
            expect(all(after.get(name, 0) >= value for name, value in before.items()
                       if name in documented() and not documented()[name][0]), "a counter fell")
            expect(re.search(r"^0 +lo +\S+ +-  udp$", said, re.M), "no rail lo: %s" % said)
            for name in ("MPI_COMM_WORLD", "another"):
                expect(re.search(r"^\w+ +4 +%s  multicast +shared memory +%s$" % (found[1], name),
                                 said, re.M), "no communicator %s: %s" % (name, said))
            expect(len(re.findall(r"^\w+ +0  0 +lo +on +0  set-up$", said, re.M)) == 2,
                   "not two groups that multicast over lo: %s" % said)
            expect(re.search(r"^0 +- +- +ucx +control, repair, trees$", said, re.M), "no lane: %s" % said)
        expect(sorted(seen) == [0, 1, 2, 3], "ranks %s" % seen)
        expect(running.poll() is None, "the job ended while it was looked at")


def live_trees(directory):
    """Why a communicator is without multicast."""
    with job(directory, 2, "-seconds=600", MPIR_CVAR_HWMC_MEMORY="0") as running:
        said = info("--live", processes(running, 2)[0])
        expect(re.search(r"  trees: memory  ", said), said)
        expect(re.search(r"^\w+ +0  0 +lo +off +0  set-up$", said, re.M), said)


def live_sessions(directory):
    """The lanes of sessions: good to all, and nothing moved from them."""
    with job(directory, 3, "-seconds=600", MPIR_CVAR_HWMC_RESILIENT="1") as running:
        said = info("--live", processes(running, 3)[0])
        expect(re.search(r"^0 +0 +lo +ucx +2 +0 +0 +0 +[1-9]\d* +0  -$", said, re.M), said)


def watched(directory):
    """As long as the process runs: what changes, and then that it has ended."""
    with job(directory, 2, "-seconds=600") as running:
        pid = processes(running, 2)[1]
        with subprocess.Popen([str(INFO), "--live", str(pid), "--watch", "0.2"], text=True,
                              stdout=subprocess.PIPE) as watch:
            intervals = 0
            for line in watch.stdout:
                if re.fullmatch(r"hwmc_calls +\d+ +[\d.]+/s\n", line):
                    intervals += 1
                if intervals == 3:
                    break
            expect(intervals == 3, "no intervals in which broadcasts ran")
            os.kill(pid, signal.SIGKILL)
            said = watch.stdout.read()
            expect(watch.wait(60) == 0, "exit status %d" % watch.returncode)
            expect(said.endswith("\nprocess %d has ended\n" % pid), "the end: %s" % said[-100:])


def finds_nothing(_directory):
    """Processes that are not there, are no ranks, belong to another, run another version."""
    with subprocess.Popen(["sleep", "60"]) as other:
        pid = other.pid
        try:
            expect(info("--live", pid, status=1) == "hwmc_info: process %d does not run MPI with "
                   "hwmc, or is about to start or end\n" % pid, "a process without MPI")
        finally:
            other.kill()
    expect(info("--live", pid, status=1) == "hwmc_info: process %d does not exist\n" % pid,
           "a process that is gone")
    for words in (["x"], ["-1"], [""], ["1", "--watch", "0"], ["1", "--watch", "x"]):
        info("--live", *words, status=2)
    info("--live", status=2)


def finds_version(_directory):
    """A process with the file of another version, of another build, of none yet: this one."""
    version = info("--version").split()[1]
    file = os.memfd_create("hwmc-live")
    try:
        for text, said in ((b"", "is about to start"),
                           (b"hwmclive" + b"9.9".ljust(40, b"\0"), "runs hwmc 9.9, this is "),
                           (b"hwmclive" + version.encode().ljust(40, b"\0"),
                            "runs another build of hwmc " + version)):
            os.pwrite(file, text, 0)
            expect(said in info("--live", os.getpid(), status=1), said)
    finally:
        os.close(file)


def finds_others(directory):
    """Another user's process is not shown."""
    if os.getuid() != 0:
        raise Skipped("needs root, to be another user")
    why = nobody.kept_out(INFO, mpisuite.PREFIX / "lib")
    if why:
        raise Skipped(why)
    with job(directory, 2, "-seconds=600") as running:
        pid = processes(running, 2)[0]
        said = info("--live", pid, status=1, user=nobody.UID, group=nobody.UID, extra_groups=[])
        expect("may not be looked at" in said, said)


def no_memory(directory):
    """The job ends and says why; until then UCX's complaints come once a second each."""
    out, err = run(directory, 3, program=HUNGRY, status=1, **{**BUFFERS, cvars.TUNE: "no_memory_ms=2000"})
    expect(re.match(r"process \d+\n", out) and "went on" not in out, "nobody waited: %s" % out[:200])
    expect(1 <= out.count(REFUSED) <= 3, "%d complaints in 2 s" % out.count(REFUSED))
    found = re.search(r"^hwmc: rank 1 .* has got no more memory for (\d+) ms \(%s\)" % PATIENCE, err, re.M)
    expect(found and 2000 <= int(found[1]), "no error that says so: %s" % err[:300])


def no_memory_for_a_while(directory):
    """When there is memory again the job goes on, whoever gave it."""
    with job(directory, 3, program=HUNGRY, **{**BUFFERS, cvars.TUNE: "no_memory_ms=0"}) as running:
        pid = int(running.stdout.readline().split()[1])
        said = ""
        while said.count(REFUSED) < 3:  # seconds; long enough for who has less patience
            said += running.stdout.readline()
        expect("went on" not in said, said)
        resource.prlimit(pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        while not said.endswith("went on\n"):
            line = running.stdout.readline()
            expect(line, "the job ended: %s" % said)
            said += line


def differs(directory):
    """Processes with different values of a variable: an error that names it, at once."""
    for name, value, more in (("MPIR_CVAR_HWMC_CHANNELS", "7", {}),
                              ("MPIR_CVAR_HWMC_FABRIC", "none", {}),
                              ("MPIR_CVAR_HWMC_DEBUG", "topology=pu:2", {}),
                              ("MPIR_CVAR_HWMC_TUNE", "shm_after=0,segment=4096", {}),
                              ("MPIR_CVAR_HWMC_ALGORITHMS", "barrier=mpich", {}),
                              ("MPIR_CVAR_HWMC_BCAST_ALGORITHM", "multilane", {}),
                              ("MPIR_CVAR_HWMC_RESILIENT", "1", {})):
        words = ["-n", "2", str(directory / PROGRAM), ":", "-n", "1", "-env", name, value]
        with job(directory, 1, before=words, **more) as process:
            try:
                err = process.communicate(timeout=ENDS)[1]
            except subprocess.TimeoutExpired:
                raise Wrong("%s: the job hangs" % name) from None
        expect(process.returncode != 0, "%s: no error" % name)
        key = ": " + value.split(",")[-1].split("=")[0] if "=" in value else ""
        expect(re.search(name + key + r" must be the same on all processes: it is \S+ on process 0, and on "
                         r"process 2 on host \S+ it is", err), "%s: %s" % (name, err[-400:]))


def differs_where_it_may(directory):
    words = ["-n", "1", str(directory / PROGRAM), ":", "-n", "2", "-env",
             "MPIR_CVAR_HWMC_NETWORK", "latency_us=7"]
    with job(directory, 1, before=words) as process:
        err = process.communicate(timeout=ENDS)[1]
    expect(process.returncode == 0, err[-400:])


def refused(directory):
    """What MPI_Init says of values that are not understood, and of names of earlier versions."""
    for name, value, said in (
            ("MPIR_CVAR_BCAST_HW_" + "SEGMENT_BYTES", "8", "is MPIR_CVAR_HWMC_TUNE=segment=... now"),
            ("MPICH_BCAST_HW_" + "NODE", "0", "is MPIR_CVAR_HWMC_SHM now"),
            ("MPIR_CVAR_HWMC_" + "FAULT", "drop=1", "is MPIR_CVAR_HWMC_DEBUG=fault=... now"),
            ("MPIR_CVAR_BCAST_HW_" + "FEED_BYTES", "1", "is gone, and nothing takes its place"),
            ("MPIR_CVAR_HWMC_TUNE", "segmnt=8", "MPIR_CVAR_HWMC_TUNE: there is no key segmnt (is it segment?)"),
            ("MPIR_CVAR_HWMC_TUNE", "fanout=99", "fanout=99 is not allowed; it may be 1 to 16"),
            ("MPIR_CVAR_HWMC_ALGORITHMS", "alreduce=hw", "there is no key alreduce (is it allreduce?)"),
            ("MPIR_CVAR_HWMC_ALGORITHMS", "barrier=trees", "barrier=trees is not allowed; it may be auto, hw, mpich"),
            ("MPIR_CVAR_HWMC_DEBUG", "near_rail", "MPIR_CVAR_HWMC_DEBUG: no key=value"),
            ("MPIR_CVAR_HWMC_DEBUG", "trace=[bcast,bcas]", "trace=bcast,bcas is not known"),
            ("MPIR_CVAR_HWMC_BCAST_ALGORITHM", "tree+tree", "MPIR_CVAR_HWMC_BCAST_ALGORITHM: tree+tree is not known"),
            ("MPIR_CVAR_HWMC_REDUCE_ALGORITHM", "g", "it may be auto, tree, ag, treemm or each")):
        err = run(directory, 2, status=None, **{name: value})[1]
        expect(said in err, "%s=%s: %s" % (name, value, err[-400:]))


def both_algorithms(directory):
    """One for the network and one for the host, in one variable."""
    setting = {"MPIR_CVAR_HWMC_BCAST_ALGORITHM": "multilane+tree", SUMMARY: "stderr"}
    table = check_summary(run(directory, 4, **setting)[1], 4)
    expect("hwmc_multilane" in table and "hwmc_two_stage" not in table, "not along trees: %s" % sorted(table))


def traced(directory):
    """Each broadcast is traced on every rank, and topics that are not named are not."""
    err = run(directory, 4, **{cvars.DEBUG: "trace=[setup,bcast]"})[1]
    lines = re.findall(r"^hwmc trace: rank (\d) at \d+\.\d{9} (\w+) \d+: (.*)$", err, re.M)
    expect({topic for _, topic, _ in lines} == {"setup", "bcast"}, "topics: %s" % err[:400])
    for rank in "0123":
        said = {what for number, _, what in lines if number == rank}
        expect("lanes, 0x5" in said, "rank %s: no step of set-up: %s" % (rank, sorted(said)))
        expect({"WAIT -> DONE", "CAST -> DONE"} & said, "rank %s: no broadcast: %s" % (rank, sorted(said)))


def not_there(directory):
    """MPIR_CVAR_HWMC_ENABLE=0, whatever else is said: nothing is hwmc's."""
    for more in ({}, mpisuite.RESILIENT, {"MPIR_CVAR_HWMC_WAIT": "block", "MPIR_CVAR_HWMC_PROGRESS_THREAD": "on"}):
        err = run(directory, 4, **{"MPIR_CVAR_HWMC_ENABLE": "0", SUMMARY: "stderr", **more})[1]
        for name in ("two_stage", "multilane", "datagrams_sent", "shm_calls", "setup_on", "session_moves"):
            expect(not re.search(r"^hwmc_%s\b" % name, err, re.M), "%s is not 0: %s" % (name, err[:400]))


def checks(directory):
    """Names, and what to call."""
    named = (("docs/counters.md: the variables that are registered", lambda _: docs()),
             ("summary: off", off), ("summary: 4 ranks", four), ("summary: 1 rank", one),
             ("summary: 2, 3 and 5 ranks", odd), ("summary: to a file", file),
             ("summary: MPI_Abort", aborted),
             ("live: counters, rails, communicators", live),
             ("live: no multicast, and why", live_trees), ("live: lanes of sessions", live_sessions),
             ("live: watched until it ends", watched),
             ("live: nothing to see", finds_nothing), ("live: another version", finds_version),
             ("live: another user's", finds_others),
             ("variables: not alike on all processes", differs),
             ("variables: different where they may be", differs_where_it_may),
             ("variables: not understood, or of an earlier version", refused),
             ("variables: both algorithms of a broadcast", both_algorithms),
             ("variables: tracing", traced),
             ("variables: MPIR_CVAR_HWMC_ENABLE=0", not_there),
             ("no more memory: an error", no_memory),
             ("no more memory: there is again", no_memory_for_a_while))
    return [(name, lambda check=check: check(directory)) for name, check in named]
