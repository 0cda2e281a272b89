/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * A peer is made when it is first sent to or heard from. Its frames stand in a row for each stream,
 * in a ring of what is in the window and a list of what waits for that. Machines are asked what to
 * send after every send, and at the end of a poll for those that something came for.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* epoll_create1 */
#endif

#include "links.h"
#include "frame.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define BORROW_MIN 2048u /* a shorter body a lane copies sooner than it keeps account of it */

/* A lane that cannot be had is asked for again after this, one that is being connected after
 * that. */
#define RETRY_NS UINT64_C(200000000)
#define CONNECT_NS UINT64_C(1000000)

/* Polls with nothing after which a lane is looked at in every 8th alone: a poll is a system call
 * for some. */
#define IDLE_POLLS 64u
#define IDLE_TURNS 8u

struct row {
    struct hwmc_frame *window[BCAST_HW_LINK_WINDOW]; /* by number; NULL outside acked..next */
    struct hwmc_frame *waiting, **end;               /* numbered from acked + WINDOW */
    uint32_t acked;                                  /* of the first in the window */
    uint32_t next;
};

struct peer {
    struct peer *next; /* of all that were made */
    struct peer *next_touched;
    bool touched;
    struct peer *prev_armed, *next_armed; /* in the list of those that wait for a time */
    bool armed;
    uint32_t rank;
    uint64_t retry_at; /* ns: when lanes that are OFF are asked whether they are ready; NEVER */
    struct bcast_hw_link link;
    struct row *rows[BCAST_HW_LINK_STREAMS_MAX]; /* NULL until something was sent in it */
    struct bcast_hw_stand_share share;           /* of it, in how links stand */
};

struct hwmc_links {
    uint32_t self, size;
    struct bcast_hw_link_cfg cfg;
    struct bcast_hw_link_counts *counts;
    struct bcast_hw_lane *lanes[BCAST_HW_LINK_LANES_MAX];
    uint8_t
        idle[BCAST_HW_LINK_LANES_MAX]; /* polls in a row that found nothing; at most IDLE_POLLS */
    uint32_t turn;                     /* of polls; lane i is looked at in its own, idle or not */
    struct hwmc_links_port ports[BCAST_HW_LINK_LANES_MAX];
    struct hwmc_links_upper uppers[BCAST_HW_LINK_STREAMS_MAX];
    struct hwmc_frames frames;
    struct peer **peers; /* size */
    struct peer *made;
    struct peer *touched;
    struct peer *armed;
    uint64_t wake;  /* not after any peer's timer */
    uint64_t looks; /* at peers, for their timers */
    int events;     /* of the poll under way */
    int epoll;      /* -1: waiting for lanes is not possible */
    struct bcast_hw_stand stands[BCAST_HW_LINK_LANES_MAX];
    void (*changed)(void *ctx, uint32_t lane,
                    const struct bcast_hw_stand *stand); /* NULL: nobody watches */
    void *watcher;
};

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

static void touch(struct hwmc_links *l, struct peer *p)
{
    if (!p->touched) {
        p->touched = true;
        p->next_touched = l->touched;
        l->touched = p;
    }
}

/* Timers. Only peers that have one are looked at when the first is due. */

static void arm(struct hwmc_links *l, struct peer *p)
{
    p->armed = true;
    p->prev_armed = NULL;
    p->next_armed = l->armed;
    if (p->next_armed != NULL)
        p->next_armed->prev_armed = p;
    l->armed = p;
}

static void disarm(struct hwmc_links *l, struct peer *p)
{
    p->armed = false;
    if (p->prev_armed != NULL)
        p->prev_armed->next_armed = p->next_armed;
    else
        l->armed = p->next_armed;
    if (p->next_armed != NULL)
        p->next_armed->prev_armed = p->prev_armed;
}

