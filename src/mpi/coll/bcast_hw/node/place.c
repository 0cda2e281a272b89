/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * place: see place.h.
 */
#include "place.h"

#include <assert.h>

#include "least.h"

#define WORDS (BCAST_HW_NODE_PROCESSORS_MAX / 64)

#define CHUNK_MIN (4u << 10)
#define CHUNK_MAX (64u << 10)
#define L2_USUAL (256u << 10)

static_assert(sizeof(struct bcast_hw_node_place) ==
                  BCAST_HW_NODE_PART_NUM * 4 + 24 + BCAST_HW_NODE_PROCESSORS_MAX / 8,
              "a place is gathered as bytes: no holes");

static uint32_t count(const uint64_t *set)
{
    uint32_t n = 0;

    for (uint32_t w = 0; w < WORDS; w++)
        n += (uint32_t) __builtin_popcountll(set[w]);
    return n;
}

static bool inside(const uint64_t *set, const uint64_t *of)
{
    for (uint32_t w = 0; w < WORDS; w++)
        if ((set[w] & ~of[w]) != 0)
            return false;
    return true;
}

uint32_t bcast_hw_node_processors(const struct bcast_hw_node_place *places, uint32_t n)
{
    uint64_t all[WORDS] = {0};

    for (uint32_t r = 0; r < n; r++)
        for (uint32_t w = 0; w < WORDS; w++)
            all[w] |= places[r].processors[w];
    return count(all);
}

bool bcast_hw_node_crowded(const struct bcast_hw_node_place *places, uint32_t n)
{
    if (n > bcast_hw_node_processors(places, n))
        return true;
    for (uint32_t r = 0; r < n; r++) {
        uint32_t confined = 0;

        for (uint32_t q = 0; q < n; q++)
            confined += inside(places[q].processors, places[r].processors);
        if (confined > count(places[r].processors))
            return true;
    }
    return false;
}

/* What a rank has of a cache of its part; one that can leave the part counts alone. */
static uint64_t share(const struct bcast_hw_node_place *places, uint32_t n, uint32_t rank,
                      enum bcast_hw_node_part part, uint64_t bytes)
{
    const int32_t own = places[rank].part[part];
    uint32_t sharers = 0;

    for (uint32_t q = 0; q < n; q++)
        sharers += q == rank || (own >= 0 && places[q].part[part] == own);
    return bytes / sharers;
}

void bcast_hw_node_caches_of(const struct bcast_hw_node_place *places, uint32_t n,
                             struct bcast_hw_node_caches *caches)
{
    *caches = (struct bcast_hw_node_caches){0};
    for (uint32_t r = 0; r < n; r++) {
        const struct bcast_hw_node_place *p = &places[r];

        if (p->line > caches->line)
            caches->line = p->line;
        caches->l2 =
            bcast_hw_node_least(caches->l2, share(places, n, r, BCAST_HW_NODE_PART_CORE, p->l2));
        caches->llc =
            bcast_hw_node_least(caches->llc, share(places, n, r, BCAST_HW_NODE_PART_CACHE, p->llc));
    }
}

uint32_t bcast_hw_node_chunk(const struct bcast_hw_node_caches *caches)
{
    const uint64_t l2 = caches->l2 != 0 ? caches->l2 : L2_USUAL;
    const uint64_t llc = caches->llc != 0 ? caches->llc : UINT64_MAX;
    uint64_t all = CHUNK_MIN * BCAST_HW_NODE_BUFFERS;

    while (all < CHUNK_MAX * BCAST_HW_NODE_BUFFERS && 2 * all <= l2 && 2 * all <= llc / 2)
        all *= 2;
    return (uint32_t) (all / BCAST_HW_NODE_BUFFERS);
}

uint64_t bcast_hw_node_stream_min(const struct bcast_hw_node_caches *caches)
{
    return caches->llc != 0 ? caches->llc / 2 : UINT64_MAX;
}

const char *bcast_hw_node_part_text(enum bcast_hw_node_part part)
{
    static const char *const texts[] = {
#define X(name, text) text,
        BCAST_HW_NODE_PARTS(X)
#undef X
    };

    assert(part < BCAST_HW_NODE_PART_NUM);
    return texts[part];
}
