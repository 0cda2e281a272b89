/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * old_names: control variables of earlier versions. Set in the environment they would be ignored
 * without a word, so MPI_Init fails and says the new name.
 */

#ifndef HWMC_SETTINGS_OLD_NAMES_H_INCLUDED
#define HWMC_SETTINGS_OLD_NAMES_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

#define HWMC_OLD_WHY 384 /* room for the text, with its 0 */

/* Whether an item of the environment, "NAME=value", sets a control variable of an earlier version,
 * under any of the names that MPICH reads: MPIR_CVAR_X, MPIR_PARAM_X, MPICH_X. Then `why` says what
 * to set instead. */
bool hwmc_old_name(const char *item, char why[HWMC_OLD_WHY]);

#endif /* HWMC_SETTINGS_OLD_NAMES_H_INCLUDED */
