/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * combine: what one rank combines along a tree, part by part: its own operand, then those of its
 * children, one child after the other. So the order is the tree's and not that of arrival, and a
 * result is the same from run to run, bit by bit. A part of a child is combined once the children
 * before it have theirs in, so parts flow: child 1 may be at part 3 while child 2 is at part 0.
 *
 * Example, two children, parts 0 and 1 of child 2 are here, none of child 1: nothing. Part 0 of
 * child 1 comes: (1, 0), then (2, 0); then part 0 of the result is ready for the parent.
 *
 * Invariants: own >= done[0] >= done[1] >= ... ; what is ready is done by the last child.
 *
 * The payload stays outside: hwmc_combine_can names what the caller may combine.
 */
#ifndef HWMC_CORE_EXCHANGE_COMBINE_H_INCLUDED
#define HWMC_CORE_EXCHANGE_COMBINE_H_INCLUDED

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define HWMC_COMBINE_CHILDREN 32u

struct hwmc_combine {
    uint32_t children;
    uint32_t own;                         /* the parts below are here, of this rank */
    uint32_t done[HWMC_COMBINE_CHILDREN]; /* the parts below of each child are combined */
};

static inline void hwmc_combine_init(struct hwmc_combine *c, uint32_t children)
{
    assert(children <= HWMC_COMBINE_CHILDREN);
    memset(c, 0, sizeof(*c));
    c->children = children;
}

/* How many parts wait for child `i`: those of the children before it are in. */
static inline uint32_t hwmc_combine_before(const struct hwmc_combine *c, uint32_t i)
{
    return i == 0 ? c->own : c->done[i - 1];
}

/* Part c->done[i] of child `i` can be combined. The child's parts below `here` have come. Whoever
 * combines it counts c->done[i] up. */
static inline bool hwmc_combine_can(const struct hwmc_combine *c, uint32_t i, uint32_t here)
{
    return c->done[i] < here && c->done[i] < hwmc_combine_before(c, i);
}

/* The parts below have all operands in. */
static inline uint32_t hwmc_combine_ready(const struct hwmc_combine *c)
{
    return hwmc_combine_before(c, c->children);
}

static inline void hwmc_combine_check(const struct hwmc_combine *c)
{
    for (uint32_t i = 0; i < c->children; i++)
        assert(c->done[i] <= hwmc_combine_before(c, i));
    (void) c;
}

#endif /* HWMC_CORE_EXCHANGE_COMBINE_H_INCLUDED */
