/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * reduce_plan: whose parts a member combines, and to whom they go on, where all members of a group
 * combine their vectors at one of them (op/net_reduce.h says along which trees, and why). A vector
 * is cut into parts; of n trees, tree t takes parts t, t + n, t + 2 n, ... Everything is
 * arithmetic, and alike on all members.
 *
 *   1 tree    of ranges (core/place/ranges.h). Where the operation commutes it begins with the
 *             root, and members follow cyclically; else with member 0, which sends the result on to
 *             the root (`is_relayed`).
 *   2 trees   of core/place/trees.h, reversed: each member is an inner node of one
 *
 * Example, p = 8, degree 2, root 6, two parts. Commutative: 6 combines those of 7 and 3, 7 those of
 * 0 and 2, and so on. Not so: 0 combines those of 1 and 5, and sends both parts to 6.
 */
#ifndef HWMC_CORE_EXCHANGE_REDUCE_PLAN_H_INCLUDED
#define HWMC_CORE_EXCHANGE_REDUCE_PLAN_H_INCLUDED

#include "../model/reduce_way.h"
#include "../place/ranges.h"

struct hwmc_reduce_plan_cfg {
    uint32_t size; /* members, 2 or more */
    uint32_t rank; /* this one */
    uint32_t root;
    bool commutative;
    struct hwmc_reduce_way way; /* alike on all members, as are the two lengths */
    uint32_t bytes;             /* of a vector */
    uint32_t part;              /* of a part */
};

struct hwmc_reduce_plan {
    struct hwmc_reduce_plan_cfg cfg;
    struct hwmc_range place; /* in the one tree */
};

void hwmc_reduce_plan_init(struct hwmc_reduce_plan *p, const struct hwmc_reduce_plan_cfg *cfg);

/* Parts of tree `t`, and their bytes; bytes where there is a part. */
uint32_t hwmc_reduce_plan_parts(const struct hwmc_reduce_plan *p, uint32_t t);
uint32_t hwmc_reduce_plan_bytes(const struct hwmc_reduce_plan *p, uint32_t t);

/* How many members' parts this one combines with its own in tree `t`, in the order of `i`, and
 * which members these are. Of a tree without parts: none. */
uint32_t hwmc_reduce_plan_children(const struct hwmc_reduce_plan *p, uint32_t t);
uint32_t hwmc_reduce_plan_child(const struct hwmc_reduce_plan *p, uint32_t t, uint32_t i);

/* False: what it has combined in tree `t` goes on to nobody. */
bool hwmc_reduce_plan_parent(const struct hwmc_reduce_plan *p, uint32_t t, uint32_t *member);

/* Member 0 combines what the root gets. */
static inline bool hwmc_reduce_plan_is_relayed(const struct hwmc_reduce_plan *p)
{
    return !p->cfg.commutative && p->cfg.root != 0;
}

#endif /* HWMC_CORE_EXCHANGE_REDUCE_PLAN_H_INCLUDED */
