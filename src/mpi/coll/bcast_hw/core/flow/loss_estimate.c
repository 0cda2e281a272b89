/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * loss_estimate: see loss_estimate.h.
 */
#include "loss_estimate.h"

#include "../base/mask.h"

/* The rails that brought too little, and *share: how many fragments each of them is short of. */
static uint8_t blamed_rails(const struct hwmc_loss_estimate_cast *cast, uint32_t *share)
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

void hwmc_loss_estimate_here(struct hwmc_loss_estimate *w,
                             const struct hwmc_loss_estimate_cast *cast)
{
    uint32_t share;
    uint8_t rails = blamed_rails(cast, &share);

    FOR_EACH (r, rails) {
        w->quiet[r] += cast->heard[r] == 0 ? share : 0;
        if (w->quiet[r] >= HWMC_LOSS_ESTIMATE_SUSPECT)
            w->suspects |= (uint8_t) (1u << r);
    }
}

void hwmc_loss_estimate_over(struct hwmc_loss_estimate *w,
                             const struct hwmc_loss_estimate_cast *cast)
{
    uint32_t share;
    uint8_t rails = blamed_rails(cast, &share);

    FOR_EACH (r, cast->rails & (uint8_t) ~cast->excused) {
        w->came[r] += cast->heard[r];
        w->due[r] += cast->heard[r] + (rails >> r & 1 ? share : 0);
        w->silent[r] += !(cast->later >> r & 1);
    }
}

/* Of the last window. What is too much must be so for some: a receiver that was not there for a
 * moment loses much. */
static uint32_t window_loss(struct hwmc_loss_estimate *w, uint32_t r)
{
    uint32_t sixteenths = w->lost[r];

    if (w->due[r] >= HWMC_LOSS_ESTIMATE_WINDOW) {
        sixteenths = (uint32_t) (UINT64_C(16) * (w->due[r] - w->came[r]) / w->due[r]);
        w->lost[r] = (uint8_t) sixteenths;
        w->lossy[r] = sixteenths > HWMC_LOSSY ? w->lossy[r] + 1 : 0;
        w->due[r] = w->came[r] = 0;
    }
    if (w->silent[r] >= HWMC_LOSS_ESTIMATE_SILENT)
        return HWMC_LOSS_ALL;
    if (sixteenths > HWMC_LOSSY && w->lossy[r] < HWMC_LOSS_ESTIMATE_WINDOWS)
        return HWMC_LOSSY;
    return sixteenths < HWMC_LOSS_ALL ? sixteenths : HWMC_LOSS_ALL - 1;
}

uint32_t hwmc_loss_estimate_losses(struct hwmc_loss_estimate *w, uint8_t rails)
{
    uint32_t losses = 0;

    FOR_EACH (r, rails)
        losses |= window_loss(w, r) << HWMC_LOSS_BITS * r;
    return losses;
}

void hwmc_loss_estimate_forget(struct hwmc_loss_estimate *w, uint8_t rails)
{
    FOR_EACH (r, rails) {
        w->quiet[r] = w->silent[r] = w->due[r] = w->came[r] = 0;
        w->lost[r] = w->lossy[r] = 0;
    }
    w->suspects &= (uint8_t) ~rails;
}
