/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Gather and allgather, of parts alike or not, over the memory that a host's ranks share.
 */

#include "mpiimpl.h"
#include "gather.h"
#include "hooks.h"
#include "spread_moves.h"

static bool is_to_all(const struct hwmc_gather_call *c)
{
    return c->root < 0;
}

static bool is_reader(const struct hwmc_gather_call *c)
{
    return is_to_all(c) || c->call.host->group.rank == (uint32_t) c->root;
}

static bool is_in_place(const struct hwmc_gather_call *c)
{
    return c->in.buffer == MPI_IN_PLACE;
}

/* This rank's part, *bytes at *own; *own NULL: it is where it belongs. MPICH's error code. */
static int find_own(struct hwmc_gather_call *c, const char **own, uint64_t *bytes)
{
    const uint32_t rank = c->call.host->group.rank;
    int mpi_errno = MPI_SUCCESS;

    if (is_in_place(c)) {
        *own = is_to_all(c) ? hwmc_vbuf_part(&c->out, rank) : NULL;
        *bytes = hwmc_vbuf_bytes(&c->out, rank);
    } else {
        mpi_errno = hwmc_vbuf_begin(&c->in, true);
        *own = c->in.memory;
        *bytes = c->in.vector.bytes;
    }
    return mpi_errno;
}

