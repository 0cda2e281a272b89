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

struct bcast_hw_engine *bcast_hw_engine_create(struct bcast_hw_counts *counts,
                                               struct bcast_hw_engine_counts *engine_counts)
{
    struct bcast_hw_engine *e = calloc(1, sizeof(*e));

    if (e) {
        e->counts = counts;
        e->engine_counts = engine_counts;
        bcast_hw_agenda_init(&e->agenda);
    }
    return e;
}

void bcast_hw_engine_open(struct bcast_hw_engine *e, const struct bcast_hw_engine_cfg *cfg)
{
    assert(!e->groups);
    e->cfg = *cfg;
    bcast_hw_rails_open(&e->rails, cfg->fabrics, cfg->mbit, cfg->seal);
}

static struct bcast_hw_lane *lane_of(const struct bcast_hw_engine *e, uint32_t index)
{
    return e->cfg.num_far_lanes > 0 ? e->cfg.lanes[index] : e->cfg.lane;
}

static bool is_unchecked(const struct bcast_hw_engine *e)
{
    return e->cfg.integrity != BCAST_HW_INTEGRITY_CRC32C;
}

static void send_measure(struct bcast_hw_engine *e, const struct bcast_hw_msg *msg)
{
    static unsigned char payload[BCAST_HW_MEASURE_BYTES];
    const struct bcast_hw_wire_id id = {
        .job = e->cfg.job, .leader = e->cfg.world_rank, .unchecked = is_unchecked(e)};
    struct bcast_hw_lane *lane = lane_of(e, msg->index);
    unsigned char head[BCAST_HW_WIRE_HEAD];

    bcast_hw_wire_encode(head, &id, e->cfg.world_rank, msg, payload, msg->bytes);
    e->engine_counts->lane_messages_sent++;
    if (lane->ops->send(lane, msg->peer, head, sizeof(head), payload, msg->bytes) != BCAST_HW_OK &&
        msg->bid != ASKED)
        bcast_hw_engine_on_lost(e, msg->peer);
}

static void pump_measure(struct bcast_hw_engine *e, uint64_t now)
{
    struct bcast_hw_msg tx;

    while (bcast_hw_measure_next_send(&e->measure, &tx, now))
        send_measure(e, &tx);
}

/* A question is answered over the lane it came on. */
static void on_measure(struct bcast_hw_engine *e, const struct bcast_hw_msg *msg, uint64_t now)
{
    uint32_t lanes = e->cfg.num_far_lanes > 0 ? e->cfg.num_far_lanes : 1;
    struct bcast_hw_msg answer = {
        .type = BCAST_HW_MSG_MEASURE, .peer = msg->peer, .bid = msg->bid, .index = msg->index};

    if (!e->measuring || msg->index >= lanes || msg->multicast) {
        e->counts->bad++;
    } else if (msg->flags & BCAST_HW_FLAG_AT_ONCE) {
        send_measure(e, &answer);
    } else if (msg->bytes == 0 && msg->bid == ASKED) {
        e->answered |= 1u << msg->index;
    } else if (msg->bytes == 0) {
        if (bcast_hw_measure_on_answer(&e->measure, msg, now) == BCAST_HW_BAD)
            e->counts->bad++;
        pump_measure(e, now);
    }
}

/* Whether a datagram may be looked at: it has the seal that it must have, at `data`, before `len`
 * bytes. */
static bool is_genuine(struct bcast_hw_engine *e, uint32_t rail, const unsigned char *data,
                       size_t len)
{
    if (bcast_hw_seal_check(e->cfg.seal, data, BCAST_HW_SEAL_TO_RAIL(rail), &e->high,
                            data + BCAST_HW_SEAL, len, NULL, 0))
        return true;
    e->events++;
    e->engine_counts->drop_forged++;
    return false;
}

