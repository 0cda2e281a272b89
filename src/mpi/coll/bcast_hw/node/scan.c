/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * scan: see scan.h.
 *
 * Example of a chain, 3 ranks, chunks a b, exclusive: 0 puts a into a buffer and is through with
 * it; 1 puts its own a into a buffer, combines it with that of 0, shows it, and copies that of 0 to
 * its memory; 2 copies that of 1. Meanwhile 0 puts b. A buffer is used again when the next rank has
 * taken what is in it; or, in a later collective, when all have finished this one (slot.h, rule 4).
 */
#include "scan.h"

#include <assert.h>
#include <string.h>

#include "lines_impl.h"

/* The operand of the rank whose turn it is, from the one before this rank down: OK, AGAIN, or
 * ERR_INVAL. */
static int combine_next(struct bcast_hw_node_scan *s)
{
    uint32_t rank = s->op.group->rank, peer = rank - 1 - s->turn;
    const unsigned char *theirs = bcast_hw_node_lines(&s->op, peer)->out.body;
    int err = bcast_hw_node_lines_look(&s->op, peer, s->length);

    if (err != BCAST_HW_OK)
        return err;
    if (s->turn > 0)
        bcast_hw_node_operation_combine(&s->operation, s->out, theirs, s->out, s->length);
    else if (s->exclusive)
        memcpy(s->out, theirs, s->length);
    else
        bcast_hw_node_operation_combine(&s->operation, s->out, theirs,
                                        bcast_hw_node_lines(&s->op, rank)->out.body, s->length);
    s->turn++;
    return BCAST_HW_OK;
}

static int step_inline(struct bcast_hw_node_op *op)
{
    struct bcast_hw_node_scan *s = (struct bcast_hw_node_scan *) op;
    uint32_t rank = op->group->rank;

    if (!bcast_hw_node_lines_put_body(op, s->in, s->length))
        return BCAST_HW_AGAIN;
    while (s->turn < rank) {
        int err = combine_next(s);

        if (err != BCAST_HW_OK)
            return err;
    }
    if (!s->exclusive && rank == 0 && s->out != s->in)
        memcpy(s->out, s->in, s->length);
    return bcast_hw_node_op_end(op);
}

/* The chunk of the rank before, in *from; NULL: this is the first rank. OK, AGAIN or ERR_INVAL. */
static int find(const struct bcast_hw_node_scan *s, const unsigned char **from)
{
    const struct bcast_hw_node_group *g = s->op.group;
    uint64_t chunk = s->at / s->chunk;
    const struct bcast_hw_node_out *out;
    int err;

    *from = NULL;
    if (g->rank == 0)
        return BCAST_HW_OK;
    out = &bcast_hw_node_lines(&s->op, g->rank - 1)->out;
    err = bcast_hw_node_lines_look(&s->op, g->rank - 1, s->length);
    if (err != BCAST_HW_OK)
        return err;
    if (bcast_hw_node_load(&out->ready) <= chunk)
        return BCAST_HW_AGAIN;
    *from = bcast_hw_node_buffer(g, g->rank - 1, out->first + chunk);
    return BCAST_HW_OK;
}

/* Where the chunk is combined: the buffer in which the next rank finds it; NULL: what is there has
 * not been read yet. */
static unsigned char *free_buffer(const struct bcast_hw_node_scan *s)
{
    struct bcast_hw_node_group *g = s->op.group;
    uint32_t buffers = g->buffers;
    uint64_t put = s->at / s->chunk;
    bool free = true; /* nobody reads the last rank's */

    if (put < buffers)
        free = bcast_hw_node_group_all_finished(g, *bcast_hw_node_next_used(g));
    else if (g->rank + 1 < g->size)
        free = bcast_hw_node_lines_taken(&s->op, g->rank + 1) > put - buffers;
    return free ? bcast_hw_node_next_buffer(g) : NULL;
}

/* The chunk is combined. */
static void give_on(const struct bcast_hw_node_scan *s)
{
    struct bcast_hw_node_group *g = s->op.group;

    *bcast_hw_node_next_used(g) = s->op.serial;
    g->chunks++;
    bcast_hw_node_lines_show(&s->op, s->at / s->chunk + 1);
}

static int step_chunks(struct bcast_hw_node_op *op)
{
    struct bcast_hw_node_scan *s = (struct bcast_hw_node_scan *) op;
    size_t n = bcast_hw_node_min(s->length - s->at, s->chunk);
    const unsigned char *from;
    unsigned char *to;
    int err;

    if (!bcast_hw_node_lines_open(op, s->length, 0, op->group->chunks))
        return BCAST_HW_AGAIN;
    err = find(s, &from);
    if (err != BCAST_HW_OK)
        return err;
    if ((to = free_buffer(s)) == NULL)
        return BCAST_HW_AGAIN;
    if (from != NULL)
        bcast_hw_node_operation_combine(&s->operation, to, from, s->in + s->at, n);
    else
        memcpy(to, s->in + s->at, n);
    give_on(s);
    if (!s->exclusive)
        memcpy(s->out + s->at, to, n);
    else if (from != NULL)
        memcpy(s->out + s->at, from, n);
    s->at += n;
    if (from != NULL)
        bcast_hw_node_lines_ack(op, (s->at + s->chunk - 1) / s->chunk);
    op->moved = true;
    return s->at < s->length ? BCAST_HW_AGAIN : bcast_hw_node_op_end(op);
}

int bcast_hw_node_scan_begin(struct bcast_hw_node_scan *s, struct bcast_hw_node_group *g,
                             const struct bcast_hw_node_operation *operation, bool exclusive,
                             const void *in, void *out, uint64_t count)
{
    uint32_t element = operation->element;
    uint32_t chunk = g->params.chunk;

    assert(element >= 1);
    if (element > g->segment->layout.chunk / 2)
        return BCAST_HW_ERR_LIMIT;
    memset(s, 0, sizeof(*s));
    s->operation = *operation;
    s->exclusive = exclusive;
    s->in = in;
    s->out = out;
    s->length = count * element;
    s->chunk = chunk < element ? element : chunk - chunk % element;
    bcast_hw_node_op_begin(&s->op, g,
                           s->length == 0                      ? bcast_hw_node_op_nothing
                           : s->length <= g->params.inline_max ? step_inline
                                                               : step_chunks);
    return BCAST_HW_OK;
}
