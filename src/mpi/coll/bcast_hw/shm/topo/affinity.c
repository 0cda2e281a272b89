/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * affinity: see affinity.h.
 */
#include "affinity.h"

#include <assert.h>

#include "least.h"

#define WORDS (HWMC_SHM_PROCESSORS_MAX / 64)

#define CHUNK_MIN (4u << 10)
#define CHUNK_MAX (64u << 10)
#define L2_USUAL (256u << 10)

static_assert(sizeof(struct hwmc_shm_affinity) ==
                  HWMC_SHM_PART_NUM * 4 + 24 + HWMC_SHM_PROCESSORS_MAX / 8,
              "a place is gathered as bytes: no holes");

static uint32_t count_bits(const uint64_t *set)
{
    uint32_t n = 0;

    for (uint32_t w = 0; w < WORDS; w++)
        n += (uint32_t) __builtin_popcountll(set[w]);
    return n;
}

static bool is_inside(const uint64_t *set, const uint64_t *of)
{
    for (uint32_t w = 0; w < WORDS; w++)
        if ((set[w] & ~of[w]) != 0)
            return false;
    return true;
}

uint32_t hwmc_shm_processors(const struct hwmc_shm_affinity *places, uint32_t n)
{
    uint64_t all[WORDS] = {0};

    for (uint32_t r = 0; r < n; r++)
        for (uint32_t w = 0; w < WORDS; w++)
            all[w] |= places[r].processors[w];
    return count_bits(all);
}

bool hwmc_shm_crowded(const struct hwmc_shm_affinity *places, uint32_t n)
{
    if (n > hwmc_shm_processors(places, n))
        return true;
    for (uint32_t r = 0; r < n; r++) {
        uint32_t confined = 0;

        for (uint32_t q = 0; q < n; q++)
            confined += is_inside(places[q].processors, places[r].processors);
        if (confined > count_bits(places[r].processors))
            return true;
    }
    return false;
}

/* What a rank has of a cache of its part; one that can leave the part counts alone. */
static uint64_t cache_share(const struct hwmc_shm_affinity *places, uint32_t n, uint32_t rank,
                            enum hwmc_shm_part part, uint64_t bytes)
{
    const int32_t own = places[rank].part[part];
    uint32_t sharers = 0;

    for (uint32_t q = 0; q < n; q++)
        sharers += q == rank || (own >= 0 && places[q].part[part] == own);
    return bytes / sharers;
}

void hwmc_shm_caches_of(const struct hwmc_shm_affinity *places, uint32_t n,
                        struct hwmc_shm_caches *caches)
{
    *caches = (struct hwmc_shm_caches){0};
    for (uint32_t r = 0; r < n; r++) {
        const struct hwmc_shm_affinity *p = &places[r];

        if (p->line > caches->line)
            caches->line = p->line;
        caches->l2 =
            hwmc_shm_least(caches->l2, cache_share(places, n, r, HWMC_SHM_PART_CORE, p->l2));
        caches->llc =
            hwmc_shm_least(caches->llc, cache_share(places, n, r, HWMC_SHM_PART_CACHE, p->llc));
    }
}

uint32_t hwmc_shm_chunk(const struct hwmc_shm_caches *caches)
{
    const uint64_t l2 = caches->l2 != 0 ? caches->l2 : L2_USUAL;
    const uint64_t llc = caches->llc != 0 ? caches->llc : UINT64_MAX;
    uint64_t all = CHUNK_MIN * HWMC_SHM_BUFFERS;

    while (all < CHUNK_MAX * HWMC_SHM_BUFFERS && 2 * all <= l2 && 2 * all <= llc / 2)
        all *= 2;
    return (uint32_t) (all / HWMC_SHM_BUFFERS);
}

uint64_t hwmc_shm_nontemporal_min(const struct hwmc_shm_caches *caches)
{
    return caches->llc != 0 ? caches->llc / 2 : UINT64_MAX;
}

const char *hwmc_shm_part_text(enum hwmc_shm_part part)
{
    static const char *const texts[] = {
#define X(name, text) text,
        HWMC_SHM_VECTOR(X)
#undef X
    };

    assert(part < HWMC_SHM_PART_NUM);
    return texts[part];
}
