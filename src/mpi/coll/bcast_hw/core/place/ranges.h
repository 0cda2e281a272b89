/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * ranges: a tree over the members 0 to p - 1 in which the members below each one are those that
 * follow it, without a gap: what an operation combines that does not commute, each before its
 * children, the children in order. Member 0 is the root. A member hands the members behind it to
 * at most `fanout` children, in ranges of about one length: the earlier ones get what is over.
 *
 * Example, p = 8, fanout 2: 0 -> 1 5;  1 -> 2 4;  2 -> 3;  5 -> 6 7.
 *
 * Its depth is about log_fanout p, as is that of kary.h's tree; there children have the numbers
 * after those of the row above, here those after their parent. Everything is arithmetic.
 */
#ifndef HWMC_CORE_PLACE_RANGES_H_INCLUDED
#define HWMC_CORE_PLACE_RANGES_H_INCLUDED

#include <stdint.h>

/* A member's place: it and what is below it. */
struct hwmc_range {
    uint32_t first; /* the member */
    uint32_t end;   /* its range ends before this one */
    uint32_t parent;
    uint32_t slot; /* which child of the parent it is */
};

static inline uint32_t hwmc_range_children(const struct hwmc_range *r, uint32_t fanout)
{
    const uint32_t below = r->end - r->first - 1;

    return below < fanout ? below : fanout;
}

/* Child number `slot`, below hwmc_range_children. */
static inline struct hwmc_range hwmc_range_child(const struct hwmc_range *r, uint32_t slot,
                                                 uint32_t fanout)
{
    const uint32_t below = r->end - r->first - 1, children = hwmc_range_children(r, fanout);
    const uint32_t each = below / children, over = below % children;
    const uint32_t first = r->first + 1 + slot * each + (slot < over ? slot : over);

    return (struct hwmc_range){first, first + each + (slot < over), r->first, slot};
}

/* The place of `member` of `size`. That of member 0 has no parent. */
static inline struct hwmc_range hwmc_range_of(uint32_t size, uint32_t member, uint32_t fanout)
{
    struct hwmc_range r = {0, size, 0, 0};

    while (r.first != member) {
        uint32_t slot = 0;
        struct hwmc_range child = hwmc_range_child(&r, slot, fanout);

        while (child.end <= member)
            child = hwmc_range_child(&r, ++slot, fanout);
        r = child;
    }
    return r;
}

#endif /* HWMC_CORE_PLACE_RANGES_H_INCLUDED */
