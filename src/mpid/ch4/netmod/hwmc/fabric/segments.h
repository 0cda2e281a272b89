/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * segments: several datagrams as one message to or from the kernel (Linux, udp(7): UDP_SEGMENT and
 * UDP_GRO). They go through its layers once and are cut apart as late as the way to the wire
 * allows, by the network card if it can; between hosts of one machine they may stay together all
 * the way. On the wire they are datagrams like any others.
 */
#ifndef HWMC_NETMOD_FABRIC_SEGMENTS_H_INCLUDED
#define HWMC_NETMOD_FABRIC_SEGMENTS_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "../../../../../mpi/coll/bcast_hw/port/fabric.h"

/* Room for one control message of either kind. */
union hwmc_segments_control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
};

/* How many of the `n` >= 1 datagrams, from the first on, can go as one message, a burst at most:
 * all of the first one's length but the last, which may be shorter. At least 1. */
int hwmc_segments_run(const struct hwmc_out *out, int n);

/* The kernel takes messages of segments. One before Linux 4.18 does not refuse them: it sends all
 * of them as one datagram. */
bool hwmc_segments_are_taken(int fd);

/* Makes `msg` a message of segments of `len` bytes; `control` is borrowed until it is sent. */
void hwmc_segments_mark(struct msghdr *msg, union hwmc_segments_control *control, size_t len);

/* Asks the kernel to hand over what came together in one message. False: it cannot. */
bool hwmc_segments_accept(int fd);

/* The length of all segments but the last of a message of `len` bytes that came; `len` if it is one
 * datagram. */
size_t hwmc_segments_len(struct msghdr *msg, size_t len);

#endif /* HWMC_NETMOD_FABRIC_SEGMENTS_H_INCLUDED */
