/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * policy: how the broadcasts of a communicator go, as far as all ranks must agree on it and it can
 * change.
 */
#ifndef HWMC_CORE_BASE_POLICY_H_INCLUDED
#define HWMC_CORE_BASE_POLICY_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

struct hwmc_policy {
    uint8_t rails;   /* on which they are multicast, a bit each; 0: they go along trees */
    bool push;       /* repaired by push, otherwise by pull (core/bcast/two_stage.h) */
    uint32_t period; /* broadcasts to a synchronization (core/flow/channel.h), 1 to N */
};

/* The policy that a communicator begins with, and what of it may change (core/flow/epoch.h). */
struct hwmc_policy_cfg {
    struct hwmc_policy first; /* rails: of set-up; 0: there is no multicast, ever */
    bool stay;                /* no rail is left */
    bool adapt_repair;        /* push or pull follows losses */
    bool adapt_period;        /* the period follows the pace */
    uint64_t pause_ns; /* after which a rail that was left is probed; doubles, to the maximum */
    uint64_t pause_max_ns;
};

static inline bool hwmc_policy_same(struct hwmc_policy a, struct hwmc_policy b)
{
    return a.rails == b.rails && a.push == b.push && a.period == b.period;
}

#endif /* HWMC_CORE_BASE_POLICY_H_INCLUDED */
