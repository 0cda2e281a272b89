/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * levels: the ranks of a host in groups within groups, by which parts of it they share. What the
 * Cell's blade had in one step, two chips (Velamati et al. 2007, section 3.2), has several now: a
 * core, a cache, a memory, a socket. Each level puts every rank into one group, and a group of a
 * level is made of whole groups of the level below. Levels that tell nothing are left out: those
 * where every rank is alone, where all are together, or that are like the one below. With no level
 * left, all ranks are alike.
 *
 * A rank that can leave a part, as it is bound to more or not bound, is alone on that part's
 * level. Which kind of part is inside which differs from host to host (a socket may have several
 * memories, a memory several sockets); the level of more groups is the lower one. Should they
 * overlap, as on no host that hwloc describes, the groups of the upper level that share a group of
 * the lower one are one.
 *
 * Example: two sockets, each with two caches of two cores; ranks 0 to 4 on processors 0 1 2 4 5:
 *   level 0, cache:    {0 1} {2} {3 4}
 *   level 1, package:  {0 1 2} {3 4}
 */
#ifndef HWMC_SHM_TOPO_LEVELS_H_INCLUDED
#define HWMC_SHM_TOPO_LEVELS_H_INCLUDED

#include "affinity.h"

struct hwmc_shm_levels {
    uint16_t n;   /* ranks, 1 to HWMC_SHM_RANKS_MAX */
    uint16_t num; /* levels, 0 to HWMC_SHM_PART_NUM; level 0 has the smallest groups */
    enum hwmc_shm_part kind[HWMC_SHM_PART_NUM]; /* of each level */

    /* The group of each rank on each level, by its lowest rank: lowest[l][r] <= r, and
     * lowest[l][q] == lowest[l][r] implies the same for l + 1. */
    uint16_t lowest[HWMC_SHM_PART_NUM][HWMC_SHM_RANKS_MAX];
};

/* From the places of `n` ranks. The same on all ranks, as it depends on those alone. */
void hwmc_shm_levels_init(struct hwmc_shm_levels *levels, const struct hwmc_shm_affinity *places,
                          uint32_t n);

/* None: `n` ranks that are all alike. */
void hwmc_shm_levels_flat(struct hwmc_shm_levels *levels, uint32_t n);

/* All n ranks in an order with every group in one piece: that of their numbers, cyclically from
 * `first`, but a group comes where its first rank would, and so within it. So `first` is the first
 * rank of every group that it is in. For the example and 3: 3 4 0 1 2. */
void hwmc_shm_levels_order(const struct hwmc_shm_levels *levels, uint32_t first, uint16_t *order);

/* Asserts what is said above. */
void hwmc_shm_levels_check(const struct hwmc_shm_levels *levels);

#endif /* HWMC_SHM_TOPO_LEVELS_H_INCLUDED */
