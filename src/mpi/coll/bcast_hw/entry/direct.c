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

/* x's first operation error, which it forgets. */
static int take_error(struct hwmc_combination *x)
{
    const int mpi_errno = x->operation.mpi_errno;

    x->operation.mpi_errno = MPI_SUCCESS;
    return mpi_errno;
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
        mpi_errno = take_error(x);
    }

fn_fail:
    MPL_free(vectors);
    return mpi_errno;
}

int hwmc_direct_scan(struct hwmc_combination *x, bool exclusive, MPIR_Comm *comm)
{
    const int tag = exclusive ? MPIR_EXSCAN_TAG : MPIR_SCAN_TAG;
    const size_t bytes = (size_t) x->count * x->operation.of.element;
    const void *own = x->sendbuf == MPI_IN_PLACE ? x->recvbuf : x->sendbuf;
    char *memory = MPL_malloc(MPL_MAX(bytes, 1), MPL_MEM_COLL);
    char *before = exclusive ? x->recvbuf : memory; /* what the ranks before have */
    char *sum = exclusive ? memory : x->recvbuf;    /* ... with this one's */
    int mpi_errno = MPI_SUCCESS;

    MPIR_ERR_CHKANDJUMP(!memory, mpi_errno, MPI_ERR_OTHER, "**nomem");
    if (sum != own)
        memcpy(sum, own, bytes);
    if (comm->rank > 0) {
        mpi_errno = MPIC_Recv(before, x->count, x->operation.type, comm->rank - 1, tag, comm,
                              MPI_STATUS_IGNORE HWMC_RECV_TAIL);
        MPIR_ERR_CHECK(mpi_errno);
        hwmc_shm_operation_combine(&x->operation.of, sum, before, sum, (uint32_t) bytes);
    }
    if (comm->rank + 1 < comm->local_size)
        mpi_errno =
            MPIC_Send(sum, x->count, x->operation.type, comm->rank + 1, tag, comm, HWMC_NO_ERRORS);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = take_error(x);

fn_fail:
    MPL_free(memory);
    return mpi_errno;
}
