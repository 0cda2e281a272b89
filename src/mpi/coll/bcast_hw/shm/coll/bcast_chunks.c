/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * bcast_chunks: through buffers of the segment, chunk by chunk (Velamati et al. 2007, section 3.3,
 * "Local Store Based Tree"). A rank with children puts each chunk into the next of its buffers and
 * shows how many it has put; a child takes it from there, and shows how many it has taken. A buffer
 * is used again when all children have taken what was in it, so with two of them one is filled
 * while the other is read.
 *
 *   root        from its memory to its buffer
 *   TREE        from the parent's buffer to the own one, which the children then see, and from
 *               there to memory; a rank without children: to memory at once
 *   TREEMM      from the parent's buffer to memory; when all is there, from memory to the own
 *               buffers; or, where there is not room for all, as TREE
 *   OTA, G, AG  all are children of the root; with OTA rank i begins i * shift into each chunk
 *
 * Example, 0 -> 1 -> 2, three chunks a b c, two buffers. 0 puts a, b; 1 takes a to its buffer and
 * shows put 1, taken 1; now 0 may put c where a was; 2 takes a. 0 is done once it has put c, though
 * nobody has taken it: the next use of that buffer waits until all have finished this collective
 * (shm/segment/slot.h, rule 4).
 */
#include <string.h>

#include "bcast_impl.h"
#include "../copy/nontemporal.h"

static uint64_t chunk_at(const struct hwmc_shm_bcast *b, uint64_t chunk)
{
    return chunk * b->op.group->params.chunk;
}

static size_t bytes_of(const struct hwmc_shm_bcast *b, uint64_t chunk)
{
    return hwmc_shm_min(b->op.group->params.chunk, b->length - chunk_at(b, chunk));
}

void hwmc_shm_bcast_chunks_init(struct hwmc_shm_bcast *b)
{
    uint32_t chunk = b->op.group->params.chunk;

    b->way.chunks.num = (b->length + chunk - 1) / chunk;
    b->way.chunks.first = b->op.group->chunks;
    b->way.chunks.scan_low = UINT64_MAX;
}

/* All children have taken the chunks below `chunk`. The scan stays at the first that has not. */
static bool is_acked(struct hwmc_shm_bcast *b, uint64_t chunk)
{
    struct hwmc_shm_bcast_chunks *c = &b->way.chunks;

    while (chunk > c->acked) {
        for (; c->scan < b->tree.num_children; c->scan++) {
            uint64_t taken = hwmc_shm_lines_taken(&b->op, b->tree.children[c->scan]);

            if (taken < chunk)
                return false;
            c->scan_low = hwmc_shm_min(c->scan_low, taken);
        }
        c->acked = c->scan_low;
        c->scan = 0;
        c->scan_low = UINT64_MAX;
    }
    return true;
}

/* The buffer for the next chunk to put; NULL: what is in it has not been read yet. */
static unsigned char *free_buffer(struct hwmc_shm_bcast *b)
{
    const struct hwmc_shm_bcast_chunks *c = &b->way.chunks;
    struct hwmc_shm_group *g = b->op.group;
    uint32_t buffers = g->buffers;
    uint64_t *used = hwmc_shm_next_used(g);

    if (c->put >= buffers ? !is_acked(b, c->put - buffers + 1)
                          : !hwmc_shm_group_all_finished(g, *used))
        return NULL;
    *used = b->op.serial;
    return hwmc_shm_next_buffer(g);
}

/* The next chunk is in its buffer. */
static void show_put(struct hwmc_shm_bcast *b)
{
    b->op.group->chunks++;
    hwmc_shm_lines_show(&b->op, ++b->way.chunks.put);
}

/* Puts a chunk from memory. */
static void put_chunk(struct hwmc_shm_bcast *b)
{
    uint64_t from = chunk_at(b, b->way.chunks.put);
    size_t n = bytes_of(b, b->way.chunks.put);
    unsigned char *to;

    if (b->here < from + n || (to = free_buffer(b)) == NULL)
        return;
    memcpy(to, b->buf + from, n);
    show_put(b);
    b->op.moved = true;
}

/* To memory, rank i from i * shift on with OTA. TREEMM reads it from there once more. */
static void take_to_memory(const struct hwmc_shm_bcast *b, const unsigned char *from, uint64_t to,
                           size_t n)
{
    const struct hwmc_shm_group *g = b->op.group;
    bool relays = b->tree.num_children > 0 && b->algorithm == HWMC_SHM_BCAST_TREEMM;
    bool past = b->length >= g->params.stream_min && !relays;
    size_t shift = 0;

    n = hwmc_shm_bcast_fit(b->room, to, n);
    if (n == 0)
        return;
    if (b->algorithm == HWMC_SHM_BCAST_OTA)
        shift = (uint64_t) g->rank * g->params.shift % n;
    hwmc_shm_nontemporal_or_copy(past, b->buf + to + shift, from + shift, n - shift);
    hwmc_shm_nontemporal_or_copy(past, b->buf + to, from, shift);
}

/* Takes a chunk from the parent, if there is one. */
static void take_chunk(struct hwmc_shm_bcast *b)
{
    struct hwmc_shm_bcast_chunks *c = &b->way.chunks;
    const struct hwmc_shm_out *out = &hwmc_shm_lines(&b->op, b->tree.parent)->out;
    bool relays = b->tree.num_children > 0 && (b->algorithm == HWMC_SHM_BCAST_TREE || b->cut);
    const unsigned char *from;
    unsigned char *to = NULL;
    size_t n = bytes_of(b, c->taken);

    if (hwmc_shm_load(&out->ready) <= c->taken) {
        hwmc_shm_group_await(b->op.group, b->tree.parent);
        return;
    }
    if (relays && (to = free_buffer(b)) == NULL)
        return;
    from = hwmc_shm_buffer(b->op.group, b->tree.parent, out->first + c->taken);
    if (relays) {
        memcpy(to, from, n);
        show_put(b);
        hwmc_shm_lines_ack(&b->op, c->taken + 1);
        take_to_memory(b, to, b->here, n);
    } else {
        take_to_memory(b, from, b->here, n);
        hwmc_shm_lines_ack(&b->op, c->taken + 1);
    }
    c->taken++;
    b->here += n;
    b->op.moved = true;
}

int hwmc_shm_bcast_chunks(struct hwmc_shm_op *op)
{
    struct hwmc_shm_bcast *b = (struct hwmc_shm_bcast *) op;
    struct hwmc_shm_bcast_chunks *c = &b->way.chunks;
    uint64_t to_put = b->tree.num_children > 0 ? c->num : 0;

    if (!hwmc_shm_lines_open(&b->op, b->length, 0, c->first))
        return HWMC_AGAIN;
    if (!hwmc_shm_bcast_is_root(b) && c->taken < c->num) {
        if (hwmc_shm_bcast_look(b) != HWMC_OK)
            return HWMC_AGAIN;
        take_chunk(b);
    } else if (c->put < to_put) {
        put_chunk(b);
    }
    if (b->here < b->length || c->put < to_put)
        return HWMC_AGAIN;
    return hwmc_shm_op_end(op);
}
