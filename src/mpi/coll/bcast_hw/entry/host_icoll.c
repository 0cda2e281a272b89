/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Nonblocking and persistent collectives inside a host: the hooks. For each collective, what MPICH
 * would run, and how a request is made of the call. MPICH's own algorithms are schedules of one
 * tag, which the operation has taken (comm/messages.h): MPICH's selection of a transport would take
 * another one, later.
 */

#include "mpiimpl.h"
#include "barrier.h"
#include "gather.h"
#include "host_bcast.h"
#include "host_request.h"
#include "reduce.h"
#include "reduce_scatter.h"
#include "scan.h"
#include "scatter.h"
#include "spread_moves.h"
#include "spread_reduce.h"
#include "spread_scan.h"

#define OVER_HOSTS(init, type) .spread = init, .spread_bytes = sizeof(struct type)

/* What is not looked at, at this rank, need not be valid. */
static MPI_Datatype used_type(bool is_used, MPI_Datatype type)
{
    return is_used ? type : MPI_DATATYPE_NULL;
}

static struct hwmc_host_uses uses_of(MPI_Datatype in, MPI_Datatype out, MPI_Op op)
{
    return (struct hwmc_host_uses){.in = in, .out = out, .op = op};
}

static int schedule_barrier(const struct hwmc_call *call, MPIR_Comm *comm, MPIR_Sched_t s)
{
    (void) call;
    return MPIR_Ibarrier_intra_sched_auto(comm, s);
}

static const struct hwmc_host_kind barrier_kind = {
    .bytes = sizeof(struct hwmc_barrier_call),
    .schedule = schedule_barrier,
    OVER_HOSTS(hwmc_spread_of_barrier, hwmc_spread_reduce)};

bool MPIR_Hwmc_ibarrier(MPIR_Comm *comm, enum hwmc_form form, MPIR_Request **request,
                        int *mpi_errno)
{
    struct hwmc_host_request *r;

    if (!HWMC_HOST_TAKE(IBARRIER, comm, form, &barrier_kind, &r))
        return false;
    if (r)
        hwmc_barrier_call_init(hwmc_host_call(r));
    return hwmc_host_go(r, uses_of(MPI_DATATYPE_NULL, MPI_DATATYPE_NULL, MPI_OP_NULL), form,
                        request, mpi_errno);
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
    return hwmc_host_go(r, uses_of(datatype, MPI_DATATYPE_NULL, MPI_OP_NULL), form, request,
                        mpi_errno);
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
    OVER_HOSTS(hwmc_spread_of_reduce, hwmc_spread_reduce)};

bool MPIR_Hwmc_ireduce(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                       MPI_Op op, int root, MPIR_Comm *comm, enum hwmc_form form,
                       MPIR_Request **request, int *mpi_errno)
{
    struct hwmc_host_request *r;

    if (!HWMC_HOST_TAKE(IREDUCE, comm, form, &reduce_kind, &r))
        return false;
    if (r)
        hwmc_reduce_call_init(hwmc_host_call(r), sendbuf, recvbuf, count, datatype, op, root);
    return hwmc_host_go(r, uses_of(datatype, MPI_DATATYPE_NULL, op), form, request, mpi_errno);
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
    OVER_HOSTS(hwmc_spread_of_allreduce, hwmc_spread_reduce)};

bool MPIR_Hwmc_iallreduce(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                          MPI_Op op, MPIR_Comm *comm, enum hwmc_form form, MPIR_Request **request,
                          int *mpi_errno)
{
    struct hwmc_host_request *r;

    if (!HWMC_HOST_TAKE(IALLREDUCE, comm, form, &allreduce_kind, &r))
        return false;
    if (r)
        hwmc_allreduce_call_init(hwmc_host_call(r), sendbuf, recvbuf, count, datatype, op);
    return hwmc_host_go(r, uses_of(datatype, MPI_DATATYPE_NULL, op), form, request, mpi_errno);
}

static int schedule_scan(const struct hwmc_call *call, MPIR_Comm *comm, MPIR_Sched_t s)
{
    const struct hwmc_scan_call *c = (const struct hwmc_scan_call *) call;

    return MPIR_Iscan_intra_sched_auto(c->x.sendbuf, c->x.recvbuf, c->x.count, c->x.operation.type,
                                       c->x.operation.op, comm, s);
}

static const struct hwmc_host_kind scan_kind = {.bytes = sizeof(struct hwmc_scan_call),
                                                .schedule = schedule_scan,
                                                OVER_HOSTS(hwmc_spread_of_scan, hwmc_spread_scan)};

