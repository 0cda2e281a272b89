# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""What configure makes of --with-xpmem, with a library that stands in for XPMEM's; for check-mpi."""

import shutil
import subprocess

import mpisuite

FAKE = mpisuite.TOP / "test" / "unit"
SHM = mpisuite.TOP / "src" / "mpi" / "coll" / "bcast_hw" / "shm"

# MPICH's macros, then ours: a configure of nothing else, which ends in seconds.
CONFIGURE = """
AC_INIT([xpmem],[1])
AC_PROG_CC
m4_include([{confdb}/aclocal_util.m4])
m4_include([{confdb}/aclocal_libs.m4])
m4_include([{ours}])
HWMC_CHECK_XPMEM
AC_CONFIG_FILES([found])
AC_SUBST([pac_have_xpmem])
AC_OUTPUT
"""
FOUND = "@pac_have_xpmem@\n@CPPFLAGS@\n@LDFLAGS@\n@LIBS@\n"


class Wrong(Exception):
    """What configure did not do."""


def call(directory, *words):
    done = subprocess.run([str(word) for word in words], cwd=directory, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise Wrong(done.stdout.strip().splitlines()[-1])


def make_library(prefix):
    (prefix / "include").mkdir(parents=True)
    (prefix / "lib").mkdir()
    shutil.copy(FAKE / "fake_xpmem" / "xpmem.h", prefix / "include")
    call(prefix, "g++", "-std=c++20", "-shared", "-fPIC", "-o", "lib/libxpmem.so",
         FAKE / "fake_xpmem.cc")


def configure(directory, *options):
    """Whether it was found, and the flags by which it is used."""
    call(directory, "./configure", *options)
    have, *flags = (directory / "found").read_text().split("\n")
    return have == "yes", " ".join(flags).split()


def uses_what_is_named(directory, prefix):
    found, flags = configure(directory, "--with-xpmem=%s" % prefix)
    if not found or "-lxpmem" not in flags:
        raise Wrong("it is not used")
    call(directory, "gcc", "-std=c11", "-D_DEFAULT_SOURCE", "-shared", "-fPIC", "-Wl,--no-undefined",
         "-o", "mapping.so", SHM / "copy" / "mapping_xpmem.c", *flags)


def does_without(directory, prefix):
    found, flags = configure(directory, "--without-xpmem", "CPPFLAGS=-I%s/include" % prefix,
                             "LDFLAGS=-L%s/lib" % prefix)
    if found or "-lxpmem" in flags:
        raise Wrong("it is used")


def refuses_what_is_not_there(directory, prefix):
    try:
        configure(directory, "--with-xpmem=%s" % (prefix / "nowhere"), "ac_cv_header_xpmem_h=no")
    except Wrong:
        return
    raise Wrong("it goes on")


CASES = [("--with-xpmem=DIR", uses_what_is_named),
         ("--without-xpmem", does_without),
         ("--with-xpmem=NOWHERE", refuses_what_is_not_there)]


def names():
    return ["configure %s" % option for option, _ in CASES]


def run(directory, confdb, only):
    """Yields each case that contains `only`, and what is wrong with it or None."""
    cases = [case for case in zip(names(), CASES) if only in case[0]]
    if not cases:
        return
    shutil.rmtree(directory, ignore_errors=True)
    make_library(directory / "library")
    ours = mpisuite.TOP / "confdb" / "hwmc_xpmem.m4"
    (directory / "configure.ac").write_text(CONFIGURE.format(confdb=confdb, ours=ours))
    (directory / "found.in").write_text(FOUND)
    call(directory, "autoconf")
    for name, (_, case) in cases:
        try:
            case(directory, directory / "library")
            yield name, None
        except Wrong as error:
            yield name, error
