/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * affinity: where a rank of this host runs, as integers. Each rank makes its own (shm/topo/topo),
 * the caller gathers them, byte for byte, and pure functions here and in shm/topo/levels derive the
 * rest, so that all ranks decide alike.
 */
#ifndef HWMC_SHM_TOPO_AFFINITY_H_INCLUDED
#define HWMC_SHM_TOPO_AFFINITY_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "ranks.h"

#define HWMC_SHM_PROCESSORS_MAX 1024u

/* Parts of a host whose ranks are near to each other; smaller ones first on most hosts.
 * name, text */
#define HWMC_SHM_VECTOR(X)                                                                         \
    X(CORE, "core")       /* what shares a second-level cache; without one, a core */              \
    X(CACHE, "cache")     /* the last-level cache */                                               \
    X(NUMA, "numa")       /* memory */                                                             \
    X(PACKAGE, "package") /* a socket */

enum hwmc_shm_part {
#define X(name, text) HWMC_SHM_PART_##name,
    HWMC_SHM_VECTOR(X)
#undef X
        HWMC_SHM_PART_NUM
};

/* All zeros but part[], which is all -1: nothing is known. A processor is what the system
 * schedules on: of a core with two hardware threads there are two. */
struct hwmc_shm_affinity {
    int32_t part[HWMC_SHM_PART_NUM]; /* the one that it cannot leave, by its lowest processor;
                                           * -1: it can leave it, or the host has none */
    uint64_t line;                   /* bytes of a cache line; 0: unknown */
    uint64_t l2;                     /* bytes of its second-level cache; 0: unknown */
    uint64_t llc;                    /* of its last-level cache; the same one where there are
                                           * two levels; 0: unknown */
    uint64_t processors[HWMC_SHM_PROCESSORS_MAX / 64]; /* that it may run on: number p is bit
                                                             * p mod 64 of word p / 64 */
};

/* What a rank can count on if those in the same part use its cache as well: the least over all
 * ranks. */
struct hwmc_shm_caches {
    uint64_t line; /* bytes, the longest; 0: unknown */
    uint64_t l2;   /* bytes; 0: unknown */
    uint64_t llc;  /* likewise */
};

/* `n` ranks, 1 to HWMC_SHM_RANKS_MAX, in all of these. */

/* Processors that any of them may run on; 0: unknown. */
uint32_t hwmc_shm_processors(const struct hwmc_shm_affinity *places, uint32_t n);

/* Some must share a processor, so that a rank that waits had better yield: more ranks than
 * processors, in all or of those confined to one rank's. True where nothing is known. */
bool hwmc_shm_crowded(const struct hwmc_shm_affinity *places, uint32_t n);

void hwmc_shm_caches_of(const struct hwmc_shm_affinity *places, uint32_t n,
                        struct hwmc_shm_caches *caches);

#define HWMC_SHM_BUFFERS 16u /* of a rank: so many chunks it may be ahead */

/* Bytes of a chunk, a power of two: a rank's BUFFERS of them are as large as its second-level
 * cache, so that it comes back to a buffer when the cache has given up what it had of it, and a
 * reader finds all in the last level; all ranks' fill half of that at most. 4 KiB at least, which
 * was enough on the Cell (Velamati et al. 2007, section 3.1) and is a page on most hosts; 64 KiB at
 * most, beyond which the pipeline only takes longer to fill. Unknown: 16 KiB, as for a second level
 * of 256 KiB. */
uint32_t hwmc_shm_chunk(const struct hwmc_shm_caches *caches);

/* Bytes from which on a message is written past the caches (shm/copy/nontemporal.h): with what else
 * is in use, half of the last-level cache that a rank can count on would not keep it for whoever
 * reads it next. Unknown: UINT64_MAX. */
uint64_t hwmc_shm_nontemporal_min(const struct hwmc_shm_caches *caches);

const char *hwmc_shm_part_text(enum hwmc_shm_part part);

#endif /* HWMC_SHM_TOPO_AFFINITY_H_INCLUDED */
