/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The links of this process: which lanes and streams they have. Of R rails that all processes share:
 *
 *   lanes     0..R-1 ucx, by rail; where there are no rails, 0: over whatever UCX chooses
 *   streams   0 control and repair; 1..R broadcasts along trees, by rail; then R for MPICH's messages
 *
 * A stream of a rail prefers the lane of that rail, then those of the next ones.
 */

#ifndef HWMC_LINKS_GLUE_H_INCLUDED
#define HWMC_LINKS_GLUE_H_INCLUDED

#include "hwmc_lanes.h"

/* The user asks for something that takes links. */
bool MPIDI_HWMC_links_wanted(void);

/* As MPIDI_HWMC_lanes_give, but the lanes go to links, and cfg gets their streams. */
int MPIDI_HWMC_links_give(struct MPIDI_HWMC_lanes *lanes, const struct MPIDI_HWMC_rails *rails,
                          const int *all_have, struct bcast_hw_engine_cfg *cfg);

/* Makes progress where the engine did not, `polled` false, and carries messages: *events of them. */
int MPIDI_HWMC_links_progress(bool polled, int *events);

/* ns; UINT64_MAX: the links, or what they carry, wait for nothing but their lanes. */
uint64_t MPIDI_HWMC_links_deadline(void);

/* Nothing that is carried waits to be sent. */
bool MPIDI_HWMC_links_idle(void);

/* After the engine is closed. */
void MPIDI_HWMC_links_close(void);

#endif /* HWMC_LINKS_GLUE_H_INCLUDED */
