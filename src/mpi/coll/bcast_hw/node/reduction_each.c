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
 * the end: who uses these buffers next waits until all have finished this collective (slot.h, rule
 * 4).
 */
#include <string.h>

#include "reduction_impl.h"

/* The operands are those of ranks size - 1 to 0. */
static uint32_t operand(const struct bcast_hw_node_reduction *r, uint32_t turn)
{
    return r->op.group->size - 1 - turn;
}

/* A rank's inline message, or its chunk at r->at. */
static const unsigned char *shown(const struct bcast_hw_node_reduction *r, uint32_t peer,
                                  bool in_chunks)
{
    const struct bcast_hw_node_out *out = &bcast_hw_node_lines(&r->op, peer)->out;

    return in_chunks ? bcast_hw_node_buffer(r->op.group, peer, out->first + r->at / r->chunk)
                     : out->body;
}

/* Combines the next operand, which is there. */
static void combine_next(struct bcast_hw_node_reduction *r, size_t n, bool in_chunks)
{
    unsigned char *to = r->out + r->at;

    if (r->turn > 0)
        bcast_hw_node_operation_combine(&r->operation, to, shown(r, operand(r, r->turn), in_chunks),
                                        r->turn == 1 ? shown(r, operand(r, 0), in_chunks) : to, n);
    r->turn++;
}

int bcast_hw_node_reduction_each_inline(struct bcast_hw_node_op *op)
{
    struct bcast_hw_node_reduction *r = (struct bcast_hw_node_reduction *) op;

    if (!bcast_hw_node_lines_put_body(op, r->in, r->length))
        return BCAST_HW_AGAIN;
    while (r->turn < op->group->size) {
        int err = bcast_hw_node_lines_look(op, operand(r, r->turn), r->length);

        if (err != BCAST_HW_OK)
            return err;
        combine_next(r, r->length, false);
    }
    return bcast_hw_node_op_end(op);
}

/* All have combined the chunks below `chunk`. What is known of that only grows. */
static bool all_took(struct bcast_hw_node_reduction *r, uint64_t chunk)
{
    struct bcast_hw_node_reduction_chunks *c = &r->way.chunks;

    while (c->acked < chunk) {
        for (; c->next < r->op.group->size; c->next++)
            if (c->next != r->op.group->rank &&
                bcast_hw_node_lines_taken(&r->op, c->next) <= c->acked)
                return false;
        c->next = 0;
        c->acked++;
    }
    return true;
}

/* Puts the next chunk, if there is one and its buffer is free. */
static void put(struct bcast_hw_node_reduction *r)
{
    struct bcast_hw_node_group *g = r->op.group;
    struct bcast_hw_node_reduction_chunks *c = &r->way.chunks;
    const uint32_t buffers = g->buffers;
    const uint64_t from = c->put * r->chunk;
    uint64_t *used = bcast_hw_node_next_used(g);

    if (from >= r->length || (c->put >= buffers ? c->put - buffers + 1 > r->at / r->chunk ||
                                                      !all_took(r, c->put - buffers + 1)
                                                : !bcast_hw_node_group_all_finished(g, *used)))
        return;
    memcpy(bcast_hw_node_next_buffer(g), r->in + from,
           bcast_hw_node_min(r->length - from, r->chunk));
    *used = r->op.serial;
    g->chunks++;
    bcast_hw_node_lines_show(&r->op, ++c->put);
    r->op.moved = true;
}

/* This rank's chunk and the operand whose turn it is are there: OK, AGAIN or ERR_INVAL. */
static int are_there(const struct bcast_hw_node_reduction *r)
{
    const uint64_t chunk = r->at / r->chunk;
    const uint32_t peer = operand(r, r->turn);
    const int err = bcast_hw_node_lines_look(&r->op, peer, r->length);

    if (err != BCAST_HW_OK)
        return err;
    return r->way.chunks.put > chunk &&
                   bcast_hw_node_load(&bcast_hw_node_lines(&r->op, peer)->out.ready) > chunk
               ? BCAST_HW_OK
               : BCAST_HW_AGAIN;
}

int bcast_hw_node_reduction_each_chunks(struct bcast_hw_node_op *op)
{
    struct bcast_hw_node_reduction *r = (struct bcast_hw_node_reduction *) op;
    const size_t n = bcast_hw_node_reduction_bytes(r);
    int err;

    if (!bcast_hw_node_lines_open(op, r->length, 0, r->way.chunks.first))
        return BCAST_HW_AGAIN;
    put(r);
    err = are_there(r);
    if (err != BCAST_HW_OK)
        return err;
    combine_next(r, n, true);
    op->moved = true;
    if (r->turn < op->group->size)
        return BCAST_HW_AGAIN;
    r->turn = 0;
    r->at += n;
    bcast_hw_node_lines_ack(op, (r->at + r->chunk - 1) / r->chunk);
    return r->at < r->end ? BCAST_HW_AGAIN : bcast_hw_node_op_end(op);
}
