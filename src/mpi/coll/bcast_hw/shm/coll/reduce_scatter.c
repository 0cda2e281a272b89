/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * reduce_scatter: see reduce_scatter.h. Where all show what they have, nobody acknowledges: slots
 * and buffers are kept until all have finished.
 */
#include "reduce_scatter.h"

#include "vector_impl.h"

static bool is_shown(const struct hwmc_shm_group *g, uint64_t length)
{
    return length <= g->params.inline_max ||
           (length <= g->params.chunk && !hwmc_shm_reduction_is_direct(g, length));
}

bool hwmc_shm_reduce_scatter_needs_work(const struct hwmc_shm_group *g, uint64_t length)
{
    return g->rank == 0 && g->size > 1 && !is_shown(g, length) &&
           !hwmc_shm_reduction_is_direct(g, length);
}

/* A group of one: the result is what it has. */
static int step_alone(struct hwmc_shm_op *op)
{
    struct hwmc_shm_reduce_scatter *s = (struct hwmc_shm_reduce_scatter *) op;

    if (s->own.bytes > 0)
        memcpy(s->out, s->in + s->own.at, s->own.bytes);
    return hwmc_shm_op_end(op);
}

/* Shows what this rank has, once that may be. True: it does. */
static bool show_input(struct hwmc_shm_reduce_scatter *s)
{
    struct hwmc_shm_group *g = s->op.group;
    uint64_t *used = hwmc_shm_next_used(g);

    if (s->length <= g->params.inline_max)
        return hwmc_shm_lines_put_body(&s->op, s->in, s->length);
    if (s->op.opened)
        return true;
    if (!hwmc_shm_group_may_open(g) || !hwmc_shm_group_all_finished(g, *used))
        return false;
    memcpy(hwmc_shm_next_buffer(g), s->in, s->length);
    *used = s->op.serial;
    s->op.moved = true;
    return hwmc_shm_lines_open(&s->op, s->length, 0, g->chunks++);
}

/* Combines the operand whose turn it is: OK, AGAIN or ERR_INVAL. Where there is an order, the last
 * rank comes first. */
static int combine_next(struct hwmc_shm_reduce_scatter *s)
{
    const struct hwmc_shm_group *g = s->op.group;
    const struct hwmc_shm_operation *o = &s->operation;
    uint32_t peer = g->ring[(o->commutative ? g->rank : g->size - 1) + g->size - s->turn];
    const struct hwmc_shm_out *out = &hwmc_shm_lines(&s->op, peer)->out;
    const unsigned char *operand = s->in + s->own.at;

    if (peer != g->rank) {
        int err = hwmc_shm_lines_look(&s->op, peer, s->length);

        if (err != HWMC_OK)
            return err;
        if (s->length <= g->params.inline_max)
            operand = out->body + s->own.at;
        else
            operand = hwmc_shm_buffer(g, peer, out->first) + s->own.at;
    }
    if (s->turn == 0)
        memcpy(s->out, operand, s->own.bytes);
    else
        hwmc_shm_operation_combine(o, s->out, operand, s->out, s->own.bytes);
    s->turn++;
    return HWMC_OK;
}

static int step_shown(struct hwmc_shm_op *op)
{
    struct hwmc_shm_reduce_scatter *s = (struct hwmc_shm_reduce_scatter *) op;

    if (!show_input(s))
        return HWMC_AGAIN;
    while (s->own.bytes > 0 && s->turn < op->group->size) {
        int err = combine_next(s);

        if (err != HWMC_OK)
            return err;
    }
    return hwmc_shm_op_end(op);
}

static int step_vector(struct hwmc_shm_op *op)
{
    struct hwmc_shm_reduce_scatter *s = (struct hwmc_shm_reduce_scatter *) op;
    int err = hwmc_shm_op_step(s->part);

    op->moved = s->part->moved;
    if (err != HWMC_OK || s->last)
        return err;
    hwmc_shm_scatter_begin(&s->down, op->group, 0, s->work, &s->blocks, s->out, s->own.bytes);
    s->part = &s->down.op;
    s->last = true;
    op->serial = s->part->serial;
    op->moved = true;
    return HWMC_AGAIN;
}

int hwmc_shm_reduce_scatter_begin(struct hwmc_shm_reduce_scatter *s, struct hwmc_shm_group *g,
                                  const struct hwmc_shm_tree *tree,
                                  const struct hwmc_shm_operation *operation, const void *in,
                                  const struct hwmc_shm_vector *blocks, uint64_t length, void *out,
                                  void *work)
{
    struct hwmc_shm_range own = hwmc_shm_part_of(blocks, g->rank);
    bool direct = hwmc_shm_reduction_is_direct(g, length);
    uint64_t count = length / operation->element;
    int err = HWMC_OK;

    if (operation->element > g->segment->layout.chunk / 2)
        return HWMC_ERR_LIMIT;
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
        hwmc_shm_op_begin(&s->op, g, length == 0 ? hwmc_shm_op_nothing : step_alone);
        return HWMC_OK;
    }
    if (is_shown(g, length)) {
        hwmc_shm_op_begin(&s->op, g, step_shown);
        return HWMC_OK;
    }
    err = direct ? hwmc_shm_reduction_begin_apart(&s->up, g, operation, in, out, count, own.at,
                                                  own.bytes)
                 : hwmc_shm_reduction_begin(&s->up, g, tree, 0, operation, in, work, count);
    if (err != HWMC_OK)
        return err;
    s->part = &s->up.op;
    s->op = (struct hwmc_shm_op){.group = g, .serial = s->part->serial, .step = step_vector};
    return HWMC_OK;
}
