/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * direct: see direct.h.
 */

#include "direct.h"

#include "../process/mpich.h"

/* For each rank `count` elements, then their place: what the vector forms want. NULL: no memory. */
static MPI_Aint *counts_alike(MPI_Aint count, int ranks)
{
    const size_t p = (size_t) ranks;
    MPI_Aint *counts = MPL_malloc(2 * p * sizeof(*counts), MPL_MEM_COLL);

    for (size_t i = 0; counts && i < p; i++) {
        counts[i] = count;
        counts[p + i] = (MPI_Aint) i * count;
    }
    return counts;
}

static int gather(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype, void *recvbuf,
                  MPI_Aint recvcount, MPI_Datatype recvtype, int root, MPIR_Comm *comm)
{
    const int p = comm->local_size;
    MPI_Aint *counts = NULL;
    int mpi_errno = MPI_SUCCESS;

    if (comm->rank == root) {
        counts = counts_alike(recvcount, p);
        MPIR_ERR_CHKANDJUMP(!counts, mpi_errno, MPI_ERR_OTHER, "**nomem");
    }
    mpi_errno = MPIR_Gatherv_allcomm_linear(sendbuf, sendcount, sendtype, recvbuf, counts,
                                            counts ? counts + p : NULL, recvtype, root, comm,
                                            HWMC_NO_ERRORS);

fn_fail:
    MPL_free(counts);
    return mpi_errno;
}

int hwmc_direct_gather(const struct hwmc_vbuf *in, const struct hwmc_vbuf *out, int root,
                       MPIR_Comm *comm)
{
    return gather(in->buffer, in->count, in->type, out->buffer, out->count, out->type, root, comm);
}

int hwmc_direct_scatter(const struct hwmc_vbuf *in, const struct hwmc_vbuf *out, int root,
                        MPIR_Comm *comm)
{
    const int p = comm->local_size;
    MPI_Aint *counts = NULL;
    int mpi_errno = MPI_SUCCESS;

    if (comm->rank == root) {
        counts = counts_alike(in->count, p);
        MPIR_ERR_CHKANDJUMP(!counts, mpi_errno, MPI_ERR_OTHER, "**nomem");
    }
    mpi_errno = MPIR_Scatterv_allcomm_linear(in->buffer, counts, counts ? counts + p : NULL,
                                             in->type, out->buffer, out->count, out->type, root,
                                             comm, HWMC_NO_ERRORS);

fn_fail:
    MPL_free(counts);
    return mpi_errno;
}

int hwmc_direct_alltoall(const struct hwmc_vbuf *in, const struct hwmc_vbuf *out, MPIR_Comm *comm)
{
    return MPIR_Alltoall_intra_scattered(in->buffer, in->count, in->type, out->buffer, out->count,
                                         out->type, comm, HWMC_NO_ERRORS);
}

/* The operation may write to its second operand. */
static void combine_all(const struct hwmc_shm_operation *o, char *vectors, size_t bytes, int ranks)
{
    char *sum = vectors + (size_t) (ranks - 1) * bytes;

    for (int i = ranks - 2; i >= 0; i--)
        hwmc_shm_operation_combine(o, sum, vectors + (size_t) i * bytes, sum, (uint32_t) bytes);
}

int hwmc_direct_reduce(struct hwmc_combination *x, int root, MPIR_Comm *comm)
{
    const size_t bytes = (size_t) x->count * x->operation.of.element;
    const void *own = x->sendbuf == MPI_IN_PLACE ? x->recvbuf : x->sendbuf;
    const bool combines = comm->rank == root;
    const int p = comm->local_size;
    char *vectors = NULL;
    int mpi_errno = MPI_SUCCESS;

    if (combines) {
        vectors = MPL_malloc((size_t) p * bytes, MPL_MEM_COLL);
        MPIR_ERR_CHKANDJUMP(!vectors, mpi_errno, MPI_ERR_OTHER, "**nomem");
    }
    mpi_errno =
        gather(own, x->count, x->operation.type, vectors, x->count, x->operation.type, root, comm);
    MPIR_ERR_CHECK(mpi_errno);
    if (combines) {
        combine_all(&x->operation.of, vectors, bytes, p);
        memcpy(x->recvbuf, vectors + (size_t) (p - 1) * bytes, bytes);
        mpi_errno = x->operation.mpi_errno;
        x->operation.mpi_errno = MPI_SUCCESS;
    }

fn_fail:
    MPL_free(vectors);
    return mpi_errno;
}
