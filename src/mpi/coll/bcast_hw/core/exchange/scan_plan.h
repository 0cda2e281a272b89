/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * scan_plan: who sends a member what it has combined, where each combines the vectors of those
 * before it (op/net_scan.h). In round i it comes from the member 2^i before, and goes to the one
 * 2^i after; along a chain there is round 0 only. What goes has all rounds before it in; along the
 * chain, all.
 *
 * Example, member 5 of 7: doubling from 4, 3 and 1 to 6; chain from 4 to 6.
 */
#ifndef HWMC_CORE_EXCHANGE_SCAN_PLAN_H_INCLUDED
#define HWMC_CORE_EXCHANGE_SCAN_PLAN_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#define HWMC_SCAN_ROUNDS 32u

struct hwmc_scan_plan {
    uint32_t size; /* members, 2 or more */
    uint32_t rank; /* this one */
    bool chain;    /* else doubling */
};

/* How far a member's round `i` reaches; beyond all members where there is no such round. */
static inline uint64_t hwmc_scan_plan_reach(const struct hwmc_scan_plan *p, uint32_t i)
{
    return p->chain && i > 0 ? p->size : UINT64_C(1) << i;
}

/* Rounds that bring something: from which member. */
static inline uint32_t hwmc_scan_plan_ins(const struct hwmc_scan_plan *p)
{
    uint32_t i = 0;

    while (i < HWMC_SCAN_ROUNDS && hwmc_scan_plan_reach(p, i) <= p->rank)
        i++;
    return i;
}
static inline uint32_t hwmc_scan_plan_in(const struct hwmc_scan_plan *p, uint32_t i)
{
    return (uint32_t) (p->rank - hwmc_scan_plan_reach(p, i));
}

/* Rounds in which something goes: to which member. */
static inline uint32_t hwmc_scan_plan_outs(const struct hwmc_scan_plan *p)
{
    uint32_t i = 0;

    while (i < HWMC_SCAN_ROUNDS && p->rank + hwmc_scan_plan_reach(p, i) < p->size)
        i++;
    return i;
}
static inline uint32_t hwmc_scan_plan_out(const struct hwmc_scan_plan *p, uint32_t i)
{
    return (uint32_t) (p->rank + hwmc_scan_plan_reach(p, i));
}

/* Rounds that are over before outgoing block `i` can go. */
static inline uint32_t hwmc_scan_plan_before(const struct hwmc_scan_plan *p, uint32_t i)
{
    const uint32_t ins = hwmc_scan_plan_ins(p);

    return p->chain || i > ins ? ins : i;
}

#endif /* HWMC_CORE_EXCHANGE_SCAN_PLAN_H_INCLUDED */
