/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Nonblocking and persistent collectives that move parts: the hooks of gathers, scatters and
 * all-to-alls, as host_icoll.c has the others.
 */

#include "mpiimpl.h"
#include "gather.h"
#include "host_request.h"
#include "scatter.h"
#include "spread_moves.h"
#include "../process/mpich.h"

static int schedule_gather(const struct hwmc_call *call, MPIR_Comm *comm, MPIR_Sched_t s)
{
    const struct hwmc_gather_call *c = (const struct hwmc_gather_call *) call;

    return MPIR_Igather_intra_sched_auto(c->in.buffer, c->in.count, c->in.type, c->out.buffer,
                                         c->out.count, c->out.type, c->root, comm, s);
}

static const struct hwmc_host_kind gather_kind = {
    .bytes = sizeof(struct hwmc_gather_call),
    .schedule = schedule_gather,
    HWMC_OVER_HOSTS(hwmc_spread_of_gather, hwmc_spread_moves)};

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
                        hwmc_host_uses_of(hwmc_used_type(sendbuf != MPI_IN_PLACE, sendtype),
                                          hwmc_used_type(is_root, recvtype), MPI_OP_NULL),
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
    HWMC_OVER_HOSTS(hwmc_spread_of_gather, hwmc_spread_moves)};

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
                        hwmc_host_uses_of(hwmc_used_type(sendbuf != MPI_IN_PLACE, sendtype),
                                          hwmc_used_type(is_root, recvtype), MPI_OP_NULL),
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
    HWMC_OVER_HOSTS(hwmc_spread_of_gather, hwmc_spread_moves)};

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
        r,
        hwmc_host_uses_of(hwmc_used_type(sendbuf != MPI_IN_PLACE, sendtype), recvtype, MPI_OP_NULL),
        form, request, mpi_errno);
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
    HWMC_OVER_HOSTS(hwmc_spread_of_gather, hwmc_spread_moves)};

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
        r,
        hwmc_host_uses_of(hwmc_used_type(sendbuf != MPI_IN_PLACE, sendtype), recvtype, MPI_OP_NULL),
        form, request, mpi_errno);
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
    HWMC_OVER_HOSTS(hwmc_spread_of_scatter, hwmc_spread_moves)};

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
                        hwmc_host_uses_of(hwmc_used_type(is_root, sendtype),
                                          hwmc_used_type(recvbuf != MPI_IN_PLACE, recvtype),
                                          MPI_OP_NULL),
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
    HWMC_OVER_HOSTS(hwmc_spread_of_scatter, hwmc_spread_moves)};

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
                        hwmc_host_uses_of(hwmc_used_type(is_root, sendtype),
                                          hwmc_used_type(recvbuf != MPI_IN_PLACE, recvtype),
                                          MPI_OP_NULL),
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
    HWMC_OVER_HOSTS(hwmc_spread_of_alltoall, hwmc_spread_moves)};

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
        r,
        hwmc_host_uses_of(hwmc_used_type(sendbuf != MPI_IN_PLACE, sendtype), recvtype, MPI_OP_NULL),
        form, request, mpi_errno);
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
    HWMC_OVER_HOSTS(hwmc_spread_of_alltoall, hwmc_spread_moves)};

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
    return hwmc_host_go(r,
                        hwmc_host_uses_of(hwmc_used_type(sends, sendtype), recvtype, MPI_OP_NULL),
                        form, request, mpi_errno);
}

/* Schedules something with part `i` of the vector, and with its `bytes` at `packed`. */
typedef int (*schedule_part_fn)(const struct hwmc_vbuf *v, uint32_t i, char *packed, MPI_Aint bytes,
                                MPIR_Comm *comm, MPIR_Sched_t s);

/* With each part of another rank. At `packed` the parts lie one after the other. */
static int schedule_parts(const struct hwmc_vbuf *v, char *packed, schedule_part_fn part,
                          MPIR_Comm *comm, MPIR_Sched_t s)
{
    int mpi_errno = MPI_SUCCESS;

    for (uint32_t i = 0; i < v->num && mpi_errno == MPI_SUCCESS; i++) {
        const MPI_Aint bytes = (MPI_Aint) hwmc_vbuf_counted(v, i);

        if ((int) i == comm->rank || bytes == 0)
            continue;
        mpi_errno = part(v, i, packed, bytes, comm, s);
        packed += bytes;
    }
    return mpi_errno;
}

