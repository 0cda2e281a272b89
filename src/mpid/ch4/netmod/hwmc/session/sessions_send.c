/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Sending over the sessions of session/sessions.h. The frames for a peer stand in a row for each
 * stream: in a ring those that are in the window, in a list those that wait for it.
 */

#include "sessions_impl.h"

#include <stdlib.h>

#define BORROW_MIN 2048u /* a shorter body a lane copies sooner than it keeps account of it */

struct hwmc_sessions_row {
    struct hwmc_frame *window[HWMC_SESSION_WINDOW]; /* by number; NULL outside acked..next */
    struct hwmc_frame *waiting, **end;              /* numbered from acked + WINDOW */
    uint32_t acked;                                 /* of the first in the window */
    uint32_t next;
};

/* Rows. */

static struct hwmc_sessions_row *get_row(struct hwmc_sessions_peer *p, uint32_t stream)
{
    if (p->rows[stream] == NULL) {
        p->rows[stream] = calloc(1, sizeof(struct hwmc_sessions_row));
        if (p->rows[stream] != NULL)
            p->rows[stream]->end = &p->rows[stream]->waiting;
        p->session.changed = true;
    }
    return p->rows[stream];
}

static struct hwmc_frame **place_of(struct hwmc_sessions_row *r, uint32_t number)
{
    return &r->window[number % HWMC_SESSION_WINDOW];
}

static void append_frame(struct hwmc_sessions_row *r, struct hwmc_frame *f)
{
    if (r->next - r->acked < HWMC_SESSION_WINDOW) {
        *place_of(r, r->next) = f;
    } else {
        *r->end = f;
        r->end = &f->after;
    }
    r->next++;
}

static void let_in(struct hwmc_sessions_row *r, uint32_t number)
{
    struct hwmc_frame *f = r->waiting;

    *place_of(r, number) = f;
    if (f != NULL) {
        r->waiting = f->after;
        f->after = NULL;
        if (r->waiting == NULL)
            r->end = &r->waiting;
    }
}

/* The upper layer has its body again; it may send, or do anything but poll. */
static void give_back(struct hwmc_sessions *l, struct hwmc_frame *f)
{
    const struct hwmc_sessions_upper *up = &l->uppers[f->stream];

    f->pinned = false;
    up->sent(up->ctx, f->tag);
}

void hwmc_sessions_release(struct hwmc_sessions *l, struct hwmc_frame *f)
{
    if (!f->done || f->out > 0)
        return;
    if (f->pinned)
        give_back(l, f);
    hwmc_frame_destroy(&l->frames, f);
}

void hwmc_sessions_drop_acked(struct hwmc_sessions *l, struct hwmc_sessions_peer *p,
                              uint32_t stream)
{
    struct hwmc_sessions_row *r = p->rows[stream];

    while (r != NULL && r->acked != p->session.streams[stream].acked) {
        struct hwmc_frame *f = *place_of(r, r->acked);

        let_in(r, r->acked);
        r->acked++;
        f->done = true;
        hwmc_sessions_release(l, f);
    }
}

/* Sending. */

static int send_frame(struct hwmc_sessions *l, struct hwmc_sessions_peer *p,
                      const struct hwmc_session_tx *tx)
{
    struct hwmc_lane *lane = l->lanes[tx->lane];
    struct hwmc_frame *f = *place_of(p->rows[tx->stream], tx->number);
    const bool is_short = f->body_len < BORROW_MIN;
    const bool keeps = is_short || (l->cfg.tells >> tx->lane & 1) == 0;
    const bool elsewhere = f->out > 0; /* a lane that was given up still has its body */
    int err;

    hwmc_session_wire_encode(f->head, l->self, tx);
    if (keeps && !hwmc_frame_own(f))
        return HWMC_ERR_NOMEM;
    if (is_short) {
        err = lane->ops->send(lane, p->rank, f->head, f->head_len, f->body, f->body_len);
    } else {
        f->out++;
        err = lane->ops->send_from(lane, p->rank, f->head, f->head_len, f->body, f->body_len,
                                   (uint64_t) (uintptr_t) f);
        if (err != HWMC_OK)
            f->out--;
    }
    if (keeps && f->pinned && !elsewhere)
        give_back(l, f); /* who pinned it does not wait for the acknowledgement */
    return err;
}

