/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * For the collectives inside a host that combine what ranks have.
 */

#ifndef HWMC_ENTRY_REDUCE_H_INCLUDED
#define HWMC_ENTRY_REDUCE_H_INCLUDED

#include "../comm/shm.h"
#include "types.h"

/* Sets `o`, the operation as shm has it. Returns n, what was admitted, or NULL: MPICH is
 * to run this collective, alike on all ranks. */
struct hwmc_shm_host *hwmc_shm_admit_op(struct hwmc_shm_host *n, struct hwmc_operation *o,
                                        MPI_Op op, MPI_Datatype datatype, int mpi_errno);

/* Waits for `op` and ends `a`; `result`: the program gets what is there. Returns MPICH's error
 * code, also for what the operation itself met. */
int hwmc_shm_combine(struct hwmc_shm_host *n, const struct hwmc_operation *o,
                     struct hwmc_shm_op *op, struct hwmc_operands *a, bool result);

#endif /* HWMC_ENTRY_REDUCE_H_INCLUDED */
