/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Reduce and allreduce inside a host, as calls.
 */

#ifndef HWMC_ENTRY_REDUCE_H_INCLUDED
#define HWMC_ENTRY_REDUCE_H_INCLUDED

#include "call.h"
#include "combination.h"
#include "../shm/coll/allreduce.h"
#include "../shm/coll/reduction.h"

struct hwmc_reduce_call {
    struct hwmc_call call;
    struct hwmc_combination x;
    int root;
    struct hwmc_shm_reduction reduction;
};

/* With the arguments of MPI_Reduce. */
void hwmc_reduce_call_init(struct hwmc_reduce_call *c, const void *sendbuf, void *recvbuf,
                           MPI_Aint count, MPI_Datatype datatype, MPI_Op op, int root);

struct hwmc_allreduce_call {
    struct hwmc_call call;
    struct hwmc_combination x;
    struct hwmc_shm_allreduce allreduce;
};

/* With the arguments of MPI_Allreduce. */
void hwmc_allreduce_call_init(struct hwmc_allreduce_call *c, const void *sendbuf, void *recvbuf,
                              MPI_Aint count, MPI_Datatype datatype, MPI_Op op);

#endif /* HWMC_ENTRY_REDUCE_H_INCLUDED */
