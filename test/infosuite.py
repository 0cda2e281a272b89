# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""What hwmc_info says of algorithm selection, and selection files for jobs; for check-mpi.

The times are worked out by hand from the formulas at the head of core/model/model.h.
"""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile

import mpisuite

INFO = mpisuite.PREFIX / "bin" / "hwmc_info"
NETWORK = "MPIR_CVAR_HWMC_NETWORK"
NAMES = ("two_stage", "multilane", "binomial", "doubling", "ring")
BASE = "ranks=8,rails=1,latency_us=20,mbit=1000"

# WHAT, bytes, the times in us (None: cannot run), what is taken. A message of 4096 bytes is 32.768
# us long. Seven ranks beside the root in two trees: three levels of the four that send, and the
# others, after a grant.
ROWS = (
    (BASE, 4096, (52.8, 263.8, 158.3, 177.3, 257.3), "two_stage"),
    # One fragment, 1 us of a host, which each of seven loses with 2 %: 0.14 round trips of 40 us.
    (BASE + ",loss_ppm=20000", 8, (26.6, 100.3, 60.2, 120.1, 200.1), "two_stage"),
    # 2097.152 us and 4 % of that, and a round trip: more fragments than are spared. Segments:
    # 65.536 us.
    (BASE + ",loss_ppm=200000", 262144, (2996.0, 2459.3, 6351.5, 3790.0, 3870.0), "multilane"),
    (BASE + ",multicast=0", 8, (None, 100.3, 60.2, 120.1, 200.1), "binomial"),
    (BASE + ",multicast=0", 262144, (None, 2459.3, 6351.5, 3790.0, 3870.0), "multilane"),
    # A second rail halves what is sent over both.
    (BASE.replace("rails=1", "rails=2"), 262144, (1068.6, 1410.7, 6351.5, 3790.0, 3870.0),
     "two_stage"),
    # 980 us more between sites, for trees twice; those have three levels at each of two sites.
    (BASE + ",sites=2,site_latency_us=1000", 4096, (1032.8, 2329.4, 1138.3, 1157.3, 1237.3),
     "two_stage"),
)
WRONG = ("foo=1", "ranks=1", "ranks=x", "rails=9", "sites=0", "mbit=0", "latency_us", "latency_us=1x",
         "loss_ppm=1000001", "ranks=8;rails=2", "latency_us=-1",
         "ranks=1,hosts=4", "hosts=0,ranks=8", "rails=9,ranks=8", "sites=0,mbit=1000", "mbit=0,ranks=8",
         "loss_ppm=1000001,ranks=8")
# For these the table and the file must agree.
WHATS = (BASE, BASE + ",multicast=0", BASE + ",loss_ppm=300000", "ranks=64,rails=2,multicast=0",
         "ranks=4,latency_us=1000,mbit=100,loss_ppm=200000", "ranks=6,rails=1,multicast=0",
         "ranks=3,rails=1,multicast=0,latency_us=50,mbit=1000")
SO_RCVBUFFORCE = 33
WINDOW = 4 << 20  # bytes that a job wants to be able to wait
LOOPBACK_DATAGRAM = 16384 + 64
FILE_WHAT = "ranks=8,rails=1,multicast=0,latency_us=50,mbit=1000"
FILE_ABOVE = 32768  # bytes: what FILE_WHAT leaves to MPICH, on 3 to 8 ranks


class Wrong(Exception):
    """What hwmc_info should not have said."""


def info(*words, status=0, **env):
    """Standard output and error of hwmc_info."""
    surroundings = {**os.environ, "MPIR_CVAR_HWMC_RAILS": "lo", NETWORK: "", **env}
    done = subprocess.run([str(INFO), *words], env=surroundings, capture_output=True, text=True,
                          timeout=60, check=False)
    if done.returncode != status:
        raise Wrong("hwmc_info %s: exit status %d" % (" ".join(words), done.returncode))
    return done.stdout, done.stderr


def table(what, **env):
    """By bytes: the times in us as printed, and the algorithm taken."""
    rows = {}
    for line in info("--model", *what, **env)[0].splitlines():
        found = re.fullmatch(r" *(\d+) (.*)  (\w+)", line)
        if found:
            cells = re.findall(r"(-|[\d.]+)(?: (us|ms))?(?: |$)", found[2])
            times = [None if value == "-" else float(value) * (1000 if unit == "ms" else 1)
                     for value, unit in cells]
            rows[int(found[1])] = (times, found[3])
    if not rows:
        raise Wrong("hwmc_info --model %s: no table" % " ".join(what))
    return rows


def check_row(row, expected, taken):
    times, name = row
    if name != taken or len(times) != len(expected):
        raise Wrong("%s taken, not %s" % (name, taken))
    for algorithm, said, wanted in zip(NAMES, times, expected):
        if (said is None) != (wanted is None) or (said is not None and abs(said - wanted) > 0.11):
            raise Wrong("%s takes %s us, not %s" % (algorithm, said, wanted))


def model():
    for what, size, times, taken in ROWS:
        check_row(table([what])[size], times, taken)


def model_network():
    """The control variable is taken, and what is said on the command line goes before it."""
    what, size, times, taken = ROWS[0]
    check_row(table(["ranks=8,rails=1"], **{NETWORK: "latency_us=20,mbit=1000"})[size], times, taken)
    check_row(table([what], **{NETWORK: "latency_us=7,mbit=3,loss_ppm=5"})[size],
              (52.8,) + times[1:], taken)
    if table(["ranks=8,rails=1"], **{NETWORK: "latency_us=900"})[8][0][0] < 900:
        raise Wrong("%s is not taken" % NETWORK)


def wrong_words():
    for option in ("--model", "--json"):
        for word in WRONG:
            out, err = info(option, word, status=2)
            if out or err != "hwmc_info: not understood: %s\n" % word:
                raise Wrong("%s %s: %s%s" % (option, word, out[:60], err[:60]))
        out, err = info(option, status=2, **{NETWORK: "latency=5"})
        if out or err != "hwmc_info: %s is not understood: latency=5\n" % NETWORK:
            raise Wrong("%s with a wrong %s: %s%s" % (option, NETWORK, out[:60], err[:60]))
        out, err = info(option, status=2, **{NETWORK: "mbit=0,loss_ppm=100"})
        if out or err != "hwmc_info: %s is not understood: mbit=0,loss_ppm=100\n" % NETWORK:
            raise Wrong("%s without a rate in %s: %s%s" % (option, NETWORK, out[:60], err[:60]))
    if not info("--model", "ranks=8", "rails=2", status=2)[1].startswith("usage:"):
        raise Wrong("two words after --model: no usage")


def colls(what, **env):
    """By collective and bytes: times in us of hwmc and MPICH, and who runs it."""
    rows = {}
    for line in info("--model", what, **env)[0].splitlines():
        found = re.fullmatch(r"(\w+) +(\d+) +([\d.]+) (us|ms) +([\d.]+) (us|ms) +(?:-|[\d.]+ [um]s)  (.*)", line)
        if found:
            times = [float(found[i]) * (1000 if found[i + 1] == "ms" else 1) for i in (3, 5)]
            rows[found[1], int(found[2])] = (*times, found[7])
    return rows


def most_for(name, size, theirs):
    """us up to which hwmc runs it: an eighth more than MPICH takes where a line takes four latencies for a block, else an
    eighth less."""
    block = size // 8 if name == "reduce_scatter" else size
    return theirs * (1.125 if block * 8 / 1000 >= 4 * 20 else 0.875)


def other_collectives():
    """Three rounds of a barrier by MPICH, with 50 us more in each where hosts hinder each other; who is faster runs it;
    and what is said goes before."""
    crowd = BASE + ",message_ns=2000,loaded_us=70"
    free, loaded = colls(BASE + ",message_ns=2000"), colls(crowd)
    if len(free) < 50 or free["barrier", 0][1] != 60 or loaded["barrier", 0][1] != 210:
        raise Wrong("barriers: %s, %s of %d rows" % (free.get(("barrier", 0)), loaded.get(("barrier", 0)), len(free)))
    for (name, size), (ours, theirs, runner) in (*free.items(), *loaded.items()):
        most = most_for(name, size, theirs)
        if abs(ours - most) > 1 and runner != "direct" and (runner == "hw") != (ours < most):
            raise Wrong("%s of %d bytes: %g us or %g us by %s" % (name, size, ours, theirs, runner))
    found = [loaded[what][2] for what in (("barrier", 0), ("allgather", 8), ("gather", 32768))]
    if found != ["hw", "mpich", "direct"]:
        raise Wrong("barrier, allgather of 8 bytes, gather of 32 KiB by %s" % ", ".join(found))
    said = colls(crowd, MPIR_CVAR_HWMC_ALGORITHMS="all=mpich,allgather=hw")
    if (said["barrier", 0][2], said["allgather", 8][2]) != ("mpich, as said", "hw, as said"):
        raise Wrong("as said: barrier by %s, allgather by %s" % (said["barrier", 0][2], said["allgather", 8][2]))


FOR_HOSTS = '{"between=hosts": {"collective=%s": {%s}}}'
SOUND = (("allreduce", '"hosts<=4": {"algorithm=hw": {}}, "hosts = any": {"avg_msg_size<=64": {"algorithm=mpich": {}}, '
                       '"avg_msg_size=any": {"ranks_per_host=any": {"algorithm=trees": {}}}}'),
         ("barrier", '"algorithm=auto": {}'))
UNSOUND = (("bcast", '"algorithm=hw": {}', "no collective that has a selection over hosts"),
           ("barrier", '"algorithm=trees": {}', "no algorithm of that name over hosts"),
           ("barrier", '"avg_msg_size=any": {"algorithm=hw": {}}', "no condition for this collective over hosts"),
           ("reduce", '"hosts<=4": {"algorithm=hw": {}}', "the last condition has to be =any"),
           ("reduce", '"hosts=any": {"algorithm=hw": {}}, "hosts<=4": {"algorithm=hw": {}}', "always true"),
           ("reduce", '"hosts<=x": {"algorithm=hw": {}}', "no condition"),
           ("scan", '"algorithm=hw": {"degree=4": {}}', "no parameters"))
SMALL = '{"collective=bcast": {"comm_size=any": {"algorithm=tree": {}}}}'
# What may follow a selection, and what not.
BEHIND = ((" \t\r\n\n", ""), ("\n/* tuned by hand */\n", ""), (SMALL, "more follows"), ("}", "more follows"),
          (",\n", "more follows"), ("x", "more follows"), ("/* no end", "more follows"), ("/", "no JSON"),
          ("\0", "multibyte"))


def tell_file(text, why):
    """hwmc_tune -check says that of a file; "": it takes it."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([str(INFO.with_name("hwmc_tune")), "-check", file.name], capture_output=True, text=True,
                              timeout=60, check=False)
    if (done.returncode == 0) != (why == "") or why not in done.stderr:
        raise Wrong("%r: %s" % (text, done.stderr.strip() or "nothing said"))


