/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * wrr: weighted round-robin of segments over lanes, so that each lane carries its share by speed. A
 * turn of at most HAND segments repeats: each segment goes to the lane that is the furthest behind
 * its share. Lanes of equal speed alternate; one slower than a quarter of the fastest gets none.
 *
 * Example: speeds 100 and 25: 0 0 1 0 0.
 *
 * stripe.h says which scheduler is for what.
 */
#ifndef HWMC_CORE_PATH_WRR_H_INCLUDED
#define HWMC_CORE_PATH_WRR_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#define HWMC_WRR_TURN 64u

struct hwmc_wrr {
    uint8_t n; /* segments of a hand, 1 or more */
    uint8_t lane[HWMC_WRR_TURN];
};

/* A lane too slow to be of use beside the fastest one: below a quarter, by more than speeds are
 * measured wrong. */
static inline bool hwmc_wrr_is_slow(uint32_t speed, uint32_t fastest)
{
    return (uint64_t) speed * 9 / 2 < fastest;
}

/* `lanes` lanes, 1 to HAND; their speeds in any unit, 0: unknown, taken for equal if all are, else
 * for none. NULL: all are equal. */
void hwmc_wrr_init(struct hwmc_wrr *d, uint32_t lanes, const uint32_t *speed);

/* The lane of the `at`th segment of a row. */
static inline uint8_t hwmc_wrr_of(const struct hwmc_wrr *d, uint32_t at)
{
    return d->lane[at % d->n];
}

#endif /* HWMC_CORE_PATH_WRR_H_INCLUDED */
