/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * gather_give: what a rank does for its own part to come to the readers. Inline, that is in its
 * slot, and nobody acknowledges it. Chunks are put into buffers, and a buffer is used again when
 * all readers have taken the round that it was for. Direct, it waits until all have read it; or it
 * asks the root where the part belongs, writes it there and says so, and the root waits for that.
 */
#include "gather_impl.h"

/* Readers have taken the rounds below `rounds`. */
static bool taken(struct bcast_hw_node_gather *w, uint64_t rounds)
{
    const struct bcast_hw_node_group *g = w->op.group;

    if (!w->to_all)
        return bcast_hw_node_lines_taken(&w->op, w->root) >= rounds;
    for (; w->seen < g->size; w->seen++)
        if (bcast_hw_node_lines_taken(&w->op, g->ring[g->rank + w->seen]) < rounds)
            return false;
    w->seen = 1;
    return true;
}

/* Puts a chunk into the next buffer, if that may be. */
static int put(struct bcast_hw_node_gather *w)
{
    struct bcast_hw_node_group *g = w->op.group;
    uint32_t buffers = g->buffers;
    uint64_t *used = bcast_hw_node_next_used(g);
    uint64_t at = w->put * g->params.chunk;
    size_t n = bcast_hw_node_parts_next(at, w->length, g->params.chunk);

    if (w->put >= buffers ? !taken(w, w->put - buffers + 1)
                          : !bcast_hw_node_group_all_finished(g, *used))
        return BCAST_HW_AGAIN;
    memcpy(bcast_hw_node_next_buffer(g), w->in + at, n);
    *used = w->op.serial;
    g->chunks++;
    bcast_hw_node_lines_show(&w->op, ++w->put);
    w->op.moved = true;
    return at + n < w->length ? BCAST_HW_AGAIN : BCAST_HW_OK;
}

/* Writes to the root's memory. */
static int write_to_root(struct bcast_hw_node_gather *w)
{
    const struct bcast_hw_node_group *g = w->op.group;
    const struct bcast_hw_node_out *root = &bcast_hw_node_lines(&w->op, w->root)->out;
    uint64_t end;
    size_t n;
    int err;

    if (!w->asked) {
        if (bcast_hw_node_load(&root->serial) != w->op.serial)
            return BCAST_HW_AGAIN;
        err = bcast_hw_node_parts_ask(&w->op, w->root, &w->place);
        if (err != BCAST_HW_OK)
            return err;
        w->asked = true;
    }
    end = bcast_hw_node_parts_agree(&w->op, w->place.bytes, w->length);
    n = bcast_hw_node_parts_next(w->moved, end, g->params.copy_step);
    if (n > 0) {
        err = bcast_hw_node_group_put(g, w->root, root->addr + w->place.at + w->moved,
                                      w->in + w->moved, n);
        if (err != BCAST_HW_OK)
            return err;
        w->moved += n;
        w->op.moved = true;
    }
    if (w->moved < end)
        return BCAST_HW_AGAIN;
    bcast_hw_node_lines_ack(&w->op, 1);
    return BCAST_HW_OK;
}

int bcast_hw_node_gather_open(struct bcast_hw_node_gather *w)
{
    struct bcast_hw_node_group *g = w->op.group;
    struct bcast_hw_node_slot *slot = bcast_hw_node_lines(&w->op, g->rank);
    bool root = !w->to_all && g->rank == w->root;

    if (w->op.opened)
        return BCAST_HW_OK;
    if (!bcast_hw_node_group_may_open(g))
        return BCAST_HW_AGAIN;
    if (root) {
        bcast_hw_node_parts_tell(&w->parts, slot->out.body);
    } else if (w->length <= g->params.inline_max) {
        if (w->length > 0)
            memcpy(slot->out.body, w->in, w->length);
        w->given = true;
    }
    if (root)
        bcast_hw_node_lines_open(&w->op, w->length, (uintptr_t) w->out, 0);
    else if (bcast_hw_node_parts_direct(g, w->length))
        bcast_hw_node_lines_open(&w->op, w->length, (uintptr_t) w->in, 0);
    else
        bcast_hw_node_lines_open(&w->op, w->length, 0, g->chunks);
    return BCAST_HW_OK;
}

int bcast_hw_node_gather_give(struct bcast_hw_node_gather *w)
{
    if (!bcast_hw_node_parts_direct(w->op.group, w->length))
        return put(w);
    if (!w->to_all)
        return write_to_root(w);
    return taken(w, 1) ? BCAST_HW_OK : BCAST_HW_AGAIN;
}
