# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""The campaign of test/check-faults: which faults there are, and in which cases they come.

A case is a fault, what the job does meanwhile, an algorithm, a shape of the job, and weather: what happens to
datagrams all the time. All follow from a seed. Cases of one job come one after the other, on what the ones before
have left; those in which the job ends are jobs of their own.
"""

import itertools
import random
from dataclasses import dataclass, field

HOSTS, OTHER, RAIL = "{host}", "{other}", "{rail}"  # what a case puts into a fault's words


@dataclass(frozen=True)
class Fault:
    """In the words of test/lab/lab."""

    name: str
    begin: tuple
    end: tuple
    rails: int = 1  # that the shape has at least
    cuts: bool = False  # a rail: the job waits for its end, but where another one takes over
    stops: bool = False  # a host: the job waits for its end
    times: int = 1  # it comes and goes so often
    hold: tuple = (0.02, 0.5)  # s: least, most


@dataclass(frozen=True)
class Shape:
    hosts: int
    ppn: int = 1
    rails: int = 1
    np: int = 0

    def __str__(self):
        ranks = self.np or self.hosts * self.ppn
        return "%d hosts, %d ranks, %d rail%s" % (self.hosts, ranks, self.rails, "s" * (self.rails > 1))


def loss(percent, of="all", rail="all"):
    return ("loss %d %s %s" % (percent, of, rail),), ("loss 0",)


def cut(of, kind):
    return ("rail-down %s %s %s" % (of, RAIL, kind),), ("rail-up %s %s" % (of, RAIL),)


def one_way(way):
    return ("one-way %s %s %s" % (HOSTS, RAIL, way),), ("one-way %s %s off" % (HOSTS, RAIL),)


def apart(how):
    return ("apart %s %s %s %s" % (HOSTS, OTHER, RAIL, how),)


def rate(of):
    return ("rate %s %s 5" % (of, RAIL),), ("rate %s %s 0" % (of, RAIL),)


FAULTS = (
    Fault("nothing", (), ()),
    Fault("loss of 1 %", *loss(1)),
    Fault("loss of 20 %", *loss(20)),
    Fault("loss of 90 %", *loss(90)),
    Fault("loss of 50 % at one host", *loss(50, HOSTS)),
    Fault("loss of 50 % on one rail", *loss(50, "all", RAIL), rails=2),
    Fault("bursts of loss", *loss(100), times=5, hold=(0.002, 0.05)),
    Fault("no multicast", ("blackhole all on",), ("blackhole all off",)),
    Fault("no multicast to one host", ("blackhole %s on" % HOSTS,), ("blackhole %s off" % HOSTS,)),
    Fault("no multicast on one rail", *loss(100, "all", RAIL), rails=2),
    Fault("multicast comes and goes", ("blackhole all on",), ("blackhole all off",), times=4,
          hold=(0.02, 0.2)),
    Fault("a host's rail is silent", *cut(HOSTS, "silent"), cuts=True),
    Fault("a host's cable is out", *cut(HOSTS, "cable"), cuts=True),
    Fault("a rail is silent", *cut("all", "silent"), cuts=True),
    Fault("a rail's cables are out", *cut("all", "cable"), cuts=True),
    Fault("a host only receives", *one_way("in"), cuts=True),
    Fault("a host only sends", *one_way("out"), cuts=True),
    Fault("two hosts are apart", apart("on"), apart("off"), cuts=True),
    Fault("switches forget who hears", ("snooping on",), ("snooping off",)),
    Fault("a host's rail has a 20th of its rate", *rate(HOSTS)),
    Fault("a rail has a 20th of its rate", *rate("all")),
    Fault("a host is stopped", ("pause " + HOSTS,), ("resume " + HOSTS,), stops=True),
    Fault("a host is stopped for long", ("pause " + HOSTS,), ("resume " + HOSTS,), stops=True,
          hold=(4.5, 5.5)),
)

# What is done to a job that may end by it, or that is about to end. They are in test/check-faults.
ENDINGS = ("a rank is killed", "a host is killed", "no memory", "no descriptors", "joins are refused",
           "socket buffers of a page", "faults from the start", "faults in MPI_Finalize", "two jobs in one group")

# What must end every wait with an error, or none: a host goes for good, or stands still for longer
# than who waits for it has patience. They come after all other jobs, from a sequence of their own.
GONE = "a host is gone"
STOPPED = "a host is stopped for longer than the limit"
LIMIT_MS = 3000
GONE_ENDINGS = (GONE, STOPPED)
GONE_BYTES = (8, 1000, 20000, 100000, 300000, 2000000)
GONE_CALLS = ("barrier", "reduce", "allreduce", "scan")
GONE_MOVES = ("gather", "scatter", "allgather", "reduce_scatter", "alltoall")  # hwmc's if long

# The collectives have orders of their own.
COLLECTIVES = ("barrier", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall", "reduce_scatter", "scan")
ORDERS = ("short", "long", "late", "comms", "idle", "ahead", "any", "started") + COLLECTIVES

SHAPES = (Shape(2), Shape(4), Shape(8), Shape(3, ppn=2), Shape(3, ppn=3, np=7), Shape(3, rails=2),
          Shape(4, ppn=2, rails=2))

TWO_STAGE = {"MPIR_CVAR_BCAST_INTRA_ALGORITHM": "hw", "MPIR_CVAR_HWMC_BCAST_ALGORITHM": "two_stage"}
ALGORITHMS = {
    "pull": dict(TWO_STAGE, MPIR_CVAR_HWMC_REPAIR="pull"),
    "push": dict(TWO_STAGE, MPIR_CVAR_HWMC_REPAIR="push"),
    "trees": {"MPIR_CVAR_BCAST_INTRA_ALGORITHM": "hw",
              "MPIR_CVAR_HWMC_BCAST_ALGORITHM": "multilane"},
    "chosen": {},
    "keyed": dict(TWO_STAGE, MPIR_CVAR_HWMC_INTEGRITY="keyed"),
    "resilient": {"MPIR_CVAR_HWMC_RESILIENT": "1"},
}

WEATHER = {
    "clear": "",
    "lossy": "drop=2",
    "duplicates": "dup=20",
    "out of order": "reorder=20",
    "corrupt": "corrupt=5",
    "late": "delay=1:300000",
    "very late": "delay=0.1:2000000",
    "all of it": "drop=2,dup=5,corrupt=2,reorder=5,delay=1:50000",
}


@dataclass
class Case:
    fault: Fault
    order: str
    ms: int  # that the order takes at least
    wait: float  # s from the order to the fault
    hold: float  # s that it lasts, each time
    stays: bool  # until the order is done
    host: int
    other: int
    rail: int

    def words(self, templates):
        """Commands of the lab."""
        return [text.format(host="h%d" % self.host, other="h%d" % self.other, rail=self.rail).split()
                for text in templates]

    def __str__(self):
        return "%s / %s" % (self.fault.name, self.order)


@dataclass
class Job:
    number: int
    seed: int
    shape: Shape
    algorithm: str
    weather: str
    ending: str = ""  # one of ENDINGS or GONE_ENDINGS: the job has no cases but that
    bytes: int = 0  # of GONE_ENDINGS: of each call
    call: str = "bcast"  # ... of which collective
    started: bool = False  # ... nonblocking
    cases: list = field(default_factory=list)

    def ranks(self):
        return self.shape.np or self.shape.hosts * self.shape.ppn

    def ranks_of(self, host):
        """The first and the last one."""
        first = host * self.shape.ppn
        return first, min(first + self.shape.ppn, self.ranks()) - 1

    def goes_on(self, fault):
        """While it lasts."""
        survives = self.algorithm == "resilient" and self.shape.rails > 1
        return not fault.stops and (survives or not fault.cuts)

    def env(self):
        """Of the program: nothing waits until hwmc is worth its set-up."""
        env = {"MPIR_CVAR_HWMC_TUNE": "setup_after=0,shm_after=0", "MPIR_CVAR_HWMC_ALGORITHMS": "all=hw"}
        env.update(ALGORITHMS[self.algorithm])
        if self.ending in GONE_ENDINGS:  # for hosts that are gone in what is not hwmc's, hwmc cannot answer
            env.update({"MPIR_CVAR_HWMC_PEER_TIMEOUT_MS": str(LIMIT_MS), "MPIR_CVAR_BCAST_INTRA_ALGORITHM": "hw"})
        if WEATHER[self.weather]:
            env["MPIR_CVAR_HWMC_DEBUG"] = "fault=[%s,seed=%d]" % (WEATHER[self.weather], self.seed)
        return env

    def __str__(self):
        what = ", %s%s of %d" % ("i" * self.started, self.call, self.bytes) if self.ending == GONE else ""
        return "%s, %s, %s%s" % (self.algorithm, self.shape, self.weather, what)


def case_of(random_, fault, order, job):
    hold, hosts = random_.uniform(*fault.hold), job.shape.hosts
    host = random_.randrange(hosts)
    return Case(fault, order, ms=150, wait=random_.uniform(0, 0.12), hold=hold,
                stays=job.goes_on(fault) and random_.random() < 0.5,
                host=host, other=(host + random_.randrange(1, hosts)) % hosts,
                rail=random_.randrange(job.shape.rails))


def pairs_of(random_):
    """Each fault with each order, in another sequence each time, for ever."""
    while True:
        pairs = list(itertools.product(FAULTS, ORDERS))
        random_.shuffle(pairs)
        yield from pairs


def kinds_of(random_):
    """Each algorithm on each shape, each time in weather of its own."""
    while True:
        kinds = [(algorithm, shape) for algorithm, shape in itertools.product(ALGORITHMS, SHAPES)
                 if algorithm != "resilient" or shape.rails > 1]
        random_.shuffle(kinds)
        for algorithm, shape in kinds:
            yield algorithm, shape, random_.choice(["clear"] * len(WEATHER) + list(WEATHER))


def take(pairs, shape, put_off):
    """The next pair that the shape can have; those that it cannot wait for another one."""
    for at, (fault, _) in enumerate(put_off):
        if fault.rails <= shape.rails:
            return put_off.pop(at)
    while True:
        fault, order = next(pairs)
        if fault.rails <= shape.rails:
            return fault, order
        put_off.append((fault, order))


def plan(seed, cases, each, endings):
    """Jobs of `each` cases, `cases` in all, and one job for each of so many endings between them."""
    random_ = random.Random(seed)
    pairs, kinds, put_off = pairs_of(random_), kinds_of(random_), []
    number_of = -(-cases // each)
    jobs = []
    for number in range(number_of + endings):
        algorithm, shape, weather = next(kinds)
        job = Job(number, random_.randrange(1 << 30), shape, algorithm, weather)
        if number * endings // (number_of + endings) < (number + 1) * endings // (number_of + endings):
            job.ending = ENDINGS[number * endings // (number_of + endings) % len(ENDINGS)]
            job.cases = [case_of(random_, *take(pairs, shape, put_off), job)]
        else:
            job.cases = [case_of(random_, *take(pairs, shape, put_off), job)
                         for _ in range(min(each, cases))]
            cases -= len(job.cases)
        jobs.append(job)
    return jobs


def draw_gone_call(random_, job):
    """What is called when a host goes. Half of it are broadcasts."""
    job.bytes, job.started = random_.choice(GONE_BYTES), random_.random() < 0.5
    # Of several ranks a host, an all-to-all is hwmc's over several rails alone.
    moves = GONE_MOVES if job.shape.ppn == 1 or job.shape.rails > 1 else GONE_MOVES[:-1]
    job.call = random_.choice(("bcast", random_.choice(GONE_CALLS + moves)))
    if job.call in GONE_MOVES:
        job.bytes = max(GONE_BYTES)


def gone(seed, number, first):
    """So many jobs from number `first` on: all hosts' rails are cut at one of them for good, or it is stopped."""
    random_ = random.Random("gone %d" % seed)
    kinds = (kind for kind in kinds_of(random_) if kind[0] != "chosen")
    stops = Fault(STOPPED, ("pause " + HOSTS,), ("resume " + HOSTS,), stops=True, hold=(4.5, 5.5))
    jobs = []
    for at in range(number):
        algorithm, shape, weather = next(kinds)
        kind = random_.choice(("silent", "silent", "cable"))
        words = tuple("rail-down %s %d %s" % (HOSTS, rail, kind) for rail in range(shape.rails))
        job = Job(first + at, random_.randrange(1 << 30), shape, algorithm, weather,
                  GONE_ENDINGS[at % len(GONE_ENDINGS)])
        draw_gone_call(random_, job)
        fault = Fault("%s, %s" % (GONE, kind), words, (), cuts=True) if job.ending == GONE else stops
        job.cases = [case_of(random_, fault, random_.choice(("short", "long")), job)]
        jobs.append(job)
    return jobs


def soak(seed, hosts):
    """One job, whose cases do not end."""
    random_ = random.Random(seed)
    job = Job(0, random_.randrange(1 << 30), Shape(hosts, rails=2), "chosen", "clear")
    pairs, put_off = pairs_of(random_), []
    job.cases = (case_of(random_, *take(pairs, job.shape, put_off), job) for _ in itertools.count())
    return job
