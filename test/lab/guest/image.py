# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""What the guest boots: Debian's kernel and an initial file system with the modules it needs.

The kernel is unpacked from Debian's package, never installed. Both files are kept in
$HWMC_BUILD/guest and in the user's cache folder, under a key of everything they are made from: a
newer package, another list of modules or another init makes new ones.
"""

import fcntl
import gzip
import hashlib
import lzma
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent.parent
BUILD = pathlib.Path(os.environ.get("HWMC_BUILD") or TOP / "build")
IMAGE = BUILD / "guest"
META_PACKAGE = "linux-image-amd64"  # depends on the kernel of the day
KEPT = 3  # images in each of the two folders
BUSYBOX = pathlib.Path("/bin/busybox")
# With what they depend on. rdma_rxe asks for crc32 by the name of an algorithm, which modules.dep
# does not know.
MODULES = ("virtio_pci 9pnet_virtio 9p veth sch_netem ib_umad rdma_ucm crc32_generic crc32_pclmul "
           "rdma_rxe bonding 8021q").split()


class Unavailable(Exception):
    """Why there is no kernel to boot here."""


def said_by(*command, cwd=None):
    """Standard output of a command that has to work for there to be a kernel."""
    try:
        done = subprocess.run(command, cwd=cwd, text=True, capture_output=True, check=False)
    except OSError as error:
        raise Unavailable("no %s: %s" % (command[0], error.strerror)) from None
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["exit %d" % done.returncode]
        raise Unavailable("%s: %s" % (" ".join(command), lines[-1]))
    return done.stdout


class Archive:
    """A cpio archive in the format that the kernel unpacks (its documentation calls it newc)."""

    def __init__(self):
        self.data = bytearray()
        self.known = {"", "."}
        self.number = 0

    def add(self, name, mode, content=b""):
        """A name relative to the root, folders above it made as needed; of two alike the first stays."""
        if name in self.known:
            return
        if name != "TRAILER!!!":
            self.folder(os.path.dirname(name))
            self.known.add(name)
        self.number += 1
        encoded = name.encode() + b"\0"
        fields = (self.number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(encoded), 0)
        self.data += b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
        self.align()
        self.data += content
        self.align()

    def align(self):
        self.data += bytes(-len(self.data) % 4)

    def folder(self, name):
        self.add(name, 0o040755)

    def file(self, name, content, mode=0o644):
        self.add(name, 0o100000 | mode, content if isinstance(content, bytes) else content.encode())

    def link(self, name, target):
        self.add(name, 0o120777, target.encode())

    def copy(self, name, path):
        """A file or folder of this machine; nothing where there is none."""
        path = pathlib.Path(path)
        if path.is_symlink():
            self.link(name, os.readlink(path))
        elif path.is_dir():
            for entry in sorted(path.iterdir()):
                self.copy("%s/%s" % (name, entry.name), entry)
        elif path.is_file():
            self.file(name, path.read_bytes(), 0o755 if os.access(path, os.X_OK) else 0o644)

    def end(self):
        """The archive; others may follow it in one file."""
        self.add("TRAILER!!!", 0)
        return bytes(self.data)


def kernel_package():
    """Name and version of the package that holds the kernel, as apt knows them now."""
    shown = said_by("apt-cache", "show", "--no-all-versions", META_PACKAGE)
    found = re.search(r"^Depends:.*?(linux-image-\S+) \(= ([^)]+)\)", shown, re.MULTILINE)
    if not found:
        raise Unavailable("apt knows no kernel that %s depends on" % META_PACKAGE)
    return found[1], found[2]


def key_of(package, version):
    parts = [package, version, *MODULES]
    parts += [hashlib.sha256(path.read_bytes()).hexdigest()
              for path in (BUSYBOX, HERE / "init", pathlib.Path(__file__))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def download(package, version, folder):
    """The package's file; lists of apt's that are too old are renewed, if that is allowed."""
    command = ("apt-get", "-qq", "download", "%s=%s" % (package, version))
    try:
        said_by(*command, cwd=folder)
    except Unavailable:
        if os.geteuid() != 0:
            raise
        said_by("apt-get", "-qq", "update")
        said_by(*command, cwd=folder)
    return next(pathlib.Path(folder).glob("*.deb"))


def dependencies(modules):
    """Files of the modules, each after those that it needs. Built-in ones have none."""
    lines = (modules / "modules.dep").read_text().splitlines()
    needs = dict(line.split(":", 1) for line in lines)
    by_name = {pathlib.Path(path).name.partition(".")[0].replace("-", "_"): path for path in needs}
    built_in = (modules / "modules.builtin").read_text().replace("-", "_")
    ordered = []

    def visit(path):
        for other in needs[path].split():
            visit(other)
        if path not in ordered:
            ordered.append(path)

    for name in MODULES:
        if name in by_name:
            visit(by_name[name])
        elif "/%s.ko" % name not in built_in:
            raise Unavailable("the kernel in %s has no module %s" % (modules.name, name))
    return ordered


def uncompressed(kernel):
    """The ELF file inside a kernel image, which boots seconds sooner; the image itself if it is not in xz.

    Where it lies: the x86 boot protocol's setup_sects, payload_offset and payload_length.
    """
    sectors = kernel[0x1f1] or 4
    offset, length = struct.unpack_from("<II", kernel, 0x248)
    payload = kernel[(sectors + 1) * 512 + offset:][:length]
    if not payload.startswith(b"\xfd7zXZ\0"):
        return kernel
    # The length of what comes out follows it: not part of the format.
    return lzma.LZMADecompressor(format=lzma.FORMAT_XZ).decompress(payload)


def make(package, version, folder):
    """Write kernel and initramfs into a folder."""
    with tempfile.TemporaryDirectory(prefix="hwmc-kernel.") as work:
        said_by("dpkg", "-x", str(download(package, version, work)), work)
        kernel = next(pathlib.Path(work, "boot").glob("vmlinuz-*"))
        release = kernel.name.removeprefix("vmlinuz-")
        modules = pathlib.Path(work, "lib", "modules", release)
        said_by(str(BUSYBOX), "depmod", "-b", work, release)
        archive = Archive()
        archive.copy("bin/busybox", BUSYBOX.resolve())
        archive.copy("init", HERE / "init")
        ordered = dependencies(modules)
        for path in ordered:
            archive.copy("modules/" + pathlib.Path(path).name, modules / path)
        names = "".join(pathlib.Path(path).name + "\n" for path in ordered)
        archive.file("modules/list", names)
        (folder / "initramfs").write_bytes(gzip.compress(archive.end(), 1, mtime=0))
        (folder / "kernel").write_bytes(uncompressed(kernel.read_bytes()))


def keep(source, target):
    """Copy a folder to beside its older likes, whole or not at all, and remove the oldest of those."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = pathlib.Path(tempfile.mkdtemp(prefix="part.", dir=target.parent))
    try:
        for path in source.iterdir():
            shutil.copyfile(path, part / path.name)
        shutil.rmtree(target, ignore_errors=True)
        part.rename(target)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    likes = [path for path in target.parent.iterdir() if len(path.name) == len(target.name)]
    for path in sorted(likes, key=os.path.getmtime)[:-KEPT]:
        shutil.rmtree(path, ignore_errors=True)


def prepare():
    """Kernel and initramfs, ready to boot: made, from the cache, or there already."""
    if not BUSYBOX.exists():
        raise Unavailable("no %s: install busybox-static" % BUSYBOX)
    package, version = kernel_package()
    key = key_of(package, version)
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    kept, here = cache / "hwmc" / "guest" / key, IMAGE / key
    IMAGE.mkdir(parents=True, exist_ok=True)
    with open(IMAGE / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not here.is_dir():
            if not kept.is_dir():
                with tempfile.TemporaryDirectory(prefix="hwmc-image.") as fresh:
                    make(package, version, pathlib.Path(fresh))
                    keep(pathlib.Path(fresh), kept)
            keep(kept, here)
    return here / "kernel", here / "initramfs"
