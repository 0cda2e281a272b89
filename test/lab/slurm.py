# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""A Slurm cluster on the hosts of a lab: munged and slurmctld on host 0, slurmd on each.

All of it runs in the foreground, as the first process of namespaces of its host, so it ends with whoever
started it. No service of the machine is used, and none is started.
"""

import ctypes
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import lab_jobs as jobs

HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = ("slurmctld", "slurmd", "slurm-client", "slurm-wlm-basic-plugins", "munge", "libpmix2")
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "salloc", "scancel")
START = 60  # s until all hosts take jobs
MEMORY = 4000  # MiB that a host has for jobs

CONFIGURATION = """\
ClusterName=hwmc
SlurmctldHost=h0
SlurmUser=root
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
MpiDefault=pmi2
ProctrackType={proctrack}
TaskPlugin={task}
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
DefMemPerNode={memory}
NodeName=h[0-{last}] CPUs={processors} CoresPerSocket={processors} RealMemory={memory}
PartitionName=lab Nodes=ALL Default=YES OverSubscribe=FORCE:4
"""
CGROUP = """\
CgroupPlugin=cgroup/v1
CgroupAutomount=no
ConstrainCores={yes}
ConstrainRAMSpace={yes}
"""
# By default all hosts would have these folders in the one /tmp of the machine, by the same names.
MPI = "PMIxCliTmpDirBase=/dev/shm\n"


def has_cgroups():
    """Whether a folder of version 1 can be made for each controller that Slurm uses."""
    try:
        subprocess.run(["unshare", "-m", str(HERE / "slurm_node"), "hwmc-lab-probe", "true"], check=True,
                       capture_output=True)
        remove_cgroups("hwmc-lab-probe")
    except subprocess.CalledProcessError:
        return False
    return True


def remove_cgroups(name):
    done = subprocess.run(["unshare", "-m", str(HERE / "slurm_node"), name], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stderr.strip(), file=sys.stderr)


class Cluster:
    """Slurm on all hosts of a network that is up."""

    def __init__(self, network, logs):
        self.network, self.logs = network, logs
        self.folder = network.lab.directory / "slurm"
        self.cgroups = has_cgroups()
        self.processors = os.cpu_count()
        self.daemons = []

    def __enter__(self):
        try:
            self.configure()
            self.daemon(0, "munged", "--foreground", *("--%s=%s/munge.%s" % (option, self.folder, end) for option, end in (
                ("socket", "socket"), ("key-file", "key"), ("pid-file", "pid"), ("log-file", "log"),
                ("seed-file", "seed"))))
            self.wait_for(lambda: (self.folder / "munge.socket").exists(), "munged")
            self.daemon(0, "slurmctld", "-D", "-c")
            for host in range(self.network.lab.hosts):
                self.daemon(host, "slurmd", "-D", "-N", "h%d" % host)
            self.wait_for(self.is_idle, "slurmd of all hosts")
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def configure(self):
        lab = self.network.lab
        for name in ["state"] + ["h%d" % host for host in range(lab.hosts)]:
            (self.folder / name).mkdir(parents=True)
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            folder=self.folder, last=lab.hosts - 1, processors=self.processors, memory=MEMORY,
            proctrack="proctrack/cgroup" if self.cgroups else "proctrack/linuxproc",
            task="task/affinity,task/cgroup" if self.cgroups else "task/affinity"))
        (self.folder / "mpi.conf").write_text(MPI)
        (self.folder / "cgroup.conf").write_text(CGROUP.format(yes="yes" if self.cgroups else "no"))

    def cgroup(self, host):
        """The name of what a host's jobs are limited in."""
        return "hwmc-lab-%s-h%d" % (self.network.lab.name, host)

    def env(self):
        return dict(os.environ, HWMC_LAB=self.network.lab.name, SLURM_CONF=str(self.folder / "slurm.conf"))

    def popen(self, host, words, **more):
        words = [str(word) for word in words]
        more.setdefault("env", self.env())
        return subprocess.Popen([str(HERE / "enter"), "h%d" % host] + words, stdin=subprocess.DEVNULL,
                                start_new_session=True, preexec_fn=die_with_parent, **more)

    def daemon(self, host, *words):
        cgroup = self.cgroup(host) if self.cgroups and words[0] == "slurmd" else "none"
        with open(self.logs / ("h%d.%s.txt" % (host, words[0])), "w", encoding="utf-8") as out:
            self.daemons.append((host, words[0], self.popen(host, [HERE / "slurm_node", cgroup, *words],
                                                            stdout=out, stderr=subprocess.STDOUT)))

    def wait_for(self, condition, what):
        deadline = time.monotonic() + START
        while not condition():
            ended = [name for _, name, process in self.daemons if process.poll() is not None]
            if ended or time.monotonic() > deadline:
                raise jobs.JobError("%s: %s; see %s" % (what, "%s has ended" % ended[0] if ended else
                                                        "not in %d s" % START, self.logs))
            time.sleep(0.1)

    def is_idle(self):
        said = self.run("sinfo", "-h", "-o", "%T %D")
        return said.stdout.split() == ["idle", str(self.network.lab.hosts)]

    def run(self, *words, timeout=60, env=None):
        """A command on host 0, to its end; what it said and its status (124: it was ended after the timeout)."""
        process = self.popen(0, words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             env=dict(self.env(), **(env or {})))
        try:
            said, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            end(process)
            said, _ = process.communicate()
            return subprocess.CompletedProcess(words, 124, said, "")
        except BaseException:
            end(process)
            raise
        return subprocess.CompletedProcess(words, process.returncode, said, "")

    def pid(self, host):
        """Of a host's slurmd."""
        return self.network.processes(host, "slurmd")[0]

    def inside(self, host, *words):
        """What a command says in the namespaces that a host's jobs run in."""
        return jobs.lab.sh("nsenter", "-t", str(self.pid(host)), "-m", "-u", "-i", "-n", "-p", *words)

    def stop(self):
        for _, _, process in reversed(self.daemons):
            end(process)
        self.daemons = []
        if self.cgroups:
            for host in range(self.network.lab.hosts):
                remove_cgroups(self.cgroup(host))
        shutil.rmtree(self.folder, ignore_errors=True)


def die_with_parent():
    """In a child: killed when the parent is gone. unshare ignores SIGTERM."""
    ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def end(process):
    """End what runs in namespaces of its own: with the first process of a PID namespace ends each."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
