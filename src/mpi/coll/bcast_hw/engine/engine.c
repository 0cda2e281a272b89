/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * engine: see engine.h.
 */
#include "engine.h"

#include "group/expect.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(HWMC_ENGINE_SOURCES <= 64, "`found` has a bit of each");

#define ASKED UINT64_MAX /* number of the question whether a lane brings anything at all */
#define POLL_BATCH ((int) HWMC_BURST)
#define LANE ((uint32_t) HWMC_RAIL_BITS) /* its number among sources */
#define FAR_LANES (LANE + 1u)
#define POLL_ROUNDS 4 /* batches taken in one progress, so that timers keep their turn */

struct hwmc_engine *hwmc_engine_create(struct hwmc_counts *counts,
                                       struct hwmc_engine_counts *engine_counts)
{
    struct hwmc_engine *e = calloc(1, sizeof(*e));

    if (e) {
        e->wires.counts = counts;
        e->wires.engine_counts = engine_counts;
        e->wires.on_lost = hwmc_engine_on_lost;
        e->wires.ctx = e;
        e->groups.wires = &e->wires;
        hwmc_agenda_init(&e->groups.agenda);
    }
    return e;
}

void hwmc_engine_open(struct hwmc_engine *e, const struct hwmc_wires_cfg *cfg)
{
    assert(!e->groups.first);
    e->wires.cfg = *cfg;
    hwmc_rails_open(&e->wires.rails, cfg->fabrics, cfg->mbit, cfg->auth);
}

static void send_measure(struct hwmc_engine *e, const struct hwmc_msg *msg)
{
    static unsigned char payload[HWMC_MEASURE_BYTES];
    const struct hwmc_wire_id id = {.job = e->wires.cfg.job,
                                    .leader = e->wires.cfg.world_rank,
                                    .unchecked = hwmc_wires_unchecked(&e->wires)};
    struct hwmc_lane *lane = hwmc_wires_lane(&e->wires, msg->measure.lane);
    unsigned char head[HWMC_WIRE_HEAD];

    hwmc_wire_encode(head, &id, e->wires.cfg.world_rank, msg, payload, msg->measure.bytes);
    e->wires.engine_counts->lane_messages_sent++;
    if (lane->ops->send(lane, msg->peer, head, sizeof(head), payload, msg->measure.bytes) !=
            HWMC_OK &&
        msg->bid != ASKED)
        hwmc_engine_on_lost(e, msg->peer);
}

static void pump_measure(struct hwmc_engine *e, uint64_t now)
{
    struct hwmc_msg tx;

    while (hwmc_measure_next_send(&e->measure, &tx, now))
        send_measure(e, &tx);
}

/* A question is answered over the lane it came on. */
static void on_measure(struct hwmc_engine *e, const struct hwmc_msg *msg, uint64_t now)
{
    uint32_t lanes = e->wires.cfg.num_far_lanes > 0 ? e->wires.cfg.num_far_lanes : 1;
    struct hwmc_msg answer = {
        .type = HWMC_MSG_MEASURE,
        .peer = msg->peer,
        .bid = msg->bid,
        .measure = {.lane = msg->measure.lane},
    };

    if (msg->measure.lane >= lanes || msg->multicast) {
        e->wires.counts->bad++;
    } else if (!e->measuring) { /* any more: the last of it may come late */
        e->wires.counts->stale++;
    } else if (msg->flags & HWMC_FLAG_AT_ONCE) {
        send_measure(e, &answer);
    } else if (msg->measure.bytes == 0 && msg->bid == ASKED) {
        e->answered |= 1u << msg->measure.lane;
    } else if (msg->measure.bytes == 0) {
        if (hwmc_measure_on_answer(&e->measure, msg, now) == HWMC_BAD)
            e->wires.counts->bad++;
        pump_measure(e, now);
    }
}

/* Whether a datagram may be looked at: it has the authentication code that it must have, at `data`,
 * before `len` bytes, and those of the body where that is apart. */
static bool is_genuine(struct hwmc_engine *e, uint32_t rail, const unsigned char *data, size_t len,
                       const void *body, size_t body_len)
{
    if (hwmc_auth_check(e->wires.cfg.auth, data, HWMC_AUTH_TO_RAIL(rail), &e->high,
                        data + HWMC_AUTH, len, body, body_len))
        return true;
    e->events++;
    e->wires.engine_counts->drop_forged++;
    return false;
}

