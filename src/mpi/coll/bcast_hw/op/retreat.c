/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * retreat: see retreat.h.
 */

#include "retreat.h"

static void withdraw(struct hwmc_retreat *r, uint64_t now)
{
    if (r->by_lanes)
        hwmc_group_withdraw(r->group, now);
    r->until = now + r->withdraw_ns;
    r->state =
        r->by_lanes || !hwmc_group_recall(r->group) ? HWMC_RETREAT_WITHDRAWN : HWMC_RETREAT_OVER;
}

/* Nothing of the program's memory is with lanes or rails. */
static bool is_back(const struct hwmc_retreat *r)
{
    return hwmc_group_recall(r->group) && !hwmc_group_pins(r->group);
}

void hwmc_retreat_begin(struct hwmc_retreat *r, uint64_t now)
{
    if (r->group->state != HWMC_GROUP_BROKEN) {
        withdraw(r, now);
        return;
    }
    hwmc_group_pump(r->group, now);
    r->until = r->group->loss.at + HWMC_TELL_NS;
    r->state = HWMC_RETREAT_TELL;
}

bool hwmc_retreat_step(struct hwmc_retreat *r, uint64_t now)
{
    if (r->state == HWMC_RETREAT_TELL && (now >= r->until || hwmc_engine_told(r->engine)))
        withdraw(r, now);
    if (r->state == HWMC_RETREAT_WITHDRAWN && (is_back(r) || now >= r->until)) {
        hwmc_engine_cut(r->engine, r->group);
        r->state = HWMC_RETREAT_OVER;
    }
    return r->state == HWMC_RETREAT_OVER;
}
