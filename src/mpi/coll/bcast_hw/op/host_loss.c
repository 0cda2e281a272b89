/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * host_loss: see host_loss.h.
 */

#include "host_loss.h"

#include "../engine/group/failure.h"
#include "../process/hosts.h"
#include "../process/process.h"

void hwmc_host_loss_note(struct hwmc_shm_host *n, const struct hwmc_group *g)
{
    const struct hwmc_notice *loss = &g->loss;

    if (g->state == HWMC_GROUP_BROKEN && loss->finder != loss->rank)
        hwmc_shm_group_note_lost(&n->group, g->world[loss->rank]);
}

void hwmc_host_loss_pass(const struct hwmc_shm_host *n, struct hwmc_group *g)
{
    uint32_t lost;

    if (!hwmc_shm_group_lost(&n->group, &lost))
        return;
    for (uint32_t i = 0; i < g->cfg.size; i++)
        if (i != g->cfg.rank && hwmc_host_of(g->world[i]) == hwmc_host_of(lost)) {
            hwmc_group_on_lost(g, g->world[i]);
            return;
        }
}

void hwmc_host_loss_fail(struct hwmc_op_stage *s, const struct hwmc_shm_host *n)
{
    if (n && s->group) {
        hwmc_lock();
        hwmc_host_loss_pass(n, s->group);
        hwmc_unlock();
    }
    s->ops->fail(s, HWMC_ERR_PEER);
}
