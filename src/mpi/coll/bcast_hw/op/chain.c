/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * chain: see chain.h.
 */

#include "chain.h"

#define STAGE_SHIFT 48u /* marks of a stage are below: bytes, and a few bits */

static void end_stage(struct hwmc_chain *c)
{
    const struct hwmc_op_stage *s = c->running;

    hwmc_stage_inherit(&c->stage, s);
    c->running = NULL;
    c->at = s->err == HWMC_OK || s->err == HWMC_ERR_INVAL || s->in_host ? c->at + 1 : c->stages;
}

static bool chain_step(struct hwmc_op_stage *stage)
{
    struct hwmc_chain *c = (struct hwmc_chain *) stage;

    while (c->at < c->stages) {
        if (!c->running)
            c->running = c->begin(c, c->at);
        if (!c->running) {
            c->at++;
            continue;
        }
        if (!hwmc_stage_step(c->running)) {
            hwmc_stage_follow(stage, c->running);
            stage->mark = c->running->mark + ((uint64_t) c->at << STAGE_SHIFT);
            return false;
        }
        end_stage(c);
    }
    stage->over = true;
    return true;
}

static void chain_fail(struct hwmc_op_stage *stage, enum hwmc_err err)
{
    struct hwmc_chain *c = (struct hwmc_chain *) stage;

    const bool in_host = c->running && c->running->waits == HWMC_STAGE_FOR_HOST;

    hwmc_stage_note(stage, err, in_host);
    if (!in_host)
        c->stages = c->at + 1;
    if (c->running)
        hwmc_stage_fail(c->running, err);
    else
        c->at = c->stages;
}

static const struct hwmc_stage_ops chain_ops = {.step = chain_step, .fail = chain_fail};

void hwmc_chain_init(struct hwmc_chain *c, uint32_t stages, hwmc_chain_begin_fn begin)
{
    hwmc_stage_init(&c->stage, &chain_ops);
    c->begin = begin;
    c->stages = stages;
    c->at = 0;
    c->running = NULL;
}
