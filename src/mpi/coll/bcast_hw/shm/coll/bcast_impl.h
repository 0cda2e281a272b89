/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * bcast_impl: for the broadcast's algorithms.
 */
#ifndef HWMC_SHM_COLL_BCAST_IMPL_H_INCLUDED
#define HWMC_SHM_COLL_BCAST_IMPL_H_INCLUDED

#include "bcast.h"
#include "../segment/lines_impl.h"

/* The steps. */
int hwmc_shm_bcast_inline(struct hwmc_shm_op *op);
int hwmc_shm_bcast_chunks(struct hwmc_shm_op *op);
int hwmc_shm_bcast_direct(struct hwmc_shm_op *op);
int hwmc_shm_bcast_g(struct hwmc_shm_op *op);
int hwmc_shm_bcast_ag(struct hwmc_shm_op *op);

/* What those have to set before the first step, beyond zeros. */
void hwmc_shm_bcast_chunks_init(struct hwmc_shm_bcast *b);
void hwmc_shm_bcast_direct_init(struct hwmc_shm_bcast *b);
void hwmc_shm_bcast_ag_init(struct hwmc_shm_bcast *b);

static inline bool hwmc_shm_bcast_is_root(const struct hwmc_shm_bcast *b)
{
    return b->op.group->rank == b->root;
}

static inline bool hwmc_shm_bcast_along_tree(const struct hwmc_shm_bcast *b)
{
    return b->algorithm == HWMC_SHM_BCAST_TREE || b->algorithm == HWMC_SHM_BCAST_TREEMM;
}

/* Whether what the parent's line says may be used: OK or AGAIN. A rank of another length follows:
 * bcast_line.c. */
int hwmc_shm_bcast_look(struct hwmc_shm_bcast *b);

/* How many of the `n` bytes from `at` on there is room for. */
static inline size_t hwmc_shm_bcast_fit(uint64_t room, uint64_t at, size_t n)
{
    return at < room ? hwmc_shm_min(n, room - at) : 0;
}

/* Of the bytes from `at` on, how many `peer` wants written to its memory. */
static inline size_t hwmc_shm_bcast_wants(const struct hwmc_shm_bcast *b, uint32_t peer,
                                          uint64_t at, size_t n)
{
    const struct hwmc_shm_out *out = &hwmc_shm_lines(&b->op, peer)->out;

    return out->addr != 0 ? hwmc_shm_bcast_fit(out->length, at, n) : 0;
}

/* The rank `distance` after `from`, the first one after the last; both below the group's size. */
static inline uint32_t hwmc_shm_bcast_rank(const struct hwmc_shm_bcast *b, uint32_t from,
                                           uint32_t distance)
{
    return b->op.group->ring[from + distance];
}

#endif /* HWMC_SHM_COLL_BCAST_IMPL_H_INCLUDED */
