/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * cvar_text: the text of a control variable, whoever has set it.
 */

#ifndef HWMC_ENTRY_CVAR_TEXT_H_INCLUDED
#define HWMC_ENTRY_CVAR_TEXT_H_INCLUDED

#include <stdbool.h>

/* MPI_T_finalize has freed the variables' texts and MPI_T's table, and nothing can be written.
 * Since 4.2 MPI_T_init_thread makes both again, from the environment. */
bool hwmc_cvars_are_freed(void);

/* The text of variable `name`, which is `value`: what MPI_T has written last, be it the default, or
 * else `value`, the environment's. A default that was written before the first call is not told
 * apart. Of a long text MPI_T holds as much as it has room for; it is `value` in full until another
 * is written. Never NULL. Valid until MPI_T writes, or frees it. */
const char *hwmc_cvar_text(const char *name, const char *value);

#endif /* HWMC_ENTRY_CVAR_TEXT_H_INCLUDED */
