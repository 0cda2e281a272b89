/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * reduce_scatter: combines the vectors of all ranks of the group, element by element, and gives
 * each rank its block of the result. Chosen by the length of all, so alike on all ranks:
 *
 *   shown   all show what they have, in the slot or in one buffer, if it fits, and each combines
 *           its block of all, from there: l + p lines, or l + M / b
 *   AG      where it goes direct (reduction.h): each combines its block of all ranks' memory, and
 *           keeps it: 3 l + M / b
 *   else    a reduction to rank 0 by the algorithm of the parameters, and a scatter from there, two
 *           collectives of the group
 */
#ifndef HWMC_SHM_COLL_REDUCE_SCATTER_H_INCLUDED
#define HWMC_SHM_COLL_REDUCE_SCATTER_H_INCLUDED

#include "reduction.h"
#include "scatter.h"

struct hwmc_shm_reduce_scatter {
    struct hwmc_shm_op op; /* its serial is that of the part under way */
    struct hwmc_shm_operation operation;
    struct hwmc_shm_vector blocks;
    struct hwmc_shm_range own;
    const unsigned char *in; /* the caller's until it is done, as are `out` and `work` */
    unsigned char *out;
    unsigned char *work;
    uint64_t length;          /* bytes, of all blocks */
    uint32_t turn;            /* shown: operands that are combined */
    bool last;                /* no part comes after the one under way */
    struct hwmc_shm_op *part; /* of the two below; NULL: shown */
    struct hwmc_shm_reduction up;
    struct hwmc_shm_scatter down;
};

/* Whether this rank needs memory to work in, for `length` bytes of all blocks. */
bool hwmc_shm_reduce_scatter_needs_work(const struct hwmc_shm_group *g, uint64_t length);

/* Begins a reduce_scatter, alike on all ranks. `in`: what this rank adds, all blocks; `blocks`:
 * where they are in it, one behind the other in the order of ranks, each of whole elements, and
 * their sum is `length`, bytes. `out`: of this rank's block; does not overlap `in`. `work`: NULL,
 * or `length` bytes where they are needed. `tree`: rooted at 0, its children the caller's until it
 * is done. `s` does not move until it is done. ERR_LIMIT: an element is too long, and nothing has
 * begun. Steps answer ERR_INVAL as those of reduction and scatter do. */
int hwmc_shm_reduce_scatter_begin(struct hwmc_shm_reduce_scatter *s, struct hwmc_shm_group *g,
                                  const struct hwmc_shm_tree *tree,
                                  const struct hwmc_shm_operation *operation, const void *in,
                                  const struct hwmc_shm_vector *blocks, uint64_t length, void *out,
                                  void *work);

#endif /* HWMC_SHM_COLL_REDUCE_SCATTER_H_INCLUDED */
