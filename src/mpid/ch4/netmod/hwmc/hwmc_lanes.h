/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The lanes of this process: one over whatever UCX chooses, for control and repair, and one or more
 * a rail for long broadcasts along trees: MPIR_CVAR_HWMC_RAIL_LANES inside a site,
 * MPIR_CVAR_HWMC_SITE_LANES between sites, where one connection may not fill the line (Chiba, Endo,
 * Matsuoka 2007, section 6.1).
 */

#ifndef HWMC_LANES_H_INCLUDED
#define HWMC_LANES_H_INCLUDED

#include "hwmc_rails.h"
#include "lane/links.h"

#define MPIDI_HWMC_RAIL_LANES_MAX 4

struct MPIDI_HWMC_lanes {
    struct bcast_hw_lane *control; /* NULL: hwmc carries nothing in this job */
    int err;                       /* why there is none: enum bcast_hw_err */
    /* Of rails.mine, and how manyeth there; NULL: there are no more. */
    struct bcast_hw_lane *by_rail[BCAST_HW_RAILS_MAX][MPIDI_HWMC_RAIL_LANES_MAX];
};

/* Opens them: those of rails if there are to be several lanes. What cannot be opened is left
 * out. */
void MPIDI_HWMC_lanes_open(struct MPIDI_HWMC_lanes *lanes, struct bcast_hw_engine *engine,
                           const struct MPIDI_HWMC_rails *rails);

/* INT_MAX: this process has what a job needs; else who it is, and why not. To be combined by
 * minimum over all processes. */
int MPIDI_HWMC_lanes_want(const struct MPIDI_HWMC_lanes *lanes);

/* Counts why hwmc carries nothing in this job, `want` being the least of all; the process that it
 * names says so on standard error. */
void MPIDI_HWMC_lanes_say(int want);

/* Puts their addresses in the process manager's key-value space. */
int MPIDI_HWMC_lanes_put(const struct MPIDI_HWMC_lanes *lanes);

/* have[i]: how many lanes there are for rail i of the job. To be combined by minimum over all
 * processes. */
void MPIDI_HWMC_lanes_match(const struct MPIDI_HWMC_lanes *lanes,
                            const struct MPIDI_HWMC_rails *rails, int *have);

/* Hands over to cfg the lanes that all processes have, if there are several; closes the others. An
 * MPICH error without memory. */
int MPIDI_HWMC_lanes_give(struct MPIDI_HWMC_lanes *lanes, const struct MPIDI_HWMC_rails *rails,
                          const int *all_have, struct bcast_hw_engine_cfg *cfg);

/* Rails of the job that the lane for control and repair goes by, a bit each; 0: not known. */
uint32_t MPIDI_HWMC_lanes_control(const struct MPIDI_HWMC_rails *rails);

/* Takes one lane for links, whose `port` gets what comes: the first over rails.mine[at], or with at
 * < 0 that for control. There is one. NULL: no memory. */
struct bcast_hw_lane *MPIDI_HWMC_lanes_take(struct MPIDI_HWMC_lanes *lanes, int at,
                                            struct hwmc_links_port *port);

void MPIDI_HWMC_lanes_close(struct MPIDI_HWMC_lanes *lanes);

#endif /* HWMC_LANES_H_INCLUDED */
