/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * group: see group.h.
 */
#include "group.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "group_impl.h"
#include "group_setup.h"

/* False without memory. */
static bool find_sites(struct bcast_hw_group *g, const struct bcast_hw_group_cfg *cfg)
{
    g->cfg.site = NULL;
    if (!cfg->site)
        return true;
    g->site_mem = malloc(bcast_hw_sites_words(cfg->size) * sizeof(*g->site_mem));
    if (g->site_mem)
        bcast_hw_sites_init(&g->sites, cfg->size, cfg->site, g->site_mem);
    return g->site_mem != NULL;
}

struct bcast_hw_group *bcast_hw_group_create(struct bcast_hw_engine *e,
                                             const struct bcast_hw_group_cfg *cfg, uint64_t now)
{
    struct bcast_hw_group *g = calloc(1, sizeof(*g));
    struct bcast_hw_terms offer;

    assert(cfg->size >= 2 && cfg->rank < cfg->size);
    if (!g)
        return NULL;
    g->cfg = *cfg;
    g->world = malloc(cfg->size * sizeof(*g->world));
    if (!g->world || !find_sites(g, cfg) || !bcast_hw_agenda_add(&e->agenda, g)) {
        free(g->site_mem);
        free(g->world);
        free(g);
        return NULL;
    }
    memcpy(g->world, cfg->world, cfg->size * sizeof(*g->world));
    g->cfg.world = g->world;
    g->engine = e;
    g->number = ++e->groups_made;
    g->id = (struct bcast_hw_wire_id){
        .job = e->cfg.job,
        .context = cfg->context,
        .leader = g->world[0],
        .unchecked = e->cfg.integrity != BCAST_HW_INTEGRITY_CRC32C,
    };
    bcast_hw_group_make_offer(g, &offer);
    bcast_hw_agree_start(&g->agree, cfg->size, cfg->rank, cfg->fanout, cfg->key, &offer,
                         cfg->trees > 0, cfg->probe_ns);
    g->next = e->groups;
    if (g->next)
        g->next->prev = g;
    e->groups = g;
    bcast_hw_names_add(&e->names, g);
    bcast_hw_agenda_touch(&e->agenda, g);
    if (!cfg->later)
        bcast_hw_group_pump(g, now);
    return g;
}

/* The program is through with it, and so is set-up. */
static void begin_closing(struct bcast_hw_group *g)
{
    if (g->state == BCAST_HW_GROUP_ON) {
        g->state = BCAST_HW_GROUP_CLOSING;
        bcast_hw_stream_close(&g->stream);
    } else if (g->state == BCAST_HW_GROUP_OFF) {
        g->over = true;
    }
}

/* What a probe carries to be as long as what it stands for. */
static const unsigned char padding[BCAST_HW_WIRE_PROBE_MAX];

/* Sends a message; DATA: `n` fragments in a row, msg->index being the first. */
static void transmit(struct bcast_hw_group *g, const struct bcast_hw_msg *msg, uint32_t n)
{
    const void *body = NULL;
    uint32_t len = 0;

    if (msg->type == BCAST_HW_MSG_SEGMENT && !(msg->flags & BCAST_HW_FLAG_VOID)) {
        body = bcast_hw_group_segment_at(g, msg, &len);
        bcast_hw_engine_send_from(g->engine, g->world[msg->peer], g, msg, body, len);
        return;
    }
    if (msg->type == BCAST_HW_MSG_DATA) {
        body = bcast_hw_homes_of(&g->homes, msg->bid, msg->bytes) +
               (size_t) msg->index * g->stream.ring.frag_bytes;
        len = bcast_hw_group_run_len(g, msg, n);
    }
    if (msg->type == BCAST_HW_MSG_PROBE) {
        body = padding;
        len = bcast_hw_wire_probe_len(msg->bytes);
    }
    if (msg->multicast)
        bcast_hw_engine_cast(g->engine, g->agree.agreed.group, &g->id, g->cfg.rank, msg, body, len);
    else
        bcast_hw_engine_send(g->engine, g->world[msg->peer], &g->id, g->cfg.rank, msg, body, len);
}

static uint64_t next_timer(const struct bcast_hw_group *g)
{
    uint64_t setup = bcast_hw_agree_next_timer(&g->agree);
    uint64_t stream = g->running ? bcast_hw_stream_next_timer(&g->stream) : BCAST_HW_NEVER;
    uint64_t rejoin = bcast_hw_rejoin_next_timer(&g->rejoin);
    uint64_t first = setup < stream ? setup : stream;

    first = rejoin < first ? rejoin : first;
    if (g->joining_rails == 0 || !bcast_hw_agree_wants_join(&g->agree))
        return first;
    return g->join_at < first ? g->join_at : first;
}

/* What can be multicast now. The best rail is one of those that what is being multicast may go
 * on. */
static struct bcast_hw_room room(struct bcast_hw_group *g, uint64_t now)
{
    const struct bcast_hw_terms *t = &g->agree.agreed;
    uint8_t casting = g->running ? bcast_hw_stream_casting(&g->stream) : 0;

    return bcast_hw_rails_room(&g->engine->rails, t->rails, casting ? casting : t->rails, t->group,
                               now);
}

static bool by_lane(const struct bcast_hw_msg *msg)
{
    return msg->type == BCAST_HW_MSG_DATA && !msg->multicast;
}

