/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * group: what lanes have of the program's memory, along trees. See group.h.
 */
#include <assert.h>

#include "engine.h"

void bcast_hw_group_withdraw(struct bcast_hw_group *g, uint64_t now)
{
    if (g->running)
        bcast_hw_multilane_give_up(&g->stream.multilane);
    bcast_hw_group_pump(g, now);
}

bool bcast_hw_group_lends(const struct bcast_hw_group *g)
{
    for (uint32_t i = 0; i < BCAST_HW_LANES_MAX; i++)
        if (g->lent[i] > 0)
            return true;
    return false;
}

void bcast_hw_group_on_sent(struct bcast_hw_group *g, uint32_t lane, uint32_t token)
{
    assert(g->lent[lane] > 0);
    g->lent[lane]--;
    bcast_hw_stream_on_sent(&g->stream, token);
    bcast_hw_agenda_touch(&g->engine->agenda, g);
}
