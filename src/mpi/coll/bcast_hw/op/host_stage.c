/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * host_stage: see host_stage.h.
 */

#include "host_stage.h"
#include "../shm/segment/wakeup.h"

void hwmc_host_stage_begin(struct hwmc_host_stage *s, const struct hwmc_host_cfg *cfg, void *memory,
                           uint64_t bytes, uint64_t here)
{
    s->over = false;
    s->err = HWMC_OK;
    hwmc_shm_bcast_begin(&s->b, cfg->group, &cfg->tree, cfg->from, memory, bytes, here);
}

void hwmc_host_stage_more(struct hwmc_host_stage *s, uint64_t bytes)
{
    if (!s->over && bytes > s->b.here)
        hwmc_shm_bcast_more(&s->b, bytes);
}

void hwmc_host_stage_step(struct hwmc_host_stage *s)
{
    int err;

    if (s->over)
        return;
    do
        err = hwmc_shm_op_step(&s->b.op);
    while (err == HWMC_AGAIN && s->b.op.moved);
    hwmc_shm_wakeup_ring(s->b.op.group);
    s->over = err != HWMC_AGAIN;
    s->err = s->over ? (enum hwmc_err) err : HWMC_OK;
}
