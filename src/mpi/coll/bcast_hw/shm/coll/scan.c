/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * scan: see scan.h.
 *
 * Example of a chain, 3 ranks, chunks a b, exclusive: 0 puts a into a buffer and is through with
 * it; 1 puts its own a into a buffer, combines it with that of 0, shows it, and copies that of 0 to
 * its memory; 2 copies that of 1. Meanwhile 0 puts b. A buffer is used again when the next rank has
 * taken what is in it; or, in a later collective, when all have finished this one
 * (shm/segment/slot.h, rule 4).
 */
#include "scan.h"

#include <assert.h>
#include <string.h>

#include "../segment/lines_impl.h"

/* The operand of the rank whose turn it is, from the one before this rank down: OK, AGAIN, or
 * ERR_INVAL. */
static int combine_next(struct hwmc_shm_scan *s)
{
    uint32_t rank = s->op.group->rank, peer = rank - 1 - s->turn;
    const unsigned char *theirs = hwmc_shm_lines(&s->op, peer)->out.body;
    int err = hwmc_shm_lines_look(&s->op, peer, s->length);

    if (err != HWMC_OK)
        return err;
    if (s->turn > 0)
        hwmc_shm_operation_combine(&s->operation, s->out, theirs, s->out, s->length);
    else if (s->exclusive)
        memcpy(s->out, theirs, s->length);
    else
        hwmc_shm_operation_combine(&s->operation, s->out, theirs,
                                   hwmc_shm_lines(&s->op, rank)->out.body, s->length);
    s->turn++;
    return HWMC_OK;
}

static int step_inline(struct hwmc_shm_op *op)
{
    struct hwmc_shm_scan *s = (struct hwmc_shm_scan *) op;
    uint32_t rank = op->group->rank;

    if (!hwmc_shm_lines_put_body(op, s->in, s->length))
        return HWMC_AGAIN;
    while (s->turn < rank) {
        int err = combine_next(s);

        if (err != HWMC_OK)
            return err;
    }
    if (!s->exclusive && rank == 0 && s->out != s->in)
        memcpy(s->out, s->in, s->length);
    return hwmc_shm_op_end(op);
}

/* The chunk of the rank before, in *from; NULL: this is the first rank. OK, AGAIN or ERR_INVAL. */
static int find_before(const struct hwmc_shm_scan *s, const unsigned char **from)
{
    const struct hwmc_shm_group *g = s->op.group;
    uint64_t chunk = s->at / s->chunk;
    const struct hwmc_shm_out *out;
    int err;

    *from = NULL;
    if (g->rank == 0)
        return HWMC_OK;
    out = &hwmc_shm_lines(&s->op, g->rank - 1)->out;
    err = hwmc_shm_lines_look(&s->op, g->rank - 1, s->length);
    if (err != HWMC_OK)
        return err;
    if (hwmc_shm_load(&out->ready) <= chunk)
        return HWMC_AGAIN;
    *from = hwmc_shm_buffer(g, g->rank - 1, out->first + chunk);
    return HWMC_OK;
}

/* Where the chunk is combined: the buffer in which the next rank finds it; NULL: what is there has
 * not been read yet. */
static unsigned char *free_buffer(const struct hwmc_shm_scan *s)
{
    struct hwmc_shm_group *g = s->op.group;
    uint32_t buffers = g->buffers;
    uint64_t put = s->at / s->chunk;
    bool free = true; /* nobody reads the last rank's */

    if (put < buffers)
        free = hwmc_shm_group_all_finished(g, *hwmc_shm_next_used(g));
    else if (g->rank + 1 < g->size)
        free = hwmc_shm_lines_taken(&s->op, g->rank + 1) > put - buffers;
    return free ? hwmc_shm_next_buffer(g) : NULL;
}

/* The chunk is combined. */
static void give_on(const struct hwmc_shm_scan *s)
{
    struct hwmc_shm_group *g = s->op.group;

    *hwmc_shm_next_used(g) = s->op.serial;
    g->chunks++;
    hwmc_shm_lines_show(&s->op, s->at / s->chunk + 1);
}

static int step_chunks(struct hwmc_shm_op *op)
{
    struct hwmc_shm_scan *s = (struct hwmc_shm_scan *) op;
    size_t n = hwmc_shm_min(s->length - s->at, s->chunk);
    const unsigned char *from;
    unsigned char *to;
    int err;

    if (!hwmc_shm_lines_open(op, s->length, 0, op->group->chunks))
        return HWMC_AGAIN;
    err = find_before(s, &from);
    if (err != HWMC_OK)
        return err;
    if ((to = free_buffer(s)) == NULL)
        return HWMC_AGAIN;
    if (from != NULL)
        hwmc_shm_operation_combine(&s->operation, to, from, s->in + s->at, n);
    else
        memcpy(to, s->in + s->at, n);
    give_on(s);
    if (!s->exclusive)
        memcpy(s->out + s->at, to, n);
    else if (from != NULL)
        memcpy(s->out + s->at, from, n);
    s->at += n;
    if (from != NULL)
        hwmc_shm_lines_ack(op, (s->at + s->chunk - 1) / s->chunk);
    op->moved = true;
    return s->at < s->length ? HWMC_AGAIN : hwmc_shm_op_end(op);
}

int hwmc_shm_scan_begin(struct hwmc_shm_scan *s, struct hwmc_shm_group *g,
                        const struct hwmc_shm_operation *operation, bool exclusive, const void *in,
                        void *out, uint64_t count)
{
    uint32_t element = operation->element;
    uint32_t chunk = g->params.chunk;

    assert(element >= 1);
    if (element > g->segment->layout.chunk / 2)
        return HWMC_ERR_LIMIT;
    memset(s, 0, sizeof(*s));
    s->operation = *operation;
    s->exclusive = exclusive;
    s->in = in;
    s->out = out;
    s->length = count * element;
    s->chunk = chunk < element ? element : chunk - chunk % element;
    hwmc_shm_op_begin(&s->op, g,
                      s->length == 0                      ? hwmc_shm_op_nothing
                      : s->length <= g->params.inline_max ? step_inline
                                                          : step_chunks);
    hwmc_shm_group_lay(g, s->chunk);
    return HWMC_OK;
}
