/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "mpidimpl.h"
#include "hwmc_impl.h"
#include "hwmc_counters.h"

struct MPIDI_HWMC_counters MPIDI_HWMC_counters;

static const struct MPIR_Bcast_hw_counter setup_list[] = {
#define X(field, text) {"hwmc_" #field, text, MPIR_BCAST_HW_COUNTER, NULL},
    MPIDI_HWMC_SETUP_COUNTS(X)
#undef X
};

static const struct MPIR_Bcast_hw_counter link_list[] = {
#define X(field, text) {"hwmc_link_" #field, text, MPIR_BCAST_HW_COUNTER, NULL},
    BCAST_HW_LINK_COUNTS(X)
#undef X
};

static const struct MPIR_Bcast_hw_counter lanes_list[] = {
#define X(field, text) {"hwmc_lanes_" #field, text, MPIR_BCAST_HW_LEVEL, NULL},
    MPIDI_HWMC_LANES_COUNTS(X)
#undef X
};

static const struct MPIR_Bcast_hw_counter am_list[] = {
#define X(field, text) {"hwmc_" #field, text, MPIR_BCAST_HW_COUNTER, NULL},
    MPIDI_HWMC_AM_COUNTS(X)
#undef X
};

static const struct MPIR_Bcast_hw_counter helper_list[] = {
#define X(field, text) {"hwmc_helper_" #field, text, MPIR_BCAST_HW_COUNTER, NULL},
    MPIDI_HWMC_HELPER_COUNTS(X)
#undef X
};

static const struct MPIR_Bcast_hw_counter sealed_list[] = {
#define X(field, text) {"hwmc_lane_" #field, text, MPIR_BCAST_HW_COUNTER, NULL},
    HWMC_SEALED_COUNTS(X)
#undef X
};

#ifdef HAVE_HWMC_VERBS
static const struct MPIR_Bcast_hw_counter rc_list[] = {
#define X(field, text)                                                                             \
    {"hwmc_rc_" #field, "reliable connections: " text, MPIR_BCAST_HW_COUNTER, NULL},
    HWMC_LANE_RC_COUNTS(X)
#undef X
};
#endif

void MPIDI_HWMC_counters_add(void)
{
    MPIR_BCAST_HW_COUNTERS_ADD(setup_list, MPIDI_HWMC_counters.setup);
    MPIR_BCAST_HW_COUNTERS_ADD(link_list, MPIDI_HWMC_counters.link);
    MPIR_BCAST_HW_COUNTERS_ADD(lanes_list, MPIDI_HWMC_counters.lanes);
    MPIR_BCAST_HW_COUNTERS_ADD(am_list, MPIDI_HWMC_counters.am);
    MPIR_BCAST_HW_COUNTERS_ADD(helper_list, MPIDI_HWMC_counters.helper);
    MPIR_BCAST_HW_COUNTERS_ADD(sealed_list, MPIDI_HWMC_counters.sealed);
#ifdef HAVE_HWMC_VERBS
    MPIR_BCAST_HW_COUNTERS_ADD(rc_list, MPIDI_HWMC_counters.rc);
#endif
}
