# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""What hwmc_info and MPIR_CVAR_HWMC_SUMMARY say to programs: JSON, and the text format of Prometheus; for check-mpi.

With Prometheus' own tools: test/check-metrics.
"""

import contextlib
import json
import os
import pathlib
import re
import subprocess

import livesuite
from livesuite import SUMMARY, Wrong, expect, info, job, processes, run  # noqa: F401

RANK, RAIL, NAME = 48, 64, 48  # of a page: where the rank and the first rail are, bytes of a counter's name
SAMPLE = re.compile(r'(hwmc_\w+)(?:\{((?:\w+="[^"\\]*",?)*)\})? ([\d.e+-]+)')


def loaded(text):
    try:
        return json.loads(text)
    except ValueError as error:
        raise Wrong("not JSON: %s: %s" % (error, text[:200])) from None


def host():
    """--all, --rails and --limits have what their tables have."""
    said = loaded(info("--all", "--json"))
    expect(list(said) == ["hwmc", "rails", "limits"], list(said))
    expect(said["hwmc"] == info("--version").split()[1], said["hwmc"])
    table = re.findall(r"^(\S+) +(\d+\.\d+\.\d+\.\d+/\d+) .* (yes|no: .*)$", info("--rails"), re.M)
    expect(table, "no rails in the table")
    for name, address, rail in table:
        found = [one for one in said["rails"] if one["port"] == name]
        expect(len(found) == 1 and found[0]["address"] == address, "%s: %s" % (name, found))
        expect(rail == ("yes" if found[0]["rail"] else "no: " + found[0]["left_out"]), "%s: %s" % (rail, found))
    ports = {port["port"]: port for port in said["limits"]["ports"]}
    for name, asked, window in re.findall(r"^(\S+) +\d+ +(\d+) +(\d+)  ", info("--limits"), re.M):
        expect((ports[name]["asks_for"], ports[name]["can_wait"]) == (int(asked), int(window)), ports[name])
    rmem = int(pathlib.Path("/proc/sys/net/core/rmem_max").read_text(encoding="ascii"))
    expect(said["limits"]["rmem_max"]["is"] == rmem, said["limits"]["rmem_max"])
    expect(list(loaded(info("--rails", "--json"))) == ["hwmc", "rails"], "--rails")
    expect(list(loaded(info("--limits", "--json"))) == ["hwmc", "limits"], "--limits")
    info("--cvars", "--json", status=2)


def live(directory):
    """--live has the table's parts, and all counters."""
    with job(directory, 4, "-seconds=600") as running:
        pids = processes(running, 4)
        ranks = []
        for pid in pids:
            said = loaded(info("--live", pid, "--json"))
            expect((said["process"], said["ranks"]) == (str(pid), 4), said["process"])
            ranks.append(said["rank"])
            expect(set(livesuite.documented()) >= set(said["counters"]) and len(said["counters"]) > 100,
                   "counters: %s" % sorted(set(said["counters"]) - set(livesuite.documented())))
            expect(said["counters"]["hwmc_two_stage"] >= 80 and said["counters"]["hwmc_drop_crc"] == 0, str(said["counters"]))
            expect([rail["port"] for rail in said["rails"]] == ["lo"], str(said["rails"]))
            names = {comm["name"]: comm for comm in said["communicators"]}
            for name in ("MPI_COMM_WORLD", "another"):
                expect((names[name]["network"], names[name]["ranks"]) == ("multicast", 4), str(names))
            expect([cast["state"] for cast in said["multicast"]] == ["on", "on"], str(said["multicast"]))
            expect(said["lanes"][0]["carries"] == "control, repair, trees", str(said["lanes"]))
        expect(sorted(ranks) == [0, 1, 2, 3], ranks)
        for words in ((pids[0], "--json", "--watch", "1"), ("--json",), (pids[0], "--json", "x")):
            info("--live", *words, status=2)
    with job(directory, 2, "-seconds=600", "-accents") as running:
        names = [comm["name"] for comm in loaded(info("--live", processes(running, 2)[0], "--json"))["communicators"]]
        expect("\u00e9" * 15 + "\ufffd" in names, names)
    with job(directory, 3, "-seconds=600", MPIR_CVAR_HWMC_RESILIENT="1") as running:
        lane = loaded(info("--live", processes(running, 3)[0], "--json"))["lanes"][0]
        expect((lane["good"], lane["dead"], lane["lost_to"]) == (2, 0, []), lane)


def summary(directory):
    """A line of JSON for each job, with the table's rows."""
    path = directory / "summary.json"
    path.unlink(missing_ok=True)
    for ranks in (4, 3):
        out, err = run(directory, ranks, **{SUMMARY: "json:%s" % path})
        expect("hwmc" not in out + err, "a file is named, and there is output")
    lines = path.read_text(encoding="utf-8").splitlines()
    expect(len(lines) == 2, "%d lines" % len(lines))
    for line, ranks in zip(lines, (4, 3)):
        said = loaded(line)
        expect((said["ranks"], said["heard"], said["rails"][0]["port"]) == (ranks, ranks, "lo"), line[:200])
        row = said["counters"]["hwmc_calls"]
        expect(row["total"] == ranks * row["least"] == ranks * row["most"] and row["by_rank"] == 0, row)
        expect("total" not in said["counters"]["hwmc_latency_ns"], "a level has a total")
        expect("hwmc_drop_crc" not in said["counters"], "a row of zeroes")
    expect(loaded(run(directory, 2, **{SUMMARY: "json:stderr"})[1])["ranks"] == 2, "standard error")
    for nowhere in ("json:", "json:0"):
        out, err = run(directory, 2, **{SUMMARY: nowhere})
        expect("hwmc" not in out + err, "%s: %s" % (nowhere, (out + err)[:200]))


