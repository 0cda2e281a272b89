/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * shape: the tree over the ranks of a host from any root, so that data enters a group
 * (shm/topo/levels) once: the first rank of each group, in the order of hwmc_shm_levels_order,
 * has its parent outside; all others have theirs in it.
 *
 * The first ranks of the largest groups form a tree, the root on top. Inside each group so do
 * those of the groups it consists of, its own first rank on top; and so on down to single ranks.
 * Each of these trees has the shape that was asked for, of degree k, over its m ranks by position
 * in the order:
 *
 *   knomial  What the paper calls a tree of degree k (Velamati et al. 2007, section 3.2): in each
 *            phase all that have the data serve k - 1 others each, ceil(log_k m) phases in all.
 *            Phases begin with the longest strides, so that those below a position follow it
 *            without a gap. k = 2 is binomial.
 *   kary     Position p serves k p + 1 to k p + k.
 *
 * Degree 1 is a chain, the paper's pipelined broadcast (section 3.3), with either: each rank
 * serves the next in the order, from group to group.
 *
 * A rank's children on upper levels come first, and on each level in the order of the phases: what
 * has most below it, and furthest away, begins first. A rank serves at most k (kary) or (k - 1)
 * ceil(log_k m) (knomial) others on each level on which it is the first of its group. Who collects
 * from them had better begin with the last, which has least below it.
 *
 * Example: groups {0 1 4} {2 3 5}, root 3. Order: 3 5 2 4 0 1.
 *   degree 1:           3 -> 5 -> 2 -> 4 -> 0 -> 1
 *   knomial, degree 2:  3 -> 4 2 5;  4 -> 1 0
 *   kary, degree 2:     3 -> 4 5 2;  4 -> 0 1
 */
#ifndef HWMC_SHM_TOPO_SHAPE_H_INCLUDED
#define HWMC_SHM_TOPO_SHAPE_H_INCLUDED

#include "levels.h"
#include "tree.h"

/* name, text */
#define HWMC_SHM_SHAPES(X)                                                                         \
    X(KNOMIAL, "knomial")                                                                          \
    X(KARY, "kary")

enum hwmc_shm_shape {
#define X(name, text) HWMC_SHM_SHAPE_##name,
    HWMC_SHM_SHAPES(X)
#undef X
        HWMC_SHM_SHAPE_NUM
};

/* The tree of this shape and degree, 1 or more, from `root`, as `rank` sees it. `children` has
 * room for n - 1, and is the caller's as long as it uses the tree. Takes time proportional to n:
 * for a root that comes again, keep the tree. */
struct hwmc_shm_tree hwmc_shm_shape_tree(const struct hwmc_shm_levels *levels,
                                         enum hwmc_shm_shape shape, uint32_t degree, uint32_t root,
                                         uint32_t rank, uint16_t *children);

const char *hwmc_shm_shape_text(enum hwmc_shm_shape shape);

#endif /* HWMC_SHM_TOPO_SHAPE_H_INCLUDED */