bool MPIR_Hwmc_iscan(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                     MPI_Op op, MPIR_Comm *comm, enum hwmc_form form, MPIR_Request **request,
                     int *mpi_errno)
{
    struct hwmc_host_request *r;

    if (!HWMC_HOST_TAKE(ISCAN, comm, form, &scan_kind, &r))
        return false;
    if (r)
        hwmc_scan_call_init(hwmc_host_call(r), sendbuf, recvbuf, count, datatype, op);
    return hwmc_host_go(r, uses_of(datatype, MPI_DATATYPE_NULL, op), form, request, mpi_errno);
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
    OVER_HOSTS(hwmc_spread_of_scan, hwmc_spread_scan)};

bool MPIR_Hwmc_iexscan(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                       MPI_Op op, MPIR_Comm *comm, enum hwmc_form form, MPIR_Request **request,
                       int *mpi_errno)
{
    struct hwmc_host_request *r;

    if (!HWMC_HOST_TAKE(IEXSCAN, comm, form, &exscan_kind, &r))
        return false;
    if (r)
        hwmc_exscan_call_init(hwmc_host_call(r), sendbuf, recvbuf, count, datatype, op);
    return hwmc_host_go(r, uses_of(datatype, MPI_DATATYPE_NULL, op), form, request, mpi_errno);
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
    OVER_HOSTS(hwmc_spread_of_reduce_scatter, hwmc_spread_scatter)};

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
    return hwmc_host_go(r, uses_of(datatype, MPI_DATATYPE_NULL, op), form, request, mpi_errno);
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
    OVER_HOSTS(hwmc_spread_of_reduce_scatter, hwmc_spread_scatter)};

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
    return hwmc_host_go(r, uses_of(datatype, MPI_DATATYPE_NULL, op), form, request, mpi_errno);
}

static int schedule_gather(const struct hwmc_call *call, MPIR_Comm *comm, MPIR_Sched_t s)
{
    const struct hwmc_gather_call *c = (const struct hwmc_gather_call *) call;

    return MPIR_Igather_intra_sched_auto(c->in.buffer, c->in.count, c->in.type, c->out.buffer,
                                         c->out.count, c->out.type, c->root, comm, s);
}

static const struct hwmc_host_kind gather_kind = {
    .bytes = sizeof(struct hwmc_gather_call),
    .schedule = schedule_gather,
    OVER_HOSTS(hwmc_spread_of_gather, hwmc_spread_moves)};

bool MPIR_Hwmc_igather(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                       void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype, int root,
                       MPIR_Comm *comm, enum hwmc_form form, MPIR_Request **request, int *mpi_errno)
{
    const bool is_root = comm->rank == root;
    struct hwmc_host_request *r;

    if (!HWMC_HOST_TAKE(IGATHER, comm, form, &gather_kind, &r))
        return false;
    if (r)
        hwmc_gather_call_init(hwmc_host_call(r), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                              recvtype, root, comm);
    return hwmc_host_go(r,
                        uses_of(used_type(sendbuf != MPI_IN_PLACE, sendtype),
                                used_type(is_root, recvtype), MPI_OP_NULL),
                        form, request, mpi_errno);
}

static int schedule_gatherv(const struct hwmc_call *call, MPIR_Comm *comm, MPIR_Sched_t s)
{
    const struct hwmc_gather_call *c = (const struct hwmc_gather_call *) call;

    return MPIR_Igatherv_intra_sched_auto(c->in.buffer, c->in.count, c->in.type, c->out.buffer,
                                          c->out.counts, c->out.displs, c->out.type, c->root, comm,
                                          s);
}

static const struct hwmc_host_kind gatherv_kind = {
    .bytes = sizeof(struct hwmc_gather_call),
    .schedule = schedule_gatherv,
    OVER_HOSTS(hwmc_spread_of_gather, hwmc_spread_moves)};

bool MPIR_Hwmc_igatherv(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                        void *recvbuf, const MPI_Aint *recvcounts, const MPI_Aint *displs,
                        MPI_Datatype recvtype, int root, MPIR_Comm *comm, enum hwmc_form form,
                        MPIR_Request **request, int *mpi_errno)
{
    const bool is_root = comm->rank == root;
    struct hwmc_host_request *r;

    if (!HWMC_HOST_TAKE(IGATHERV, comm, form, &gatherv_kind, &r))
        return false;
    recvcounts = hwmc_host_keep(r, is_root ? recvcounts : NULL);
    displs = hwmc_host_keep(r, is_root ? displs : NULL);
    if (r)
        hwmc_gatherv_call_init(hwmc_host_call(r), sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                               displs, recvtype, root, comm);
    return hwmc_host_go(r,
                        uses_of(used_type(sendbuf != MPI_IN_PLACE, sendtype),
                                used_type(is_root, recvtype), MPI_OP_NULL),
                        form, request, mpi_errno);
}

