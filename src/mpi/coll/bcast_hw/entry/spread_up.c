/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_up: see spread_up.h.
 */

#include "spread_up.h"

/* Where vectors go from memory to memory a rank other than the leader may combine some. */
static bool needs_work(const struct hwmc_shm_host *n, uint32_t leader)
{
    return n->group.rank != leader && n->group.params.reduction == HWMC_SHM_REDUCTION_TREEMM;
}

struct hwmc_op_stage *hwmc_spread_up_begin(struct hwmc_spread_up *u, const struct hwmc_spread *s,
                                           struct hwmc_shm_host *n,
                                           const struct hwmc_combination *x, void *out,
                                           uint64_t bytes)
{
    const struct hwmc_shm_operation *o = &x->operation.of;
    const struct hwmc_shm_choice *choice =
        hwmc_shm_choose(n, HWMC_SHM_KIND_REDUCE, (MPI_Aint) bytes);
    const uint32_t leader = hwmc_spread_leader_number(s);
    const struct hwmc_shm_tree tree = hwmc_shm_comm_tree(n, choice, leader);
    int err;

    if (needs_work(n, leader)) {
        u->work = MPL_malloc(MPL_MAX(bytes, 1), MPL_MEM_COLL);
        if (!u->work)
            return hwmc_spread_leave_host(n, &u->stage.stage, HWMC_ERR_NOMEM);
    }
    err = hwmc_shm_reduction_begin(&u->reduction, &n->group, &tree, leader, o, x->operands.in,
                                   n->group.rank == leader ? out : u->work, bytes / o->element);
    MPIR_Assert(err == HWMC_OK);
    hwmc_shm_stage_begin(&u->stage, &u->reduction.op);
    return &u->stage.stage;
}
