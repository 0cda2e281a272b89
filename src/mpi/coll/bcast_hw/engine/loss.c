/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * loss: see loss.h.
 */
#include "loss.h"

#include <assert.h>

#include "engine.h"

const char *bcast_hw_stage_text(enum bcast_hw_stage stage)
{
    static const char *const texts[] = {
#define X(name, text) text,
        BCAST_HW_STAGES(X)
#undef X
    };

    return texts[stage];
}

enum bcast_hw_stage bcast_hw_group_stage(const struct bcast_hw_group *g)
{
    if (g->state == BCAST_HW_GROUP_SETUP)
        return BCAST_HW_STAGE_SETUP;
    if (g->stream.posted == g->stream.channel.consumed)
        return BCAST_HW_STAGE_SYNC;
    return bcast_hw_stream_by_trees(&g->stream) ? BCAST_HW_STAGE_TREES : BCAST_HW_STAGE_CAST;
}

/* What it waits for ends with the first. */
static void break_up(struct bcast_hw_group *g, const struct bcast_hw_loss *loss)
{
    if (g->state == BCAST_HW_GROUP_BROKEN || g->state == BCAST_HW_GROUP_OFF || g->over)
        return;
    if (g->leaving)
        g->over = true;
    g->state = BCAST_HW_GROUP_BROKEN;
    g->reason = BCAST_HW_REASON_LANE;
    g->loss = *loss;
    g->loss.at = g->engine->now;
    g->untold = true;
    bcast_hw_agenda_touch(&g->engine->agenda, g);
    if (g->shown)
        g->engine->cfg.show(g, false);
}

static void find(struct bcast_hw_group *g, uint32_t member, uint32_t rails)
{
    const struct bcast_hw_loss loss = {
        .rank = member, .finder = g->cfg.rank, .rails = rails, .stage = bcast_hw_group_stage(g)};

    break_up(g, &loss);
}

void bcast_hw_group_on_lost(struct bcast_hw_group *g, uint32_t world_rank)
{
    for (uint32_t i = 0; i < g->cfg.size; i++)
        if (g->world[i] == world_rank) {
            find(g, i, 0);
            return;
        }
}

void bcast_hw_group_on_gone(struct bcast_hw_group *g, uint32_t member, uint32_t rails)
{
    assert(rails != 0);
    find(g, member, rails);
}

void bcast_hw_group_on_told(struct bcast_hw_group *g, const struct bcast_hw_msg *msg)
{
    const struct bcast_hw_loss loss = {.rank = msg->root,
                                       .finder = msg->bytes,
                                       .rails = msg->rails,
                                       .stage = (enum bcast_hw_stage) msg->index};

    if (msg->multicast || loss.rank >= g->cfg.size || loss.finder >= g->cfg.size ||
        msg->index >= BCAST_HW_STAGE_LIMIT)
        g->engine->counts->bad++;
    else
        break_up(g, &loss);
}

static void tell(struct bcast_hw_group *g, uint32_t member)
{
    const struct bcast_hw_msg msg = {.type = BCAST_HW_MSG_LOST,
                                     .peer = member,
                                     .bid = g->cfg.key,
                                     .root = g->loss.rank,
                                     .bytes = g->loss.finder,
                                     .index = g->loss.stage,
                                     .rails = (uint8_t) g->loss.rails};
    const bool lost_from_here = g->loss.finder == g->cfg.rank && g->loss.rank == member;

    if (member != g->cfg.rank && !lost_from_here)
        bcast_hw_engine_send(g->engine, g->world[member], &g->id, g->cfg.rank, &msg, NULL, 0);
}

void bcast_hw_group_tell_again(struct bcast_hw_group *g, const struct bcast_hw_msg *msg)
{
    if (!msg->multicast)
        tell(g, msg->peer);
}

void bcast_hw_group_tell_lost(struct bcast_hw_group *g)
{
    const uint32_t rank = g->cfg.rank, size = g->cfg.size, fanout = g->cfg.fanout;
    const uint32_t children = bcast_hw_tree_children(rank, size, fanout);

    if (!g->untold)
        return;
    g->untold = false;
    tell(g, bcast_hw_ring_prev(rank, size));
    if (size > 2)
        tell(g, bcast_hw_ring_next(rank, size));
    if (rank > 0)
        tell(g, bcast_hw_tree_parent(rank, fanout));
    for (uint32_t i = 0; i < children; i++)
        tell(g, (uint32_t) bcast_hw_tree_child(rank, i, fanout));
}
