/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What comes from the lanes, and progress. Machines are asked what to send after every send, and at
 * the end of a poll for those that something came for.
 */

#include "sessions_impl.h"

#include <string.h>
#include <sys/epoll.h>

/* Polls with nothing after which a lane is looked at in every 8th alone: a poll is a system call
 * for some. */
#define IDLE_POLLS 64u
#define IDLE_TURNS 8u

/* What comes from the lanes. */

void hwmc_sessions_on_recv(void *port, const void *head, size_t head_len, const void *body,
                           size_t body_len)
{
    const struct hwmc_sessions_port *at = port;
    struct hwmc_sessions *l = at->sessions;
    const struct hwmc_sessions_upper *up;
    uint64_t now = hwmc_sessions_now();
    struct hwmc_session_wire w;
    struct hwmc_sessions_peer *p;

    l->events++;
    if (!hwmc_session_wire_decode(&w, head, head_len, l->size, l->cfg.streams))
        return;
    p = hwmc_sessions_get_peer(l, w.src);
    if (p == NULL)
        return; /* as if it had been lost; the sender has it still */
    hwmc_sessions_touch(l, p);
    switch (w.kind) {
        case HWMC_SESSION_PROBE:
            hwmc_session_on_probe(&p->session, at->lane, w.number, w.doubts, now);
            return;
        case HWMC_SESSION_ANSWER:
            hwmc_session_on_answer(&p->session, at->lane, w.number, now);
            return;
        default:
            break;
    }
    if (hwmc_session_on_ack(&p->session, at->lane, w.stream, w.ack, w.kind == HWMC_SESSION_NAK,
                            now) == HWMC_BAD)
        return;
    hwmc_sessions_drop_acked(l, p, w.stream);
    up = &l->uppers[w.stream];
    if (w.kind == HWMC_SESSION_FRAME && up->recv != NULL &&
        hwmc_session_on_frame(&p->session, at->lane, w.stream, w.number, now) == HWMC_PLACE)
        up->recv(up->ctx, w.src, (const unsigned char *) head + HWMC_SESSION_WIRE_HEAD,
                 head_len - HWMC_SESSION_WIRE_HEAD, body, body_len);
}

void hwmc_sessions_on_lost(void *port, uint32_t rank)
{
    const struct hwmc_sessions_port *at = port;
    struct hwmc_sessions_peer *p = at->sessions->peers[rank];

    at->sessions->events++;
    if (p != NULL)
        hwmc_sessions_lane_is_off(at->sessions, p, at->lane, hwmc_sessions_now());
}

void hwmc_sessions_on_sent(void *port, uint64_t tag)
{
    const struct hwmc_sessions_port *at = port;
    struct hwmc_frame *f = (struct hwmc_frame *) (uintptr_t) tag;

    at->sessions->events++;
    f->out--;
    hwmc_sessions_release(at->sessions, f);
}

/* Progress. */

/* Of the lanes in `suspect`, a mask, one to some peer may be dead: to any. */
static void on_suspect(struct hwmc_sessions *l, uint32_t suspect, uint64_t now)
{
    for (struct hwmc_sessions_peer *p = l->made; p != NULL; p = p->next) {
        for (uint32_t i = 0; i < l->cfg.lanes; i++)
            if ((suspect >> i & 1) != 0)
                hwmc_session_suspect(&p->session, i, now);
        hwmc_sessions_touch(l, p);
    }
}

static void run_timer(struct hwmc_sessions *l, struct hwmc_sessions_peer *p, uint64_t now)
{
    l->looks++;
    if (p->retry_at <= now)
        hwmc_sessions_try_lanes(l, p, now);
    if (hwmc_session_next_timer(&p->session) <= now)
        hwmc_session_on_timer(&p->session, now);
}

/* Who has none any more leaves the list when it is pumped. */
static void run_timers(struct hwmc_sessions *l, uint64_t now)
{
    uint32_t suspect = 0;

    l->wake = HWMC_NEVER;
    for (struct hwmc_sessions_peer *p = l->armed; p != NULL; p = p->next_armed) {
        run_timer(l, p, now);
        suspect |= hwmc_session_take_suspect(&p->session);
        hwmc_sessions_touch(l, p);
    }
    if (suspect != 0)
        on_suspect(l, suspect, now);
}

static void pump_touched(struct hwmc_sessions *l, uint64_t now)
{
    while (l->touched != NULL) {
        struct hwmc_sessions_peer *p = l->touched;

        l->touched = p->next_touched;
        p->touched = false;
        hwmc_sessions_pump(l, p, now);
    }
}

static void poll_lanes(struct hwmc_sessions *l)
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

uint64_t hwmc_sessions_looks(const struct hwmc_sessions *l)
{
    return l->looks;
}

int hwmc_sessions_poll(struct hwmc_sessions *l)
{
    uint64_t now;

    l->events = 0;
    poll_lanes(l);
    if (l->touched == NULL && l->wake == HWMC_NEVER)
        return l->events;
    now = hwmc_sessions_now();
    if (now >= l->wake) {
        run_timers(l, now);
        l->events++;
    }
    pump_touched(l, now);
    return l->events;
}

/* Waiting. */

uint64_t hwmc_sessions_deadline(struct hwmc_sessions *l)
{
    uint64_t at = l->touched != NULL ? 0 : l->wake;

    for (uint32_t i = 0; i < l->cfg.lanes; i++) {
        uint64_t lane = l->lanes[i]->ops->deadline(l->lanes[i]);

        at = lane < at ? lane : at;
    }
    return at;
}

int hwmc_sessions_fd(struct hwmc_sessions *l)
{
    return l->epoll;
}

int hwmc_sessions_arm(struct hwmc_sessions *l)
{
    struct epoll_event came[HWMC_SESSION_LANES_MAX];

    epoll_wait(l->epoll, came, HWMC_SESSION_LANES_MAX, 0); /* takes old edges; new ones follow */
    memset(l->idle, 0, sizeof(l->idle)); /* the poll after the wait looks everywhere */
    for (uint32_t i = 0; i < l->cfg.lanes; i++)
        if (l->lanes[i]->ops->arm(l->lanes[i]) != HWMC_OK)
            return HWMC_AGAIN;
    return HWMC_OK;
}

int hwmc_sessions_flush(struct hwmc_sessions *l)
{
    for (struct hwmc_sessions_peer *p = l->made; p != NULL; p = p->next)
        if (!hwmc_session_is_clear(&p->session))
            return HWMC_AGAIN;
    return HWMC_OK;
}
