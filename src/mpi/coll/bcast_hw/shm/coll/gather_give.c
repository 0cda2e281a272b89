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
static bool rounds_taken(struct hwmc_shm_gather *w, uint64_t rounds)
{
    const struct hwmc_shm_group *g = w->op.group;

    if (!w->to_all)
        return hwmc_shm_lines_taken(&w->op, w->root) >= rounds;
    for (; w->seen < g->size; w->seen++)
        if (hwmc_shm_lines_taken(&w->op, g->ring[g->rank + w->seen]) < rounds)
            return false;
    w->seen = 1;
    return true;
}

/* Puts a chunk into the next buffer, if that may be. */
static int put_chunk(struct hwmc_shm_gather *w)
{
    struct hwmc_shm_group *g = w->op.group;
    uint32_t buffers = g->buffers;
    uint64_t *used = hwmc_shm_next_used(g);
    uint64_t at = w->put * g->params.chunk;
    size_t n = hwmc_shm_vector_next(at, w->length, g->params.chunk);

    if (w->put >= buffers ? !rounds_taken(w, w->put - buffers + 1)
                          : !hwmc_shm_group_all_finished(g, *used))
        return HWMC_AGAIN;
    memcpy(hwmc_shm_next_buffer(g), w->in + at, n);
    *used = w->op.serial;
    g->chunks++;
    hwmc_shm_lines_show(&w->op, ++w->put);
    w->op.moved = true;
    return at + n < w->length ? HWMC_AGAIN : HWMC_OK;
}

/* Writes to the root's memory. */
static int write_to_root(struct hwmc_shm_gather *w)
{
    const struct hwmc_shm_group *g = w->op.group;
    const struct hwmc_shm_out *root = &hwmc_shm_lines(&w->op, w->root)->out;
    uint64_t end;
    size_t n;
    int err;

    if (!w->asked) {
        if (hwmc_shm_load(&root->serial) != w->op.serial)
            return HWMC_AGAIN;
        err = hwmc_shm_vector_ask(&w->op, w->root, &w->place);
        if (err != HWMC_OK)
            return err;
        w->asked = true;
    }
    end = hwmc_shm_vector_agree(&w->op, w->place.bytes, w->length);
    n = hwmc_shm_vector_next(w->moved, end, g->params.copy_step);
    if (n > 0) {
        err = hwmc_shm_group_put(g, w->root, root->addr + w->place.at + w->moved, w->in + w->moved,
                                 n);
        if (err != HWMC_OK)
            return err;
        w->moved += n;
        w->op.moved = true;
    }
    if (w->moved < end)
        return HWMC_AGAIN;
    hwmc_shm_lines_ack(&w->op, 1);
    return HWMC_OK;
}

int hwmc_shm_gather_open(struct hwmc_shm_gather *w)
{
    struct hwmc_shm_group *g = w->op.group;
    struct hwmc_shm_slot *slot = hwmc_shm_lines(&w->op, g->rank);
    bool root = !w->to_all && g->rank == w->root;

    if (w->op.opened)
        return HWMC_OK;
    if (!hwmc_shm_group_may_open(g))
        return HWMC_AGAIN;
    if (root) {
        hwmc_shm_vector_tell(&w->vector, slot->out.body);
    } else if (w->length <= g->params.inline_max) {
        if (w->length > 0)
            memcpy(slot->out.body, w->in, w->length);
        w->done |= HWMC_SHM_PARTS_GIVEN;
    }
    if (root)
        hwmc_shm_lines_open(&w->op, w->length, (uintptr_t) w->out, 0);
    else if (hwmc_shm_vector_direct(g, w->length))
        hwmc_shm_lines_open(&w->op, w->length, (uintptr_t) w->in, 0);
    else
        hwmc_shm_lines_open(&w->op, w->length, 0, g->chunks);
    return HWMC_OK;
}

int hwmc_shm_gather_give(struct hwmc_shm_gather *w)
{
    if (!hwmc_shm_vector_direct(w->op.group, w->length))
        return put_chunk(w);
    if (!w->to_all)
        return write_to_root(w);
    return rounds_taken(w, 1) ? HWMC_OK : HWMC_AGAIN;
}
