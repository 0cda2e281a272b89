/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * decline: see decline.h.
 */
#include "decline.h"

#include <assert.h>

#include "../../core/failure/notice.h"
#include "groups.h"

static void decline_end(struct hwmc_groups *all, struct hwmc_decline *d)
{
    d->used = false;
    all->declines.num--;
}

void hwmc_decline_list(struct hwmc_decline_cfg *cfg)
{
    const uint32_t children = hwmc_tree_children(cfg->rank, cfg->size, cfg->fanout);
    uint32_t n = 0;

    cfg->neighbour[n++] = hwmc_ring_prev(cfg->rank, cfg->size);
    cfg->neighbour[n++] = hwmc_ring_next(cfg->rank, cfg->size);
    if (cfg->rank > 0)
        cfg->neighbour[n++] = hwmc_tree_parent(cfg->rank, cfg->fanout);
    for (uint32_t i = 0; i < children; i++)
        cfg->neighbour[n++] = (uint32_t) hwmc_tree_child(cfg->rank, i, cfg->fanout);
    cfg->num_neighbours = n;
}

/* Rank in MPI_COMM_WORLD of a neighbour. */
static uint32_t world_rank_of(const struct hwmc_decline_cfg *cfg, uint32_t rank)
{
    uint32_t i = 0;

    while (cfg->neighbour[i] != rank)
        i++;
    return cfg->world[i];
}

/* Sends what is due. The decline may be over then. */
static void decline_pump(struct hwmc_groups *all, struct hwmc_decline *d, uint64_t now)
{
    struct hwmc_msg tx;

    while (d->used && hwmc_negotiation_next_send(&d->negotiation, &tx, now))
        hwmc_wires_send(all->wires, world_rank_of(&d->cfg, tx.peer), &d->id, d->cfg.rank, &tx, NULL,
                        0);
    if (d->used && hwmc_negotiation_settled(&d->negotiation))
        decline_end(all, d);
}

bool hwmc_decline_begin(struct hwmc_groups *all, const struct hwmc_decline_cfg *cfg, uint64_t now)
{
    const struct hwmc_parameters proposal = {.reason = HWMC_REASON_NOMEM};
    struct hwmc_decline *d = all->declines.one;

    assert(cfg->size >= 2 && cfg->rank < cfg->size);
    if (all->declines.num == HWMC_DECLINES)
        return false;
    while (d->used)
        d++;
    all->declines.num++;
    all->wires->engine_counts->setup_off++;
    *d = (struct hwmc_decline){
        .used = true,
        .cfg = *cfg,
        .id = {.job = all->wires->cfg.job,
               .context = cfg->context,
               .leader = cfg->leader,
               .unchecked = hwmc_wires_unchecked(all->wires)},
    };
    /* Not by lanes: whatever a decision's reason is, it ends set-up here. */
    hwmc_negotiation_start(&d->negotiation, cfg->size, cfg->rank, cfg->fanout, cfg->key, &proposal,
                           false, 0);
    decline_pump(all, d, now);
    return true;
}

/* A member is lost: tells the neighbours, but for that one and `from`. Nothing is left to do
 * then. */
static void decline_lose(struct hwmc_groups *all, struct hwmc_decline *d,
                         const struct hwmc_msg *lost, uint32_t from)
{
    const struct hwmc_decline_cfg cfg = d->cfg;
    const struct hwmc_wire_id id = d->id;
    struct hwmc_msg tx = *lost;

    decline_end(all, d); /* first: a lane may fail meanwhile */
    for (uint32_t i = 0; i < cfg.num_neighbours; i++) {
        tx.peer = cfg.neighbour[i];
        if (tx.peer != from && tx.peer != lost->lost.rank)
            hwmc_wires_send(all->wires, cfg.world[i], &id, cfg.rank, &tx, NULL, 0);
    }
}

static bool is_for(const struct hwmc_decline *d, const struct hwmc_wire_in *in)
{
    return d->used && in->id.generation == 0 && in->id.leader == d->id.leader &&
           in->id.context == d->id.context && in->msg.bid == d->cfg.key;
}

static void on_lost_msg(struct hwmc_groups *all, struct hwmc_decline *d, const struct hwmc_msg *msg)
{
    if (!hwmc_notice_formed(msg, d->cfg.size))
        all->wires->counts->bad++;
    else
        decline_lose(all, d, msg, msg->peer);
}

bool hwmc_decline_on_recv(struct hwmc_groups *all, const struct hwmc_wire_in *in, uint64_t now)
{
    struct hwmc_decline *d = all->declines.one, *end = d + HWMC_DECLINES;

    if (all->declines.num == 0 || !hwmc_wire_is_by_key(in->msg.type))
        return false;
    while (d < end && !is_for(d, in))
        d++;
    if (d == end)
        return false;
    if (in->msg.type == HWMC_MSG_LOST) {
        on_lost_msg(all, d, &in->msg);
        return true;
    }
    if (hwmc_negotiation_on_recv(&d->negotiation, &in->msg, now) == HWMC_BAD)
        all->wires->counts->bad++;
    decline_pump(all, d, now);
    return true;
}

void hwmc_decline_on_lost(struct hwmc_groups *all, uint32_t world_rank)
{
    struct hwmc_msg lost = {.type = HWMC_MSG_LOST, .lost = {.stage = HWMC_STAGE_SETUP}};

    for (struct hwmc_decline *d = all->declines.one; d < all->declines.one + HWMC_DECLINES; d++)
        for (uint32_t i = 0; d->used && i < d->cfg.num_neighbours; i++)
            if (d->cfg.world[i] == world_rank) {
                lost.bid = d->cfg.key;
                lost.lost.rank = d->cfg.neighbour[i];
                lost.lost.finder = d->cfg.rank;
                decline_lose(all, d, &lost, d->cfg.rank);
            }
}
