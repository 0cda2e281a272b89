/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Scan and exscan over the memory that a host's ranks share.
 */

#include "node_reduce.h"
#include "node/scan.h"

static int scan(struct bcast_hw_node_comm *n, const struct MPIR_Bcast_hw_operation *o,
                const void *sendbuf, void *recvbuf, MPI_Aint count, bool exclusive)
{
    int mpi_errno = MPI_SUCCESS, err;
    struct MPIR_Bcast_hw_operands a;
    struct bcast_hw_node_scan s;

    MPIR_Bcast_hw_node_choose(n, BCAST_HW_NODE_KIND_SCAN, count * o->of.element);
    mpi_errno = MPIR_Bcast_hw_operands_begin(&a, o, sendbuf, count, recvbuf, count, true);
    MPIR_ERR_CHECK(mpi_errno);
    err = bcast_hw_node_scan_begin(&s, &n->group, &o->of, exclusive, a.in, a.out, (uint64_t) count);
    MPIR_Assert(err == BCAST_HW_OK);
    mpi_errno = MPIR_Bcast_hw_node_combine(n, o, &s.op, &a, !exclusive || n->group.rank > 0);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

bool MPIR_Bcast_hw_node_scan(const void *sendbuf, void *recvbuf, MPI_Aint count,
                             MPI_Datatype datatype, MPI_Op op, MPIR_Comm *comm, int *mpi_errno)
{
    struct bcast_hw_node_comm *n = MPIR_BCAST_HW_NODE_ADMIT(SCAN, comm, mpi_errno);
    struct MPIR_Bcast_hw_operation o;

    n = MPIR_Bcast_hw_node_admit_op(n, &o, op, datatype, *mpi_errno);
    if (n && *mpi_errno == MPI_SUCCESS)
        *mpi_errno = scan(n, &o, sendbuf, recvbuf, count, false);
    return n != NULL;
}

bool MPIR_Bcast_hw_node_exscan(const void *sendbuf, void *recvbuf, MPI_Aint count,
                               MPI_Datatype datatype, MPI_Op op, MPIR_Comm *comm, int *mpi_errno)
{
    struct bcast_hw_node_comm *n = MPIR_BCAST_HW_NODE_ADMIT(EXSCAN, comm, mpi_errno);
    struct MPIR_Bcast_hw_operation o;

    n = MPIR_Bcast_hw_node_admit_op(n, &o, op, datatype, *mpi_errno);
    if (n && *mpi_errno == MPI_SUCCESS)
        *mpi_errno = scan(n, &o, sendbuf, recvbuf, count, true);
    return n != NULL;
}
