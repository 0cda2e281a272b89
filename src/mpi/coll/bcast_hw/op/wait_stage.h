/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * wait_stage: waiting for a stage, between its steps.
 */

#ifndef HWMC_OP_WAIT_STAGE_H_INCLUDED
#define HWMC_OP_WAIT_STAGE_H_INCLUDED

#include "stage.h"
#include "wait.h"

/* Until it is over, with MPICH's progress. `n`: where it has a part inside the host; NULL. The MPI
 * error code; after an error in which ranks are out of step `n` is broken. */
int hwmc_wait_stage(struct hwmc_op_stage *s, struct hwmc_shm_host *n);

/* The MPI error of a stage that is over; MPI_SUCCESS. As above. */
int hwmc_stage_error(const struct hwmc_op_stage *s, struct hwmc_shm_host *n);

/* How long lanes may have the program's memory after an error, in ns. */
uint64_t hwmc_withdraw_ns(void);

#endif /* HWMC_OP_WAIT_STAGE_H_INCLUDED */
