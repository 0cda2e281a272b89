/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What the netmod counts. All of it is registered in every job: what is not in use stays 0.
 */

#ifndef HWMC_COUNTERS_H_INCLUDED
#define HWMC_COUNTERS_H_INCLUDED

#include "../../../../mpi/coll/bcast_hw/core/link.h"
#include "lane/sealed.h"
#ifdef HAVE_HWMC_VERBS
#include "lane/rc.h"
#endif

#define MPIDI_HWMC_AM_COUNTS(X)                                                                    \
    X(carried, "messages of MPICH that links brought here")                                        \
    X(carried_read, "of those, read where they lay in the sender's memory")                        \
    X(carried_refused, "of those, asked for as this process may not read the sender's memory")     \
    X(carried_bad, "frames of such messages dropped: they do not fit the others of their message")

struct MPIDI_HWMC_am_counts {
#define X(field, text) uint64_t field;
    MPIDI_HWMC_AM_COUNTS(X)
#undef X
};

/* Levels. */
#define MPIDI_HWMC_LANES_COUNTS(X)                                                                 \
    X(hardware, "lanes over which hardware leaves a dead path")                                    \
    X(software, "other lanes, over which a dead path is left in software")

struct MPIDI_HWMC_lanes_counts {
#define X(field, text) uint64_t field;
    MPIDI_HWMC_LANES_COUNTS(X)
#undef X
};

struct MPIDI_HWMC_counters {
    struct bcast_hw_link_counts *link;
    struct MPIDI_HWMC_lanes_counts *lanes;
    struct MPIDI_HWMC_am_counts *am;
    struct hwmc_sealed_counts *sealed;
    struct hwmc_lane_rc_counts *rc; /* of all lanes; NULL without verbs */
};

extern struct MPIDI_HWMC_counters MPIDI_HWMC_counters;

/* After MPIR_Bcast_hw_live_open. */
void MPIDI_HWMC_counters_add(void);

#endif /* HWMC_COUNTERS_H_INCLUDED */
