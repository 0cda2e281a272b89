/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * group: see engine/group/group.h.
 */
#include "group.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "groups.h"
#include "group_impl.h"
#include "setup.h"

/* False without memory. */
static bool find_sites(struct hwmc_group *g, const struct hwmc_group_cfg *cfg)
{
    g->cfg.site = NULL;
    if (!cfg->site)
        return true;
    g->site_mem = malloc(hwmc_sites_words(cfg->size) * sizeof(*g->site_mem));
    if (g->site_mem)
        hwmc_sites_init(&g->sites, cfg->size, cfg->site, g->site_mem);
    return g->site_mem != NULL;
}

struct hwmc_group *hwmc_group_create(struct hwmc_groups *all, const struct hwmc_group_cfg *cfg,
                                     uint64_t now)
{
    struct hwmc_group *g = calloc(1, sizeof(*g));
    struct hwmc_parameters proposal;

    assert(cfg->size >= 2 && cfg->rank < cfg->size);
    if (!g)
        return NULL;
    g->cfg = *cfg;
    g->world = malloc(cfg->size * sizeof(*g->world));
    if (!g->world || !find_sites(g, cfg) || !hwmc_agenda_add(&all->agenda, g)) {
        free(g->site_mem);
        free(g->world);
        free(g);
        return NULL;
    }
    memcpy(g->world, cfg->world, cfg->size * sizeof(*g->world));
    g->cfg.world = g->world;
    g->all = all;
    g->wires = all->wires;
    g->number = ++all->made;
    g->id = (struct hwmc_wire_id){
        .job = all->wires->cfg.job,
        .context = cfg->context,
        .leader = g->world[0],
        .unchecked = hwmc_wires_unchecked(all->wires),
    };
    hwmc_group_direct_init(g);
    hwmc_notice_init(&g->loss, cfg->size, cfg->rank, cfg->fanout, cfg->key);
    hwmc_group_make_proposal(g, &proposal);
    hwmc_negotiation_start(&g->negotiation, cfg->size, cfg->rank, cfg->fanout, cfg->key, &proposal,
                           cfg->trees > 0, cfg->probe_ns);
    g->next = all->first;
    if (g->next)
        g->next->prev = g;
    all->first = g;
    hwmc_names_add(&all->names, g);
    hwmc_agenda_touch(&all->agenda, g);
    if (!cfg->later)
        hwmc_group_pump(g, now);
    return g;
}

/* The program is through with it, and so is set-up. */
static void begin_closing(struct hwmc_group *g)
{
    if (g->state == HWMC_GROUP_ON) {
        hwmc_group_enter(g, HWMC_GROUP_CLOSING);
        hwmc_stream_close(&g->stream);
    } else if (g->state == HWMC_GROUP_OFF) {
        g->over = true;
    }
}

/* What a probe carries to be as long as what it stands for. */
static const unsigned char probe_padding[HWMC_WIRE_PROBE_MAX];

/* Sends a message; DATA: `n` fragments in a row, msg->data.index being the first. */
static void transmit_msg(struct hwmc_group *g, const struct hwmc_msg *msg, uint32_t n)
{
    const void *body = NULL;
    uint32_t len = 0;

    if (msg->type == HWMC_MSG_SEGMENT && !(msg->flags & HWMC_FLAG_VOID)) {
        body = hwmc_group_segment_at(g, msg, &len);
        hwmc_group_send_pinned(g, msg, msg->segment.lane, msg->segment.token, body, len);
        return;
    }
    if (msg->type == HWMC_MSG_DATA) {
        body = hwmc_placement_of(&g->placement, msg->bid, msg->data.bytes) +
               (size_t) msg->data.index * g->stream.ring.frag_bytes;
        len = hwmc_group_run_len(g, msg, n);
    }
    if (msg->type == HWMC_MSG_PROBE) {
        body = probe_padding;
        len = hwmc_wire_probe_len(msg->probe.bytes);
    }
    if (msg->multicast) {
        const struct hwmc_rails_to to = {g->negotiation.agreed.group, hwmc_group_direct_to(g, msg)};

        hwmc_wires_cast(g->wires, &to, &g->id, g->cfg.rank, msg, body, len);
    } else {
        hwmc_wires_send(g->wires, g->world[msg->peer], &g->id, g->cfg.rank, msg, body, len);
    }
}

