/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * parts_impl: for the collectives in which each rank has a part of its own.
 */
#ifndef BCAST_HW_NODE_PARTS_IMPL_H_INCLUDED
#define BCAST_HW_NODE_PARTS_IMPL_H_INCLUDED

#include <string.h>

#include "lines_impl.h"
#include "parts.h"

/* Whether so many bytes go by single copy. */
static inline bool bcast_hw_node_parts_direct(const struct bcast_hw_node_group *g, uint64_t bytes)
{
    return g->copy != NULL && bytes >= g->params.copy_min && bytes > g->params.inline_max;
}

/* Those parts, told in a line's body to ranks that have a way to this one's memory. */
static inline void bcast_hw_node_parts_tell(const struct bcast_hw_node_parts *parts,
                                            unsigned char *body)
{
    _Static_assert(sizeof(*parts) <= BCAST_HW_NODE_INLINE, "fits");
    memcpy(body, parts, sizeof(*parts));
}

/* This rank's part of those that `peer` told: OK, or as copy.h. */
static inline int bcast_hw_node_parts_ask(const struct bcast_hw_node_op *op, uint32_t peer,
                                          struct bcast_hw_node_range *part)
{
    const struct bcast_hw_node_group *g = op->group;
    struct bcast_hw_node_parts parts;

    memcpy(&parts, bcast_hw_node_lines(op, peer)->out.body, sizeof(parts));
    if (parts.each != NULL)
        return bcast_hw_node_group_get(g, peer, part, (uintptr_t) (parts.each + g->rank),
                                       sizeof(*part));
    *part = bcast_hw_node_part_of(&parts, g->rank);
    return BCAST_HW_OK;
}

/* The two ends of a part: how many bytes go; where they disagree, that is the verdict. */
static inline uint64_t bcast_hw_node_parts_agree(struct bcast_hw_node_op *op, uint64_t a,
                                                 uint64_t b)
{
    if (a != b)
        op->verdict = BCAST_HW_ERR_INVAL;
    return bcast_hw_node_min(a, b);
}

/* Of a range that is moved `step` bytes at a time, the bytes from `at` on that are within `end`. */
static inline size_t bcast_hw_node_parts_next(uint64_t at, uint64_t end, uint64_t step)
{
    return at < end ? bcast_hw_node_min(end - at, step) : 0;
}

/* This rank's own part, `bytes` from where it is to where it belongs, some of it; *at: how much
 * was. OK: all is there. */
static inline int bcast_hw_node_parts_own(struct bcast_hw_node_op *op, unsigned char *to,
                                          const unsigned char *from, uint64_t bytes, uint64_t *at)
{
    size_t n = bcast_hw_node_parts_next(*at, bytes, op->group->params.copy_step);

    if (n == 0 || from == to)
        return BCAST_HW_OK;
    memcpy(to + *at, from + *at, n);
    *at += n;
    op->moved = bytes > op->group->params.inline_max;
    return *at < bytes ? BCAST_HW_AGAIN : BCAST_HW_OK;
}

#endif /* BCAST_HW_NODE_PARTS_IMPL_H_INCLUDED */
