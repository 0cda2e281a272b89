/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * feeds: where ranks of a host are near to different rails, a long message goes in parts at the
 * same time, one for each feed: a set of rails, and of each host a rank near to them, its feeder
 * there. Rails are one feed where the same rank is the nearest to both on every host. No rank is
 * the feeder of two feeds: on a host where nobody is nearer than others the feeds have different
 * ranks all the same. A host with fewer ranks than there would be feeds leaves the communicator
 * without any. So do rails that are not about as fast as each other: the parts are set before the
 * message is sent, by what was measured when the job started, and the slowest ends it; fragment by
 * fragment (core/path/stripe.h) each rail gets its share as it goes.
 *
 * Example: hosts of ranks 0 1 and 2 3; 0 and 2 are near to rail 0, 1 and 3 to rail 1. Feed 0: rail
 * 0, by 0 and 2; feed 1: rail 1, by 1 and 3. At equal speeds of the rails each carries half of a
 * message.
 *
 * Invariants: num is 0 or at least 2; the feeds' rails are disjoint and all that there are; a
 * host's feeders differ.
 */
#ifndef HWMC_CORE_PLACE_FEEDS_H_INCLUDED
#define HWMC_CORE_PLACE_FEEDS_H_INCLUDED

#include "../base/msg.h"
#include "leaders.h"

#define HWMC_FEEDS_PAGE 4096u /* parts of a message are of whole pages, but the last */

/* What a rank tells all others of itself. */
struct hwmc_near {
    int distance[HWMC_RAIL_BITS]; /* from each rail, in any unit; INT_MAX: not known */
    int casts;                    /* rails that it has multicast on, a bit each */
};

struct hwmc_feeds {
    uint32_t num;                  /* 0: messages do not go in parts */
    uint8_t rails[HWMC_RAIL_BITS]; /* by feed, a bit each */
    uint32_t hosts;
    uint32_t *feeder; /* by feed and host */
};

/* Words of memory for it. */
static inline size_t hwmc_feeds_words(uint32_t hosts)
{
    return (size_t) HWMC_RAIL_BITS * hosts;
}

/* Rails that messages can go by, a bit each: those that all of `ranks` have multicast on; where
 * there are none, those that lanes are on. */
uint32_t hwmc_feeds_rails(const struct hwmc_near *near, uint32_t ranks, uint32_t lane_rails);

/* Of these rails. `near`: by rank; `mbit`: by rail, its speed; 0: unknown, and there are no feeds.
 * `memory`: words as above, the caller's as long as the feeds are used. */
void hwmc_feeds_init(struct hwmc_feeds *f, const struct hwmc_leaders *leaders,
                     const struct hwmc_near *near, uint32_t rails, const uint32_t *mbit,
                     uint32_t *memory);

static inline uint32_t hwmc_feeds_at(const struct hwmc_feeds *f, uint32_t feed, uint32_t host)
{
    return f->feeder[feed * f->hosts + host];
}

/* How many rails it has: parts of a message are in proportion to that. */
static inline uint32_t hwmc_feeds_share(const struct hwmc_feeds *f, uint32_t feed)
{
    return (uint32_t) __builtin_popcount(f->rails[feed]);
}

/* Where in a message of `bytes` the part of a feed begins; of feed `num`: the end. */
uint64_t hwmc_feeds_begin(const struct hwmc_feeds *f, uint32_t feed, uint64_t bytes);

/* There are feeds, and each has a part of such a message. */
bool hwmc_feeds_fit(const struct hwmc_feeds *f, uint64_t bytes);

#endif /* HWMC_CORE_PLACE_FEEDS_H_INCLUDED */
