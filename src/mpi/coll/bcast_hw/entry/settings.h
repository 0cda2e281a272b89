/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * settings: fills struct hwmc_settings from the control variables.
 */

#ifndef HWMC_ENTRY_SETTINGS_H_INCLUDED
#define HWMC_ENTRY_SETTINGS_H_INCLUDED

#include "../settings/settings.h"

/* In MPI_Init, before anything else of hwmc's: the settings are what the environment says, or what
 * MPI_T has written before, unless that is a default (cvar_text.h). The MPI error names the
 * variable, and the key, that is not understood, or is one of an earlier version. */
int hwmc_settings_open(void);

/* While a communicator is made: the settings follow what MPI_T has written since, on all processes
 * alike where they have to be. After an error they are what they were. */
int hwmc_settings_refresh(void);

/* The part of it that needs no parsing: for entry/settings.c. False: no memory. */
bool hwmc_cvars_fill(struct hwmc_settings *s);

#endif /* HWMC_ENTRY_SETTINGS_H_INCLUDED */
