/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spare: see spare.h.
 */
#include "spare.h"

#define SILENT_MAX 6u

uint32_t hwmc_spare_offer(struct hwmc_spare *s, uint32_t rails)
{
    for (uint32_t i = 0; i < HWMC_RAIL_BITS; i++)
        if ((rails >> i & 1) && s->left[i] > 0) {
            s->left[i]--;
            rails &= ~(UINT32_C(1) << i);
        }
    return rails;
}

void hwmc_spare_on_outcome(struct hwmc_spare *s, uint32_t came, uint32_t missed)
{
    for (uint32_t i = 0; i < HWMC_RAIL_BITS; i++)
        if (came >> i & 1) {
            s->silent[i] = s->left[i] = 0;
        } else if (missed >> i & 1) {
            s->left[i] = (uint8_t) (1u << s->silent[i]);
            s->silent[i] = (uint8_t) (s->silent[i] + (s->silent[i] < SILENT_MAX));
        }
}
