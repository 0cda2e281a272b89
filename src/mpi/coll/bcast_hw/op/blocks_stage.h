/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * blocks_stage: one exchange of a group (core/exchange/exchange.h) as a stage.
 *
 *   RUN -> OVER
 *     \-> RETREAT -> OVER     it cannot go on at this rank
 *
 *   RUN      parts come and go; `work` uses up those that have come and makes others ready
 *   RETREAT  after an error: retreat.h
 *
 * Invariants: `work` is called without the engine's lock, by who steps; OVER: no lane touches the
 * blocks. After an error other than ERR_INVAL the group is used no further.
 */

#ifndef HWMC_OP_BLOCKS_STAGE_H_INCLUDED
#define HWMC_OP_BLOCKS_STAGE_H_INCLUDED

#include "../engine/engine.h"
#include "retreat.h"
#include "stage.h"

enum hwmc_blocks_state { HWMC_BLOCKS_RUN, HWMC_BLOCKS_RETREAT, HWMC_BLOCKS_OVER };

struct hwmc_blocks_cfg {
    struct hwmc_engine *engine;
    struct hwmc_group *group;
    struct hwmc_blocks_plan plan;
    uint64_t withdraw_ns; /* how long lanes may have blocks after an error */
    /* Of incoming block i the parts below here[i] have come: the caller may use them up, to
     * taken[i]. Of outgoing block i those below ready[i] can go. `work` is called once at
     * first, before the exchange begins, and when something has come. All three are the caller's
     * memory. */
    void (*work)(void *of);
    void *of;
    uint32_t *here, *taken, *ready;
};

struct hwmc_blocks_stage {
    struct hwmc_op_stage stage;
    struct hwmc_blocks_cfg cfg;
    enum hwmc_blocks_state state;
    uint32_t came; /* parts that `work` knows of */
    bool untold;   /* it has been called since the machine was told what it did */
    struct hwmc_retreat retreat;
};

#define HWMC_BLOCKS_PIECE (UINT64_C(1) << 30) /* bytes of one exchange of a vector, about */

/* Of whole elements, one at least. */
static inline uint64_t hwmc_blocks_piece(uint32_t element)
{
    return element > HWMC_BLOCKS_PIECE ? element : HWMC_BLOCKS_PIECE / element * element;
}

/* Begins the group's next exchange; not under the engine's lock. Where the group is broken it is
 * over at once, with ERR_PEER. */
void hwmc_blocks_stage_begin(struct hwmc_blocks_stage *s, const struct hwmc_blocks_cfg *cfg);

#endif /* HWMC_OP_BLOCKS_STAGE_H_INCLUDED */
