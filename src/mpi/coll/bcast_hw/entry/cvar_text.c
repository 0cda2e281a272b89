/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * cvar_text: see cvar_text.h. What MPI_T writes MPICH keeps in memory of MPI_T's own, which begins
 * with the default: the variable stays what the environment made it. The environment's text is
 * copied there when it is read first; from then on what is there counts.
 */

#include "mpiimpl.h"
#include "cvar_text.h"

bool hwmc_cvars_are_freed(void)
{
    return !MPIR_CVAR_HWMC_BCAST_ALGORITHM;
}

/* Whether this entry of MPI_T's table is seen for the first time. One that was seen has its default
 * here. */
static bool is_new(cvar_table_entry_t *cvar)
{
    static const char seen[][sizeof("auto")] = {"auto", ""};
    const char *normal = cvar->defaultval.str ? cvar->defaultval.str : "";

    for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++) {
        if (normal == seen[i])
            return false;
        if (strcmp(normal, seen[i]) == 0)
            cvar->defaultval.str = seen[i];
    }
    return true;
}

const char *hwmc_cvar_text(const char *name, const char *value)
{
    cvar_table_entry_t *cvar = hwmc_cvars_are_freed() ? NULL : LOOKUP_CVAR_BY_NAME(name);
    const char *said = value ? value : "";
    const char *normal = cvar && cvar->defaultval.str ? cvar->defaultval.str : "";
    char *now = cvar ? cvar->addr : NULL;

    if (!now)
        return said;
    if (is_new(cvar) && strcmp(now, normal) == 0)
        snprintf(now, (size_t) cvar->count, "%s", said);
    return strncmp(now, said, (size_t) cvar->count - 1) == 0 ? said : now;
}
