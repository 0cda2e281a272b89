/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * reduction_each: EACH. Each rank shows what it has and combines what all show, from the last rank
 * to the first: so all have the same result to the last bit, and the order of ranks is kept. Inline
 * it stands in the slots. Through chunks a rank puts its own into the next of its buffers and shows
 * how many it has put; `taken` says how many it has combined, and a buffer is used again when all
 * have combined what was in it. What a rank adds is read from its own slot or buffer like
 * anybody's, so the result may be written where it was, once the rank has put its own.
 *
 * Example, ranks 0 and 1, chunks a b c, two buffers. Both put a; each combines a of 1 and of 0;
 * both put b. Rank 0, through with b, puts c where a was, once 1 has combined a. Nobody waits at
 * the end: the next use of these buffers waits until all have finished this collective
 * (shm/segment/slot.h, rule 4).
 */
#include <string.h>

#include "reduction_impl.h"

/* The operands are those of ranks size - 1 to 0. */
static uint32_t operand_of(const struct hwmc_shm_reduction *r, uint32_t turn)
{
    return r->op.group->size - 1 - turn;
}

/* A rank's inline message, or its chunk at r->at. */
static const unsigned char *shown_by(const struct hwmc_shm_reduction *r, uint32_t peer,
                                     bool in_chunks)
{
    const struct hwmc_shm_out *out = &hwmc_shm_lines(&r->op, peer)->out;

    return in_chunks ? hwmc_shm_buffer(r->op.group, peer, out->first + r->at / r->chunk)
                     : out->body;
}

/* Combines the next operand, which is there. */
static void combine_next(struct hwmc_shm_reduction *r, size_t n, bool in_chunks)
{
    unsigned char *to = r->out + r->at;

    if (r->turn > 0)
        hwmc_shm_operation_combine(&r->operation, to,
                                   shown_by(r, operand_of(r, r->turn), in_chunks),
                                   r->turn == 1 ? shown_by(r, operand_of(r, 0), in_chunks) : to, n);
    r->turn++;
}

int hwmc_shm_reduction_each_inline(struct hwmc_shm_op *op)
{
    struct hwmc_shm_reduction *r = (struct hwmc_shm_reduction *) op;

    if (!hwmc_shm_lines_put_body(op, r->in, r->length))
        return HWMC_AGAIN;
    while (r->turn < op->group->size) {
        const uint32_t peer = operand_of(r, r->turn);
        const int err = hwmc_shm_lines_look(op, peer, r->length);

        if (err != HWMC_OK)
            return err == HWMC_AGAIN ? hwmc_shm_group_await(op->group, peer) : err;
        combine_next(r, r->length, false);
    }
    return hwmc_shm_op_end(op);
}

/* All have combined the chunks below `chunk`. What is known of that only grows. */
static bool all_took(struct hwmc_shm_reduction *r, uint64_t chunk)
{
    struct hwmc_shm_reduction_chunks *c = &r->way.chunks;

    while (c->acked < chunk) {
        for (; c->next < r->op.group->size; c->next++)
            if (c->next != r->op.group->rank && hwmc_shm_lines_taken(&r->op, c->next) <= c->acked)
                return false;
        c->next = 0;
        c->acked++;
    }
    return true;
}

/* Puts the next chunk, if there is one and its buffer is free. */
static void put_chunk(struct hwmc_shm_reduction *r)
{
    struct hwmc_shm_group *g = r->op.group;
    struct hwmc_shm_reduction_chunks *c = &r->way.chunks;
    const uint32_t buffers = g->buffers;
    const uint64_t from = c->put * r->chunk;
    uint64_t *used = hwmc_shm_next_used(g);

    if (from >= r->length || (c->put >= buffers ? c->put - buffers + 1 > r->at / r->chunk ||
                                                      !all_took(r, c->put - buffers + 1)
                                                : !hwmc_shm_group_all_finished(g, *used)))
        return;
    memcpy(hwmc_shm_next_buffer(g), r->in + from, hwmc_shm_min(r->length - from, r->chunk));
    *used = r->op.serial;
    g->chunks++;
    hwmc_shm_lines_show(&r->op, ++c->put);
    r->op.moved = true;
}

/* This rank's chunk and the operand whose turn it is are there: OK, AGAIN or ERR_INVAL. Once it has
 * put all its chunks a rank waits for that operand alone. */
static int are_there(struct hwmc_shm_reduction *r)
{
    const uint64_t chunk = r->at / r->chunk, put = r->way.chunks.put;
    const uint32_t peer = operand_of(r, r->turn);
    const int err = hwmc_shm_lines_look(&r->op, peer, r->length);

    if (err != HWMC_OK && err != HWMC_AGAIN)
        return err;
    if (err == HWMC_OK && put > chunk &&
        hwmc_shm_load(&hwmc_shm_lines(&r->op, peer)->out.ready) > chunk)
        return HWMC_OK;
    return put * r->chunk >= r->length ? hwmc_shm_group_await(r->op.group, peer) : HWMC_AGAIN;
}

int hwmc_shm_reduction_each_chunks(struct hwmc_shm_op *op)
{
    struct hwmc_shm_reduction *r = (struct hwmc_shm_reduction *) op;
    const size_t n = hwmc_shm_reduction_bytes(r);
    int err;

    if (!hwmc_shm_lines_open(op, r->length, 0, r->way.chunks.first))
        return HWMC_AGAIN;
    put_chunk(r);
    err = are_there(r);
    if (err != HWMC_OK)
        return err;
    combine_next(r, n, true);
    op->moved = true;
    if (r->turn < op->group->size)
        return HWMC_AGAIN;
    r->turn = 0;
    r->at += n;
    hwmc_shm_lines_ack(op, (r->at + r->chunk - 1) / r->chunk);
    return r->at < r->end ? HWMC_AGAIN : hwmc_shm_op_end(op);
}
