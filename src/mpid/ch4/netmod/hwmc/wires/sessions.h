/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The sessions of this process: which lanes and streams they have. Of R rails that all processes
 * share:
 *
 *   lanes     reliable connections of verbs, by rail, where all have them; then R ucx, by rail.
 *             Without shared rails there is one lane, over whatever UCX chooses
 *   streams   0 control and repair; 1..R broadcasts along trees, by rail; R for MPICH's messages,
 *             by rail; one by which reliable connections are made, over ucx lanes only; and one for
 *             the end
 *
 * A stream of a rail prefers the lanes of that rail, then those of the next ones.
 */

#ifndef HWMC_NETMOD_WIRES_SESSIONS_H_INCLUDED
#define HWMC_NETMOD_WIRES_SESSIONS_H_INCLUDED

#include "lanes.h"

/* What uses streams of the sessions beside the engine. */
struct hwmc_job_sessions_users {
    bool (*am_open)(struct hwmc_sessions *sessions, uint32_t first,
                    uint32_t num); /* false: no memory */
    int (*am_progress)(bool polled, int *events);
    void (*am_close)(void);
    void (*exit_barrier_open)(struct hwmc_sessions *sessions, uint32_t stream);
};

/* As hwmc_lanes_give, but the lanes go to sessions, with the reliable connections that all_rc tells
 * of, and cfg gets their streams; `users`, which last, get the others. Those not taken stay for the
 * caller to close. */
int hwmc_job_sessions_give(struct hwmc_lanes *lanes, const struct hwmc_job_rails *rails,
                           const int *all_have, const int *all_rc,
                           const struct hwmc_job_sessions_users *users, struct hwmc_wires_cfg *cfg);

/* ns; UINT64_MAX: the sessions, or what they carry, wait for nothing but their lanes. */
uint64_t hwmc_job_sessions_deadline(void);

/* After the engine is closed. */
void hwmc_job_sessions_close(void);

#endif /* HWMC_NETMOD_WIRES_SESSIONS_H_INCLUDED */