static int begin_gather(struct hwmc_call *call)
{
    struct hwmc_gather_call *c = (struct hwmc_gather_call *) call;
    struct hwmc_shm_host *n = call->host;
    int mpi_errno = MPI_SUCCESS;
    const char *own;
    uint64_t bytes;

    if (is_reader(c))
        mpi_errno = hwmc_vbuf_begin(&c->out, is_in_place(c));
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = find_own(c, &own, &bytes);
    if (mpi_errno && is_reader(c))
        hwmc_vbuf_end(&c->out, false);
    MPIR_ERR_CHECK(mpi_errno);
    hwmc_shm_choose(n, is_to_all(c) ? HWMC_SHM_KIND_ALLGATHER : HWMC_SHM_KIND_GATHER, 0);
    if (is_to_all(c))
        hwmc_shm_gather_begin_to_all(&c->gather, &n->group, own, bytes, c->out.memory,
                                     &c->out.vector);
    else
        hwmc_shm_gather_begin(&c->gather, &n->group, (uint32_t) c->root, own, bytes, c->out.memory,
                              &c->out.vector);
    call->op = &c->gather.op;

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static int end_gather(struct hwmc_call *call, int mpi_errno)
{
    struct hwmc_gather_call *c = (struct hwmc_gather_call *) call;
    int err = MPI_SUCCESS;

    if (!is_in_place(c))
        hwmc_vbuf_end(&c->in, false);
    if (is_reader(c))
        err = hwmc_vbuf_end(&c->out, mpi_errno == MPI_SUCCESS);
    return mpi_errno ? mpi_errno : err;
}

static const struct hwmc_call_ops gather_ops = {.begin = begin_gather, .end = end_gather};

void hwmc_gather_call_init(struct hwmc_gather_call *c, const void *sendbuf, MPI_Aint sendcount,
                           MPI_Datatype sendtype, void *recvbuf, MPI_Aint recvcount,
                           MPI_Datatype recvtype, int root, const MPIR_Comm *comm)
{
    c->in = hwmc_vbuf_of(sendbuf, sendcount, sendtype, 1);
    c->out = hwmc_vbuf_of(recvbuf, recvcount, recvtype, comm->local_size);
    c->root = root;
    c->call.ops = &gather_ops;
}

void hwmc_gatherv_call_init(struct hwmc_gather_call *c, const void *sendbuf, MPI_Aint sendcount,
                            MPI_Datatype sendtype, void *recvbuf, const MPI_Aint *recvcounts,
                            const MPI_Aint *displs, MPI_Datatype recvtype, int root,
                            const MPIR_Comm *comm)
{
    c->in = hwmc_vbuf_of(sendbuf, sendcount, sendtype, 1);
    c->out = hwmc_vbuf_v(recvbuf, recvcounts, displs, recvtype, comm->local_size);
    c->root = root;
    c->call.ops = &gather_ops;
}

void hwmc_allgather_call_init(struct hwmc_gather_call *c, const void *sendbuf, MPI_Aint sendcount,
                              MPI_Datatype sendtype, void *recvbuf, MPI_Aint recvcount,
                              MPI_Datatype recvtype, const MPIR_Comm *comm)
{
    hwmc_gather_call_init(c, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, -1, comm);
}

void hwmc_allgatherv_call_init(struct hwmc_gather_call *c, const void *sendbuf, MPI_Aint sendcount,
                               MPI_Datatype sendtype, void *recvbuf, const MPI_Aint *recvcounts,
                               const MPI_Aint *displs, MPI_Datatype recvtype, const MPIR_Comm *comm)
{
    hwmc_gatherv_call_init(c, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                           -1, comm);
}

bool MPIR_Hwmc_gather(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype, void *recvbuf,
                      MPI_Aint recvcount, MPI_Datatype recvtype, int root, MPIR_Comm *comm,
                      int *mpi_errno)
{
    struct hwmc_shm_host *n = HWMC_SHM_ADMIT(GATHER, comm, mpi_errno);
    struct hwmc_gather_call c;

    hwmc_gather_call_init(&c, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                          comm);
    if (!n)
        return HWMC_SPREADS(GATHER) &&
               hwmc_spread_move(HWMC_PATTERN_TO_ROOT, &c.in, &c.out, root, comm, mpi_errno);
    if (*mpi_errno)
        return true;
    return hwmc_call_take(&c.call, n, mpi_errno);
}

bool MPIR_Hwmc_gatherv(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                       void *recvbuf, const MPI_Aint *recvcounts, const MPI_Aint *displs,
                       MPI_Datatype recvtype, int root, MPIR_Comm *comm, int *mpi_errno)
{
    struct hwmc_shm_host *n = HWMC_SHM_ADMIT(GATHERV, comm, mpi_errno);
    struct hwmc_gather_call c;

    hwmc_gatherv_call_init(&c, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                           root, comm);
    if (!n)
        return HWMC_SPREADS(GATHERV) &&
               hwmc_spread_move(HWMC_PATTERN_TO_ROOT, &c.in, &c.out, root, comm, mpi_errno);
    if (*mpi_errno)
        return true;
    return hwmc_call_take(&c.call, n, mpi_errno);
}

bool MPIR_Hwmc_allgather(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                         void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype, MPIR_Comm *comm,
                         int *mpi_errno)
{
    struct hwmc_shm_host *n = HWMC_SHM_ADMIT(ALLGATHER, comm, mpi_errno);
    struct hwmc_gather_call c;

    hwmc_allgather_call_init(&c, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    if (!n)
        return HWMC_SPREADS(ALLGATHER) &&
               hwmc_spread_move(HWMC_PATTERN_SAME, &c.in, &c.out, -1, comm, mpi_errno);
    if (*mpi_errno)
        return true;
    return hwmc_call_take(&c.call, n, mpi_errno);
}

bool MPIR_Hwmc_allgatherv(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                          void *recvbuf, const MPI_Aint *recvcounts, const MPI_Aint *displs,
                          MPI_Datatype recvtype, MPIR_Comm *comm, int *mpi_errno)
{
    struct hwmc_shm_host *n = HWMC_SHM_ADMIT(ALLGATHERV, comm, mpi_errno);
    struct hwmc_gather_call c;

    hwmc_allgatherv_call_init(&c, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                              recvtype, comm);
    if (!n)
        return HWMC_SPREADS(ALLGATHERV) &&
               hwmc_spread_move(HWMC_PATTERN_SAME, &c.in, &c.out, -1, comm, mpi_errno);
    if (*mpi_errno)
        return true;
    return hwmc_call_take(&c.call, n, mpi_errno);
}
