/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Scan and exscan over the memory that a host's ranks share.
 */

#include "mpiimpl.h"
#include "hooks.h"
#include "reduce.h"
#include "../shm/coll/scan.h"

static int scan(struct hwmc_shm_host *n, const struct hwmc_operation *o, const void *sendbuf,
                void *recvbuf, MPI_Aint count, bool exclusive)
{
    int mpi_errno = MPI_SUCCESS, err;
    struct hwmc_operands a;
    struct hwmc_shm_scan s;

    hwmc_shm_choose(n, HWMC_SHM_KIND_SCAN, count * o->of.element);
    mpi_errno = hwmc_operands_begin(&a, o, sendbuf, count, recvbuf, count, true);
    MPIR_ERR_CHECK(mpi_errno);
    err = hwmc_shm_scan_begin(&s, &n->group, &o->of, exclusive, a.in, a.out, (uint64_t) count);
    MPIR_Assert(err == HWMC_OK);
    mpi_errno = hwmc_shm_combine(n, o, &s.op, &a, !exclusive || n->group.rank > 0);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

bool MPIR_Hwmc_scan(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                    MPI_Op op, MPIR_Comm *comm, int *mpi_errno)
{
    struct hwmc_shm_host *n = HWMC_SHM_ADMIT(SCAN, comm, mpi_errno);
    struct hwmc_operation o;

    n = hwmc_shm_admit_op(n, &o, op, datatype, *mpi_errno);
    if (n && *mpi_errno == MPI_SUCCESS)
        *mpi_errno = scan(n, &o, sendbuf, recvbuf, count, false);
    return n != NULL;
}

bool MPIR_Hwmc_exscan(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                      MPI_Op op, MPIR_Comm *comm, int *mpi_errno)
{
    struct hwmc_shm_host *n = HWMC_SHM_ADMIT(EXSCAN, comm, mpi_errno);
    struct hwmc_operation o;

    n = hwmc_shm_admit_op(n, &o, op, datatype, *mpi_errno);
    if (n && *mpi_errno == MPI_SUCCESS)
        *mpi_errno = scan(n, &o, sendbuf, recvbuf, count, true);
    return n != NULL;
}
