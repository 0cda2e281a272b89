/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * group: what lanes have of the program's memory, along trees. See engine/group/group.h.
 */
#include <assert.h>

#include "group.h"
#include "groups.h"

void hwmc_group_withdraw(struct hwmc_group *g, uint64_t now)
{
    if (g->running) {
        hwmc_multilane_give_up(&g->stream.multilane);
        hwmc_exchange_give_up(&g->blocks.exchange);
    }
    hwmc_group_pump(g, now);
}

void hwmc_group_on_sent(struct hwmc_group *g, uint32_t lane, uint32_t token)
{
    assert(g->pinned[lane] > 0);
    g->pinned[lane]--;
    if (token & HWMC_BLOCKS_TOKEN)
        hwmc_exchange_on_sent(&g->blocks.exchange, token & ~HWMC_BLOCKS_TOKEN);
    else
        hwmc_stream_on_sent(&g->stream, token);
    hwmc_agenda_touch(&g->all->agenda, g);
}
