/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Scatter and alltoall, of parts alike or not, over the memory that a host's ranks share.
 */

#include "mpiimpl.h"
#include "hooks.h"
#include "vbuf.h"
#include "../shm/coll/scatter.h"

/* `out` is of one part; the root's own may stay in `in`. */
static int scatter(struct hwmc_shm_host *n, struct hwmc_vbuf *in, struct hwmc_vbuf *out, int root)
{
    int mpi_errno = MPI_SUCCESS, err = MPI_SUCCESS;
    const bool in_place = out->buffer == MPI_IN_PLACE;
    const bool has = n->group.rank == (uint32_t) root;
    struct hwmc_shm_scatter w;
    uint64_t bytes = 0;

    if (has)
        mpi_errno = hwmc_vbuf_begin(in, true);
    MPIR_ERR_CHECK(mpi_errno);
    if (!in_place) {
        mpi_errno = hwmc_vbuf_begin(out, false);
        bytes = out->vector.bytes;
    } else {
        bytes = hwmc_vbuf_bytes(in, n->group.rank);
    }
    if (mpi_errno == MPI_SUCCESS) {
        hwmc_shm_choose(n, HWMC_SHM_KIND_SCATTER, 0);
        hwmc_shm_scatter_begin(&w, &n->group, (uint32_t) root, has ? in->memory : NULL, &in->vector,
                               in_place ? NULL : out->memory, bytes);
        mpi_errno = hwmc_shm_wait(n, &w.op);
        if (!in_place)
            err = hwmc_vbuf_end(out, mpi_errno == MPI_SUCCESS);
    }
    if (has)
        hwmc_vbuf_end(in, false);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = err;
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static bool run_scatter(struct hwmc_shm_host *n, struct hwmc_vbuf *in, struct hwmc_vbuf *out,
                        int root, int *mpi_errno)
{
    if (n && *mpi_errno == MPI_SUCCESS)
        *mpi_errno = scatter(n, in, out, root);
    return n != NULL;
}

bool MPIR_Hwmc_scatter(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                       void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype, int root,
                       MPIR_Comm *comm, int *mpi_errno)
{
    struct hwmc_vbuf in = hwmc_vbuf_of(sendbuf, sendcount, sendtype, comm->local_size);
    struct hwmc_vbuf out = hwmc_vbuf_of(recvbuf, recvcount, recvtype, 1);

    return run_scatter(HWMC_SHM_ADMIT(SCATTER, comm, mpi_errno), &in, &out, root, mpi_errno);
}

bool MPIR_Hwmc_scatterv(const void *sendbuf, const MPI_Aint *sendcounts, const MPI_Aint *displs,
                        MPI_Datatype sendtype, void *recvbuf, MPI_Aint recvcount,
                        MPI_Datatype recvtype, int root, MPIR_Comm *comm, int *mpi_errno)
{
    struct hwmc_vbuf in = hwmc_vbuf_v(sendbuf, sendcounts, displs, sendtype, comm->local_size);
    struct hwmc_vbuf out = hwmc_vbuf_of(recvbuf, recvcount, recvtype, 1);

    return run_scatter(HWMC_SHM_ADMIT(SCATTERV, comm, mpi_errno), &in, &out, root, mpi_errno);
}

/* In place: what `out` has is what goes, from a copy, as it is written to. */
static int copy_of(const struct hwmc_vbuf *out, char **copy)
{
    int mpi_errno = MPI_SUCCESS;
    uint64_t end = 0;

    for (uint32_t i = 0; i < out->num; i++) {
        struct hwmc_shm_range part = hwmc_shm_part_of(&out->vector, i);

        if (part.bytes > 0)
            end = MPL_MAX(end, part.at + part.bytes);
    }
    *copy = NULL;
    if (end == 0)
        goto fn_exit;
    *copy = MPL_malloc(end, MPL_MEM_BUFFER);
    MPIR_ERR_CHKANDJUMP(!*copy, mpi_errno, MPI_ERR_OTHER, "**nomem");
    for (uint32_t i = 0; i < out->num; i++) {
        struct hwmc_shm_range part = hwmc_shm_part_of(&out->vector, i);

        if (part.bytes > 0)
            memcpy(*copy + part.at, out->memory + part.at, part.bytes);
    }

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static int alltoall(struct hwmc_shm_host *n, struct hwmc_vbuf *in, struct hwmc_vbuf *out)
{
    int mpi_errno = MPI_SUCCESS, err;
    const bool in_place = in->buffer == MPI_IN_PLACE;
    struct hwmc_shm_scatter w;
    char *copy = NULL;

    mpi_errno = hwmc_vbuf_begin(out, in_place);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = in_place ? copy_of(out, &copy) : hwmc_vbuf_begin(in, true);
    if (mpi_errno == MPI_SUCCESS) {
        hwmc_shm_choose(n, HWMC_SHM_KIND_ALLTOALL, 0);
        hwmc_shm_scatter_begin_of_all(&w, &n->group, in_place ? copy : in->memory,
                                      in_place ? &out->vector : &in->vector, out->memory,
                                      &out->vector);
        mpi_errno = hwmc_shm_wait(n, &w.op);
        if (!in_place)
            hwmc_vbuf_end(in, false);
    }
    MPL_free(copy);
    err = hwmc_vbuf_end(out, mpi_errno == MPI_SUCCESS);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = err;
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static bool run_alltoall(struct hwmc_shm_host *n, struct hwmc_vbuf *in, struct hwmc_vbuf *out,
                         int *mpi_errno)
{
    if (n && *mpi_errno == MPI_SUCCESS)
        *mpi_errno = alltoall(n, in, out);
    return n != NULL;
}

bool MPIR_Hwmc_alltoall(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                        void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype, MPIR_Comm *comm,
                        int *mpi_errno)
{
    struct hwmc_vbuf in = hwmc_vbuf_of(sendbuf, sendcount, sendtype, comm->local_size);
    struct hwmc_vbuf out = hwmc_vbuf_of(recvbuf, recvcount, recvtype, comm->local_size);

    return run_alltoall(HWMC_SHM_ADMIT(ALLTOALL, comm, mpi_errno), &in, &out, mpi_errno);
}

bool MPIR_Hwmc_alltoallv(const void *sendbuf, const MPI_Aint *sendcounts, const MPI_Aint *sdispls,
                         MPI_Datatype sendtype, void *recvbuf, const MPI_Aint *recvcounts,
                         const MPI_Aint *rdispls, MPI_Datatype recvtype, MPIR_Comm *comm,
                         int *mpi_errno)
{
    struct hwmc_vbuf in = hwmc_vbuf_v(sendbuf, sendcounts, sdispls, sendtype, comm->local_size);
    struct hwmc_vbuf out = hwmc_vbuf_v(recvbuf, recvcounts, rdispls, recvtype, comm->local_size);

    return run_alltoall(HWMC_SHM_ADMIT(ALLTOALLV, comm, mpi_errno), &in, &out, mpi_errno);
}
