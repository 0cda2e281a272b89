/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * group: its state. See engine/group/group.h.
 */
#include "group_impl.h"
#include "../../core/base/trace.h"

static const char *const state_names[] = {
    [HWMC_GROUP_SETUP] = "SETUP",     [HWMC_GROUP_ON] = "ON",         [HWMC_GROUP_OFF] = "OFF",
    [HWMC_GROUP_CLOSING] = "CLOSING", [HWMC_GROUP_BROKEN] = "BROKEN",
};

void hwmc_group_enter(struct hwmc_group *g, enum hwmc_group_state to)
{
    hwmc_trace_change(HWMC_TRACE_GROUP, g->number, state_names, g->state, to);
    g->state = to;
}
