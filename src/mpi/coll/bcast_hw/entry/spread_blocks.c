/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_blocks: see spread_blocks.h.
 */

#include "spread_blocks.h"

enum { APART, TOGETHER, DOWN };

static bool failed(const struct hwmc_spread_blocks *b)
{
    return b->spread->chain.stage.err != HWMC_OK;
}

/* Blocks of whole elements, as long as each other but for one. */
static void lay_blocks(struct hwmc_spread_blocks *b, uint32_t element, uint32_t members)
{
    const uint64_t num = b->bytes / element, each = num / members, more = num % members;
    uint64_t at = 0;

    for (uint32_t i = 0; i < members; i++) {
        const uint64_t bytes = (each + (i < more)) * element;

        b->range[i] = (struct hwmc_shm_range){at, bytes};
        b->turn[i] = (struct hwmc_turn){b->out + at, bytes};
        at += bytes;
    }
}

bool hwmc_spread_blocks_init(struct hwmc_spread_blocks *b, struct hwmc_spread *s,
                             const struct hwmc_shm_operation *operation, const void *in, void *out,
                             uint64_t bytes)
{
    const size_t p = hwmc_spread_members(s);

    b->spread = s;
    b->in = in;
    b->out = out;
    b->bytes = bytes;
    b->rows = NULL;
    if (!hwmc_spread_leads(s))
        return true;
    b->rows =
        MPL_malloc(p * (2 * sizeof(*b->rows) + sizeof(*b->turn) + sizeof(*b->range)), MPL_MEM_COLL);
    if (!b->rows)
        return false;
    b->turn = (struct hwmc_turn *) (b->rows + 2 * p);
    b->range = (struct hwmc_shm_range *) (b->turn + p);
    lay_blocks(b, operation->element, (uint32_t) p);
    if (hwmc_spread_apart_init(&b->apart, s, operation, b->range, HWMC_PLAN_BLOCKS))
        return true;
    hwmc_spread_blocks_free(b);
    return false;
}

void hwmc_spread_blocks_free(struct hwmc_spread_blocks *b)
{
    if (b->rows)
        hwmc_spread_apart_free(&b->apart);
    MPL_free(b->rows);
    b->rows = NULL;
}

static struct hwmc_op_stage *begin_together(struct hwmc_spread_blocks *b)
{
    const struct hwmc_turn *own = &b->turn[b->apart.member];

    if (!failed(b) && own->bytes > 0)
        memcpy(own->memory, hwmc_spread_apart_combine(&b->apart), own->bytes);
    return hwmc_spread_all_begin(&b->together, b->spread, b->turn, b->rows);
}

struct hwmc_op_stage *hwmc_spread_blocks_stage(struct hwmc_spread_blocks *b, uint32_t i)
{
    if (i != DOWN && !hwmc_spread_leads(b->spread))
        return NULL;
    switch (i) {
        case APART:
            return hwmc_spread_apart_begin(&b->apart, b->in);
        case TOGETHER:
            return begin_together(b);
        default:
            return hwmc_spread_begin_down(b->spread, &b->down, b->out, b->bytes);
    }
}
