/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * allreduce: combines the vectors of all ranks of the group, element by element, and gives the
 * result to all of them.
 *
 *   AG    if direct is possible (reduction.h): each rank combines a piece of all ranks and writes
 *         it to all: 3 l + 2 M / b
 *   EACH  each rank combines what all show: l + (p - 1) M / b
 *   else  a reduction to rank 0, and a broadcast from there: two collectives of the group, each by
 *         the algorithm of its parameters; a rank begins the second when it is done with its part
 *         of the first
 */
#ifndef HWMC_SHM_COLL_ALLREDUCE_H_INCLUDED
#define HWMC_SHM_COLL_ALLREDUCE_H_INCLUDED

#include "bcast.h"
#include "reduction.h"

struct hwmc_shm_allreduce {
    struct hwmc_shm_op op;     /* its serial is that of the part under way */
    struct hwmc_shm_tree tree; /* of both parts; AG and EACH do not look at it */
    bool last;                 /* no part comes after the one under way */
    struct hwmc_shm_op *part;  /* of the two below */
    struct hwmc_shm_reduction up;
    struct hwmc_shm_bcast down;
};

/* Begins an allreduce of `count` elements, alike on all ranks. `in`: what this rank adds; `out`: of
 * the result, `in` itself for in place. `tree`: rooted at 0, its children the caller's until it is
 * done. `a` does not move until it is done. ERR_LIMIT: an element is too long, and nothing has
 * begun. Steps answer ERR_INVAL as those of reduction and bcast do. */
int hwmc_shm_allreduce_begin(struct hwmc_shm_allreduce *a, struct hwmc_shm_group *g,
                             const struct hwmc_shm_tree *tree,
                             const struct hwmc_shm_operation *operation, const void *in, void *out,
                             uint64_t count);

#endif /* HWMC_SHM_COLL_ALLREDUCE_H_INCLUDED */
