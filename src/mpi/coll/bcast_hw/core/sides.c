/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * sides: see sides.h.
 */
#include "sides.h"

#include <assert.h>
#include <string.h>

/* Sets `first`, and places in rank order. */
static void count(struct bcast_hw_sides *s)
{
    memset(s->first, 0, (s->hosts + 1) * sizeof(*s->first));
    for (uint32_t r = 0; r < s->ranks; r++)
        s->place[r] = s->first[s->host_of[r] + 1]++;
    for (uint32_t h = 1; h <= s->hosts; h++)
        s->first[h] += s->first[h - 1];
}

void bcast_hw_sides_init(struct bcast_hw_sides *s, uint32_t ranks, uint32_t hosts,
                         const uint32_t *host_of, const int *distance, uint32_t *memory)
{
    *s = (struct bcast_hw_sides){
        .ranks = ranks,
        .hosts = hosts,
        .host_of = memory,
        .place = memory + ranks,
        .order = memory + 2 * (size_t) ranks,
        .first = memory + 3 * (size_t) ranks,
    };
    memcpy(s->host_of, host_of, ranks * sizeof(*host_of));
    count(s);
    for (uint32_t r = 0; r < ranks; r++) {
        uint32_t begin = s->first[host_of[r]], at = begin + s->place[r];

        for (; at > begin && distance[s->order[at - 1]] > distance[r]; at--)
            s->order[at] = s->order[at - 1];
        s->order[at] = r;
    }
    for (uint32_t at = 0; at < ranks; at++)
        s->place[s->order[at]] = at - s->first[host_of[s->order[at]]];
}

uint32_t bcast_hw_sides_num(const struct bcast_hw_sides *s)
{
    uint32_t most = 0;

    for (uint32_t h = 0; h < s->hosts; h++)
        most = bcast_hw_sides_on(s, h) > most ? bcast_hw_sides_on(s, h) : most;
    return most;
}

void bcast_hw_sides_check(const struct bcast_hw_sides *s)
{
    assert(s->hosts >= 1 && s->first[0] == 0 && s->first[s->hosts] == s->ranks);
    for (uint32_t h = 0; h < s->hosts; h++)
        assert(s->first[h] < s->first[h + 1]);
    for (uint32_t r = 0; r < s->ranks; r++)
        assert(s->place[r] < bcast_hw_sides_on(s, s->host_of[r]) &&
               s->order[s->first[s->host_of[r]] + s->place[r]] == r);
}