/* What the peer waits for may have changed. */
static void set_timer(struct hwmc_links *l, struct peer *p)
{
    uint64_t at = bcast_hw_link_next_timer(&p->link);

    at = p->retry_at < at ? p->retry_at : at;
    l->wake = at < l->wake ? at : l->wake;
    if (at != BCAST_HW_NEVER && !p->armed)
        arm(l, p);
    else if (at == BCAST_HW_NEVER && p->armed)
        disarm(l, p);
}

/* Peers. */

/* The peer with its link; NULL without memory. Lanes that report failures are ones that are
 * connected first: they are asked for in the next poll. */
static struct peer *get_peer(struct hwmc_links *l, uint32_t rank)
{
    struct peer *p = l->peers[rank];
    uint64_t now = now_ns();

    if (p != NULL)
        return p;
    p = calloc(1, sizeof(*p));
    if (p == NULL)
        return NULL;
    p->rank = rank;
    p->next = l->made;
    l->made = l->peers[rank] = p;
    bcast_hw_link_init(&p->link, &l->cfg, l->counts, ~(uint32_t) l->cfg.tells, now);
    for (uint32_t i = 0; i < l->cfg.lanes; i++)
        if ((l->cfg.tells >> i & 1) == 0)
            l->lanes[i]->ops->ready(l->lanes[i], rank); /* what comes from now on can be answered */
    p->retry_at = l->cfg.tells != 0 ? now : BCAST_HW_NEVER;
    set_timer(l, p);
    touch(l, p);
    return p;
}

/* Rows. */

static struct row *get_row(struct peer *p, uint32_t stream)
{
    if (p->rows[stream] == NULL) {
        p->rows[stream] = calloc(1, sizeof(struct row));
        if (p->rows[stream] != NULL)
            p->rows[stream]->end = &p->rows[stream]->waiting;
        p->link.changed = true;
    }
    return p->rows[stream];
}

static struct hwmc_frame **place_of(struct row *r, uint32_t number)
{
    return &r->window[number % BCAST_HW_LINK_WINDOW];
}

static void append(struct row *r, struct hwmc_frame *f)
{
    if (r->next - r->acked < BCAST_HW_LINK_WINDOW) {
        *place_of(r, r->next) = f;
    } else {
        *r->end = f;
        r->end = &f->after;
    }
    r->next++;
}

static void let_in(struct row *r, uint32_t number)
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

/* Lets go of a frame that nobody needs. */
static void release(struct hwmc_links *l, struct hwmc_frame *f)
{
    if (!f->done || f->out > 0)
        return;
    if (f->lent)
        give_back(l, f);
    hwmc_frame_destroy(&l->frames, f);
}

static void drop_acked(struct hwmc_links *l, struct peer *p, uint32_t stream)
{
    struct row *r = p->rows[stream];

    while (r != NULL && r->acked != p->link.streams[stream].acked) {
        struct hwmc_frame *f = *place_of(r, r->acked);

        let_in(r, r->acked);
        r->acked++;
        f->done = true;
        release(l, f);
    }
}

/* Sending. */

static int send_frame(struct hwmc_links *l, struct peer *p, const struct bcast_hw_link_tx *tx)
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

static int send_tx(struct hwmc_links *l, struct peer *p, const struct bcast_hw_link_tx *tx)
{
    struct bcast_hw_lane *lane = l->lanes[tx->lane];
    unsigned char head[HWMC_LINK_WIRE_HEAD];

    if (tx->kind == BCAST_HW_LINK_FRAME)
        return send_frame(l, p, tx);
    hwmc_link_wire_encode(head, l->self, tx);
    return lane->ops->send(lane, p->rank, head, sizeof(head), NULL, 0);
}

static void lane_is_off(struct hwmc_links *l, struct peer *p, uint32_t lane, uint64_t now)
{
    bcast_hw_link_on_lost(&p->link, lane, now);
    if (p->retry_at == BCAST_HW_NEVER)
        p->retry_at = now + RETRY_NS;
    set_timer(l, p);
    touch(l, p);
}

