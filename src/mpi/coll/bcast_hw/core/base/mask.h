/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * mask: sets of rails, a bit each.
 */
#ifndef HWMC_CORE_BASE_MASK_H_INCLUDED
#define HWMC_CORE_BASE_MASK_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

/* Takes the lowest bit of a mask: false when there is none. */
static inline bool hwmc_mask_next(uint32_t *mask, uint32_t *bit)
{
    if (*mask == 0)
        return false;
    *bit = (uint32_t) __builtin_ctz(*mask);
    *mask &= *mask - 1;
    return true;
}

/* For each number `r` of which `of` has the bit, upwards. */
#define FOR_EACH(r, of) for (uint32_t r##_left = (of), r; hwmc_mask_next(&r##_left, &r);)

#endif /* HWMC_CORE_BASE_MASK_H_INCLUDED */