/* A message came, by lane or as a datagram on this rail. */
#define BY_LANE BCAST_HW_RAIL_BITS
static void handle(struct bcast_hw_engine *e, uint32_t rail, const void *head, size_t head_len,
                   const void *body, size_t body_len)
{
    bool multicast = rail != BY_LANE;
    struct bcast_hw_wire_in *in = &e->in;
    struct bcast_hw_group *g;

    e->events++;
    switch (bcast_hw_wire_decode(in, e->cfg.job, is_unchecked(e), head, head_len, body, body_len)) {
        case BCAST_HW_WIRE_OK:
            break;
        case BCAST_HW_WIRE_FORMAT:
            e->engine_counts->drop_format++;
            return;
        case BCAST_HW_WIRE_FOREIGN:
            e->engine_counts->drop_foreign++;
            return;
        case BCAST_HW_WIRE_CORRUPT:
            e->engine_counts->drop_crc++;
            return;
    }
    if (in->msg.type == BCAST_HW_MSG_DATA && in->cast != multicast) {
        e->engine_counts->drop_format++;
        return;
    }
    if (in->cast && e->cfg.seal) {
        in->msg.bid |= (uint64_t) e->high << 32;
        in->whole = true;
    }
    in->msg.multicast = multicast;
    in->msg.rail = multicast ? (uint8_t) rail : 0;
    if (in->msg.type == BCAST_HW_MSG_MEASURE) {
        on_measure(e, &in->msg, e->now);
        return;
    }
    g = bcast_hw_names_of(&e->names, in);
    if (!g && bcast_hw_decline_on_recv(e, in, e->now))
        return;
    if (!g)
        e->engine_counts->drop_communicator++;
    else if (multicast && in->msg.peer == g->cfg.rank)
        e->engine_counts->drop_own++;
    else
        bcast_hw_group_on_recv(g, in, e->now);
}

void bcast_hw_engine_on_lane(void *engine, const void *head, size_t head_len, const void *body,
                             size_t body_len)
{
    struct bcast_hw_engine *e = engine;

    e->engine_counts->lane_messages_received++;
    handle(e, BY_LANE, head, head_len, body, body_len);
}

void bcast_hw_engine_on_lost(void *engine, uint32_t peer)
{
    struct bcast_hw_engine *e = engine;

    e->events++;
    e->engine_counts->lanes_lost++;
    for (struct bcast_hw_group *g = e->groups; g; g = g->next)
        bcast_hw_group_on_lost(g, peer);
    bcast_hw_decline_on_lost(e, peer);
}

/* Whose segment, by which lane, and which child's: a group's number, the lane's, the token. */
static uint64_t tag_of(const struct bcast_hw_group *g, uint32_t lane, uint32_t token)
{
    return (uint64_t) g->number << 32 | lane << 16 | token;
}

void bcast_hw_engine_on_sent(void *engine, uint64_t tag)
{
    struct bcast_hw_engine *e = engine;
    struct bcast_hw_group *g = bcast_hw_names_numbered(&e->names, (uint32_t) (tag >> 32));

    e->events++;
    if (g)
        bcast_hw_group_on_sent(g, (uint32_t) tag >> 16, (uint32_t) tag & 0xffff);
}

static void on_datagram(struct bcast_hw_engine *e, uint32_t rail, const struct bcast_hw_in *in)
{
    size_t seal = e->cfg.seal ? BCAST_HW_SEAL : 0;
    const unsigned char *data = in->data;
    size_t len = in->len - seal; /* of the message */
    uint32_t head;

    e->engine_counts->datagrams_received++;
    e->engine_counts->datagram_bytes_received += in->len;
    if (in->len <= seal) {
        e->engine_counts->drop_format++;
        return;
    }
    if (seal > 0 && !is_genuine(e, rail, data, len))
        return;
    data += seal;
    head = bcast_hw_wire_head_of(data, len);
    if (head == 0)
        e->engine_counts->drop_format++;
    else
        handle(e, rail, data, head, data + head, len - head);
}

static void poll_rail(struct bcast_hw_engine *e, uint32_t rail)
{
    struct bcast_hw_fabric *f = e->rails.one[rail].fabric;
    struct bcast_hw_in in[POLL_BATCH];
    int n = POLL_BATCH;

    for (int round = 0; round < POLL_ROUNDS && n == POLL_BATCH; round++) {
        n = f->ops->poll(f, in, POLL_BATCH);
        for (int i = 0; i < n; i++)
            on_datagram(e, rail, &in[i]);
    }
}

uint32_t bcast_hw_engine_lane_rails(const struct bcast_hw_engine *e)
{
    uint32_t rails = 0;

    for (uint32_t i = 0; i < e->cfg.num_rails; i++)
        if (!(e->cfg.lane_silent >> i & 1))
            rails |= 1u << e->cfg.lane_rail[i];
    return rails;
}

bool bcast_hw_engine_is_silent(const struct bcast_hw_engine *e, uint32_t rail)
{
    for (uint32_t i = 0; i < e->cfg.num_rails; i++)
        if (e->cfg.lane_rail[i] == rail)
            return e->cfg.lane_silent >> i & 1;
    return false;
}

