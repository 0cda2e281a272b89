/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * hwmc_session: whether the ranks of a host share a session. MPICH's proxy makes one for each.
 * Linux may schedule each session as a group (sched_autogroup_enabled), and sched_yield gives the
 * processor to processes of the own group only: ranks that share processors and wait for each
 * other then keep them from each other. So ranks stay in their proxy's session, each in a process
 * group of its own, by which the proxy sends signals, as ever.
 */
#ifndef HWMC_SESSION_H_INCLUDED
#define HWMC_SESSION_H_INCLUDED

#include <stdlib.h>
#include <string.h>

/* What a program that is started with `list` finds in its environment; NULL: nothing. */
static inline const char *hwmc_session_variable(const struct HYD_env *list, const char *name)
{
    for (const struct HYD_env *e = list; e; e = e->next)
        if (strcmp(e->env_name, name) == 0)
            return e->env_value;
    return getenv(name);
}

/* It is a rank, and its environment does not say HWMC_LAUNCH_SESSION=own. */
static inline int hwmc_shares_session(const struct HYD_env *list)
{
    const char *wish = hwmc_session_variable(list, "HWMC_LAUNCH_SESSION");
    const struct HYD_env *e = list;

    while (e && strcmp(e->env_name, "PMI_RANK") != 0)
        e = e->next;
    return e && !(wish && strcmp(wish, "own") == 0);
}

#endif /* HWMC_SESSION_H_INCLUDED */
