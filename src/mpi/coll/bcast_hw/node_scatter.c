/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Scatter and alltoall, of parts alike or not, over the memory that a host's ranks share.
 */

#include "node_side.h"
#include "node/scatter.h"

/* `out` is of one part; the root's own may stay in `in`. */
static int scatter(struct bcast_hw_node_comm *n, struct bcast_hw_node_side *in,
                   struct bcast_hw_node_side *out, int root)
{
    int mpi_errno = MPI_SUCCESS, err = MPI_SUCCESS;
    const bool in_place = out->buffer == MPI_IN_PLACE;
    const bool has = n->group.rank == (uint32_t) root;
    struct bcast_hw_node_scatter w;
    uint64_t bytes = 0;

    if (has)
        mpi_errno = MPIR_Bcast_hw_node_side_begin(in, true);
    MPIR_ERR_CHECK(mpi_errno);
    if (!in_place) {
        mpi_errno = MPIR_Bcast_hw_node_side_begin(out, false);
        bytes = out->parts.bytes;
    } else {
        bytes = MPIR_Bcast_hw_node_side_bytes(in, n->group.rank);
    }
    if (mpi_errno == MPI_SUCCESS) {
        MPIR_Bcast_hw_node_choose(n, BCAST_HW_NODE_KIND_SCATTER, 0);
        bcast_hw_node_scatter_begin(&w, &n->group, (uint32_t) root, has ? in->memory : NULL,
                                    &in->parts, in_place ? NULL : out->memory, bytes);
        mpi_errno = MPIR_Bcast_hw_node_wait(n, &w.op);
        if (!in_place)
            err = MPIR_Bcast_hw_node_side_end(out, mpi_errno == MPI_SUCCESS);
    }
    if (has)
        MPIR_Bcast_hw_node_side_end(in, false);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = err;
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static bool run_scatter(struct bcast_hw_node_comm *n, struct bcast_hw_node_side *in,
                        struct bcast_hw_node_side *out, int root, int *mpi_errno)
{
    if (n && *mpi_errno == MPI_SUCCESS)
        *mpi_errno = scatter(n, in, out, root);
    return n != NULL;
}

bool MPIR_Bcast_hw_node_scatter(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                                void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype, int root,
                                MPIR_Comm *comm, int *mpi_errno)
{
    struct bcast_hw_node_side in =
        MPIR_Bcast_hw_node_side(sendbuf, sendcount, sendtype, comm->local_size);
    struct bcast_hw_node_side out = MPIR_Bcast_hw_node_side(recvbuf, recvcount, recvtype, 1);

    return run_scatter(MPIR_BCAST_HW_NODE_ADMIT(SCATTER, comm, mpi_errno), &in, &out, root,
                       mpi_errno);
}

bool MPIR_Bcast_hw_node_scatterv(const void *sendbuf, const MPI_Aint *sendcounts,
                                 const MPI_Aint *displs, MPI_Datatype sendtype, void *recvbuf,
                                 MPI_Aint recvcount, MPI_Datatype recvtype, int root,
                                 MPIR_Comm *comm, int *mpi_errno)
{
    struct bcast_hw_node_side in =
        MPIR_Bcast_hw_node_side_v(sendbuf, sendcounts, displs, sendtype, comm->local_size);
    struct bcast_hw_node_side out = MPIR_Bcast_hw_node_side(recvbuf, recvcount, recvtype, 1);

    return run_scatter(MPIR_BCAST_HW_NODE_ADMIT(SCATTERV, comm, mpi_errno), &in, &out, root,
                       mpi_errno);
}

/* In place: what `out` has is what goes, from a copy, as it is written to. */
static int copy_of(const struct bcast_hw_node_side *out, char **copy)
{
    int mpi_errno = MPI_SUCCESS;
    uint64_t end = 0;

    for (uint32_t i = 0; i < out->num; i++) {
        struct bcast_hw_node_range part = bcast_hw_node_part_of(&out->parts, i);

        if (part.bytes > 0)
            end = MPL_MAX(end, part.at + part.bytes);
    }
    *copy = NULL;
    if (end == 0)
        goto fn_exit;
    *copy = MPL_malloc(end, MPL_MEM_BUFFER);
    MPIR_ERR_CHKANDJUMP(!*copy, mpi_errno, MPI_ERR_OTHER, "**nomem");
    for (uint32_t i = 0; i < out->num; i++) {
        struct bcast_hw_node_range part = bcast_hw_node_part_of(&out->parts, i);

        if (part.bytes > 0)
            memcpy(*copy + part.at, out->memory + part.at, part.bytes);
    }

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static int alltoall(struct bcast_hw_node_comm *n, struct bcast_hw_node_side *in,
                    struct bcast_hw_node_side *out)
{
    int mpi_errno = MPI_SUCCESS, err;
    const bool in_place = in->buffer == MPI_IN_PLACE;
    struct bcast_hw_node_scatter w;
    char *copy = NULL;

    mpi_errno = MPIR_Bcast_hw_node_side_begin(out, in_place);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = in_place ? copy_of(out, &copy) : MPIR_Bcast_hw_node_side_begin(in, true);
    if (mpi_errno == MPI_SUCCESS) {
        MPIR_Bcast_hw_node_choose(n, BCAST_HW_NODE_KIND_ALLTOALL, 0);
        bcast_hw_node_scatter_begin_of_all(&w, &n->group, in_place ? copy : in->memory,
                                           in_place ? &out->parts : &in->parts, out->memory,
                                           &out->parts);
        mpi_errno = MPIR_Bcast_hw_node_wait(n, &w.op);
        if (!in_place)
            MPIR_Bcast_hw_node_side_end(in, false);
    }
    MPL_free(copy);
    err = MPIR_Bcast_hw_node_side_end(out, mpi_errno == MPI_SUCCESS);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = err;
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static bool run_alltoall(struct bcast_hw_node_comm *n, struct bcast_hw_node_side *in,
                         struct bcast_hw_node_side *out, int *mpi_errno)
{
    if (n && *mpi_errno == MPI_SUCCESS)
        *mpi_errno = alltoall(n, in, out);
    return n != NULL;
}

bool MPIR_Bcast_hw_node_alltoall(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                                 void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype,
                                 MPIR_Comm *comm, int *mpi_errno)
{
    struct bcast_hw_node_side in =
        MPIR_Bcast_hw_node_side(sendbuf, sendcount, sendtype, comm->local_size);
    struct bcast_hw_node_side out =
        MPIR_Bcast_hw_node_side(recvbuf, recvcount, recvtype, comm->local_size);

    return run_alltoall(MPIR_BCAST_HW_NODE_ADMIT(ALLTOALL, comm, mpi_errno), &in, &out, mpi_errno);
}

bool MPIR_Bcast_hw_node_alltoallv(const void *sendbuf, const MPI_Aint *sendcounts,
                                  const MPI_Aint *sdispls, MPI_Datatype sendtype, void *recvbuf,
                                  const MPI_Aint *recvcounts, const MPI_Aint *rdispls,
                                  MPI_Datatype recvtype, MPIR_Comm *comm, int *mpi_errno)
{
    struct bcast_hw_node_side in =
        MPIR_Bcast_hw_node_side_v(sendbuf, sendcounts, sdispls, sendtype, comm->local_size);
    struct bcast_hw_node_side out =
        MPIR_Bcast_hw_node_side_v(recvbuf, recvcounts, rdispls, recvtype, comm->local_size);

    return run_alltoall(MPIR_BCAST_HW_NODE_ADMIT(ALLTOALLV, comm, mpi_errno), &in, &out, mpi_errno);
}
