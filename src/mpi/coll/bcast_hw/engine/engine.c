/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * engine: see engine.h.
 */
#include "engine.h"

#include <assert.h>
#include <stdlib.h>

#define ASKED UINT64_MAX /* number of the question whether a lane brings anything at all */
#define POLL_BATCH 64
#define POLL_ROUNDS 4 /* batches taken in one progress, so that timers keep their turn */

struct hwmc_engine *hwmc_engine_create(struct hwmc_counts *counts,
                                       struct hwmc_engine_counts *engine_counts)
{
    struct hwmc_engine *e = calloc(1, sizeof(*e));

    if (e) {
        e->counts = counts;
        e->engine_counts = engine_counts;
        hwmc_agenda_init(&e->agenda);
    }
    return e;
}

void hwmc_engine_open(struct hwmc_engine *e, const struct hwmc_engine_cfg *cfg)
{
    assert(!e->groups);
    e->cfg = *cfg;
    hwmc_rails_open(&e->rails, cfg->fabrics, cfg->mbit, cfg->auth);
}

static struct hwmc_lane *lane_of(const struct hwmc_engine *e, uint32_t index)
{
    return e->cfg.num_far_lanes > 0 ? e->cfg.lanes[index] : e->cfg.lane;
}

static bool is_unchecked(const struct hwmc_engine *e)
{
    return e->cfg.integrity != HWMC_INTEGRITY_CRC32C;
}

