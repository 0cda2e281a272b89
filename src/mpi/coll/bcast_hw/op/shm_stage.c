/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * shm_stage: see shm_stage.h.
 */

#include "shm_stage.h"

#include "../shm/segment/wakeup.h"

static bool shm_step(struct hwmc_op_stage *stage)
{
    struct hwmc_shm_op *op = ((struct hwmc_shm_stage *) stage)->op;
    int err;

    do
        err = hwmc_shm_op_step(op);
    while (err == HWMC_AGAIN && op->moved);
    hwmc_shm_wakeup_ring(op->group);
    if (err == HWMC_AGAIN)
        return false;
    hwmc_stage_note(stage, (enum hwmc_err) err, true);
    stage->over = true;
    return true;
}

/* The others of the host learn so from the group, which is broken. */
static void shm_fail(struct hwmc_op_stage *stage, enum hwmc_err err)
{
    hwmc_stage_note(stage, err, true);
    stage->over = true;
}

static const struct hwmc_stage_ops shm_ops = {.step = shm_step, .fail = shm_fail};

void hwmc_shm_stage_begin(struct hwmc_shm_stage *s, struct hwmc_shm_op *op)
{
    hwmc_stage_init(&s->stage, &shm_ops);
    s->op = op;
}
