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
static uint64_t sum_parts(const struct hwmc_shm_scatter *w, uint64_t *longest)
{
    const struct hwmc_shm_group *g = w->op.group;
    uint64_t all = w->in_vector.each != NULL ? g->size * sizeof(uint64_t) : w->in_vector.bytes;

    *longest = 0;
    for (uint32_t k = 1; k < g->size; k++) {
        uint64_t bytes = hwmc_shm_part_of(&w->in_vector, g->ring[g->rank + k]).bytes;

        all += bytes;
        if (bytes > *longest)
            *longest = bytes;
    }
    return all;
}

static enum hwmc_shm_scatter_form form_of(const struct hwmc_shm_scatter *w)
{
    const struct hwmc_shm_group *g = w->op.group;
    uint64_t longest, all;

    if (g->size == 1 || (!w->of_all && g->rank != w->root))
        return HWMC_SHM_SCATTER_NONE;
    all = sum_parts(w, &longest);
    if (hwmc_shm_vector_direct(g, longest))
        return HWMC_SHM_SCATTER_DIRECT;
    if (all <= g->params.inline_max)
        return HWMC_SHM_SCATTER_BODY;
    return all <= g->params.chunk ? HWMC_SHM_SCATTER_BUFFER : HWMC_SHM_SCATTER_CHUNKS;
}

static void pack_parts(const struct hwmc_shm_scatter *w, unsigned char *to)
{
    const struct hwmc_shm_group *g = w->op.group;
    bool uneven = w->in_vector.each != NULL;
    unsigned char *lengths = to;

    if (uneven)
        to += g->size * sizeof(uint64_t);
    for (uint32_t r = 0; r < g->size; r++) {
        struct hwmc_shm_range part = hwmc_shm_part_of(&w->in_vector, r);

        if (uneven && r == g->rank)
            part.bytes = 0;
        if (uneven)
            memcpy(lengths + r * sizeof(uint64_t), &part.bytes, sizeof(uint64_t));
        if (part.bytes > 0 && r != g->rank)
            memcpy(to, w->in + part.at, part.bytes);
        to += part.bytes;
    }
}

int hwmc_shm_scatter_open(struct hwmc_shm_scatter *w)
{
    struct hwmc_shm_group *g = w->op.group;
    struct hwmc_shm_out *out = &hwmc_shm_lines(&w->op, g->rank)->out;
    uint64_t *used = hwmc_shm_next_used(g);
    uint64_t length = w->in_vector.each != NULL ? HWMC_SHM_SCATTER_UNEVEN : w->in_vector.bytes;
    uint64_t addr = 0;

    if (w->op.opened)
        return HWMC_OK;
    if (!hwmc_shm_group_may_open(g))
        return HWMC_AGAIN;
    w->form = form_of(w);
    if (w->form == HWMC_SHM_SCATTER_BUFFER) {
        if (!hwmc_shm_group_all_finished(g, *used))
            return HWMC_AGAIN;
        *used = w->op.serial;
        pack_parts(w, hwmc_shm_next_buffer(g));
    } else if (w->form == HWMC_SHM_SCATTER_BODY) {
        pack_parts(w, out->body);
    } else if (w->form == HWMC_SHM_SCATTER_DIRECT) {
        addr = (uintptr_t) w->in;
        hwmc_shm_vector_tell(&w->in_vector, out->body);
    }
    hwmc_shm_lines_open(&w->op, length, addr, g->chunks);
    if (w->form == HWMC_SHM_SCATTER_BUFFER)
        g->chunks++;
    if (w->form < HWMC_SHM_SCATTER_CHUNKS) {
        w->done |= HWMC_SHM_PARTS_GIVEN;
        hwmc_shm_lines_show(&w->op, w->form);
    }
    return HWMC_OK;
}

/* What is in the buffer has been read. */
static bool is_free(const struct hwmc_shm_scatter *w, uint32_t buffer)
{
    struct hwmc_shm_group *g = w->op.group;
    uint64_t held = w->held[buffer];

    if (held == 0)
        return hwmc_shm_group_all_finished(g, g->used[buffer]);
    return hwmc_shm_lines_taken(&w->op, g->ring[g->rank + (held >> 32)]) >= held;
}

/* Puts the next chunk. OK: it was the last one of all; AGAIN. */
static int put_chunk(struct hwmc_shm_scatter *w)
{
    struct hwmc_shm_group *g = w->op.group;
    struct hwmc_shm_range part = hwmc_shm_part_of(&w->in_vector, g->ring[g->rank + w->to]);
    uint64_t running = g->chunks + w->to + w->put;
    uint32_t buffer = (uint32_t) (running & (g->buffers - 1));
    unsigned char *to = hwmc_shm_buffer(g, g->rank, running);
    size_t n;
    uint64_t at = hwmc_shm_scatter_range(w, w->put, part.bytes, &n);

    if (!is_free(w, buffer))
        return HWMC_AGAIN;
    if (w->put == 0)
        memcpy(to, &part.bytes, sizeof(part.bytes));
    if (n > 0)
        memcpy(hwmc_shm_scatter_data(to, w->put), w->in + part.at + at, n);
    w->held[buffer] = hwmc_shm_scatter_mark(w->to, ++w->put);
    g->used[buffer] = w->op.serial;
    hwmc_shm_lines_show(&w->op, w->held[buffer]);
    w->op.moved = true;
    if (at + n == part.bytes) {
        w->to++;
        w->put = 0;
    }
    return w->to < g->size ? HWMC_AGAIN : HWMC_OK;
}

int hwmc_shm_scatter_give(struct hwmc_shm_scatter *w)
{
    const struct hwmc_shm_group *g = w->op.group;

    if (w->form == HWMC_SHM_SCATTER_CHUNKS)
        return put_chunk(w);
    assert(w->form == HWMC_SHM_SCATTER_DIRECT);
    for (; w->to < g->size; w->to++)
        if (hwmc_shm_lines_taken(&w->op, g->ring[g->rank + w->to]) <
            hwmc_shm_scatter_mark(w->to + 1, 0))
            return HWMC_AGAIN;
    return HWMC_OK;
}