/* Fragment `msg` goes the way of the `n` from `run` on, and comes next. */
static bool continues(const struct bcast_hw_msg *run, uint32_t n, const struct bcast_hw_msg *msg)
{
    return by_lane(msg) && msg->peer == run->peer && msg->bid == run->bid &&
           msg->index == run->index + n && msg->flags == run->flags;
}

/* Fragments in a row for the same peer go as one message. */
static void pump_stream(struct bcast_hw_group *g, uint64_t now)
{
    struct bcast_hw_msg run, tx;
    uint32_t n = 0; /* fragments in run */

    while (bcast_hw_stream_next_send(&g->stream, room(g, now), &tx, now)) {
        if (n > 0 && continues(&run, n, &tx)) {
            n++;
            continue;
        }
        if (n > 0)
            transmit(g, &run, n);
        n = by_lane(&tx) ? 1 : 0;
        run = tx;
        if (n == 0)
            transmit(g, &tx, 1);
    }
    if (n > 0)
        transmit(g, &run, n);
    bcast_hw_agenda_block(&g->engine->agenda, g,
                          bcast_hw_stream_casts(&g->stream, (struct bcast_hw_room){0xff, 0xff}));
}

/* A probe that finds no room is lost: the next one follows. */
static void pump_agree(struct bcast_hw_group *g, uint64_t now)
{
    struct bcast_hw_msg tx;

    do {
        bcast_hw_group_do_asked(g, now);
        while (bcast_hw_agree_next_send(&g->agree, &tx, now))
            if (!tx.multicast || (room(g, now).each >> tx.rail & 1))
                transmit(g, &tx, 1);
    } while (bcast_hw_group_is_asked(g, now));
}

/* On rails that broadcasts have left. */
static void rejoin(struct bcast_hw_group *g, uint64_t now)
{
    uint8_t left = g->state == BCAST_HW_GROUP_ON
                       ? (uint8_t) (g->joined_rails & ~(uint32_t) g->stream.epoch.now.rails)
                       : 0;
    uint8_t due = bcast_hw_rejoin_due(&g->rejoin, left, g->cfg.pause_ns, g->cfg.pause_max_ns, now);

    g->engine->counts->rejoins += (uint64_t) __builtin_popcount(due);
    bcast_hw_rails_refresh(&g->engine->rails, due, g->agree.agreed.group);
}

static void show(struct bcast_hw_group *g)
{
    const bool first = !g->shown;

    if (g->state != BCAST_HW_GROUP_ON || !g->engine->cfg.show ||
        (g->shown && g->shown_epoch == g->stream.epoch.number))
        return;
    g->shown = true;
    g->shown_epoch = g->stream.epoch.number;
    g->engine->cfg.show(g, first);
}

/* A broadcast along trees has begun, or is over. */
static void note_trees(struct bcast_hw_group *g)
{
    bcast_hw_agenda_by_trees(&g->engine->agenda, g,
                             g->running && g->stream.multilane.phase == BCAST_HW_MULTILANE_RUN);
}

/* It goes when the engine comes to it. */
static void end(struct bcast_hw_group *g)
{
    g->over = true;
    bcast_hw_agenda_touch(&g->engine->agenda, g);
}

void bcast_hw_group_pump(struct bcast_hw_group *g, uint64_t now)
{
    struct bcast_hw_agenda *agenda = &g->engine->agenda;

    bcast_hw_agenda_done(agenda, g);
    if (g->over || g->state == BCAST_HW_GROUP_BROKEN) {
        bcast_hw_group_tell_lost(g);
        bcast_hw_agenda_wake(agenda, g, BCAST_HW_NEVER);
        bcast_hw_agenda_block(agenda, g, false);
        note_trees(g);
        if (g->over)
            end(g);
        return;
    }
    if (next_timer(g) <= now) {
        bcast_hw_agree_on_timer(&g->agree, now);
        if (g->running)
            bcast_hw_stream_on_timer(&g->stream, now);
    }
    pump_agree(g, now);
    bcast_hw_group_settle(g);
    if (g->leaving)
        begin_closing(g);
    show(g);
    if (g->running)
        pump_stream(g, now);
    rejoin(g, now);
    bcast_hw_rails_flush(&g->engine->rails, now);
    if (g->state == BCAST_HW_GROUP_CLOSING)
        g->over = bcast_hw_stream_closed(&g->stream);
    bcast_hw_agenda_wake(agenda, g, next_timer(g));
    note_trees(g);
    if (g->over)
        end(g);
}

bool bcast_hw_group_unblocked(struct bcast_hw_group *g, uint64_t now)
{
    return bcast_hw_stream_casts(&g->stream, room(g, now));
}

void bcast_hw_group_close(struct bcast_hw_group *g, uint64_t now)
{
    bcast_hw_group_pump(g, now);
    g->leaving = true;
    if (g->state == BCAST_HW_GROUP_SETUP)
        bcast_hw_agree_leave(&g->agree);
    if (g->over || g->state == BCAST_HW_GROUP_BROKEN)
        end(g);
    else
        bcast_hw_group_pump(g, now);
}

void bcast_hw_group_free(struct bcast_hw_group *g)
{
    struct bcast_hw_engine *e = g->engine;

    bcast_hw_group_leave(g);
    bcast_hw_names_remove(&e->names, g);
    bcast_hw_agenda_remove(&e->agenda, g);
    if (g->prev)
        g->prev->next = g->next;
    else
        e->groups = g->next;
    if (g->next)
        g->next->prev = g->prev;
    free(g->site_mem);
    free(g->world);
    free(g);
}
