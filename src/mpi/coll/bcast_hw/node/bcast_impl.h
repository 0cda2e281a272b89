/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * bcast_impl: for the broadcast's algorithms.
 */
#ifndef BCAST_HW_NODE_BCAST_IMPL_H_INCLUDED
#define BCAST_HW_NODE_BCAST_IMPL_H_INCLUDED

#include "bcast.h"
#include "lines_impl.h"

/* The steps. */
int bcast_hw_node_bcast_inline(struct bcast_hw_node_op *op);
int bcast_hw_node_bcast_chunks(struct bcast_hw_node_op *op);
int bcast_hw_node_bcast_direct(struct bcast_hw_node_op *op);
int bcast_hw_node_bcast_g(struct bcast_hw_node_op *op);
int bcast_hw_node_bcast_ag(struct bcast_hw_node_op *op);

/* What those have to set before the first step, beyond zeros. */
void bcast_hw_node_bcast_chunks_init(struct bcast_hw_node_bcast *b);
void bcast_hw_node_bcast_direct_init(struct bcast_hw_node_bcast *b);
void bcast_hw_node_bcast_ag_init(struct bcast_hw_node_bcast *b);

static inline bool bcast_hw_node_bcast_is_root(const struct bcast_hw_node_bcast *b)
{
    return b->op.group->rank == b->root;
}

/* Whether what the parent's line says may be used: OK or AGAIN. A rank of another length
 * follows. */
int bcast_hw_node_bcast_look(struct bcast_hw_node_bcast *b);

/* How many of the `n` bytes from `at` on there is room for. */
static inline size_t bcast_hw_node_bcast_fit(uint64_t room, uint64_t at, size_t n)
{
    return at < room ? bcast_hw_node_min(n, room - at) : 0;
}

/* Of the bytes from `at` on, how many `peer` wants written to its memory. */
static inline size_t bcast_hw_node_bcast_wants(const struct bcast_hw_node_bcast *b, uint32_t peer,
                                               uint64_t at, size_t n)
{
    const struct bcast_hw_node_out *out = &bcast_hw_node_lines(&b->op, peer)->out;

    return out->addr != 0 ? bcast_hw_node_bcast_fit(out->length, at, n) : 0;
}

/* The rank `distance` after `from`, the first one after the last; both below the group's size. */
static inline uint32_t bcast_hw_node_bcast_rank(const struct bcast_hw_node_bcast *b, uint32_t from,
                                                uint32_t distance)
{
    return b->op.group->ring[from + distance];
}

#endif /* BCAST_HW_NODE_BCAST_IMPL_H_INCLUDED */
