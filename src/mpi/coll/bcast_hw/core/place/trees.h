/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * trees: t trees over the ranks of a communicator. The t parts of a message travel along them at
 * the same time, so that every rank sends about as much as it receives (Chiba, Endo, Matsuoka 2007,
 * section 3). The paper has two binary trees for 4n - 1 ranks; this is for any number of ranks and
 * t trees of degree t.
 *
 * The n ranks other than the root are divided into t groups: rank i of them is row i / t of group i
 * mod t. Tree r is a heap of degree t of group r's ranks, row by row; the root of the broadcast is
 * the parent of the first. The ranks of all other groups, in order, take the places that are left
 * in the heap: they are leaves. So a rank sends one part only, usually t times at most, and the
 * leaves of a group's heap feed the other groups. A group of g ranks has t * g places for n - 1
 * others. If that does not suffice (possible from t = 3 on), the group's last ranks take one more
 * each.
 *
 * Example, p = 8, t = 2: root 0; group 0 is 1 3 5 7, group 1 is 2 4 6.
 *   tree 0: 0 -> 1;  1 -> 3 5;  3 -> 7 2;  5 -> 4 6;  7 -> none
 *   tree 1: 0 -> 2;  2 -> 4 6;  4 -> 1 3;  6 -> 5 7
 * p = 11: group 0 is 1 3 5 7 9, group 1 is 2 4 6 8 10.
 *   tree 0: 0 -> 1;  1 -> 3 5;  3 -> 7 9;  5 -> 2 4;  7 -> 6 8;  9 -> 10
 *   tree 1: 0 -> 2;  2 -> 4 6;  4 -> 8 10;  6 -> 1 3;  8 -> 5 7;  10 -> 9
 * As the paper's p = 4n - 1 has it, the last rank of a heap has a place left: with several sites it
 * feeds the first rank of the same tree in the next site. The groups have t places left in all, but
 * where n is no multiple of t those of the first n mod t groups only: then their last ranks feed
 * the next site in the other trees too. Trees are built inside a site, so that a message goes once
 * from each site to the next, part by part.
 *
 * Cost: depth * l + M / b for a message of M bytes, l the latency, b the bandwidth of all rails of
 * a rank together; the depth is about log_t(n / t) + 1.
 *
 * Everything is arithmetic: no rank keeps a table of the others. kary.h says which trees are for
 * what.
 */
#ifndef HWMC_CORE_PLACE_TREES_H_INCLUDED
#define HWMC_CORE_PLACE_TREES_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "sites.h"

#define HWMC_TREES_MAX 8u

struct hwmc_trees {
    uint32_t size; /* ranks, 2 or more */
    uint32_t root;
    uint32_t t;                     /* 1 to HWMC_TREES_MAX */
    const struct hwmc_sites *sites; /* NULL: one site, all ranks in order */
};

/* An edge: from a rank to one of its children, which is its `slot`th. */
struct hwmc_edge {
    uint32_t rank; /* the one at the other end */
    uint32_t slot;
};

/* How many trees are of use: `wished`, at most one for each rank that receives. */
uint32_t hwmc_trees_count(uint32_t size, uint32_t wished);

/* Who sends part `tree` to `rank`, which is not the root. */
struct hwmc_edge hwmc_trees_parent(const struct hwmc_trees *t, uint32_t tree, uint32_t rank);

/* How many children `rank` has in `tree`, and the `slot`th of them. */
uint32_t hwmc_trees_children(const struct hwmc_trees *t, uint32_t tree, uint32_t rank);
uint32_t hwmc_trees_child(const struct hwmc_trees *t, uint32_t tree, uint32_t rank, uint32_t slot);

/* Both ranks are at the same site. */
bool hwmc_trees_near(const struct hwmc_trees *t, uint32_t a, uint32_t b);

#endif /* HWMC_CORE_PLACE_TREES_H_INCLUDED */
