/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * direct: which broadcasts of a long message go to a multicast group of their own, from whose
 * datagrams adapters put payloads where the program wants them (port/fabric.h: direct). An adapter
 * takes what was posted in the order in which it was posted, so all members are to have posted for
 * a fragment before its root multicasts it, and for nothing before it that does not come that way.
 *
 * A message begins with broadcast F. A root multicasts b < floor + N, so nobody has b >= F + N
 * before all members have consumed F: by then all are in the message. They are asked for nothing:
 * the count that they report anyway (channel.h) says besides whether they are ready.
 *
 *   SYNC_UP c, DIRECT      each rank of the subtree has posted for all fragments of the message in
 *                          [F + N, c + N), in order, and nothing else
 *   SYNC_DOWN f, DIRECT    so has each member for [F + N, f + N)
 *
 * The root multicasts b to that group if F + N <= b < f + N for an f > F that was DIRECT, and all
 * of [F + N, b) went there. If one does not, none of the message does any more (broken).
 *
 * Why a flag belongs to the right message: it counts for f > F only, and then all members have
 * consumed F, so what each said last it said in this message or in a later one. In the latter case
 * it is through with this one, and all of this one was multicast.
 *
 * A flag may be no longer true when the root acts on it, as a rank may have lost a datagram since:
 * that is allowed, for then the rank takes the datagrams of that group like any others.
 *
 * Example, N = 4, period 2, F = 10: members post for 14 and 15, then consume 10 and 11 and say
 * SYNC_UP 12 DIRECT. With SYNC_DOWN 12 DIRECT the root sends 14 and 15 to that group.
 *
 * Invariants: ready > 0 or broken only while a message is under way (from < NEVER).
 */
#ifndef HWMC_CORE_FLOW_DIRECT_H_INCLUDED
#define HWMC_CORE_FLOW_DIRECT_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "../base/msg.h"

struct hwmc_direct {
    uint64_t from;  /* F + N of the message under way here; NEVER: it may not, or there is none */
    uint64_t ready; /* this rank has posted for those below; NEVER: for all, or it is the root */
    uint64_t floor; /* the highest one that was DIRECT */
    uint16_t children; /* whose last SYNC_UP was DIRECT, a bit each */
    bool broken;       /* root: a broadcast from `from` on went the other way */
};

/* It is over here, or goes on without. */
static inline void hwmc_direct_end(struct hwmc_direct *d)
{
    d->from = HWMC_NEVER;
    d->ready = 0;
    d->broken = false;
}

static inline void hwmc_direct_init(struct hwmc_direct *d)
{
    hwmc_direct_end(d);
    d->floor = 0;
    d->children = 0;
}

/* A message begins with broadcast `first`, of `n` channels. */
static inline void hwmc_direct_begin(struct hwmc_direct *d, uint64_t first, uint32_t n)
{
    d->from = first + n;
    d->ready = 0;
    d->broken = false;
}

/* What this rank may say with a count, `all` being all its children in the tree. */
static inline bool hwmc_direct_is_ready(const struct hwmc_direct *d, uint64_t count, uint32_t n,
                                        uint16_t all)
{
    return d->ready >= count + n && (d->children & all) == all;
}

static inline void hwmc_direct_on_up(struct hwmc_direct *d, uint32_t child, bool direct)
{
    const uint16_t bit = (uint16_t) (1u << child);

    d->children = (uint16_t) (direct ? d->children | bit : d->children & ~bit);
}

static inline void hwmc_direct_on_floor(struct hwmc_direct *d, uint64_t floor, bool direct)
{
    if (direct && floor > d->floor)
        d->floor = floor;
}

/* Root: whether broadcast `bid`, which it is about to multicast, goes to that group. */
static inline bool hwmc_direct_takes(struct hwmc_direct *d, uint64_t bid, uint32_t n)
{
    if (bid < d->from)
        return false;
    d->broken = d->broken || d->floor + n <= d->from || bid >= d->floor + n;
    return !d->broken;
}

#endif /* HWMC_CORE_FLOW_DIRECT_H_INCLUDED */
