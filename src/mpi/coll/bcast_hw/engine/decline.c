/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * decline: see decline.h.
 */
#include "decline.h"

#include <assert.h>

#include "engine.h"

static void decline_end(struct bcast_hw_engine *e, struct bcast_hw_decline *d)
{
    d->used = false;
    e->declines.num--;
}

void bcast_hw_decline_list(struct bcast_hw_decline_cfg *cfg)
{
    const uint32_t children = bcast_hw_tree_children(cfg->rank, cfg->size, cfg->fanout);
    uint32_t n = 0;

    cfg->neighbour[n++] = bcast_hw_ring_prev(cfg->rank, cfg->size);
    cfg->neighbour[n++] = bcast_hw_ring_next(cfg->rank, cfg->size);
    if (cfg->rank > 0)
        cfg->neighbour[n++] = bcast_hw_tree_parent(cfg->rank, cfg->fanout);
    for (uint32_t i = 0; i < children; i++)
        cfg->neighbour[n++] = (uint32_t) bcast_hw_tree_child(cfg->rank, i, cfg->fanout);
    cfg->num_neighbours = n;
}

/* Rank in MPI_COMM_WORLD of a neighbour. */
static uint32_t world_rank_of(const struct bcast_hw_decline_cfg *cfg, uint32_t rank)
{
    uint32_t i = 0;

    while (cfg->neighbour[i] != rank)
        i++;
    return cfg->world[i];
}

/* Sends what is due. The decline may be over then. */
static void decline_pump(struct bcast_hw_engine *e, struct bcast_hw_decline *d, uint64_t now)
{
    struct bcast_hw_msg tx;

    while (d->used && bcast_hw_agree_next_send(&d->agree, &tx, now))
        bcast_hw_engine_send(e, world_rank_of(&d->cfg, tx.peer), &d->id, d->cfg.rank, &tx, NULL, 0);
    if (d->used && bcast_hw_agree_settled(&d->agree))
        decline_end(e, d);
}

bool bcast_hw_decline_begin(struct bcast_hw_engine *e, const struct bcast_hw_decline_cfg *cfg,
                            uint64_t now)
{
    const struct bcast_hw_terms offer = {.reason = BCAST_HW_REASON_NOMEM};
    struct bcast_hw_decline *d = e->declines.one;

    assert(cfg->size >= 2 && cfg->rank < cfg->size);
    if (e->declines.num == BCAST_HW_DECLINES)
        return false;
    while (d->used)
        d++;
    e->declines.num++;
    e->engine_counts->setup_off++;
    *d = (struct bcast_hw_decline){
        .used = true,
        .cfg = *cfg,
        .id = {.job = e->cfg.job,
               .context = cfg->context,
               .leader = cfg->leader,
               .unchecked = e->cfg.integrity != BCAST_HW_INTEGRITY_CRC32C},
    };
    /* Not by lanes: whatever a decision's reason is, it ends set-up here. */
    bcast_hw_agree_start(&d->agree, cfg->size, cfg->rank, cfg->fanout, cfg->key, &offer, false, 0);
    decline_pump(e, d, now);
    return true;
}

/* A member is lost: tells the neighbours, but for that one and `from`. Nothing is left to do
 * then. */
static void decline_lose(struct bcast_hw_engine *e, struct bcast_hw_decline *d,
                         const struct bcast_hw_msg *lost, uint32_t from)
{
    const struct bcast_hw_decline_cfg cfg = d->cfg;
    const struct bcast_hw_wire_id id = d->id;
    struct bcast_hw_msg tx = *lost;

    decline_end(e, d); /* first: a lane may fail meanwhile */
    for (uint32_t i = 0; i < cfg.num_neighbours; i++) {
        tx.peer = cfg.neighbour[i];
        if (tx.peer != from && tx.peer != lost->root)
            bcast_hw_engine_send(e, cfg.world[i], &id, cfg.rank, &tx, NULL, 0);
    }
}

static bool is_for(const struct bcast_hw_decline *d, const struct bcast_hw_wire_in *in)
{
    return d->used && in->id.generation == 0 && in->id.leader == d->id.leader &&
           in->id.context == d->id.context && in->msg.bid == d->cfg.key;
}

static void on_lost_msg(struct bcast_hw_engine *e, struct bcast_hw_decline *d,
                        const struct bcast_hw_msg *msg)
{
    if (msg->multicast || msg->peer >= d->cfg.size || msg->root >= d->cfg.size ||
        msg->bytes >= d->cfg.size || msg->index >= BCAST_HW_STAGE_LIMIT)
        e->counts->bad++;
    else
        decline_lose(e, d, msg, msg->peer);
}

bool bcast_hw_decline_on_recv(struct bcast_hw_engine *e, const struct bcast_hw_wire_in *in,
                              uint64_t now)
{
    struct bcast_hw_decline *d = e->declines.one, *end = d + BCAST_HW_DECLINES;

    if (e->declines.num == 0 || !bcast_hw_names_is_by_key(in->msg.type))
        return false;
    while (d < end && !is_for(d, in))
        d++;
    if (d == end)
        return false;
    if (in->msg.type == BCAST_HW_MSG_LOST) {
        on_lost_msg(e, d, &in->msg);
        return true;
    }
    if (bcast_hw_agree_on_recv(&d->agree, &in->msg, now) == BCAST_HW_BAD)
        e->counts->bad++;
    decline_pump(e, d, now);
    return true;
}

void bcast_hw_decline_on_lost(struct bcast_hw_engine *e, uint32_t world_rank)
{
    struct bcast_hw_msg lost = {.type = BCAST_HW_MSG_LOST, .index = BCAST_HW_STAGE_SETUP};

    for (struct bcast_hw_decline *d = e->declines.one; d < e->declines.one + BCAST_HW_DECLINES; d++)
        for (uint32_t i = 0; d->used && i < d->cfg.num_neighbours; i++)
            if (d->cfg.world[i] == world_rank) {
                lost.bid = d->cfg.key;
                lost.root = d->cfg.neighbour[i];
                lost.bytes = d->cfg.rank;
                decline_lose(e, d, &lost, d->cfg.rank);
            }
}
