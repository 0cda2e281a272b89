/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Scatter and all-to-all, of parts alike or not, over the memory that a host's ranks share.
 */

#include "mpiimpl.h"
#include "hooks.h"
#include "spread_moves.h"
#include "scatter.h"

static bool is_root(const struct hwmc_scatter_call *c)
{
    return c->call.host->group.rank == (uint32_t) c->root;
}

static bool scatters_in_place(const struct hwmc_scatter_call *c)
{
    return c->out.buffer == MPI_IN_PLACE;
}

/* Begins with the memory for this rank's part of *bytes. MPICH's error code. */
static int find_own(struct hwmc_scatter_call *c, uint64_t *bytes)
{
    int mpi_errno = MPI_SUCCESS;

    if (scatters_in_place(c)) {
        *bytes = hwmc_vbuf_bytes(&c->in, c->call.host->group.rank);
    } else {
        mpi_errno = hwmc_vbuf_begin(&c->out, false);
        *bytes = c->out.vector.bytes;
    }
    return mpi_errno;
}

static int begin_scatter(struct hwmc_call *call)
{
    struct hwmc_scatter_call *c = (struct hwmc_scatter_call *) call;
    struct hwmc_shm_host *n = call->host;
    int mpi_errno = MPI_SUCCESS;
    uint64_t bytes;

    if (is_root(c))
        mpi_errno = hwmc_vbuf_begin(&c->in, true);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = find_own(c, &bytes);
    if (mpi_errno && is_root(c))
        hwmc_vbuf_end(&c->in, false);
    MPIR_ERR_CHECK(mpi_errno);
    hwmc_shm_choose(n, HWMC_SHM_KIND_SCATTER, 0);
    hwmc_shm_scatter_begin(&c->scatter, &n->group, (uint32_t) c->root,
                           is_root(c) ? c->in.memory : NULL, &c->in.vector,
                           scatters_in_place(c) ? NULL : c->out.memory, bytes);
    call->op = &c->scatter.op;

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static int end_scatter(struct hwmc_call *call, int mpi_errno)
{
    struct hwmc_scatter_call *c = (struct hwmc_scatter_call *) call;
    int err = MPI_SUCCESS;

    if (!scatters_in_place(c))
        err = hwmc_vbuf_end(&c->out, mpi_errno == MPI_SUCCESS);
    if (is_root(c))
        hwmc_vbuf_end(&c->in, false);
    return mpi_errno ? mpi_errno : err;
}

static const struct hwmc_call_ops scatter_ops = {.begin = begin_scatter, .end = end_scatter};

void hwmc_scatter_call_init(struct hwmc_scatter_call *c, const void *sendbuf, MPI_Aint sendcount,
                            MPI_Datatype sendtype, void *recvbuf, MPI_Aint recvcount,
                            MPI_Datatype recvtype, int root, const MPIR_Comm *comm)
{
    c->in = hwmc_vbuf_of(sendbuf, sendcount, sendtype, comm->local_size);
    c->out = hwmc_vbuf_of(recvbuf, recvcount, recvtype, 1);
    c->root = root;
    c->call.ops = &scatter_ops;
}

void hwmc_scatterv_call_init(struct hwmc_scatter_call *c, const void *sendbuf,
                             const MPI_Aint *sendcounts, const MPI_Aint *displs,
                             MPI_Datatype sendtype, void *recvbuf, MPI_Aint recvcount,
                             MPI_Datatype recvtype, int root, const MPIR_Comm *comm)
{
    c->in = hwmc_vbuf_v(sendbuf, sendcounts, displs, sendtype, comm->local_size);
    c->out = hwmc_vbuf_of(recvbuf, recvcount, recvtype, 1);
    c->root = root;
    c->call.ops = &scatter_ops;
}

bool MPIR_Hwmc_scatter(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                       void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype, int root,
                       MPIR_Comm *comm, int *mpi_errno)
{
    struct hwmc_shm_host *n = HWMC_SHM_ADMIT(SCATTER, comm, mpi_errno);
    struct hwmc_scatter_call c;

    hwmc_scatter_call_init(&c, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                           comm);
    if (!n)
        return HWMC_SPREADS(SCATTER) &&
               hwmc_spread_move(HWMC_PATTERN_FROM_ROOT, &c.in, &c.out, root, comm, mpi_errno);
    if (*mpi_errno)
        return true;
    return hwmc_call_take(&c.call, n, mpi_errno);
}

bool MPIR_Hwmc_scatterv(const void *sendbuf, const MPI_Aint *sendcounts, const MPI_Aint *displs,
                        MPI_Datatype sendtype, void *recvbuf, MPI_Aint recvcount,
                        MPI_Datatype recvtype, int root, MPIR_Comm *comm, int *mpi_errno)
{
    struct hwmc_shm_host *n = HWMC_SHM_ADMIT(SCATTERV, comm, mpi_errno);
    struct hwmc_scatter_call c;

    hwmc_scatterv_call_init(&c, sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
                            root, comm);
    if (!n)
        return HWMC_SPREADS(SCATTERV) &&
               hwmc_spread_move(HWMC_PATTERN_FROM_ROOT, &c.in, &c.out, root, comm, mpi_errno);
    if (*mpi_errno)
        return true;
    return hwmc_call_take(&c.call, n, mpi_errno);
}

static bool exchanges_in_place(const struct hwmc_alltoall_call *c)
{
    return c->in.buffer == MPI_IN_PLACE;
}

/* In place: what `out` has is what goes, from a copy, as it is written to. */
static int copy_of(const struct hwmc_vbuf *out, char **copy)
{
    int mpi_errno = MPI_SUCCESS;
    uint64_t end = 0;

    for (uint32_t i = 0; i < out->num; i++) {
        struct hwmc_shm_range part = hwmc_shm_part_of(&out->vector, i);

        if (part.bytes > 0)
            end = MPL_MAX(end, part.at + part.bytes);
    }
    *copy = NULL;
    if (end == 0)
        goto fn_exit;
    *copy = MPL_malloc(end, MPL_MEM_BUFFER);
    MPIR_ERR_CHKANDJUMP(!*copy, mpi_errno, MPI_ERR_OTHER, "**nomem");
    for (uint32_t i = 0; i < out->num; i++) {
        struct hwmc_shm_range part = hwmc_shm_part_of(&out->vector, i);

        if (part.bytes > 0)
            memcpy(*copy + part.at, out->memory + part.at, part.bytes);
    }

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static int begin_alltoall(struct hwmc_call *call)
{
    struct hwmc_alltoall_call *c = (struct hwmc_alltoall_call *) call;
    const bool in_place = exchanges_in_place(c);
    struct hwmc_shm_host *n = call->host;
    int mpi_errno = MPI_SUCCESS;

    c->copy = NULL;
    mpi_errno = hwmc_vbuf_begin(&c->out, in_place);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = in_place ? copy_of(&c->out, &c->copy) : hwmc_vbuf_begin(&c->in, true);
    if (mpi_errno)
        hwmc_vbuf_end(&c->out, false);
    MPIR_ERR_CHECK(mpi_errno);
    hwmc_shm_choose(n, HWMC_SHM_KIND_ALLTOALL, 0);
    hwmc_shm_scatter_begin_of_all(&c->scatter, &n->group, in_place ? c->copy : c->in.memory,
                                  in_place ? &c->out.vector : &c->in.vector, c->out.memory,
                                  &c->out.vector);
    call->op = &c->scatter.op;

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static int end_alltoall(struct hwmc_call *call, int mpi_errno)
{
    struct hwmc_alltoall_call *c = (struct hwmc_alltoall_call *) call;
    int err;

    if (!exchanges_in_place(c))
        hwmc_vbuf_end(&c->in, false);
    MPL_free(c->copy);
    c->copy = NULL;
    err = hwmc_vbuf_end(&c->out, mpi_errno == MPI_SUCCESS);
    return mpi_errno ? mpi_errno : err;
}

static const struct hwmc_call_ops alltoall_ops = {.begin = begin_alltoall, .end = end_alltoall};

void hwmc_alltoall_call_init(struct hwmc_alltoall_call *c, const void *sendbuf, MPI_Aint sendcount,
                             MPI_Datatype sendtype, void *recvbuf, MPI_Aint recvcount,
                             MPI_Datatype recvtype, const MPIR_Comm *comm)
{
    c->in = hwmc_vbuf_of(sendbuf, sendcount, sendtype, comm->local_size);
    c->out = hwmc_vbuf_of(recvbuf, recvcount, recvtype, comm->local_size);
    c->call.ops = &alltoall_ops;
}

/* In place, parts may lie far apart, or within each other's gaps: the copy is of what is packed. */
void hwmc_alltoallv_call_init(struct hwmc_alltoall_call *c, const void *sendbuf,
                              const MPI_Aint *sendcounts, const MPI_Aint *sdispls,
                              MPI_Datatype sendtype, void *recvbuf, const MPI_Aint *recvcounts,
                              const MPI_Aint *rdispls, MPI_Datatype recvtype, const MPIR_Comm *comm)
{
    c->in = hwmc_vbuf_v(sendbuf, sendcounts, sdispls, sendtype, comm->local_size);
    c->out = hwmc_vbuf_v(recvbuf, recvcounts, rdispls, recvtype, comm->local_size);
    c->out.packs = sendbuf == MPI_IN_PLACE;
    c->call.ops = &alltoall_ops;
}

void hwmc_alltoallw_call_init(struct hwmc_alltoall_call *c, const void *sendbuf,
                              const MPI_Aint *sendcounts, const MPI_Aint *sdispls,
                              const MPI_Datatype *sendtypes, void *recvbuf,
                              const MPI_Aint *recvcounts, const MPI_Aint *rdispls,
                              const MPI_Datatype *recvtypes, const MPIR_Comm *comm)
{
    c->in = hwmc_vbuf_w(sendbuf, sendcounts, sdispls, sendtypes, comm->local_size);
    c->out = hwmc_vbuf_w(recvbuf, recvcounts, rdispls, recvtypes, comm->local_size);
    c->out.packs = sendbuf == MPI_IN_PLACE;
    c->call.ops = &alltoall_ops;
}

bool MPIR_Hwmc_alltoall(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                        void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype, MPIR_Comm *comm,
                        int *mpi_errno)
{
    struct hwmc_shm_host *n = HWMC_SHM_ADMIT(ALLTOALL, comm, mpi_errno);
    struct hwmc_alltoall_call c;

    hwmc_alltoall_call_init(&c, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    if (!n)
        return HWMC_SPREADS(ALLTOALL) &&
               hwmc_spread_move(HWMC_PATTERN_EACH, &c.in, &c.out, -1, comm, mpi_errno);
    if (*mpi_errno)
        return true;
    return hwmc_call_take(&c.call, n, mpi_errno);
}

bool MPIR_Hwmc_alltoallv(const void *sendbuf, const MPI_Aint *sendcounts, const MPI_Aint *sdispls,
                         MPI_Datatype sendtype, void *recvbuf, const MPI_Aint *recvcounts,
                         const MPI_Aint *rdispls, MPI_Datatype recvtype, MPIR_Comm *comm,
                         int *mpi_errno)
{
    struct hwmc_shm_host *n = HWMC_SHM_ADMIT(ALLTOALLV, comm, mpi_errno);
    struct hwmc_alltoall_call c;

    hwmc_alltoallv_call_init(&c, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                             rdispls, recvtype, comm);
    if (!n)
        return HWMC_SPREADS(ALLTOALLV) &&
               hwmc_spread_move(HWMC_PATTERN_EACH, &c.in, &c.out, -1, comm, mpi_errno);
    if (*mpi_errno)
        return true;
    return hwmc_call_take(&c.call, n, mpi_errno);
}

bool MPIR_Hwmc_alltoallw(const void *sendbuf, const MPI_Aint *sendcounts, const MPI_Aint *sdispls,
                         const MPI_Datatype *sendtypes, void *recvbuf, const MPI_Aint *recvcounts,
                         const MPI_Aint *rdispls, const MPI_Datatype *recvtypes, MPIR_Comm *comm,
                         int *mpi_errno)
{
    struct hwmc_shm_host *n = HWMC_SHM_ADMIT(ALLTOALLW, comm, mpi_errno);
    struct hwmc_alltoall_call c;

    hwmc_alltoallw_call_init(&c, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                             rdispls, recvtypes, comm);
    if (!n)
        return HWMC_SPREADS(ALLTOALLW) &&
               hwmc_spread_move(HWMC_PATTERN_EACH, &c.in, &c.out, -1, comm, mpi_errno);
    if (*mpi_errno)
        return true;
    return hwmc_call_take(&c.call, n, mpi_errno);
}
