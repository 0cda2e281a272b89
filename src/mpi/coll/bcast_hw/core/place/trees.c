/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * trees: see trees.h. Two ways to name the ranks of a site that receive: by index, 0 to n - 1, in
 * the order of the site, beginning after the root where it is in it; and, for each tree, by place:
 * those of the tree's own group first, in heap order.
 */
#include "trees.h"

#include <assert.h>
#include <stddef.h>

/* One tree in one site. */
struct tree {
    uint32_t n; /* ranks that receive */
    uint32_t t; /* degree, and how many trees there are */
    uint32_t r; /* which of them this is */
    uint32_t g; /* places that send */
};

static struct tree tree_of(uint32_t n, uint32_t t, uint32_t r)
{
    struct tree tree = {.n = n, .t = t, .r = r};

    /* Fewer ranks than trees: each serves in several, in a different order in each. */
    tree.g = n < t ? n : n / t + (r < n % t);
    return tree;
}

static uint32_t index_at(const struct tree *e, uint32_t place)
{
    uint32_t rest = place - e->g, others = e->t - 1, rows = e->n / e->t, column;

    if (e->n < e->t)
        return (e->r + place) % e->n;
    if (place < e->g)
        return place * e->t + e->r;
    column = rest < rows * others ? rest % others : rest - rows * others;
    return (rest < rows * others ? rest / others : rows) * e->t + column + (column >= e->r);
}

static uint32_t place_of(const struct tree *e, uint32_t index)
{
    uint32_t row = index / e->t, column = index % e->t;

    if (e->n < e->t)
        return (index + e->n - e->r % e->n) % e->n;
    if (column == e->r)
        return row;
    return e->g + row * (e->t - 1) + column - (column > e->r);
}

/* Places that find none in the heap go to its last ones, one after the other. */
static uint32_t parent_place(const struct tree *e, uint32_t place)
{
    uint32_t up = (place - 1) / e->t;

    return up < e->g ? up : e->g - 1 - (place - 1 - e->t * e->g) % e->g;
}

static uint32_t slot_of(const struct tree *e, uint32_t place)
{
    uint32_t up = (place - 1) / e->t;

    return up < e->g ? (place - 1) % e->t : e->t + (place - 1 - e->t * e->g) / e->g;
}

static uint32_t child_place(const struct tree *e, uint32_t place, uint32_t slot)
{
    if (slot < e->t)
        return place * e->t + 1 + slot;
    return e->t * e->g + (slot - e->t) * e->g + e->g - 1 - place + 1;
}

static uint32_t children_at(const struct tree *e, uint32_t place)
{
    uint32_t num = 0;

    if (place >= e->g)
        return 0;
    while (child_place(e, place, num) < e->n)
        num++;
    return num;
}

/* Sites, in the order in which a message goes through them: the root's first. */

static uint32_t num_sites(const struct hwmc_trees *t)
{
    return t->sites ? t->sites->n : 1;
}

static uint32_t site_size(const struct hwmc_trees *t, uint32_t site)
{
    return t->sites ? t->sites->first[site + 1] - t->sites->first[site] : t->size;
}

static uint32_t site_of(const struct hwmc_trees *t, uint32_t rank)
{
    return t->sites ? hwmc_sites_of(t->sites, rank) : 0;
}

static struct tree tree_in(const struct hwmc_trees *t, uint32_t site, uint32_t r)
{
    return tree_of(site_size(t, site) - (site == site_of(t, t->root)), t->t, r);
}

/* Where in its site a rank stands, and who stands there. */
static uint32_t place_in_site(const struct hwmc_trees *t, uint32_t site, uint32_t rank)
{
    return t->sites ? t->sites->at[rank] - t->sites->first[site] : rank;
}

static uint32_t rank_at(const struct hwmc_trees *t, uint32_t site, uint32_t stand)
{
    return t->sites ? t->sites->ranks[t->sites->first[site] + stand] : stand;
}

/* The root's site counts from the root on, without it. */
static uint32_t index_of(const struct hwmc_trees *t, uint32_t site, uint32_t rank)
{
    uint32_t size = site_size(t, site), stand = place_in_site(t, site, rank);

    if (site != site_of(t, t->root))
        return stand;
    return (stand + size - place_in_site(t, site, t->root)) % size - 1;
}

