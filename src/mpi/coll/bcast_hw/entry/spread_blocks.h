/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_blocks: a long allreduce after each host has combined what its ranks have.
 *
 *   apart      each member combines a block of the vector (spread_apart.h)
 *   together   all get all blocks (spread_all.h): by multicast, each goes once
 *   down       the other ranks of a host get the result from their leader (op/bcast)
 *
 * A line carries 2 M (p - 1) / p bytes each way, of M bytes and p members: the least that there is
 * for one that each member's line goes by.
 */

#ifndef HWMC_ENTRY_SPREAD_BLOCKS_H_INCLUDED
#define HWMC_ENTRY_SPREAD_BLOCKS_H_INCLUDED

#include "spread_all.h"
#include "spread_apart.h"

struct hwmc_spread_blocks {
    struct hwmc_spread *spread;
    const void *in;               /* what goes across, at a leader */
    unsigned char *out;           /* the result; may be `in` */
    uint64_t bytes;               /* of it */
    struct hwmc_shm_range *range; /* by member: its block; the leader's, as are the next two */
    struct hwmc_turn *turn;       /* the same, in `out` */
    struct hwmc_move *rows;
    struct hwmc_spread_apart apart;
    union hwmc_spread_all together;
    struct hwmc_bcast down;
};

/* Of `bytes`, whole elements. False without memory. */
bool hwmc_spread_blocks_init(struct hwmc_spread_blocks *b, struct hwmc_spread *s,
                             const struct hwmc_shm_operation *operation, const void *in, void *out,
                             uint64_t bytes);
void hwmc_spread_blocks_free(struct hwmc_spread_blocks *b);

/* Stage `i` of the chain (op/chain.h). */
#define HWMC_SPREAD_BLOCKS_STAGES 3u
struct hwmc_op_stage *hwmc_spread_blocks_stage(struct hwmc_spread_blocks *b, uint32_t i);

#endif /* HWMC_ENTRY_SPREAD_BLOCKS_H_INCLUDED */
