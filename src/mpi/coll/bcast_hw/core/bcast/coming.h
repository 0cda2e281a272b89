/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * coming: which fragments are likely to come next by multicast on a rail: those after the last one
 * that came there, one broadcast after the other. Nobody counts on it.
 */
#ifndef HWMC_CORE_BCAST_COMING_H_INCLUDED
#define HWMC_CORE_BCAST_COMING_H_INCLUDED

#include "stream.h"

/* Fragments of `bid` from `index` on, then of the broadcasts after it, each of max_frags of the
 * ring. None of them is here. */
struct hwmc_coming {
    uint64_t bid;
    uint32_t index;
    uint32_t num; /* 0: nothing is expected */
};

/* Of the message that the last posted broadcast belongs to, whose root is another rank: up to
 * `most` fragments. Nothing where it is spread over several rails. */
struct hwmc_coming hwmc_coming_on(const struct hwmc_stream *s, uint32_t rail, uint32_t most);

/* The one number `i` of them. */
static inline uint64_t hwmc_coming_bid(const struct hwmc_coming *c, uint32_t i, uint32_t max_frags)
{
    return c->bid + (c->index + i) / max_frags;
}

static inline uint32_t hwmc_coming_index(const struct hwmc_coming *c, uint32_t i,
                                         uint32_t max_frags)
{
    return (c->index + i) % max_frags;
}

#endif /* HWMC_CORE_BCAST_COMING_H_INCLUDED */
