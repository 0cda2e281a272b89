/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_select: see spread_select.h.
 */

#include "spread_select.h"

#include "../select/network.h"
#include "../stats/counters.h"

struct hwmc_coll_case hwmc_spread_case(const struct hwmc_spread *s)
{
    const uint32_t ranks = (uint32_t) s->comm->local_size;
    const uint32_t members = s->c->by_hosts ? s->c->hosts : ranks;

    return (struct hwmc_coll_case){
        .coll = s->coll,
        .commutative = s->commutative,
        .members = members,
        .each = (ranks - 1) / members + 1,
        .bytes = s->length,
        .part = hwmc_coll_part(hwmc_network_now()),
        .shape = s->c->leader_group[0].shape,
    };
}

bool hwmc_spread_goes(const struct hwmc_spread *s)
{
    const struct hwmc_coll_case c = hwmc_spread_case(s);
    bool goes = !s->ops->fits || s->ops->fits(s);

    if (goes && !hwmc_spread_is_said(&c, &goes))
        goes = s->c->by_hosts && s->ops->wins ? s->ops->wins(s) : hwmc_spread_is_ours(&c);
    hwmc_note_spread(goes);
    return goes;
}
