/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * wrr: see wrr.h.
 */
#include "wrr.h"

#include <assert.h>

static uint32_t fastest_lane(uint32_t lanes, const uint32_t *speed)
{
    uint32_t most = 0;

    for (uint32_t i = 0; speed && i < lanes; i++)
        most = speed[i] > most ? speed[i] : most;
    return most;
}

/* In sixteenths of the fastest one's. */
static uint32_t share_of(uint32_t most, const uint32_t *speed, uint32_t lane)
{
    if (most == 0)
        return 16;
    if (hwmc_wrr_is_slow(speed[lane], most))
        return 0;
    return (uint32_t) (((uint64_t) speed[lane] * 16 + most / 2) / most);
}

void hwmc_wrr_init(struct hwmc_wrr *d, uint32_t lanes, const uint32_t *speed)
{
    uint32_t most = fastest_lane(lanes, speed), total = 0, gone = 0;
    uint32_t share[HWMC_WRR_TURN], given[HWMC_WRR_TURN] = {0};

    assert(lanes >= 1 && lanes <= HWMC_WRR_TURN);
    for (uint32_t i = 0; i < lanes; i++) {
        share[i] = share_of(most, speed, i);
        total += share[i];
    }
    while (gone < HWMC_WRR_TURN) {
        uint32_t best = lanes;
        bool even = true;

        for (uint32_t i = 0; i < lanes; i++)
            if (share[i] > 0 &&
                (best == lanes || (given[i] + 1) * share[best] < (given[best] + 1) * share[i]))
                best = i;
        given[best]++;
        d->lane[gone++] = (uint8_t) best;
        for (uint32_t i = 0; i < lanes; i++)
            even = even && given[i] * total == gone * share[i];
        if (even)
            break;
    }
    d->n = (uint8_t) gone;
}
