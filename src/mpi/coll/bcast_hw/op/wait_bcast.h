/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * wait_bcast: waiting for a broadcast, between its steps.
 */

#ifndef HWMC_OP_WAIT_BCAST_H_INCLUDED
#define HWMC_OP_WAIT_BCAST_H_INCLUDED

#include "bcast.h"
#include "wait.h"

/* Until the broadcast is over, with MPICH's progress. `n`: where it has a stage inside the host;
 * NULL. The MPI error code; after an error in which ranks are out of step `n` is broken. */
int hwmc_wait_bcast(struct hwmc_bcast *b, struct hwmc_shm_host *n);

/* The MPI error of a broadcast that is over; MPI_SUCCESS. As above. */
int hwmc_bcast_error(const struct hwmc_bcast *b, struct hwmc_shm_host *n);

/* How long lanes may have the program's memory after an error, in ns. */
uint64_t hwmc_withdraw_ns(void);

#endif /* HWMC_OP_WAIT_BCAST_H_INCLUDED */
