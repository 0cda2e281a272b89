/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * leaders: see leaders.h.
 */
#include "leaders.h"

#include <assert.h>
#include <string.h>

#include "../base/prng.h"

/* A power of 2, twice as many as there can be hosts. */
size_t hwmc_leaders_table_words(uint32_t ranks)
{
    size_t words = 2;

    while (words < 2 * (size_t) ranks)
        words *= 2;
    return words;
}

/* A place of the table has one more than the first rank of a host. */
uint32_t hwmc_leaders_number(uint32_t ranks, const int *name, uint32_t *host_of, uint32_t *table)
{
    const size_t words = hwmc_leaders_table_words(ranks);
    uint32_t hosts = 0;

    for (uint32_t r = 0; r < ranks; r++) {
        size_t at = (size_t) hwmc_prng(0, (uint64_t) (uint32_t) name[r]) & (words - 1);

        while (table[at] > 0 && name[table[at] - 1] != name[r])
            at = (at + 1) & (words - 1);
        if (table[at] == 0) {
            table[at] = r + 1;
            host_of[r] = hosts++;
        } else {
            host_of[r] = host_of[table[at] - 1];
        }
    }
    return hosts;
}

/* Sets `first` and `number`; places are in rank order at first. */
static void count_leaders(struct hwmc_leaders *s)
{
    memset(s->first, 0, (s->hosts + 1) * sizeof(*s->first));
    for (uint32_t r = 0; r < s->ranks; r++)
        s->place[r] = s->number[r] = s->first[s->host_of[r] + 1]++;
    for (uint32_t h = 1; h <= s->hosts; h++)
        s->first[h] += s->first[h - 1];
}

void hwmc_leaders_init(struct hwmc_leaders *s, uint32_t ranks, uint32_t hosts,
                       const uint32_t *host_of, const int *distance, uint32_t *memory)
{
    *s = (struct hwmc_leaders){
        .ranks = ranks,
        .hosts = hosts,
        .host_of = memory,
        .place = memory + ranks,
        .number = memory + 2 * (size_t) ranks,
        .order = memory + 3 * (size_t) ranks,
        .first = memory + 4 * (size_t) ranks,
    };
    memcpy(s->host_of, host_of, ranks * sizeof(*host_of));
    count_leaders(s);
    for (uint32_t r = 0; r < ranks; r++) {
        uint32_t begin = s->first[host_of[r]], at = begin + s->place[r];

        for (; at > begin && distance[s->order[at - 1]] > distance[r]; at--)
            s->order[at] = s->order[at - 1];
        s->order[at] = r;
    }
    for (uint32_t at = 0; at < ranks; at++)
        s->place[s->order[at]] = at - s->first[host_of[s->order[at]]];
}

uint32_t hwmc_leaders_num(const struct hwmc_leaders *s)
{
    uint32_t most = 0;

    for (uint32_t h = 0; h < s->hosts; h++)
        most = hwmc_leaders_on(s, h) > most ? hwmc_leaders_on(s, h) : most;
    return most;
}

void hwmc_leaders_check(const struct hwmc_leaders *s)
{
    assert(s->hosts >= 1 && s->first[0] == 0 && s->first[s->hosts] == s->ranks);
    for (uint32_t h = 0; h < s->hosts; h++)
        assert(s->first[h] < s->first[h + 1]);
    for (uint32_t r = 0; r < s->ranks; r++)
        assert(s->place[r] < hwmc_leaders_on(s, s->host_of[r]) &&
               s->order[s->first[s->host_of[r]] + s->place[r]] == r);
}
