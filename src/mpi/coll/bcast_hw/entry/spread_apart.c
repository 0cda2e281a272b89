/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_apart: see spread_apart.h.
 */

#include "spread_apart.h"

#define ALIGNED 16u /* as any type is */

static uint64_t own_bytes(const struct hwmc_spread_apart *a)
{
    return a->block[a->member].bytes;
}

static char *operand(const struct hwmc_spread_apart *a, uint32_t member)
{
    return a->operands + member * a->slot;
}

bool hwmc_spread_apart_init(struct hwmc_spread_apart *a, struct hwmc_spread *s,
                            const struct hwmc_shm_operation *operation,
                            const struct hwmc_shm_range *block, enum hwmc_spread_plan plan)
{
    const struct hwmc_group *g = s->c->leader_group[0].group;

    a->spread = s;
    a->operation = operation;
    a->block = block;
    a->plan = plan;
    a->members = g->cfg.size;
    a->member = g->cfg.rank;
    a->slot = (own_bytes(a) + ALIGNED - 1) / ALIGNED * ALIGNED;
    a->operands = MPL_malloc(MPL_MAX(a->members * a->slot, 1), MPL_MEM_COLL);
    a->rows = MPL_malloc(2 * (size_t) a->members * sizeof(*a->rows), MPL_MEM_COLL);
    return a->operands && a->rows;
}

void hwmc_spread_apart_free(struct hwmc_spread_apart *a)
{
    MPL_free(a->operands);
    MPL_free(a->rows);
}

struct hwmc_op_stage *hwmc_spread_apart_begin(struct hwmc_spread_apart *a, const void *vector)
{
    const bool failed = a->spread->chain.stage.err != HWMC_OK;
    const uint32_t p = a->members, member = a->member;
    const uint64_t own = own_bytes(a);
    struct hwmc_move *in = a->rows, *out = a->rows + p;

    for (uint32_t peer = 0; peer < p; peer++) {
        const struct hwmc_shm_range *block = &a->block[peer];
        char *part = (char *) (uintptr_t) vector + block->at;

        if (peer != member) {
            in[(member + p - peer - 1) % p] =
                (struct hwmc_move){peer, operand(a, peer), failed ? 0 : own};
            out[(peer + p - member - 1) % p] =
                (struct hwmc_move){peer, part, failed ? 0 : block->bytes};
        } else if (own > 0 && !failed) {
            memcpy(operand(a, peer), part, own);
        }
    }
    hwmc_spread_begin_moves(a->spread, &a->moves, in, p - 1, out, p - 1, a->plan);
    return &a->moves.stage;
}

/* From the last member to the first, as the operation may write to its second operand. */
char *hwmc_spread_apart_combine(struct hwmc_spread_apart *a)
{
    const uint64_t own = own_bytes(a);
    char *sum = operand(a, a->members - 1);

    for (uint32_t i = a->members - 1; own > 0 && i-- > 0;)
        hwmc_shm_operation_combine(a->operation, sum, operand(a, i), sum, own);
    return sum;
}
