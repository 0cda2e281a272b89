# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""What sanitizers say of the processes of a test: files in folders of $HWMC_FINDINGS, one a process.

The runtimes write them as their log_path tells. What they do not suppress is a finding, and with one a
test has failed, whatever its program returned. Without $HWMC_FINDINGS there is none.
"""

import contextlib
import os
import pathlib
import re

FOLDER = os.environ.get("HWMC_FINDINGS")
PATIENCE = 4 if FOLDER else 1  # times as long may a test take
# The address and thread sanitizers end a report with a summary, undefined behaviour is a line, and
# a leak is told with the stack by which it was allocated.
SUMMARY = re.compile(r"^SUMMARY: (?!.* leaked in )(.*)", re.M)
UNDEFINED = re.compile(r"(\S+:\d+:\d+: runtime error: .*)")
LEAK = re.compile(r"^\w+ (leak of .*) allocated from:\n((?: +#\d.*\n)+)", re.M)
FRAME = re.compile(r"#\d+ 0x[0-9a-f]+ (?:in (?!__interceptor_|MPL_)(\S+ .*)|(\(/.*\)))$", re.M)
noted = []


def undefined(text):
    """Lines of that runtime, without folders."""
    return [re.sub(r"^\S*/", "", line) for line in UNDEFINED.findall(text)]


def of_report(text):
    """Its findings, a line each. Libraries that are not loaded any more have no name in the stacks of leaks:
    such leaks are theirs, for that of MPI stays."""
    found = SUMMARY.findall(text) + undefined(text)
    for leak, stack in LEAK.findall(text):
        frames = ["".join(frame) for frame in FRAME.findall(stack)]
        found += ["%s allocated in %s" % (leak, frames[0])] if frames else []
    if not found and text.strip() and "detected memory leaks" not in text:
        found = [text.strip().splitlines()[0]]
    return [re.sub(r"[^\s(]*/(?=[^/\s]+:\d)", "", line) for line in found]


def note(text):
    """What a process wrote to standard error, where the runtime of undefined behaviour writes."""
    noted.extend(undefined(text))


def take(folder):
    """What was found since the last call, without repeats; the reports are kept in a folder of this one.
    Processes of this machine report in "here", those of a host of the lab in one of its own."""
    lines = []
    kept = folder / "kept"
    kept.mkdir(exist_ok=True)
    for path in sorted(folder.glob("here/*")) + sorted(folder.glob("host.*/*")):
        text = path.read_text(encoding="utf-8", errors="replace")
        lines += of_report(text)
        path.rename(kept / ("%04d-%s" % (len(list(kept.iterdir())), path.name)))
    for host in folder.glob("host.*"):
        with contextlib.suppress(OSError):  # one that has been killed may write yet
            host.rmdir()
    return list(dict.fromkeys(lines))


def judged(verdict, reason):
    """Verdict and reason of a test, with what was found meanwhile."""
    lines = noted + (take(pathlib.Path(FOLDER)) if FOLDER else [])
    noted.clear()
    if not lines:
        return verdict, reason
    more = " and %d more" % (len(lines) - 3) if len(lines) > 3 else ""
    return "FAIL", "%s; found: %s%s; see %s/kept" % (reason, "; ".join(lines[:3]), more, FOLDER)
