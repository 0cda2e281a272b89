# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
#
# For the cases: what the devices have counted. To be sourced.

declare -A counted_before

# remember: from now on moved and moved_all say what has been counted since.
remember() {
    local path
    for path in /sys/class/infiniband/*/ports/1/hw_counters/*; do
        read -r "counted_before[$path]" <"$path"
    done
}

# add_moved DEVICE NAME: adds to sum. Starts no process: those who look again and again must be
# quick.
add_moved() {
    local path value
    for path in /sys/class/infiniband/$1/ports/1/hw_counters/$2; do
        read -r value <"$path"
        sum=$((sum + value - counted_before[$path]))
    done
}

# moved DEVICE NAME
moved() {
    local sum=0
    add_moved "$1" "$2"
    echo $sum
}

# moved_all NAME: on all devices together.
moved_all() { moved '*' "$1"; }

fail() {
    echo "$*"
    exit 1
}
