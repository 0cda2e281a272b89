/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Reduce and allreduce over the memory that a host's ranks share.
 */

#include "node_reduce.h"
#include "node/allreduce.h"

struct bcast_hw_node_comm *MPIR_Bcast_hw_node_admit_op(struct bcast_hw_node_comm *n,
                                                       struct MPIR_Bcast_hw_operation *o, MPI_Op op,
                                                       MPI_Datatype datatype, int mpi_errno)
{
    if (!n || mpi_errno)
        return n;
    if (MPIR_Bcast_hw_operation_init(o, op, datatype) &&
        o->of.element <= n->segment.layout.chunk / 2)
        return n;
    MPIR_Bcast_hw_node_note_left();
    return NULL;
}

int MPIR_Bcast_hw_node_combine(struct bcast_hw_node_comm *n,
                               const struct MPIR_Bcast_hw_operation *o, struct bcast_hw_node_op *op,
                               struct MPIR_Bcast_hw_operands *a, bool result)
{
    int mpi_errno = MPIR_Bcast_hw_node_wait(n, op);
    int err = MPIR_Bcast_hw_operands_end(a, o, result && mpi_errno == MPI_SUCCESS);

    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = o->mpi_errno ? o->mpi_errno : err;
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Every rank writes a result where it has children that wait for it to be whole. */
static bool needs_result(const struct bcast_hw_node_comm *n, int root)
{
    return n->group.rank == (uint32_t) root ||
           n->group.params.reduction == BCAST_HW_NODE_REDUCTION_TREEMM;
}

static int reduce(struct bcast_hw_node_comm *n, const struct MPIR_Bcast_hw_operation *o,
                  const void *sendbuf, void *recvbuf, MPI_Aint count, int root)
{
    int mpi_errno = MPI_SUCCESS, err;
    const struct bcast_hw_node_choice *choice =
        MPIR_Bcast_hw_node_choose(n, BCAST_HW_NODE_KIND_REDUCE, count * o->of.element);
    struct bcast_hw_node_tree tree = MPIR_Bcast_hw_node_tree(n, choice, (uint32_t) root);
    bool is_root = n->group.rank == (uint32_t) root;
    struct MPIR_Bcast_hw_operands a;
    struct bcast_hw_node_reduction r;

    mpi_errno = MPIR_Bcast_hw_operands_begin(&a, o, sendbuf, count, recvbuf,
                                             needs_result(n, root) ? count : 0, is_root);
    MPIR_ERR_CHECK(mpi_errno);
    err = bcast_hw_node_reduction_begin(&r, &n->group, &tree, (uint32_t) root, &o->of, a.in, a.out,
                                        (uint64_t) count);
    MPIR_Assert(err == BCAST_HW_OK);
    mpi_errno = MPIR_Bcast_hw_node_combine(n, o, &r.op, &a, true);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

bool MPIR_Bcast_hw_node_reduce(const void *sendbuf, void *recvbuf, MPI_Aint count,
                               MPI_Datatype datatype, MPI_Op op, int root, MPIR_Comm *comm,
                               int *mpi_errno)
{
    struct bcast_hw_node_comm *n = MPIR_BCAST_HW_NODE_ADMIT(REDUCE, comm, mpi_errno);
    struct MPIR_Bcast_hw_operation o;

    n = MPIR_Bcast_hw_node_admit_op(n, &o, op, datatype, *mpi_errno);
    if (n && *mpi_errno == MPI_SUCCESS)
        *mpi_errno = reduce(n, &o, sendbuf, recvbuf, count, root);
    return n != NULL;
}

static int allreduce(struct bcast_hw_node_comm *n, const struct MPIR_Bcast_hw_operation *o,
                     const void *sendbuf, void *recvbuf, MPI_Aint count)
{
    int mpi_errno = MPI_SUCCESS, err;
    const struct bcast_hw_node_choice *choice =
        MPIR_Bcast_hw_node_choose(n, BCAST_HW_NODE_KIND_ALLREDUCE, count * o->of.element);
    struct bcast_hw_node_tree tree = MPIR_Bcast_hw_node_tree(n, choice, 0);
    struct MPIR_Bcast_hw_operands a;
    struct bcast_hw_node_allreduce r;

    mpi_errno = MPIR_Bcast_hw_operands_begin(&a, o, sendbuf, count, recvbuf, count, true);
    MPIR_ERR_CHECK(mpi_errno);
    err =
        bcast_hw_node_allreduce_begin(&r, &n->group, &tree, &o->of, a.in, a.out, (uint64_t) count);
    MPIR_Assert(err == BCAST_HW_OK);
    mpi_errno = MPIR_Bcast_hw_node_combine(n, o, &r.op, &a, true);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

bool MPIR_Bcast_hw_node_allreduce(const void *sendbuf, void *recvbuf, MPI_Aint count,
                                  MPI_Datatype datatype, MPI_Op op, MPIR_Comm *comm, int *mpi_errno)
{
    struct bcast_hw_node_comm *n = MPIR_BCAST_HW_NODE_ADMIT(ALLREDUCE, comm, mpi_errno);
    struct MPIR_Bcast_hw_operation o;

    n = MPIR_Bcast_hw_node_admit_op(n, &o, op, datatype, *mpi_errno);
    if (n && *mpi_errno == MPI_SUCCESS)
        *mpi_errno = allreduce(n, &o, sendbuf, recvbuf, count);
    return n != NULL;
}
