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
    bool hears_own; /* its own datagrams are handed over */
};

static inline uint64_t hwmc_verbs_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

#endif /* HWMC_NETMOD_FABRIC_VERBS_IMPL_H_INCLUDED */
