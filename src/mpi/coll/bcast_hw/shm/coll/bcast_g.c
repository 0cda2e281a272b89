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
static int gather_addresses(struct hwmc_shm_bcast *b)
{
    struct hwmc_shm_bcast_g *g = &b->way.g;

    for (; g->next < b->tree.num_children; g->next++) {
        int err = hwmc_shm_lines_look(&b->op, b->tree.children[g->next], b->length);

        if (err == HWMC_AGAIN)
            return err;
        if (err != HWMC_OK)
            b->op.verdict = err;
    }
    g->gathered = true;
    g->next = 0;
    return HWMC_OK;
}

/* Writes the chunk to one rank. */
static int give_chunk(struct hwmc_shm_bcast *b)
{
    struct hwmc_shm_bcast_g *g = &b->way.g;
    uint32_t peer = b->tree.children[g->next];
    uint64_t n = hwmc_shm_min(b->op.group->params.chunk, b->length - g->at);
    int err;

    if (b->here < g->at + n)
        return HWMC_OK;
    err = hwmc_shm_group_put(b->op.group, peer, hwmc_shm_lines(&b->op, peer)->out.addr + g->at,
                             b->buf + g->at, hwmc_shm_bcast_wants(b, peer, g->at, n));
    b->op.moved = err == HWMC_OK;
    if (err == HWMC_OK && ++g->next == b->tree.num_children) {
        g->next = 0;
        g->at += n;
    }
    return err;
}

static int step_at_root(struct hwmc_shm_bcast *b)
{
    struct hwmc_shm_bcast_g *g = &b->way.g;
    int err = g->gathered ? give_chunk(b) : gather_addresses(b);

    if (err < 0)
        return err;
    if (g->at < b->length)
        return HWMC_AGAIN;
    hwmc_shm_lines_show(&b->op, b->length);
    return hwmc_shm_op_end(&b->op);
}

int hwmc_shm_bcast_g(struct hwmc_shm_op *op)
{
    struct hwmc_shm_bcast *b = (struct hwmc_shm_bcast *) op;
    int err;

    if (!hwmc_shm_lines_open(&b->op, b->room, (uintptr_t) b->buf, 0))
        return HWMC_AGAIN;
    if (hwmc_shm_bcast_is_root(b))
        return step_at_root(b);
    err = hwmc_shm_bcast_look(b);
    if (err != HWMC_OK)
        return err;
    if (hwmc_shm_load(&hwmc_shm_lines(&b->op, b->root)->out.ready) == 0)
        return HWMC_AGAIN;
    b->here = b->length;
    return hwmc_shm_op_end(op);
}