/* A message came, by lane or as a datagram on this rail. */
#define BY_LANE HWMC_RAIL_BITS
static void handle_message(struct hwmc_engine *e, uint32_t rail, const void *head, size_t head_len,
                           const void *body, size_t body_len)
{
    bool multicast = rail != BY_LANE;
    struct hwmc_wire_in *in = &e->in;
    struct hwmc_group *g;

    e->events++;
    switch (hwmc_wire_decode(in, e->wires.cfg.job, hwmc_wires_unchecked(&e->wires), head, head_len,
                             body, body_len)) {
        case HWMC_WIRE_OK:
            break;
        case HWMC_WIRE_FORMAT:
            e->wires.engine_counts->drop_format++;
            return;
        case HWMC_WIRE_FOREIGN:
            e->wires.engine_counts->drop_foreign++;
            return;
        case HWMC_WIRE_CORRUPT:
            e->wires.engine_counts->drop_crc++;
            return;
    }
    if (in->msg.type == HWMC_MSG_DATA && in->cast != multicast) {
        e->wires.engine_counts->drop_format++;
        return;
    }
    if (in->cast && e->wires.cfg.auth) {
        in->msg.bid |= (uint64_t) e->high << 32;
        in->whole = true;
    }
    in->msg.multicast = multicast;
    in->msg.rail = multicast ? (uint8_t) rail : 0;
    if (in->msg.type == HWMC_MSG_MEASURE) {
        on_measure(e, &in->msg, e->wires.now);
        return;
    }
    g = hwmc_names_of(&e->groups.names, in);
    if (!g && hwmc_decline_on_recv(&e->groups, in, e->wires.now))
        return;
    if (!g)
        e->wires.engine_counts->drop_communicator++;
    else if (multicast && in->msg.peer == g->cfg.rank)
        e->wires.engine_counts->drop_own++;
    else
        hwmc_group_on_recv(g, in, e->wires.now);
}

void hwmc_engine_on_lane(void *engine, const void *head, size_t head_len, const void *body,
                         size_t body_len)
{
    struct hwmc_engine *e = engine;

    e->wires.engine_counts->lane_messages_received++;
    handle_message(e, BY_LANE, head, head_len, body, body_len);
}

void hwmc_engine_on_lost(void *engine, uint32_t peer)
{
    struct hwmc_engine *e = engine;

    e->events++;
    e->wires.engine_counts->lanes_lost++;
    for (struct hwmc_group *g = e->groups.first; g; g = g->next)
        hwmc_group_on_lost(g, peer);
    hwmc_decline_on_lost(&e->groups, peer);
}

void hwmc_engine_on_sent(void *engine, uint64_t tag)
{
    struct hwmc_engine *e = engine;
    struct hwmc_group *g = hwmc_names_numbered(&e->groups.names, (uint32_t) (tag >> 32));

    e->events++;
    if (g)
        hwmc_group_on_sent(g, (uint32_t) tag >> 16, (uint32_t) tag & 0xffff);
}

static void on_datagram(struct hwmc_engine *e, uint32_t rail, const struct hwmc_in *in)
{
    size_t auth = hwmc_wires_auth_bytes(&e->wires);
    const unsigned char *data = in->data;
    size_t len = in->len - auth; /* of the message, as far as it is there */
    uint32_t head;

    e->wires.engine_counts->datagrams_received++;
    e->wires.engine_counts->datagram_bytes_received += in->len + in->body_len;
    if (in->len <= auth) {
        e->wires.engine_counts->drop_format++;
        return;
    }
    if (auth > 0 && !is_genuine(e, rail, data, len, in->body, in->body_len))
        return;
    data += auth;
    head = hwmc_wire_head_of(data, len);
    if (head == 0)
        e->wires.engine_counts->drop_format++;
    else if (in->body)
        handle_message(e, rail, data, head, in->body, in->body_len);
    else
        handle_message(e, rail, data, head, data + head, len - head);
}

/* Returns whether more may have come. */
static bool poll_once(struct hwmc_engine *e, uint32_t rail)
{
    struct hwmc_fabric *f = e->wires.rails.one[rail].fabric;
    struct hwmc_in in[POLL_BATCH];
    struct hwmc_expectation x;
    const bool expects = f->ops->poll_into && hwmc_expect(&e->groups, rail, &x);
    int n = expects ? f->ops->poll_into(f, &x.expected, in, POLL_BATCH)
                    : f->ops->poll(f, in, POLL_BATCH);

    for (int i = 0; i < n; i++)
        on_datagram(e, rail, &in[i]);
    return n == POLL_BATCH || (expects && n > 0);
}

