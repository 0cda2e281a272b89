/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * moves: memory from member to member of a group, each move from one to another, as a stage: what
 * gathers, scatters and exchanges of all with all come to. It is one exchange
 * (core/exchange/exchange.h); a move of more than a block holds is several, of ports of their own.
 *
 * Cost: what a rank receives, or sends, divided by the bandwidth of all rails, and a latency or
 * two.
 */

#ifndef HWMC_OP_MOVES_H_INCLUDED
#define HWMC_OP_MOVES_H_INCLUDED

#include "blocks_stage.h"

struct hwmc_move {
    uint32_t peer; /* member; not this one; at most once a row */
    void *memory;
    uint64_t bytes; /* at most HWMC_MOVE_MAX */
};

#define HWMC_MOVE_BLOCK (UINT64_C(1) << 31)
#define HWMC_MOVE_MAX (HWMC_MOVE_BLOCK * HWMC_EXCHANGE_PORTS)

struct hwmc_moves_cfg {
    struct hwmc_engine *engine;
    struct hwmc_group *group;
    uint64_t withdraw_ns;
    const struct hwmc_move *in; /* the first ones come first; the caller's during begin */
    const struct hwmc_move *out;
    uint32_t num_in, num_out;
    uint32_t plan;         /* core/exchange/exchange.h */
    struct hwmc_pace pace; /* its part alike on all members */
};

struct hwmc_moves {
    struct hwmc_op_stage stage;
    struct hwmc_blocks_stage blocks;
    void *memory; /* of what follows */
    struct hwmc_block_in *in;
    struct hwmc_block_out *out;
    struct hwmc_block_place *in_place, *out_place;
    uint32_t *here, *taken, *ready;
    uint32_t num_in, num_out, plan;
    struct hwmc_pace pace;
};

/* Begins it; without memory it has failed. It does not move until it is over. */
void hwmc_moves_begin(struct hwmc_moves *m, const struct hwmc_moves_cfg *cfg);

#endif /* HWMC_OP_MOVES_H_INCLUDED */
