/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * expect: see expect.h.
 */
#include "expect.h"

#include "group.h"

static bool is_next(const void *ctx, const void *head, uint32_t i)
{
    const struct hwmc_expectation *x = ctx;
    const uint32_t max_frags = x->group->stream.ring.max_frags;

    return hwmc_wire_is_fragment((const unsigned char *) head + x->auth, &x->group->id,
                                 hwmc_coming_bid(&x->coming, i, max_frags),
                                 hwmc_coming_index(&x->coming, i, max_frags));
}

bool hwmc_expect(const struct hwmc_groups *all, uint32_t rail, struct hwmc_expectation *x)
{
    const struct hwmc_group *g = all->pinned;
    const struct hwmc_stream *s;
    size_t bytes, frag;

    if (!g || g->state != HWMC_GROUP_ON || !g->running || g->direct.first != HWMC_NEVER)
        return false;
    s = &g->stream;
    frag = s->ring.frag_bytes;
    x->coming = hwmc_coming_on(s, rail, HWMC_BURST);
    if (x->coming.num == 0)
        return false;
    x->expected.at =
        hwmc_placement_rest(&g->placement, x->coming.bid, x->coming.index * frag, &bytes);
    if (!x->expected.at)
        return false;
    x->group = g;
    x->auth = hwmc_wires_auth_bytes(g->wires);
    x->expected.head = x->auth + HWMC_WIRE_CAST_HEAD;
    x->expected.body = frag;
    x->expected.bytes = bytes < x->coming.num * frag ? bytes : x->coming.num * frag;
    x->expected.is_next = is_next;
    x->expected.ctx = x;
    return true;
}
