/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Nonblocking and persistent collectives: the hooks of barrier, broadcast and those that combine.
 * host_imoves.c has the others. For each collective, what MPICH would run, and how a request is
 * made of the call. MPICH's own algorithms are schedules of one tag, which the operation has taken
 * (comm/messages.h): MPICH's selection of a transport would take another one, later.
 */

#include "mpiimpl.h"
#include "barrier.h"
#include "host_bcast.h"
#include "host_request.h"
#include "reduce.h"
#include "reduce_scatter.h"
#include "scan.h"
#include "spread_moves.h"
#include "spread_reduce.h"
#include "spread_scan.h"

static int schedule_barrier(const struct hwmc_call *call, MPIR_Comm *comm, MPIR_Sched_t s)
{
    (void) call;
    return MPIR_Ibarrier_intra_sched_auto(comm, s);
}

static const struct hwmc_host_kind barrier_kind = {
    .bytes = sizeof(struct hwmc_barrier_call),
    .schedule = schedule_barrier,
    HWMC_OVER_HOSTS(hwmc_spread_of_barrier, hwmc_spread_reduce)};

bool MPIR_Hwmc_ibarrier(MPIR_Comm *comm, enum hwmc_form form, MPIR_Request **request,
                        int *mpi_errno)
{
    struct hwmc_host_request *r;

    if (!HWMC_HOST_TAKE(IBARRIER, comm, form, &barrier_kind, &r))
        return false;
    if (r)
        hwmc_barrier_call_init(hwmc_host_call(r));
    return hwmc_host_go(r, hwmc_host_uses_of(MPI_DATATYPE_NULL, MPI_DATATYPE_NULL, MPI_OP_NULL),
                        form, request, mpi_errno);
}

static int schedule_bcast(const struct hwmc_call *call, MPIR_Comm *comm, MPIR_Sched_t s)
{
    const struct hwmc_bcast_call *c = (const struct hwmc_bcast_call *) call;

    return MPIR_Ibcast_intra_sched_auto(c->buffer, c->count, c->datatype, c->root, comm, s);
}

static const struct hwmc_host_kind bcast_kind = {.bytes = sizeof(struct hwmc_bcast_call),
                                                 .schedule = schedule_bcast};

bool hwmc_host_ibcast(void *buffer, MPI_Aint count, MPI_Datatype datatype, int root,
                      MPIR_Comm *comm, enum hwmc_form form, MPIR_Request **request, int *mpi_errno)
{
    struct hwmc_host_request *r;

    if (!HWMC_HOST_TAKE(IBCAST, comm, form, &bcast_kind, &r))
        return false;
    if (r)
        hwmc_bcast_call_init(hwmc_host_call(r), buffer, count, datatype, root);
    return hwmc_host_go(r, hwmc_host_uses_of(datatype, MPI_DATATYPE_NULL, MPI_OP_NULL), form,
                        request, mpi_errno);
}

static int schedule_reduce(const struct hwmc_call *call, MPIR_Comm *comm, MPIR_Sched_t s)
{
    const struct hwmc_reduce_call *c = (const struct hwmc_reduce_call *) call;

    return MPIR_Ireduce_intra_sched_auto(c->x.sendbuf, c->x.recvbuf, c->x.count,
                                         c->x.operation.type, c->x.operation.op, c->root, comm, s);
}

static const struct hwmc_host_kind reduce_kind = {
    .bytes = sizeof(struct hwmc_reduce_call),
    .schedule = schedule_reduce,
    HWMC_OVER_HOSTS(hwmc_spread_of_reduce, hwmc_spread_reduce)};

bool MPIR_Hwmc_ireduce(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                       MPI_Op op, int root, MPIR_Comm *comm, enum hwmc_form form,
                       MPIR_Request **request, int *mpi_errno)
{
    struct hwmc_host_request *r;

    if (!HWMC_HOST_TAKE(IREDUCE, comm, form, &reduce_kind, &r))
        return false;
    if (r)
        hwmc_reduce_call_init(hwmc_host_call(r), sendbuf, recvbuf, count, datatype, op, root);
    return hwmc_host_go(r, hwmc_host_uses_of(datatype, MPI_DATATYPE_NULL, op), form, request,
                        mpi_errno);
}

static int schedule_allreduce(const struct hwmc_call *call, MPIR_Comm *comm, MPIR_Sched_t s)
{
    const struct hwmc_allreduce_call *c = (const struct hwmc_allreduce_call *) call;

    return MPIR_Iallreduce_intra_sched_auto(c->x.sendbuf, c->x.recvbuf, c->x.count,
                                            c->x.operation.type, c->x.operation.op, comm, s);
}

static const struct hwmc_host_kind allreduce_kind = {
    .bytes = sizeof(struct hwmc_allreduce_call),
    .schedule = schedule_allreduce,
    HWMC_OVER_HOSTS(hwmc_spread_of_allreduce, hwmc_spread_reduce)};

bool MPIR_Hwmc_iallreduce(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                          MPI_Op op, MPIR_Comm *comm, enum hwmc_form form, MPIR_Request **request,
                          int *mpi_errno)
{
    struct hwmc_host_request *r;

    if (!HWMC_HOST_TAKE(IALLREDUCE, comm, form, &allreduce_kind, &r))
        return false;
    if (r)
        hwmc_allreduce_call_init(hwmc_host_call(r), sendbuf, recvbuf, count, datatype, op);
    return hwmc_host_go(r, hwmc_host_uses_of(datatype, MPI_DATATYPE_NULL, op), form, request,
                        mpi_errno);
}

