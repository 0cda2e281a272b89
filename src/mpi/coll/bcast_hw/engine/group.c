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
#include "group_setup.h"

#define SPREAD_FRAGS 8u /* from this many on a broadcast is spread over the rails */

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

/* Payload bytes of `n` fragments in a row, msg->index being the first. */
static uint32_t run_len(const struct bcast_hw_group *g, const struct bcast_hw_msg *msg, uint32_t n)
{
    uint32_t frag = g->stream.ring.frag_bytes;

    return (n - 1) * frag + bcast_hw_frag_len(msg->bytes, frag, msg->index + n - 1);
}

/* The part of the message along trees that is in `msg`. */
static unsigned char *segment_at(const struct bcast_hw_group *g, const struct bcast_hw_msg *msg,
                                 uint32_t *len)
{
    uint32_t at = bcast_hw_multilane_at(&g->stream.multilane, msg, len);

    return g->along_trees + at;
}

/* What a probe carries to be as long as what it stands for. */
static const unsigned char padding[BCAST_HW_WIRE_PROBE_MAX];

/* Sends a message; DATA: `n` fragments in a row, msg->index being the first. */
static void transmit(struct bcast_hw_group *g, const struct bcast_hw_msg *msg, uint32_t n)
{
    const void *body = NULL;
    uint32_t len = 0;

    if (msg->type == BCAST_HW_MSG_SEGMENT && !(msg->flags & BCAST_HW_FLAG_VOID)) {
        body = segment_at(g, msg, &len);
        bcast_hw_engine_send_from(g->engine, g->world[msg->peer], g, msg, body, len);
        return;
    }
    if (msg->type == BCAST_HW_MSG_DATA) {
        body = bcast_hw_homes_of(&g->homes, msg->bid, msg->bytes) +
               (size_t) msg->index * g->stream.ring.frag_bytes;
        len = run_len(g, msg, n);
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

bool bcast_hw_group_open(const struct bcast_hw_group *g)
{
    return bcast_hw_stream_open(&g->stream) && bcast_hw_rails_idle(&g->engine->rails);
}

void bcast_hw_group_stall(struct bcast_hw_group *g, uint64_t now)
{
    if (!bcast_hw_stream_open(&g->stream)) {
        bcast_hw_stream_stall(&g->stream, now);
        bcast_hw_group_pump(g, now);
    }
}

void bcast_hw_group_lend(struct bcast_hw_group *g, void *memory, size_t bytes)
{
    bcast_hw_homes_lend(&g->homes, memory, bytes, bcast_hw_stream_next_bid(&g->stream));
}

bool bcast_hw_group_sent(const struct bcast_hw_group *g)
{
    return bcast_hw_rails_idle(&g->engine->rails);
}

void bcast_hw_group_return(struct bcast_hw_group *g)
{
    bcast_hw_rails_forget(&g->engine->rails, g->homes.user, g->homes.user_bytes);
    bcast_hw_homes_return(&g->homes, g->stream.channel.floor);
}

void *bcast_hw_group_next_bytes(struct bcast_hw_group *g, uint32_t bytes)
{
    return bcast_hw_homes_of(&g->homes, bcast_hw_stream_next_bid(&g->stream), bytes);
}

const void *bcast_hw_group_last_bytes(struct bcast_hw_group *g)
{
    return bcast_hw_homes_of(&g->homes, bcast_hw_stream_next_bid(&g->stream) - 1,
                             bcast_hw_stream_bytes(&g->stream));
}

uint32_t bcast_hw_group_prefix(const struct bcast_hw_group *g, uint32_t known)
{
    if (!bcast_hw_stream_by_trees(&g->stream) &&
        !bcast_hw_homes_is_user(&g->homes, bcast_hw_stream_next_bid(&g->stream) - 1))
        return 0;
    return bcast_hw_stream_prefix(&g->stream, known);
}

/* A broadcast of a few fragments takes the rail that has it out first: spread over several, its
 * losses would show later. */
static uint8_t rails_for(const struct bcast_hw_group *g, uint32_t bytes, uint64_t now)
{
    uint32_t rails = bcast_hw_stream_next_rails(&g->stream);

    if (bytes >= SPREAD_FRAGS * g->stream.ring.frag_bytes)
        return (uint8_t) rails;
    return bcast_hw_rails_best(&g->engine->rails, rails, now);
}

void bcast_hw_group_post_root(struct bcast_hw_group *g, uint32_t bytes, bool more, uint64_t now)
{
    bcast_hw_stream_post_root(&g->stream, bytes, more, rails_for(g, bytes, now), now);
    bcast_hw_group_pump(g, now);
}

void bcast_hw_group_post_member(struct bcast_hw_group *g, uint32_t root, uint64_t now)
{
    bcast_hw_stream_post_member(&g->stream, root, now);
    bcast_hw_group_pump(g, now);
}

/* Longer segments where there would be too many. */
static uint32_t seg_bytes(const struct bcast_hw_group *g, uint32_t bytes)
{
    uint32_t least = (bytes - 1) / BCAST_HW_GROUP_SEGMENTS_MAX + 1;

    return g->cfg.seg_bytes > least ? g->cfg.seg_bytes : least;
}

void bcast_hw_group_post_trees(struct bcast_hw_group *g, uint32_t root, void *memory,
                               uint32_t bytes, uint64_t now)
{
    g->along_trees = memory;
    bcast_hw_stream_post_trees(&g->stream, root, bytes, seg_bytes(g, bytes));
    bcast_hw_group_pump(g, now);
}

void bcast_hw_group_consume(struct bcast_hw_group *g, uint64_t now)
{
    bcast_hw_stream_consume(&g->stream, now);
    bcast_hw_group_pump(g, now);
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

/* How many fragments DATA carries, one by multicast and one or more in a row by lane; 0 if not
 * every field agrees with what all members agreed on. */
static uint32_t run_of(const struct bcast_hw_group *g, const struct bcast_hw_msg *m, uint32_t len)
{
    uint32_t frag = g->stream.ring.frag_bytes;
    uint32_t n = m->multicast ? 1 : bcast_hw_frags_of(len, frag);

    return m->bytes <= g->piece_bytes && m->frags == bcast_hw_frags_of(m->bytes, frag) &&
                   m->index < m->frags && n <= m->frags - m->index && len == run_len(g, m, n)
               ? n
               : 0;
}

/* What the short header leaves out: the number of fragments, and, where that did not come, the
 * upper half of the bid, which is the one nearest to the broadcasts under way. */
static void complete(const struct bcast_hw_group *g, struct bcast_hw_msg *m, bool whole)
{
    uint64_t near = g->stream.channel.consumed;

    if (!whole)
        m->bid = near + (uint64_t) (int64_t) (int32_t) ((uint32_t) m->bid - (uint32_t) near);
    m->frags = bcast_hw_frags_of(m->bytes, g->stream.ring.frag_bytes);
}

static void on_data(struct bcast_hw_group *g, const struct bcast_hw_wire_in *in, uint64_t now)
{
    struct bcast_hw_msg m = in->msg;
    uint32_t frag = g->stream.ring.frag_bytes;
    const unsigned char *payload = in->payload;
    uint32_t n;

    if (in->cast)
        complete(g, &m, in->whole);
    n = run_of(g, &m, in->len);
    if (n == 0)
        g->engine->counts->bad++;
    for (uint32_t end = m.index + n; m.index < end; m.index++, payload += frag)
        if (bcast_hw_stream_on_recv(&g->stream, &m, now) == BCAST_HW_PLACE)
            memcpy(bcast_hw_homes_of(&g->homes, m.bid, m.bytes) + (size_t) m.index * frag, payload,
                   bcast_hw_frag_len(m.bytes, frag, m.index));
}

static void on_segment(struct bcast_hw_group *g, const struct bcast_hw_wire_in *in, uint64_t now)
{
    const struct bcast_hw_multilane *m = &g->stream.multilane;
    bool fails = in->msg.bytes != m->bytes || (in->msg.flags & BCAST_HW_FLAG_VOID);
    uint32_t len = 0;

    if (m->phase != BCAST_HW_MULTILANE_RUN || in->msg.bid != m->bid || fails) {
        bcast_hw_stream_on_recv(&g->stream, &in->msg, now); /* there is nothing to place */
        return;
    }
    /* Its length is checked first: what is taken is placed. */
    if (in->msg.tree < m->cfg.t && in->msg.index < m->segments)
        segment_at(g, &in->msg, &len);
    if (len == 0 || len != in->len)
        g->engine->counts->bad++;
    else if (bcast_hw_stream_on_recv(&g->stream, &in->msg, now) == BCAST_HW_PLACE)
        memcpy(segment_at(g, &in->msg, &len), in->payload, len);
}

void bcast_hw_group_on_recv(struct bcast_hw_group *g, const struct bcast_hw_wire_in *in,
                            uint64_t now)
{
    if (in->msg.peer >= g->cfg.size) {
        g->engine->counts->bad++;
        return;
    }
    if (in->msg.type == BCAST_HW_MSG_LOST) {
        bcast_hw_group_on_told(g, &in->msg);
        return;
    }
    if (g->state == BCAST_HW_GROUP_BROKEN) {
        bcast_hw_group_tell_again(g, &in->msg);
        return;
    }
    switch (in->msg.type) {
        case BCAST_HW_MSG_PROBE:
            if (in->msg.index > 0)
                bcast_hw_stream_on_recv(&g->stream, &in->msg, now);
            else
                bcast_hw_agree_on_recv(&g->agree, &in->msg, now);
            break;
        case BCAST_HW_MSG_INVITE:
        case BCAST_HW_MSG_REPORT:
        case BCAST_HW_MSG_DECIDE:
            bcast_hw_agree_on_recv(&g->agree, &in->msg, now);
            break;
        case BCAST_HW_MSG_DATA:
            on_data(g, in, now);
            break;
        case BCAST_HW_MSG_SEGMENT:
            on_segment(g, in, now);
            break;
        default:
            bcast_hw_stream_on_recv(&g->stream, &in->msg, now);
            break;
    }
    bcast_hw_agenda_touch(&g->engine->agenda, g);
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
