/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Control variables that all processes must have alike; otherwise they choose differently, and wait
 * for each other for ever. One small reduction compares them when the job starts. Only if they
 * differ, the processes find out which, and where.
 */

#ifndef HWMC_NETMOD_INIT_ALIKE_H_INCLUDED
#define HWMC_NETMOD_INIT_ALIKE_H_INCLUDED

#include "mpidimpl.h"

/* All processes call it. The error, of all of them, names a variable that differs, or a key of
 * MPIR_CVAR_HWMC_ALGORITHMS, _TUNE or _DEBUG, or the part of the selection file for hosts, its
 * value at process 0, the first process with another one, and that one's host. */
int hwmc_alike(MPIR_Comm *world);

#endif /* HWMC_NETMOD_INIT_ALIKE_H_INCLUDED */
