/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * bcast_impl: for the broadcast's algorithms.
 */
#ifndef BCAST_HW_NODE_BCAST_IMPL_H_INCLUDED
#define BCAST_HW_NODE_BCAST_IMPL_H_INCLUDED

#include "bcast.h"
#include "slot.h"

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

static inline struct bcast_hw_node_slot *
bcast_hw_node_bcast_slot(const struct bcast_hw_node_bcast *b, uint32_t rank)
{
    return bcast_hw_node_slot(b->op.group->segment, rank, b->op.serial);
}

static inline bool bcast_hw_node_bcast_is_root(const struct bcast_hw_node_bcast *b)
{
    return b->op.group->rank == b->root;
}

/* The rank `distance` after `from`, the first one after the last; both below the group's size. */
static inline uint32_t bcast_hw_node_bcast_rank(const struct bcast_hw_node_bcast *b, uint32_t from,
                                                uint32_t distance)
{
    return b->op.group->ring[from + distance];
}

static inline uint64_t bcast_hw_node_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Whether `rank` has opened its line for others: OK, AGAIN, or ERR_INVAL for another length. */
static inline int bcast_hw_node_bcast_look(const struct bcast_hw_node_bcast *b, uint32_t rank)
{
    const struct bcast_hw_node_out *out = &bcast_hw_node_bcast_slot(b, rank)->out;

    if (bcast_hw_node_load(&out->serial) != b->op.serial)
        return BCAST_HW_AGAIN;
    return out->length == b->length ? BCAST_HW_OK : BCAST_HW_ERR_INVAL;
}

/* Opens both lines of this rank, once that may be. */
static inline bool bcast_hw_node_bcast_open(struct bcast_hw_node_bcast *b, uint64_t addr,
                                            uint64_t first)
{
    struct bcast_hw_node_slot *slot = bcast_hw_node_bcast_slot(b, b->op.group->rank);

    if (b->opened)
        return true;
    if (!bcast_hw_node_group_may_open(b->op.group))
        return false;
    bcast_hw_node_open_ack(&slot->ack, b->op.serial);
    bcast_hw_node_open_out(&slot->out, b->op.serial, b->length, addr, first);
    b->opened = true;
    return true;
}

/* Of this rank's lines. */
static inline void bcast_hw_node_bcast_show(const struct bcast_hw_node_bcast *b, uint64_t ready)
{
    bcast_hw_node_store(&bcast_hw_node_bcast_slot(b, b->op.group->rank)->out.ready, ready);
}

static inline void bcast_hw_node_bcast_ack(const struct bcast_hw_node_bcast *b, uint64_t taken)
{
    bcast_hw_node_store(&bcast_hw_node_bcast_slot(b, b->op.group->rank)->ack.taken, taken);
}

/* What `rank` has taken. */
static inline uint64_t bcast_hw_node_bcast_taken(const struct bcast_hw_node_bcast *b, uint32_t rank)
{
    return bcast_hw_node_taken(&bcast_hw_node_bcast_slot(b, rank)->ack, b->op.serial);
}

#endif /* BCAST_HW_NODE_BCAST_IMPL_H_INCLUDED */
