/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * scatter_give: the side of a rank that has parts for others. Packed, they are all there when it
 * opens its line, and nobody acknowledges them. Chunks: it puts one part after the other into its
 * buffers, each when the rank that what was in the buffer was for has taken that. Direct: it waits
 * until all have read theirs.
 */
#include <assert.h>

#include "scatter_impl.h"

/* Bytes of all parts when they are packed, and of the longest one; its own is none. */
static uint64_t sum(const struct bcast_hw_node_scatter *w, uint64_t *longest)
{
    const struct bcast_hw_node_group *g = w->op.group;
    uint64_t all = w->in_parts.each != NULL ? g->size * sizeof(uint64_t) : w->in_parts.bytes;

    *longest = 0;
    for (uint32_t k = 1; k < g->size; k++) {
        uint64_t bytes = bcast_hw_node_part_of(&w->in_parts, g->ring[g->rank + k]).bytes;

        all += bytes;
        if (bytes > *longest)
            *longest = bytes;
    }
    return all;
}

static enum bcast_hw_node_scatter_form form_of(const struct bcast_hw_node_scatter *w)
{
    const struct bcast_hw_node_group *g = w->op.group;
    uint64_t longest, all;

    if (g->size == 1 || (!w->of_all && g->rank != w->root))
        return BCAST_HW_NODE_SCATTER_NONE;
    all = sum(w, &longest);
    if (bcast_hw_node_parts_direct(g, longest))
        return BCAST_HW_NODE_SCATTER_DIRECT;
    if (all <= g->params.inline_max)
        return BCAST_HW_NODE_SCATTER_BODY;
    return all <= g->params.chunk ? BCAST_HW_NODE_SCATTER_BUFFER : BCAST_HW_NODE_SCATTER_CHUNKS;
}

static void pack(const struct bcast_hw_node_scatter *w, unsigned char *to)
{
    const struct bcast_hw_node_group *g = w->op.group;
    bool uneven = w->in_parts.each != NULL;
    unsigned char *lengths = to;

    if (uneven)
        to += g->size * sizeof(uint64_t);
    for (uint32_t r = 0; r < g->size; r++) {
        struct bcast_hw_node_range part = bcast_hw_node_part_of(&w->in_parts, r);

        if (uneven && r == g->rank)
            part.bytes = 0;
        if (uneven)
            memcpy(lengths + r * sizeof(uint64_t), &part.bytes, sizeof(uint64_t));
        if (part.bytes > 0 && r != g->rank)
            memcpy(to, w->in + part.at, part.bytes);
        to += part.bytes;
    }
}

int bcast_hw_node_scatter_open(struct bcast_hw_node_scatter *w)
{
    struct bcast_hw_node_group *g = w->op.group;
    struct bcast_hw_node_out *out = &bcast_hw_node_lines(&w->op, g->rank)->out;
    uint64_t *used = bcast_hw_node_next_used(g);
    uint64_t length = w->in_parts.each != NULL ? BCAST_HW_NODE_SCATTER_UNEVEN : w->in_parts.bytes;
    uint64_t addr = 0;

    if (w->op.opened)
        return BCAST_HW_OK;
    if (!bcast_hw_node_group_may_open(g))
        return BCAST_HW_AGAIN;
    w->form = form_of(w);
    if (w->form == BCAST_HW_NODE_SCATTER_BUFFER) {
        if (!bcast_hw_node_group_all_finished(g, *used))
            return BCAST_HW_AGAIN;
        *used = w->op.serial;
        pack(w, bcast_hw_node_next_buffer(g));
    } else if (w->form == BCAST_HW_NODE_SCATTER_BODY) {
        pack(w, out->body);
    } else if (w->form == BCAST_HW_NODE_SCATTER_DIRECT) {
        addr = (uintptr_t) w->in;
        bcast_hw_node_parts_tell(&w->in_parts, out->body);
    }
    bcast_hw_node_lines_open(&w->op, length, addr, g->chunks);
    if (w->form == BCAST_HW_NODE_SCATTER_BUFFER)
        g->chunks++;
    w->given = w->form < BCAST_HW_NODE_SCATTER_CHUNKS;
    if (w->given)
        bcast_hw_node_lines_show(&w->op, w->form);
    return BCAST_HW_OK;
}

/* What is in the buffer has been read. */
static bool is_free(const struct bcast_hw_node_scatter *w, uint32_t buffer)
{
    struct bcast_hw_node_group *g = w->op.group;
    uint64_t held = w->held[buffer];

    if (held == 0)
        return bcast_hw_node_group_all_finished(g, g->used[buffer]);
    return bcast_hw_node_lines_taken(&w->op, g->ring[g->rank + (held >> 32)]) >= held;
}

/* Puts the next chunk. OK: it was the last one of all; AGAIN. */
static int put(struct bcast_hw_node_scatter *w)
{
    struct bcast_hw_node_group *g = w->op.group;
    struct bcast_hw_node_range part = bcast_hw_node_part_of(&w->in_parts, g->ring[g->rank + w->to]);
    uint64_t running = g->chunks + w->to + w->put;
    uint32_t buffer = (uint32_t) (running & (g->buffers - 1));
    unsigned char *to = bcast_hw_node_buffer(g, g->rank, running);
    size_t n;
    uint64_t at = bcast_hw_node_scatter_range(w, w->put, part.bytes, &n);

    if (!is_free(w, buffer))
        return BCAST_HW_AGAIN;
    if (w->put == 0)
        memcpy(to, &part.bytes, sizeof(part.bytes));
    if (n > 0)
        memcpy(bcast_hw_node_scatter_data(to, w->put), w->in + part.at + at, n);
    w->held[buffer] = bcast_hw_node_scatter_mark(w->to, ++w->put);
    g->used[buffer] = w->op.serial;
    bcast_hw_node_lines_show(&w->op, w->held[buffer]);
    w->op.moved = true;
    if (at + n == part.bytes) {
        w->to++;
        w->put = 0;
    }
    return w->to < g->size ? BCAST_HW_AGAIN : BCAST_HW_OK;
}

int bcast_hw_node_scatter_give(struct bcast_hw_node_scatter *w)
{
    const struct bcast_hw_node_group *g = w->op.group;

    if (w->form == BCAST_HW_NODE_SCATTER_CHUNKS)
        return put(w);
    assert(w->form == BCAST_HW_NODE_SCATTER_DIRECT);
    for (; w->to < g->size; w->to++)
        if (bcast_hw_node_lines_taken(&w->op, g->ring[g->rank + w->to]) <
            bcast_hw_node_scatter_mark(w->to + 1, 0))
            return BCAST_HW_AGAIN;
    return BCAST_HW_OK;
}
