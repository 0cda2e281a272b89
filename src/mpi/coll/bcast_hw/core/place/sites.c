/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * sites: see sites.h.
 */
#include "sites.h"

#include <stdbool.h>

/* Whether the ranks of this name are placed. */
static bool placed_before(const struct hwmc_sites *s, const uint64_t *name, uint64_t one)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (name[s->ranks[s->first[i]]] == one)
            return true;
    return false;
}

void hwmc_sites_init(struct hwmc_sites *s, uint32_t size, const uint64_t *name, uint32_t *memory)
{
    uint32_t *ranks = memory, *at = ranks + size, *first = at + size;
    uint32_t placed = 0;

    *s = (struct hwmc_sites){.first = first, .ranks = ranks, .at = at};
    first[0] = 0;
    for (uint32_t lowest = 0; placed < size; lowest++) {
        if (placed_before(s, name, name[lowest]))
            continue;
        for (uint32_t r = lowest; r < size; r++)
            if (name[r] == name[lowest]) {
                at[r] = placed;
                ranks[placed++] = r;
            }
        first[++s->n] = placed;
    }
}

uint32_t hwmc_sites_of(const struct hwmc_sites *s, uint32_t rank)
{
    uint32_t low = 0, high = s->n;

    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;

        if (s->at[rank] < s->first[mid])
            high = mid;
        else
            low = mid;
    }
    return low;
}