def files_for_hosts():
    """What hwmc_tune -check says of parts for hosts."""
    for coll, text, why in [(*case, "") for case in SOUND] + list(UNSOUND):
        tell_file(FOR_HOSTS % (coll, text), why)


def files_to_the_end():
    for text, why in BEHIND:
        tell_file(SMALL + text, why)


# What each of these would have hwmc_tune measure, beside the algorithms that it tries: another one, or none.
SPOILT = {"MPIR_CVAR_HWMC_ENABLE": "0", "MPIR_CVAR_HWMC_SHM": "0", "MPIR_CVAR_HWMC_ALLREDUCE_ALGORITHM": "each",
          "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM": "recursive_doubling",
          "MPIR_CVAR_DEVICE_COLLECTIVES": "none", "MPIR_CVAR_ALLREDUCE_DEVICE_COLLECTIVE": "0", "MPICH_HWMC_SHM": "0"}
TRIED = ["hwmc_shm_reduce_" + name for name in ("tree", "ag", "treemm", "each")]


def tune(directory, *words, status=0, **env):
    """Standard error of hwmc_tune with 2 ranks, and the job's counters."""
    summary = pathlib.Path(directory) / "counters.json"
    summary.unlink(missing_ok=True)
    surroundings = {**os.environ, "MPIR_CVAR_HWMC_RAILS": "lo", "MPIR_CVAR_HWMC_SUMMARY": "json:%s" % summary, **env}
    done = subprocess.run([str(INFO.with_name("mpiexec")), "-n", "2", str(INFO.with_name("hwmc_tune")), "-quick", "-o",
                           str(summary.with_name("found.json")), *words], env=surroundings, capture_output=True, text=True,
                          timeout=120, check=False)
    if done.returncode != status:
        raise Wrong("hwmc_tune %s: exit status %d: %s" % (" ".join(words), done.returncode, done.stderr[-300:]))
    return done.stderr, json.loads(summary.read_text(encoding="ascii")) if summary.exists() else {}


