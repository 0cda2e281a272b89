/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * setup: see setup.h.
 */
#include "setup.h"

#include <stdlib.h>
#include <string.h>

#include "../../core/base/minmax.h"
#include "../../core/base/prng.h"
#include "../../core/model/model.h"
#include "groups.h"
#include "group_impl.h"

#define CHANNELS_LEAST 4u      /* so many broadcasts are under way wherever so many may be */
#define JOIN_AGAIN_NS 1000000u /* a join that is under way is asked for that often */

/* Takes channel memory for pieces as long as wished, or, so that long ones of a few communicators
 * do not leave others without any, as short as serves: more than that is for half of the bound.
 * How long they are; 0: there is no memory. */
static size_t reserve_memory(struct hwmc_group *g, uint32_t frag_bytes)
{
    const size_t bound = g->wires->cfg.memory, used = g->all->memory_used;
    size_t piece = hwmc_max_u32(g->cfg.piece_bytes, frag_bytes);

    if (piece > HWMC_MODEL_PIECE && used + g->cfg.channels * piece > bound / 2)
        piece = hwmc_max_u32(HWMC_MODEL_PIECE, frag_bytes);
    if (used + g->cfg.channels * piece > bound)
        return 0;
    g->reserved = g->cfg.channels * piece;
    g->all->memory_used += g->reserved;
    return piece;
}

void hwmc_group_make_proposal(struct hwmc_group *g, struct hwmc_parameters *proposal)
{
    struct hwmc_groups *all = g->all;
    struct hwmc_fabric_attr attr;
    uint64_t name = (uint64_t) g->id.leader << 32 | all->generations;
    uint32_t rails_here =
        g->cfg.apart ? 0 : g->wires->rails.mask & (g->cfg.rails ? g->cfg.rails : ~0u);
    uint32_t rails = hwmc_spare_offer(&all->spare, rails_here);
    size_t piece;

    memset(proposal, 0, sizeof(*proposal));
    if (g->cfg.rank == 0) {
        proposal->generation = ++all->generations;
        proposal->seed = hwmc_prng(g->id.job, name);
    }
    if (rails == 0) {
        proposal->reason = rails_here ? HWMC_REASON_PROBE : HWMC_REASON_FABRIC;
        return;
    }
    hwmc_rails_attr(&g->wires->rails, rails, &attr);
    proposal->rails = rails;
    proposal->frag_bytes = (uint32_t) (attr.max_datagram - HWMC_WIRE_CAST_HEAD);
    proposal->window = (uint32_t) (attr.window < UINT32_MAX ? attr.window : UINT32_MAX);
    piece = reserve_memory(g, proposal->frag_bytes);
    if (piece == 0) {
        proposal->reason = HWMC_REASON_MEMORY;
        return;
    }
    /* By that all agree on pieces that there is memory for everywhere. */
    proposal->window = (uint32_t) hwmc_min_size(proposal->window, g->cfg.channels * piece);
    if (g->cfg.rank == 0 && hwmc_rails_draw(&g->wires->rails, &proposal->group) != HWMC_OK)
        proposal->reason = HWMC_REASON_FABRIC;
}

/* As many channels as wished, or, where a small receive buffer would leave each less than a quarter
 * of a burst, half of them, and so on: each piece costs a system call and a part of a
 * synchronization. Short broadcasts are synchronized more often then. */
static uint32_t agreed_channels(const struct hwmc_group *g)
{
    const uint32_t frag = g->negotiation.agreed.frag_bytes;
    const uint32_t frags = g->negotiation.agreed.window / frag;
    const uint32_t quarter = (hwmc_fabric_burst(frag + HWMC_WIRE_CAST_HEAD) + 3) / 4;
    const uint32_t least = hwmc_min_u32(quarter, g->cfg.piece_bytes / frag);
    uint32_t n = g->cfg.channels;

    while (n / 2 >= CHANNELS_LEAST && frags / n < least)
        n /= 2;
    return n;
}

/* What one broadcast may carry: as wished, at least a fragment, at most what all channels together
 * can leave unread in the smallest receive buffer, and what a request can name; whole bursts, if it
 * is longer than one: none is to end with a few datagrams. */
