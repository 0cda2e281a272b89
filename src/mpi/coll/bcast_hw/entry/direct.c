/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * direct: see direct.h.
 */

#include "direct.h"

#include "../process/mpich.h"

/* What the vector forms want, of the root alone: for each rank `count` elements, then their
 * place. */
static int make_counts(MPI_Aint count, int root, const MPIR_Comm *comm, MPI_Aint **counts)
{
    const MPI_Aint p = comm->local_size;
    int mpi_errno = MPI_SUCCESS;

    *counts = NULL;
    if (comm->rank != root)
        return MPI_SUCCESS;
    *counts = MPL_malloc(2 * (size_t) p * sizeof(**counts), MPL_MEM_COLL);
    MPIR_ERR_CHKANDJUMP(!*counts, mpi_errno, MPI_ERR_OTHER, "**nomem");
    for (MPI_Aint i = 0; i < p; i++) {
        (*counts)[i] = count;
        (*counts)[p + i] = i * count;
    }

fn_fail:
    return mpi_errno;
}

static const MPI_Aint *places(const MPI_Aint *counts, const MPIR_Comm *comm)
{
    return counts ? counts + comm->local_size : NULL;
}

static int gather(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype, void *recvbuf,
                  MPI_Aint recvcount, MPI_Datatype recvtype, int root, MPIR_Comm *comm)
{
    MPI_Aint *counts;
    int mpi_errno = make_counts(recvcount, root, comm, &counts);

    if (mpi_errno == MPI_SUCCESS)
        mpi_errno =
            MPIR_Gatherv_allcomm_linear(sendbuf, sendcount, sendtype, recvbuf, counts,
                                        places(counts, comm), recvtype, root, comm, HWMC_NO_ERRORS);
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
    MPI_Aint *counts;
    int mpi_errno = make_counts(in->count, root, comm, &counts);

    if (mpi_errno == MPI_SUCCESS)
        mpi_errno = MPIR_Scatterv_allcomm_linear(in->buffer, counts, places(counts, comm), in->type,
                                                 out->buffer, out->count, out->type, root, comm,
                                                 HWMC_NO_ERRORS);
    MPL_free(counts);
    return mpi_errno;
}

int hwmc_direct_alltoall(const struct hwmc_vbuf *in, const struct hwmc_vbuf *out, MPIR_Comm *comm)
{
    return MPIR_Alltoall_intra_scattered(in->buffer, in->count, in->type, out->buffer, out->count,
                                         out->type, comm, HWMC_NO_ERRORS);
}

/* The next HWMC_DIRECT_AT_ONCE ranks before this one get their parts, and as many behind it send
 * theirs. */
static int post_some(struct hwmc_direct_parts *x)
{
    const int p = x->comm->local_size, end = MPL_MIN(x->next + HWMC_DIRECT_AT_ONCE, p);
    int mpi_errno = MPI_SUCCESS;

    for (int i = x->next; i < end && mpi_errno == MPI_SUCCESS; i++) {
        const uint32_t from = (uint32_t) ((x->comm->rank + i) % p);

        if (hwmc_vbuf_counted(&x->out, from) > 0)
            mpi_errno = MPIC_Irecv(hwmc_vbuf_user_part(&x->out, from), x->out.counts[from],
                                   hwmc_vbuf_type(&x->out, from), (int) from, MPIR_ALLTOALLV_TAG,
                                   x->comm, &x->requests[x->num++]);
    }
    for (int i = x->next; i < end && mpi_errno == MPI_SUCCESS; i++) {
        const uint32_t to = (uint32_t) ((x->comm->rank - i + p) % p);

        if (hwmc_vbuf_counted(&x->in, to) > 0)
            mpi_errno = MPIC_Isend(hwmc_vbuf_user_part(&x->in, to), x->in.counts[to],
                                   hwmc_vbuf_type(&x->in, to), (int) to, MPIR_ALLTOALLV_TAG,
                                   x->comm, &x->requests[x->num++], HWMC_NO_ERRORS);
    }
    x->next = end;
    return mpi_errno;
}

int hwmc_direct_parts_begin(struct hwmc_direct_parts *x, const struct hwmc_vbuf *in,
                            const struct hwmc_vbuf *out, MPIR_Comm *comm)
{
    x->in = *in;
    x->out = *out;
    x->comm = comm;
    x->num = x->next = 0;
    return post_some(x);
}

int hwmc_direct_parts_end(struct hwmc_direct_parts *x)
{
    int mpi_errno = MPI_SUCCESS;

    while (mpi_errno == MPI_SUCCESS && (x->num > 0 || x->next < x->comm->local_size)) {
        mpi_errno = MPIC_Waitall(x->num, x->requests, x->statuses HWMC_RECV_TAIL);
        x->num = 0;
        if (mpi_errno == MPI_SUCCESS)
            mpi_errno = post_some(x);
    }
    return mpi_errno;
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
    const void *own = hwmc_combination_own(x);
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
        mpi_errno = hwmc_combination_error(x);
    }

fn_fail:
    MPL_free(vectors);
    return mpi_errno;
}

int hwmc_direct_scan(struct hwmc_combination *x, bool exclusive, MPIR_Comm *comm)
{
    const int tag = exclusive ? MPIR_EXSCAN_TAG : MPIR_SCAN_TAG;
    const size_t bytes = (size_t) x->count * x->operation.of.element;
    const void *own = hwmc_combination_own(x);
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
    mpi_errno = hwmc_combination_error(x);

fn_fail:
    MPL_free(memory);
    return mpi_errno;
}
