/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Opening and closing the sessions of session/sessions.h, and what they are told before the first
 * message.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* epoll_create1 */
#endif

#include "sessions_impl.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

struct hwmc_sessions *hwmc_sessions_create(uint32_t self, uint32_t size,
                                           struct hwmc_session_counts *counts)
{
    struct hwmc_sessions *l = calloc(1, sizeof(*l));

    if (l == NULL)
        return NULL;
    l->self = self;
    l->counts = counts;
    l->size = size;
    l->wake = HWMC_NEVER;
    l->peers = calloc(size, sizeof(struct hwmc_sessions_peer *));
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (l->peers == NULL || l->epoll < 0) {
        hwmc_sessions_close(l);
        return NULL;
    }
    for (uint32_t i = 0; i < HWMC_SESSION_LANES_MAX; i++)
        l->ports[i] = (struct hwmc_sessions_port){l, i};
    return l;
}

struct hwmc_sessions_port *hwmc_sessions_port(struct hwmc_sessions *l, uint32_t lane)
{
    return &l->ports[lane];
}

struct hwmc_lane_params hwmc_sessions_params(struct hwmc_sessions_port *port)
{
    return (struct hwmc_lane_params){.recv = hwmc_sessions_on_recv,
                                     .lost = hwmc_sessions_on_lost,
                                     .sent = hwmc_sessions_on_sent,
                                     .ctx = port};
}

/* Edges: a lane's descriptor may stay readable with nothing to do, as UCX's do over TCP. */
static bool watch_fd(int epoll, int fd)
{
    struct epoll_event e = {.events = EPOLLIN | EPOLLET};

    return fd >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) == 0;
}

void hwmc_sessions_open(struct hwmc_sessions *l, const struct hwmc_session_cfg *cfg,
                        struct hwmc_lane *const *lanes)
{
    bool all = true;

    l->cfg = *cfg;
    for (uint32_t i = 0; i < cfg->lanes; i++) {
        l->lanes[i] = lanes[i];
        all = watch_fd(l->epoll, lanes[i]->ops->fd(lanes[i])) && all;
    }
    if (!all) {
        close(l->epoll);
        l->epoll = -1;
    }
}

void hwmc_sessions_watch(struct hwmc_sessions *l,
                         void (*changed)(void *ctx, uint32_t lane,
                                         const struct hwmc_lane_state *stand),
                         void *ctx)
{
    l->changed = changed;
    l->watcher = ctx;
}

void hwmc_sessions_use(struct hwmc_sessions *l, uint32_t stream,
                       const struct hwmc_sessions_upper *upper)
{
    l->uppers[stream] = *upper;
}

void hwmc_sessions_close(struct hwmc_sessions *l)
{
    for (struct hwmc_frame *f = l->frames.all; f != NULL; f = f->next)
        f->pinned = false; /* who pinned it may be gone */
    for (uint32_t i = 0; i < l->cfg.lanes; i++)
        l->lanes[i]->ops->close(l->lanes[i]);
    hwmc_frames_destroy(&l->frames);
    while (l->made != NULL) {
        struct hwmc_sessions_peer *p = l->made;

        l->made = p->next;
        for (uint32_t i = 0; i < HWMC_SESSION_STREAMS_MAX; i++)
            free(p->rows[i]);
        free(p);
    }
    if (l->epoll >= 0)
        close(l->epoll);
    free(l->peers);
    free(l);
}
