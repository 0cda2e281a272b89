/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * gather: see gather.h. Here is the readers' side, in rounds: in each, a reader takes a chunk of
 * every rank that has one, from the rank after its own on, and then shows how many rounds it has
 * taken. In the first it takes what comes inline or direct as well. How many there are follows from
 * the lengths in the lines, so all readers count alike, whatever they expect.
 *
 * Example, rank 0 of 3 reads: 1 has three chunks, 2 has 8 bytes. Round 0: chunk 0 of 1, the 8 bytes
 * from the slot of 2, taken 1. Rounds 1 and 2: the rest of 1.
 */
#include "gather.h"

#include <assert.h>

#include "gather_impl.h"

/* Reads a chunk of `peer` for this round, `room` bytes of it; AGAIN: it is not there. */
static int read_chunk(struct bcast_hw_node_gather *w, uint32_t peer, unsigned char *to,
                      uint64_t room)
{
    const struct bcast_hw_node_group *g = w->op.group;
    const struct bcast_hw_node_out *out = &bcast_hw_node_lines(&w->op, peer)->out;
    uint64_t at = w->round * g->params.chunk;
    size_t n = bcast_hw_node_parts_next(at, room, g->params.chunk);

    if (at >= out->length)
        return BCAST_HW_OK;
    if (bcast_hw_node_load(&out->ready) <= w->round)
        return BCAST_HW_AGAIN;
    if (n > 0)
        memcpy(to + at, bcast_hw_node_buffer(g, peer, out->first + w->round), n);
    if (out->length - at > g->params.chunk)
        w->more = true;
    w->op.moved = true;
    return BCAST_HW_OK;
}

/* Reads some of the memory of `peer`; OK: it is done with. */
static int read_memory(struct bcast_hw_node_gather *w, uint32_t peer, unsigned char *to,
                       uint64_t room)
{
    const struct bcast_hw_node_group *g = w->op.group;
    size_t n = bcast_hw_node_parts_next(w->at, room, g->params.copy_step);

    if (n > 0) {
        uint64_t from = bcast_hw_node_lines(&w->op, peer)->out.addr + w->at;
        int err = bcast_hw_node_group_get(g, peer, to + w->at, from, n);

        if (err != BCAST_HW_OK)
            return err;
        w->at += n;
        w->op.moved = true;
    }
    if (w->at < room)
        return BCAST_HW_AGAIN;
    w->at = 0;
    return BCAST_HW_OK;
}

/* Of the rank that is next, what belongs to this round. OK: done with; AGAIN; or as copy.h. */
static int read_next(struct bcast_hw_node_gather *w)
{
    const struct bcast_hw_node_group *g = w->op.group;
    uint32_t peer = g->ring[g->rank + w->next];
    const struct bcast_hw_node_out *out = &bcast_hw_node_lines(&w->op, peer)->out;
    struct bcast_hw_node_range part = bcast_hw_node_part_of(&w->parts, peer);
    uint64_t room;

    if (bcast_hw_node_load(&out->serial) != w->op.serial)
        return BCAST_HW_AGAIN;
    room = bcast_hw_node_parts_agree(&w->op, part.bytes, out->length);
    if (out->addr == 0 && out->length > g->params.inline_max)
        return read_chunk(w, peer, w->out + part.at, room);
    if (w->round > 0 || out->length == 0)
        return BCAST_HW_OK;
    if (out->addr != 0 && !w->to_all)
        return bcast_hw_node_lines_taken(&w->op, peer) > 0 ? BCAST_HW_OK : BCAST_HW_AGAIN;
    if (out->addr != 0)
        return read_memory(w, peer, w->out + part.at, room);
    if (room > 0)
        memcpy(w->out + part.at, out->body, room);
    return BCAST_HW_OK;
}

/* Until something large is read. OK: all is. */
static int read_some(struct bcast_hw_node_gather *w)
{
    uint32_t size = w->op.group->size;

    for (; w->next < size && !w->op.moved; w->next++) {
        int err = read_next(w);

        if (err != BCAST_HW_OK)
            return err;
    }
    if (w->next < size)
        return BCAST_HW_AGAIN;
    bcast_hw_node_lines_ack(&w->op, ++w->round);
    if (!w->more)
        return BCAST_HW_OK;
    w->more = false;
    w->next = 1;
    return BCAST_HW_AGAIN;
}

/* This rank's own part. OK: it is where it belongs. */
static int move_own(struct bcast_hw_node_gather *w)
{
    struct bcast_hw_node_range part = bcast_hw_node_part_of(&w->parts, w->op.group->rank);
    uint64_t n = bcast_hw_node_parts_agree(&w->op, part.bytes, w->length);

    return bcast_hw_node_parts_own(&w->op, w->out + part.at, w->in, n, &w->moved);
}

static int step(struct bcast_hw_node_op *op)
{
    struct bcast_hw_node_gather *w = (struct bcast_hw_node_gather *) op;
    int err = bcast_hw_node_gather_open(w);

    if (err != BCAST_HW_OK)
        return err;
    if (!w->given) {
        err = bcast_hw_node_gather_give(w);
        if (err < 0)
            return err;
        w->given = err == BCAST_HW_OK;
    }
    if (!w->own && !op->moved)
        w->own = move_own(w) == BCAST_HW_OK;
    if (!w->read && !op->moved) {
        err = read_some(w);
        if (err < 0)
            return err;
        w->read = err == BCAST_HW_OK;
    }
    return w->given && w->own && w->read ? bcast_hw_node_op_end(op) : BCAST_HW_AGAIN;
}

static void begin(struct bcast_hw_node_gather *w, struct bcast_hw_node_group *g, const void *in,
                  uint64_t length, void *out, const struct bcast_hw_node_parts *parts)
{
    bool reads = w->to_all || g->rank == w->root;

    bcast_hw_node_op_begin(&w->op, g, step);
    w->in = in;
    w->length = length;
    w->out = out;
    w->given = g->size == 1 || (!w->to_all && reads);
    w->own = !reads;
    w->read = !reads;
    w->seen = 1;
    w->next = 1;
    if (!reads)
        return;
    w->parts = *parts;
    if (in == NULL) {
        struct bcast_hw_node_range own = bcast_hw_node_part_of(parts, g->rank);

        w->in = w->out + own.at;
        w->length = own.bytes;
    }
}

void bcast_hw_node_gather_begin(struct bcast_hw_node_gather *w, struct bcast_hw_node_group *g,
                                uint32_t root, const void *in, uint64_t length, void *out,
                                const struct bcast_hw_node_parts *parts)
{
    assert(root < g->size);
    memset(w, 0, sizeof(*w));
    w->root = root;
    begin(w, g, in, length, out, parts);
}

void bcast_hw_node_gather_begin_to_all(struct bcast_hw_node_gather *w,
                                       struct bcast_hw_node_group *g, const void *in,
                                       uint64_t length, void *out,
                                       const struct bcast_hw_node_parts *parts)
{
    memset(w, 0, sizeof(*w));
    w->to_all = true;
    begin(w, g, in, length, out, parts);
}
