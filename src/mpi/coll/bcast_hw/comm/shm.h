/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * shm: what a communicator carries for collectives inside hosts (shm/).
 *
 * All ranks of such a communicator run on one host. All ranks together make its segment before
 * collective number shm_after of MPIR_CVAR_HWMC_TUNE. They agree on the outcome, so that all use
 * the segment from there on or none does. Everything that decides about a collective is the same on
 * all ranks: control variables, the members, and arguments that MPI wants alike.
 *
 *     COUNTING -> ON
 *             \-> OFF
 *     SPREAD -> PART
 *
 * In any state it may become broken (host.broken): a collective failed at this rank.
 */

#ifndef HWMC_COMM_SHM_H_INCLUDED
#define HWMC_COMM_SHM_H_INCLUDED

#include "comm.h"
#include "shm_setup.h"
#include "../op/wait.h"

enum hwmc_shm_state {
    /* The ranks run on several hosts: all go to MPICH, but what hwmc sends between hosts. */
    HWMC_SHM_SPREAD,
    /* So they do, and those of each host share a segment for what comes from others. */
    HWMC_SHM_PART,
    HWMC_SHM_COUNTING, /* collectives go to MPICH until there have been enough */
    HWMC_SHM_OFF,      /* there is no segment: all go to MPICH */
    HWMC_SHM_ON,
};

struct hwmc_shm_comm {
    enum hwmc_shm_state state;
    bool twin;      /* of a persistent collective (twin.h): its first start makes the segment */
    uint64_t calls; /* collectives while counting */
    /* The ranks of the communicator on this host, by their number in the group; NULL: all. */
    int *mates;
    int num_mates;
    struct hwmc_shm_setup setup;
    struct hwmc_shm_host host;
};

/* Where this collective on `comm` is to run; NULL: MPICH is to run it. Sets *mpi_errno if it
 * cannot, as it is broken. May make the segment, which all ranks take part in. */
struct hwmc_shm_host *hwmc_shm_admit(MPIR_Comm *comm, int *mpi_errno);

/* The same for the collective of this name in MPICH's control variables; if these name an algorithm
 * of MPICH's it is to run it. */
#define HWMC_SHM_ADMIT(NAME, comm, mpi_errno)                                                      \
    (MPIR_CVAR_##NAME##_INTRA_ALGORITHM == MPIR_CVAR_##NAME##_INTRA_ALGORITHM_auto                 \
         ? hwmc_shm_admit(comm, mpi_errno)                                                         \
         : NULL)

/* hwmc_shm_admit for an operation, which never waits. It is asked when the operation is the first
 * of its queue: so collectives are counted in the same order on all ranks. */
struct hwmc_shm_ask {
    int tag;       /* of the operation (messages.h) */
    bool in_setup; /* it has begun set-up of the segment */
};

/* By what `c` has: of the communicator, or of a persistent collective. True: answered, and *host
 * and *mpi_errno are as hwmc_shm_admit would have them; false: it waits for `a`. *mpi_errno is that
 * of having waited, MPI_SUCCESS at first. */
bool hwmc_shm_ask(MPIR_Comm *comm, struct hwmc_comm *c, struct hwmc_shm_ask *q,
                  struct hwmc_await *a, struct hwmc_shm_host **host, int *mpi_errno);

/* What `comm` has of this, made if it can be. */
struct hwmc_shm_comm *hwmc_shm_of_comm(MPIR_Comm *comm);

/* `n`, of `comm`, is NULL because this rank has no memory for it. Other ranks have one, so this one
 * must not go another way than they do. */
bool hwmc_shm_lacks_memory(const MPIR_Comm *comm, const struct hwmc_shm_comm *n);

/* What `c` has of it, which `comm` carries, or a persistent collective of it: likewise. */
struct hwmc_shm_comm *hwmc_shm_of(MPIR_Comm *comm, struct hwmc_comm *c);

/* Makes the segment, of all ranks of `comm`, or on each host of n->mates: shm_setup.c. Leaves `n`
 * ON or PART if all ranks of `comm` have theirs, else OFF or SPREAD; broken where messages for that
 * failed here, as it may have worked for others. MPICH's error code then, and where this rank could
 * not, as what the user gave to select by is wrong. Waits. */
int hwmc_shm_setup(struct hwmc_shm_comm *n, MPIR_Comm *comm);

/* The same step by step. Begin: all ranks call it for the same operation, of this tag
 * (hwmc_messages_tag). Step: true: it has ended, and *mpi_errno is its error; false: it waits for
 * `a`. *mpi_errno is that of having waited, MPI_SUCCESS at first. */
void hwmc_shm_setup_begin(struct hwmc_shm_comm *n, MPIR_Comm *comm, int tag);
bool hwmc_shm_setup_step(struct hwmc_shm_comm *n, struct hwmc_await *a, int *mpi_errno);

/* The MPI error that each collective on it has; MPI_SUCCESS unless `n` is broken. */
int hwmc_shm_broken(const struct hwmc_shm_comm *n);

#endif /* HWMC_COMM_SHM_H_INCLUDED */