/* How links stand by lanes may be another now. */
static void show(struct hwmc_links *l, struct peer *p)
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

static void pump(struct hwmc_links *l, struct peer *p, uint64_t now)
{
    struct bcast_hw_link_tx tx;

    while (bcast_hw_link_next_send(&p->link, &tx, now))
        if (send_tx(l, p, &tx) != BCAST_HW_OK)
            lane_is_off(l, p, tx.lane, now);
    set_timer(l, p);
    show(l, p);
}

int hwmc_links_send(struct hwmc_links *l, uint32_t stream, uint32_t rank, const void *head,
                    size_t head_len, const void *body, size_t body_len, const uint64_t *tag)
{
    struct peer *p;
    struct row *row;
    struct hwmc_frame *f;

    if (rank >= l->size || stream >= l->cfg.streams)
        return BCAST_HW_ERR_INVAL;
    p = get_peer(l, rank);
    row = p != NULL ? get_row(p, stream) : NULL;
    f = row != NULL ? hwmc_frame_create(&l->frames, head, head_len, body, body_len, tag) : NULL;
    if (f == NULL)
        return BCAST_HW_ERR_NOMEM;
    f->stream = (uint8_t) stream;
    append(row, f);
    bcast_hw_link_post(&p->link, stream);
    pump(l, p, now_ns());
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
    const struct peer *p = l->peers[rank];
    uint32_t taken;

    if (p == NULL)
        return BCAST_HW_LINK_WINDOW;
    taken = p->link.streams[stream].next - p->link.streams[stream].acked;
    return taken < BCAST_HW_LINK_WINDOW ? BCAST_HW_LINK_WINDOW - taken : 0;
}

/* What comes from the lanes. */

void hwmc_links_on_recv(void *port, const void *head, size_t head_len, const void *body,
                        size_t body_len)
{
    const struct hwmc_links_port *at = port;
    struct hwmc_links *l = at->links;
    const struct hwmc_links_upper *up;
    uint64_t now = now_ns();
    struct hwmc_link_wire w;
    struct peer *p;

    l->events++;
    if (!hwmc_link_wire_decode(&w, head, head_len, l->size, l->cfg.streams))
        return;
    p = get_peer(l, w.src);
    if (p == NULL)
        return; /* as if it had been lost; the sender has it still */
    touch(l, p);
    switch (w.kind) {
        case BCAST_HW_LINK_PROBE:
            bcast_hw_link_on_probe(&p->link, at->lane, w.number, w.doubts, now);
            return;
        case BCAST_HW_LINK_ANSWER:
            bcast_hw_link_on_answer(&p->link, at->lane, w.number, now);
            return;
        default:
            break;
    }
    if (bcast_hw_link_on_ack(&p->link, at->lane, w.stream, w.ack, w.kind == BCAST_HW_LINK_NAK,
                             now) == BCAST_HW_BAD)
        return;
    drop_acked(l, p, w.stream);
    up = &l->uppers[w.stream];
    if (w.kind == BCAST_HW_LINK_FRAME && up->recv != NULL &&
        bcast_hw_link_on_frame(&p->link, at->lane, w.stream, w.number, now) == BCAST_HW_PLACE)
        up->recv(up->ctx, w.src, (const unsigned char *) head + HWMC_LINK_WIRE_HEAD,
                 head_len - HWMC_LINK_WIRE_HEAD, body, body_len);
}

void hwmc_links_on_lost(void *port, uint32_t rank)
{
    const struct hwmc_links_port *at = port;
    struct peer *p = at->links->peers[rank];

    at->links->events++;
    if (p != NULL)
        lane_is_off(at->links, p, at->lane, now_ns());
}

void hwmc_links_on_sent(void *port, uint64_t tag)
{
    const struct hwmc_links_port *at = port;
    struct hwmc_frame *f = (struct hwmc_frame *) (uintptr_t) tag;

    at->links->events++;
    f->out--;
    release(at->links, f);
}

