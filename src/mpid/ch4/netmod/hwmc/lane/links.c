/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What comes from the lanes, and progress. Machines are asked what to send after every send, and at
 * the end of a poll for those that something came for.
 */

#include "links_impl.h"

#include <string.h>
#include <sys/epoll.h>

/* Polls with nothing after which a lane is looked at in every 8th alone: a poll is a system call
 * for some. */
#define IDLE_POLLS 64u
#define IDLE_TURNS 8u

/* What comes from the lanes. */

void hwmc_links_on_recv(void *port, const void *head, size_t head_len, const void *body,
                        size_t body_len)
{
    const struct hwmc_links_port *at = port;
    struct hwmc_links *l = at->links;
    const struct hwmc_links_upper *up;
    uint64_t now = hwmc_links_now();
    struct hwmc_link_wire w;
    struct hwmc_links_peer *p;

    l->events++;
    if (!hwmc_link_wire_decode(&w, head, head_len, l->size, l->cfg.streams))
        return;
    p = hwmc_links_get_peer(l, w.src);
    if (p == NULL)
        return; /* as if it had been lost; the sender has it still */
    hwmc_links_touch(l, p);
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
    hwmc_links_drop_acked(l, p, w.stream);
    up = &l->uppers[w.stream];
    if (w.kind == BCAST_HW_LINK_FRAME && up->recv != NULL &&
        bcast_hw_link_on_frame(&p->link, at->lane, w.stream, w.number, now) == BCAST_HW_PLACE)
        up->recv(up->ctx, w.src, (const unsigned char *) head + HWMC_LINK_WIRE_HEAD,
                 head_len - HWMC_LINK_WIRE_HEAD, body, body_len);
}

void hwmc_links_on_lost(void *port, uint32_t rank)
{
    const struct hwmc_links_port *at = port;
    struct hwmc_links_peer *p = at->links->peers[rank];

    at->links->events++;
    if (p != NULL)
        hwmc_links_lane_is_off(at->links, p, at->lane, hwmc_links_now());
}

void hwmc_links_on_sent(void *port, uint64_t tag)
{
    const struct hwmc_links_port *at = port;
    struct hwmc_frame *f = (struct hwmc_frame *) (uintptr_t) tag;

    at->links->events++;
    f->out--;
    hwmc_links_release(at->links, f);
}

/* Progress. */

/* Of the lanes in `outlived`, a mask, one to some peer may be dead: to any. */
static void doubt(struct hwmc_links *l, uint32_t outlived, uint64_t now)
{
    for (struct hwmc_links_peer *p = l->made; p != NULL; p = p->next) {
        for (uint32_t i = 0; i < l->cfg.lanes; i++)
            if ((outlived >> i & 1) != 0)
                bcast_hw_link_doubt(&p->link, i, now);
        hwmc_links_touch(l, p);
    }
}

static void run_timer(struct hwmc_links *l, struct hwmc_links_peer *p, uint64_t now)
{
    l->looks++;
    if (p->retry_at <= now)
        hwmc_links_try_lanes(l, p, now);
    if (bcast_hw_link_next_timer(&p->link) <= now)
        bcast_hw_link_on_timer(&p->link, now);
}

/* Who has none any more leaves the list when it is pumped. */
static void run_timers(struct hwmc_links *l, uint64_t now)
{
    uint32_t outlived = 0;

    l->wake = BCAST_HW_NEVER;
    for (struct hwmc_links_peer *p = l->armed; p != NULL; p = p->next_armed) {
        run_timer(l, p, now);
        outlived |= bcast_hw_link_take_outlived(&p->link);
        hwmc_links_touch(l, p);
    }
    if (outlived != 0)
        doubt(l, outlived, now);
}

static void pump_touched(struct hwmc_links *l, uint64_t now)
{
    while (l->touched != NULL) {
        struct hwmc_links_peer *p = l->touched;

        l->touched = p->next_touched;
        p->touched = false;
        hwmc_links_pump(l, p, now);
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
    now = hwmc_links_now();
    if (now >= l->wake) {
        run_timers(l, now);
        l->events++;
    }
    pump_touched(l, now);
    return l->events;
}

/* Waiting. */

uint64_t hwmc_links_deadline(struct hwmc_links *l)
{
    uint64_t at = l->touched != NULL ? 0 : l->wake;

    for (uint32_t i = 0; i < l->cfg.lanes; i++) {
        uint64_t lane = l->lanes[i]->ops->deadline(l->lanes[i]);

        at = lane < at ? lane : at;
    }
    return at;
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
    for (struct hwmc_links_peer *p = l->made; p != NULL; p = p->next)
        if (!bcast_hw_link_is_clear(&p->link))
            return BCAST_HW_AGAIN;
    return BCAST_HW_OK;
}