static uint32_t agreed_piece(const struct hwmc_group *g)
{
    const uint32_t frag = g->negotiation.agreed.frag_bytes;
    const uint32_t head = HWMC_WIRE_CAST_HEAD + (uint32_t) hwmc_wires_auth_bytes(g->wires);
    const uint32_t burst = hwmc_fabric_burst(frag + head);
    uint32_t n =
        hwmc_min_u32(g->cfg.piece_bytes, g->negotiation.agreed.window / g->cfg.channels) / frag;

    n = hwmc_min_u32(n, HWMC_WIRE_BITS_MAX);
    if (n > burst)
        n -= n % burst;
    return hwmc_max_u32(n, 1) * frag;
}

/* The shares of those rails change as they carry more or less. */
static void follow_rails(const struct hwmc_group *g, struct hwmc_stream_cfg *cfg)
{
    const struct hwmc_wires_cfg *e = &g->wires->cfg;
    uint32_t used = 0;

    for (uint32_t k = 0; k < e->num_rails && k < e->num_lanes; k++) {
        bool on = hwmc_wires_is_lane_on(e, k, g->cfg.rails);

        cfg->weights.speed[k] = on ? hwmc_max_u32(e->lane_mbit[k], 1) : 0;
        used += on;
    }
    cfg->weights.rails = used > 1 ? e->num_rails : 0;
    cfg->lanes = e->num_lanes;
    cfg->far_lanes = e->num_far_lanes;
}

static void set_channels(struct hwmc_group *g)
{
    const uint32_t n = agreed_channels(g);

    if (n == g->cfg.channels)
        return;
    g->cfg.channels = n;
    g->cfg.policy.first.period = hwmc_min_u32(g->cfg.policy.first.period, (n + 1) / 2);
}

/* False without memory. */
static bool start_stream(struct hwmc_group *g)
{
    const struct hwmc_parameters *t = &g->negotiation.agreed;
    bool casts = t->rails != 0;
    struct hwmc_stream_cfg cfg = {
        .size = g->cfg.size,
        .rank = g->cfg.rank,
        .policy = g->cfg.policy,
        .channels = g->cfg.channels,
        .fanout = g->cfg.fanout,
        .frag_bytes = casts ? t->frag_bytes : 1,
        .max_bytes = 1,
        .delay = g->cfg.delay,
        .delay_ns = g->cfg.delay_ns,
        .seed = t->seed,
        .trees = hwmc_trees_count(g->cfg.size, g->cfg.trees),
        .window = g->cfg.window,
        .far_window = g->cfg.far_window,
        .max_segments = g->cfg.trees > 0 ? HWMC_GROUP_SEGMENTS_MAX : 0,
        .sites = g->site_mem ? &g->sites : NULL,
        .counts = g->wires->counts,
    };

    cfg.policy.first.rails = (uint8_t) t->rails;
    hwmc_wires_shares(g->wires, g->cfg.rails, g->wires->cfg.num_lanes, &cfg.near);
    hwmc_wires_shares(g->wires, g->cfg.rails, g->wires->cfg.num_far_lanes, &cfg.far);
    if (g->cfg.adapt_lanes)
        follow_rails(g, &cfg);
    if (casts)
        g->piece_bytes = cfg.max_bytes = agreed_piece(g);
    g->stream_mem = malloc(hwmc_stream_footprint(&cfg));
    if (!g->stream_mem || !hwmc_blocks_open(g) ||
        (casts && hwmc_placement_open(&g->placement, g->cfg.channels, g->piece_bytes) != HWMC_OK))
        return false;
    hwmc_stream_init(&g->stream, &cfg, g->stream_mem);
    return true;
}

/* On the rails of `mask`, as far as it is in or about to be. */
static void leave_rails(struct hwmc_group *g, uint32_t mask)
{
    mask &= g->joined_rails | g->joining_rails;
    hwmc_rails_leave(&g->wires->rails, mask, g->negotiation.agreed.group);
    g->joined_rails &= ~mask;
    g->joining_rails &= ~mask;
}

static void begin_join(struct hwmc_group *g, uint64_t now)
{
    if (g->id.generation == 0) {
        g->id.generation = g->negotiation.agreed.generation;
        hwmc_names_has_generation(&g->all->names, g);
    }
    if (g->negotiation.agreed.rails != 0)
        set_channels(g);
    g->running = start_stream(g);
    g->joining_rails = g->running ? g->negotiation.agreed.rails : 0;
    g->join_end = now + g->cfg.join_ns;
}

