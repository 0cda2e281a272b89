/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * retreat: how a stage of the network ends that cannot go on at this rank.
 *
 *   NONE -> [TELL ->] [WITHDRAWN ->] OVER
 *
 *   NONE       the stage runs
 *   TELL       the group is broken: other members get to know of it, also over connections that are
 *              yet to be made, for this rank may not come again
 *   WITHDRAWN  lanes may have some of the program's memory yet, and rails may send from it. A peer
 *              that is there takes what is on its way to it with its next call of MPI; one that is
 *              gone never does
 *   OVER       no lane or rail touches the program's memory
 *
 * TELL lasts HWMC_TELL_NS at most, WITHDRAWN `withdraw_ns`. All calls come under the engine's lock.
 */

#ifndef HWMC_OP_RETREAT_H_INCLUDED
#define HWMC_OP_RETREAT_H_INCLUDED

#include <stdbool.h>

#include "../engine/engine.h"

/* How long others are told: what a lost member was sent is never flushed. */
#define HWMC_TELL_NS UINT64_C(1000000000)

enum hwmc_retreat_state {
    HWMC_RETREAT_NONE,
    HWMC_RETREAT_TELL,
    HWMC_RETREAT_WITHDRAWN,
    HWMC_RETREAT_OVER
};

struct hwmc_retreat {
    enum hwmc_retreat_state state;
    struct hwmc_engine *engine;
    struct hwmc_group *group;
    uint64_t withdraw_ns; /* how long lanes may have the program's memory */
    bool by_lanes;        /* they may have some */
    uint64_t until;       /* ns: TELL, WITHDRAWN: when that is left */
};

/* `r` has engine, group, withdraw_ns and by_lanes. Begins it. */
void hwmc_retreat_begin(struct hwmc_retreat *r, uint64_t now);

/* Begun. True: it is over. */
bool hwmc_retreat_step(struct hwmc_retreat *r, uint64_t now);

#endif /* HWMC_OP_RETREAT_H_INCLUDED */
