# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
#
# For the cases: what the devices have counted. To be sourced.

declare -A counted_before

# counter DEVICE NAME: its value.
counter() { cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"; }

# remember: from now on moved says what has been counted since.
remember() {
    local path device
    for path in /sys/class/infiniband/*/ports/1/hw_counters/*; do
        device=${path#/sys/class/infiniband/}
        counted_before[${device%%/*} ${path##*/}]=$(<"$path")
    done
}

# moved DEVICE NAME
moved() { echo $(($(counter "$1" "$2") - counted_before[$1 $2])); }

# moved_all NAME: on all devices together.
moved_all() {
    local device sum=0
    for device in /sys/class/infiniband/*; do
        sum=$((sum + $(moved "${device##*/}" "$1")))
    done
    echo $sum
}

fail() {
    echo "$*"
    exit 1
}
