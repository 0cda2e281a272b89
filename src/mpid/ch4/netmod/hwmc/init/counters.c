/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "mpidimpl.h"
#include "../base/global.h"
#include "../base/counters.h"
#include "../lane/auth_lane.h"
#ifdef HAVE_HWMC_VERBS
#include "../lane/rc/rc.h"
#endif
#include "../wait/helper.h"
#include "../../../../../mpi/coll/bcast_hw/core/path/session.h"

struct hwmc_counters hwmc_counters;

static const struct hwmc_counter setup_list[] = {
#define X(field, text) {"hwmc_" #field, text, HWMC_COUNTER, NULL},
    HWMC_SETUP_COUNTS(X)
#undef X
};

static const struct hwmc_counter session_list[] = {
#define X(field, text) {"hwmc_session_" #field, text, HWMC_COUNTER, NULL},
    HWMC_SESSION_COUNTS(X)
#undef X
};

static const struct hwmc_counter lanes_list[] = {
#define X(field, text) {"hwmc_lanes_" #field, text, HWMC_LEVEL, NULL},
    HWMC_LANES_COUNTS(X)
#undef X
};

static const struct hwmc_counter path_list[] = {
#define X(field, text) {"hwmc_path_" #field, text, HWMC_COUNTER, NULL},
    HWMC_PATH_COUNTS(X)
#undef X
};

static const struct hwmc_counter am_list[] = {
#define X(field, text) {"hwmc_" #field, text, HWMC_COUNTER, NULL},
    HWMC_AM_COUNTS(X)
#undef X
};

static const struct hwmc_counter helper_list[] = {
#define X(field, text) {"hwmc_helper_" #field, text, HWMC_COUNTER, NULL},
    HWMC_HELPER_COUNTS(X)
#undef X
};

static const struct hwmc_counter auth_lane_list[] = {
#define X(field, text) {"hwmc_lane_" #field, text, HWMC_COUNTER, NULL},
    HWMC_AUTH_LANE_COUNTS(X)
#undef X
};

#ifdef HAVE_HWMC_VERBS
static const struct hwmc_counter rc_list[] = {
#define X(field, text) {"hwmc_rc_" #field, "reliable connections: " text, HWMC_COUNTER, NULL},
    HWMC_LANE_RC_COUNTS(X)
#undef X
};
#endif

void hwmc_counters_add(void)
{
    HWMC_COUNTERS_ADD(setup_list, hwmc_counters.setup);
    HWMC_COUNTERS_ADD(session_list, hwmc_counters.session);
    HWMC_COUNTERS_ADD(lanes_list, hwmc_counters.lanes);
    HWMC_COUNTERS_ADD(path_list, hwmc_counters.path);
    HWMC_COUNTERS_ADD(am_list, hwmc_counters.am);
    HWMC_COUNTERS_ADD(helper_list, hwmc_counters.helper);
    HWMC_COUNTERS_ADD(auth_lane_list, hwmc_counters.auth_lane);
#ifdef HAVE_HWMC_VERBS
    HWMC_COUNTERS_ADD(rc_list, hwmc_counters.rc);
#endif
}