uint32_t bcast_hw_engine_lanes_on(const struct bcast_hw_engine *e, uint32_t rails)
{
    uint32_t lanes = 0;

    for (uint32_t i = 0; i < e->cfg.num_lanes; i++)
        lanes += bcast_hw_engine_is_lane_on(&e->cfg, i, rails);
    return lanes;
}

bool bcast_hw_engine_by_lanes(const struct bcast_hw_engine *e)
{
    return e->draining || e->measuring || e->unflushed || e->agenda.by_trees > 0;
}

static bool flush_lanes(struct bcast_hw_engine *e)
{
    bool flushed = true;

    for (uint32_t i = 0; i < e->cfg.num_far_lanes; i++)
        flushed = e->cfg.lanes[i]->ops->flush(e->cfg.lanes[i]) != BCAST_HW_AGAIN && flushed;
    return flushed;
}

void bcast_hw_engine_measuring(struct bcast_hw_engine *e, bool on)
{
    e->measuring = on;
}

void bcast_hw_engine_rates(struct bcast_hw_engine *e, const uint32_t *mbit)
{
    for (uint32_t i = 0; i < e->cfg.num_rails; i++)
        e->cfg.lane_mbit[i] = mbit[i];
}

/* By index; where there are no lanes for trees, the one that serves. */
static uint32_t rails_with_lanes(const struct bcast_hw_engine *e)
{
    return e->cfg.num_rails > 0 ? (1u << e->cfg.num_rails) - 1 : 1;
}

void bcast_hw_engine_measure(struct bcast_hw_engine *e, uint32_t peer, uint64_t now)
{
    assert(e->measuring && e->cfg.lane);
    bcast_hw_measure_start(&e->measure, peer, rails_with_lanes(e) & ~e->cfg.lane_silent);
    pump_measure(e, now);
}

void bcast_hw_engine_ask(struct bcast_hw_engine *e, uint32_t peer)
{
    struct bcast_hw_msg tx = {
        .type = BCAST_HW_MSG_MEASURE, .flags = BCAST_HW_FLAG_AT_ONCE, .peer = peer, .bid = ASKED};

    assert(e->measuring && e->cfg.lane);
    e->answered = 0;
    for (; rails_with_lanes(e) >> tx.index & 1; tx.index++)
        send_measure(e, &tx);
}

void bcast_hw_engine_silent(struct bcast_hw_engine *e, uint32_t rails)
{
    assert((rails_with_lanes(e) & ~rails) != 0);
    e->cfg.lane_silent = rails;
    e->engine_counts->rails_silent += (uint64_t) __builtin_popcount(rails);
}

/* Those that have something to do; frees those that are over. */
static void pump_groups(struct bcast_hw_engine *e, uint64_t now)
{
    struct bcast_hw_agenda_turn turn;
    struct bcast_hw_group *g;

    bcast_hw_agenda_begin(&e->agenda, &turn, now, bcast_hw_group_unblocked);
    while ((g = bcast_hw_agenda_next(&e->agenda, &turn)) != NULL) {
        e->events++;
        bcast_hw_group_pump(g, now);
        if (g->over)
            bcast_hw_group_free(g);
    }
}

int bcast_hw_engine_progress(struct bcast_hw_engine *e, uint64_t now)
{
    if (!bcast_hw_engine_active(e))
        return 0;
    e->now = now;
    e->events = 0;
    for (uint32_t rail = 0; rail < BCAST_HW_RAIL_BITS; rail++)
        if (e->rails.mask >> rail & 1)
            poll_rail(e, rail);
    if (e->cfg.lane)
        e->events += e->cfg.lane->ops->poll(e->cfg.lane);
    for (uint32_t i = 0; i < e->cfg.num_far_lanes && bcast_hw_engine_by_lanes(e); i++)
        e->events += e->cfg.lanes[i]->ops->poll(e->cfg.lanes[i]);
    /* A child may wait for the end of a broadcast that is over here. */
    if (e->unflushed && e->agenda.by_trees == 0)
        e->unflushed = !flush_lanes(e);
    bcast_hw_rails_flush(&e->rails, now);
    pump_groups(e, now);
    return e->events;
}

uint64_t bcast_hw_engine_deadline(const struct bcast_hw_engine *e)
{
    uint64_t groups = bcast_hw_agenda_deadline(&e->agenda), rails;

    if (!e->groups)
        return BCAST_HW_NEVER;
    rails = bcast_hw_rails_deadline(&e->rails);
    return rails < groups ? rails : groups;
}

void bcast_hw_engine_check(const struct bcast_hw_engine *e)
{
    bcast_hw_agenda_check(&e->agenda);
    for (const struct bcast_hw_group *g = e->groups; g; g = g->next)
        bcast_hw_names_check(&e->names, g);
}

