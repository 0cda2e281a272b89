/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * sites: which site each rank of a communicator is at. Sites are networks that are far from each
 * other (Chiba, Endo, Matsuoka 2007, section 3.3), numbered in the order of their lowest ranks.
 */
#ifndef HWMC_CORE_PLACE_SITES_H_INCLUDED
#define HWMC_CORE_PLACE_SITES_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

struct hwmc_sites {
    uint32_t n;            /* sites, 1 or more */
    const uint32_t *first; /* n + 1: where in `ranks` each site's begin */
    const uint32_t *ranks; /* all ranks, site by site */
    const uint32_t *at;    /* of each rank: its index in `ranks` */
};

/* Words of memory that `size` ranks need. */
static inline size_t hwmc_sites_words(uint32_t size)
{
    return 3 * (size_t) size + 1;
}

/* `name[r]`: of rank r's site, any number that its ranks share. `memory`:
 * hwmc_sites_words(size), the caller's as long as it uses the sites. */
void hwmc_sites_init(struct hwmc_sites *s, uint32_t size, const uint64_t *name, uint32_t *memory);

/* Where a rank is. */
uint32_t hwmc_sites_of(const struct hwmc_sites *s, uint32_t rank);

#endif /* HWMC_CORE_PLACE_SITES_H_INCLUDED */
