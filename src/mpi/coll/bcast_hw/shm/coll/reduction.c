/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * reduction: see reduction.h.
 */
#include <assert.h>
#include <string.h>

#include "reduction_impl.h"

static uint32_t middle_of(uint32_t low, uint32_t high)
{
    return low + (high - low) / 2;
}

/* The tree that keeps the order: a rank stands over ranks low to high - 1, and its children over
 * those of them before and after it. Example, root 1 of 6: 1 -> 0 4, 4 -> 3 5, 3 -> 2. */
static void keep_order(struct hwmc_shm_reduction *r)
{
    uint32_t rank = r->op.group->rank, low = 0, high = r->op.group->size;
    uint32_t over = r->root, parent = r->root;
    uint16_t num = 0;

    while (over != rank) {
        parent = over;
        if (rank < over)
            high = over;
        else
            low = over + 1;
        over = middle_of(low, high);
    }
    r->before = rank + 1 < high;
    if (low < rank)
        r->ordered[num++] = (uint16_t) middle_of(low, rank);
    if (r->before)
        r->ordered[num++] = (uint16_t) middle_of(rank + 1, high);
    r->tree = (struct hwmc_shm_tree){(uint16_t) parent, num, r->ordered};
}

/* A group of one: the result is what it has. */
static int step_alone(struct hwmc_shm_op *op)
{
    struct hwmc_shm_reduction *r = (struct hwmc_shm_reduction *) op;

    if (r->in != r->out)
        memcpy(r->out, r->in, r->length);
    return hwmc_shm_op_end(op);
}

bool hwmc_shm_reduction_is_direct(const struct hwmc_shm_group *g, uint64_t length)
{
    return g->copy != NULL && g->size > 1 && length >= g->params.copy_min &&
           length > g->params.inline_max;
}

bool hwmc_shm_reduction_is_to_all(const struct hwmc_shm_group *g, uint64_t length)
{
    return g->params.reduction == HWMC_SHM_REDUCTION_EACH ||
           (g->params.reduction == HWMC_SHM_REDUCTION_AG &&
            hwmc_shm_reduction_is_direct(g, length));
}

/* As many elements as go into `bytes`; one does. */
static uint32_t whole_elements(uint32_t bytes, uint32_t element)
{
    return bytes < element ? element : bytes - bytes % element;
}

/* Bytes that are combined at a time. Direct, half a buffer each for two operands (the paper's). */
static uint32_t chunk_of(const struct hwmc_shm_reduction *r, bool direct)
{
    const struct hwmc_shm_group *g = r->op.group;
    uint32_t most = direct ? g->segment->layout.chunk / 2 : g->segment->layout.chunk;

    return whole_elements(g->params.chunk < most ? g->params.chunk : most, r->operation.element);
}

/* In which way, so by which steps. */
static void choose_steps(struct hwmc_shm_reduction *r)
{
    const struct hwmc_shm_group *g = r->op.group;
    bool ag = r->apart || g->params.reduction == HWMC_SHM_REDUCTION_AG;
    bool direct = (ag || g->params.reduction == HWMC_SHM_REDUCTION_TREEMM) &&
                  hwmc_shm_reduction_is_direct(g, r->length);
    bool each = r->to_all && g->params.reduction == HWMC_SHM_REDUCTION_EACH;

    r->chunk = chunk_of(r, direct);
    hwmc_shm_group_lay(r->op.group, r->chunk + (direct ? g->segment->layout.chunk / 2 : 0));
    if (r->length == 0) {
        r->op.step = hwmc_shm_op_nothing;
    } else if (g->size == 1) {
        r->op.step = step_alone;
    } else if (r->length <= g->params.inline_max) {
        r->op.step = each ? hwmc_shm_reduction_each_inline : hwmc_shm_reduction_inline;
    } else if (direct && ag) {
        r->op.step = hwmc_shm_reduction_ag;
        if (!r->apart)
            hwmc_shm_reduction_ag_init(r);
    } else if (direct) {
        r->op.step = hwmc_shm_reduction_treemm;
    } else {
        r->op.step = each ? hwmc_shm_reduction_each_chunks : hwmc_shm_reduction_chunks;
        r->way.chunks.first = g->chunks;
    }
}

static int reduction_begin(struct hwmc_shm_reduction *r, struct hwmc_shm_group *g,
                           const struct hwmc_shm_operation *operation, const void *in, void *out,
                           uint64_t count)
{
    uint32_t half = g->segment->layout.chunk / 2;

    assert(operation->element >= 1);
    if (operation->element > half)
        return HWMC_ERR_LIMIT;
    memset(r, 0, sizeof(*r));
    hwmc_shm_op_begin(&r->op, g, NULL);
    r->operation = *operation;
    r->in = in;
    r->out = out;
    r->length = count * operation->element;
    r->end = r->length;
    return HWMC_OK;
}

int hwmc_shm_reduction_begin(struct hwmc_shm_reduction *r, struct hwmc_shm_group *g,
                             const struct hwmc_shm_tree *tree, uint32_t root,
                             const struct hwmc_shm_operation *operation, const void *in, void *out,
                             uint64_t count)
{
    int err = reduction_begin(r, g, operation, in, out, count);

    assert(root < g->size);
    if (err != HWMC_OK)
        return err;
    r->root = root;
    r->tree = *tree;
    if (!operation->commutative)
        keep_order(r);
    choose_steps(r);
    return HWMC_OK;
}

int hwmc_shm_reduction_begin_to_all(struct hwmc_shm_reduction *r, struct hwmc_shm_group *g,
                                    const struct hwmc_shm_operation *operation, const void *in,
                                    void *out, uint64_t count)
{
    int err = reduction_begin(r, g, operation, in, out, count);

    if (err != HWMC_OK)
        return err;
    assert(hwmc_shm_reduction_is_to_all(g, r->length));
    r->to_all = true;
    choose_steps(r);
    return HWMC_OK;
}

int hwmc_shm_reduction_begin_apart(struct hwmc_shm_reduction *r, struct hwmc_shm_group *g,
                                   const struct hwmc_shm_operation *operation, const void *in,
                                   void *out, uint64_t count, uint64_t at, uint64_t bytes)
{
    int err = reduction_begin(r, g, operation, in, out, count);

    if (err != HWMC_OK)
        return err;
    assert(hwmc_shm_reduction_is_direct(g, r->length) && at + bytes <= r->length);
    r->apart = true;
    r->base = at;
    r->at = at;
    r->end = at + bytes;
    choose_steps(r);
    return HWMC_OK;
}
