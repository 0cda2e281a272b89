/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * failure: see failure.h.
 */
#include "failure.h"

#include <assert.h>

#include "../../port/probe.h"
#include "group.h"
#include "groups.h"
#include "group_impl.h"

enum hwmc_stage hwmc_group_stage(const struct hwmc_group *g)
{
    if (g->state == HWMC_GROUP_SETUP)
        return HWMC_STAGE_SETUP;
    if (g->blocks.exchange.running)
        return HWMC_STAGE_BLOCKS;
    if (g->stream.posted == g->stream.channel.consumed)
        return HWMC_STAGE_SYNC;
    return hwmc_stream_by_trees(&g->stream) ? HWMC_STAGE_TREES : HWMC_STAGE_CAST;
}

bool hwmc_group_waits_for_lanes(const struct hwmc_group *g, enum hwmc_stage stage)
{
    return stage == HWMC_STAGE_TREES ||
           (stage == HWMC_STAGE_BLOCKS && hwmc_exchange_waits_for_lanes(&g->blocks.exchange));
}

static bool can_break(const struct hwmc_group *g)
{
    return g->state != HWMC_GROUP_BROKEN && g->state != HWMC_GROUP_OFF && !g->over;
}

/* A loss is known: what the group waits for ends. */
static void break_up(struct hwmc_group *g)
{
    if (g->leaving)
        g->over = true;
    hwmc_group_enter(g, HWMC_GROUP_BROKEN);
    g->reason = HWMC_REASON_LANE;
    hwmc_agenda_touch(&g->all->agenda, g);
    if (g->shown)
        g->wires->cfg.show(g, false);
}

/* Whether nothing goes to a member any more whose host is silent on these rails, or 0: by lanes of
 * other rails it may. In resilient mode it is silent on all. */
static bool is_cut(const struct hwmc_group *g, uint32_t silent)
{
    struct hwmc_probe *k = g->wires->cfg.probe;

    return silent == 0 || !k || k->any ||
           ((k->ops->control(k) | hwmc_wires_lane_rails(g->wires)) & ~silent) == 0;
}

static void note_lost(struct hwmc_group *g, uint32_t member, uint32_t rails)
{
    if (!can_break(g))
        return;
    hwmc_notice_on_found(&g->loss, member, rails, is_cut(g, rails), hwmc_group_stage(g),
                         g->wires->now);
    break_up(g);
}

void hwmc_group_on_lost(struct hwmc_group *g, uint32_t world_rank)
{
    for (uint32_t i = 0; i < g->cfg.size; i++)
        if (g->world[i] == world_rank) {
            note_lost(g, i, 0);
            return;
        }
}

void hwmc_group_on_failed(struct hwmc_group *g, uint32_t member, uint32_t rails)
{
    assert(rails != 0);
    note_lost(g, member, rails);
}

void hwmc_group_give_up(struct hwmc_group *g)
{
    note_lost(g, g->cfg.rank, 0);
}

void hwmc_group_lose_too(struct hwmc_group *g, const struct hwmc_group *broken)
{
    const uint32_t lost = broken->world[broken->loss.rank];

    assert(broken->state == HWMC_GROUP_BROKEN);
    if (lost != g->world[g->cfg.rank])
        hwmc_group_on_lost(g, lost);
    hwmc_group_give_up(g);
}

void hwmc_group_on_told(struct hwmc_group *g, const struct hwmc_msg *msg)
{
    if (!hwmc_notice_formed(msg, g->cfg.size))
        g->wires->counts->bad++;
    else if (can_break(g) && hwmc_notice_on_recv(&g->loss, msg, g->wires->now) == HWMC_TAKEN)
        break_up(g);
}

static void send_lost(struct hwmc_group *g, const struct hwmc_msg *tx)
{
    hwmc_wires_tell(g->wires, g->world[tx->peer], &g->id, g->cfg.rank, tx);
}

void hwmc_group_tell_again(struct hwmc_group *g, const struct hwmc_msg *msg)
{
    struct hwmc_msg tx;

    if (!msg->multicast && hwmc_notice_repeat(&g->loss, msg->peer, &tx))
        send_lost(g, &tx);
}

void hwmc_group_tell_lost(struct hwmc_group *g)
{
    struct hwmc_msg tx;

    while (hwmc_notice_next_send(&g->loss, &tx))
        send_lost(g, &tx);
}