static uint32_t rank_of(const struct hwmc_trees *t, uint32_t site, uint32_t index)
{
    uint32_t size = site_size(t, site);

    if (site != site_of(t, t->root))
        return rank_at(t, site, index);
    return rank_at(t, site, (place_in_site(t, site, t->root) + index + 1) % size);
}

static uint32_t rank_in(const struct hwmc_trees *t, uint32_t site, const struct tree *e,
                        uint32_t place)
{
    return rank_of(t, site, index_at(e, place));
}

static uint32_t next_site(const struct hwmc_trees *t, uint32_t site)
{
    return site + 1 == num_sites(t) ? 0 : site + 1;
}

static uint32_t site_before(const struct hwmc_trees *t, uint32_t site)
{
    return site == 0 ? num_sites(t) - 1 : site - 1;
}

/* Children inside the site. */
static uint32_t inner_children(const struct hwmc_trees *t, uint32_t site, const struct tree *e,
                               uint32_t rank)
{
    if (rank == t->root)
        return e->n > 0;
    return children_at(e, place_of(e, index_of(t, site, rank)));
}

/* Which rank feeds the site after `site` in tree r, and as which of its children: the last of a
 * heap that has places left, or the root where it has its site to itself. */
static struct hwmc_edge exit_of(const struct hwmc_trees *t, uint32_t site, uint32_t r)
{
    struct tree e = tree_in(t, site, r), lender = e;
    uint32_t rich, rank;

    if (e.n == 0)
        return (struct hwmc_edge){t->root, 0};
    rich = e.n % t->t;
    if (e.n > t->t && rich > 0 && r >= rich)
        lender = tree_in(t, site, r % rich);
    rank = rank_in(t, site, &lender, lender.g - 1);
    return (struct hwmc_edge){rank, inner_children(t, site, &e, rank)};
}

static bool feeds_next(const struct hwmc_trees *t, uint32_t site)
{
    return next_site(t, site) != site_of(t, t->root);
}

uint32_t hwmc_trees_count(uint32_t size, uint32_t wished)
{
    wished = wished < HWMC_TREES_MAX ? wished : HWMC_TREES_MAX;
    return wished < size - 1 ? wished : size - 1;
}

bool hwmc_trees_near(const struct hwmc_trees *t, uint32_t a, uint32_t b)
{
    return site_of(t, a) == site_of(t, b);
}

struct hwmc_edge hwmc_trees_parent(const struct hwmc_trees *t, uint32_t tree, uint32_t rank)
{
    uint32_t site = site_of(t, rank), place;
    struct tree e = tree_in(t, site, tree);

    assert(rank != t->root && tree < t->t);
    place = place_of(&e, index_of(t, site, rank));
    if (place > 0)
        return (struct hwmc_edge){rank_in(t, site, &e, parent_place(&e, place)),
                                  slot_of(&e, place)};
    if (site == site_of(t, t->root))
        return (struct hwmc_edge){t->root, 0};
    return exit_of(t, site_before(t, site), tree);
}

uint32_t hwmc_trees_children(const struct hwmc_trees *t, uint32_t tree, uint32_t rank)
{
    uint32_t site = site_of(t, rank);
    struct tree e = tree_in(t, site, tree);

    return inner_children(t, site, &e, rank) +
           (feeds_next(t, site) && exit_of(t, site, tree).rank == rank);
}

uint32_t hwmc_trees_child(const struct hwmc_trees *t, uint32_t tree, uint32_t rank, uint32_t slot)
{
    uint32_t site = site_of(t, rank);
    struct tree e = tree_in(t, site, tree);

    assert(slot < hwmc_trees_children(t, tree, rank));
    if (slot == inner_children(t, site, &e, rank)) {
        site = next_site(t, site);
        e = tree_in(t, site, tree);
        return rank_in(t, site, &e, 0);
    }
    if (rank == t->root)
        return rank_in(t, site, &e, 0);
    return rank_in(t, site, &e, child_place(&e, place_of(&e, index_of(t, site, rank)), slot));
}
