/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * shape: see shape.h. Every group is an interval of the order. A scope is one of these, a group of
 * some level or all ranks, and its members are the first ranks of the groups one level below in
 * it.
 */
#include "shape.h"

#include <assert.h>

struct scope {
    uint32_t m;                          /* members, 1 or more */
    uint32_t own;                        /* which of them has the rank in question in its group */
    uint16_t member[HWMC_SHM_RANKS_MAX]; /* in order */
};

/* The group of a rank on a level; below the lowest: the rank itself; above the uppermost all are
 * one. */
static uint32_t group_of(const struct hwmc_shm_levels *levels, int level, uint32_t rank)
{
    if (level < 0)
        return rank;
    return level < levels->num ? levels->lowest[level][rank] : 0;
}

/* The scope of this level with `rank` in it. */
static void scope_init(struct scope *s, const struct hwmc_shm_levels *levels, int level,
                       const uint16_t *order, uint32_t rank)
{
    const uint32_t own = group_of(levels, level, rank), below = group_of(levels, level - 1, rank);
    uint32_t last = UINT32_MAX;

    s->m = s->own = 0;
    for (uint32_t i = 0; i < levels->n; i++) {
        const uint32_t group = group_of(levels, level - 1, order[i]);

        if (group_of(levels, level, order[i]) != own || group == last)
            continue;
        if (group == below)
            s->own = s->m;
        s->member[s->m++] = order[i];
        last = group;
    }
}

/* The position that serves position p > 0. In knomial that is p without its lowest digit, to the
 * base of k, that is not 0. */
static uint32_t parent_of(enum hwmc_shm_shape shape, uint32_t degree, uint32_t p)
{
    uint32_t stride = 1;

    if (shape == HWMC_SHM_SHAPE_KARY)
        return (p - 1) / degree;
    while (p / stride % degree == 0)
        stride *= degree;
    return p - p / stride % degree * stride;
}

/* The children of position p among m, in the order of phases; returns how many. */
static uint32_t children_of(enum hwmc_shm_shape shape, uint32_t degree, uint32_t m, uint32_t p,
                            uint16_t *children)
{
    uint32_t num = 0, stride = 1;

    if (shape == HWMC_SHM_SHAPE_KARY) {
        for (uint32_t c = degree * p + 1; c < m && num < degree; c++)
            children[num++] = (uint16_t) c;
        return num;
    }
    while (stride < m && p / stride % degree == 0)
        stride *= degree;
    while ((stride /= degree) > 0)
        for (uint32_t c = p + stride; c < m && c < p + stride * degree; c += stride)
            children[num++] = (uint16_t) c;
    return num;
}

static void chain_ranks(struct hwmc_shm_tree *tree, const uint16_t *order, uint32_t n,
                        uint32_t rank, uint16_t *children)
{
    uint32_t i = 0;

    while (order[i] != rank)
        i++;
    if (i > 0)
        tree->parent = order[i - 1];
    if (i + 1 < n)
        children[tree->num_children++] = order[i + 1];
}

/* Adds its place in one scope, if it is a member. It is one on the levels up to one where it is
 * not the first: there it is served. */
static void add_scope(struct hwmc_shm_tree *tree, const struct scope *s, enum hwmc_shm_shape shape,
                      uint32_t degree, uint32_t rank, uint16_t *children)
{
    uint16_t *added = children + tree->num_children;
    uint32_t num;

    if (s->member[s->own] != rank)
        return;
    if (s->own > 0)
        tree->parent = s->member[parent_of(shape, degree, s->own)];
    num = children_of(shape, degree, s->m, s->own, added);
    for (uint32_t i = 0; i < num; i++)
        added[i] = s->member[added[i]];
    tree->num_children += (uint16_t) num;
}

struct hwmc_shm_tree hwmc_shm_shape_tree(const struct hwmc_shm_levels *levels,
                                         enum hwmc_shm_shape shape, uint32_t degree, uint32_t root,
                                         uint32_t rank, uint16_t *children)
{
    struct hwmc_shm_tree tree = {.parent = (uint16_t) rank, .children = children};
    uint16_t order[HWMC_SHM_RANKS_MAX];
    struct scope s;

    assert(rank < levels->n && degree >= 1 && shape < HWMC_SHM_SHAPE_NUM);
    hwmc_shm_levels_order(levels, root, order);
    /* With more than n it is the same tree. */
    if (degree > levels->n)
        degree = levels->n;
    if (degree == 1) {
        chain_ranks(&tree, order, levels->n, rank, children);
        return tree;
    }
    for (int level = levels->num; level >= 0; level--) {
        scope_init(&s, levels, level, order, rank);
        add_scope(&tree, &s, shape, degree, rank, children);
    }
    return tree;
}

const char *hwmc_shm_shape_text(enum hwmc_shm_shape shape)
{
    static const char *const texts[] = {
#define X(name, text) text,
        HWMC_SHM_SHAPES(X)
#undef X
    };

    assert(shape < HWMC_SHM_SHAPE_NUM);
    return texts[shape];
}
