/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * scatter: see scatter.h.
 */
#include "scatter.h"

#include <assert.h>

#include "scatter_impl.h"

/* This rank's own part. OK: it is where it belongs. */
static int move_own(struct hwmc_shm_scatter *w)
{
    struct hwmc_shm_range from = hwmc_shm_part_of(&w->in_vector, w->op.group->rank);
    struct hwmc_shm_range to = {0, w->length};

    if (w->of_all)
        to = hwmc_shm_part_of(&w->out_vector, w->op.group->rank);
    return hwmc_shm_vector_own(&w->op, w->out + to.at, w->in + from.at,
                               hwmc_shm_vector_agree(&w->op, to.bytes, from.bytes), &w->moved);
}

static int scatter_step(struct hwmc_shm_op *op)
{
    struct hwmc_shm_scatter *w = (struct hwmc_shm_scatter *) op;
    int err = hwmc_shm_scatter_open(w);

    if (err != HWMC_OK)
        return err;
    if (!(w->done & HWMC_SHM_PARTS_GIVEN))
        w->done |= hwmc_shm_scatter_give(w) == HWMC_OK ? HWMC_SHM_PARTS_GIVEN : 0;
    if (!(w->done & HWMC_SHM_PARTS_OWN) && !op->moved)
        w->done |= move_own(w) == HWMC_OK ? HWMC_SHM_PARTS_OWN : 0;
    if (!(w->done & HWMC_SHM_PARTS_READ) && !op->moved) {
        err = hwmc_shm_scatter_read(w);
        if (err < 0)
            return err;
        w->done |= err == HWMC_OK ? HWMC_SHM_PARTS_READ : 0;
    }
    return w->done == HWMC_SHM_PARTS_ALL ? hwmc_shm_op_end(op) : HWMC_AGAIN;
}

void hwmc_shm_scatter_begin(struct hwmc_shm_scatter *w, struct hwmc_shm_group *g, uint32_t root,
                            const void *in, const struct hwmc_shm_vector *vector, void *out,
                            uint64_t length)
{
    bool gives = g->rank == root;

    assert(root < g->size);
    memset(w, 0, sizeof(*w));
    hwmc_shm_op_begin(&w->op, g, scatter_step);
    w->root = root;
    w->in = in;
    w->out = out;
    if (gives)
        w->in_vector = *vector;
    w->length = length;
    w->done = gives ? HWMC_SHM_PARTS_READ : 0;
    if (!gives || out == NULL)
        w->done |= HWMC_SHM_PARTS_OWN;
    w->to = 1;
    w->from = gives ? 1 : (g->rank + g->size - root) % g->size;
    w->last = w->from;
}

void hwmc_shm_scatter_begin_of_all(struct hwmc_shm_scatter *w, struct hwmc_shm_group *g,
                                   const void *in, const struct hwmc_shm_vector *in_vector,
                                   void *out, const struct hwmc_shm_vector *out_vector)
{
    memset(w, 0, sizeof(*w));
    hwmc_shm_op_begin(&w->op, g, scatter_step);
    w->of_all = true;
    w->in = in;
    w->out = out;
    w->in_vector = *in_vector;
    w->out_vector = *out_vector;
    w->to = 1;
    w->from = 1;
    w->last = g->size - 1;
}
