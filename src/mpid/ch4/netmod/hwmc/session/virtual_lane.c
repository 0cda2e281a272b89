/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * virtual_lane: see virtual_lane.h.
 */
#include "virtual_lane.h"

#include <stdlib.h>

struct hwmc_virtual_lane {
    struct hwmc_lane super;
    struct hwmc_sessions *sessions;
    uint32_t stream;
    struct hwmc_lane_params params;
};

static struct hwmc_virtual_lane *virtual_of(struct hwmc_lane *lane)
{
    return (struct hwmc_virtual_lane *) lane;
}

static void on_recv(void *ctx, uint32_t peer, const void *head, size_t head_len, const void *body,
                    size_t body_len)
{
    const struct hwmc_virtual_lane *s = ctx;

    (void) peer;
    s->params.recv(s->params.ctx, head, head_len, body, body_len);
}

static void on_sent(void *ctx, uint64_t tag)
{
    const struct hwmc_virtual_lane *s = ctx;

    s->params.sent(s->params.ctx, tag);
}

/* Peers are known by rank: there is nothing to carry. */
static void stream_address(struct hwmc_lane *lane, const void **addr, size_t *len)
{
    (void) lane;
    *addr = "";
    *len = 0;
}

static int stream_send(struct hwmc_lane *lane, uint32_t peer, const void *head, size_t head_len,
                       const void *body, size_t body_len)
{
    const struct hwmc_virtual_lane *s = virtual_of(lane);

    return hwmc_sessions_send(s->sessions, s->stream, peer, head, head_len, body, body_len, NULL);
}

static int stream_send_from(struct hwmc_lane *lane, uint32_t peer, const void *head,
                            size_t head_len, const void *body, size_t body_len, uint64_t tag)
{
    const struct hwmc_virtual_lane *s = virtual_of(lane);

    return hwmc_sessions_send(s->sessions, s->stream, peer, head, head_len, body, body_len, &tag);
}

static int stream_ready(struct hwmc_lane *lane, uint32_t peer)
{
    (void) lane;
    (void) peer;
    return HWMC_OK;
}

static int stream_poll(struct hwmc_lane *lane)
{
    return virtual_of(lane)->stream == 0 ? hwmc_sessions_poll(virtual_of(lane)->sessions) : 0;
}

static int stream_fd(struct hwmc_lane *lane)
{
    return hwmc_sessions_fd(virtual_of(lane)->sessions);
}

static int stream_arm(struct hwmc_lane *lane)
{
    return virtual_of(lane)->stream == 0 ? hwmc_sessions_arm(virtual_of(lane)->sessions) : HWMC_OK;
}

static uint64_t stream_deadline(struct hwmc_lane *lane)
{
    return virtual_of(lane)->stream == 0 ? hwmc_sessions_deadline(virtual_of(lane)->sessions)
                                         : HWMC_NEVER;
}

static int stream_flush(struct hwmc_lane *lane)
{
    return virtual_of(lane)->stream == 0 ? hwmc_sessions_flush(virtual_of(lane)->sessions)
                                         : HWMC_OK;
}

static void stream_close(struct hwmc_lane *lane)
{
    free(virtual_of(lane));
}

static void stream_cut(struct hwmc_lane *lane)
{
    hwmc_sessions_take_back(virtual_of(lane)->sessions, virtual_of(lane)->stream);
}

static const struct hwmc_lane_ops stream_ops = {
    .name = "stream",
    .address = stream_address,
    .ready = stream_ready,
    .send = stream_send,
    .send_from = stream_send_from,
    .poll = stream_poll,
    .fd = stream_fd,
    .arm = stream_arm,
    .deadline = stream_deadline,
    .flush = stream_flush,
    .close = stream_close,
    .cut = stream_cut,
};

struct hwmc_lane *hwmc_virtual_lane_open(struct hwmc_sessions *sessions, uint32_t index,
                                         const struct hwmc_lane_params *params)
{
    struct hwmc_virtual_lane *s = calloc(1, sizeof(*s));
    struct hwmc_sessions_upper upper = {.recv = on_recv, .sent = on_sent, .ctx = s};

    if (s == NULL)
        return NULL;
    s->super.ops = &stream_ops;
    s->sessions = sessions;
    s->stream = index;
    s->params = *params;
    hwmc_sessions_use(sessions, index, &upper);
    return &s->super;
}
