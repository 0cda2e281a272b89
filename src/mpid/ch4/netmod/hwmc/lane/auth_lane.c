/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * auth_lane: see auth_lane.h.
 */
#include "auth_lane.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define KEPT 32u /* counters of a peer */

/* Of a peer: one more than each of the greatest counters that came, in order; 0: fewer came. */
struct seen {
    uint64_t at[KEPT];
};

struct auth_lane {
    struct hwmc_lane super;
    struct hwmc_lane_ops ops; /* with the name of the one below */
    struct hwmc_auth_lane_params params;
    struct hwmc_lane *below;
    struct seen seen[]; /* by rank */
};

static struct auth_lane *auth_lane(struct hwmc_lane *lane)
{
    return (struct auth_lane *) lane;
}

/* Whether this counter comes for the first time. */
static bool is_new(struct seen *seen, uint64_t counter)
{
    uint64_t mark = counter + 1;
    uint32_t i = KEPT;

    while (i > 0 && seen->at[i - 1] > mark)
        i--;
    if (i == 0 || seen->at[i - 1] == mark)
        return false;
    memmove(&seen->at[0], &seen->at[1], (i - 1) * sizeof(seen->at[0]));
    seen->at[i - 1] = mark;
    return true;
}

/* What of the way is not in the receiver's rank. */
static uint32_t way_of(const struct auth_lane *s, size_t head_len)
{
    return (uint32_t) s->params.number << 16 | (uint32_t) head_len;
}

/* Sending. */

/* Writes the head with its authentication code to `h`. */
static void put_head(struct auth_lane *s, unsigned char *h, uint32_t peer, const void *head,
                     size_t head_len, const void *body, size_t body_len)
{
    assert(head_len <= HWMC_AUTH_LANE_HEAD_MAX);
    hwmc_auth_put(s->params.auth, h, peer, way_of(s, head_len), head, head_len, body, body_len);
    memcpy(h + HWMC_AUTH, head, head_len);
}

static int auth_lane_send(struct hwmc_lane *lane, uint32_t peer, const void *head, size_t head_len,
                          const void *body, size_t body_len)
{
    struct auth_lane *s = auth_lane(lane);
    unsigned char h[HWMC_AUTH + HWMC_AUTH_LANE_HEAD_MAX];

    put_head(s, h, peer, head, head_len, body, body_len);
    return s->below->ops->send(s->below, peer, h, HWMC_AUTH + head_len, body, body_len);
}

static int auth_lane_send_from(struct hwmc_lane *lane, uint32_t peer, const void *head,
                               size_t head_len, const void *body, size_t body_len, uint64_t tag)
{
    struct auth_lane *s = auth_lane(lane);
    unsigned char h[HWMC_AUTH + HWMC_AUTH_LANE_HEAD_MAX];

    put_head(s, h, peer, head, head_len, body, body_len);
    return s->below->ops->send_from(s->below, peer, h, HWMC_AUTH + head_len, body, body_len, tag);
}

/* What comes from below. */

static bool is_genuine(const struct auth_lane *s, const unsigned char *head, size_t head_len,
                       const void *body, size_t body_len)
{
    uint32_t way;

    return head_len >= HWMC_AUTH && head_len <= HWMC_AUTH + HWMC_AUTH_LANE_HEAD_MAX &&
           hwmc_auth_rank(head) < s->params.size &&
           hwmc_auth_check(s->params.auth, head, s->params.rank, &way, head + HWMC_AUTH,
                           head_len - HWMC_AUTH, body, body_len) &&
           way == way_of(s, head_len - HWMC_AUTH);
}

void hwmc_auth_lane_on_recv(void *lane, const void *head, size_t head_len, const void *body,
                            size_t body_len)
{
    struct auth_lane *s = lane;
    const unsigned char *auth = head;

    if (!is_genuine(s, auth, head_len, body, body_len))
        s->params.counts->forged++;
    else if (!is_new(&s->seen[hwmc_auth_rank(auth)], hwmc_auth_counter(auth)))
        s->params.counts->replayed++;
    else
        s->params.up.recv(s->params.up.ctx, auth + HWMC_AUTH, head_len - HWMC_AUTH, body, body_len);
}

void hwmc_auth_lane_on_lost(void *lane, uint32_t peer)
{
    const struct auth_lane *s = lane;

    s->params.up.lost(s->params.up.ctx, peer);
}

void hwmc_auth_lane_on_sent(void *lane, uint64_t tag)
{
    const struct auth_lane *s = lane;

    s->params.up.sent(s->params.up.ctx, tag);
}

/* The rest is done below. */

static void auth_lane_address(struct hwmc_lane *lane, const void **addr, size_t *len)
{
    auth_lane(lane)->below->ops->address(auth_lane(lane)->below, addr, len);
}

static int auth_lane_ready(struct hwmc_lane *lane, uint32_t peer)
{
    return auth_lane(lane)->below->ops->ready(auth_lane(lane)->below, peer);
}

static int auth_lane_poll(struct hwmc_lane *lane)
{
    return auth_lane(lane)->below->ops->poll(auth_lane(lane)->below);
}

static int auth_lane_fd(struct hwmc_lane *lane)
{
    return auth_lane(lane)->below->ops->fd(auth_lane(lane)->below);
}

static int auth_lane_arm(struct hwmc_lane *lane)
{
    return auth_lane(lane)->below->ops->arm(auth_lane(lane)->below);
}

static uint64_t auth_lane_deadline(struct hwmc_lane *lane)
{
    return auth_lane(lane)->below->ops->deadline(auth_lane(lane)->below);
}

static int auth_lane_flush(struct hwmc_lane *lane)
{
    return auth_lane(lane)->below->ops->flush(auth_lane(lane)->below);
}

static void auth_lane_close(struct hwmc_lane *lane)
{
    auth_lane(lane)->below->ops->close(auth_lane(lane)->below);
    free(lane);
}

static void auth_lane_cut(struct hwmc_lane *lane)
{
    auth_lane(lane)->below->ops->cut(auth_lane(lane)->below);
}

static const struct hwmc_lane_ops auth_lane_ops = {
    .address = auth_lane_address,
    .ready = auth_lane_ready,
    .send = auth_lane_send,
    .send_from = auth_lane_send_from,
    .poll = auth_lane_poll,
    .fd = auth_lane_fd,
    .arm = auth_lane_arm,
    .deadline = auth_lane_deadline,
    .flush = auth_lane_flush,
    .close = auth_lane_close,
    .cut = auth_lane_cut,
};

struct hwmc_lane *hwmc_auth_lane_open(const struct hwmc_auth_lane_params *params,
                                      struct hwmc_lane *below)
{
    struct auth_lane *s = calloc(1, sizeof(*s) + params->size * sizeof(s->seen[0]));

    if (s == NULL)
        return NULL;
    s->ops = auth_lane_ops;
    s->ops.name = below->ops->name;
    s->super.ops = &s->ops;
    s->params = *params;
    s->below = below;
    return &s->super;
}
