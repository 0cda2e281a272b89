/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The links of this process: which lanes and streams they have. Of R rails that all processes
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

#ifndef HWMC_LINKS_GLUE_H_INCLUDED
#define HWMC_LINKS_GLUE_H_INCLUDED

#include "hwmc_lanes.h"

/* The user asks for something that takes links. */
bool MPIDI_HWMC_links_wanted(void);

/* As MPIDI_HWMC_lanes_give, but the lanes go to links, with the reliable connections that all_rc
 * tells of, and cfg gets their streams. Those not taken stay for the caller to close. */
int MPIDI_HWMC_links_give(struct MPIDI_HWMC_lanes *lanes, const struct MPIDI_HWMC_rails *rails,
                          const int *all_have, const int *all_rc, struct bcast_hw_engine_cfg *cfg);

/* ns; UINT64_MAX: the links, or what they carry, wait for nothing but their lanes. */
uint64_t MPIDI_HWMC_links_deadline(void);

/* After the engine is closed. */
void MPIDI_HWMC_links_close(void);

#endif /* HWMC_LINKS_GLUE_H_INCLUDED */
