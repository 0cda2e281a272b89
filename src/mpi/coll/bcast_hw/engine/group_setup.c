/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * group_setup: see group_setup.h.
 */
#include "group_setup.h"

#include <stdlib.h>
#include <string.h>

#include "../core/prng.h"
#include "engine.h"

#define JOIN_AGAIN_NS 1000000u /* a join that is under way is asked for that often */

static uint32_t max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

void bcast_hw_group_make_offer(struct bcast_hw_group *g, struct bcast_hw_terms *offer)
{
    struct bcast_hw_engine *e = g->engine;
    struct bcast_hw_fabric_attr attr;
    uint64_t name = (uint64_t) g->id.leader << 32 | e->generations;
    uint32_t all = e->rails.mask & (g->cfg.rails ? g->cfg.rails : ~0u);
    uint32_t rails = bcast_hw_spare_offer(&e->spare, all);
    size_t piece;

    memset(offer, 0, sizeof(*offer));
    if (g->cfg.rank == 0) {
        offer->generation = ++e->generations;
        offer->seed = bcast_hw_prng(g->id.job, name);
    }
    if (rails == 0) {
        offer->reason = all ? BCAST_HW_REASON_PROBE : BCAST_HW_REASON_FABRIC;
        return;
    }
    bcast_hw_rails_attr(&e->rails, rails, &attr);
    offer->rails = rails;
    offer->frag_bytes = (uint32_t) (attr.max_datagram - BCAST_HW_WIRE_CAST_HEAD);
    offer->window = (uint32_t) (attr.window < UINT32_MAX ? attr.window : UINT32_MAX);
    piece = g->cfg.piece_bytes > offer->frag_bytes ? g->cfg.piece_bytes : offer->frag_bytes;
    if (e->memory_used + g->cfg.channels * piece > e->cfg.memory) {
        offer->reason = BCAST_HW_REASON_MEMORY;
        return;
    }
    g->reserved = g->cfg.channels * piece;
    e->memory_used += g->reserved;
    if (g->cfg.rank == 0 && bcast_hw_rails_draw(&e->rails, &offer->group) != BCAST_HW_OK)
        offer->reason = BCAST_HW_REASON_FABRIC;
}

/* What one broadcast may carry: as wished, at least a fragment, at most what all channels together
 * can leave unread in the smallest receive buffer, and what a request can name. */
static uint32_t agreed_piece(const struct bcast_hw_group *g)
{
    uint32_t frag = g->agree.agreed.frag_bytes;
    uint32_t piece = min_u32(g->cfg.piece_bytes, g->agree.agreed.window / g->cfg.channels);

    piece =
        piece / frag < BCAST_HW_WIRE_BITS_MAX ? piece / frag * frag : BCAST_HW_WIRE_BITS_MAX * frag;
    return piece > frag ? piece : frag;
}

/* Segments to those of the first `lanes` lanes that are on the group's rails, by their rails'
 * speeds; where none is, to all alike. */
static void deal(const struct bcast_hw_group *g, uint32_t lanes, struct bcast_hw_deal *d)
{
    const struct bcast_hw_engine_cfg *e = &g->engine->cfg;
    const uint32_t rails = bcast_hw_engine_lanes_on(g->engine, g->cfg.rails) ? g->cfg.rails : 0;
    uint32_t mbit[BCAST_HW_LANES_MAX] = {0};

    for (uint32_t i = 0; i < lanes; i++)
        if (bcast_hw_engine_is_lane_on(e, i, rails))
            mbit[i] = max_u32(e->lane_mbit[i % e->num_rails], 1);
    bcast_hw_deal_init(d, max_u32(lanes, 1), mbit);
}

/* The shares of those rails change as they carry more or less. */
static void follow_rails(const struct bcast_hw_group *g, struct bcast_hw_stream_cfg *cfg)
{
    const struct bcast_hw_engine_cfg *e = &g->engine->cfg;
    uint32_t used = 0;

    for (uint32_t k = 0; k < e->num_rails && k < e->num_lanes; k++) {
        bool on = bcast_hw_engine_is_lane_on(e, k, g->cfg.rails);

        cfg->lag.speed[k] = on ? max_u32(e->lane_mbit[k], 1) : 0;
        used += on;
    }
    cfg->lag.rails = used > 1 ? e->num_rails : 0;
    cfg->lanes = e->num_lanes;
    cfg->far_lanes = e->num_far_lanes;
}

/* False without memory. */
static bool start_stream(struct bcast_hw_group *g)
{
    const struct bcast_hw_terms *t = &g->agree.agreed;
    bool casts = t->rails != 0;
    struct bcast_hw_stream_cfg cfg = {
        .size = g->cfg.size,
        .rank = g->cfg.rank,
        .push = g->cfg.push,
        .adapt_repair = g->cfg.adapt_repair,
        .adapt_period = g->cfg.adapt_period,
        .rails = (uint8_t) t->rails,
        .stay = g->cfg.stay,
        .pause_ns = g->cfg.pause_ns,
        .pause_max_ns = g->cfg.pause_max_ns,
        .channels = g->cfg.channels,
        .period = g->cfg.period,
        .fanout = g->cfg.fanout,
        .frag_bytes = casts ? t->frag_bytes : 1,
        .max_bytes = 1,
        .delay = g->cfg.delay,
        .delay_ns = g->cfg.delay_ns,
        .seed = t->seed,
        .trees = bcast_hw_trees_count(g->cfg.size, g->cfg.trees),
        .window = g->cfg.window,
        .far_window = g->cfg.far_window,
        .max_segments = g->cfg.trees > 0 ? BCAST_HW_GROUP_SEGMENTS_MAX : 0,
        .sites = g->site_mem ? &g->sites : NULL,
        .counts = g->engine->counts,
    };

    deal(g, g->engine->cfg.num_lanes, &cfg.near);
    deal(g, g->engine->cfg.num_far_lanes, &cfg.far);
    if (g->cfg.adapt_lanes)
        follow_rails(g, &cfg);
    if (casts)
        g->piece_bytes = cfg.max_bytes = agreed_piece(g);
    g->stream_mem = malloc(bcast_hw_stream_footprint(&cfg));
    if (!g->stream_mem ||
        (casts && bcast_hw_homes_open(&g->homes, g->cfg.channels, g->piece_bytes) != BCAST_HW_OK))
        return false;
    bcast_hw_stream_init(&g->stream, &cfg, g->stream_mem);
    return true;
}