static int schedule_allgather(const struct hwmc_call *call, MPIR_Comm *comm, MPIR_Sched_t s)
{
    const struct hwmc_gather_call *c = (const struct hwmc_gather_call *) call;

    return MPIR_Iallgather_intra_sched_auto(c->in.buffer, c->in.count, c->in.type, c->out.buffer,
                                            c->out.count, c->out.type, comm, s);
}

static const struct hwmc_host_kind allgather_kind = {
    .bytes = sizeof(struct hwmc_gather_call),
    .schedule = schedule_allgather,
    OVER_HOSTS(hwmc_spread_of_gather, hwmc_spread_moves)};

bool MPIR_Hwmc_iallgather(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                          void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype, MPIR_Comm *comm,
                          enum hwmc_form form, MPIR_Request **request, int *mpi_errno)
{
    struct hwmc_host_request *r;

    if (!HWMC_HOST_TAKE(IALLGATHER, comm, form, &allgather_kind, &r))
        return false;
    if (r)
        hwmc_allgather_call_init(hwmc_host_call(r), sendbuf, sendcount, sendtype, recvbuf,
                                 recvcount, recvtype, comm);
    return hwmc_host_go(
        r, uses_of(used_type(sendbuf != MPI_IN_PLACE, sendtype), recvtype, MPI_OP_NULL), form,
        request, mpi_errno);
}

static int schedule_allgatherv(const struct hwmc_call *call, MPIR_Comm *comm, MPIR_Sched_t s)
{
    const struct hwmc_gather_call *c = (const struct hwmc_gather_call *) call;

    return MPIR_Iallgatherv_intra_sched_auto(c->in.buffer, c->in.count, c->in.type, c->out.buffer,
                                             c->out.counts, c->out.displs, c->out.type, comm, s);
}

static const struct hwmc_host_kind allgatherv_kind = {
    .bytes = sizeof(struct hwmc_gather_call),
    .schedule = schedule_allgatherv,
    OVER_HOSTS(hwmc_spread_of_gather, hwmc_spread_moves)};

bool MPIR_Hwmc_iallgatherv(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                           void *recvbuf, const MPI_Aint *recvcounts, const MPI_Aint *displs,
                           MPI_Datatype recvtype, MPIR_Comm *comm, enum hwmc_form form,
                           MPIR_Request **request, int *mpi_errno)
{
    struct hwmc_host_request *r;

    if (!HWMC_HOST_TAKE(IALLGATHERV, comm, form, &allgatherv_kind, &r))
        return false;
    recvcounts = hwmc_host_keep(r, recvcounts);
    displs = hwmc_host_keep(r, displs);
    if (r)
        hwmc_allgatherv_call_init(hwmc_host_call(r), sendbuf, sendcount, sendtype, recvbuf,
                                  recvcounts, displs, recvtype, comm);
    return hwmc_host_go(
        r, uses_of(used_type(sendbuf != MPI_IN_PLACE, sendtype), recvtype, MPI_OP_NULL), form,
        request, mpi_errno);
}

static int schedule_scatter(const struct hwmc_call *call, MPIR_Comm *comm, MPIR_Sched_t s)
{
    const struct hwmc_scatter_call *c = (const struct hwmc_scatter_call *) call;

    return MPIR_Iscatter_intra_sched_auto(c->in.buffer, c->in.count, c->in.type, c->out.buffer,
                                          c->out.count, c->out.type, c->root, comm, s);
}

static const struct hwmc_host_kind scatter_kind = {
    .bytes = sizeof(struct hwmc_scatter_call),
    .schedule = schedule_scatter,
    OVER_HOSTS(hwmc_spread_of_scatter, hwmc_spread_moves)};

bool MPIR_Hwmc_iscatter(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                        void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype, int root,
                        MPIR_Comm *comm, enum hwmc_form form, MPIR_Request **request,
                        int *mpi_errno)
{
    const bool is_root = comm->rank == root;
    struct hwmc_host_request *r;

    if (!HWMC_HOST_TAKE(ISCATTER, comm, form, &scatter_kind, &r))
        return false;
    if (r)
        hwmc_scatter_call_init(hwmc_host_call(r), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                               recvtype, root, comm);
    return hwmc_host_go(r,
                        uses_of(used_type(is_root, sendtype),
                                used_type(recvbuf != MPI_IN_PLACE, recvtype), MPI_OP_NULL),
                        form, request, mpi_errno);
}

static int schedule_scatterv(const struct hwmc_call *call, MPIR_Comm *comm, MPIR_Sched_t s)
{
    const struct hwmc_scatter_call *c = (const struct hwmc_scatter_call *) call;

    return MPIR_Iscatterv_intra_sched_auto(c->in.buffer, c->in.counts, c->in.displs, c->in.type,
                                           c->out.buffer, c->out.count, c->out.type, c->root, comm,
                                           s);
}

