/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_take: a blocking collective over hosts, from its arguments to its end, if it is hwmc's.
 */

#ifndef HWMC_ENTRY_SPREAD_TAKE_H_INCLUDED
#define HWMC_ENTRY_SPREAD_TAKE_H_INCLUDED

#include "spread.h"

/* Runs it if it is hwmc's: true, and *mpi_errno is set. `bytes`: of the message, as it weighs
 * (comm/leader_group.h), 1 or more. Waits. */
bool hwmc_spread_take(struct hwmc_spread *s, MPIR_Comm *comm, MPI_Aint bytes, int *mpi_errno);

#endif /* HWMC_ENTRY_SPREAD_TAKE_H_INCLUDED */