static uint64_t next_timer(const struct hwmc_group *g)
{
    uint64_t setup = hwmc_negotiation_next_timer(&g->negotiation);
    uint64_t stream = g->running ? hwmc_stream_next_timer(&g->stream) : HWMC_NEVER;
    uint64_t rejoin = hwmc_rejoin_next_timer(&g->rejoin);
    uint64_t blocks = g->running ? hwmc_exchange_next_timer(&g->blocks.exchange) : HWMC_NEVER;
    uint64_t first = setup < stream ? setup : stream;

    first = rejoin < first ? rejoin : first;
    first = blocks < first ? blocks : first;
    if (g->joining_rails == 0 || !hwmc_negotiation_wants_join(&g->negotiation))
        return first;
    return g->join_at < first ? g->join_at : first;
}

/* What can be multicast now. The best rail is one of those that what is being multicast may go
 * on. */
static struct hwmc_room cast_room(struct hwmc_group *g, uint64_t now)
{
    const struct hwmc_parameters *t = &g->negotiation.agreed;
    uint8_t casting = g->running ? hwmc_stream_casting(&g->stream) : 0;

    return hwmc_rails_room(&g->wires->rails, t->rails, casting ? casting : t->rails, t->group, now);
}

static bool by_lane(const struct hwmc_msg *msg)
{
    return msg->type == HWMC_MSG_DATA && !msg->multicast;
}

/* Fragment `msg` goes the way of the `n` from `run` on, and comes next. */
static bool continues_run(const struct hwmc_msg *run, uint32_t n, const struct hwmc_msg *msg)
{
    return by_lane(msg) && msg->peer == run->peer && msg->bid == run->bid &&
           msg->data.index == run->data.index + n && msg->flags == run->flags;
}

/* Fragments in a row for the same peer go as one message. */
static void pump_stream(struct hwmc_group *g, uint64_t now)
{
    struct hwmc_msg run, tx;
    uint32_t n = 0; /* fragments in run */

    while (hwmc_stream_next_send(&g->stream, cast_room(g, now), &tx, now)) {
        if (n > 0 && continues_run(&run, n, &tx)) {
            n++;
            continue;
        }
        if (n > 0)
            transmit_msg(g, &run, n);
        n = by_lane(&tx) ? 1 : 0;
        run = tx;
        if (n == 0)
            transmit_msg(g, &tx, 1);
    }
    if (n > 0)
        transmit_msg(g, &run, n);
    hwmc_agenda_block(&g->all->agenda, g,
                      hwmc_stream_casts(&g->stream, (struct hwmc_room){0xff, 0xff}));
}

/* A probe that finds no room is lost: the next one follows. */
static void pump_negotiation(struct hwmc_group *g, uint64_t now)
{
    struct hwmc_msg tx;

    do {
        hwmc_group_do_asked(g, now);
        while (hwmc_negotiation_next_send(&g->negotiation, &tx, now))
            if (!tx.multicast || (cast_room(g, now).each >> tx.rail & 1))
                transmit_msg(g, &tx, 1);
    } while (hwmc_group_is_asked(g, now));
}

/* On rails that broadcasts have left. */
static void rejoin_rails(struct hwmc_group *g, uint64_t now)
{
    uint8_t left = g->state == HWMC_GROUP_ON
                       ? (uint8_t) (g->joined_rails & ~(uint32_t) g->stream.epoch.now.rails)
                       : 0;
    uint8_t due =
        hwmc_rejoin_due(&g->rejoin, left, g->cfg.policy.pause_ns, g->cfg.policy.pause_max_ns, now);

    g->wires->counts->rejoins += (uint64_t) __builtin_popcount(due);
    hwmc_rails_refresh(&g->wires->rails, due, g->negotiation.agreed.group);
}

