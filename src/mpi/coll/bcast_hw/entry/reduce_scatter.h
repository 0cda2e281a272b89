/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Reduce_scatter inside a host, of blocks alike or not, as a call.
 */

#ifndef HWMC_ENTRY_REDUCE_SCATTER_H_INCLUDED
#define HWMC_ENTRY_REDUCE_SCATTER_H_INCLUDED

#include "reduce.h"
#include "../shm/coll/reduce_scatter.h"

struct hwmc_reduce_scatter_call {
    struct hwmc_call call;
    struct hwmc_combination x; /* its count: of each block */
    const MPI_Aint *counts;    /* of the blocks, elements; NULL: blocks are alike */

    /* From begin to end. */
    struct hwmc_shm_vector blocks; /* which elements are whose */
    struct hwmc_shm_range *each;   /* made here; NULL: blocks are alike */
    MPI_Aint all, own;             /* elements */
    void *out;                     /* this rank's block, until it may be written to `recvbuf` */
    void *work;                    /* memory to work in; NULL: it is not needed */
    struct hwmc_shm_reduce_scatter reduce_scatter;
};

/* With the arguments of MPI_Reduce_scatter. */
void hwmc_reduce_scatter_call_init(struct hwmc_reduce_scatter_call *c, const void *sendbuf,
                                   void *recvbuf, const MPI_Aint *recvcounts, MPI_Datatype datatype,
                                   MPI_Op op);

/* With those of MPI_Reduce_scatter_block. */
void hwmc_reduce_scatter_block_call_init(struct hwmc_reduce_scatter_call *c, const void *sendbuf,
                                         void *recvbuf, MPI_Aint recvcount, MPI_Datatype datatype,
                                         MPI_Op op);

#endif /* HWMC_ENTRY_REDUCE_SCATTER_H_INCLUDED */
