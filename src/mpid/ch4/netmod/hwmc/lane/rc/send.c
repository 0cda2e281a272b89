/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * send: messages out. See rc_impl.h.
 *
 * Each fragment has a send buffer with the header, and what is copied: the head, and the body
 * unless it is sent from where it lies. A message of one fragment that can go at once is copied
 * once and forgotten; others wait as struct rc_message.
 */
#include <stdlib.h>
#include <string.h>

#include "rc_impl.h"

#define ROOM (RC_FRAGMENT - RC_HEADER) /* bytes of a message in a fragment */

static bool has_room(const struct hwmc_lane_rc *l, const struct rc_conn *c)
{
    return !rc_has_failed(c) && c->posted < RC_SENDS && l->buffers.num_free > 0;
}

static bool can_post(const struct hwmc_lane_rc *l, const struct rc_conn *c)
{
    return c->state == RC_CONN_OPEN && c->credits > 0 && has_room(l, c);
}

static uint8_t *slot_bytes(const struct hwmc_lane_rc *l, uint32_t slot)
{
    return l->buffers.bounce + (size_t) slot * RC_FRAGMENT;
}

static uint32_t take_slot(struct hwmc_lane_rc *l, struct rc_conn *c, struct rc_message *m)
{
    uint32_t slot = l->buffers.free_slot[--l->buffers.num_free];

    l->buffers.slot[slot] = (struct rc_slot){.conn = c, .message = m};
    c->posted++;
    return slot;
}

static void put_slot(struct hwmc_lane_rc *l, uint32_t slot)
{
    l->buffers.slot[slot].conn->posted--;
    l->buffers.slot[slot] = (struct rc_slot){NULL, NULL};
    l->buffers.free_slot[l->buffers.num_free++] = slot;
}

/* Everything that is due goes back with a fragment. */
static uint16_t take_owed(struct rc_conn *c)
{
    uint16_t owed = (uint16_t) c->owed;

    c->owed = 0;
    return owed;
}

/* Sends `len` bytes of the buffer, and `more` if not NULL. A device that refuses has lost the
 * connection. */
static bool post_request(struct hwmc_lane_rc *l, struct rc_conn *c, uint32_t slot, uint32_t len,
                         const struct ibv_sge *more)
{
    struct ibv_sge sge[2] = {{.addr = (uintptr_t) slot_bytes(l, slot),
                              .length = len,
                              .lkey = l->buffers.bounce_mr->lkey}};
    struct ibv_send_wr wr = {.wr_id = slot,
                             .sg_list = sge,
                             .num_sge = more == NULL ? 1 : 2,
                             .opcode = IBV_WR_SEND,
                             .send_flags = IBV_SEND_SIGNALED};
    struct ibv_send_wr *bad;

    if (more != NULL)
        sge[1] = *more;
    else if (len <= l->inline_max)
        wr.send_flags |= IBV_SEND_INLINE;
    if (ibv_post_send(c->apm.qp, &wr, &bad) == 0)
        return true;
    put_slot(l, slot);
    rc_peer_fail(l, c, true);
    return false;
}

static void put_message(struct hwmc_lane_rc *l, struct rc_message *m)
{
    bool borrowed = m->borrowed;
    uint64_t tag = m->tag;

    if (m->region != NULL)
        rc_memory_put(l, m->region);
    free(m);
    if (borrowed)
        l->params.lane.sent(l->params.lane.ctx, tag);
}

/* The next fragment of the message; there is room for it. False: the connection failed. */
static bool post_fragment(struct hwmc_lane_rc *l, struct rc_conn *c, struct rc_message *m)
{
    uint32_t slot = take_slot(l, c, m);
    uint8_t *bytes = slot_bytes(l, slot);
    uint32_t offset = m->posted, n = m->total - offset < ROOM ? m->total - offset : ROOM;
    uint32_t head = offset == 0 ? m->head_len : 0, body = n - head;
    const uint8_t *from = m->body + (offset == 0 ? 0 : offset - m->head_len);
    const struct rc_fragment f = {.type = RC_DATA,
                                  .credits = take_owed(c),
                                  .head_len = m->head_len,
                                  .total = m->total,
                                  .offset = offset};
    struct ibv_sge sge = {.addr = (uintptr_t) from, .length = body};
    bool direct = m->region != NULL && body > 0;

    rc_wire_write_fragment(&f, bytes);
    memcpy(bytes + RC_HEADER, m->bytes, head);
    if (direct)
        sge.lkey = m->region->mr->lkey;
    else if (body > 0)
        memcpy(bytes + RC_HEADER + head, from, body);
    if (!post_request(l, c, slot, RC_HEADER + head + (direct ? 0 : body), direct ? &sge : NULL))
        return false;
    c->credits--;
    m->posted += n;
    m->all_posted = m->posted == m->total;
    m->out++;
    return true;
}