static void show_epoch(struct hwmc_group *g)
{
    const bool first = g->shown == 0;

    if (g->state != HWMC_GROUP_ON || !g->wires->cfg.show || g->shown == g->stream.epoch.number + 1)
        return;
    g->shown = g->stream.epoch.number + 1;
    g->wires->cfg.show(g, first);
}

/* A broadcast along trees or an exchange has begun, or is over. */
static void note_trees(struct hwmc_group *g)
{
    hwmc_agenda_by_trees(&g->all->agenda, g,
                         g->running && (g->stream.multilane.phase == HWMC_MULTILANE_RUN ||
                                        hwmc_blocks_use_lanes(&g->blocks)));
}

/* It goes when the engine comes to it. A loss that ended it may have been found in the pump that
 * ends here: then nobody was told yet. */
static void group_end(struct hwmc_group *g)
{
    g->over = true;
    hwmc_group_tell_lost(g);
    hwmc_agenda_touch(&g->all->agenda, g);
}

void hwmc_group_pump(struct hwmc_group *g, uint64_t now)
{
    struct hwmc_agenda *agenda = &g->all->agenda;

    hwmc_agenda_done(agenda, g);
    if (g->over || g->state == HWMC_GROUP_BROKEN) {
        hwmc_group_tell_lost(g);
        hwmc_agenda_wake(agenda, g, HWMC_NEVER);
        hwmc_agenda_block(agenda, g, false);
        note_trees(g);
        if (g->over)
            group_end(g);
        return;
    }
    if (next_timer(g) <= now) {
        hwmc_negotiation_on_timer(&g->negotiation, now);
        if (g->running) {
            hwmc_stream_on_timer(&g->stream, now);
            hwmc_exchange_on_timer(&g->blocks.exchange, now);
        }
    }
    pump_negotiation(g, now);
    hwmc_group_settle(g);
    if (g->leaving)
        begin_closing(g);
    show_epoch(g);
    if (g->running) {
        pump_stream(g, now);
        hwmc_blocks_pump(g);
    }
    rejoin_rails(g, now);
    hwmc_rails_flush(&g->wires->rails, now);
    if (g->state == HWMC_GROUP_CLOSING)
        g->over = hwmc_stream_closed(&g->stream);
    hwmc_agenda_wake(agenda, g, next_timer(g));
    note_trees(g);
    if (g->over)
        group_end(g);
}

void hwmc_group_pump_blocks(struct hwmc_group *g)
{
    hwmc_blocks_pump(g);
    hwmc_agenda_wake(&g->all->agenda, g, next_timer(g));
    note_trees(g);
}

bool hwmc_group_unblocked(struct hwmc_group *g, uint64_t now)
{
    return hwmc_stream_casts(&g->stream, cast_room(g, now));
}

void hwmc_group_close(struct hwmc_group *g, uint64_t now)
{
    hwmc_group_pump(g, now);
    g->leaving = true;
    if (g->state == HWMC_GROUP_SETUP)
        hwmc_negotiation_leave(&g->negotiation);
    if (g->over || g->state == HWMC_GROUP_BROKEN)
        group_end(g);
    else
        hwmc_group_pump(g, now);
}

void hwmc_group_free(struct hwmc_group *g)
{
    struct hwmc_groups *all = g->all;

    hwmc_group_leave(g);
    hwmc_names_remove(&all->names, g);
    if (all->pinned == g)
        all->pinned = NULL;
    hwmc_agenda_remove(&all->agenda, g);
    if (g->prev)
        g->prev->next = g->next;
    else
        all->first = g->next;
    if (g->next)
        g->next->prev = g->prev;
    free(g->site_mem);
    free(g->world);
    free(g);
}
