/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Reduce and allreduce over the memory that a host's ranks share.
 */

#include "mpiimpl.h"
#include "hooks.h"
#include "reduce.h"
#include "../stats/counters.h"
#include "../shm/coll/allreduce.h"

struct hwmc_shm_host *hwmc_shm_admit_op(struct hwmc_shm_host *n, struct hwmc_operation *o,
                                        MPI_Op op, MPI_Datatype datatype, int mpi_errno)
{
    if (!n || mpi_errno)
        return n;
    if (hwmc_operation_init(o, op, datatype) && o->of.element <= n->segment.layout.chunk / 2)
        return n;
    hwmc_shm_note_left();
    return NULL;
}

int hwmc_shm_combine(struct hwmc_shm_host *n, const struct hwmc_operation *o,
                     struct hwmc_shm_op *op, struct hwmc_operands *a, bool result)
{
    int mpi_errno = hwmc_shm_wait(n, op);
    int err = hwmc_operands_end(a, o, result && mpi_errno == MPI_SUCCESS);

    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = o->mpi_errno ? o->mpi_errno : err;
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Every rank writes a result where it has children that wait for it to be whole. */
static bool needs_result(const struct hwmc_shm_host *n, int root)
{
    return n->group.rank == (uint32_t) root ||
           n->group.params.reduction == HWMC_SHM_REDUCTION_TREEMM;
}

static int reduce(struct hwmc_shm_host *n, const struct hwmc_operation *o, const void *sendbuf,
                  void *recvbuf, MPI_Aint count, int root)
{
    int mpi_errno = MPI_SUCCESS, err;
    const struct hwmc_shm_choice *choice =
        hwmc_shm_choose(n, HWMC_SHM_KIND_REDUCE, count * o->of.element);
    struct hwmc_shm_tree tree = hwmc_shm_comm_tree(n, choice, (uint32_t) root);
    bool is_root = n->group.rank == (uint32_t) root;
    struct hwmc_operands a;
    struct hwmc_shm_reduction r;

    mpi_errno = hwmc_operands_begin(&a, o, sendbuf, count, recvbuf,
                                    needs_result(n, root) ? count : 0, is_root);
    MPIR_ERR_CHECK(mpi_errno);
    err = hwmc_shm_reduction_begin(&r, &n->group, &tree, (uint32_t) root, &o->of, a.in, a.out,
                                   (uint64_t) count);
    MPIR_Assert(err == HWMC_OK);
    mpi_errno = hwmc_shm_combine(n, o, &r.op, &a, true);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

bool MPIR_Hwmc_reduce(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                      MPI_Op op, int root, MPIR_Comm *comm, int *mpi_errno)
{
    struct hwmc_shm_host *n = HWMC_SHM_ADMIT(REDUCE, comm, mpi_errno);
    struct hwmc_operation o;

    n = hwmc_shm_admit_op(n, &o, op, datatype, *mpi_errno);
    if (n && *mpi_errno == MPI_SUCCESS)
        *mpi_errno = reduce(n, &o, sendbuf, recvbuf, count, root);
    return n != NULL;
}

static int allreduce(struct hwmc_shm_host *n, const struct hwmc_operation *o, const void *sendbuf,
                     void *recvbuf, MPI_Aint count)
{
    int mpi_errno = MPI_SUCCESS, err;
    const struct hwmc_shm_choice *choice =
        hwmc_shm_choose(n, HWMC_SHM_KIND_ALLREDUCE, count * o->of.element);
    struct hwmc_shm_tree tree = hwmc_shm_comm_tree(n, choice, 0);
    struct hwmc_operands a;
    struct hwmc_shm_allreduce r;

    mpi_errno = hwmc_operands_begin(&a, o, sendbuf, count, recvbuf, count, true);
    MPIR_ERR_CHECK(mpi_errno);
    err = hwmc_shm_allreduce_begin(&r, &n->group, &tree, &o->of, a.in, a.out, (uint64_t) count);
    MPIR_Assert(err == HWMC_OK);
    mpi_errno = hwmc_shm_combine(n, o, &r.op, &a, true);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

bool MPIR_Hwmc_allreduce(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                         MPI_Op op, MPIR_Comm *comm, int *mpi_errno)
{
    struct hwmc_shm_host *n = HWMC_SHM_ADMIT(ALLREDUCE, comm, mpi_errno);
    struct hwmc_operation o;

    n = hwmc_shm_admit_op(n, &o, op, datatype, *mpi_errno);
    if (n && *mpi_errno == MPI_SUCCESS)
        *mpi_errno = allreduce(n, &o, sendbuf, recvbuf, count);
    return n != NULL;
}
