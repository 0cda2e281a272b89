/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * reduction_impl: for the reduction's ways.
 */
#ifndef HWMC_SHM_COLL_REDUCTION_IMPL_H_INCLUDED
#define HWMC_SHM_COLL_REDUCTION_IMPL_H_INCLUDED

#include "reduction.h"
#include "../segment/lines_impl.h"

/* The steps. */
int hwmc_shm_reduction_inline(struct hwmc_shm_op *op);
int hwmc_shm_reduction_chunks(struct hwmc_shm_op *op);
int hwmc_shm_reduction_ag(struct hwmc_shm_op *op);
int hwmc_shm_reduction_treemm(struct hwmc_shm_op *op);
int hwmc_shm_reduction_each_inline(struct hwmc_shm_op *op);
int hwmc_shm_reduction_each_chunks(struct hwmc_shm_op *op);

/* What AG has to set before the first step. */
void hwmc_shm_reduction_ag_init(struct hwmc_shm_reduction *r);

static inline bool hwmc_shm_reduction_is_root(const struct hwmc_shm_reduction *r)
{
    return r->op.group->rank == r->root;
}

/* Whose operand is number `turn` along the tree: children from the last on, this rank in its place
 * among them. */
static inline uint32_t hwmc_shm_reduction_operand(const struct hwmc_shm_reduction *r, uint32_t turn)
{
    if (turn == r->before)
        return r->op.group->rank;
    return r->tree.children[r->tree.num_children - (turn < r->before ? turn + 1 : turn)];
}

/* Bytes of the chunk at `at`. */
static inline size_t hwmc_shm_reduction_bytes(const struct hwmc_shm_reduction *r)
{
    return hwmc_shm_min(r->end - r->at, r->chunk);
}

/* The result is written past the caches. */
static inline bool hwmc_shm_reduction_streams(const struct hwmc_shm_reduction *r)
{
    return r->length >= r->op.group->params.stream_min;
}

/* At the root, that the result can be written where it belongs while operands come: what this rank
 * adds is not there, or has been read when the first is written; and it is written there as often
 * as operands come. */
static inline bool hwmc_shm_reduction_in_result(const struct hwmc_shm_reduction *r)
{
    return hwmc_shm_reduction_is_root(r) && (r->in != r->out || r->before == 0) &&
           !hwmc_shm_reduction_streams(r);
}

#endif /* HWMC_SHM_COLL_REDUCTION_IMPL_H_INCLUDED */