static const struct hwmc_host_kind scatterv_kind = {
    .bytes = sizeof(struct hwmc_scatter_call),
    .schedule = schedule_scatterv,
    OVER_HOSTS(hwmc_spread_of_scatter, hwmc_spread_moves)};

bool MPIR_Hwmc_iscatterv(const void *sendbuf, const MPI_Aint *sendcounts, const MPI_Aint *displs,
                         MPI_Datatype sendtype, void *recvbuf, MPI_Aint recvcount,
                         MPI_Datatype recvtype, int root, MPIR_Comm *comm, enum hwmc_form form,
                         MPIR_Request **request, int *mpi_errno)
{
    const bool is_root = comm->rank == root;
    struct hwmc_host_request *r;

    if (!HWMC_HOST_TAKE(ISCATTERV, comm, form, &scatterv_kind, &r))
        return false;
    sendcounts = hwmc_host_keep(r, is_root ? sendcounts : NULL);
    displs = hwmc_host_keep(r, is_root ? displs : NULL);
    if (r)
        hwmc_scatterv_call_init(hwmc_host_call(r), sendbuf, sendcounts, displs, sendtype, recvbuf,
                                recvcount, recvtype, root, comm);
    return hwmc_host_go(r,
                        uses_of(used_type(is_root, sendtype),
                                used_type(recvbuf != MPI_IN_PLACE, recvtype), MPI_OP_NULL),
                        form, request, mpi_errno);
}

static int schedule_alltoall(const struct hwmc_call *call, MPIR_Comm *comm, MPIR_Sched_t s)
{
    const struct hwmc_alltoall_call *c = (const struct hwmc_alltoall_call *) call;

    return MPIR_Ialltoall_intra_sched_auto(c->in.buffer, c->in.count, c->in.type, c->out.buffer,
                                           c->out.count, c->out.type, comm, s);
}

static const struct hwmc_host_kind alltoall_kind = {
    .bytes = sizeof(struct hwmc_alltoall_call),
    .schedule = schedule_alltoall,
    OVER_HOSTS(hwmc_spread_of_alltoall, hwmc_spread_moves)};

bool MPIR_Hwmc_ialltoall(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                         void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype, MPIR_Comm *comm,
                         enum hwmc_form form, MPIR_Request **request, int *mpi_errno)
{
    struct hwmc_host_request *r;

    if (!HWMC_HOST_TAKE(IALLTOALL, comm, form, &alltoall_kind, &r))
        return false;
    if (r)
        hwmc_alltoall_call_init(hwmc_host_call(r), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                recvtype, comm);
    return hwmc_host_go(
        r, uses_of(used_type(sendbuf != MPI_IN_PLACE, sendtype), recvtype, MPI_OP_NULL), form,
        request, mpi_errno);
}

static int schedule_alltoallv(const struct hwmc_call *call, MPIR_Comm *comm, MPIR_Sched_t s)
{
    const struct hwmc_alltoall_call *c = (const struct hwmc_alltoall_call *) call;

    return MPIR_Ialltoallv_intra_sched_auto(c->in.buffer, c->in.counts, c->in.displs, c->in.type,
                                            c->out.buffer, c->out.counts, c->out.displs,
                                            c->out.type, comm, s);
}

static const struct hwmc_host_kind alltoallv_kind = {
    .bytes = sizeof(struct hwmc_alltoall_call),
    .schedule = schedule_alltoallv,
    OVER_HOSTS(hwmc_spread_of_alltoall, hwmc_spread_moves)};

bool MPIR_Hwmc_ialltoallv(const void *sendbuf, const MPI_Aint *sendcounts, const MPI_Aint *sdispls,
                          MPI_Datatype sendtype, void *recvbuf, const MPI_Aint *recvcounts,
                          const MPI_Aint *rdispls, MPI_Datatype recvtype, MPIR_Comm *comm,
                          enum hwmc_form form, MPIR_Request **request, int *mpi_errno)
{
    const bool sends = sendbuf != MPI_IN_PLACE;
    struct hwmc_host_request *r;

    if (!HWMC_HOST_TAKE(IALLTOALLV, comm, form, &alltoallv_kind, &r))
        return false;
    sendcounts = hwmc_host_keep(r, sends ? sendcounts : NULL);
    sdispls = hwmc_host_keep(r, sends ? sdispls : NULL);
    recvcounts = hwmc_host_keep(r, recvcounts);
    rdispls = hwmc_host_keep(r, rdispls);
    if (r)
        hwmc_alltoallv_call_init(hwmc_host_call(r), sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                 recvcounts, rdispls, recvtype, comm);
    return hwmc_host_go(r, uses_of(used_type(sends, sendtype), recvtype, MPI_OP_NULL), form,
                        request, mpi_errno);
}
