/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * host_request: nonblocking and persistent collectives of communicators whose ranks all run on one
 * host, or on several: a call (call.h), or a collective over hosts (spread.h) of the same
 * arguments, that is an operation of a queue (request.h). A hook (host_icoll.c, host_imoves.c)
 * makes one:
 *
 *     take   whether it goes to the queue; memory for the call
 *     keep   a copy of each array of counts, displacements or datatypes
 *            now the hook initializes the call
 *     go     starts it, or makes it persistent
 *
 * Each may fail for want of memory. The hook need not look: go returns the error.
 */

#ifndef HWMC_ENTRY_HOST_REQUEST_H_INCLUDED
#define HWMC_ENTRY_HOST_REQUEST_H_INCLUDED

#include "call.h"
#include "hooks.h"
#include "request.h"
#include "spread.h"

/* A collective. */
struct hwmc_host_kind {
    size_t bytes; /* of the struct of its calls */
    /* Puts MPICH's own algorithm for a call into the schedule `s`. */
    int (*schedule)(const struct hwmc_call *c, MPIR_Comm *comm, MPIR_Sched_t s);
    /* Over hosts; NULL: MPICH's. Initializes `s`, of so many bytes, with the arguments of `c`, and
     * returns the bytes that it weighs (hwmc_spread_take); 0: MPICH is to run it. Alike on all
     * ranks. */
    MPI_Aint (*spread)(const struct hwmc_call *c, const MPIR_Comm *comm, struct hwmc_spread *s);
    size_t spread_bytes;
};

/* Fields of a kind that goes over hosts: how it is initialized, and the type of its struct. */
#define HWMC_OVER_HOSTS(init, type) .spread = init, .spread_bytes = sizeof(struct type)

struct hwmc_host_request;

/* The collective whose nonblocking form has this NAME in MPICH's control variables goes to the
 * queue of `comm`, or a persistent one to its own: the same answer on all ranks. If so, *r is new;
 * NULL: no memory. If the control variables name an algorithm of MPICH's it is to run it. */
#define HWMC_HOST_TAKE(NAME, comm, form, kind, r)                                                  \
    (hwmc_form_goes(form) &&                                                                       \
     MPIR_CVAR_##NAME##_INTRA_ALGORITHM == MPIR_CVAR_##NAME##_INTRA_ALGORITHM_auto &&              \
     hwmc_host_take(comm, form, kind, r))
bool hwmc_host_take(MPIR_Comm *comm, enum hwmc_form form, const struct hwmc_host_kind *kind,
                    struct hwmc_host_request **r);

/* The struct of the call, to be initialized; `r` is not NULL. */
void *hwmc_host_call(struct hwmc_host_request *r);

/* A copy of an array with an element for each rank, which lasts as long as `r`: MPICH gives hooks
 * arrays of its own that end with the hook. NULL of NULL, and without memory. */
const MPI_Aint *hwmc_host_keep(struct hwmc_host_request *r, const MPI_Aint *array);

/* A copy of an array with a datatype for each rank, which are looked at where counts[i] > 0; with a
 * reference of each of these. Likewise. */
const MPI_Datatype *hwmc_host_keep_types(struct hwmc_host_request *r, const MPI_Datatype *types,
                                         const MPI_Aint *counts);

/* What the program may free before the collective is over, where it matters at this rank; else
 * MPI_DATATYPE_NULL, MPI_OP_NULL. */
struct hwmc_host_uses {
    MPI_Datatype in, out;
    MPI_Op op;
};

static inline struct hwmc_host_uses hwmc_host_uses_of(MPI_Datatype in, MPI_Datatype out, MPI_Op op)
{
    return (struct hwmc_host_uses){.in = in, .out = out, .op = op};
}

/* What is not looked at, at this rank, need not be valid. */
static inline MPI_Datatype hwmc_used_type(bool is_used, MPI_Datatype type)
{
    return is_used ? type : MPI_DATATYPE_NULL;
}

/* Starts `r`, or makes a persistent request of it. True: the hook has taken it; *request is made,
 * or *mpi_errno is an error and `r` is freed. False: it is MPICH's, and `r` is freed. `r` may be
 * NULL. */
bool hwmc_host_go(struct hwmc_host_request *r, struct hwmc_host_uses uses, enum hwmc_form form,
                  MPIR_Request **request, int *mpi_errno);

/* MPI_Ibcast and MPI_Bcast_init, as MPIR_Hwmc_ibcast (hooks.h). */
bool hwmc_host_ibcast(void *buffer, MPI_Aint count, MPI_Datatype datatype, int root,
                      MPIR_Comm *comm, enum hwmc_form form, MPIR_Request **request, int *mpi_errno);

#endif /* HWMC_ENTRY_HOST_REQUEST_H_INCLUDED */
