/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Gather and allgather inside a host, of parts alike or not, as a call.
 */

#ifndef HWMC_ENTRY_GATHER_H_INCLUDED
#define HWMC_ENTRY_GATHER_H_INCLUDED

#include "call.h"
#include "vbuf.h"
#include "../shm/coll/gather.h"

struct hwmc_gather_call {
    struct hwmc_call call;
    struct hwmc_vbuf in;  /* of one part; a root's own may be in `out` already */
    struct hwmc_vbuf out; /* looked at where this rank is root */
    int root;             /* < 0: all ranks are */
    struct hwmc_shm_gather gather;
};

/* With the arguments of MPI_Gather; of `comm` only the number of ranks is looked at. */
void hwmc_gather_call_init(struct hwmc_gather_call *c, const void *sendbuf, MPI_Aint sendcount,
                           MPI_Datatype sendtype, void *recvbuf, MPI_Aint recvcount,
                           MPI_Datatype recvtype, int root, const MPIR_Comm *comm);

/* With those of MPI_Gatherv. */
void hwmc_gatherv_call_init(struct hwmc_gather_call *c, const void *sendbuf, MPI_Aint sendcount,
                            MPI_Datatype sendtype, void *recvbuf, const MPI_Aint *recvcounts,
                            const MPI_Aint *displs, MPI_Datatype recvtype, int root,
                            const MPIR_Comm *comm);

/* With those of MPI_Allgather. */
void hwmc_allgather_call_init(struct hwmc_gather_call *c, const void *sendbuf, MPI_Aint sendcount,
                              MPI_Datatype sendtype, void *recvbuf, MPI_Aint recvcount,
                              MPI_Datatype recvtype, const MPIR_Comm *comm);

/* With those of MPI_Allgatherv. */
void hwmc_allgatherv_call_init(struct hwmc_gather_call *c, const void *sendbuf, MPI_Aint sendcount,
                               MPI_Datatype sendtype, void *recvbuf, const MPI_Aint *recvcounts,
                               const MPI_Aint *displs, MPI_Datatype recvtype,
                               const MPIR_Comm *comm);

#endif /* HWMC_ENTRY_GATHER_H_INCLUDED */
