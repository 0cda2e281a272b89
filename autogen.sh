#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
#
# Puts an MPICH source tree with the overlay grafted on it into the build folder, ready for
# configure. MPICH's own autogen.sh does the work of regenerating; parts that a release ships
# ready (hydra, romio, json-c, Fortran bindings) are left as they are, and ucx and hwloc are the
# system's. A tree from git with an empty modules/json-c gets the json-c of MPICH 4.0.2.

set -o pipefail

usage() {
    cat <<END
usage: ./autogen.sh [--with-mpich=DIR|TARBALL] [--sync]

  (no argument)    MPICH 4.0.2, with apt-get source
  --with-mpich=    any MPICH 4.0, 4.2, 4.3 or 5.0 source; what is given stays as it is
  --sync           graft the tree that is there once more, regenerate only what that touched

The tree is \${HWMC_BUILD:-build}/mpich-src. The fetched tarball is kept in
\${HWMC_MPICH_TARBALL:-~/.cache/hwmc/mpich_4.0.2.orig.tar.xz} and checked by its sha256.
END
}

die() {
    echo "autogen.sh: $*" >&2
    exit 1
}

top=$(cd "$(dirname "$0")" && pwd)
build=${HWMC_BUILD:-$top/build}
given=
sync=no
for arg; do
    case $arg in
        --with-mpich=*) given=${arg#*=} ;;
        --sync) sync=yes ;;
        -h | --help) usage; exit 0 ;;
        *) die "unknown argument: $arg; see ./autogen.sh --help" ;;
    esac
done

for tool in python3 perl m4 autoconf automake libtoolize patch xz cc; do
    command -v $tool >/dev/null || die "$tool not found; run 'make deps'"
done

mkdir -p "$build" || die "cannot write to $build; set HWMC_BUILD to another folder"
build=$(cd "$build" && pwd)
tree=$build/mpich-src
log=$build/autogen.log

# Unpack tarball $1 into folder $2; with $3, only that part of it.
unpack() {
    mkdir -p "$2" || die "cannot write to $2; set HWMC_BUILD to another folder"
    tar -xf "$1" -C "$2" --strip-components=1 --wildcards "*/${3:-*}" 2>/dev/null ||
        die "cannot unpack $1; give a whole tarball, and see that the disk is not full"
}

# Put the source asked for into folder $1.
get_source() {
    local tarball
    if [ -z "$given" ]; then
        tarball=$("$top/maint/get-mpich") || exit 1
        unpack "$tarball" "$1"
    elif [ -d "$given" ]; then
        mkdir -p "$1" || die "cannot write to $1; set HWMC_BUILD to another folder"
        tar -cf - -C "$given" --exclude-vcs . | tar -xf - -C "$1" ||
            die "cannot copy $given; is the disk full?"
    elif [ -f "$given" ]; then
        unpack "$given" "$1"
    else
        die "no such file or folder: $given; give an MPICH source tree or tarball"
    fi
    [ -f "$1/maint/version.m4" ] || die "not an MPICH source: $given; give its top folder or tarball"
    [ ! -f "$1/config.status" ] || die "$given is configured; run 'make distclean' there first"
    if [ -f "$1/modules.tar.gz" ] && [ ! -e "$1/modules/PREBUILT" ]; then
        tar -xf "$1/modules.tar.gz" -C "$1" || die "cannot unpack modules.tar.gz of $given"
    fi
    if [ ! -f "$1/modules/json-c/configure.ac" ]; then
        tarball=$("$top/maint/get-mpich") || exit 1
        unpack "$tarball" "$1" 'modules/json-c/*'
    fi
    # A tree from git without its hwloc: hydra builds with the system's if the folder is not there.
    rmdir "$1/modules/hwloc" 2>/dev/null
    return 0
}

new_tree() {
    local part=$build/mpich-src.part version
    rm -rf "$part"
    get_source "$part"
    version=$(sed -n 's/^m4_define(\[MPICH_VERSION_m4\],\[\(.*\)\]).*/\1/p' "$part/maint/version.m4")
    case $version in
        4.0* | 4.2* | 4.3* | 5.0*) ;;
        *) echo "autogen.sh: MPICH $version is untested; 4.0, 4.2, 4.3 and 5.0 are known to work" >&2 ;;
    esac
    mkdir -p "$part/.hwmc"
    echo "${given:-mpich 4.0.2}" > "$part/.hwmc/origin"
    # What was built from another tree is of no use to this one.
    rm -rf "$tree" "$build"/{lean,install-lean,install-full,install-quick,package-install-full,package-install-quick}
    mv "$part" "$tree" || die "cannot move $part to $tree"
}

# The parts of MPICH that need no autogen: shipped ready, or not used from the tree.
skipped_parts() {
    local part
    printf -- '--without-%s ' ucx ofi hwloc izem yaksa
    [ ! -x "$tree/configure" ] || printf -- '--without-bindings '
    for part in romio:src/mpi/romio hydra:src/pm/hydra hydra2:src/pm/hydra2 pmi:src/pmi \
        json:modules/json-c; do
        [ ! -x "$tree/${part#*:}/configure" ] || printf -- '--without-%s ' "${part%%:*}"
    done
}

# The inputs of configure that are ours.
digest() {
    (cd "$top" && cat maint/graft.table confdb/hwmc_*.m4 \
        src/mpi/coll/bcast_hw/*.m4 src/mpid/ch4/netmod/hwmc/*.m4) | sha256sum
}

regenerate_all() {
    echo "regenerating MPICH's build system (about a minute; log: $log)"
    # shellcheck disable=SC2046
    (cd "$tree" && ./autogen.sh $(cat .hwmc/skipped)) > "$log" 2>&1 ||
        die "MPICH's autogen failed ($(tail -n1 "$log")); see $log, then run this again"
}

# Control variables are gathered from comments in the sources. A file that comes out the same but
# for the date in its head keeps its time, for everything includes it.
regenerate_cvars() {
    local file dirs=() made=(src/include/mpir_cvars.h src/util/mpir_cvars.c)
    [ ! -f "$tree/maint/cvardirs" ] || dirs=(--dirs="$(cat "$tree/maint/cvardirs")")
    for file in "${made[@]}"; do
        cp -p "$tree/$file" "$tree/$file.before" || die "$tree is not whole; run ./autogen.sh"
    done
    (cd "$tree" && ./maint/extractcvars "${dirs[@]}") > "$log" 2>&1 ||
        die "extractcvars failed ($(tail -n1 "$log")); mend the variables in the overlay's sources"
    for file in "${made[@]}"; do
        if diff -q -I '^ \*   [a-z]*: ' "$tree/$file" "$tree/$file.before" > /dev/null; then
            mv "$tree/$file.before" "$tree/$file"
        else
            rm "$tree/$file.before"
        fi
    done
}

if [ "$sync" = no ] || [ ! -d "$tree" ]; then
    if [ -n "$given" ] || [ "$(cat "$tree/.hwmc/origin" 2>/dev/null)" != "mpich 4.0.2" ]; then
        new_tree
    fi
fi
[ -f "$tree/.hwmc/skipped" ] || skipped_parts > "$tree/.hwmc/skipped"

"$top/maint/graft" "$tree" || exit 1

stamp=$tree/.hwmc/regenerated
if [ "$(digest)" != "$(cat "$stamp" 2>/dev/null)" ]; then
    regenerate_all
    digest > "$stamp"
elif [ "$tree/.hwmc/grafted" -nt "$stamp" ]; then
    regenerate_cvars
    touch "$stamp"
fi
[ "$sync" = yes ] || echo "ready: $tree"