/* Its own message, beyond the credits: see the head of lane/rc/rc.h. */
static void post_credits(struct hwmc_lane_rc *l, struct rc_conn *c)
{
    struct rc_fragment f = {.type = RC_CREDIT, .credits = take_owed(c)};
    uint32_t slot = take_slot(l, c, NULL);

    rc_wire_write_fragment(&f, slot_bytes(l, slot));
    if (post_request(l, c, slot, RC_HEADER, NULL))
        l->params.counts->credits++;
}

void rc_send_pump(struct hwmc_lane_rc *l, struct rc_conn *c)
{
    while (c->first != NULL && can_post(l, c)) {
        struct rc_message *m = c->first;

        if (!post_fragment(l, c, m))
            return;
        if (m->all_posted) {
            c->first = m->next;
            l->num_queued--;
        }
    }
    if (c->owed < RC_CREDITS / 2 || rc_has_failed(c))
        return;
    if (has_room(l, c))
        post_credits(l, c);
    else
        l->starved = true;
}

/* Buffers are every connection's: each time another one is the first. */
void rc_send_pump_all(struct hwmc_lane_rc *l)
{
    if ((l->num_queued == 0 && !l->starved) || l->num_conns == 0)
        return;
    l->starved = false;
    l->turn++;
    for (uint32_t i = 0; i < l->num_conns && l->buffers.num_free > 0; i++)
        rc_send_pump(l, l->conns[(l->turn + i) % l->num_conns]);
}

void rc_send_done(struct hwmc_lane_rc *l, uint32_t slot)
{
    struct rc_message *m = l->buffers.slot[slot].message;

    put_slot(l, slot);
    if (m != NULL && --m->out == 0 && m->all_posted)
        put_message(l, m);
}

void rc_send_drop(struct hwmc_lane_rc *l, struct rc_conn *c)
{
    for (uint32_t i = 0; i < RC_BOUNCE; i++) {
        if (l->buffers.slot[i].conn != c)
            continue;
        if (c->first != NULL && l->buffers.slot[i].message == c->first) {
            c->first->out--; /* given back with the queue */
            put_slot(l, i);
        } else {
            rc_send_done(l, i);
        }
    }
    while (c->first != NULL) {
        struct rc_message *m = c->first;

        c->first = m->next;
        l->num_queued--;
        put_message(l, m);
    }
}

/* A message of one fragment that can go at once. */
static int send_at_once(struct hwmc_lane_rc *l, struct rc_conn *c, const void *head,
                        size_t head_len, const void *body, size_t body_len)
{
    uint32_t slot = take_slot(l, c, NULL);
    uint8_t *bytes = slot_bytes(l, slot);
    const struct rc_fragment f = {.type = RC_DATA,
                                  .credits = take_owed(c),
                                  .head_len = (uint32_t) head_len,
                                  .total = (uint32_t) (head_len + body_len)};

    rc_wire_write_fragment(&f, bytes);
    if (head_len > 0)
        memcpy(bytes + RC_HEADER, head, head_len);
    if (body_len > 0)
        memcpy(bytes + RC_HEADER + head_len, body, body_len);
    if (!post_request(l, c, slot, RC_HEADER + f.total, NULL))
        return HWMC_ERR_PEER;
    c->credits--;
    return HWMC_OK;
}

static struct rc_message *make_message(struct hwmc_lane_rc *l, const void *head, size_t head_len,
                                       const void *body, size_t body_len, bool borrowed,
                                       uint64_t tag)
{
    struct rc_message *m = malloc(sizeof(*m) + head_len + (borrowed ? 0 : body_len));

    if (m == NULL)
        return NULL;
    *m = (struct rc_message){.borrowed = borrowed,
                             .tag = tag,
                             .head_len = (uint32_t) head_len,
                             .total = (uint32_t) (head_len + body_len),
                             .body = borrowed ? body : m->bytes + head_len};
    if (head_len > 0)
        memcpy(m->bytes, head, head_len);
    if (!borrowed && body_len > 0)
        memcpy(m->bytes + head_len, body, body_len);
    if (borrowed && body_len >= RC_ZERO_COPY_MIN)
        m->region = rc_memory_get(l, body, body_len);
    return m;
}

int rc_send(struct hwmc_lane_rc *l, uint32_t peer, const void *head, size_t head_len,
            const void *body, size_t body_len, bool borrowed, uint64_t tag)
{
    struct rc_peer *p = &l->peers[peer];
    struct rc_conn *c = p->conn;
    struct rc_message *m;
    int err;

    if (p->state != RC_PEER_OPEN)
        return HWMC_ERR_PEER;
    if (c->first == NULL && head_len + body_len <= ROOM && can_post(l, c)) {
        err = send_at_once(l, c, head, head_len, body, body_len);
        if (err == HWMC_OK && borrowed)
            l->params.lane.sent(l->params.lane.ctx, tag);
        return err;
    }
    m = make_message(l, head, head_len, body, body_len, borrowed, tag);
    if (m == NULL)
        return HWMC_ERR_NOMEM;
    if (c->first == NULL)
        c->first = m;
    else
        c->last->next = m;
    c->last = m;
    l->num_queued++;
    rc_send_pump(l, c);
    return HWMC_OK;
}
