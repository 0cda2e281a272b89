/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Reduce and allreduce over the memory that a host's ranks share.
 */

#include "mpiimpl.h"
#include "hooks.h"
#include "reduce.h"
#include "spread_reduce.h"
#include "spread_take.h"

/* Every rank writes a result where it has children that wait for it to be whole. */
static bool needs_result(const struct hwmc_shm_host *n, int root)
{
    return n->group.rank == (uint32_t) root ||
           n->group.params.reduction == HWMC_SHM_REDUCTION_TREEMM;
}

static bool reduce_fits(const struct hwmc_call *call, const struct hwmc_shm_host *n)
{
    return hwmc_combination_fits(&((const struct hwmc_reduce_call *) call)->x, n);
}

static int begin_reduce(struct hwmc_call *call)
{
    struct hwmc_reduce_call *c = (struct hwmc_reduce_call *) call;
    struct hwmc_combination *x = &c->x;
    const struct hwmc_operation *o = &x->operation;
    struct hwmc_shm_host *n = call->host;
    int mpi_errno = MPI_SUCCESS, err;
    const struct hwmc_shm_choice *choice =
        hwmc_shm_choose(n, HWMC_SHM_KIND_REDUCE, x->count * o->of.element);
    const uint32_t root = (uint32_t) c->root;
    struct hwmc_shm_tree tree = hwmc_shm_comm_tree(n, choice, root);

    mpi_errno = hwmc_operands_begin(&x->operands, o, x->sendbuf, x->count, x->recvbuf,
                                    needs_result(n, c->root) ? x->count : 0, n->group.rank == root);
    MPIR_ERR_CHECK(mpi_errno);
    err = hwmc_shm_reduction_begin(&c->reduction, &n->group, &tree, root, &o->of, x->operands.in,
                                   x->operands.out, (uint64_t) x->count);
    MPIR_Assert(err == HWMC_OK);
    call->op = &c->reduction.op;

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static int end_reduce(struct hwmc_call *call, int mpi_errno)
{
    return hwmc_combination_end(&((struct hwmc_reduce_call *) call)->x, mpi_errno, true);
}

static const struct hwmc_call_ops reduce_ops = {
    .fits = reduce_fits, .begin = begin_reduce, .end = end_reduce};

void hwmc_reduce_call_init(struct hwmc_reduce_call *c, const void *sendbuf, void *recvbuf,
                           MPI_Aint count, MPI_Datatype datatype, MPI_Op op, int root)
{
    hwmc_combination_init(&c->x, sendbuf, recvbuf, count, datatype, op);
    c->root = root;
    c->call.ops = &reduce_ops;
}

static bool take_over_hosts(const void *sendbuf, void *recvbuf, MPI_Aint count,
                            MPI_Datatype datatype, MPI_Op op, int root, MPIR_Comm *comm,
                            int *mpi_errno)
{
    struct hwmc_spread_reduce r;

    if (comm->comm_kind != MPIR_COMM_KIND__INTRACOMM) /* datatype and operation may be no ones */
        return false;
    hwmc_spread_reduce_init(&r, sendbuf, recvbuf, count, datatype, op, root);
    return r.spread.length > 0 &&
           hwmc_spread_take(&r.spread, comm, (MPI_Aint) r.spread.length, mpi_errno);
}

bool MPIR_Hwmc_reduce(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                      MPI_Op op, int root, MPIR_Comm *comm, int *mpi_errno)
{
    struct hwmc_shm_host *n = HWMC_SHM_ADMIT(REDUCE, comm, mpi_errno);
    struct hwmc_reduce_call c;

    if (!n)
        return HWMC_SPREADS(REDUCE) &&
               take_over_hosts(sendbuf, recvbuf, count, datatype, op, root, comm, mpi_errno);
    if (*mpi_errno)
        return true;
    hwmc_reduce_call_init(&c, sendbuf, recvbuf, count, datatype, op, root);
    return hwmc_call_take(&c.call, n, mpi_errno);
}

static bool allreduce_fits(const struct hwmc_call *call, const struct hwmc_shm_host *n)
{
    return hwmc_combination_fits(&((const struct hwmc_allreduce_call *) call)->x, n);
}

static inline int begin_allreduce(struct hwmc_call *call)
{
    struct hwmc_allreduce_call *c = (struct hwmc_allreduce_call *) call;
    struct hwmc_combination *x = &c->x;
    const struct hwmc_operation *o = &x->operation;
    struct hwmc_shm_host *n = call->host;
    int mpi_errno = MPI_SUCCESS, err;
    const struct hwmc_shm_choice *choice =
        hwmc_shm_choose(n, HWMC_SHM_KIND_ALLREDUCE, x->count * o->of.element);
    struct hwmc_shm_tree tree = hwmc_shm_comm_tree(n, choice, 0);

    mpi_errno =
        hwmc_operands_begin(&x->operands, o, x->sendbuf, x->count, x->recvbuf, x->count, true);
    MPIR_ERR_CHECK(mpi_errno);
    err = hwmc_shm_allreduce_begin(&c->allreduce, &n->group, &tree, &o->of, x->operands.in,
                                   x->operands.out, (uint64_t) x->count);
    MPIR_Assert(err == HWMC_OK);
    call->op = &c->allreduce.op;

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static inline int end_allreduce(struct hwmc_call *call, int mpi_errno)
{
    return hwmc_combination_end(&((struct hwmc_allreduce_call *) call)->x, mpi_errno, true);
}

static const struct hwmc_call_ops allreduce_ops = {
    .fits = allreduce_fits, .begin = begin_allreduce, .end = end_allreduce};

void hwmc_allreduce_call_init(struct hwmc_allreduce_call *c, const void *sendbuf, void *recvbuf,
                              MPI_Aint count, MPI_Datatype datatype, MPI_Op op)
{
    hwmc_combination_init(&c->x, sendbuf, recvbuf, count, datatype, op);
    c->call.ops = &allreduce_ops;
}

bool MPIR_Hwmc_allreduce(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                         MPI_Op op, MPIR_Comm *comm, int *mpi_errno)
{
    struct hwmc_shm_host *n = HWMC_SHM_ADMIT(ALLREDUCE, comm, mpi_errno);
    struct hwmc_allreduce_call c;

    if (!n)
        return HWMC_SPREADS(ALLREDUCE) &&
               take_over_hosts(sendbuf, recvbuf, count, datatype, op, -1, comm, mpi_errno);
    if (*mpi_errno)
        return true;
    hwmc_allreduce_call_init(&c, sendbuf, recvbuf, count, datatype, op);
    return hwmc_call_take(&c.call, n, mpi_errno);
}
