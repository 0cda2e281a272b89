/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Who waits for long calls the detector (core/failure/detector): hosts that are not there any more
 * end the wait.
 */

#ifndef HWMC_OP_WAIT_FAILURE_H_INCLUDED
#define HWMC_OP_WAIT_FAILURE_H_INCLUDED

#include "mpiimpl.h"
#include "../engine/engine.h"

/* One wait of one thread. Zero to begin with. */
struct hwmc_wait_failure {
    uint64_t wake; /* ns: when there is something to do; 0 at first */
    bool calls;    /* the process's failure detector is this one's */
};

/* Under the lock, when wake has come: waits for `g`. It is BROKEN if a member has failed. */
void hwmc_wait_failure_step(struct hwmc_wait_failure *p, struct hwmc_group *g);

/* The wait is over. Under the lock. */
void hwmc_wait_failure_end(struct hwmc_wait_failure *p);

/* The same two for who steps an operation and does not wait, and has not the lock: `look` whenever
 * the operation is found waiting for `g`. */
void hwmc_wait_failure_look(struct hwmc_wait_failure *p, struct hwmc_group *g);
void hwmc_wait_failure_over(struct hwmc_wait_failure *p);

/* No wait follows, and that for all processes is over. Under the lock. */
void hwmc_wait_failure_close(void);

/* ns: how long a host must have been silent to have failed; 0: none does. */
uint64_t hwmc_peer_timeout_ns(void);

/* ns: when the thread that waits has to look again; NEVER. */
uint64_t hwmc_wait_failure_deadline(void);

/* This thread waits for all processes: MPI_SUCCESS, or the error that names one whose host has
 * failed. To be called as often as it looks for them. */
int hwmc_all_there(void);

/* The MPI error of a group that is BROKEN. */
int hwmc_failure_error(const struct hwmc_group *g);

#endif /* HWMC_OP_WAIT_FAILURE_H_INCLUDED */
