/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Scan and exscan over the memory that a host's ranks share.
 */

#include "mpiimpl.h"
#include "hooks.h"
#include "scan.h"
#include "spread_scan.h"

static bool scan_fits(const struct hwmc_call *call, const struct hwmc_shm_host *n)
{
    return hwmc_combination_fits(&((const struct hwmc_scan_call *) call)->x, n);
}

static int begin_scan(struct hwmc_call *call)
{
    struct hwmc_scan_call *c = (struct hwmc_scan_call *) call;
    struct hwmc_combination *x = &c->x;
    const struct hwmc_operation *o = &x->operation;
    struct hwmc_shm_host *n = call->host;
    int mpi_errno = MPI_SUCCESS, err;

    hwmc_shm_choose(n, HWMC_SHM_KIND_SCAN, x->count * o->of.element);
    mpi_errno =
        hwmc_operands_begin(&x->operands, o, x->sendbuf, x->count, x->recvbuf, x->count, true);
    MPIR_ERR_CHECK(mpi_errno);
    err = hwmc_shm_scan_begin(&c->scan, &n->group, &o->of, c->exclusive, x->operands.in,
                              x->operands.out, (uint64_t) x->count);
    MPIR_Assert(err == HWMC_OK);
    call->op = &c->scan.op;

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static int end_scan(struct hwmc_call *call, int mpi_errno)
{
    struct hwmc_scan_call *c = (struct hwmc_scan_call *) call;

    return hwmc_combination_end(&c->x, mpi_errno, !c->exclusive || call->host->group.rank > 0);
}

static const struct hwmc_call_ops scan_ops = {
    .fits = scan_fits, .begin = begin_scan, .end = end_scan};

void hwmc_scan_call_init(struct hwmc_scan_call *c, const void *sendbuf, void *recvbuf,
                         MPI_Aint count, MPI_Datatype datatype, MPI_Op op)
{
    hwmc_combination_init(&c->x, sendbuf, recvbuf, count, datatype, op);
    c->exclusive = false;
    c->call.ops = &scan_ops;
}

void hwmc_exscan_call_init(struct hwmc_scan_call *c, const void *sendbuf, void *recvbuf,
                           MPI_Aint count, MPI_Datatype datatype, MPI_Op op)
{
    hwmc_combination_init(&c->x, sendbuf, recvbuf, count, datatype, op);
    c->exclusive = true;
    c->call.ops = &scan_ops;
}

bool MPIR_Hwmc_scan(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                    MPI_Op op, MPIR_Comm *comm, int *mpi_errno)
{
    struct hwmc_shm_host *n = HWMC_SHM_ADMIT(SCAN, comm, mpi_errno);
    struct hwmc_scan_call c;

    if (!n)
        return HWMC_SPREADS(SCAN) &&
               hwmc_spread_scan(sendbuf, recvbuf, count, datatype, op, false, comm, mpi_errno);
    if (*mpi_errno)
        return true;
    hwmc_scan_call_init(&c, sendbuf, recvbuf, count, datatype, op);
    return hwmc_call_take(&c.call, n, mpi_errno);
}

bool MPIR_Hwmc_exscan(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                      MPI_Op op, MPIR_Comm *comm, int *mpi_errno)
{
    struct hwmc_shm_host *n = HWMC_SHM_ADMIT(EXSCAN, comm, mpi_errno);
    struct hwmc_scan_call c;

    if (!n)
        return HWMC_SPREADS(EXSCAN) &&
               hwmc_spread_scan(sendbuf, recvbuf, count, datatype, op, true, comm, mpi_errno);
    if (*mpi_errno)
        return true;
    hwmc_exscan_call_init(&c, sendbuf, recvbuf, count, datatype, op);
    return hwmc_call_take(&c.call, n, mpi_errno);
}
