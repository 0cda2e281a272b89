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
static int read_chunk(struct hwmc_shm_gather *w, uint32_t peer, unsigned char *to, uint64_t room)
{
    const struct hwmc_shm_group *g = w->op.group;
    const struct hwmc_shm_out *out = &hwmc_shm_lines(&w->op, peer)->out;
    uint64_t at = w->round * g->params.chunk;
    size_t n = hwmc_shm_vector_next(at, room, g->params.chunk);

    if (at >= out->length)
        return HWMC_OK;
    if (hwmc_shm_load(&out->ready) <= w->round)
        return HWMC_AGAIN;
    if (n > 0)
        memcpy(to + at, hwmc_shm_buffer(g, peer, out->first + w->round), n);
    if (out->length - at > g->params.chunk)
        w->more = true;
    w->op.moved = true;
    return HWMC_OK;
}

/* Reads some of the memory of `peer`; OK: it is done with. */
static int read_memory(struct hwmc_shm_gather *w, uint32_t peer, unsigned char *to, uint64_t room)
{
    const struct hwmc_shm_group *g = w->op.group;
    size_t n = hwmc_shm_vector_next(w->at, room, g->params.copy_step);

    if (n > 0) {
        uint64_t from = hwmc_shm_lines(&w->op, peer)->out.addr + w->at;
        int err = hwmc_shm_group_get(g, peer, to + w->at, from, n);

        if (err != HWMC_OK)
            return err;
        w->at += n;
        w->op.moved = true;
    }
    if (w->at < room)
        return HWMC_AGAIN;
    w->at = 0;
    return HWMC_OK;
}

static uint32_t next_peer(const struct hwmc_shm_gather *w)
{
    const struct hwmc_shm_group *g = w->op.group;

    return g->ring[g->rank + w->next];
}

/* Of the rank that is next, what belongs to this round. OK: done with; AGAIN; or as
 * shm/copy/copy.h. */
static int read_next(struct hwmc_shm_gather *w)
{
    const struct hwmc_shm_group *g = w->op.group;
    const uint32_t peer = next_peer(w);
    const struct hwmc_shm_out *out = &hwmc_shm_lines(&w->op, peer)->out;
    struct hwmc_shm_range part = hwmc_shm_part_of(&w->vector, peer);
    uint64_t room;

    if (hwmc_shm_load(&out->serial) != w->op.serial)
        return HWMC_AGAIN;
    room = hwmc_shm_vector_agree(&w->op, part.bytes, out->length);
    if (out->addr == 0 && out->length > g->params.inline_max)
        return read_chunk(w, peer, w->out + part.at, room);
    if (w->round > 0 || out->length == 0)
        return HWMC_OK;
    if (out->addr != 0 && !w->to_all)
        return hwmc_shm_lines_taken(&w->op, peer) > 0 ? HWMC_OK : HWMC_AGAIN;
    if (out->addr != 0)
        return read_memory(w, peer, w->out + part.at, room);
    if (room > 0)
        memcpy(w->out + part.at, out->body, room);
    return HWMC_OK;
}

/* Until something large is read. OK: all is. */
static int read_some(struct hwmc_shm_gather *w)
{
    uint32_t size = w->op.group->size;

    for (; w->next < size && !w->op.moved; w->next++) {
        int err = read_next(w);

        if (err != HWMC_OK)
            return err;
    }
    if (w->next < size)
        return HWMC_AGAIN;
    hwmc_shm_lines_ack(&w->op, ++w->round);
    if (!w->more)
        return HWMC_OK;
    w->more = false;
    w->next = 1;
    return HWMC_AGAIN;
}

/* This rank's own part. OK: it is where it belongs. */
static int move_own(struct hwmc_shm_gather *w)
{
    struct hwmc_shm_range part = hwmc_shm_part_of(&w->vector, w->op.group->rank);
    uint64_t n = hwmc_shm_vector_agree(&w->op, part.bytes, w->length);

    return hwmc_shm_vector_own(&w->op, w->out + part.at, w->in, n, &w->moved);
}

/* A reader has given and moved its own, and the rank that is next has nothing for it yet. */
static bool waits_for_next(const struct hwmc_shm_gather *w)
{
    return w->done == (HWMC_SHM_PARTS_GIVEN | HWMC_SHM_PARTS_OWN) && !w->op.moved &&
           w->next < w->op.group->size;
}

static int gather_step(struct hwmc_shm_op *op)
{
    struct hwmc_shm_gather *w = (struct hwmc_shm_gather *) op;
    int err = hwmc_shm_gather_open(w);

    if (err != HWMC_OK)
        return err;
    if (!(w->done & HWMC_SHM_PARTS_GIVEN)) {
        err = hwmc_shm_gather_give(w);
        if (err < 0)
            return err;
        w->done |= err == HWMC_OK ? HWMC_SHM_PARTS_GIVEN : 0;
    }
    if (!(w->done & HWMC_SHM_PARTS_OWN) && !op->moved)
        w->done |= move_own(w) == HWMC_OK ? HWMC_SHM_PARTS_OWN : 0;
    if (!(w->done & HWMC_SHM_PARTS_READ) && !op->moved) {
        err = read_some(w);
        if (err < 0)
            return err;
        w->done |= err == HWMC_OK ? HWMC_SHM_PARTS_READ : 0;
    }
    if (w->done == HWMC_SHM_PARTS_ALL)
        return hwmc_shm_op_end(op);
    return waits_for_next(w) ? hwmc_shm_group_await(op->group, next_peer(w)) : HWMC_AGAIN;
}

static void gather_begin(struct hwmc_shm_gather *w, struct hwmc_shm_group *g, const void *in,
                         uint64_t length, void *out, const struct hwmc_shm_vector *vector)
{
    bool reads = w->to_all || g->rank == w->root;

    hwmc_shm_op_begin(&w->op, g, gather_step);
    w->in = in;
    w->length = length;
    w->out = out;
    w->done = reads ? 0 : HWMC_SHM_PARTS_OWN | HWMC_SHM_PARTS_READ;
    if (g->size == 1 || (!w->to_all && reads))
        w->done |= HWMC_SHM_PARTS_GIVEN;
    w->seen = 1;
    w->next = 1;
    if (!reads)
        return;
    w->vector = *vector;
    if (in == NULL) {
        struct hwmc_shm_range own = hwmc_shm_part_of(vector, g->rank);

        w->in = w->out + own.at;
        w->length = own.bytes;
    }
}

void hwmc_shm_gather_begin(struct hwmc_shm_gather *w, struct hwmc_shm_group *g, uint32_t root,
                           const void *in, uint64_t length, void *out,
                           const struct hwmc_shm_vector *vector)
{
    assert(root < g->size);
    memset(w, 0, sizeof(*w));
    w->root = root;
    gather_begin(w, g, in, length, out, vector);
}

void hwmc_shm_gather_begin_to_all(struct hwmc_shm_gather *w, struct hwmc_shm_group *g,
                                  const void *in, uint64_t length, void *out,
                                  const struct hwmc_shm_vector *vector)
{
    memset(w, 0, sizeof(*w));
    w->to_all = true;
    gather_begin(w, g, in, length, out, vector);
}