/* On the rails of `mask`, as far as it is in or about to be. */
static void leave_rails(struct bcast_hw_group *g, uint32_t mask)
{
    mask &= g->joined_rails | g->joining_rails;
    bcast_hw_rails_leave(&g->engine->rails, mask, g->agree.agreed.group);
    g->joined_rails &= ~mask;
    g->joining_rails &= ~mask;
}

static void begin_join(struct bcast_hw_group *g, uint64_t now)
{
    if (g->id.generation == 0) {
        g->id.generation = g->agree.agreed.generation;
        bcast_hw_names_has_generation(&g->engine->names, g);
    }
    g->running = start_stream(g);
    g->joining_rails = g->running ? g->agree.agreed.rails : 0;
    g->join_end = now + g->cfg.join_ns;
}

/* Joins, or goes on to, and tells the agreement on which rails that worked once it is known of
 * each. */
static void join(struct bcast_hw_group *g, uint64_t now)
{
    if (!g->running)
        begin_join(g, now);
    g->joined_rails |= bcast_hw_rails_join(&g->engine->rails, g->joining_rails,
                                           g->agree.agreed.group, &g->joining_rails);
    if (g->joining_rails != 0 && now < g->join_end) {
        g->join_at = now + JOIN_AGAIN_NS < g->join_end ? now + JOIN_AGAIN_NS : g->join_end;
        return;
    }
    leave_rails(g, g->joining_rails);
    bcast_hw_agree_on_joined(&g->agree, g->running, g->joined_rails, now);
}

/* Nobody has begun a broadcast yet: what was made ready for longer fragments is made anew. */
static void fit(struct bcast_hw_group *g)
{
    bcast_hw_homes_close(&g->homes);
    free(g->stream_mem);
    g->running = start_stream(g);
    bcast_hw_agree_on_fitted(&g->agree, g->running);
    g->engine->engine_counts->setup_shorter++;
}

static bool join_is_due(const struct bcast_hw_group *g, uint64_t now)
{
    return bcast_hw_agree_wants_join(&g->agree) && (g->joining_rails == 0 || g->join_at <= now);
}

bool bcast_hw_group_is_asked(const struct bcast_hw_group *g, uint64_t now)
{
    return join_is_due(g, now) || bcast_hw_agree_wants_fit(&g->agree);
}

void bcast_hw_group_do_asked(struct bcast_hw_group *g, uint64_t now)
{
    if (join_is_due(g, now))
        join(g, now);
    if (bcast_hw_agree_wants_fit(&g->agree))
        fit(g);
}

static void leave_multicast(struct bcast_hw_group *g)
{
    leave_rails(g, ~0u);
    g->casts = false;
    bcast_hw_rails_forget(&g->engine->rails, g->homes.channels,
                          (size_t) g->homes.n * g->homes.piece_bytes);
    bcast_hw_homes_close(&g->homes);
    g->engine->memory_used -= g->reserved;
    g->reserved = 0;
}

void bcast_hw_group_leave(struct bcast_hw_group *g)
{
    leave_multicast(g);
    g->running = false;
    bcast_hw_agenda_block(&g->engine->agenda, g, false);
    free(g->stream_mem);
    g->stream_mem = NULL;
}

/* The one that this rank serves can be sent to from now on. */
static void meet(const struct bcast_hw_group *g)
{
    struct bcast_hw_lane *lane = g->engine->cfg.lane;

    if (g->engine->cfg.meets)
        lane->ops->ready(lane, g->world[bcast_hw_ring_next(g->cfg.rank, g->cfg.size)]);
}

void bcast_hw_group_settle(struct bcast_hw_group *g)
{
    if (g->state != BCAST_HW_GROUP_SETUP || !bcast_hw_agree_over(&g->agree))
        return;
    bcast_hw_spare_on_outcome(&g->engine->spare, bcast_hw_agree_probed(&g->agree), g->agree.missed);
    if (g->agree.phase == BCAST_HW_AGREE_YES) {
        g->state = BCAST_HW_GROUP_ON;
        g->casts = true;
        leave_rails(g, ~g->agree.agreed.rails);
        bcast_hw_stream_agreed(&g->stream, (uint8_t) g->agree.agreed.rails);
        meet(g);
        g->engine->engine_counts->setup_on++;
        return;
    }
    g->reason = g->agree.agreed.reason;
    g->reason_rank = g->agree.agreed.rank;
    g->engine->engine_counts->setup_off++;
    if (g->agree.phase == BCAST_HW_AGREE_LANES) {
        g->state = BCAST_HW_GROUP_ON;
        bcast_hw_stream_agreed(&g->stream, 0);
        leave_multicast(g);
    } else {
        g->state = BCAST_HW_GROUP_OFF;
        bcast_hw_group_leave(g);
    }
}
