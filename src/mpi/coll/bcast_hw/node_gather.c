/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Gather and allgather, of parts alike or not, over the memory that a host's ranks share.
 */

#include "node_side.h"
#include "node/gather.h"

/* `root` < 0: all ranks are. `in` is of one part; a root's own may be in `out` already. */
static int gather(struct bcast_hw_node_comm *n, struct bcast_hw_node_side *in,
                  struct bcast_hw_node_side *out, int root)
{
    int mpi_errno = MPI_SUCCESS, err = MPI_SUCCESS;
    const bool in_place = in->buffer == MPI_IN_PLACE;
    const bool reads = root < 0 || n->group.rank == (uint32_t) root;
    struct bcast_hw_node_gather w;
    const char *own = NULL;
    uint64_t bytes = 0;

    if (reads)
        mpi_errno = MPIR_Bcast_hw_node_side_begin(out, in_place);
    MPIR_ERR_CHECK(mpi_errno);
    if (!in_place) {
        mpi_errno = MPIR_Bcast_hw_node_side_begin(in, true);
        own = in->memory;
        bytes = in->parts.bytes;
    } else {
        bytes = MPIR_Bcast_hw_node_side_bytes(out, n->group.rank);
        if (root < 0)
            own = MPIR_Bcast_hw_node_side_part(out, n->group.rank);
    }
    if (mpi_errno == MPI_SUCCESS) {
        MPIR_Bcast_hw_node_choose(
            n, root < 0 ? BCAST_HW_NODE_KIND_ALLGATHER : BCAST_HW_NODE_KIND_GATHER, 0);
        if (root < 0)
            bcast_hw_node_gather_begin_to_all(&w, &n->group, own, bytes, out->memory, &out->parts);
        else
            bcast_hw_node_gather_begin(&w, &n->group, (uint32_t) root, own, bytes, out->memory,
                                       &out->parts);
        mpi_errno = MPIR_Bcast_hw_node_wait(n, &w.op);
        if (!in_place)
            MPIR_Bcast_hw_node_side_end(in, false);
    }
    if (reads)
        err = MPIR_Bcast_hw_node_side_end(out, mpi_errno == MPI_SUCCESS);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = err;
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static bool run(struct bcast_hw_node_comm *n, struct bcast_hw_node_side *in,
                struct bcast_hw_node_side *out, int root, int *mpi_errno)
{
    if (n && *mpi_errno == MPI_SUCCESS)
        *mpi_errno = gather(n, in, out, root);
    return n != NULL;
}

bool MPIR_Bcast_hw_node_gather(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                               void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype, int root,
                               MPIR_Comm *comm, int *mpi_errno)
{
    struct bcast_hw_node_side in = MPIR_Bcast_hw_node_side(sendbuf, sendcount, sendtype, 1);
    struct bcast_hw_node_side out =
        MPIR_Bcast_hw_node_side(recvbuf, recvcount, recvtype, comm->local_size);

    return run(MPIR_BCAST_HW_NODE_ADMIT(GATHER, comm, mpi_errno), &in, &out, root, mpi_errno);
}

bool MPIR_Bcast_hw_node_gatherv(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                                void *recvbuf, const MPI_Aint *recvcounts, const MPI_Aint *displs,
                                MPI_Datatype recvtype, int root, MPIR_Comm *comm, int *mpi_errno)
{
    struct bcast_hw_node_side in = MPIR_Bcast_hw_node_side(sendbuf, sendcount, sendtype, 1);
    struct bcast_hw_node_side out =
        MPIR_Bcast_hw_node_side_v(recvbuf, recvcounts, displs, recvtype, comm->local_size);

    return run(MPIR_BCAST_HW_NODE_ADMIT(GATHERV, comm, mpi_errno), &in, &out, root, mpi_errno);
}

bool MPIR_Bcast_hw_node_allgather(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                                  void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype,
                                  MPIR_Comm *comm, int *mpi_errno)
{
    struct bcast_hw_node_side in = MPIR_Bcast_hw_node_side(sendbuf, sendcount, sendtype, 1);
    struct bcast_hw_node_side out =
        MPIR_Bcast_hw_node_side(recvbuf, recvcount, recvtype, comm->local_size);

    return run(MPIR_BCAST_HW_NODE_ADMIT(ALLGATHER, comm, mpi_errno), &in, &out, -1, mpi_errno);
}

bool MPIR_Bcast_hw_node_allgatherv(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                                   void *recvbuf, const MPI_Aint *recvcounts,
                                   const MPI_Aint *displs, MPI_Datatype recvtype, MPIR_Comm *comm,
                                   int *mpi_errno)
{
    struct bcast_hw_node_side in = MPIR_Bcast_hw_node_side(sendbuf, sendcount, sendtype, 1);
    struct bcast_hw_node_side out =
        MPIR_Bcast_hw_node_side_v(recvbuf, recvcounts, displs, recvtype, comm->local_size);

    return run(MPIR_BCAST_HW_NODE_ADMIT(ALLGATHERV, comm, mpi_errno), &in, &out, -1, mpi_errno);
}
