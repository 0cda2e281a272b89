/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * messages: see messages.h.
 */

#include "messages.h"
#include "../process/mpich.h"

int hwmc_messages_tag(MPIR_Comm *comm, int *tag)
{
    return MPIR_Sched_next_tag(comm, tag);
}

/* An empty schedule. */
static int messages_create(const struct hwmc_messages *m, MPIR_Sched_t *s)
{
    int mpi_errno = MPIR_Sched_create(s, MPIR_SCHED_KIND_REGULAR);

    if (mpi_errno == MPI_SUCCESS)
        MPIR_Sched_set_tag(*s, m->tag);
    return mpi_errno;
}

/* Starts a schedule that was filled, with this error. */
static int messages_start(struct hwmc_messages *m, MPIR_Sched_t s, int mpi_errno)
{
    MPIR_Assert(m->request == NULL);
    if (mpi_errno != MPI_SUCCESS) {
        MPIR_Sched_free(s);
        return mpi_errno;
    }
    return MPIR_Sched_start(s, m->comm, &m->request);
}

int hwmc_messages_allgather(struct hwmc_messages *m, const int *own, int *all, int ints)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Sched_t s;

    mpi_errno = messages_create(m, &s);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno =
        MPIR_Iallgather_intra_sched_brucks(own, ints, HWMC_INT, all, ints, HWMC_INT, m->comm, s);
    mpi_errno = messages_start(m, s, mpi_errno);
    MPIR_ERR_CHECK(mpi_errno);

fn_fail:
    return mpi_errno;
}

/* Fills a schedule with the dissemination pattern: after round k, *least is the least of 2^(k + 1)
 * ranks, those before this one and itself. The last round may bring some of them again, which
 * changes no minimum. */
static int messages_fill_least(struct hwmc_messages *m, int *least, MPIR_Sched_t s)
{
    const int size = m->comm->local_size, rank = m->comm->rank;
    int mpi_errno = MPI_SUCCESS;

    for (int distance = 1; distance < size; distance *= 2) {
        mpi_errno =
            MPIR_Sched_recv(&m->received, 1, HWMC_INT, (rank - distance + size) % size, m->comm, s);
        MPIR_ERR_CHECK(mpi_errno);
        mpi_errno = MPIR_Sched_send(least, 1, HWMC_INT, (rank + distance) % size, m->comm, s);
        MPIR_ERR_CHECK(mpi_errno);
        mpi_errno = MPIR_Sched_barrier(s);
        MPIR_ERR_CHECK(mpi_errno);
        mpi_errno = MPIR_Sched_reduce(&m->received, least, 1, HWMC_INT, MPI_MIN, s);
        MPIR_ERR_CHECK(mpi_errno);
        mpi_errno = MPIR_Sched_barrier(s);
        MPIR_ERR_CHECK(mpi_errno);
    }

fn_fail:
    return mpi_errno;
}

int hwmc_messages_least(struct hwmc_messages *m, const int *own, int *least)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Sched_t s;

    *least = *own;
    mpi_errno = messages_create(m, &s);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = messages_fill_least(m, least, s);
    mpi_errno = messages_start(m, s, mpi_errno);
    MPIR_ERR_CHECK(mpi_errno);

fn_fail:
    return mpi_errno;
}

int hwmc_messages_bcast(struct hwmc_messages *m, void *buffer, MPI_Aint count,
                        MPI_Datatype datatype, int root)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Sched_t s;

    mpi_errno = messages_create(m, &s);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIR_Ibcast_intra_sched_auto(buffer, count, datatype, root, m->comm, s);
    mpi_errno = messages_start(m, s, mpi_errno);
    MPIR_ERR_CHECK(mpi_errno);

fn_fail:
    return mpi_errno;
}

int hwmc_messages_run(struct hwmc_messages *m,
                      int (*fill)(const void *what, MPIR_Comm *comm, MPIR_Sched_t s),
                      const void *what)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Sched_t s;

    mpi_errno = messages_create(m, &s);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = fill(what, m->comm, s);
    mpi_errno = messages_start(m, s, mpi_errno);
    MPIR_ERR_CHECK(mpi_errno);

fn_fail:
    return mpi_errno;
}

int hwmc_messages_tell(struct hwmc_messages *m, int *buffer, int ints, const int *ranks, int num)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Sched_t s;

    mpi_errno = messages_create(m, &s);
    MPIR_ERR_CHECK(mpi_errno);
    if (m->comm->rank != ranks[0])
        mpi_errno = MPIR_Sched_recv(buffer, ints, HWMC_INT, ranks[0], m->comm, s);
    else
        for (int i = 1; i < num && mpi_errno == MPI_SUCCESS; i++)
            mpi_errno = MPIR_Sched_send(buffer, ints, HWMC_INT, ranks[i], m->comm, s);
    mpi_errno = messages_start(m, s, mpi_errno);
    MPIR_ERR_CHECK(mpi_errno);

fn_fail:
    return mpi_errno;
}

bool hwmc_messages_over(struct hwmc_messages *m, int *mpi_errno)
{
    MPIR_Request *r = m->request;

    *mpi_errno = MPI_SUCCESS;
    if (!r)
        return true;
    if (!MPIR_Request_is_complete(r))
        return false;
    *mpi_errno = r->status.MPI_ERROR;
    m->request = NULL;
    MPIR_Request_free(r);
    return true;
}

int hwmc_messages_wait(const struct hwmc_messages *m)
{
    int mpi_errno = MPI_SUCCESS;
    MPID_Progress_state state;

    MPID_Progress_start(&state);
    while (m->request && !MPIR_Request_is_complete(m->request) && mpi_errno == MPI_SUCCESS)
        mpi_errno = MPID_Progress_wait(&state);
    MPID_Progress_end(&state);
    return mpi_errno;
}
