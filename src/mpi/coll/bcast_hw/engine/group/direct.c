/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * direct: see direct.h.
 */
#include "direct.h"

#include "group.h"

void hwmc_group_direct_init(struct hwmc_group *g)
{
    const uint32_t rails = g->negotiation.agreed.rails;
    struct hwmc_fabric *f = rails != 0 && (rails & (rails - 1)) == 0 && g->cfg.direct
                                ? g->wires->rails.one[__builtin_ctz(rails)].fabric
                                : NULL;

    g->direct = (struct hwmc_group_direct){
        .fabric = f && f->ops->direct ? f : NULL,
        .first = HWMC_NEVER,
    };
}

/* The twin can be sent to, and what is sent to it comes. */
static bool has_twin(struct hwmc_group *g)
{
    struct hwmc_group_direct *d = &g->direct;
    int err;

    if (!d->fabric || !g->casts || d->state == HWMC_DIRECT_NEVER)
        return false;
    if (d->state == HWMC_DIRECT_JOINED)
        return true;
    err = d->fabric->ops->direct->join(d->fabric, g->negotiation.agreed.group, &d->twin);
    if (err == HWMC_AGAIN)
        return false;
    d->state = err == HWMC_OK ? HWMC_DIRECT_JOINED : HWMC_DIRECT_NEVER;
    return err == HWMC_OK;
}

void hwmc_group_direct_root(struct hwmc_group *g)
{
    struct hwmc_channel *c = &g->stream.channel;

    if (!has_twin(g))
        return;
    hwmc_direct_begin(&c->direct, hwmc_stream_next_bid(&g->stream), c->n);
    c->direct.ready = HWMC_NEVER;
}

static bool is_next(const void *ctx, const void *head, uint32_t i)
{
    const struct hwmc_group *g = ctx;
    const uint32_t frags = g->stream.ring.max_frags;

    return hwmc_wire_is_fragment((const unsigned char *) head + hwmc_wires_auth_bytes(g->wires),
                                 &g->id, g->direct.first + i / frags, i % frags);
}

void hwmc_group_direct_begin(struct hwmc_group *g)
{
    struct hwmc_channel *c = &g->stream.channel;
    const uint64_t bid = hwmc_stream_next_bid(&g->stream), first = bid + c->n;
    struct hwmc_expected e = {
        .head = hwmc_wires_auth_bytes(g->wires) + HWMC_WIRE_CAST_HEAD,
        .body = g->stream.ring.frag_bytes,
        .is_next = is_next,
        .ctx = g,
    };

    if (!g->direct.fabric)
        return;
    e.at = hwmc_placement_rest(&g->placement, first, 0, &e.bytes);
    if (!e.at || !has_twin(g))
        return;
    g->direct.run = g->direct.fabric->ops->direct->begin(g->direct.fabric, &e);
    if (g->direct.run == 0)
        return;
    hwmc_direct_begin(&c->direct, bid, c->n);
    g->direct.first = first;
    g->direct.bytes = e.bytes;
    hwmc_group_direct_extend(g, c->consumed);
}

/* Nothing is known of these broadcasts, and nothing of them is here. */
static bool are_unknown(const struct hwmc_group *g, uint64_t from, uint64_t below)
{
    for (uint64_t b = from; b < below; b++)
        if (!hwmc_stream_is_unknown(&g->stream, b))
            return false;
    return true;
}

void hwmc_group_direct_extend(struct hwmc_group *g, uint64_t count)
{
    struct hwmc_group_direct *d = &g->direct;
    struct hwmc_direct *ready = &g->stream.channel.direct;
    const uint64_t below = count + g->stream.channel.n;
    size_t bytes, posted;

    if (d->first == HWMC_NEVER || below <= d->first || ready->ready >= below)
        return;
    if (!are_unknown(g, ready->ready > d->first ? ready->ready : d->first, below)) {
        hwmc_group_direct_end(g, true);
        return;
    }
    bytes = (size_t) (below - d->first) * g->piece_bytes;
    bytes = bytes < d->bytes ? bytes : d->bytes;
    posted = d->fabric->ops->direct->extend(d->fabric, d->run, bytes);
    if (posted < bytes)
        hwmc_group_direct_end(g, true);
    else
        ready->ready = bytes < d->bytes ? below : HWMC_NEVER;
}

void hwmc_group_direct_end(struct hwmc_group *g, bool goes_on)
{
    struct hwmc_group_direct *d = &g->direct;

    if (d->first != HWMC_NEVER)
        d->fabric->ops->direct->end(d->fabric, d->run, goes_on);
    d->first = HWMC_NEVER;
    hwmc_direct_end(&g->stream.channel.direct);
}

uint64_t hwmc_group_direct_to(const struct hwmc_group *g, const struct hwmc_msg *msg)
{
    const bool direct = msg->type == HWMC_MSG_DATA && (msg->flags & HWMC_FLAG_DIRECT);

    return direct ? g->direct.twin : g->negotiation.agreed.group;
}

void hwmc_group_direct_leave(struct hwmc_group *g)
{
    struct hwmc_group_direct *d = &g->direct;

    if (!d->fabric)
        return;
    hwmc_group_direct_end(g, false);
    if (d->twin != 0)
        d->fabric->ops->direct->leave(d->fabric, d->twin);
    *d = (struct hwmc_group_direct){.first = HWMC_NEVER};
}
