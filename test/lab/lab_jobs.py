# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""What drivers share that run MPI jobs in a lab of their own and cut its rails meanwhile."""

import argparse
import contextlib
import ctypes
import fcntl
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
BUILD = pathlib.Path(os.environ.get("HWMC_BUILD") or TOP / "build").resolve()
RESILIENT = "MPIR_CVAR_HWMC_RESILIENT"
# What would tie a job to other interfaces than the lab's, or change what is measured.
NOT_PASSED_ON = ("MPIR_CVAR_HWMC_RAILS", "MPIR_CVAR_HWMC_DEBUG", "UCX_NET_DEVICES", "HYDRA_IFACE",
                 RESILIENT)


class JobError(Exception):
    """A message for the user, and the exit status."""

    def __init__(self, text, status=1):
        super().__init__(text)
        self.status = status


def load(name):
    """A program of this folder, as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(HERE / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


lab = load("lab")


def say(text):
    print(text, flush=True)


def end_with_parent():
    """In a child: SIGTERM when the parent is gone, also if it was killed."""
    ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


class Network:
    """A lab with a network for administration, by which jobs live on when rails are cut."""

    def __init__(self, name, hosts, rails, rate, ip="ipv4"):
        self.lab = lab.Lab(name)
        self.shape = {"hosts": hosts, "rails": rails, "rates": [rate], "loss": 0, "adm": True, "ip": [ip],
                      "owner": os.getpid()}

    def __enter__(self):
        try:
            lab.need_namespaces()
            self.lab.destroy()  # what one that was killed has left
            self.lab.up(**self.shape)
        except lab.LabError as error:
            raise JobError(str(error), error.status) from None
        return self

    def __exit__(self, *_):
        self.lab.destroy()

    def fault(self, *words):
        """A fault in the words of test/lab/lab; when it was done, in s of CLOCK_MONOTONIC."""
        with self.lab.changing():
            self.lab.fault(words[0], [str(word) for word in words[1:]])
            return time.monotonic()

    def cut(self, hosts, rail, kind):
        """Cut a rail of "h2" or of "all"."""
        return self.fault("rail-down", hosts, rail, kind)

    def mend(self, hosts, rail):
        return self.fault("rail-up", hosts, rail)

    def processes(self, host, name):
        """Pids of a host's processes that run a program."""
        found = []
        for pid in lab.sh("ip", "netns", "pids", self.lab.ns(host), check=False).split():
            with contextlib.suppress(OSError):
                if pathlib.Path("/proc", pid, "comm").read_text().strip() == name[:15]:
                    found.append(int(pid))
        return found

    def received(self, rail):
        """Bytes that all hosts together have received over a rail so far."""
        return self.lab.carried()[rail][1]


# Of a program on hosts with emulated InfiniBand adapters.
ADAPTERS = {"LD_LIBRARY_PATH": str(BUILD / "ibemu"), "UCX_TLS": "tcp,self"}


def build_adapters():
    made = subprocess.run(["make", "-s", "-C", HERE / "ibemu"], check=False, env={**os.environ, "HWMC_BUILD": str(BUILD)},
                          stdout=subprocess.DEVNULL)
    if made.returncode != 0:
        raise JobError("cannot build the emulated adapters: make -C test/lab/ibemu")


@dataclass
class Options:
    """What a Job wants to know, where there is no command line that says so."""

    prefix: pathlib.Path
    env: list  # NAME=VALUE
    ppn: int = 1


class Job:
    """A program on all hosts of a network, its output in a file.

    options.env is for the program alone; env is for mpiexec and its helpers too. np: ranks, where the last
    host has fewer than the others.
    """

    def __init__(self, network, options, words, env, log, cwd=None, np=None):
        self.network, self.log = network, log
        self.name = pathlib.Path(words[0]).name
        command = [HERE / "lab", "run", "--name", network.lab.name, "--prefix", options.prefix,
                   "--ppn", options.ppn] + (["--np", np] if np else [])
        command += ["--", "env"] + options.env + words
        full = {name: value for name, value in os.environ.items() if name not in NOT_PASSED_ON}
        with open(log, "w", encoding="utf-8") as out:
            self.process = subprocess.Popen([str(word) for word in command], cwd=cwd, stdout=out,
                                            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                            env=dict(full, **env), preexec_fn=end_with_parent)

    def output(self):
        return self.log.read_text(encoding="utf-8", errors="replace")

    def status(self):
        """None while it runs."""
        return self.process.poll()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()  # lab ends the job on that
            self.process.wait()

    def stacks(self, path):
        """Write where each of its processes is to a file, if there is gdb; what to say of it."""
        if not shutil.which("gdb"):
            return "no stacks: gdb is not installed"
        with open(path, "w", encoding="utf-8") as out:
            for host in range(self.network.lab.hosts):
                for pid in self.network.processes(host, self.name):
                    out.write("== h%d, process %d\n" % (host, pid))
                    out.write(stack(pid))
        return "stacks: %s" % path


def stack(pid):
    try:
        return subprocess.run(["gdb", "-p", str(pid), "-batch", "-ex", "thread apply all bt 40"],
                              capture_output=True, text=True, timeout=60, check=False).stdout
    except subprocess.TimeoutExpired:
        return "gdb did not end\n"


def compiler(prefix):
    mpicc = prefix / "bin" / "mpicc"
    if not os.access(mpicc, os.X_OK):
        raise JobError("no %s: build and install hwmc first, or give --prefix" % mpicc)
    return mpicc


def has_variable(prefix, name):
    """Whether the library in prefix has a control variable."""
    said = subprocess.run([prefix / "bin" / "hwmc_info", "--cvars"], capture_output=True, text=True,
                          check=False).stdout
    return name in said


def setting(text):
    """NAME=VALUE, for --env."""
    if not re.match(r"\w+=", text):
        raise argparse.ArgumentTypeError("not NAME=VALUE: %s" % text)
    return text


@contextlib.contextmanager
def alone(name):
    """One driver of this name at a time: two would measure each other."""
    with open("/run/lock/hwmc-%s" % name, "w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise JobError("another %s is running; wait for its end" % name) from None
        yield


def run_main(name, main):
    """Call main; exit with what it returns, or say what went wrong."""
    def interrupted(signum, _frame):
        raise JobError("interrupted", 128 + signum)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)
    try:
        sys.exit(main())
    except (JobError, lab.LabError) as error:
        print("%s: %s" % (name, error), file=sys.stderr)
        sys.exit(error.status)
