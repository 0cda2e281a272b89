/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * watch: see watch.h.
 */
#include "watch.h"

#include "mask.h"

void bcast_hw_watch_over(struct bcast_hw_watch *w, uint8_t rails, uint32_t frags,
                         const uint16_t *heard)
{
    uint32_t came = 0, silent = 0, blamed, missing, share;

    FOR_EACH (r, rails) {
        came += heard[r];
        silent |= heard[r] == 0 ? 1u << r : 0;
    }
    blamed = silent ? silent : rails;
    missing = came < frags ? frags - came : 0;
    share = blamed ? (missing + (uint32_t) __builtin_popcount(blamed) - 1) /
                         (uint32_t) __builtin_popcount(blamed)
                   : 0;
    FOR_EACH (r, rails) {
        w->came[r] += heard[r];
        w->due[r] += heard[r] + (blamed >> r & 1 ? share : 0);
        if (heard[r] > 0) {
            bcast_hw_watch_heard(w, r);
        } else {
            w->quiet[r] += share;
            if (w->quiet[r] >= BCAST_HW_WATCH_SUSPECT)
                w->suspects |= (uint8_t) (1u << r);
        }
    }
}

static uint32_t loss(struct bcast_hw_watch *w, uint32_t r)
{
    uint32_t sixteenths = 0;

    if (w->due[r] >= BCAST_HW_WATCH_WINDOW) {
        sixteenths = (uint32_t) (UINT64_C(16) * (w->due[r] - w->came[r]) / w->due[r]);
        w->due[r] /= 2;
        w->came[r] /= 2;
    }
    if (w->quiet[r] >= BCAST_HW_WATCH_SILENT)
        return BCAST_HW_LOSS_ALL;
    return sixteenths < BCAST_HW_LOSS_ALL ? sixteenths : BCAST_HW_LOSS_ALL - 1;
}

uint32_t bcast_hw_watch_losses(struct bcast_hw_watch *w, uint8_t rails)
{
    uint32_t losses = 0;

    FOR_EACH (r, rails)
        losses |= loss(w, r) << BCAST_HW_LOSS_BITS * r;
    return losses;
}

void bcast_hw_watch_forget(struct bcast_hw_watch *w, uint8_t rails)
{
    FOR_EACH (r, rails)
        w->due[r] = w->came[r] = w->quiet[r] = 0;
    w->suspects &= (uint8_t) ~rails;
}
