/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What doctor_try.c, which finds and opens, and doctor_talk.c, which runs and leaves, share.
 */
#ifndef HWMC_NETMOD_TOOLS_DOCTOR_TRY_IMPL_H_INCLUDED
#define HWMC_NETMOD_TOOLS_DOCTOR_TRY_IMPL_H_INCLUDED

#include "doctor_try.h"
#include "../base/addr.h"
#include "../../../../../mpi/coll/bcast_hw/port/fabric.h"

#define HWMC_DOCTOR_LENGTHS_MAX 16

/* A rail of the job, on this host. */
struct hwmc_doctor_rail {
    const struct hwmc_doctor_port *port; /* NULL: the host has none there */
    struct hwmc_fabric *f;               /* NULL: it is not open */
    uint64_t group, other;               /* the fabric's numbers of the groups */
    struct hwmc_addr group_at, other_at; /* by udp: their addresses */
    bool udp;                            /* the fabric is IP multicast */
    int tap;                             /* -1: none */
    int listener, socket;                /* of TCP, of UDP */
    int *connection;                     /* by host; -1: none */
    int num_lengths;                     /* of long datagrams that this host multicasts */
    uint16_t length[HWMC_DOCTOR_LENGTHS_MAX];
    struct hwmc_doctor_seen *seen; /* by host */
    struct hwmc_doctor_look *look;
};

struct hwmc_doctor_try {
    struct hwmc_doctor_call call;
    struct hwmc_doctor_hosts hosts;
    int num_found;
    int listener[HWMC_RAILS_MAX], socket[HWMC_RAILS_MAX]; /* by port that was found */
    struct hwmc_doctor_rail rail[HWMC_RAILS_MAX];         /* by number of the job */
};

static inline const struct hwmc_doctor_port *hwmc_doctor_peer(const struct hwmc_doctor_hosts *hosts,
                                                              int host, int rail)
{
    const int at = hosts->at[host][rail];

    return at < 0 ? NULL : &hosts->ports[host].at[at];
}

#endif /* HWMC_NETMOD_TOOLS_DOCTOR_TRY_IMPL_H_INCLUDED */
