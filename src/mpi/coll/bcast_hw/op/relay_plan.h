/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * relay_plan: what the leader of a host does with the parts that the ranks of its host, its mates,
 * have for all ranks, and get from them: which bytes make up the block for each other host, and
 * where those of a block that came from it belong.
 *
 *   gathered   mate by mate: what it gives, in the order of the ranks that get it
 *   block      for a host: mate by mate, for each rank of that host, in the order of ranks
 *   spread     mate by mate: what it gets, in the order of the ranks that gave it
 *
 * A block whose pieces lie one behind the other in `gathered`, or `spread`, is sent from there, or
 * received to there. Others are copied.
 *
 * Example, ranks 0 1 on host 0, 2 3 on host 1, everybody has a part for each. Gathered at host 0:
 * 00 01 02 03, 10 11 12 13. The block for host 1: 02 03 12 13. Spread at host 1: 02 12 22 32, 03 13
 * 23 33.
 *
 *   init    memory for the lengths, which the caller fills in
 *   lay     finds where all is, and memory for it; now the caller fills `gathered`
 *   out, in a block each, to be sent or filled
 *   own     copies what stays in the host
 *   came    the block from a host is there
 *           now `spread` has it; the caller may fill in other lengths, and lay again
 *   free
 *
 * Memory: up to twice what the mates give and get together; once if the caller has `gathered` and
 * `spread`.
 */

#ifndef HWMC_OP_RELAY_PLAN_H_INCLUDED
#define HWMC_OP_RELAY_PLAN_H_INCLUDED

#include "../core/place/leaders.h"
#include "../shm/coll/vector.h"

struct hwmc_relay_block {
    unsigned char *memory;
    uint64_t bytes;
    bool apart; /* it does not lie in `gathered`, or `spread` */
};

struct hwmc_relay_plan {
    const struct hwmc_leaders *leaders;
    uint32_t host;     /* this one */
    uint32_t mates;    /* ranks on it, by number */
    uint32_t *by_host; /* ranks host by host, in the order of ranks: leaders->first says where */
    /* By mate, for each rank what it gives that one, and after these what it gets of it: bytes. */
    uint64_t *lengths;
    uint64_t *places;  /* of these in `gathered` and `spread` */
    uint64_t *offsets; /* of the block to each host, and of that from it, in what it lies in */
    struct hwmc_shm_range *gives, *gets; /* by mate: in `gathered`, in `spread` */
    struct hwmc_relay_block *out, *in;   /* by host; of the own one nothing */
    unsigned char *gathered, *spread;
    unsigned char *memory; /* `room` bytes */
    uint64_t room;
};

/* For the leader of `host`. `leaders` is the caller's until free. False without memory: there is
 * nothing to free. */
bool hwmc_relay_plan_init(struct hwmc_relay_plan *p, const struct hwmc_leaders *leaders,
                          uint32_t host);

/* The lengths of a mate: of what it gives to each rank, and of what it gets from each. */
static inline uint64_t *hwmc_relay_gives(const struct hwmc_relay_plan *p, uint32_t mate)
{
    return p->lengths + (size_t) mate * 2 * p->leaders->ranks;
}
static inline uint64_t *hwmc_relay_gets(const struct hwmc_relay_plan *p, uint32_t mate)
{
    return hwmc_relay_gives(p, mate) + p->leaders->ranks;
}

/* `gathered`, `spread`: the caller's memory; NULL: it is made. False without memory. */
bool hwmc_relay_plan_lay(struct hwmc_relay_plan *p, void *gathered, void *spread);

/* The block for `host`, another one, from what is in `gathered`; and memory for that from it. */
struct hwmc_relay_block hwmc_relay_plan_out(struct hwmc_relay_plan *p, uint32_t host);
struct hwmc_relay_block hwmc_relay_plan_in(const struct hwmc_relay_plan *p, uint32_t host);

/* False: a mate gives another length than the one who gets it names. The shorter one counts. */
bool hwmc_relay_plan_own(struct hwmc_relay_plan *p);
void hwmc_relay_plan_came(struct hwmc_relay_plan *p, uint32_t host);

void hwmc_relay_plan_free(struct hwmc_relay_plan *p);

#endif /* HWMC_OP_RELAY_PLAN_H_INCLUDED */
