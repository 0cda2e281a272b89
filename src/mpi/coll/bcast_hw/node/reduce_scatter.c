/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * reduce_scatter: see reduce_scatter.h. Where all show what they have, nobody acknowledges: slots
 * and buffers are kept until all have finished.
 */
#include "reduce_scatter.h"

#include "parts_impl.h"

static bool is_shown(const struct bcast_hw_node_group *g, uint64_t length)
{
    return length <= g->params.inline_max ||
           (length <= g->params.chunk && !bcast_hw_node_reduction_is_direct(g, length));
}

bool bcast_hw_node_reduce_scatter_needs_work(const struct bcast_hw_node_group *g, uint64_t length)
{
    return g->rank == 0 && g->size > 1 && !is_shown(g, length) &&
           !bcast_hw_node_reduction_is_direct(g, length);
}

/* A group of one: the result is what it has. */
static int alone(struct bcast_hw_node_op *op)
{
    struct bcast_hw_node_reduce_scatter *s = (struct bcast_hw_node_reduce_scatter *) op;

    if (s->own.bytes > 0)
        memcpy(s->out, s->in + s->own.at, s->own.bytes);
    return bcast_hw_node_op_end(op);
}

/* Shows what this rank has, once that may be. True: it does. */
static bool show(struct bcast_hw_node_reduce_scatter *s)
{
    struct bcast_hw_node_group *g = s->op.group;
    uint64_t *used = bcast_hw_node_next_used(g);

    if (s->length <= g->params.inline_max)
        return bcast_hw_node_lines_put_body(&s->op, s->in, s->length);
    if (s->op.opened)
        return true;
    if (!bcast_hw_node_group_may_open(g) || !bcast_hw_node_group_all_finished(g, *used))
        return false;
    memcpy(bcast_hw_node_next_buffer(g), s->in, s->length);
    *used = s->op.serial;
    s->op.moved = true;
    return bcast_hw_node_lines_open(&s->op, s->length, 0, g->chunks++);
}

/* Combines the operand whose turn it is: OK, AGAIN or ERR_INVAL. Where there is an order, the last
 * rank comes first. */
static int combine_next(struct bcast_hw_node_reduce_scatter *s)
{
    const struct bcast_hw_node_group *g = s->op.group;
    const struct bcast_hw_node_operation *o = &s->operation;
    uint32_t peer = g->ring[(o->commutative ? g->rank : g->size - 1) + g->size - s->turn];
    const struct bcast_hw_node_out *out = &bcast_hw_node_lines(&s->op, peer)->out;
    const unsigned char *operand = s->in + s->own.at;

    if (peer != g->rank) {
        int err = bcast_hw_node_lines_look(&s->op, peer, s->length);

        if (err != BCAST_HW_OK)
            return err;
        if (s->length <= g->params.inline_max)
            operand = out->body + s->own.at;
        else
            operand = bcast_hw_node_buffer(g, peer, out->first) + s->own.at;
    }
    if (s->turn == 0)
        memcpy(s->out, operand, s->own.bytes);
    else
        bcast_hw_node_operation_combine(o, s->out, operand, s->out, s->own.bytes);
    s->turn++;
    return BCAST_HW_OK;
}

static int step_shown(struct bcast_hw_node_op *op)
{
    struct bcast_hw_node_reduce_scatter *s = (struct bcast_hw_node_reduce_scatter *) op;

    if (!show(s))
        return BCAST_HW_AGAIN;
    while (s->own.bytes > 0 && s->turn < op->group->size) {
        int err = combine_next(s);

        if (err != BCAST_HW_OK)
            return err;
    }
    return bcast_hw_node_op_end(op);
}

static int step_parts(struct bcast_hw_node_op *op)
{
    struct bcast_hw_node_reduce_scatter *s = (struct bcast_hw_node_reduce_scatter *) op;
    int err = bcast_hw_node_op_step(s->part);

    op->moved = s->part->moved;
    if (err != BCAST_HW_OK || s->last)
        return err;
    bcast_hw_node_scatter_begin(&s->down, op->group, 0, s->work, &s->blocks, s->out, s->own.bytes);
    s->part = &s->down.op;
    s->last = true;
    op->serial = s->part->serial;
    op->moved = true;
    return BCAST_HW_AGAIN;
}

int bcast_hw_node_reduce_scatter_begin(struct bcast_hw_node_reduce_scatter *s,
                                       struct bcast_hw_node_group *g,
                                       const struct bcast_hw_node_tree *tree,
                                       const struct bcast_hw_node_operation *operation,
                                       const void *in, const struct bcast_hw_node_parts *blocks,
                                       uint64_t length, void *out, void *work)
{
    struct bcast_hw_node_range own = bcast_hw_node_part_of(blocks, g->rank);
    bool direct = bcast_hw_node_reduction_is_direct(g, length);
    uint64_t count = length / operation->element;
    int err = BCAST_HW_OK;

    if (operation->element > g->segment->layout.chunk / 2)
        return BCAST_HW_ERR_LIMIT;
    memset(s, 0, sizeof(*s));
    s->operation = *operation;
    s->blocks = *blocks;
    s->own = own;
    s->in = in;
    s->out = out;
    s->work = work;
    s->length = length;
    s->last = direct;
    if (length == 0 || g->size == 1) {
        bcast_hw_node_op_begin(&s->op, g, length == 0 ? bcast_hw_node_op_nothing : alone);
        return BCAST_HW_OK;
    }
    if (is_shown(g, length)) {
        bcast_hw_node_op_begin(&s->op, g, step_shown);
        return BCAST_HW_OK;
    }
    err = direct ? bcast_hw_node_reduction_begin_apart(&s->up, g, operation, in, out, count, own.at,
                                                       own.bytes)
                 : bcast_hw_node_reduction_begin(&s->up, g, tree, 0, operation, in, work, count);
    if (err != BCAST_HW_OK)
        return err;
    s->part = &s->up.op;
    s->op = (struct bcast_hw_node_op){.group = g, .serial = s->part->serial, .step = step_parts};
    return BCAST_HW_OK;
}
