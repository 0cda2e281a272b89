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

static inline bool hwmc_policy_same(struct hwmc_policy a, struct hwmc_policy b)
{
    return a.rails == b.rails && a.push == b.push && a.period == b.period;
}

#endif /* HWMC_CORE_BASE_POLICY_H_INCLUDED */
