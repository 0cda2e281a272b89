/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * delay: when the root begins stage 1 (Hoefler, Siebert, Rehm 2007, section 2.1). A root that comes
 * first multicasts to members that cannot receive yet. Four remedies: none; a fixed time; a time
 * adapted to the losses; waiting for one member, chosen pseudo-randomly alike on every rank, so
 * that on average half of the members are there.
 *
 * Adaptive: each synchronization tells how many (member, broadcast) pairs needed a repair. Above a
 * half of them the delay doubles (from START, up to MAX); below a quarter it halves (below START it
 * is zero). Between, it stays.
 */
#ifndef HWMC_CORE_FLOW_DELAY_H_INCLUDED
#define HWMC_CORE_FLOW_DELAY_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "../base/msg.h"
#include "../base/prng.h"

#define HWMC_DELAY_START_NS UINT64_C(10000)
#define HWMC_DELAY_MAX_NS UINT64_C(10000000)

enum hwmc_delay_kind { HWMC_DELAY_NONE, HWMC_DELAY_FIXED, HWMC_DELAY_ADAPTIVE, HWMC_DELAY_RANDOM };

struct hwmc_delay {
    enum hwmc_delay_kind kind;
    uint64_t seed; /* the same on every rank */
    uint64_t ns;   /* the delay now; 0 for NONE and RANDOM */
};

/* The member the root of `bid` waits for; root + 1 to root - 1. `size` is 2 or more. */
static inline uint32_t hwmc_delay_chosen(const struct hwmc_delay *d, uint64_t bid, uint32_t root,
                                         uint32_t size)
{
    uint64_t skip = 1 + hwmc_prng(d->seed, bid) % (size - 1);

    return (uint32_t) ((root + skip) % size);
}

static inline bool hwmc_delay_is_chosen(const struct hwmc_delay *d, uint64_t bid, uint32_t root,
                                        uint32_t rank, uint32_t size)
{
    return d->kind == HWMC_DELAY_RANDOM && size > 1 &&
           hwmc_delay_chosen(d, bid, root, size) == rank;
}

/* When stage 1 begins: ns, or NEVER to wait for READY. */
static inline uint64_t hwmc_delay_until(const struct hwmc_delay *d, uint32_t size, uint64_t now)
{
    return d->kind == HWMC_DELAY_RANDOM && size > 1 ? HWMC_NEVER : now + d->ns;
}

/* `lost` of `pairs` (member, broadcast) pairs needed a repair since the last synchronization. */
static inline void hwmc_delay_learn(struct hwmc_delay *d, uint64_t lost, uint64_t pairs)
{
    if (d->kind != HWMC_DELAY_ADAPTIVE)
        return;
    if (2 * lost > pairs) {
        d->ns = d->ns ? 2 * d->ns : HWMC_DELAY_START_NS;
        d->ns = d->ns < HWMC_DELAY_MAX_NS ? d->ns : HWMC_DELAY_MAX_NS;
    } else if (4 * lost < pairs) {
        d->ns = d->ns > HWMC_DELAY_START_NS ? d->ns / 2 : 0;
    }
}

#endif /* HWMC_CORE_FLOW_DELAY_H_INCLUDED */