def metrics(text):
    """By name: type, and samples by their labels. Each is headed once, and samples follow their head."""
    found, name = {}, None
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name = line.split()[2]
            expect(name not in found and len(line.split()) > 3, line)
        elif line.startswith("# TYPE "):
            expect(line.split()[2] == name, line)
            found[name] = (line.split()[3], {})
        else:
            sample = SAMPLE.fullmatch(line)
            expect(sample and sample[1] == name and sample[2] not in found[name][1], line)
            found[name][1][sample[2]] = float(sample[3])
    return found


def prometheus(directory):
    """Counters of all processes, in a file that is replaced."""
    path = directory / "hwmc.prom"
    path.write_text("", encoding="utf-8")
    before = path.stat().st_ino
    with contextlib.ExitStack() as after, job(directory, 4, "-seconds=600") as running:
        pids = processes(running, 4)
        after.enter_context(livesuite.ending(pids))
        info("--live", "--prometheus", path)
        expect(path.stat().st_ino != before and not list(directory.glob("hwmc.prom.*")), "the file was not replaced")
        said = metrics(path.read_text(encoding="utf-8"))
        for rank, pid in enumerate(pids):
            with_live = loaded(info("--live", pid, "--json"))
            labels = 'pid="%d",rank="%d"' % (pid, with_live["rank"])
            kind, samples = said["hwmc_two_stage_total"]
            expect(kind == "counter" and 80 <= samples[labels] <= with_live["counters"]["hwmc_two_stage"], samples)
            expect(said["hwmc_process_info"][1][labels + ',ranks="4",version="%s"' % with_live["hwmc"]] == 1, rank)
            kind, samples = said["hwmc_rail_groups"]
            expect(kind == "gauge" and samples[labels + ',rail="0",port="lo",state="on"'] == 2, samples)
            seconds = with_live["counters"]["hwmc_latency_ns"] / 1e9
            kind, samples = said["hwmc_latency_seconds"]
            expect(kind == "gauge" and abs(samples[labels] - seconds) < 1e-9 + seconds / 1e6, samples)
        expect(said["hwmc_processes"][1][None] >= 4 and "hwmc_drop_crc_total" not in said, sorted(said))
        one = metrics(info("--live", pids[0], "--prometheus"))
        expect(one["hwmc_processes"][1][None] == 1, one["hwmc_processes"])
        expect("No such file" in info("--live", "--prometheus", "/nowhere/hwmc.prom", status=1), "a file that cannot be")
        with subprocess.Popen([str(livesuite.INFO), "--live", "--prometheus", str(path), "--watch", "0.05"]) as again:
            try:
                seen = set()
                while len(seen) < 4 and again.poll() is None:
                    seen.add(path.stat().st_mtime_ns)
                expect(again.poll() is None, "it ended")
            finally:
                again.terminate()
    said = info("--live", "--prometheus")
    expect("hwmc_processes" in metrics(said) and 'pid="%d"' % pids[0] not in said, "a job that is over: %s" % said[:200])
    info("--live", "--prometheus", "a", "b", status=2)
    info("--live", os.getpid(), "--prometheus", status=1)


def page_of(pid):
    """The bytes of what a process shows: bcast_hw/stats/export.h."""
    for fd in pathlib.Path("/proc/%d/fd" % pid).iterdir():
        if os.readlink(fd).startswith("/memfd:hwmc-live "):
            return bytearray(fd.read_bytes())
    raise Wrong("process %d shows no page" % pid)


def rename(page, names):
    """Gives counters other names, in their places."""
    places = {old: page.index(old.encode() + b"\0") for old in names}
    for old, new in names.items():
        page[places[old]:places[old] + NAME] = new.encode().ljust(NAME, b"\0")


def lies(directory):
    """This process shows a page that differs from those of a job, and is no good besides."""
    with job(directory, 2, "-seconds=600") as running:
        pids = processes(running, 2)
        page = page_of(pids[0])
        expect(page[RAIL + 4:RAIL + 7] == b"lo\0", "no rail at %d" % RAIL)
        rename(page, {"hwmc_two_stage": "hwmc_drop_crc", "hwmc_drop_crc": "hwmc_two_stage", "hwmc_calls": 'x"} 1\n# evil'})
        page[RAIL] = 99
        fd = os.memfd_create("hwmc-live")
        try:
            os.write(fd, page)
            said = info("--live", "--prometheus")
            here = 'pid="%d",rank="%d"' % (os.getpid(), int.from_bytes(page[RANK:RANK + 4], "little"))
            values = {name: samples for name, (_, samples) in metrics(said).items()}
            crc, two_stage = (values.get("hwmc_%s_total" % name, {}).get(here) for name in ("drop_crc", "two_stage"))
            expect(crc and crc >= 80 and two_stage == 0, "by the wrong names: %s, %s" % (crc, two_stage))
            expect("evil" not in said and here not in values["hwmc_calls_total"], "a name that is none")
            expect(not any(here in labels for labels in values["hwmc_rail_groups"]), "a rail with number 99")
            expect("evil" not in json.dumps(loaded(info("--live", os.getpid(), "--json"))), "the same in JSON")
            os.ftruncate(fd, 4096)
            expect("cannot be read" in info("--live", os.getpid(), status=1), "a page that is cut")
            expect(here not in info("--live", "--prometheus"), "the same, among others")
        finally:
            os.close(fd)


def checks(directory):
    named = (("JSON: this host", lambda _: host()), ("JSON: a process", live), ("JSON: the summary", summary),
             ("Prometheus: counters of processes", prometheus), ("Prometheus: a page that lies", lies))
    return [(name, lambda check=check: check(directory)) for name, check in named]
