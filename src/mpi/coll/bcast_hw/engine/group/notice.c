/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * notice: see notice.h.
 */
#include "notice.h"

#include <assert.h>

#include "group.h"
#include "groups.h"

const char *hwmc_stage_text(enum hwmc_stage stage)
{
    static const char *const texts[] = {
#define X(name, text) text,
        HWMC_STAGES(X)
#undef X
    };

    return texts[stage];
}

enum hwmc_stage hwmc_group_stage(const struct hwmc_group *g)
{
    if (g->state == HWMC_GROUP_SETUP)
        return HWMC_STAGE_SETUP;
    if (g->stream.posted == g->stream.channel.consumed)
        return HWMC_STAGE_SYNC;
    return hwmc_stream_by_trees(&g->stream) ? HWMC_STAGE_TREES : HWMC_STAGE_CAST;
}

/* What it waits for ends with the first. */
static void break_up(struct hwmc_group *g, const struct hwmc_notice *loss)
{
    if (g->state == HWMC_GROUP_BROKEN || g->state == HWMC_GROUP_OFF || g->over)
        return;
    if (g->leaving)
        g->over = true;
    g->state = HWMC_GROUP_BROKEN;
    g->reason = HWMC_REASON_LANE;
    g->loss = *loss;
    g->loss.at = g->wires->now;
    g->loss.untold = true;
    hwmc_agenda_touch(&g->all->agenda, g);
    if (g->shown)
        g->wires->cfg.show(g, false);
}

static void note_lost(struct hwmc_group *g, uint32_t member, uint32_t rails)
{
    const struct hwmc_notice loss = {
        .rank = member, .finder = g->cfg.rank, .rails = rails, .stage = hwmc_group_stage(g)};

    break_up(g, &loss);
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

void hwmc_group_on_told(struct hwmc_group *g, const struct hwmc_msg *msg)
{
    const struct hwmc_notice loss = {.rank = msg->lost.rank,
                                     .finder = msg->lost.finder,
                                     .rails = msg->lost.rails,
                                     .stage = (enum hwmc_stage) msg->lost.stage};

    if (msg->multicast || loss.rank >= g->cfg.size || loss.finder >= g->cfg.size ||
        msg->lost.stage >= HWMC_STAGE_LIMIT)
        g->wires->counts->bad++;
    else
        break_up(g, &loss);
}

static void tell_member(struct hwmc_group *g, uint32_t member)
{
    const struct hwmc_msg msg = {.type = HWMC_MSG_LOST,
                                 .peer = member,
                                 .bid = g->cfg.key,
                                 .lost = {.rank = g->loss.rank,
                                          .finder = g->loss.finder,
                                          .stage = g->loss.stage,
                                          .rails = (uint8_t) g->loss.rails}};
    const bool lost_from_here = g->loss.finder == g->cfg.rank && g->loss.rank == member;

    if (member != g->cfg.rank && !lost_from_here)
        hwmc_wires_send(g->wires, g->world[member], &g->id, g->cfg.rank, &msg, NULL, 0);
}

void hwmc_group_tell_again(struct hwmc_group *g, const struct hwmc_msg *msg)
{
    if (!msg->multicast)
        tell_member(g, msg->peer);
}

void hwmc_group_tell_lost(struct hwmc_group *g)
{
    const uint32_t rank = g->cfg.rank, size = g->cfg.size, fanout = g->cfg.fanout;
    const uint32_t children = hwmc_tree_children(rank, size, fanout);

    if (!g->loss.untold)
        return;
    g->loss.untold = false;
    tell_member(g, hwmc_ring_prev(rank, size));
    if (size > 2)
        tell_member(g, hwmc_ring_next(rank, size));
    if (rank > 0)
        tell_member(g, hwmc_tree_parent(rank, fanout));
    for (uint32_t i = 0; i < children; i++)
        tell_member(g, (uint32_t) hwmc_tree_child(rank, i, fanout));
}