static int send_tx(struct hwmc_sessions *l, struct hwmc_sessions_peer *p,
                   const struct hwmc_session_tx *tx)
{
    struct hwmc_lane *lane = l->lanes[tx->lane];
    unsigned char head[HWMC_SESSION_WIRE_HEAD];

    if (tx->kind == HWMC_SESSION_FRAME)
        return send_frame(l, p, tx);
    hwmc_session_wire_encode(head, l->self, tx);
    return lane->ops->send(lane, p->rank, head, sizeof(head), NULL, 0);
}

/* How sessions stand by lanes may be another now. */
static void show_lanes(struct hwmc_sessions *l, struct hwmc_sessions_peer *p)
{
    uint32_t sends = 0, lanes;

    if (!hwmc_session_take_changed(&p->session) || l->changed == NULL)
        return;
    for (uint32_t i = 0; i < l->cfg.streams; i++)
        sends |= p->rows[i] != NULL ? 1u << i : 0;
    lanes = hwmc_lane_state_take(l->stands, &p->share, p->rank, &p->session, sends);
    for (uint32_t i = 0; i < l->cfg.lanes; i++)
        if (lanes >> i & 1)
            l->changed(l->watcher, i, &l->stands[i]);
}

void hwmc_sessions_pump(struct hwmc_sessions *l, struct hwmc_sessions_peer *p, uint64_t now)
{
    struct hwmc_session_tx tx;

    while (hwmc_session_next_send(&p->session, &tx, now))
        if (send_tx(l, p, &tx) != HWMC_OK)
            hwmc_sessions_lane_is_off(l, p, tx.lane, now);
    hwmc_sessions_set_timer(l, p);
    show_lanes(l, p);
}

int hwmc_sessions_send(struct hwmc_sessions *l, uint32_t stream, uint32_t rank, const void *head,
                       size_t head_len, const void *body, size_t body_len, const uint64_t *tag)
{
    struct hwmc_sessions_peer *p;
    struct hwmc_sessions_row *row;
    struct hwmc_frame *f;

    if (rank >= l->size || stream >= l->cfg.streams)
        return HWMC_ERR_INVAL;
    p = hwmc_sessions_get_peer(l, rank);
    row = p != NULL ? get_row(p, stream) : NULL;
    f = row != NULL ? hwmc_frame_create(&l->frames, head, head_len, body, body_len, tag) : NULL;
    if (f == NULL)
        return HWMC_ERR_NOMEM;
    f->stream = (uint8_t) stream;
    append_frame(row, f);
    hwmc_session_post(&p->session, stream);
    hwmc_sessions_pump(l, p, hwmc_sessions_now());
    return HWMC_OK;
}

/* Whether a lane has some body of the stream's that its owner wants back. */
static bool is_out(const struct hwmc_sessions *l, uint32_t stream)
{
    for (const struct hwmc_frame *f = l->frames.all; f != NULL; f = f->next)
        if (f->stream == stream && f->pinned && f->out > 0)
            return true;
    return false;
}

void hwmc_sessions_take_back(struct hwmc_sessions *l, uint32_t stream)
{
    for (uint32_t i = 0; i < l->cfg.lanes; i++)
        if ((l->cfg.tells >> i & 1) != 0 && is_out(l, stream))
            l->lanes[i]->ops->cut(l->lanes[i]);
    for (struct hwmc_frame *f = l->frames.all; f != NULL; f = f->next) {
        if (f->stream != stream || !f->pinned)
            continue;
        if (!hwmc_frame_own(f))
            f->body_len = 0;
        give_back(l, f);
    }
}

uint32_t hwmc_sessions_room(const struct hwmc_sessions *l, uint32_t stream, uint32_t rank)
{
    const struct hwmc_sessions_peer *p = l->peers[rank];
    uint32_t taken;

    if (p == NULL)
        return HWMC_SESSION_WINDOW;
    taken = p->session.streams[stream].next - p->session.streams[stream].acked;
    return taken < HWMC_SESSION_WINDOW ? HWMC_SESSION_WINDOW - taken : 0;
}