def tune_environment():
    """hwmc_tune tries all algorithms whatever the environment names."""
    with tempfile.TemporaryDirectory() as directory:
        own = pathlib.Path(directory) / "own.json"
        own.write_text(info("--json", FILE_WHAT)[0], encoding="ascii")
        spoilt = {**SPOILT, "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": str(own)}
        for name, value in spoilt.items():
            counters = tune(directory, "-ops", "allreduce", "-sizes", "8,16384", **{name: value})[1].get("counters", {})
            missing = [tried for tried in TRIED if tried not in counters]
            if missing:
                raise Wrong("%s=%s: not tried: %s" % (name, value, " ".join(missing)))


def tune_sizes():
    with tempfile.TemporaryDirectory() as directory:
        said = tune(directory, "-ops", "barrier,bcast", "-sizes", "8,4k,16K,1M")[0]
        lengths = re.findall(r"ranks  bcast +(\d+) ", said)
        if lengths != ["8", "4096", "16384", "1048576"]:
            raise Wrong("-sizes 8,4k,16K,1M: %s" % " ".join(lengths))
        for sizes, word in (("8,64x", "64x"), ("8kB", "8kB"), ("1k2", "1k2"), ("64k,8", "8"), ("12", "12"), ("0", "0"),
                            ("257M", "257M"), ("99999999999999999999k", "99999999999999999999k"), ("-8", "-8")):
            said = tune(directory, "-sizes", sizes, status=2)[0]
            if "hwmc_tune: -sizes: not understood: %s\n" % word not in said or "usage:" not in said:
                raise Wrong("-sizes %s: %s" % (sizes, said[:100]))


