/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Control variables that all processes must have alike: else they take different ways, and wait for
 * each other for ever. That they have is seen when the job starts, by one small reduction; what
 * differs, and where, is asked for only then.
 */

#ifndef HWMC_NETMOD_INIT_ALIKE_H_INCLUDED
#define HWMC_NETMOD_INIT_ALIKE_H_INCLUDED

#include "mpidimpl.h"

/* All processes call it. The error, of all of them, names a variable that differs, or a key of
 * MPIR_CVAR_HWMC_TUNE or _DEBUG, its value at process 0, the first process with another one, and
 * that one's host. */
int hwmc_alike(MPIR_Comm *world);

#endif /* HWMC_NETMOD_INIT_ALIKE_H_INCLUDED */
