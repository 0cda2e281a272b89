/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * stream_lane: see stream_lane.h.
 */
#include "stream_lane.h"

#include <stdlib.h>

struct hwmc_stream_lane {
    struct bcast_hw_lane super;
    struct hwmc_links *links;
    uint32_t stream;
    struct bcast_hw_lane_params params;
};

static struct hwmc_stream_lane *stream(struct bcast_hw_lane *lane)
{
    return (struct hwmc_stream_lane *) lane;
}

static void on_recv(void *ctx, uint32_t peer, const void *head, size_t head_len, const void *body,
                    size_t body_len)
{
    const struct hwmc_stream_lane *s = ctx;

    (void) peer;
    s->params.recv(s->params.ctx, head, head_len, body, body_len);
}

static void on_sent(void *ctx, uint64_t tag)
{
    const struct hwmc_stream_lane *s = ctx;

    s->params.sent(s->params.ctx, tag);
}

/* Peers are known by rank: there is nothing to carry. */
static void stream_address(struct bcast_hw_lane *lane, const void **addr, size_t *len)
{
    (void) lane;
    *addr = "";
    *len = 0;
}

static int stream_send(struct bcast_hw_lane *lane, uint32_t peer, const void *head, size_t head_len,
                       const void *body, size_t body_len)
{
    const struct hwmc_stream_lane *s = stream(lane);

    return hwmc_links_send(s->links, s->stream, peer, head, head_len, body, body_len, NULL);
}

static int stream_send_from(struct bcast_hw_lane *lane, uint32_t peer, const void *head,
                            size_t head_len, const void *body, size_t body_len, uint64_t tag)
{
    const struct hwmc_stream_lane *s = stream(lane);

    return hwmc_links_send(s->links, s->stream, peer, head, head_len, body, body_len, &tag);
}

static int stream_ready(struct bcast_hw_lane *lane, uint32_t peer)
{
    (void) lane;
    (void) peer;
    return BCAST_HW_OK;
}

static int stream_poll(struct bcast_hw_lane *lane)
{
    return stream(lane)->stream == 0 ? hwmc_links_poll(stream(lane)->links) : 0;
}

static int stream_fd(struct bcast_hw_lane *lane)
{
    return hwmc_links_fd(stream(lane)->links);
}

static int stream_arm(struct bcast_hw_lane *lane)
{
    return stream(lane)->stream == 0 ? hwmc_links_arm(stream(lane)->links) : BCAST_HW_OK;
}

static uint64_t stream_deadline(struct bcast_hw_lane *lane)
{
    return stream(lane)->stream == 0 ? hwmc_links_deadline(stream(lane)->links) : BCAST_HW_NEVER;
}

static int stream_flush(struct bcast_hw_lane *lane)
{
    return stream(lane)->stream == 0 ? hwmc_links_flush(stream(lane)->links) : BCAST_HW_OK;
}

static void stream_close(struct bcast_hw_lane *lane)
{
    free(stream(lane));
}

static void stream_cut(struct bcast_hw_lane *lane)
{
    hwmc_links_take_back(stream(lane)->links, stream(lane)->stream);
}

static const struct bcast_hw_lane_ops stream_ops = {
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

struct bcast_hw_lane *hwmc_stream_lane_open(struct hwmc_links *links, uint32_t index,
                                            const struct bcast_hw_lane_params *params)
{
    struct hwmc_stream_lane *s = calloc(1, sizeof(*s));
    struct hwmc_links_upper upper = {.recv = on_recv, .sent = on_sent, .ctx = s};

    if (s == NULL)
        return NULL;
    s->super.ops = &stream_ops;
    s->links = links;
    s->stream = index;
    s->params = *params;
    hwmc_links_use(links, index, &upper);
    return &s->super;
}
