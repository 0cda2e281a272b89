/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Gather and allgather, of parts alike or not, over the memory that a host's ranks share.
 */

#include "mpiimpl.h"
#include "hooks.h"
#include "vbuf.h"
#include "../shm/coll/gather.h"

/* `root` < 0: all ranks are. `in` is of one part; a root's own may be in `out` already. */
static int gather(struct hwmc_shm_host *n, struct hwmc_vbuf *in, struct hwmc_vbuf *out, int root)
{
    int mpi_errno = MPI_SUCCESS, err = MPI_SUCCESS;
    const bool in_place = in->buffer == MPI_IN_PLACE;
    const bool reads = root < 0 || n->group.rank == (uint32_t) root;
    struct hwmc_shm_gather w;
    const char *own = NULL;
    uint64_t bytes = 0;

    if (reads)
        mpi_errno = hwmc_vbuf_begin(out, in_place);
    MPIR_ERR_CHECK(mpi_errno);
    if (!in_place) {
        mpi_errno = hwmc_vbuf_begin(in, true);
        own = in->memory;
        bytes = in->vector.bytes;
    } else {
        bytes = hwmc_vbuf_bytes(out, n->group.rank);
        if (root < 0)
            own = hwmc_vbuf_part(out, n->group.rank);
    }
    if (mpi_errno == MPI_SUCCESS) {
        hwmc_shm_choose(n, root < 0 ? HWMC_SHM_KIND_ALLGATHER : HWMC_SHM_KIND_GATHER, 0);
        if (root < 0)
            hwmc_shm_gather_begin_to_all(&w, &n->group, own, bytes, out->memory, &out->vector);
        else
            hwmc_shm_gather_begin(&w, &n->group, (uint32_t) root, own, bytes, out->memory,
                                  &out->vector);
        mpi_errno = hwmc_shm_wait(n, &w.op);
        if (!in_place)
            hwmc_vbuf_end(in, false);
    }
    if (reads)
        err = hwmc_vbuf_end(out, mpi_errno == MPI_SUCCESS);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = err;
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static bool run(struct hwmc_shm_host *n, struct hwmc_vbuf *in, struct hwmc_vbuf *out, int root,
                int *mpi_errno)
{
    if (n && *mpi_errno == MPI_SUCCESS)
        *mpi_errno = gather(n, in, out, root);
    return n != NULL;
}

bool MPIR_Hwmc_gather(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype, void *recvbuf,
                      MPI_Aint recvcount, MPI_Datatype recvtype, int root, MPIR_Comm *comm,
                      int *mpi_errno)
{
    struct hwmc_vbuf in = hwmc_vbuf_of(sendbuf, sendcount, sendtype, 1);
    struct hwmc_vbuf out = hwmc_vbuf_of(recvbuf, recvcount, recvtype, comm->local_size);

    return run(HWMC_SHM_ADMIT(GATHER, comm, mpi_errno), &in, &out, root, mpi_errno);
}

bool MPIR_Hwmc_gatherv(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                       void *recvbuf, const MPI_Aint *recvcounts, const MPI_Aint *displs,
                       MPI_Datatype recvtype, int root, MPIR_Comm *comm, int *mpi_errno)
{
    struct hwmc_vbuf in = hwmc_vbuf_of(sendbuf, sendcount, sendtype, 1);
    struct hwmc_vbuf out = hwmc_vbuf_v(recvbuf, recvcounts, displs, recvtype, comm->local_size);

    return run(HWMC_SHM_ADMIT(GATHERV, comm, mpi_errno), &in, &out, root, mpi_errno);
}

bool MPIR_Hwmc_allgather(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                         void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype, MPIR_Comm *comm,
                         int *mpi_errno)
{
    struct hwmc_vbuf in = hwmc_vbuf_of(sendbuf, sendcount, sendtype, 1);
    struct hwmc_vbuf out = hwmc_vbuf_of(recvbuf, recvcount, recvtype, comm->local_size);

    return run(HWMC_SHM_ADMIT(ALLGATHER, comm, mpi_errno), &in, &out, -1, mpi_errno);
}

bool MPIR_Hwmc_allgatherv(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                          void *recvbuf, const MPI_Aint *recvcounts, const MPI_Aint *displs,
                          MPI_Datatype recvtype, MPIR_Comm *comm, int *mpi_errno)
{
    struct hwmc_vbuf in = hwmc_vbuf_of(sendbuf, sendcount, sendtype, 1);
    struct hwmc_vbuf out = hwmc_vbuf_v(recvbuf, recvcounts, displs, recvtype, comm->local_size);

    return run(HWMC_SHM_ADMIT(ALLGATHERV, comm, mpi_errno), &in, &out, -1, mpi_errno);
}
