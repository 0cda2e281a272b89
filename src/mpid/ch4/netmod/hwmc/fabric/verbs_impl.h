/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */
#ifndef HWMC_NETMOD_FABRIC_VERBS_IMPL_H_INCLUDED
#define HWMC_NETMOD_FABRIC_VERBS_IMPL_H_INCLUDED

#include <time.h>

#include "verbs.h"
#include "../verbs/events.h"
#include "../verbs/port.h"
#include "verbs_direct.h"
#include "verbs_members.h"
#include "verbs_recv.h"
#include "verbs_send.h"

struct hwmc_verbs {
    struct hwmc_fabric super;
    struct hwmc_verbs_params params;
    struct hwmc_fabric_attr attr;
    struct hwmc_verbs_drops drops;
    struct hwmc_verbs_port port;          /* its id has the queue pair */
    struct hwmc_verbs_listener *listener; /* of the port's device */
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel; /* of both completion queues; its descriptor does not block */
    struct hwmc_verbs_members members;
    struct hwmc_verbs_send send;
    struct hwmc_verbs_recv recv;
    struct hwmc_rail rail;
    struct hwmc_verbs_direct direct; /* opened for the first twin */
    struct hwmc_verbs_members twins;
    uint32_t directs; /* slots that it has, or shall have; 0: it is not to be opened */
    bool hears_own;   /* its own datagrams are handed over */
};

/* verbs_twins.c: direct reception. */
extern const struct hwmc_fabric_direct_ops hwmc_verbs_direct_ops;

/* Takes what came about twins, if any is asked for. */
void hwmc_verbs_twins_progress(struct hwmc_verbs *v);

/* Nothing comes directly any more, and nothing is left of it. Before the completion queues go. */
void hwmc_verbs_twins_close(struct hwmc_verbs *v);

static inline uint64_t hwmc_verbs_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

#endif /* HWMC_NETMOD_FABRIC_VERBS_IMPL_H_INCLUDED */
