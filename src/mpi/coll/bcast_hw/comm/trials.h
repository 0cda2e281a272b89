/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * trials: those of a communicator (core/model/trial.h), one for each collective over hosts, and
 * each length of its message, that the program calls without waiting for it later. What they find
 * counts for nonblocking collectives too; of persistent ones, for those that are initialized from
 * then on.
 *
 * Nobody tries where somebody has said who runs a collective: a control variable, a selection file,
 * or resilient mode, as MPICH's algorithms wait for a failed host for ever. Where hwmc's way and
 * MPICH's may bring results that differ in their last bits, reductions of floating-point numbers,
 * a trial has calls of its own, beside one of the program's (entry/rehearse.h), and there is only
 * one: results change once at most, at the same call on all ranks. Operations of the program's are
 * not tried.
 *
 * A trial also remembers what the cost model says, which need not be asked again for each call: so
 * there is one also where nothing is tried. One that has no choice never begins.
 *
 * All of it is alike on all ranks of the communicator: blocking collectives, which alone go on with
 * trials, follow each other in one order everywhere, and none begins before what is in the queue is
 * over.
 */

#ifndef HWMC_COMM_TRIALS_H_INCLUDED
#define HWMC_COMM_TRIALS_H_INCLUDED

#include "mpiimpl.h"
#include "../core/model/collective.h"
#include "../core/model/model.h"
#include "../core/model/trial.h"

#define HWMC_TRIALS_MAX 64u /* of a communicator: further lengths go as the model has it */

struct hwmc_comm;

/* The ways of a broadcast are enum hwmc_algorithm, as far as BINOMIAL, which is MPICH's own choice;
 * of other collectives enum hwmc_way. */

/* What a trial is made of. */
enum hwmc_tries { HWMC_TRIES_CALLS, HWMC_TRIES_BESIDE, HWMC_TRIES_NOTHING };

/* Of what it is. */
struct hwmc_trials_key {
    enum hwmc_coll coll; /* HWMC_COLL_LIMIT: a broadcast */
    enum hwmc_tries tries;
    bool commutative;
    bool directly;  /* it can go directly, as one in place cannot */
    uint64_t bytes; /* HWMC_LENGTH_UNKNOWN: any */
};

struct hwmc_trials_entry {
    struct hwmc_trials_key key;
    struct hwmc_trial trial;
    uint64_t ended; /* ns, when the last call that was watched ended; 0: none was */
    struct hwmc_trials_entry *next;
};

struct hwmc_trials {
    struct hwmc_trials_entry *first; /* NULL: none yet */
    uint32_t num;
    struct hwmc_trials_entry *under_way; /* the call that has begun is one of its; NULL: of none */
    struct hwmc_trials_entry *watched;   /* the call that has begun comes before its trial, and its
                                          * end is to be told; NULL: it is not */
    bool stands_aside;                   /* the next collective of this communicator is MPICH's */
};

/* A further one can be made. */
static inline bool hwmc_trials_have_room(const struct hwmc_trials *t)
{
    return t->num < HWMC_TRIALS_MAX;
}

/* That of a call; NULL: there is none. It becomes the first, as most calls are of a kind with the
 * one before. */
struct hwmc_trials_entry *hwmc_trials_find(struct hwmc_trials *t, struct hwmc_trials_key key);

/* Makes one, of what `comm` carries, where there is none: as hwmc_trial_init. NULL: there cannot be
 * one; or there is no memory for it, as others may have, and the first leader group
 * is BROKEN. */
struct hwmc_trials_entry *hwmc_trials_make(const MPIR_Comm *comm, struct hwmc_comm *c,
                                           struct hwmc_trials_key key,
                                           const uint64_t cost[HWMC_TRIAL_WAYS], uint32_t used);

/* A blocking call begins. Returns the way that it goes. If the caller has to take its time,
 * t->under_way is not NULL: entry/trial_call.h. */
uint32_t hwmc_trials_begin(struct hwmc_trials *t, struct hwmc_trials_entry *e);

/* The call that is watched has ended. */
void hwmc_trials_ended(struct hwmc_trials *t);

/* The algorithm of a broadcast on `comm`, which carries `c`: as a trial or, without one, selection
 * has it. Of a `blocking` one, which begins, likewise. */
enum hwmc_algorithm hwmc_trials_bcast(const MPIR_Comm *comm, struct hwmc_comm *c, MPI_Aint bytes,
                                      bool blocking);

/* A trial of broadcasts of `bytes` is over: *a is the fastest. */
bool hwmc_trials_bcast_found(struct hwmc_trials *t, MPI_Aint bytes, enum hwmc_algorithm *a);

/* What trials have found goes to `to`, which has none. False: no memory. */
bool hwmc_trials_inherit(struct hwmc_trials *to, const struct hwmc_trials *from);

void hwmc_trials_free(struct hwmc_trials *t);

/* hwmc is to leave this one collective to MPICH, as a trial has it; asked once. */
bool hwmc_trials_stand_aside(MPIR_Comm *comm);

#endif /* HWMC_COMM_TRIALS_H_INCLUDED */