/* Joins, or goes on to, and tells the agreement on which rails that worked once it is known of
 * each. */
static void join_rails(struct hwmc_group *g, uint64_t now)
{
    if (!g->running)
        begin_join(g, now);
    g->joined_rails |= hwmc_rails_join(&g->wires->rails, g->joining_rails,
                                       g->negotiation.agreed.group, &g->joining_rails);
    if (g->joining_rails != 0 && now < g->join_end) {
        g->join_at = now + JOIN_AGAIN_NS < g->join_end ? now + JOIN_AGAIN_NS : g->join_end;
        return;
    }
    leave_rails(g, g->joining_rails);
    hwmc_negotiation_on_joined(&g->negotiation, g->running, g->joined_rails, now);
}

/* Nobody has begun a broadcast yet: what was made ready for longer fragments is made anew. */
static void fit_stream(struct hwmc_group *g)
{
    hwmc_placement_close(&g->placement);
    hwmc_blocks_close(g);
    free(g->stream_mem);
    g->running = start_stream(g);
    hwmc_negotiation_on_fitted(&g->negotiation, g->running);
    g->wires->engine_counts->setup_shorter++;
}

static bool join_is_due(const struct hwmc_group *g, uint64_t now)
{
    return hwmc_negotiation_wants_join(&g->negotiation) &&
           (g->joining_rails == 0 || g->join_at <= now);
}

bool hwmc_group_is_asked(const struct hwmc_group *g, uint64_t now)
{
    return join_is_due(g, now) || hwmc_negotiation_wants_fit(&g->negotiation);
}

void hwmc_group_do_asked(struct hwmc_group *g, uint64_t now)
{
    if (join_is_due(g, now))
        join_rails(g, now);
    if (hwmc_negotiation_wants_fit(&g->negotiation))
        fit_stream(g);
}

static void leave_multicast(struct hwmc_group *g)
{
    hwmc_group_direct_leave(g);
    leave_rails(g, ~0u);
    g->casts = false;
    hwmc_rails_forget(&g->wires->rails, g->placement.channels,
                      (size_t) g->placement.n * g->placement.piece_bytes);
    hwmc_placement_close(&g->placement);
    g->all->memory_used -= g->reserved;
    g->reserved = 0;
}

void hwmc_group_leave(struct hwmc_group *g)
{
    leave_multicast(g);
    g->running = false;
    hwmc_blocks_close(g);
    hwmc_agenda_block(&g->all->agenda, g, false);
    free(g->stream_mem);
    g->stream_mem = NULL;
}

/* The one that this rank serves can be sent to from now on. */
static void meet_successor(const struct hwmc_group *g)
{
    struct hwmc_lane *lane = g->wires->cfg.lane;

    if (g->wires->cfg.meets)
        lane->ops->ready(lane, g->world[hwmc_ring_next(g->cfg.rank, g->cfg.size)]);
}

void hwmc_group_settle(struct hwmc_group *g)
{
    if (g->state != HWMC_GROUP_SETUP || !hwmc_negotiation_over(&g->negotiation))
        return;
    hwmc_spare_on_outcome(&g->all->spare, hwmc_negotiation_probed(&g->negotiation),
                          g->negotiation.missed);
    if (g->negotiation.phase == HWMC_NEGOTIATION_YES) {
        hwmc_group_enter(g, HWMC_GROUP_ON);
        g->casts = true;
        leave_rails(g, ~g->negotiation.agreed.rails);
        hwmc_stream_agreed(&g->stream, (uint8_t) g->negotiation.agreed.rails);
        hwmc_group_direct_init(g);
        meet_successor(g);
        g->wires->engine_counts->setup_on++;
        return;
    }
    g->reason = g->negotiation.agreed.reason;
    g->reason_rank = g->negotiation.agreed.rank;
    g->wires->engine_counts->setup_off++;
    if (g->negotiation.phase == HWMC_NEGOTIATION_LANES) {
        hwmc_group_enter(g, HWMC_GROUP_ON);
        hwmc_stream_agreed(&g->stream, 0);
        leave_multicast(g);
    } else {
        hwmc_group_enter(g, HWMC_GROUP_OFF);
        hwmc_group_leave(g);
    }
}
