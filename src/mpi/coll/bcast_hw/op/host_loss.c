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
        hwmc_shm_group_note_lost(&n->group, &(struct hwmc_shm_loss){
                                                .rank = g->world[loss->rank],
                                                .finder = g->world[loss->finder],
                                            });
}

/* Not of this host. */
static bool is_on_host_of(const struct hwmc_group *g, uint32_t member, uint32_t world_rank)
{
    return member != g->cfg.rank && hwmc_host_of(g->world[member]) == hwmc_host_of(world_rank);
}

void hwmc_host_loss_pass(const struct hwmc_shm_host *n, struct hwmc_group *g)
{
    const uint32_t own = g->world[g->cfg.rank];
    struct hwmc_shm_loss loss;
    uint32_t apart;

    if (!hwmc_shm_group_lost(&n->group, &loss))
        return;
    apart = hwmc_host_of(loss.rank) == hwmc_host_of(own) ? loss.finder : loss.rank;
    for (uint32_t i = 0; i < g->cfg.size; i++)
        if (is_on_host_of(g, i, apart)) {
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
    hwmc_stage_fail(s, HWMC_ERR_PEER);
}
