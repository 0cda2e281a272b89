/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Sending over the links of links.h. The frames for a peer stand in a row for each stream: in a
 * ring those that are in the window, in a list those that wait for it.
 */

#include "links_impl.h"

#include <stdlib.h>

#define BORROW_MIN 2048u /* a shorter body a lane copies sooner than it keeps account of it */

struct hwmc_links_row {
    struct hwmc_frame *window[BCAST_HW_LINK_WINDOW]; /* by number; NULL outside acked..next */
    struct hwmc_frame *waiting, **end;               /* numbered from acked + WINDOW */
    uint32_t acked;                                  /* of the first in the window */
    uint32_t next;
};

/* Rows. */

static struct hwmc_links_row *get_row(struct hwmc_links_peer *p, uint32_t stream)
{
    if (p->rows[stream] == NULL) {
        p->rows[stream] = calloc(1, sizeof(struct hwmc_links_row));
        if (p->rows[stream] != NULL)
            p->rows[stream]->end = &p->rows[stream]->waiting;
        p->link.changed = true;
    }
    return p->rows[stream];
}

static struct hwmc_frame **place_of(struct hwmc_links_row *r, uint32_t number)
{
    return &r->window[number % BCAST_HW_LINK_WINDOW];
}

static void append(struct hwmc_links_row *r, struct hwmc_frame *f)
{
    if (r->next - r->acked < BCAST_HW_LINK_WINDOW) {
        *place_of(r, r->next) = f;
    } else {
        *r->end = f;
        r->end = &f->after;
    }
    r->next++;
}

static void let_in(struct hwmc_links_row *r, uint32_t number)
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
static void give_back(struct hwmc_links *l, struct hwmc_frame *f)
{
    const struct hwmc_links_upper *up = &l->uppers[f->stream];

    f->lent = false;
    up->sent(up->ctx, f->tag);
}

void hwmc_links_release(struct hwmc_links *l, struct hwmc_frame *f)
{
    if (!f->done || f->out > 0)
        return;
    if (f->lent)
        give_back(l, f);
    hwmc_frame_destroy(&l->frames, f);
}

void hwmc_links_drop_acked(struct hwmc_links *l, struct hwmc_links_peer *p, uint32_t stream)
{
    struct hwmc_links_row *r = p->rows[stream];

    while (r != NULL && r->acked != p->link.streams[stream].acked) {
        struct hwmc_frame *f = *place_of(r, r->acked);

        let_in(r, r->acked);
        r->acked++;
        f->done = true;
        hwmc_links_release(l, f);
    }
}

/* Sending. */

static int send_frame(struct hwmc_links *l, struct hwmc_links_peer *p,
                      const struct bcast_hw_link_tx *tx)
{
    struct bcast_hw_lane *lane = l->lanes[tx->lane];
    struct hwmc_frame *f = *place_of(p->rows[tx->stream], tx->number);
    const bool is_short = f->body_len < BORROW_MIN;
    const bool keeps = is_short || (l->cfg.tells >> tx->lane & 1) == 0;
    int err;

    hwmc_link_wire_encode(f->head, l->self, tx);
    if (keeps && !hwmc_frame_own(f))
        return BCAST_HW_ERR_NOMEM;
    if (is_short) {
        err = lane->ops->send(lane, p->rank, f->head, f->head_len, f->body, f->body_len);
    } else {
        f->out++;
        err = lane->ops->send_from(lane, p->rank, f->head, f->head_len, f->body, f->body_len,
                                   (uint64_t) (uintptr_t) f);
        if (err != BCAST_HW_OK)
            f->out--;
    }
    if (keeps && f->lent)
        give_back(l, f); /* who lent it does not wait for the acknowledgement */
    return err;
}

static int send_tx(struct hwmc_links *l, struct hwmc_links_peer *p,
                   const struct bcast_hw_link_tx *tx)
{
    struct bcast_hw_lane *lane = l->lanes[tx->lane];
    unsigned char head[HWMC_LINK_WIRE_HEAD];

    if (tx->kind == BCAST_HW_LINK_FRAME)
        return send_frame(l, p, tx);
    hwmc_link_wire_encode(head, l->self, tx);
    return lane->ops->send(lane, p->rank, head, sizeof(head), NULL, 0);
}

/* How links stand by lanes may be another now. */
static void show(struct hwmc_links *l, struct hwmc_links_peer *p)
{
    uint32_t sends = 0, lanes;

    if (!bcast_hw_link_take_changed(&p->link) || l->changed == NULL)
        return;
    for (uint32_t i = 0; i < l->cfg.streams; i++)
        sends |= p->rows[i] != NULL ? 1u << i : 0;
    lanes = bcast_hw_stand_take(l->stands, &p->share, p->rank, &p->link, sends);
    for (uint32_t i = 0; i < l->cfg.lanes; i++)
        if (lanes >> i & 1)
            l->changed(l->watcher, i, &l->stands[i]);
}

void hwmc_links_pump(struct hwmc_links *l, struct hwmc_links_peer *p, uint64_t now)
{
    struct bcast_hw_link_tx tx;

    while (bcast_hw_link_next_send(&p->link, &tx, now))
        if (send_tx(l, p, &tx) != BCAST_HW_OK)
            hwmc_links_lane_is_off(l, p, tx.lane, now);
    hwmc_links_set_timer(l, p);
    show(l, p);
}

int hwmc_links_send(struct hwmc_links *l, uint32_t stream, uint32_t rank, const void *head,
                    size_t head_len, const void *body, size_t body_len, const uint64_t *tag)
{
    struct hwmc_links_peer *p;
    struct hwmc_links_row *row;
    struct hwmc_frame *f;

    if (rank >= l->size || stream >= l->cfg.streams)
        return BCAST_HW_ERR_INVAL;
    p = hwmc_links_get_peer(l, rank);
    row = p != NULL ? get_row(p, stream) : NULL;
    f = row != NULL ? hwmc_frame_create(&l->frames, head, head_len, body, body_len, tag) : NULL;
    if (f == NULL)
        return BCAST_HW_ERR_NOMEM;
    f->stream = (uint8_t) stream;
    append(row, f);
    bcast_hw_link_post(&p->link, stream);
    hwmc_links_pump(l, p, hwmc_links_now());
    return BCAST_HW_OK;
}

/* Whether a lane has some body of the stream's that its owner wants back. */
static bool is_out(const struct hwmc_links *l, uint32_t stream)
{
    for (const struct hwmc_frame *f = l->frames.all; f != NULL; f = f->next)
        if (f->stream == stream && f->lent && f->out > 0)
            return true;
    return false;
}

void hwmc_links_take_back(struct hwmc_links *l, uint32_t stream)
{
    for (uint32_t i = 0; i < l->cfg.lanes; i++)
        if ((l->cfg.tells >> i & 1) != 0 && is_out(l, stream))
            l->lanes[i]->ops->cut(l->lanes[i]);
    for (struct hwmc_frame *f = l->frames.all; f != NULL; f = f->next) {
        if (f->stream != stream || !f->lent)
            continue;
        if (!hwmc_frame_own(f))
            f->body_len = 0;
        give_back(l, f);
    }
}

uint32_t hwmc_links_room(const struct hwmc_links *l, uint32_t stream, uint32_t rank)
{
    const struct hwmc_links_peer *p = l->peers[rank];
    uint32_t taken;

    if (p == NULL)
        return BCAST_HW_LINK_WINDOW;
    taken = p->link.streams[stream].next - p->link.streams[stream].acked;
    return taken < BCAST_HW_LINK_WINDOW ? BCAST_HW_LINK_WINDOW - taken : 0;
}