static void send_measure(struct hwmc_engine *e, const struct hwmc_msg *msg)
{
    static unsigned char payload[HWMC_MEASURE_BYTES];
    const struct hwmc_wire_id id = {
        .job = e->cfg.job, .leader = e->cfg.world_rank, .unchecked = is_unchecked(e)};
    struct hwmc_lane *lane = lane_of(e, msg->index);
    unsigned char head[HWMC_WIRE_HEAD];

    hwmc_wire_encode(head, &id, e->cfg.world_rank, msg, payload, msg->bytes);
    e->engine_counts->lane_messages_sent++;
    if (lane->ops->send(lane, msg->peer, head, sizeof(head), payload, msg->bytes) != HWMC_OK &&
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
    uint32_t lanes = e->cfg.num_far_lanes > 0 ? e->cfg.num_far_lanes : 1;
    struct hwmc_msg answer = {
        .type = HWMC_MSG_MEASURE, .peer = msg->peer, .bid = msg->bid, .index = msg->index};

    if (!e->measuring || msg->index >= lanes || msg->multicast) {
        e->counts->bad++;
    } else if (msg->flags & HWMC_FLAG_AT_ONCE) {
        send_measure(e, &answer);
    } else if (msg->bytes == 0 && msg->bid == ASKED) {
        e->answered |= 1u << msg->index;
    } else if (msg->bytes == 0) {
        if (hwmc_measure_on_answer(&e->measure, msg, now) == HWMC_BAD)
            e->counts->bad++;
        pump_measure(e, now);
    }
}

/* Whether a datagram may be looked at: it has the seal that it must have, at `data`, before `len`
 * bytes. */
static bool is_genuine(struct hwmc_engine *e, uint32_t rail, const unsigned char *data, size_t len)
{
    if (hwmc_auth_check(e->cfg.auth, data, HWMC_AUTH_TO_RAIL(rail), &e->high, data + HWMC_AUTH, len,
                        NULL, 0))
        return true;
    e->events++;
    e->engine_counts->drop_forged++;
    return false;
}

/* A message came, by lane or as a datagram on this rail. */
#define BY_LANE HWMC_RAIL_BITS
static void handle(struct hwmc_engine *e, uint32_t rail, const void *head, size_t head_len,
                   const void *body, size_t body_len)
{
    bool multicast = rail != BY_LANE;
    struct hwmc_wire_in *in = &e->in;
    struct hwmc_group *g;

    e->events++;
    switch (hwmc_wire_decode(in, e->cfg.job, is_unchecked(e), head, head_len, body, body_len)) {
        case HWMC_WIRE_OK:
            break;
        case HWMC_WIRE_FORMAT:
            e->engine_counts->drop_format++;
            return;
        case HWMC_WIRE_FOREIGN:
            e->engine_counts->drop_foreign++;
            return;
        case HWMC_WIRE_CORRUPT:
            e->engine_counts->drop_crc++;
            return;
    }
    if (in->msg.type == HWMC_MSG_DATA && in->cast != multicast) {
        e->engine_counts->drop_format++;
        return;
    }
    if (in->cast && e->cfg.auth) {
        in->msg.bid |= (uint64_t) e->high << 32;
        in->whole = true;
    }
    in->msg.multicast = multicast;
    in->msg.rail = multicast ? (uint8_t) rail : 0;
    if (in->msg.type == HWMC_MSG_MEASURE) {
        on_measure(e, &in->msg, e->now);
        return;
    }
    g = hwmc_names_of(&e->names, in);
    if (!g && hwmc_decline_on_recv(e, in, e->now))
        return;
    if (!g)
        e->engine_counts->drop_communicator++;
    else if (multicast && in->msg.peer == g->cfg.rank)
        e->engine_counts->drop_own++;
    else
        hwmc_group_on_recv(g, in, e->now);
}

void hwmc_engine_on_lane(void *engine, const void *head, size_t head_len, const void *body,
                         size_t body_len)
{
    struct hwmc_engine *e = engine;

    e->engine_counts->lane_messages_received++;
    handle(e, BY_LANE, head, head_len, body, body_len);
}

void hwmc_engine_on_lost(void *engine, uint32_t peer)
{
    struct hwmc_engine *e = engine;

    e->events++;
    e->engine_counts->lanes_lost++;
    for (struct hwmc_group *g = e->groups; g; g = g->next)
        hwmc_group_on_lost(g, peer);
    hwmc_decline_on_lost(e, peer);
}

/* Whose segment, by which lane, and which child's: a group's number, the lane's, the token. */
static uint64_t tag_of(const struct hwmc_group *g, uint32_t lane, uint32_t token)
{
    return (uint64_t) g->number << 32 | lane << 16 | token;
}

void hwmc_engine_on_sent(void *engine, uint64_t tag)
{
    struct hwmc_engine *e = engine;
    struct hwmc_group *g = hwmc_names_numbered(&e->names, (uint32_t) (tag >> 32));

    e->events++;
    if (g)
        hwmc_group_on_sent(g, (uint32_t) tag >> 16, (uint32_t) tag & 0xffff);
}

static void on_datagram(struct hwmc_engine *e, uint32_t rail, const struct hwmc_in *in)
{
    size_t auth = e->cfg.auth ? HWMC_AUTH : 0;
    const unsigned char *data = in->data;
    size_t len = in->len - auth; /* of the message */
    uint32_t head;

    e->engine_counts->datagrams_received++;
    e->engine_counts->datagram_bytes_received += in->len;
    if (in->len <= auth) {
        e->engine_counts->drop_format++;
        return;
    }
    if (auth > 0 && !is_genuine(e, rail, data, len))
        return;
    data += auth;
    head = hwmc_wire_head_of(data, len);
    if (head == 0)
        e->engine_counts->drop_format++;
    else
        handle(e, rail, data, head, data + head, len - head);
}

static void poll_rail(struct hwmc_engine *e, uint32_t rail)
{
    struct hwmc_fabric *f = e->rails.one[rail].fabric;
    struct hwmc_in in[POLL_BATCH];
    int n = POLL_BATCH;

    for (int round = 0; round < POLL_ROUNDS && n == POLL_BATCH; round++) {
        n = f->ops->poll(f, in, POLL_BATCH);
        for (int i = 0; i < n; i++)
            on_datagram(e, rail, &in[i]);
    }
}

uint32_t hwmc_engine_lane_rails(const struct hwmc_engine *e)
{
    uint32_t rails = 0;

    for (uint32_t i = 0; i < e->cfg.num_rails; i++)
        if (!(e->cfg.lane_silent >> i & 1))
            rails |= 1u << e->cfg.lane_rail[i];
    return rails;
}

bool hwmc_engine_is_silent(const struct hwmc_engine *e, uint32_t rail)
{
    for (uint32_t i = 0; i < e->cfg.num_rails; i++)
        if (e->cfg.lane_rail[i] == rail)
            return e->cfg.lane_silent >> i & 1;
    return false;
}

uint32_t hwmc_engine_lanes_on(const struct hwmc_engine *e, uint32_t rails)
{
    uint32_t lanes = 0;

    for (uint32_t i = 0; i < e->cfg.num_lanes; i++)
        lanes += hwmc_engine_is_lane_on(&e->cfg, i, rails);
    return lanes;
}

bool hwmc_engine_by_lanes(const struct hwmc_engine *e)
{
    return e->draining || e->measuring || e->unflushed || e->agenda.by_trees > 0;
}

static bool flush_lanes(struct hwmc_engine *e)
{
    bool flushed = true;

    for (uint32_t i = 0; i < e->cfg.num_far_lanes; i++)
        flushed = e->cfg.lanes[i]->ops->flush(e->cfg.lanes[i]) != HWMC_AGAIN && flushed;
    return flushed;
}

void hwmc_engine_measuring(struct hwmc_engine *e, bool on)
{
    e->measuring = on;
}

void hwmc_engine_rates(struct hwmc_engine *e, const uint32_t *mbit)
{
    for (uint32_t i = 0; i < e->cfg.num_rails; i++)
        e->cfg.lane_mbit[i] = mbit[i];
}

/* By index; where there are no lanes for trees, the one that serves. */
static uint32_t rails_with_lanes(const struct hwmc_engine *e)
{
    return e->cfg.num_rails > 0 ? (1u << e->cfg.num_rails) - 1 : 1;
}

void hwmc_engine_measure(struct hwmc_engine *e, uint32_t peer, uint64_t now)
{
    assert(e->measuring && e->cfg.lane);
    hwmc_measure_start(&e->measure, peer, rails_with_lanes(e) & ~e->cfg.lane_silent);
    pump_measure(e, now);
}

void hwmc_engine_ask(struct hwmc_engine *e, uint32_t peer)
{
    struct hwmc_msg tx = {
        .type = HWMC_MSG_MEASURE, .flags = HWMC_FLAG_AT_ONCE, .peer = peer, .bid = ASKED};

    assert(e->measuring && e->cfg.lane);
    e->answered = 0;
    for (; rails_with_lanes(e) >> tx.index & 1; tx.index++)
        send_measure(e, &tx);
}

void hwmc_engine_silent(struct hwmc_engine *e, uint32_t rails)
{
    assert((rails_with_lanes(e) & ~rails) != 0);
    e->cfg.lane_silent = rails;
    e->engine_counts->rails_silent += (uint64_t) __builtin_popcount(rails);
}

/* Those that have something to do; frees those that are over. */
static void pump_groups(struct hwmc_engine *e, uint64_t now)
{
    struct hwmc_agenda_turn turn;
    struct hwmc_group *g;

    hwmc_agenda_begin(&e->agenda, &turn, now, hwmc_group_unblocked);
    while ((g = hwmc_agenda_next(&e->agenda, &turn)) != NULL) {
        e->events++;
        hwmc_group_pump(g, now);
        if (g->over)
            hwmc_group_free(g);
    }
}

int hwmc_engine_progress(struct hwmc_engine *e, uint64_t now)
{
    if (!hwmc_engine_active(e))
        return 0;
    e->now = now;
    e->events = 0;
    for (uint32_t rail = 0; rail < HWMC_RAIL_BITS; rail++)
        if (e->rails.mask >> rail & 1)
            poll_rail(e, rail);
    if (e->cfg.lane)
        e->events += e->cfg.lane->ops->poll(e->cfg.lane);
    for (uint32_t i = 0; i < e->cfg.num_far_lanes && hwmc_engine_by_lanes(e); i++)
        e->events += e->cfg.lanes[i]->ops->poll(e->cfg.lanes[i]);
    /* A child may wait for the end of a broadcast that is over here. */
    if (e->unflushed && e->agenda.by_trees == 0)
        e->unflushed = !flush_lanes(e);
    hwmc_rails_flush(&e->rails, now);
    pump_groups(e, now);
    return e->events;
}

uint64_t hwmc_engine_deadline(const struct hwmc_engine *e)
{
    uint64_t groups = hwmc_agenda_deadline(&e->agenda), rails;

    if (!e->groups)
        return HWMC_NEVER;
    rails = hwmc_rails_deadline(&e->rails);
    return rails < groups ? rails : groups;
}

void hwmc_engine_check(const struct hwmc_engine *e)
{
    hwmc_agenda_check(&e->agenda);
    for (const struct hwmc_group *g = e->groups; g; g = g->next)
        hwmc_names_check(&e->names, g);
}

void hwmc_engine_cast(struct hwmc_engine *e, uint64_t group, const struct hwmc_wire_id *id,
                      uint32_t src, const struct hwmc_msg *msg, const void *body, uint32_t len)
{
    e->engine_counts->datagrams_sent++;
    e->engine_counts->datagram_bytes_sent +=
        hwmc_rails_cast(&e->rails, group, id, src, msg, body, len);
}

void hwmc_engine_send(struct hwmc_engine *e, uint32_t world_rank, const struct hwmc_wire_id *id,
                      uint32_t src, const struct hwmc_msg *msg, const void *body, uint32_t len)
{
    unsigned char head[HWMC_WIRE_HEAD], control[HWMC_WIRE_CONTROL_MAX];
    struct hwmc_lane *lane = e->cfg.lane;
    void *payload = msg->type == HWMC_MSG_DATA ? (void *) (uintptr_t) body : control;
    struct hwmc_wire_id named = *id;

    if (hwmc_names_is_by_key(msg->type))
        named.generation = 0;
    len = hwmc_wire_encode(head, &named, src, msg, payload, len);
    e->engine_counts->lane_messages_sent++;
    if (lane->ops->send(lane, world_rank, head, sizeof(head), payload, len) != HWMC_OK)
        hwmc_engine_on_lost(e, world_rank);
}

void hwmc_engine_send_from(struct hwmc_engine *e, uint32_t world_rank, struct hwmc_group *g,
                           const struct hwmc_msg *msg, const void *body, uint32_t len)
{
    const uint32_t index = e->cfg.num_far_lanes > 0 ? msg->rail : 0;
    struct hwmc_lane *lane = lane_of(e, index);
    unsigned char head[HWMC_WIRE_HEAD];

    hwmc_wire_encode(head, &g->id, g->cfg.rank, msg, (void *) (uintptr_t) body, len);
    e->engine_counts->lane_messages_sent++;
    e->unflushed = e->cfg.num_far_lanes > 0;
    g->pinned[index]++;
    if (lane->ops->send_from(lane, world_rank, head, sizeof(head), body, len,
                             tag_of(g, index, msg->token)) != HWMC_OK) {
        g->pinned[index]--;
        hwmc_engine_on_lost(e, world_rank);
    }
}

void hwmc_engine_cut(struct hwmc_engine *e, const struct hwmc_group *g)
{
    for (uint32_t i = 0; i < HWMC_LANES_MAX; i++) {
        struct hwmc_lane *lane = lane_of(e, i);

        if (g->pinned[i] == 0)
            continue;
        e->engine_counts->lanes_cut++;
        lane->ops->cut(lane);
        assert(g->pinned[i] == 0);
    }
}

void hwmc_engine_drain(struct hwmc_engine *e, uint64_t now)
{
    e->draining = true;
    for (struct hwmc_group *g = e->groups, *next; g; g = next) {
        next = g->next;
        if (g->state != HWMC_GROUP_CLOSING)
            hwmc_group_close(g, now);
        if (g->over)
            hwmc_group_free(g);
    }
}

bool hwmc_engine_told(struct hwmc_engine *e)
{
    return !e->cfg.lane || e->cfg.lane->ops->flush(e->cfg.lane) != HWMC_AGAIN;
}

bool hwmc_engine_drained(const struct hwmc_engine *e)
{
    return !e->groups && e->declines.num == 0;
}

void hwmc_engine_close(struct hwmc_engine *e)
{
    while (e->groups)
        hwmc_group_free(e->groups);
    e->declines = (struct hwmc_declines){0};
    hwmc_agenda_free(&e->agenda);
    hwmc_rails_close(&e->rails);
    if (e->cfg.lane)
        e->cfg.lane->ops->close(e->cfg.lane);
    for (uint32_t i = 0; i < e->cfg.num_far_lanes; i++)
        e->cfg.lanes[i]->ops->close(e->cfg.lanes[i]);
    e->cfg.num_lanes = e->cfg.num_far_lanes = 0;
    e->cfg.lane = NULL;
    e->draining = e->unflushed = false;
}

void hwmc_engine_destroy(struct hwmc_engine *e)
{
    free(e);
}