struct bcast_hw_lane_params hwmc_links_params(struct hwmc_links_port *port)
{
    return (struct bcast_hw_lane_params){.recv = hwmc_links_on_recv,
                                         .lost = hwmc_links_on_lost,
                                         .sent = hwmc_links_on_sent,
                                         .ctx = port};
}

/* Progress. */

static void try_lanes(struct hwmc_links *l, struct peer *p, uint64_t now)
{
    p->retry_at = BCAST_HW_NEVER;
    for (uint32_t i = 0; i < l->cfg.lanes; i++) {
        uint64_t again = now + RETRY_NS;

        if (p->link.lanes[i].state != BCAST_HW_LINK_OFF)
            continue;
        switch (l->lanes[i]->ops->ready(l->lanes[i], p->rank)) {
            case BCAST_HW_OK:
                bcast_hw_link_on_usable(&p->link, i, now);
                continue;
            case BCAST_HW_AGAIN:
                again = now + CONNECT_NS;
                break;
        }
        p->retry_at = again < p->retry_at ? again : p->retry_at;
    }
}

/* Of the lanes in `outlived`, a mask, one to some peer may be dead: to any. */
static void doubt(struct hwmc_links *l, uint32_t outlived, uint64_t now)
{
    for (struct peer *p = l->made; p != NULL; p = p->next) {
        for (uint32_t i = 0; i < l->cfg.lanes; i++)
            if ((outlived >> i & 1) != 0)
                bcast_hw_link_doubt(&p->link, i, now);
        touch(l, p);
    }
}

static void run_timer(struct hwmc_links *l, struct peer *p, uint64_t now)
{
    l->looks++;
    if (p->retry_at <= now)
        try_lanes(l, p, now);
    if (bcast_hw_link_next_timer(&p->link) <= now)
        bcast_hw_link_on_timer(&p->link, now);
}

/* Who has none any more leaves the list when it is pumped. */
static void run_timers(struct hwmc_links *l, uint64_t now)
{
    uint32_t outlived = 0;

    l->wake = BCAST_HW_NEVER;
    for (struct peer *p = l->armed; p != NULL; p = p->next_armed) {
        run_timer(l, p, now);
        outlived |= bcast_hw_link_take_outlived(&p->link);
        touch(l, p);
    }
    if (outlived != 0)
        doubt(l, outlived, now);
}

static void pump_touched(struct hwmc_links *l, uint64_t now)
{
    while (l->touched != NULL) {
        struct peer *p = l->touched;

        l->touched = p->next_touched;
        p->touched = false;
        pump(l, p, now);
    }
}

static void poll_lanes(struct hwmc_links *l)
{
    l->turn++;
    for (uint32_t i = 0; i < l->cfg.lanes; i++) {
        int events;

        if (l->idle[i] == IDLE_POLLS && (l->turn + i) % IDLE_TURNS != 0)
            continue;
        events = l->lanes[i]->ops->poll(l->lanes[i]);
        l->events += events;
        if (events > 0)
            l->idle[i] = 0;
        else if (l->idle[i] < IDLE_POLLS)
            l->idle[i]++;
    }
}

uint64_t hwmc_links_looks(const struct hwmc_links *l)
{
    return l->looks;
}

int hwmc_links_poll(struct hwmc_links *l)
{
    uint64_t now;

    l->events = 0;
    poll_lanes(l);
    if (l->touched == NULL && l->wake == BCAST_HW_NEVER)
        return l->events;
    now = now_ns();
    if (now >= l->wake) {
        run_timers(l, now);
        l->events++;
    }
    pump_touched(l, now);
    return l->events;
}

uint64_t hwmc_links_deadline(struct hwmc_links *l)
{
    uint64_t at = l->touched != NULL ? 0 : l->wake;

    for (uint32_t i = 0; i < l->cfg.lanes; i++) {
        uint64_t lane = l->lanes[i]->ops->deadline(l->lanes[i]);

        at = lane < at ? lane : at;
    }
    return at;
}

