/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * trial_call: a call of a trial (comm/trials.h): how long this rank is in it, and, where it ends a
 * block, what ranks agree on: by an allreduce of hwmc's on the same communicator, so that whatever
 * ends collectives of hwmc's with an error ends this one too.
 *
 * Where the way is MPICH's, the caller has MPICH run the collective as if hwmc were not there:
 * hwmc_trial_call_aside, then MPIR_<Collective>.
 */

#ifndef HWMC_ENTRY_TRIAL_CALL_H_INCLUDED
#define HWMC_ENTRY_TRIAL_CALL_H_INCLUDED

#include "../comm/comm.h"

/* The call begins that c->trials.under_way is about: ns. */
uint64_t hwmc_trial_call_begin(void);

/* The collective that the caller calls next on the communicator, by MPIR_<Collective>, is MPICH's
 * to run. */
void hwmc_trial_call_aside(struct hwmc_comm *c);

/* Collective: *most becomes the greatest of all ranks; UINT64_MAX if that failed. Returns MPICH's
 * error code. */
int hwmc_trial_call_agree(MPIR_Comm *comm, struct hwmc_comm *c, uint64_t *most);

/* It is over, having begun at `begun`, with this code of MPICH's. `comm` carries `c`. Every rank
 * calls it, whatever the code. Returns MPICH's error code of the agreement. */
int hwmc_trial_call_end(MPIR_Comm *comm, struct hwmc_comm *c, uint64_t begun, int mpi_errno);

#endif /* HWMC_ENTRY_TRIAL_CALL_H_INCLUDED */
