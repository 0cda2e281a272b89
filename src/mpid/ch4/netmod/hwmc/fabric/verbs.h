/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * verbs: multicast of InfiniBand and RoCE v2 as a fabric: unreliable datagrams (UD) on one queue
 * pair a process and rail, which all communicators share. verbs_send.h has what goes out, also from
 * the program's memory (verbs_loans.h), verbs_recv.h what comes; verbs_direct.h has a second queue
 * pair, for what comes to the program's memory.
 *
 * A group number is 64 random bits on InfiniBand, which with 48 of the job's key make the multicast
 * GID. On RoCE it is that of IPv4 multicast (base/random.h), and InfiniBand takes such a number
 * too.
 */
#ifndef HWMC_NETMOD_FABRIC_VERBS_H_INCLUDED
#define HWMC_NETMOD_FABRIC_VERBS_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

#include "../../../../../mpi/coll/bcast_hw/port/fabric.h"
#include "../../../../../mpi/coll/bcast_hw/port/rail.h"
#include "../base/random.h"

struct hwmc_verbs_params {
    uint64_t key;                     /* of the job: random, the same on all its processes */
    uint16_t port;                    /* of the job; in the group numbers of RoCE */
    struct hwmc_random_groups groups; /* draw takes IPv4 addresses of RoCE from here; on InfiniBand
                                       * too if there is a single one, in tests */
    size_t window;                    /* bytes of payload that shall be able to wait unread */
};

/* Datagrams that came and were not handed over. */
struct hwmc_verbs_drops {
    uint64_t own;     /* this fabric's */
    uint64_t foreign; /* to a group that is not joined */
    uint64_t bad;     /* without a route header, or empty */
};

struct hwmc_verbs_sent;
struct hwmc_verbs_directs;

/* Opens the fabric on the RDMA port behind `rail`; close frees it. ERR_DEVICE: there is none, or it
 * does not work; this takes a fraction of a millisecond where there is no RDMA at all. ERR_NOMEM,
 * ERR_LIMIT: out of memory, of memory that may be locked, or of queue pairs. Its window may be
 * smaller than asked. */
int hwmc_fabric_verbs_open(const struct hwmc_rail *rail, const struct hwmc_verbs_params *params,
                           struct hwmc_fabric **fabric);

/* Before the first group of a job is drawn or joined: another port than at opening. */
void hwmc_fabric_verbs_use_port(struct hwmc_fabric *fabric, uint16_t port);

/* Whether multicast works on a fabric just opened: joins a random group, multicasts and waits for
 * its own datagram, for `timeout_ns` at most. ERR_GROUP: the join is refused; AGAIN: not answered
 * in this time; ERR_DEVICE: nothing came back. */
int hwmc_fabric_verbs_probe(struct hwmc_fabric *fabric, uint64_t timeout_ns);

/* For tests and reports. What was sent: verbs_send.h; what came directly: verbs_direct.h. */
const struct hwmc_verbs_directs *hwmc_fabric_verbs_directs(const struct hwmc_fabric *fabric);
const struct hwmc_verbs_sent *hwmc_fabric_verbs_sent(const struct hwmc_fabric *fabric);
const struct hwmc_verbs_drops *hwmc_fabric_verbs_drops(const struct hwmc_fabric *fabric);

#endif /* HWMC_NETMOD_FABRIC_VERBS_H_INCLUDED */
