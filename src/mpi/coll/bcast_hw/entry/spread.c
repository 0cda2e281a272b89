/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread: see spread.h.
 */

#include "spread.h"

#include "../op/wait_stage.h"
#include "../process/process.h"
#include "../select/network.h"
#include "../stats/counters.h"
#include "../stats/epoch.h"

uint64_t hwmc_spread_mean(const MPI_Aint *counts, MPI_Aint count, int num, MPI_Datatype type)
{
    MPI_Aint all = 0, size;

    MPIR_Datatype_get_size_macro(type, size);
    for (int i = 0; counts && i < num; i++)
        all += counts[i];
    /* In bytes: ranks may count the same ones in elements of other types. */
    return (uint64_t) (counts ? all * size / num : count * size);
}

uint32_t hwmc_spread_leader(const struct hwmc_spread *s, uint32_t member)
{
    return s->c->by_hosts ? hwmc_leader_group_at(s->c, 0, member) : member;
}

uint32_t hwmc_spread_leader_number(const struct hwmc_spread *s)
{
    const struct hwmc_leaders *l = &s->c->leaders;

    return l->number[hwmc_spread_leader(s, l->host_of[s->comm->rank])];
}

bool hwmc_spread_in_order(const struct hwmc_spread *s)
{
    const struct hwmc_leaders *l = &s->c->leaders;

    for (int i = 1; s->c->by_hosts && i < s->comm->local_size; i++)
        if (l->host_of[i] < l->host_of[i - 1])
            return false;
    return true;
}

struct hwmc_op_stage *hwmc_spread_leave_host(struct hwmc_shm_host *n, struct hwmc_op_stage *stage,
                                             enum hwmc_err err)
{
    hwmc_shm_fail(n);
    hwmc_stage_init(stage, NULL);
    hwmc_stage_note(stage, err, true);
    stage->over = true;
    return stage;
}

void hwmc_spread_plan_host(const struct hwmc_spread *s, struct hwmc_shm_host *n,
                           struct hwmc_bcast_cfg *cfg)
{
    const struct hwmc_shm_choice *choice =
        hwmc_shm_choose(n, HWMC_SHM_KIND_BCAST, (MPI_Aint) cfg->buffer.bytes);

    cfg->host.group = &n->group;
    cfg->host.from = hwmc_spread_leader_number(s);
    cfg->host.tree = hwmc_shm_comm_tree(n, choice, cfg->host.from);
}

struct hwmc_op_stage *hwmc_spread_begin_down(struct hwmc_spread *s, struct hwmc_bcast *down,
                                             void *memory, uint64_t bytes)
{
    const bool failed = s->chain.stage.err != HWMC_OK;
    struct hwmc_shm_host *n = hwmc_spread_host(s);
    struct hwmc_bcast_cfg cfg = {.is_root = hwmc_spread_leads(s)};

    if (!n || n->group.size == 1 || hwmc_spread_lost_host(n))
        return NULL;
    hwmc_spread_keep_host(s);
    cfg.buffer = (struct hwmc_buffer){.memory = memory, .bytes = failed && cfg.is_root ? 0 : bytes};
    hwmc_spread_plan_host(s, n, &cfg);
    hwmc_bcast_begin(down, &cfg);
    return &down->stage;
}

void hwmc_spread_begin_moves(struct hwmc_spread *s, struct hwmc_moves *moves,
                             const struct hwmc_move *in, uint32_t num_in,
                             const struct hwmc_move *out, uint32_t num_out,
                             enum hwmc_spread_plan plan)
{
    struct hwmc_group *g = s->c->leader_group[0].group;
    const struct hwmc_moves_cfg cfg = {
        .engine = hwmc_process_engine(),
        .group = g,
        .withdraw_ns = hwmc_withdraw_ns(),
        .in = in,
        .out = out,
        .num_in = num_in,
        .num_out = num_out,
        .plan = plan,
        .pace = hwmc_pace_of(hwmc_network_now()),
    };

    hwmc_moves_begin(moves, &cfg);
}

int hwmc_spread_begin(struct hwmc_spread *s)
{
    int mpi_errno = hwmc_leader_group_error(&s->c->leader_group[0]);
    struct hwmc_shm_host *n = hwmc_spread_host(s);

    if (!mpi_errno && n)
        mpi_errno = hwmc_shm_broken(s->c->shm);
    if (!mpi_errno)
        mpi_errno = s->ops->begin(s);
    if (mpi_errno && n) /* others of the host may wait for this rank */
        hwmc_shm_fail(n);
    if (mpi_errno)
        hwmc_leader_groups_leave(s->c);
    return mpi_errno;
}

int hwmc_spread_end(struct hwmc_spread *s, int mpi_errno)
{
    struct hwmc_group *g = s->c->leader_group[0].group;

    hwmc_leader_groups_settle(s->c, s->chain.stage.err);
    mpi_errno = s->ops->end(s, mpi_errno);
    if (mpi_errno)
        return mpi_errno;
    if (g && g->casts)
        hwmc_note_epoch(g);
    if (hwmc_spread_host(s))
        hwmc_shm_note_call();
    return MPI_SUCCESS;
}

int hwmc_spread_run(struct hwmc_spread *s)
{
    int mpi_errno = hwmc_spread_begin(s);

    return mpi_errno ? mpi_errno
                     : hwmc_spread_end(s, hwmc_wait_stage(&s->chain.stage, hwmc_spread_host(s)));
}
