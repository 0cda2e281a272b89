/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The lanes of this process: one for control and repair, over the transport that UCX chooses, and
 * one or more a rail for long broadcasts along trees: rail_lanes (MPIR_CVAR_HWMC_TUNE) inside a
 * site, site_lanes between sites, where one connection may not fill the line (Chiba, Endo,
 * Matsuoka 2007, section 6.1).
 */

#ifndef HWMC_NETMOD_WIRES_LANES_H_INCLUDED
#define HWMC_NETMOD_WIRES_LANES_H_INCLUDED

#include "rails.h"
#include "../session/sessions.h"

#define HWMC_RAIL_LANES_MAX 4

struct hwmc_lanes {
    struct hwmc_lane *control; /* NULL: hwmc carries nothing in this job */
    int err;                   /* why there is none: enum hwmc_err */
    /* Of rails.mine, and how manyeth there; NULL: there are no more. */
    struct hwmc_lane *by_rail[HWMC_RAILS_MAX][HWMC_RAIL_LANES_MAX];
};

/* The user asks for something for which lanes go to sessions. */
bool hwmc_lanes_need_sessions(void);

/* Opens them: those of rails if there are to be several lanes. What cannot be opened is left
 * out. */
void hwmc_lanes_open(struct hwmc_lanes *lanes, struct hwmc_engine *engine,
                     const struct hwmc_job_rails *rails);

/* INT_MAX: this process has what a job needs; else who it is, and why not. To be combined by
 * minimum over all processes. */
int hwmc_lanes_want(const struct hwmc_lanes *lanes);

/* Counts why hwmc carries nothing in this job, `want` being the least of all; the process that it
 * names says so on standard error. */
void hwmc_lanes_say(int want);

/* Puts their addresses in the process manager's key-value space. */
int hwmc_lanes_put(const struct hwmc_lanes *lanes);

/* have[i]: how many lanes there are for rail i of the job. To be combined by minimum over all
 * processes. */
void hwmc_lanes_match(const struct hwmc_lanes *lanes, const struct hwmc_job_rails *rails,
                      int *have);

/* Hands over to cfg the lanes that all processes have, if there are several; closes the others. An
 * MPICH error without memory. */
int hwmc_lanes_give(struct hwmc_lanes *lanes, const struct hwmc_job_rails *rails,
                    const int *all_have, struct hwmc_wires_cfg *cfg);

/* Rails of the job that the lane for control and repair goes by, a bit each; 0: not known. */
uint32_t hwmc_lanes_control(const struct hwmc_job_rails *rails);

/* Takes one lane for sessions, whose `port` gets what comes: the first over rails.mine[at], or with
 * at < 0 that for control. There is one. NULL: no memory. */
struct hwmc_lane *hwmc_lanes_take(struct hwmc_lanes *lanes, int at,
                                  struct hwmc_sessions_port *port);

void hwmc_lanes_close(struct hwmc_lanes *lanes);

#endif /* HWMC_NETMOD_WIRES_LANES_H_INCLUDED */
