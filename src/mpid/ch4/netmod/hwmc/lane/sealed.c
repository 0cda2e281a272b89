/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * sealed: see sealed.h.
 */
#include "sealed.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define KEPT 32u /* counters of a peer */

/* Of a peer: one more than each of the greatest counters that came, in order; 0: fewer came. */
struct seen {
    uint64_t at[KEPT];
};

struct sealed {
    struct bcast_hw_lane super;
    struct bcast_hw_lane_ops ops; /* with the name of the one below */
    struct hwmc_sealed_params params;
    struct bcast_hw_lane *below;
    struct seen seen[]; /* by rank */
};

static struct sealed *sealed(struct bcast_hw_lane *lane)
{
    return (struct sealed *) lane;
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
static uint32_t way_of(const struct sealed *s, size_t head_len)
{
    return (uint32_t) s->params.number << 16 | (uint32_t) head_len;
}

/* Sending. */

/* Writes the head with its seal to `h`. */
static void put(struct sealed *s, unsigned char *h, uint32_t peer, const void *head,
                size_t head_len, const void *body, size_t body_len)
{
    assert(head_len <= HWMC_SEALED_HEAD_MAX);
    bcast_hw_seal_put(s->params.seal, h, peer, way_of(s, head_len), head, head_len, body, body_len);
    memcpy(h + BCAST_HW_SEAL, head, head_len);
}

static int sealed_send(struct bcast_hw_lane *lane, uint32_t peer, const void *head, size_t head_len,
                       const void *body, size_t body_len)
{
    struct sealed *s = sealed(lane);
    unsigned char h[BCAST_HW_SEAL + HWMC_SEALED_HEAD_MAX];

    put(s, h, peer, head, head_len, body, body_len);
    return s->below->ops->send(s->below, peer, h, BCAST_HW_SEAL + head_len, body, body_len);
}

static int sealed_send_from(struct bcast_hw_lane *lane, uint32_t peer, const void *head,
                            size_t head_len, const void *body, size_t body_len, uint64_t tag)
{
    struct sealed *s = sealed(lane);
    unsigned char h[BCAST_HW_SEAL + HWMC_SEALED_HEAD_MAX];

    put(s, h, peer, head, head_len, body, body_len);
    return s->below->ops->send_from(s->below, peer, h, BCAST_HW_SEAL + head_len, body, body_len,
                                    tag);
}

/* What comes from below. */

static bool is_genuine(const struct sealed *s, const unsigned char *head, size_t head_len,
                       const void *body, size_t body_len)
{
    uint32_t way;

    return head_len >= BCAST_HW_SEAL && head_len <= BCAST_HW_SEAL + HWMC_SEALED_HEAD_MAX &&
           bcast_hw_seal_rank(head) < s->params.size &&
           bcast_hw_seal_check(s->params.seal, head, s->params.rank, &way, head + BCAST_HW_SEAL,
                               head_len - BCAST_HW_SEAL, body, body_len) &&
           way == way_of(s, head_len - BCAST_HW_SEAL);
}

void hwmc_sealed_on_recv(void *lane, const void *head, size_t head_len, const void *body,
                         size_t body_len)
{
    struct sealed *s = lane;
    const unsigned char *seal = head;

    if (!is_genuine(s, seal, head_len, body, body_len))
        s->params.counts->forged++;
    else if (!is_new(&s->seen[bcast_hw_seal_rank(seal)], bcast_hw_seal_counter(seal)))
        s->params.counts->replayed++;
    else
        s->params.up.recv(s->params.up.ctx, seal + BCAST_HW_SEAL, head_len - BCAST_HW_SEAL, body,
                          body_len);
}

void hwmc_sealed_on_lost(void *lane, uint32_t peer)
{
    const struct sealed *s = lane;

    s->params.up.lost(s->params.up.ctx, peer);
}

void hwmc_sealed_on_sent(void *lane, uint64_t tag)
{
    const struct sealed *s = lane;

    s->params.up.sent(s->params.up.ctx, tag);
}

/* The rest is done below. */

static void sealed_address(struct bcast_hw_lane *lane, const void **addr, size_t *len)
{
    sealed(lane)->below->ops->address(sealed(lane)->below, addr, len);
}

static int sealed_ready(struct bcast_hw_lane *lane, uint32_t peer)
{
    return sealed(lane)->below->ops->ready(sealed(lane)->below, peer);
}

static int sealed_poll(struct bcast_hw_lane *lane)
{
    return sealed(lane)->below->ops->poll(sealed(lane)->below);
}

static int sealed_fd(struct bcast_hw_lane *lane)
{
    return sealed(lane)->below->ops->fd(sealed(lane)->below);
}

static int sealed_arm(struct bcast_hw_lane *lane)
{
    return sealed(lane)->below->ops->arm(sealed(lane)->below);
}

static uint64_t sealed_deadline(struct bcast_hw_lane *lane)
{
    return sealed(lane)->below->ops->deadline(sealed(lane)->below);
}

static int sealed_flush(struct bcast_hw_lane *lane)
{
    return sealed(lane)->below->ops->flush(sealed(lane)->below);
}

static void sealed_close(struct bcast_hw_lane *lane)
{
    sealed(lane)->below->ops->close(sealed(lane)->below);
    free(lane);
}

static void sealed_cut(struct bcast_hw_lane *lane)
{
    sealed(lane)->below->ops->cut(sealed(lane)->below);
}

static const struct bcast_hw_lane_ops sealed_ops = {
    .address = sealed_address,
    .ready = sealed_ready,
    .send = sealed_send,
    .send_from = sealed_send_from,
    .poll = sealed_poll,
    .fd = sealed_fd,
    .arm = sealed_arm,
    .deadline = sealed_deadline,
    .flush = sealed_flush,
    .close = sealed_close,
    .cut = sealed_cut,
};

struct bcast_hw_lane *hwmc_sealed_open(const struct hwmc_sealed_params *params,
                                       struct bcast_hw_lane *below)
{
    struct sealed *s = calloc(1, sizeof(*s) + params->size * sizeof(s->seen[0]));

    if (s == NULL)
        return NULL;
    s->ops = sealed_ops;
    s->ops.name = below->ops->name;
    s->super.ops = &s->ops;
    s->params = *params;
    s->below = below;
    return &s->super;
}
