/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * lines_impl: the two lines of each rank in the collective under way, as the ways of all
 * collectives use them (slot.h: rules 1 to 3).
 */
#ifndef BCAST_HW_NODE_LINES_IMPL_H_INCLUDED
#define BCAST_HW_NODE_LINES_IMPL_H_INCLUDED

#include <string.h>

#include "group.h"
#include "op.h"
#include "slot.h"

/* The buffer of this rank's running chunk number `at`. */
static inline unsigned char *bcast_hw_node_buffer(const struct bcast_hw_node_group *g,
                                                  uint32_t rank, uint64_t at)
{
    return bcast_hw_node_block(g->segment, rank) + g->segment->buffers_at +
           (at & (g->buffers - 1)) * g->stride;
}

/* That of the chunk that this rank puts next. */
static inline unsigned char *bcast_hw_node_next_buffer(const struct bcast_hw_node_group *g)
{
    return bcast_hw_node_buffer(g, g->rank, g->chunks);
}

/* ... and the serial of the collective that used it last. */
static inline uint64_t *bcast_hw_node_next_used(struct bcast_hw_node_group *g)
{
    return &g->used[g->chunks & (g->buffers - 1)];
}

static inline uint64_t bcast_hw_node_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline struct bcast_hw_node_slot *bcast_hw_node_lines(const struct bcast_hw_node_op *op,
                                                             uint32_t rank)
{
    return bcast_hw_node_slot(op->group->segment, rank, op->serial);
}

/* Whether `rank` has opened its line for others: OK, AGAIN, or ERR_INVAL for another length. */
static inline int bcast_hw_node_lines_look(const struct bcast_hw_node_op *op, uint32_t rank,
                                           uint64_t length)
{
    const struct bcast_hw_node_out *out = &bcast_hw_node_lines(op, rank)->out;

    if (bcast_hw_node_load(&out->serial) != op->serial)
        return BCAST_HW_AGAIN;
    return out->length == length ? BCAST_HW_OK : BCAST_HW_ERR_INVAL;
}

/* This rank has just seen what `rank` shows inline. Where it has not had to wait, that one is
 * ahead: its next line is fetched while this rank is about something else, as from another cache it
 * takes longer than all the rest. Where it waits that line is not touched before it is written. */
static inline void bcast_hw_node_lines_fetch_next(const struct bcast_hw_node_op *op, uint32_t rank)
{
    if (!op->waited)
        __builtin_prefetch(bcast_hw_node_slot(op->group->segment, rank, op->serial + 1));
}

/* Opens both lines of this rank, once that may be. True: they are open. */
static inline bool bcast_hw_node_lines_open(struct bcast_hw_node_op *op, uint64_t length,
                                            uint64_t addr, uint64_t first)
{
    struct bcast_hw_node_slot *slot = bcast_hw_node_lines(op, op->group->rank);

    if (op->opened)
        return true;
    if (!bcast_hw_node_group_may_open(op->group))
        return false;
    bcast_hw_node_open_ack(&slot->ack, op->serial);
    bcast_hw_node_open_out(&slot->out, op->serial, length, addr, first);
    op->opened = true;
    op->group->told++;
    return true;
}

/* Opens the first of them with a message that is in the body already. The bound is the caller's to
 * keep. */
static inline void bcast_hw_node_lines_open_body(struct bcast_hw_node_op *op, uint64_t length)
{
    bcast_hw_node_open_body(&bcast_hw_node_lines(op, op->group->rank)->out, op->serial, length);
    op->opened = true;
    op->group->told++;
}

/* Puts a message there and opens it, once that may be. True: it is open. */
static inline bool bcast_hw_node_lines_put_body(struct bcast_hw_node_op *op, const void *message,
                                                uint64_t length)
{
    if (op->opened)
        return true;
    if (!bcast_hw_node_group_may_open(op->group))
        return false;
    if (length > 0) /* else there may be no memory at all */
        memcpy(bcast_hw_node_lines(op, op->group->rank)->out.body, message, length);
    bcast_hw_node_lines_open_body(op, length);
    return true;
}

/* Of this rank's lines. */
static inline void bcast_hw_node_lines_show(const struct bcast_hw_node_op *op, uint64_t ready)
{
    bcast_hw_node_store(&bcast_hw_node_lines(op, op->group->rank)->out.ready, ready);
    op->group->told++;
}

static inline void bcast_hw_node_lines_ack(const struct bcast_hw_node_op *op, uint64_t taken)
{
    bcast_hw_node_store(&bcast_hw_node_lines(op, op->group->rank)->ack.taken, taken);
    op->group->told++;
}

/* What `rank` has taken. */
static inline uint64_t bcast_hw_node_lines_taken(const struct bcast_hw_node_op *op, uint32_t rank)
{
    return bcast_hw_node_taken(&bcast_hw_node_lines(op, rank)->ack, op->serial);
}

#endif /* BCAST_HW_NODE_LINES_IMPL_H_INCLUDED */