static void poll_rail(struct hwmc_engine *e, uint32_t rail)
{
    for (int round = 0; round < POLL_ROUNDS && poll_once(e, rail); round++)
        ;
}

bool hwmc_engine_by_lanes(const struct hwmc_engine *e)
{
    return e->draining || e->measuring || e->alert || e->wires.unflushed ||
           e->groups.agenda.by_trees > 0;
}

static bool flush_lanes(struct hwmc_engine *e)
{
    bool flushed = true;

    for (uint32_t i = 0; i < e->wires.cfg.num_far_lanes; i++)
        flushed = e->wires.cfg.lanes[i]->ops->flush(e->wires.cfg.lanes[i]) != HWMC_AGAIN && flushed;
    return flushed;
}

void hwmc_engine_measuring(struct hwmc_engine *e, bool on)
{
    e->measuring = on;
}

void hwmc_engine_alert(struct hwmc_engine *e, bool on)
{
    e->alert = on;
}

void hwmc_engine_rates(struct hwmc_engine *e, const uint32_t *mbit)
{
    uint32_t by_rail[HWMC_RAIL_BITS] = {0};

    if (e->wires.cfg.num_rails == 0)
        memcpy(by_rail, mbit, sizeof(by_rail));
    for (uint32_t i = 0; i < e->wires.cfg.num_rails; i++)
        e->wires.cfg.lane_mbit[i] = by_rail[e->wires.cfg.lane_rail[i]] = mbit[i];
    hwmc_rails_rates(&e->wires.rails, by_rail);
}

/* By index; where there are no lanes for trees, the one that serves. */
static uint32_t rails_with_lanes(const struct hwmc_engine *e)
{
    return e->wires.cfg.num_rails > 0 ? (1u << e->wires.cfg.num_rails) - 1 : 1;
}

void hwmc_engine_measure(struct hwmc_engine *e, uint32_t peer, uint32_t brief, uint64_t now)
{
    assert(e->measuring && e->wires.cfg.lane);
    hwmc_measure_start(&e->measure, peer, rails_with_lanes(e) & ~e->wires.cfg.lane_silent, brief);
    pump_measure(e, now);
}

void hwmc_engine_ask(struct hwmc_engine *e, uint32_t peer)
{
    struct hwmc_msg tx = {
        .type = HWMC_MSG_MEASURE, .flags = HWMC_FLAG_AT_ONCE, .peer = peer, .bid = ASKED};

    assert(e->measuring && e->wires.cfg.lane);
    e->answered = 0;
    for (; rails_with_lanes(e) >> tx.measure.lane & 1; tx.measure.lane++)
        send_measure(e, &tx);
}

void hwmc_engine_silent(struct hwmc_engine *e, uint32_t rails)
{
    assert((rails_with_lanes(e) & ~rails) != 0);
    e->wires.cfg.lane_silent = rails;
    e->wires.engine_counts->rails_silent += (uint64_t) __builtin_popcount(rails);
}

/* Those that have something to do; frees those that are over. */
static void pump_groups(struct hwmc_engine *e, uint64_t now)
{
    struct hwmc_agenda_turn turn;
    struct hwmc_group *g;

    hwmc_agenda_begin(&e->groups.agenda, &turn, now, hwmc_group_unblocked);
    while ((g = hwmc_agenda_next(&e->groups.agenda, &turn)) != NULL) {
        e->events++;
        hwmc_group_pump(g, now);
        if (g->over)
            hwmc_group_free(g);
    }
}

/* Looks at a source of messages, by its number; unless it is dry, and dry ones may be left out. */
static void look_at_source(struct hwmc_engine *e, uint32_t source, bool all)
{
    struct hwmc_dry *d = &e->dry[source];
    const int before = e->events;
    struct hwmc_lane *lane;

    if (!hwmc_dry_is_due(d, HWMC_DRY_TURNS) && !all)
        return;
    if (source < HWMC_RAIL_BITS) {
        poll_rail(e, source);
    } else {
        lane = source == LANE ? e->wires.cfg.lane : e->wires.cfg.lanes[source - FAR_LANES];
        e->events += lane->ops->poll(lane);
    }
    e->found |= (uint64_t) (e->events > before) << source;
}

/* The lanes of rails. The parent in a tree may still wait to be through with a segment that this
 * rank has had by another lane: until a connection is made, or there is room in it. Both need this
 * rank's polls. */
