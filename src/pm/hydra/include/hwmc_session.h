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

/* What `list` says of a variable of the environment. */
static inline const struct HYD_env *hwmc_session_find(const struct HYD_env *list, const char *name)
{
    while (list && strcmp(list->env_name, name) != 0)
        list = list->next;
    return list;
}

/* It is a rank, and its environment does not say HWMC_LAUNCH_SESSION=own. */
static inline int hwmc_shares_session(const struct HYD_env *list)
{
    const struct HYD_env *said = hwmc_session_find(list, "HWMC_LAUNCH_SESSION");
    const char *wish = said ? said->env_value : getenv("HWMC_LAUNCH_SESSION");

    return hwmc_session_find(list, "PMI_RANK") && !(wish && strcmp(wish, "own") == 0);
}

#endif /* HWMC_SESSION_H_INCLUDED */
