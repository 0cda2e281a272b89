/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * group: what lanes have of the program's memory. See engine/group/group.h.
 */
#include "group_impl.h"

/* The tag names the group, the lane and the token. */
void hwmc_group_send_pinned(struct hwmc_group *g, const struct hwmc_msg *msg, uint32_t lane,
                            uint32_t token, const void *body, uint32_t len)
{
    const uint32_t index = g->wires->cfg.num_far_lanes > 0 ? lane : 0;
    const uint64_t tag = (uint64_t) g->number << 32 | index << 16 | token;
    const uint32_t peer = g->world[msg->peer];

    g->pinned[index]++;
    if (!hwmc_wires_send_from(g->wires, index, tag, peer, &g->id, g->cfg.rank, msg, body, len)) {
        g->pinned[index]--;
        g->wires->on_lost(g->wires->ctx, peer);
    }
}

bool hwmc_group_pins(const struct hwmc_group *g)
{
    for (uint32_t i = 0; i < HWMC_LANES_MAX; i++)
        if (g->pinned[i] > 0)
            return true;
    return false;
}
