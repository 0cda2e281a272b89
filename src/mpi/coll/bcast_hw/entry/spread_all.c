/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_all: see spread_all.h.
 */

#include "spread_all.h"

#include "../core/model/turns_way.h"
#include "../op/wait_stage.h"
#include "../process/process.h"
#include "../select/network.h"

static bool failed(const struct hwmc_spread *s)
{
    return s->chain.stage.err != HWMC_OK;
}

/* Alike on all members. */
static bool turns_win(const struct hwmc_spread *s, const struct hwmc_turn *block)
{
    const struct hwmc_shape *shape = &s->c->leader_group[0].shape;
    uint64_t all = 0;

    for (uint32_t i = 0; i < shape->ranks; i++)
        all += block[i].bytes;
    return hwmc_turns_win(hwmc_network_now(), shape, all / shape->ranks);
}

static struct hwmc_op_stage *begin_turns(struct hwmc_turns *t, const struct hwmc_spread *s,
                                         const struct hwmc_turn *block)
{
    struct hwmc_group *g = s->c->leader_group[0].group;
    const struct hwmc_turns_cfg cfg = {
        .engine = hwmc_process_engine(),
        .group = g,
        .turn = block,
        .ahead = (g->cfg.channels + 1) / 2,
        .withdraw_ns = hwmc_withdraw_ns(),
        .failed = failed(s),
    };

    hwmc_turns_begin(t, &cfg);
    return &t->stage;
}

static struct hwmc_move move_of(const struct hwmc_spread *s, uint32_t peer,
                                const struct hwmc_turn *block)
{
    return (struct hwmc_move){peer, block->memory, failed(s) ? 0 : block->bytes};
}

struct hwmc_op_stage *hwmc_spread_all_begin(union hwmc_spread_all *a, struct hwmc_spread *s,
                                            const struct hwmc_turn *block, struct hwmc_move *rows)
{
    const struct hwmc_group *g = s->c->leader_group[0].group;
    const uint32_t p = g->cfg.size, own = g->cfg.rank;
    struct hwmc_move *in = rows, *out = rows + p;

    if (turns_win(s, block))
        return begin_turns(&a->turns, s, block);
    for (uint32_t i = 1; i < p; i++) {
        const uint32_t before = (own + p - i) % p;

        in[i - 1] = move_of(s, before, &block[before]);
        out[i - 1] = move_of(s, (own + i) % p, &block[own]);
    }
    hwmc_spread_begin_moves(s, &a->each, in, p - 1, out, p - 1, HWMC_PLAN_USUAL);
    return &a->each.stage;
}
