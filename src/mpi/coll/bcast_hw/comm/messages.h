/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * messages: a collective of MPICH's that is begun and asked after, for what a communicator agrees
 * on before it has groups of its own; and the collective of an operation that MPICH is to run.
 *
 * It is a schedule of MPICH's with a tag that the caller took where all ranks were at the same call
 * (hwmc_messages_tag). So ranks may begin it at different times, and other collectives' tags stay
 * alike. Several of one operation may have the same tag, one after the other: messages of a pair of
 * ranks do not overtake each other.
 */

#ifndef HWMC_COMM_MESSAGES_H_INCLUDED
#define HWMC_COMM_MESSAGES_H_INCLUDED

#include "mpiimpl.h"

struct hwmc_messages {
    MPIR_Comm *comm;
    int tag;
    MPIR_Request *request; /* under way; NULL: nothing is */
    int received;          /* by hwmc_messages_least */
};

/* Takes the tag of an operation on `comm`, in a call that all its ranks make in the same order. MPI
 * error code. */
int hwmc_messages_tag(MPIR_Comm *comm, int *tag);

static inline struct hwmc_messages hwmc_messages_of(MPIR_Comm *comm, int tag)
{
    return (struct hwmc_messages){.comm = comm, .tag = tag};
}

/* Each begins one; `m` and buffers stay where they are until it is over. MPI error code; after an
 * error nothing is under way. */
int hwmc_messages_allgather(struct hwmc_messages *m, const int *own, int *all, int ints);
/* *least of all ranks' *own. It needs no memory beyond the schedule: so a rank that has run out of
 * it can still say so. */
int hwmc_messages_least(struct hwmc_messages *m, const int *own, int *least);
int hwmc_messages_bcast(struct hwmc_messages *m, void *buffer, MPI_Aint count,
                        MPI_Datatype datatype, int root);

/* A collective that `fill` puts into the schedule `s`; it is given `what`. */
int hwmc_messages_run(struct hwmc_messages *m,
                      int (*fill)(const void *what, MPIR_Comm *comm, MPIR_Sched_t s),
                      const void *what);

/* ranks[0] sends to the other ranks in `ranks`. This rank is one of them all. */
int hwmc_messages_tell(struct hwmc_messages *m, int *buffer, int ints, const int *ranks, int num);

/* Whether what was begun is over; *mpi_errno is its error then. True where nothing is under way. */
bool hwmc_messages_over(struct hwmc_messages *m, int *mpi_errno);

/* Waits until it is, with MPICH's progress. MPI error code of progress. */
int hwmc_messages_wait(const struct hwmc_messages *m);

#endif /* HWMC_COMM_MESSAGES_H_INCLUDED */