def selection(what):
    text = info("--json", what)[0]
    done = subprocess.run(["python3", "-m", "json.tool"], input=text, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise Wrong("not JSON: %s" % done.stderr.strip())
    return json.loads(text)


def named(branch, size):
    """The algorithm that a list of lengths in a file has for a message, "hw" for hwmc's."""
    for key, value in branch.items():
        if key == "avg_msg_size=any" or size <= int(key.removeprefix("avg_msg_size<=")):
            return next(iter(value)).removeprefix("algorithm=MPIR_Bcast_intra_")
    raise Wrong("nothing for %d bytes" % size)


def file_as_model():
    short = {"doubling": "scatter_recursive_doubling_allgather", "ring": "scatter_ring_allgather",
             "two_stage": "hw", "multilane": "hw"}
    for what in WHATS:
        branch = selection(what)["collective=bcast"]["comm_type=intra"]["comm_size=any"]
        for size, (_, taken) in table([what]).items():
            if named(branch, size) != short.get(taken, taken):
                raise Wrong("%s, %d bytes: the table has %s, the file %s" %
                            (what, size, taken, named(branch, size)))


def file_complete(own):
    """All collectives are there, and all but the broadcast as MPICH has them in the file `own`."""
    ours, theirs = selection(FILE_WHAT), json.loads(own.read_text())
    if list(ours) != list(theirs):
        raise Wrong("other collectives than in MPICH's own file")
    for key in theirs:
        if key != "collective=bcast" and ours[key] != theirs[key]:
            raise Wrong("%s differs from MPICH's" % key)
    if ours["collective=bcast"]["comm_type=inter"] != theirs["collective=bcast"]["comm_type=inter"]:
        raise Wrong("the broadcast on intercommunicators differs from MPICH's")


def cost_of(length):
    """What the kernel counts for a datagram, as fabric/udp_socket.c has it."""
    data, room = length + 384, 2048
    while room < data and room < 16384:
        room *= 2
    return (room if room >= data else (data + 4095) // 4096 * 4096) + 256


def window_of(asked, length, drop):
    """Bytes that can wait in a socket that asks for so much; `drop`: with no right to go beyond."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            if drop:
                raise PermissionError
            sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, asked)
        except PermissionError:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, asked)
        return sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) // 4 * 3 // cost_of(length) * length


def check_limits(text, drop):
    setting = re.search(r"^net\.core\.rmem_max +(\d+) +(\d+)  (enough|less.*)$", text, re.M)
    ports = re.findall(r"^(\S+) +(\d+) +(\d+) +(\d+)  (as asked|less: net\.core\.rmem_max) +(\S.*)$", text, re.M)
    if not setting or not ports or "lo" not in [port[0] for port in ports]:
        raise Wrong("hwmc_info --limits: no setting, or no ports: %s" % text)
    if int(setting[1]) != int(pathlib.Path("/proc/sys/net/core/rmem_max").read_text()):
        raise Wrong("another net.core.rmem_max: %s" % setting[0])
    if int(setting[2]) != max(int(port[2]) for port in ports):
        raise Wrong("net.core.rmem_max is not compared with what the ports ask for: %s" % text)
    if (setting[3] == "enough") != (int(setting[1]) >= int(setting[2])):
        raise Wrong("wrong verdict: %s" % setting[0])
    for name, mtu, asked, window, verdict, burst in ports:
        length = min(int(mtu) - 28, LOOPBACK_DATAGRAM)
        if int(asked) != -(-WINDOW // length) * cost_of(length) // 3 * 4 // 2:
            raise Wrong("%s asks for %s" % (name, asked))
        wanted = window_of(int(asked), length, drop)
        if int(window) != wanted or (verdict == "as asked") != (wanted >= WINDOW // 16 * 15):
            raise Wrong("%s: %s bytes can wait, %s; not %d" % (name, window, verdict, wanted))
        if name == "lo" and not re.fullmatch("(sent|received).*", burst):
            raise Wrong("lo: %s" % burst)


def limits():
    """As a process that may go beyond net.core.rmem_max, if this one may, and as one that may not."""
    check_limits(info("--limits")[0], False)
    drop = ["setpriv", "--inh-caps=-net_admin", "--bounding-set=-net_admin"]
    if os.geteuid() == 0 and shutil.which("setpriv"):
        done = subprocess.run([*drop, str(INFO), "--limits"], capture_output=True, text=True, timeout=60, check=True)
        check_limits(done.stdout, True)


def checks(own):
    return (("hwmc_info --model: times", model),
            ("hwmc_info --model: %s" % NETWORK, model_network),
            ("hwmc_info --model: other collectives", other_collectives),
            ("hwmc_tune -check: the part for hosts", files_for_hosts),
            ("hwmc_tune -check: behind the selection", files_to_the_end),
            ("hwmc_tune: the environment", tune_environment),
            ("hwmc_tune: -sizes", tune_sizes),
            ("hwmc_info: wrong words", wrong_words),
            ("hwmc_info --json: the same as --model", file_as_model),
            ("hwmc_info --limits", limits),
            ("hwmc_info --json: complete", lambda: file_complete(own)))


def job_lines(directory):
    """Writes selection files into the directory; lines of a testlist for jobs that are given them."""
    chosen = selection(FILE_WHAT)
    (directory / "chosen.json").write_text(info("--json", FILE_WHAT)[0])
    chosen["collective=bcast"]["comm_type=intra"] = {"algorithm=MPIR_Bcast_intra_binomial": {}}
    (directory / "binomial.json").write_text(json.dumps(chosen))
    line = ("hwmc_file %d arg=-above=%d env=MPIR_CVAR_HWMC_RAILS=lo env=MPIR_CVAR_NOLOCAL=1"
            " env=MPIR_CVAR_HWMC_TUNE=setup_after=0,setup_ahead=0"
            " env=MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=%s.json%s")
    trees = " env=MPIR_CVAR_HWMC_BCAST_ALGORITHM=multilane"
    return (line % (8, FILE_ABOVE, "chosen", ""), line % (6, FILE_ABOVE, "chosen", ""),
            line % (4, FILE_ABOVE, "chosen", ""), line % (8, FILE_ABOVE, "chosen", trees),
            line % (8, 1 << 30, "binomial", ""),
            # Forced: before any file.
            line % (8, 0, "binomial", " env=MPIR_CVAR_BCAST_INTRA_ALGORITHM=hw"))
