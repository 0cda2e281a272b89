/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * bcast_g: the root copies all data (Velamati et al. 2007, section 3.3, "G"). Each rank shows where
 * it wants the message; when all have, the root writes it there, one chunk to all before the next
 * one, so that the chunk is read from memory once. At the end it shows that all is there.
 *
 * One core does all the copying; it serves where the others have something else to do.
 */
#include "bcast_impl.h"

/* All have told their addresses: OK or AGAIN. */
static int gather(struct bcast_hw_node_bcast *b)
{
    struct bcast_hw_node_bcast_g *g = &b->way.g;

    for (; g->next < b->tree.num_children; g->next++) {
        int err = bcast_hw_node_lines_look(&b->op, b->tree.children[g->next], b->length);

        if (err == BCAST_HW_AGAIN)
            return err;
        if (err != BCAST_HW_OK)
            b->op.verdict = err;
    }
    g->gathered = true;
    g->next = 0;
    return BCAST_HW_OK;
}

/* Writes the chunk to one rank. */
static int give(struct bcast_hw_node_bcast *b)
{
    struct bcast_hw_node_bcast_g *g = &b->way.g;
    uint32_t peer = b->tree.children[g->next];
    uint64_t n = bcast_hw_node_min(b->op.group->params.chunk, b->length - g->at);
    int err;

    if (b->here < g->at + n)
        return BCAST_HW_OK;
    err = bcast_hw_node_group_put(b->op.group, peer,
                                  bcast_hw_node_lines(&b->op, peer)->out.addr + g->at,
                                  b->buf + g->at, bcast_hw_node_bcast_wants(b, peer, g->at, n));
    b->op.moved = err == BCAST_HW_OK;
    if (err == BCAST_HW_OK && ++g->next == b->tree.num_children) {
        g->next = 0;
        g->at += n;
    }
    return err;
}

static int step_at_root(struct bcast_hw_node_bcast *b)
{
    struct bcast_hw_node_bcast_g *g = &b->way.g;
    int err = g->gathered ? give(b) : gather(b);

    if (err < 0)
        return err;
    if (g->at < b->length)
        return BCAST_HW_AGAIN;
    bcast_hw_node_lines_show(&b->op, b->length);
    return bcast_hw_node_op_end(&b->op);
}

int bcast_hw_node_bcast_g(struct bcast_hw_node_op *op)
{
    struct bcast_hw_node_bcast *b = (struct bcast_hw_node_bcast *) op;
    int err;

    if (!bcast_hw_node_lines_open(&b->op, b->room, (uintptr_t) b->buf, 0))
        return BCAST_HW_AGAIN;
    if (bcast_hw_node_bcast_is_root(b))
        return step_at_root(b);
    err = bcast_hw_node_bcast_look(b);
    if (err != BCAST_HW_OK)
        return err;
    if (bcast_hw_node_load(&bcast_hw_node_lines(&b->op, b->root)->out.ready) == 0)
        return BCAST_HW_AGAIN;
    b->here = b->length;
    return bcast_hw_node_op_end(op);
}