/* Edges: a lane's descriptor may stay readable with nothing to do, as UCX's do over TCP. */
static bool watch(int epoll, int fd)
{
    struct epoll_event e = {.events = EPOLLIN | EPOLLET};

    return fd >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) == 0;
}

int hwmc_links_fd(struct hwmc_links *l)
{
    return l->epoll;
}

int hwmc_links_arm(struct hwmc_links *l)
{
    struct epoll_event came[BCAST_HW_LINK_LANES_MAX];

    epoll_wait(l->epoll, came, BCAST_HW_LINK_LANES_MAX, 0); /* takes old edges; new ones follow */
    memset(l->idle, 0, sizeof(l->idle)); /* the poll after the wait looks everywhere */
    for (uint32_t i = 0; i < l->cfg.lanes; i++)
        if (l->lanes[i]->ops->arm(l->lanes[i]) != BCAST_HW_OK)
            return BCAST_HW_AGAIN;
    return BCAST_HW_OK;
}

int hwmc_links_flush(struct hwmc_links *l)
{
    for (struct peer *p = l->made; p != NULL; p = p->next)
        if (!bcast_hw_link_is_clear(&p->link))
            return BCAST_HW_AGAIN;
    return BCAST_HW_OK;
}

/* Opening and closing. */

struct hwmc_links *hwmc_links_create(uint32_t self, uint32_t size,
                                     struct bcast_hw_link_counts *counts)
{
    struct hwmc_links *l = calloc(1, sizeof(*l));

    if (l == NULL)
        return NULL;
    l->self = self;
    l->counts = counts;
    l->size = size;
    l->wake = BCAST_HW_NEVER;
    l->peers = calloc(size, sizeof(struct peer *));
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (l->peers == NULL || l->epoll < 0) {
        hwmc_links_close(l);
        return NULL;
    }
    for (uint32_t i = 0; i < BCAST_HW_LINK_LANES_MAX; i++)
        l->ports[i] = (struct hwmc_links_port){l, i};
    return l;
}

struct hwmc_links_port *hwmc_links_port(struct hwmc_links *l, uint32_t lane)
{
    return &l->ports[lane];
}

void hwmc_links_open(struct hwmc_links *l, const struct bcast_hw_link_cfg *cfg,
                     struct bcast_hw_lane *const *lanes)
{
    bool all = true;

    l->cfg = *cfg;
    for (uint32_t i = 0; i < cfg->lanes; i++) {
        l->lanes[i] = lanes[i];
        all = watch(l->epoll, lanes[i]->ops->fd(lanes[i])) && all;
    }
    if (!all) {
        close(l->epoll);
        l->epoll = -1;
    }
}

void hwmc_links_watch(struct hwmc_links *l,
                      void (*changed)(void *ctx, uint32_t lane, const struct bcast_hw_stand *stand),
                      void *ctx)
{
    l->changed = changed;
    l->watcher = ctx;
}

void hwmc_links_use(struct hwmc_links *l, uint32_t stream, const struct hwmc_links_upper *upper)
{
    l->uppers[stream] = *upper;
}

void hwmc_links_close(struct hwmc_links *l)
{
    for (struct hwmc_frame *f = l->frames.all; f != NULL; f = f->next)
        f->lent = false; /* who lent it may be gone */
    for (uint32_t i = 0; i < l->cfg.lanes; i++)
        l->lanes[i]->ops->close(l->lanes[i]);
    hwmc_frames_destroy(&l->frames);
    while (l->made != NULL) {
        struct peer *p = l->made;

        l->made = p->next;
        for (uint32_t i = 0; i < BCAST_HW_LINK_STREAMS_MAX; i++)
            free(p->rows[i]);
        free(p);
    }
    if (l->epoll >= 0)
        close(l->epoll);
    free(l->peers);
    free(l);
}
