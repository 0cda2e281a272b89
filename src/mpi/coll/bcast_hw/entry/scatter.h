/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Scatter and alltoall inside a host, of parts alike or not, as calls.
 */

#ifndef HWMC_ENTRY_SCATTER_H_INCLUDED
#define HWMC_ENTRY_SCATTER_H_INCLUDED

#include "call.h"
#include "vbuf.h"
#include "../shm/coll/scatter.h"

struct hwmc_scatter_call {
    struct hwmc_call call;
    struct hwmc_vbuf in;  /* looked at where this rank is the root */
    struct hwmc_vbuf out; /* of one part; the root's own may stay in `in` */
    int root;
    struct hwmc_shm_scatter scatter;
};

/* With the arguments of MPI_Scatter; of `comm` only the number of ranks is looked at. */
void hwmc_scatter_call_init(struct hwmc_scatter_call *c, const void *sendbuf, MPI_Aint sendcount,
                            MPI_Datatype sendtype, void *recvbuf, MPI_Aint recvcount,
                            MPI_Datatype recvtype, int root, const MPIR_Comm *comm);

/* With those of MPI_Scatterv. */
void hwmc_scatterv_call_init(struct hwmc_scatter_call *c, const void *sendbuf,
                             const MPI_Aint *sendcounts, const MPI_Aint *displs,
                             MPI_Datatype sendtype, void *recvbuf, MPI_Aint recvcount,
                             MPI_Datatype recvtype, int root, const MPIR_Comm *comm);

struct hwmc_alltoall_call {
    struct hwmc_call call;
    struct hwmc_vbuf in, out;
    char *copy; /* from begin to end, in place: of what `out` had */
    struct hwmc_shm_scatter scatter;
};

/* With those of MPI_Alltoall. */
void hwmc_alltoall_call_init(struct hwmc_alltoall_call *c, const void *sendbuf, MPI_Aint sendcount,
                             MPI_Datatype sendtype, void *recvbuf, MPI_Aint recvcount,
                             MPI_Datatype recvtype, const MPIR_Comm *comm);

/* With those of MPI_Alltoallv. */
void hwmc_alltoallv_call_init(struct hwmc_alltoall_call *c, const void *sendbuf,
                              const MPI_Aint *sendcounts, const MPI_Aint *sdispls,
                              MPI_Datatype sendtype, void *recvbuf, const MPI_Aint *recvcounts,
                              const MPI_Aint *rdispls, MPI_Datatype recvtype,
                              const MPIR_Comm *comm);

/* With those of MPI_Alltoallw. */
void hwmc_alltoallw_call_init(struct hwmc_alltoall_call *c, const void *sendbuf,
                              const MPI_Aint *sendcounts, const MPI_Aint *sdispls,
                              const MPI_Datatype *sendtypes, void *recvbuf,
                              const MPI_Aint *recvcounts, const MPI_Aint *rdispls,
                              const MPI_Datatype *recvtypes, const MPIR_Comm *comm);

#endif /* HWMC_ENTRY_SCATTER_H_INCLUDED */
