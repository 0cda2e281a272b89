/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * leaders: the leader groups of a communicator with several ranks a host: groups of one rank of
 * each host. A host's ranks have places by nearness to the rail, from 0; ties go to the lower rank.
 * Leader group j consists, of each host of n ranks, of the one at place j mod n. So each rank is in
 * the leader group of its place, and can multicast itself as the root of a broadcast on that group.
 *
 * Example: hosts of ranks 0 1 2 and of 3 4; 1 is the nearest of its host. Leader group 0: 1 3;
 * leader group 1: 0 4; leader group 2: 2 3.
 *
 * A host's ranks also have numbers in the order of ranks: what is combined in that order goes by
 * them.
 *
 * Invariants: `order` has each rank once; at(host_of[r], place[r]) is r.
 */
#ifndef HWMC_CORE_PLACE_LEADERS_H_INCLUDED
#define HWMC_CORE_PLACE_LEADERS_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hwmc_leaders {
    uint32_t ranks;    /* of the communicator */
    uint32_t hosts;    /* 1 to ranks */
    uint32_t *host_of; /* by rank */
    uint32_t *place;   /* by rank, among those of its host */
    uint32_t *number;  /* by rank, among those of its host in the order of ranks */
    uint32_t *order;   /* all ranks, host by host, by their places */
    uint32_t *first;   /* by host: where in `order` its ranks begin; and where the last one's end */
};

/* Numbers hosts in the order in which they come: host_of[r] is that of `name[r]`, any integer; how
 * many there are. `table`: words as by the function after it, all 0. In time proportional to
 * `ranks`. */
uint32_t hwmc_leaders_number(uint32_t ranks, const int *name, uint32_t *host_of, uint32_t *table);
size_t hwmc_leaders_table_words(uint32_t ranks);

/* Words of memory for it. */
static inline size_t hwmc_leaders_words(uint32_t ranks, uint32_t hosts)
{
    return 4 * (size_t) ranks + hosts + 1;
}

/* `host_of`: by rank, the number of its host below `hosts`; each has one rank at least. `distance`:
 * by rank, in any unit, from the rail. `memory`: words as above, the caller's as long as the leader
 * groups are used. */
void hwmc_leaders_init(struct hwmc_leaders *s, uint32_t ranks, uint32_t hosts,
                       const uint32_t *host_of, const int *distance, uint32_t *memory);

/* Ranks on a host. */
static inline uint32_t hwmc_leaders_on(const struct hwmc_leaders *s, uint32_t host)
{
    return s->first[host + 1] - s->first[host];
}

/* The most that any host has: on so many leader groups some rank is that is on none before. */
uint32_t hwmc_leaders_num(const struct hwmc_leaders *s);

/* The rank of `host` on a leader group. */
static inline uint32_t hwmc_leaders_at(const struct hwmc_leaders *s, uint32_t side, uint32_t host)
{
    return s->order[s->first[host] + side % hwmc_leaders_on(s, host)];
}

static inline bool hwmc_leaders_has(const struct hwmc_leaders *s, uint32_t side, uint32_t rank)
{
    return hwmc_leaders_at(s, side, s->host_of[rank]) == rank;
}

void hwmc_leaders_check(const struct hwmc_leaders *s);

#endif /* HWMC_CORE_PLACE_LEADERS_H_INCLUDED */