static int pack_part(const struct hwmc_vbuf *v, uint32_t i, char *packed, MPI_Aint bytes,
                     MPIR_Comm *comm, MPIR_Sched_t s)
{
    (void) comm;
    return MPIR_Sched_copy(hwmc_vbuf_user_part(v, i), v->counts[i], v->types[i], packed, bytes,
                           HWMC_BYTE, s);
}

/* The other rank's part comes to where this one's for it was, which goes as it was packed. */
static int exchange_part(const struct hwmc_vbuf *v, uint32_t i, char *packed, MPI_Aint bytes,
                         MPIR_Comm *comm, MPIR_Sched_t s)
{
    const int mpi_errno =
        MPIR_Sched_recv(hwmc_vbuf_user_part(v, i), v->counts[i], v->types[i], (int) i, comm, s);

    return mpi_errno ? mpi_errno : MPIR_Sched_send(packed, bytes, HWMC_BYTE, (int) i, comm, s);
}

/* MPICH 4.0's own schedule takes all parts for elements as long as those of one of them. */
static int schedule_alltoallw_in_place(const struct hwmc_vbuf *v, MPIR_Comm *comm, MPIR_Sched_t s)
{
    int mpi_errno = MPI_SUCCESS;
    uint64_t bytes = 0;
    char *packed;

    for (uint32_t i = 0; i < v->num; i++)
        bytes += (int) i != comm->rank ? hwmc_vbuf_counted(v, i) : 0;
    if (bytes == 0)
        goto fn_exit;
    packed = MPIR_Sched_alloc_state(s, bytes);
    MPIR_ERR_CHKANDJUMP(!packed, mpi_errno, MPI_ERR_OTHER, "**nomem");
    mpi_errno = schedule_parts(v, packed, pack_part, comm, s);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIR_Sched_barrier(s);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = schedule_parts(v, packed, exchange_part, comm, s);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static int schedule_alltoallw(const struct hwmc_call *call, MPIR_Comm *comm, MPIR_Sched_t s)
{
    const struct hwmc_alltoall_call *c = (const struct hwmc_alltoall_call *) call;

    if (c->in.buffer == MPI_IN_PLACE)
        return schedule_alltoallw_in_place(&c->out, comm, s);
    return MPIR_Ialltoallw_intra_sched_auto(c->in.buffer, c->in.counts, c->in.displs, c->in.types,
                                            c->out.buffer, c->out.counts, c->out.displs,
                                            c->out.types, comm, s);
}

static const struct hwmc_host_kind alltoallw_kind = {
    .bytes = sizeof(struct hwmc_alltoall_call),
    .schedule = schedule_alltoallw,
    HWMC_OVER_HOSTS(hwmc_spread_of_alltoall, hwmc_spread_moves)};

bool MPIR_Hwmc_ialltoallw(const void *sendbuf, const MPI_Aint *sendcounts, const MPI_Aint *sdispls,
                          const MPI_Datatype *sendtypes, void *recvbuf, const MPI_Aint *recvcounts,
                          const MPI_Aint *rdispls, const MPI_Datatype *recvtypes, MPIR_Comm *comm,
                          enum hwmc_form form, MPIR_Request **request, int *mpi_errno)
{
    const bool sends = sendbuf != MPI_IN_PLACE;
    struct hwmc_host_request *r;

    if (!HWMC_HOST_TAKE(IALLTOALLW, comm, form, &alltoallw_kind, &r))
        return false;
    sendtypes = hwmc_host_keep_types(r, sends ? sendtypes : NULL, sendcounts);
    recvtypes = hwmc_host_keep_types(r, recvtypes, recvcounts);
    sendcounts = hwmc_host_keep(r, sends ? sendcounts : NULL);
    sdispls = hwmc_host_keep(r, sends ? sdispls : NULL);
    recvcounts = hwmc_host_keep(r, recvcounts);
    rdispls = hwmc_host_keep(r, rdispls);
    if (r)
        hwmc_alltoallw_call_init(hwmc_host_call(r), sendbuf, sendcounts, sdispls, sendtypes,
                                 recvbuf, recvcounts, rdispls, recvtypes, comm);
    return hwmc_host_go(r, hwmc_host_uses_of(MPI_DATATYPE_NULL, MPI_DATATYPE_NULL, MPI_OP_NULL),
                        form, request, mpi_errno);
}
