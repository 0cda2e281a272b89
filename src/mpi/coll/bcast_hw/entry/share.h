/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * share: allgather(v) over hosts of several ranks, by their leaders: a part of each rank for all.
 *
 *   up       the ranks of each host give their leader their parts (shm/coll/gather)
 *   across   leaders get those of each host (spread_all.h)
 *   down     each rank gets all parts from its leader (op/bcast, inside the host)
 *
 * Parts go host by host, in the order of ranks. Where that is the order of all ranks, and parts
 * follow each other in memory, that memory serves; else each rank has a copy of all of them.
 */

#ifndef HWMC_ENTRY_SHARE_H_INCLUDED
#define HWMC_ENTRY_SHARE_H_INCLUDED

#include "spread_all.h"
#include "../op/shm_stage.h"
#include "../shm/coll/gather.h"

struct hwmc_share {
    struct hwmc_spread *spread;
    struct hwmc_move own;        /* this rank's part; may lie where it is to be */
    const struct hwmc_move *get; /* by rank; the caller's */
    unsigned char *whole;        /* all parts, host by host: of the program, or `made` */
    unsigned char *made;
    uint64_t bytes;               /* of all */
    struct hwmc_shm_range *parts; /* by mate: in `whole` */
    struct hwmc_shm_range *hosts; /* by host: likewise; made with `parts` */
    struct hwmc_move *rows;       /* two for each host */
    struct hwmc_turn *blocks;     /* one for each host, behind the rows */
    struct hwmc_shm_gather up;
    struct hwmc_shm_stage up_stage;
    union hwmc_spread_all across;
    struct hwmc_bcast down;
};

/* To give `own` and to get these parts, for `s`, whose communicator has leaders. Returns MPICH's
 * error code; on an error there is nothing to end. */
int hwmc_share_begin(struct hwmc_share *r, struct hwmc_spread *s, struct hwmc_move own,
                     const struct hwmc_move *get);

/* Stage `i` of the chain of `s` (op/chain.h). */
#define HWMC_SHARE_STAGES 3u
struct hwmc_op_stage *hwmc_share_stage(struct hwmc_share *r, uint32_t i);

/* The chain is over: the parts are there if it has no error. */
void hwmc_share_end(struct hwmc_share *r);

#endif /* HWMC_ENTRY_SHARE_H_INCLUDED */