static void look_at_lanes(struct hwmc_engine *e, uint64_t now, bool all)
{
    const int before = e->events;
    const bool in_use = hwmc_engine_by_lanes(e);

    if (!in_use && now < e->lanes_at)
        return;
    for (uint32_t i = 0; i < e->wires.cfg.num_far_lanes; i++)
        look_at_source(e, FAR_LANES + i, all || !in_use);
    e->lanes_at = e->events > before ? now : now + HWMC_LANES_QUIET_NS;
}

static void look_at_all(struct hwmc_engine *e, uint64_t now, bool all)
{
    e->found = 0;
    for (uint32_t rail = 0; rail < HWMC_RAIL_BITS; rail++)
        if (e->wires.rails.mask >> rail & 1)
            look_at_source(e, rail, all);
    if (e->wires.cfg.lane)
        look_at_source(e, LANE, all);
    look_at_lanes(e, now, all);
    if (e->found != 0)
        for (uint32_t i = 0; i < FAR_LANES + e->wires.cfg.num_far_lanes; i++)
            hwmc_dry_polled(&e->dry[i], e->found >> i & 1, true);
}

static int make_progress(struct hwmc_engine *e, uint64_t now, bool all)
{
    if (!hwmc_engine_active(e))
        return 0;
    e->wires.now = now;
    e->events = 0;
    look_at_all(e, now, all);
    /* A child may wait for the end of a broadcast that is over here. */
    if (e->wires.unflushed && e->groups.agenda.by_trees == 0)
        e->wires.unflushed = !flush_lanes(e);
    hwmc_rails_flush(&e->wires.rails, now);
    pump_groups(e, now);
    return e->events;
}

int hwmc_engine_progress(struct hwmc_engine *e, uint64_t now)
{
    return make_progress(e, now, true);
}

int hwmc_engine_wait_progress(struct hwmc_engine *e, uint64_t now)
{
    return make_progress(e, now, false);
}

uint64_t hwmc_engine_deadline(const struct hwmc_engine *e)
{
    uint64_t groups = hwmc_agenda_deadline(&e->groups.agenda), rails;

    if (!e->groups.first)
        return HWMC_NEVER;
    rails = hwmc_rails_deadline(&e->wires.rails);
    return rails < groups ? rails : groups;
}

void hwmc_engine_check(const struct hwmc_engine *e)
{
    hwmc_agenda_check(&e->groups.agenda);
    for (const struct hwmc_group *g = e->groups.first; g; g = g->next) {
        hwmc_names_check(&e->groups.names, g);
        hwmc_notice_check(&g->loss);
    }
}

void hwmc_engine_cut(struct hwmc_engine *e, const struct hwmc_group *g)
{
    for (uint32_t i = 0; i < HWMC_LANES_MAX; i++) {
        struct hwmc_lane *lane = hwmc_wires_lane(&e->wires, i);

        if (g->pinned[i] == 0)
            continue;
        e->wires.engine_counts->lanes_cut++;
        lane->ops->cut(lane);
        assert(g->pinned[i] == 0);
    }
}

void hwmc_engine_drain(struct hwmc_engine *e, uint64_t now)
{
    e->draining = true;
    for (struct hwmc_group *g = e->groups.first, *next; g; g = next) {
        next = g->next;
        if (g->state != HWMC_GROUP_CLOSING)
            hwmc_group_close(g, now);
        if (g->over)
            hwmc_group_free(g);
    }
}

bool hwmc_engine_told(struct hwmc_engine *e)
{
    return !e->wires.cfg.lane || e->wires.cfg.lane->ops->flush(e->wires.cfg.lane) != HWMC_AGAIN;
}

bool hwmc_engine_drained(const struct hwmc_engine *e)
{
    return !e->groups.first && e->groups.declines.num == 0;
}

void hwmc_engine_close(struct hwmc_engine *e)
{
    while (e->groups.first)
        hwmc_group_free(e->groups.first);
    e->groups.declines = (struct hwmc_declines){0};
    hwmc_agenda_free(&e->groups.agenda);
    hwmc_rails_close(&e->wires.rails);
    if (e->wires.cfg.lane)
        e->wires.cfg.lane->ops->close(e->wires.cfg.lane);
    for (uint32_t i = 0; i < e->wires.cfg.num_far_lanes; i++)
        e->wires.cfg.lanes[i]->ops->close(e->wires.cfg.lanes[i]);
    e->wires.cfg.num_lanes = e->wires.cfg.num_far_lanes = 0;
    e->wires.cfg.lane = NULL;
    e->draining = e->wires.unflushed = false;
}

void hwmc_engine_destroy(struct hwmc_engine *e)
{
    free(e);
}