static int schedule_scan(const struct hwmc_call *call, MPIR_Comm *comm, MPIR_Sched_t s)
{
    const struct hwmc_scan_call *c = (const struct hwmc_scan_call *) call;

    return MPIR_Iscan_intra_sched_auto(c->x.sendbuf, c->x.recvbuf, c->x.count, c->x.operation.type,
                                       c->x.operation.op, comm, s);
}

static const struct hwmc_host_kind scan_kind = {
    .bytes = sizeof(struct hwmc_scan_call),
    .schedule = schedule_scan,
    HWMC_OVER_HOSTS(hwmc_spread_of_scan, hwmc_spread_scan)};

bool MPIR_Hwmc_iscan(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                     MPI_Op op, MPIR_Comm *comm, enum hwmc_form form, MPIR_Request **request,
                     int *mpi_errno)
{
    struct hwmc_host_request *r;

    if (!HWMC_HOST_TAKE(ISCAN, comm, form, &scan_kind, &r))
        return false;
    if (r)
        hwmc_scan_call_init(hwmc_host_call(r), sendbuf, recvbuf, count, datatype, op);
    return hwmc_host_go(r, hwmc_host_uses_of(datatype, MPI_DATATYPE_NULL, op), form, request,
                        mpi_errno);
}

static int schedule_exscan(const struct hwmc_call *call, MPIR_Comm *comm, MPIR_Sched_t s)
{
    const struct hwmc_scan_call *c = (const struct hwmc_scan_call *) call;

    return MPIR_Iexscan_intra_sched_auto(c->x.sendbuf, c->x.recvbuf, c->x.count,
                                         c->x.operation.type, c->x.operation.op, comm, s);
}

static const struct hwmc_host_kind exscan_kind = {
    .bytes = sizeof(struct hwmc_scan_call),
    .schedule = schedule_exscan,
    HWMC_OVER_HOSTS(hwmc_spread_of_scan, hwmc_spread_scan)};

bool MPIR_Hwmc_iexscan(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                       MPI_Op op, MPIR_Comm *comm, enum hwmc_form form, MPIR_Request **request,
                       int *mpi_errno)
{
    struct hwmc_host_request *r;

    if (!HWMC_HOST_TAKE(IEXSCAN, comm, form, &exscan_kind, &r))
        return false;
    if (r)
        hwmc_exscan_call_init(hwmc_host_call(r), sendbuf, recvbuf, count, datatype, op);
    return hwmc_host_go(r, hwmc_host_uses_of(datatype, MPI_DATATYPE_NULL, op), form, request,
                        mpi_errno);
}

static int schedule_reduce_scatter(const struct hwmc_call *call, MPIR_Comm *comm, MPIR_Sched_t s)
{
    const struct hwmc_reduce_scatter_call *c = (const struct hwmc_reduce_scatter_call *) call;

    return MPIR_Ireduce_scatter_intra_sched_auto(c->x.sendbuf, c->x.recvbuf, c->counts,
                                                 c->x.operation.type, c->x.operation.op, comm, s);
}

static const struct hwmc_host_kind reduce_scatter_kind = {
    .bytes = sizeof(struct hwmc_reduce_scatter_call),
    .schedule = schedule_reduce_scatter,
    HWMC_OVER_HOSTS(hwmc_spread_of_reduce_scatter, hwmc_spread_scatter)};

bool MPIR_Hwmc_ireduce_scatter(const void *sendbuf, void *recvbuf, const MPI_Aint *recvcounts,
                               MPI_Datatype datatype, MPI_Op op, MPIR_Comm *comm,
                               enum hwmc_form form, MPIR_Request **request, int *mpi_errno)
{
    struct hwmc_host_request *r;

    if (!HWMC_HOST_TAKE(IREDUCE_SCATTER, comm, form, &reduce_scatter_kind, &r))
        return false;
    recvcounts = hwmc_host_keep(r, recvcounts);
    if (r)
        hwmc_reduce_scatter_call_init(hwmc_host_call(r), sendbuf, recvbuf, recvcounts, datatype,
                                      op);
    return hwmc_host_go(r, hwmc_host_uses_of(datatype, MPI_DATATYPE_NULL, op), form, request,
                        mpi_errno);
}

static int schedule_reduce_scatter_block(const struct hwmc_call *call, MPIR_Comm *comm,
                                         MPIR_Sched_t s)
{
    const struct hwmc_reduce_scatter_call *c = (const struct hwmc_reduce_scatter_call *) call;

    return MPIR_Ireduce_scatter_block_intra_sched_auto(
        c->x.sendbuf, c->x.recvbuf, c->x.count, c->x.operation.type, c->x.operation.op, comm, s);
}

static const struct hwmc_host_kind reduce_scatter_block_kind = {
    .bytes = sizeof(struct hwmc_reduce_scatter_call),
    .schedule = schedule_reduce_scatter_block,
    HWMC_OVER_HOSTS(hwmc_spread_of_reduce_scatter, hwmc_spread_scatter)};

bool MPIR_Hwmc_ireduce_scatter_block(const void *sendbuf, void *recvbuf, MPI_Aint recvcount,
                                     MPI_Datatype datatype, MPI_Op op, MPIR_Comm *comm,
                                     enum hwmc_form form, MPIR_Request **request, int *mpi_errno)
{
    struct hwmc_host_request *r;

    if (!HWMC_HOST_TAKE(IREDUCE_SCATTER_BLOCK, comm, form, &reduce_scatter_block_kind, &r))
        return false;
    if (r)
        hwmc_reduce_scatter_block_call_init(hwmc_host_call(r), sendbuf, recvbuf, recvcount,
                                            datatype, op);
    return hwmc_host_go(r, hwmc_host_uses_of(datatype, MPI_DATATYPE_NULL, op), form, request,
                        mpi_errno);
}