void bcast_hw_engine_cast(struct bcast_hw_engine *e, uint64_t group,
                          const struct bcast_hw_wire_id *id, uint32_t src,
                          const struct bcast_hw_msg *msg, const void *body, uint32_t len)
{
    e->engine_counts->datagrams_sent++;
    e->engine_counts->datagram_bytes_sent +=
        bcast_hw_rails_cast(&e->rails, group, id, src, msg, body, len);
}

void bcast_hw_engine_send(struct bcast_hw_engine *e, uint32_t world_rank,
                          const struct bcast_hw_wire_id *id, uint32_t src,
                          const struct bcast_hw_msg *msg, const void *body, uint32_t len)
{
    unsigned char head[BCAST_HW_WIRE_HEAD], control[BCAST_HW_WIRE_CONTROL_MAX];
    struct bcast_hw_lane *lane = e->cfg.lane;
    void *payload = msg->type == BCAST_HW_MSG_DATA ? (void *) (uintptr_t) body : control;
    struct bcast_hw_wire_id named = *id;

    if (bcast_hw_names_is_by_key(msg->type))
        named.generation = 0;
    len = bcast_hw_wire_encode(head, &named, src, msg, payload, len);
    e->engine_counts->lane_messages_sent++;
    if (lane->ops->send(lane, world_rank, head, sizeof(head), payload, len) != BCAST_HW_OK)
        bcast_hw_engine_on_lost(e, world_rank);
}

void bcast_hw_engine_send_from(struct bcast_hw_engine *e, uint32_t world_rank,
                               struct bcast_hw_group *g, const struct bcast_hw_msg *msg,
                               const void *body, uint32_t len)
{
    const uint32_t index = e->cfg.num_far_lanes > 0 ? msg->rail : 0;
    struct bcast_hw_lane *lane = lane_of(e, index);
    unsigned char head[BCAST_HW_WIRE_HEAD];

    bcast_hw_wire_encode(head, &g->id, g->cfg.rank, msg, (void *) (uintptr_t) body, len);
    e->engine_counts->lane_messages_sent++;
    e->unflushed = e->cfg.num_far_lanes > 0;
    g->lent[index]++;
    if (lane->ops->send_from(lane, world_rank, head, sizeof(head), body, len,
                             tag_of(g, index, msg->token)) != BCAST_HW_OK) {
        g->lent[index]--;
        bcast_hw_engine_on_lost(e, world_rank);
    }
}

void bcast_hw_engine_cut(struct bcast_hw_engine *e, const struct bcast_hw_group *g)
{
    for (uint32_t i = 0; i < BCAST_HW_LANES_MAX; i++) {
        struct bcast_hw_lane *lane = lane_of(e, i);

        if (g->lent[i] == 0)
            continue;
        e->engine_counts->lanes_cut++;
        lane->ops->cut(lane);
        assert(g->lent[i] == 0);
    }
}

void bcast_hw_engine_drain(struct bcast_hw_engine *e, uint64_t now)
{
    e->draining = true;
    for (struct bcast_hw_group *g = e->groups, *next; g; g = next) {
        next = g->next;
        if (g->state != BCAST_HW_GROUP_CLOSING)
            bcast_hw_group_close(g, now);
        if (g->over)
            bcast_hw_group_free(g);
    }
}

bool bcast_hw_engine_told(struct bcast_hw_engine *e)
{
    return !e->cfg.lane || e->cfg.lane->ops->flush(e->cfg.lane) != BCAST_HW_AGAIN;
}

bool bcast_hw_engine_drained(const struct bcast_hw_engine *e)
{
    return !e->groups && e->declines.num == 0;
}

void bcast_hw_engine_close(struct bcast_hw_engine *e)
{
    while (e->groups)
        bcast_hw_group_free(e->groups);
    e->declines = (struct bcast_hw_declines){0};
    bcast_hw_agenda_free(&e->agenda);
    bcast_hw_rails_close(&e->rails);
    if (e->cfg.lane)
        e->cfg.lane->ops->close(e->cfg.lane);
    for (uint32_t i = 0; i < e->cfg.num_far_lanes; i++)
        e->cfg.lanes[i]->ops->close(e->cfg.lanes[i]);
    e->cfg.num_lanes = e->cfg.num_far_lanes = 0;
    e->cfg.lane = NULL;
    e->draining = e->unflushed = false;
}

void bcast_hw_engine_destroy(struct bcast_hw_engine *e)
{
    free(e);
}
