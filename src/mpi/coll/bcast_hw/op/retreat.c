/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * retreat: see retreat.h.
 */

#include "retreat.h"

static void withdraw(struct hwmc_retreat *r, uint64_t now)
{
    if (!r->lent) {
        r->state = HWMC_RETREAT_OVER;
        return;
    }
    hwmc_group_withdraw(r->group, now);
    r->until = now + r->withdraw_ns;
    r->state = HWMC_RETREAT_WITHDRAWN;
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
    if (r->state == HWMC_RETREAT_WITHDRAWN && (!hwmc_group_pins(r->group) || now >= r->until)) {
        hwmc_engine_cut(r->engine, r->group);
        r->state = HWMC_RETREAT_OVER;
    }
    return r->state == HWMC_RETREAT_OVER;
}
