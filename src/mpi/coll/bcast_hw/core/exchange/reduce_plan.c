/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * reduce_plan: see reduce_plan.h.
 */
#include "reduce_plan.h"

#include <assert.h>

#include "../place/trees.h"
#include "parts.h"

/* Members by their places in the tree of ranges. */
static uint32_t first_member(const struct hwmc_reduce_plan *p)
{
    return p->cfg.commutative ? p->cfg.root : 0;
}

static uint32_t member_at(const struct hwmc_reduce_plan *p, uint32_t place)
{
    return (uint32_t) (((uint64_t) place + first_member(p)) % p->cfg.size);
}

static struct hwmc_trees trees_of(const struct hwmc_reduce_plan *p)
{
    return (struct hwmc_trees){p->cfg.size, p->cfg.root, p->cfg.way.trees, NULL};
}

void hwmc_reduce_plan_init(struct hwmc_reduce_plan *p, const struct hwmc_reduce_plan_cfg *cfg)
{
    const uint32_t size = cfg->size;

    assert(size >= 2 && cfg->rank < size && cfg->root < size);
    assert(cfg->way.trees == 1 || cfg->commutative);
    p->cfg = *cfg;
    p->place = (struct hwmc_range){0};
    if (cfg->way.trees == 1)
        p->place =
            hwmc_range_of(size, (cfg->rank + size - first_member(p)) % size, cfg->way.fanout);
}

uint32_t hwmc_reduce_plan_parts(const struct hwmc_reduce_plan *p, uint32_t t)
{
    const uint32_t parts = hwmc_exchange_parts(p->cfg.bytes, p->cfg.part);

    return parts > t ? (parts - t - 1) / p->cfg.way.trees + 1 : 0;
}

uint32_t hwmc_reduce_plan_bytes(const struct hwmc_reduce_plan *p, uint32_t t)
{
    const uint32_t parts = hwmc_reduce_plan_parts(p, t), last = (parts - 1) * p->cfg.way.trees + t;

    return (parts - 1) * p->cfg.part + hwmc_exchange_part_len(p->cfg.bytes, p->cfg.part, last);
}

uint32_t hwmc_reduce_plan_children(const struct hwmc_reduce_plan *p, uint32_t t)
{
    const struct hwmc_trees trees = trees_of(p);

    if (p->cfg.way.trees == 1)
        return hwmc_range_children(&p->place, p->cfg.way.fanout);
    return hwmc_reduce_plan_parts(p, t) > 0 ? hwmc_trees_children(&trees, t, p->cfg.rank) : 0;
}

uint32_t hwmc_reduce_plan_child(const struct hwmc_reduce_plan *p, uint32_t t, uint32_t i)
{
    const struct hwmc_trees trees = trees_of(p);

    if (p->cfg.way.trees == 1)
        return member_at(p, hwmc_range_child(&p->place, i, p->cfg.way.fanout).first);
    return hwmc_trees_child(&trees, t, p->cfg.rank, i);
}

bool hwmc_reduce_plan_parent(const struct hwmc_reduce_plan *p, uint32_t t, uint32_t *member)
{
    const struct hwmc_trees trees = trees_of(p);

    if (p->cfg.way.trees == 1) {
        *member = member_at(p, p->place.parent);
        return p->place.first > 0;
    }
    if (p->cfg.rank == p->cfg.root || hwmc_reduce_plan_parts(p, t) == 0)
        return false;
    *member = hwmc_trees_parent(&trees, t, p->cfg.rank).rank;
    return true;
}
