/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * seek: see seek.h.
 */
#include "seek.h"

#include <assert.h>

#include "../base/msg.h"
#include "../base/prng.h"

/* Whom a rank can ask: all but itself and its predecessor. */
static uint32_t seek_others(uint32_t size)
{
    return size > 2 ? size - 2 : 0;
}

/* The one at place `i` of those, from the one on that is asked first. */
static uint32_t member_at(const struct hwmc_seek *s, uint32_t rank, uint32_t size, uint32_t i)
{
    uint64_t n = seek_others(size);

    return (uint32_t) ((rank + 1 + (s->seed % n + i) % n) % size);
}

void hwmc_seek_init(struct hwmc_seek *s, uint64_t bid, uint32_t rank)
{
    *s = (struct hwmc_seek){.at = HWMC_NEVER, .seed = hwmc_prng(bid, rank), .holder = HWMC_NOBODY};
}

static uint64_t seek_time_after(const struct hwmc_seek *s, uint64_t pause, uint64_t now)
{
    return now + pause + hwmc_prng(s->seed, s->round) % (pause / 2 + 1);
}

/* The holder has its turn no more. */
static void let_go(struct hwmc_seek *s)
{
    s->holder = HWMC_NOBODY;
    s->take = false;
}

void hwmc_seek_wait(struct hwmc_seek *s, uint64_t pause, uint64_t now)
{
    let_go(s);
    s->asked -= s->due;
    s->due = s->round = 0;
    s->at = seek_time_after(s, pause, now);
}

void hwmc_seek_end(struct hwmc_seek *s)
{
    let_go(s);
    s->asked -= s->due;
    s->due = 0;
    s->at = HWMC_NEVER;
}

void hwmc_seek_on_timer(struct hwmc_seek *s, uint32_t size, bool all, uint64_t pause, uint64_t now)
{
    uint32_t n = seek_others(size), more = all ? 1 : 1u << s->round;

    let_go(s);
    if (s->asked == 0)
        s->began = now;
    s->at = seek_time_after(s, pause << s->round, now);
    s->round += pause << s->round < HWMC_SEEK_MAX_NS;
    more = more < n ? more : n;
    s->asked = (s->asked < 2 * n ? s->asked : s->asked - n) + more - s->due;
    s->due = more;
}

bool hwmc_seek_next(struct hwmc_seek *s, uint32_t rank, uint32_t size, uint32_t *peer, bool *take)
{
    *take = s->take;
    if (s->take) {
        s->take = false;
        *peer = s->holder;
        return true;
    }
    if (s->due == 0)
        return false;
    *peer = member_at(s, rank, size, s->asked - s->due);
    s->due--;
    return true;
}

bool hwmc_seek_has_asked(const struct hwmc_seek *s, uint32_t rank, uint32_t size, uint32_t peer)
{
    uint64_t n = seek_others(size), place, asked = s->asked - s->due;

    if (n == 0 || peer >= size || peer == rank)
        return false;
    place = ((uint64_t) peer + size - rank - 1) % size; /* after the next one in the ring */
    return place < n && (place + n - s->seed % n) % n < asked;
}

uint64_t hwmc_seek_on_offer(struct hwmc_seek *s, uint32_t peer, uint64_t now)
{
    uint64_t trip = s->began > 0 ? now - s->began : 0;

    s->began = 0;
    if (s->at == HWMC_NEVER || s->holder != HWMC_NOBODY)
        return trip;
    s->holder = peer;
    s->take = true;
    s->asked -= s->due;
    s->due = 0;
    return trip;
}

void hwmc_seek_check(const struct hwmc_seek *s, uint32_t rank, uint32_t size)
{
    assert(s->due <= s->asked);
    assert(s->at != HWMC_NEVER || (s->due == 0 && s->holder == HWMC_NOBODY));
    assert(!s->take || s->holder != HWMC_NOBODY);
    assert(s->holder == HWMC_NOBODY || hwmc_seek_has_asked(s, rank, size, s->holder));
}
