/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * lines_impl: the two lines of each rank in the collective under way, as the ways of all
 * collectives use them (slot.h: rules 1 to 3).
 */
#ifndef HWMC_SHM_SEGMENT_LINES_IMPL_H_INCLUDED
#define HWMC_SHM_SEGMENT_LINES_IMPL_H_INCLUDED

#include <string.h>

#include "group.h"
#include "op.h"
#include "slot.h"

/* The buffer of this rank's running chunk number `at`. */
static inline unsigned char *hwmc_shm_buffer(const struct hwmc_shm_group *g, uint32_t rank,
                                             uint64_t at)
{
    return hwmc_shm_block(g->segment, rank) + g->segment->buffers_at +
           (at & (g->buffers - 1)) * g->stride;
}

/* That of the chunk that this rank puts next. */
static inline unsigned char *hwmc_shm_next_buffer(const struct hwmc_shm_group *g)
{
    return hwmc_shm_buffer(g, g->rank, g->chunks);
}

/* ... and the serial of the collective that used it last. */
static inline uint64_t *hwmc_shm_next_used(struct hwmc_shm_group *g)
{
    return &g->used[g->chunks & (g->buffers - 1)];
}

static inline uint64_t hwmc_shm_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline struct hwmc_shm_slot *hwmc_shm_lines(const struct hwmc_shm_op *op, uint32_t rank)
{
    return hwmc_shm_slot(op->group->segment, rank, op->serial);
}

/* Whether `rank` has opened its line for others: OK, AGAIN, or ERR_INVAL for another length. */
static inline int hwmc_shm_lines_look(const struct hwmc_shm_op *op, uint32_t rank, uint64_t length)
{
    const struct hwmc_shm_out *out = &hwmc_shm_lines(op, rank)->out;

    if (hwmc_shm_load(&out->serial) != op->serial)
        return HWMC_AGAIN;
    return out->length == length ? HWMC_OK : HWMC_ERR_INVAL;
}

/* This rank has just seen what `rank` shows inline. Where it has not had to wait, that one is
 * ahead: its next line is fetched while this rank is about something else, as from another cache it
 * takes longer than all the rest. Where it waits that line is not touched before it is written. */
static inline void hwmc_shm_lines_fetch_next(const struct hwmc_shm_op *op, uint32_t rank)
{
    if (!op->waited)
        __builtin_prefetch(hwmc_shm_slot(op->group->segment, rank, op->serial + 1));
}

/* Opens both lines of this rank, once that may be. True: they are open. */
static inline bool hwmc_shm_lines_open(struct hwmc_shm_op *op, uint64_t length, uint64_t addr,
                                       uint64_t first)
{
    struct hwmc_shm_slot *slot = hwmc_shm_lines(op, op->group->rank);

    if (op->opened)
        return true;
    if (!hwmc_shm_group_may_open(op->group))
        return false;
    hwmc_shm_open_ack(&slot->ack, op->serial);
    hwmc_shm_open_out(&slot->out, op->serial, length, addr, first);
    op->opened = true;
    op->group->told++;
    return true;
}

/* Opens the first of them with a message that is in the body already. The bound is the caller's to
 * keep. */
static inline void hwmc_shm_lines_open_body(struct hwmc_shm_op *op, uint64_t length)
{
    hwmc_shm_open_body(&hwmc_shm_lines(op, op->group->rank)->out, op->serial, length);
    op->opened = true;
    op->group->told++;
}

/* Puts a message there and opens it, once that may be. True: it is open. */
static inline bool hwmc_shm_lines_put_body(struct hwmc_shm_op *op, const void *message,
                                           uint64_t length)
{
    if (op->opened)
        return true;
    if (!hwmc_shm_group_may_open(op->group))
        return false;
    if (length > 0) /* else there may be no memory at all */
        memcpy(hwmc_shm_lines(op, op->group->rank)->out.body, message, length);
    hwmc_shm_lines_open_body(op, length);
    return true;
}

/* Of this rank's lines. */
static inline void hwmc_shm_lines_show(const struct hwmc_shm_op *op, uint64_t ready)
{
    hwmc_shm_store(&hwmc_shm_lines(op, op->group->rank)->out.ready, ready);
    op->group->told++;
}

static inline void hwmc_shm_lines_ack(const struct hwmc_shm_op *op, uint64_t taken)
{
    hwmc_shm_store(&hwmc_shm_lines(op, op->group->rank)->ack.taken, taken);
    op->group->told++;
}

/* What `rank` has taken. */
static inline uint64_t hwmc_shm_lines_taken(const struct hwmc_shm_op *op, uint32_t rank)
{
    return hwmc_shm_taken(&hwmc_shm_lines(op, rank)->ack, op->serial);
}

#endif /* HWMC_SHM_SEGMENT_LINES_IMPL_H_INCLUDED */
