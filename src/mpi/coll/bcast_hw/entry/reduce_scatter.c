/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Reduce_scatter, of blocks alike or not, over the memory that a host's ranks share.
 */

#include "mpiimpl.h"
#include "hooks.h"
#include "reduce.h"
#include "../shm/coll/reduce_scatter.h"

/* Which elements are whose. */
struct blocks {
    struct hwmc_shm_vector parts;
    struct hwmc_shm_range *each; /* made here */
    MPI_Aint all, own;           /* elements */
};

/* `counts` NULL: `count` each. */
static int find_blocks(struct blocks *b, const struct hwmc_shm_host *n, const MPI_Aint *counts,
                       MPI_Aint count, uint32_t element)
{
    int mpi_errno = MPI_SUCCESS;
    const uint32_t size = n->group.size;

    b->each = NULL;
    b->own = counts ? counts[n->group.rank] : count;
    b->all = count * size;
    b->parts = (struct hwmc_shm_vector){.stride = (uint64_t) count * element,
                                        .bytes = (uint64_t) count * element};
    if (!counts)
        goto fn_exit;
    b->each = MPL_malloc(size * sizeof(*b->each), MPL_MEM_COLL);
    MPIR_ERR_CHKANDJUMP(!b->each, mpi_errno, MPI_ERR_OTHER, "**nomem");
    b->parts.each = b->each;
    b->all = 0;
    for (uint32_t i = 0; i < size; i++) {
        b->each[i].at = (uint64_t) b->all * element;
        b->each[i].bytes = (uint64_t) counts[i] * element;
        b->all += counts[i];
    }

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Memory for what this rank gets, where it may not be written to at once: in place it would be on
 * what others still read. And memory to work in, where that is needed. */
static int make_room(const struct hwmc_shm_host *n, const struct hwmc_operands *a, uint64_t own,
                     uint64_t all, void **out, void **work)
{
    int mpi_errno = MPI_SUCCESS;

    *out = *work = NULL;
    if (a->in == a->out && own > 0) {
        *out = MPL_malloc(own, MPL_MEM_BUFFER);
        MPIR_ERR_CHKANDJUMP(!*out, mpi_errno, MPI_ERR_OTHER, "**nomem");
    }
    if (all > 0 && hwmc_shm_reduce_scatter_needs_work(&n->group, all)) {
        *work = MPL_malloc(all, MPL_MEM_BUFFER);
        MPIR_ERR_CHKANDJUMP(!*work, mpi_errno, MPI_ERR_OTHER, "**nomem");
    }

fn_exit:
    return mpi_errno;
fn_fail:
    MPL_free(*out);
    *out = NULL;
    goto fn_exit;
}

static int reduce_scatter(struct hwmc_shm_host *n, const struct hwmc_operation *o,
                          const void *sendbuf, void *recvbuf, const MPI_Aint *counts,
                          MPI_Aint count)
{
    int mpi_errno = MPI_SUCCESS, err;
    struct hwmc_shm_reduce_scatter s;
    struct hwmc_shm_tree tree;
    struct hwmc_operands a;
    struct blocks b;
    uint64_t all, own;
    void *out = NULL, *work = NULL;

    mpi_errno = find_blocks(&b, n, counts, count, o->of.element);
    MPIR_ERR_CHECK(mpi_errno);
    all = (uint64_t) b.all * o->of.element;
    own = (uint64_t) b.own * o->of.element;
    tree =
        hwmc_shm_comm_tree(n, hwmc_shm_choose(n, HWMC_SHM_KIND_REDUCE_SCATTER, (MPI_Aint) all), 0);
    mpi_errno = hwmc_operands_begin(&a, o, sendbuf, b.all, recvbuf, b.own, true);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = make_room(n, &a, own, all, &out, &work);
    if (mpi_errno)
        hwmc_operands_end(&a, o, false);
    MPIR_ERR_CHECK(mpi_errno);
    err = hwmc_shm_reduce_scatter_begin(&s, &n->group, &tree, &o->of, a.in, &b.parts, all,
                                        out ? out : a.out, work);
    MPIR_Assert(err == HWMC_OK);
    mpi_errno = hwmc_shm_wait(n, &s.op);
    if (out)
        memcpy(a.out, out, own);
    err = hwmc_operands_end(&a, o, mpi_errno == MPI_SUCCESS);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = o->mpi_errno ? o->mpi_errno : err;
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    MPL_free(out);
    MPL_free(work);
    MPL_free(b.each);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

bool MPIR_Hwmc_reduce_scatter(const void *sendbuf, void *recvbuf, const MPI_Aint *recvcounts,
                              MPI_Datatype datatype, MPI_Op op, MPIR_Comm *comm, int *mpi_errno)
{
    struct hwmc_shm_host *n = HWMC_SHM_ADMIT(REDUCE_SCATTER, comm, mpi_errno);
    struct hwmc_operation o;

    n = hwmc_shm_admit_op(n, &o, op, datatype, *mpi_errno);
    if (n && *mpi_errno == MPI_SUCCESS)
        *mpi_errno = reduce_scatter(n, &o, sendbuf, recvbuf, recvcounts, 0);
    return n != NULL;
}

bool MPIR_Hwmc_reduce_scatter_block(const void *sendbuf, void *recvbuf, MPI_Aint recvcount,
                                    MPI_Datatype datatype, MPI_Op op, MPIR_Comm *comm,
                                    int *mpi_errno)
{
    struct hwmc_shm_host *n = HWMC_SHM_ADMIT(REDUCE_SCATTER_BLOCK, comm, mpi_errno);
    struct hwmc_operation o;

    n = hwmc_shm_admit_op(n, &o, op, datatype, *mpi_errno);
    if (n && *mpi_errno == MPI_SUCCESS)
        *mpi_errno = reduce_scatter(n, &o, sendbuf, recvbuf, NULL, recvcount);
    return n != NULL;
}
