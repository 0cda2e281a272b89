/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * kary: the two shapes of a communicator's ranks. The ring carries repairs (Hoefler, Siebert, Rehm
 * 2007, section 2.2). The k-ary tree, rooted at rank 0 and in rank order, carries set-up and
 * synchronization (Yu et al. 2005, section 4.3). Example, k = 2, p = 6: 0 -> 1 2, 1 -> 3 4, 2 -> 5.
 *
 * Ranks stand in four kinds of shapes:
 *
 *   kary, ring   core/place/kary.h: repair by neighbours. Everybody serves one other at most.
 *   kary, tree   core/place/kary.h: small messages of set-up and synchronization. One tree, from
 *                rank 0, the same for all broadcasts, so that its state can be kept at its nodes.
 *   trees        core/place/trees.h: the bytes of a broadcast where there is no multicast. Several
 *                trees at a time, from any root, each rank an inner node of one only, so that all
 *                send as much as they receive; by sites.
 *   shape        shm/topo/shape.h: ranks of one host, in shared memory, from any root. One tree,
 *                knomial or k-ary within each of the groups of shm/topo/levels.h, so that data
 *                crosses into each cache and socket once.
 *
 * core/place/leaders.h and sites.h say which ranks these are. The trees and shapes of the last two
 * can be heaps as the tree here is, but of positions in groups of their own: they have one line in
 * common with it.
 */
#ifndef HWMC_CORE_PLACE_KARY_H_INCLUDED
#define HWMC_CORE_PLACE_KARY_H_INCLUDED

#include <stdint.h>

#define HWMC_FANOUT_MAX 16u

static inline uint32_t hwmc_ring_next(uint32_t rank, uint32_t size)
{
    return rank + 1 == size ? 0 : rank + 1;
}

static inline uint32_t hwmc_ring_prev(uint32_t rank, uint32_t size)
{
    return rank == 0 ? size - 1 : rank - 1;
}

/* Rank 0 has no parent; do not ask for it. */
static inline uint32_t hwmc_tree_parent(uint32_t rank, uint32_t fanout)
{
    return (rank - 1) / fanout;
}

static inline uint64_t hwmc_tree_child(uint32_t rank, uint32_t i, uint32_t fanout)
{
    return (uint64_t) rank * fanout + 1 + i;
}

/* How many children `rank` has: 0 to fanout. */
static inline uint32_t hwmc_tree_children(uint32_t rank, uint32_t size, uint32_t fanout)
{
    uint64_t first = hwmc_tree_child(rank, 0, fanout);

    if (first >= size)
        return 0;
    return size - first < fanout ? (uint32_t) (size - first) : fanout;
}

/* All of them, a bit each: the first is bit 0. */
static inline uint16_t hwmc_tree_all_children(uint32_t rank, uint32_t size, uint32_t fanout)
{
    return (uint16_t) ((1u << hwmc_tree_children(rank, size, fanout)) - 1);
}

/* Which child of `rank` `peer` is, or the fanout if it is none. */
static inline uint32_t hwmc_tree_child_number(uint32_t rank, uint32_t peer, uint32_t size,
                                              uint32_t fanout)
{
    if (peer == 0 || peer >= size || hwmc_tree_parent(peer, fanout) != rank)
        return fanout;
    return peer - (uint32_t) hwmc_tree_child(rank, 0, fanout);
}

/* Takes the first of `children`, which has a bit: the rank of that child. */
static inline uint32_t hwmc_tree_take_child(uint32_t rank, uint16_t *children, uint32_t fanout)
{
    uint32_t i = (uint32_t) __builtin_ctz(*children);

    *children &= (uint16_t) (*children - 1);
    return (uint32_t) hwmc_tree_child(rank, i, fanout);
}

#endif /* HWMC_CORE_PLACE_KARY_H_INCLUDED */
