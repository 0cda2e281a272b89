# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""What users see of a job: its counters in docs/counters.md; for check-mpi."""

import os
import re
import subprocess

import mpisuite

INFO = mpisuite.PREFIX / "bin" / "hwmc_info"
COUNTERS = mpisuite.TOP / "docs" / "counters.md"


class Wrong(Exception):
    """What should have been seen and was not, or the other way round."""


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
    """What docs/counters.md has, by name: whether it is a level, and its text."""
    rows = re.findall(r"^\| `(\w+)`( \(level\))? \| (.*) \|$", COUNTERS.read_text(), re.M)
    return {name: (bool(level), text) for name, level, text in rows}


def registered():
    found = re.findall(r"^(\w+)( \(level\))?\n((?:    .*\n)+)", info("--pvars"), re.M)
    return {name: (bool(level), " ".join(text.split())) for name, level, text in found}


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


def checks():
    """Names, and what to call."""
    return (("docs/counters.md: the variables that are registered", docs),)
