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
#ifndef BCAST_HW_DELAY_H_INCLUDED
#define BCAST_HW_DELAY_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "msg.h"
#include "prng.h"

#define BCAST_HW_DELAY_START_NS UINT64_C(10000)
#define BCAST_HW_DELAY_MAX_NS UINT64_C(10000000)

enum bcast_hw_delay_kind {
    BCAST_HW_DELAY_NONE,
    BCAST_HW_DELAY_FIXED,
    BCAST_HW_DELAY_ADAPTIVE,
    BCAST_HW_DELAY_RANDOM
};

struct bcast_hw_delay {
    enum bcast_hw_delay_kind kind;
    uint64_t seed; /* the same on every rank */
    uint64_t ns;   /* the delay now; 0 for NONE and RANDOM */
};

/* The member the root of `bid` waits for; root + 1 to root - 1. `size` is 2 or more. */
static inline uint32_t bcast_hw_delay_chosen(const struct bcast_hw_delay *d, uint64_t bid,
                                             uint32_t root, uint32_t size)
{
    uint64_t skip = 1 + bcast_hw_prng(d->seed, bid) % (size - 1);

    return (uint32_t) ((root + skip) % size);
}

static inline bool bcast_hw_delay_is_chosen(const struct bcast_hw_delay *d, uint64_t bid,
                                            uint32_t root, uint32_t rank, uint32_t size)
{
    return d->kind == BCAST_HW_DELAY_RANDOM && size > 1 &&
           bcast_hw_delay_chosen(d, bid, root, size) == rank;
}

/* When stage 1 begins: ns, or NEVER to wait for READY. */
static inline uint64_t bcast_hw_delay_until(const struct bcast_hw_delay *d, uint32_t size,
                                            uint64_t now)
{
    return d->kind == BCAST_HW_DELAY_RANDOM && size > 1 ? BCAST_HW_NEVER : now + d->ns;
}

/* `lost` of `pairs` (member, broadcast) pairs needed a repair since the last synchronization. */
static inline void bcast_hw_delay_learn(struct bcast_hw_delay *d, uint64_t lost, uint64_t pairs)
{
    if (d->kind != BCAST_HW_DELAY_ADAPTIVE)
        return;
    if (2 * lost > pairs) {
        d->ns = d->ns ? 2 * d->ns : BCAST_HW_DELAY_START_NS;
        d->ns = d->ns < BCAST_HW_DELAY_MAX_NS ? d->ns : BCAST_HW_DELAY_MAX_NS;
    } else if (4 * lost < pairs) {
        d->ns = d->ns > BCAST_HW_DELAY_START_NS ? d->ns / 2 : 0;
    }
}

#endif /* BCAST_HW_DELAY_H_INCLUDED */
