# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""Tarballs of other projects as Debian ships them: fetched once, kept, checked by their sha256.

They come from `apt-get source`: the running release's own entries of the machine's apt settings are
copied, as deb-src, into a temporary folder that apt is pointed at for this one call. Nothing below
/etc or /var is written, so no root is needed.
"""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass


class Failed(Exception):
    """One line that says what failed and how to mend it."""


@dataclass
class Tarball:
    """What to fetch."""

    package: str  # Debian's name of the source package
    name: str  # of the file: PACKAGE_VERSION.orig.tar.SUFFIX
    sha256: str
    otherwise: str  # what else the user can do, for messages

    def kept(self):
        """Return where it is kept between calls: in the user's cache folder."""
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        return pathlib.Path(cache) / "hwmc" / self.name

    def is_right(self, path):
        return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == self.sha256


def codename():
    """Return the code name of the running release, such as bookworm."""
    for line in pathlib.Path("/etc/os-release").read_text().splitlines():
        key, _, value = line.partition("=")
        if key == "VERSION_CODENAME":
            return value.strip('"')
    raise Failed("/etc/os-release names no release to fetch from")


def sources_of_stanzas(text, release):
    """Turn the deb822 stanzas of TEXT that have RELEASE among their suites into deb-src ones."""
    kept = []
    for stanza in re.split(r"\n[ \t]*\n", text):
        stanza = "\n".join(ln for ln in stanza.splitlines() if not ln.startswith("#"))
        fields = {key.lower(): value.split() for key, value
                  in re.findall(r"^([\w-]+):((?:.*)(?:\n[ \t].*)*)", stanza, re.M)}
        off = fields.get("enabled", ["yes"])[0].lower() in ("no", "false", "0")
        if release not in fields.get("suites", []) or off:
            continue
        stanza = re.sub(r"^Types:.*", "Types: deb-src", stanza, flags=re.M | re.I)
        stanza = re.sub(r"^Suites:.*(\n[ \t].*)*", f"Suites: {release}", stanza,
                        flags=re.M | re.I)
        kept.append(stanza.strip() + "\n")
    return "\n".join(kept)


def sources_of_lines(text, release):
    """Turn the one-line entries of TEXT for RELEASE into deb-src ones."""
    entry = re.compile(r"^\s*deb(?:-src)?\s+((?:\[[^]]*\]\s+)?)(\S+)\s+(\S+)(\s+.*)$")
    found = [entry.match(line.split("#")[0]) for line in text.splitlines()]
    kept = [f"deb-src {m[1]}{m[2]} {m[3]}{m[4]}".rstrip() for m in found if m and m[3] == release]
    return "".join(f"{line}\n" for line in dict.fromkeys(kept))


def write_sources(etc, folder, release):
    """Write the deb-src entries that follow from the apt settings in ETC into FOLDER."""
    parts = sorted((etc / "sources.list.d").glob("*"))
    written = False
    for path in [etc / "sources.list"] + parts:
        convert = {".list": sources_of_lines, ".sources": sources_of_stanzas}.get(path.suffix)
        if convert is None or not path.is_file():
            continue
        text = convert(path.read_text(), release)
        if text:
            (folder / path.name).write_text(text)
            written = True
    if not written:
        raise Failed(f"apt has no entry for {release}; add one to /etc/apt")


def run(options, *words, cwd):
    """Run apt-get with OPTIONS and WORDS; on failure say what it said last."""
    command = ["apt-get", "-q", *(f"-o{option}" for option in options), *words]
    done = subprocess.run(command, cwd=cwd, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        said = [line for line in done.stdout.splitlines() if line.startswith(("E:", "W:"))]
        raise Failed(f"apt-get {' '.join(words)} failed ({said[0] if said else 'no reason given'});"
                     " mend the network or apt's settings")


def fetch(tarball, target):
    """Fetch TARBALL through apt and put it in TARGET, checked."""
    if not shutil.which("apt-get"):
        raise Failed("apt-get not found")
    release = codename()
    with tempfile.TemporaryDirectory(prefix="hwmc-apt-") as name:
        folder = pathlib.Path(name)
        for part in ("sources", "lists/partial", "cache/archives/partial", "get"):
            (folder / part).mkdir(parents=True)
        write_sources(pathlib.Path("/etc/apt"), folder / "sources", release)
        options = ["Dir::Etc::sourcelist=/dev/null", f"Dir::Etc::sourceparts={folder}/sources",
                   f"Dir::State::lists={folder}/lists", f"Dir::Cache={folder}/cache",
                   "Acquire::Languages=none"]
        if os.geteuid() == 0:
            options.append("APT::Sandbox::User=root")
        print(f"fetching {tarball.name} with apt-get source", file=sys.stderr)
        run(options, "update", cwd=folder)
        run(options, "source", "--download-only", "--tar-only", tarball.package,
            cwd=folder / "get")
        got = sorted((folder / "get").glob("*.orig.tar.*"))
        if [path.name for path in got] != [tarball.name]:
            names = ", ".join(path.name for path in got) or "nothing"
            raise Failed(f"{release} ships {names}, not {tarball.name}")
        if not tarball.is_right(got[0]):
            raise Failed(f"the sha256 of {tarball.name} is not {tarball.sha256}; fetch again")
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(target.name + f".{os.getpid()}")
        shutil.copyfile(got[0], part)
        part.replace(target)


def get(tarball, target=None):
    """Return the path of TARBALL, fetched to TARGET (default: where it is kept) if it is not there.

    A failure is a Failed whose line says what else can be done.
    """
    target = target or tarball.kept()
    try:
        if not tarball.is_right(target):
            fetch(tarball, target)
    except (Failed, OSError) as why:
        raise Failed(f"{why}; or {tarball.otherwise}") from None
    return target
