/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * watch: see watch.h.
 */
#include "watch.h"

#include "mask.h"

/* The rails that brought too little, and *share: how many fragments each of them is short of. */
static uint8_t blamed(const struct bcast_hw_watch_cast *cast, uint32_t *share)
{
    uint32_t came = 0, missing, n;
    uint8_t dumb = 0, rails;

    FOR_EACH (r, cast->rails) {
        came += cast->heard[r];
        dumb |= cast->heard[r] == 0 ? (uint8_t) (1u << r) : 0;
    }
    rails = dumb ? dumb : cast->rails;
    n = (uint32_t) __builtin_popcount(rails);
    missing = came < cast->frags ? cast->frags - came : 0;
    *share = n > 0 ? (missing + n - 1) / n : 0;
    return rails;
}

void bcast_hw_watch_here(struct bcast_hw_watch *w, const struct bcast_hw_watch_cast *cast)
{
    uint32_t share;
    uint8_t rails = blamed(cast, &share);

    FOR_EACH (r, rails) {
        w->quiet[r] += cast->heard[r] == 0 ? share : 0;
        if (w->quiet[r] >= BCAST_HW_WATCH_SUSPECT)
            w->suspects |= (uint8_t) (1u << r);
    }
}

void bcast_hw_watch_over(struct bcast_hw_watch *w, const struct bcast_hw_watch_cast *cast)
{
    uint32_t share;
    uint8_t rails = blamed(cast, &share);

    FOR_EACH (r, cast->rails) {
        w->came[r] += cast->heard[r];
        w->due[r] += cast->heard[r] + (rails >> r & 1 ? share : 0);
        w->silent[r] += !(cast->later >> r & 1);
    }
}

/* Of the last window. What is too much must be so for some: a receiver that was not there for a
 * moment loses much. */
static uint32_t loss(struct bcast_hw_watch *w, uint32_t r)
{
    uint32_t sixteenths = w->lost[r];

    if (w->due[r] >= BCAST_HW_WATCH_WINDOW) {
        sixteenths = (uint32_t) (UINT64_C(16) * (w->due[r] - w->came[r]) / w->due[r]);
        w->lost[r] = (uint8_t) sixteenths;
        w->lossy[r] = sixteenths > BCAST_HW_LOSSY ? w->lossy[r] + 1 : 0;
        w->due[r] = w->came[r] = 0;
    }
    if (w->silent[r] >= BCAST_HW_WATCH_SILENT)
        return BCAST_HW_LOSS_ALL;
    if (sixteenths > BCAST_HW_LOSSY && w->lossy[r] < BCAST_HW_WATCH_WINDOWS)
        return BCAST_HW_LOSSY;
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
    FOR_EACH (r, rails) {
        w->quiet[r] = w->silent[r] = w->due[r] = w->came[r] = 0;
        w->lost[r] = w->lossy[r] = 0;
    }
    w->suspects &= (uint8_t) ~rails;
}
