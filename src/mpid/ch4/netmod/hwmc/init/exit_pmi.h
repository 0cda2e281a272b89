/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The process manager's barrier, which blocks: a thread of its own enters it, while the caller
 * makes progress.
 */

#ifndef HWMC_NETMOD_INIT_EXIT_PMI_H_INCLUDED
#define HWMC_NETMOD_INIT_EXIT_PMI_H_INCLUDED

#include <stdbool.h>

/* Takes the thread's stack from the system, so that the thread starts however little memory is left
 * then. Without memory for it the thread will have the stack that the system gives it. */
void hwmc_exit_pmi_reserve(void);

/* Enters the barrier, unless this process is in it. Until it is over nothing may be asked of the
 * process manager. The error that there is no thread for it. */
int hwmc_exit_pmi_enter(void);

/* Everybody has entered it, or it failed: sets *mpi_errno to how it ended. False: it goes on. */
bool hwmc_exit_pmi_is_over(int *mpi_errno);

#endif /* HWMC_NETMOD_INIT_EXIT_PMI_H_INCLUDED */
