/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Reduce-scatter over several hosts: see spread_moves.h.
 */

#include "spread_moves.h"

#include "reduce_scatter.h"
#include "spread_take.h"
#include "../process/mpich.h"
#include "../select/network.h"

enum { UP, ACROSS, DOWN, STAGES };

static uint64_t bytes_at(const struct hwmc_spread_scatter *r, uint32_t rank)
{
    return (uint64_t) (r->counts ? r->counts[rank] : r->count) * r->x.operation.of.element;
}

/* The shared memory of a host with other ranks; NULL: this one is alone. */
static struct hwmc_shm_host *shared(const struct hwmc_spread_scatter *r)
{
    struct hwmc_shm_host *n = hwmc_spread_host(&r->spread);

    return n && n->group.size > 1 ? n : NULL;
}

static bool scatter_fits(const struct hwmc_spread *s)
{
    const struct hwmc_spread_scatter *r = (const struct hwmc_spread_scatter *) s;
    const struct hwmc_shm_host *n = hwmc_spread_host(s);

    if (r->x.operation.of.element == 0)
        return false;
    return !n || (hwmc_combination_fits(&r->x, n) && hwmc_spread_in_order(s));
}

/* A host sums before it sends, whatever the length. */
static bool scatter_wins(const struct hwmc_spread *s, uint32_t most)
{
    return true;
}

static struct hwmc_op_stage *begin_up(struct hwmc_spread_scatter *r)
{
    struct hwmc_shm_host *n = shared(r);

    return n ? hwmc_spread_up_begin(&r->up, &r->spread, n, &r->x, r->vector, r->bytes) : NULL;
}

static struct hwmc_op_stage *begin_across(struct hwmc_spread_scatter *r)
{
    if (!hwmc_spread_leads(&r->spread))
        return NULL;
    return hwmc_spread_apart_begin(&r->across, r->vector ? r->vector : r->x.operands.in);
}

/* After an error the leader has no bytes for anybody: those that are to get some end with an error
 * too. */
static struct hwmc_op_stage *begin_down(struct hwmc_spread_scatter *r)
{
    struct hwmc_shm_host *n = shared(r);
    const bool failed = r->spread.chain.stage.err != HWMC_OK;
    const uint64_t own = bytes_at(r, (uint32_t) r->spread.comm->rank);
    const struct hwmc_shm_vector parts = {.each = failed ? NULL : r->parts};
    const bool leads = hwmc_spread_leads(&r->spread);
    const char *sum = r->across.operands;

    if (leads && !failed)
        sum = hwmc_spread_apart_combine(&r->across);
    if (!n && !failed && own > 0)
        memcpy(r->x.operands.out, sum, own);
    if (!n || hwmc_spread_lost_host(n))
        return NULL;
    hwmc_spread_keep_host(&r->spread);
    hwmc_shm_choose(n, HWMC_SHM_KIND_SCATTER, 0);
    hwmc_shm_scatter_begin(&r->down, &n->group, hwmc_spread_leader_number(&r->spread),
                           leads ? sum : NULL, &parts, r->x.operands.out, own);
    hwmc_shm_stage_begin(&r->down_stage, &r->down.op);
    return &r->down_stage.stage;
}

static struct hwmc_op_stage *begin_stage(struct hwmc_chain *c, uint32_t i)
{
    struct hwmc_spread_scatter *r = (struct hwmc_spread_scatter *) c;

    switch (i) {
        case UP:
            return begin_up(r);
        case ACROSS:
            return begin_across(r);
        default:
            return begin_down(r);
    }
}

static void free_rooms(struct hwmc_spread_scatter *r)
{
    hwmc_spread_up_end(&r->up);
    if (hwmc_spread_leads(&r->spread))
        hwmc_spread_apart_free(&r->across);
    MPL_free(r->vector);
    MPL_free(r->blocks);
}

/* Blocks of the members: the parts of the ranks that each stands for, which follow each other. And
 * the parts of this rank's host, in its block. */
static void lay_parts(struct hwmc_spread_scatter *r)
{
    const struct hwmc_leaders *l = &r->spread.c->leaders;
    const uint32_t ranks = (uint32_t) r->spread.comm->local_size;
    uint64_t at = 0;

    memset(r->blocks, 0, hwmc_spread_members(&r->spread) * sizeof(*r->blocks));
    for (uint32_t i = 0; i < ranks; i++) {
        struct hwmc_shm_range *block = &r->blocks[hwmc_spread_member(&r->spread, (int) i)];

        if (block->bytes == 0)
            block->at = at;
        if (r->parts && block == &r->blocks[hwmc_spread_own_member(&r->spread)])
            r->parts[l->number[i]] = (struct hwmc_shm_range){block->bytes, bytes_at(r, i)};
        block->bytes += bytes_at(r, i);
        at += bytes_at(r, i);
    }
}

/* Of a leader. False without memory. */
static bool make_rooms(struct hwmc_spread_scatter *r)
{
    const struct hwmc_shm_host *n = shared(r);
    const uint32_t members = hwmc_spread_members(&r->spread);

    hwmc_spread_up_init(&r->up);
    r->vector = NULL;
    r->blocks = r->parts = NULL;
    r->across.operands = NULL;
    r->across.rows = NULL;
    if (!hwmc_spread_leads(&r->spread))
        return true;
    r->blocks = MPL_malloc((members + (n ? n->group.size : 0)) * sizeof(*r->blocks), MPL_MEM_COLL);
    if (!r->blocks)
        return false;
    if (n) {
        r->parts = r->blocks + members;
        r->vector = MPL_malloc(MPL_MAX(r->bytes, 1), MPL_MEM_COLL);
    }
    lay_parts(r);
    return hwmc_spread_apart_init(&r->across, &r->spread, &r->x.operation.of, r->blocks,
                                  HWMC_PLAN_USUAL) &&
           (!n || r->vector);
}

static int begin_scatter(struct hwmc_spread *s)
{
    struct hwmc_spread_scatter *r = (struct hwmc_spread_scatter *) s;
    struct hwmc_combination *x = &r->x;
    const MPI_Aint own = r->counts ? r->counts[s->comm->rank] : r->count;
    MPI_Aint all = 0;
    int mpi_errno = MPI_SUCCESS;

    for (int i = 0; i < s->comm->local_size; i++)
        all += r->counts ? r->counts[i] : r->count;
    r->bytes = (uint64_t) all * x->operation.of.element;
    if (!make_rooms(r))
        MPIR_ERR_SETANDJUMP(mpi_errno, MPI_ERR_OTHER, "**nomem");
    mpi_errno =
        hwmc_operands_begin(&x->operands, &x->operation, x->sendbuf, all, x->recvbuf, own, true);
    MPIR_ERR_CHECK(mpi_errno);
    hwmc_chain_init(&s->chain, STAGES, begin_stage);

fn_exit:
    return mpi_errno;
fn_fail:
    free_rooms(r);
    goto fn_exit;
}

static int end_scatter(struct hwmc_spread *s, int mpi_errno)
{
    struct hwmc_spread_scatter *r = (struct hwmc_spread_scatter *) s;

    free_rooms(r);
    return hwmc_combination_end(&r->x, mpi_errno, true);
}

static struct hwmc_combination *scatter_combines(struct hwmc_spread *s, MPI_Aint *result)
{
    struct hwmc_spread_scatter *r = (struct hwmc_spread_scatter *) s;

    *result = r->counts ? r->counts[s->comm->rank] : r->count;
    return &r->x;
}

static int scatter_by_mpich(struct hwmc_spread *s)
{
    const struct hwmc_spread_scatter *r = (const struct hwmc_spread_scatter *) s;
    const struct hwmc_combination *x = &r->x;

    if (r->counts)
        return MPIR_Reduce_scatter(x->sendbuf, x->recvbuf, r->counts, x->operation.type,
                                   x->operation.op, s->comm, HWMC_NO_ERRORS);
    return MPIR_Reduce_scatter_block(x->sendbuf, x->recvbuf, x->count, x->operation.type,
                                     x->operation.op, s->comm, HWMC_NO_ERRORS);
}

static const struct hwmc_spread_ops scatter_ops = {.fits = scatter_fits,
                                                   .wins = scatter_wins,
                                                   .begin = begin_scatter,
                                                   .combines = scatter_combines,
                                                   .by_mpich = scatter_by_mpich,
                                                   .end = end_scatter};

/* Returns what it weighs: a broadcast of the vectors that are combined. */
static MPI_Aint init_scatter(struct hwmc_spread_scatter *r, const struct hwmc_combination *x,
                             const MPI_Aint *counts, const MPIR_Comm *comm)
{
    r->spread.ops = &scatter_ops;
    r->counts = counts;
    r->count = x->count;
    hwmc_combination_init(&r->x, x->sendbuf, x->recvbuf, x->count, x->operation.type,
                          x->operation.op);
    r->spread.coll = HWMC_COLL_REDUCE_SCATTER;
    r->spread.commutative = r->x.operation.of.commutative;
    r->spread.tries = hwmc_combination_tries(&r->x);
    r->spread.length = hwmc_spread_mean(counts, x->count, comm->local_size, x->operation.type) *
                       (uint64_t) comm->local_size;
    r->spread.root = -1;
    return r->spread.length > 0 ? (MPI_Aint) MPL_MIN(r->spread.length, INT_MAX) : 1;
}

MPI_Aint hwmc_spread_of_reduce_scatter(const struct hwmc_call *call, const MPIR_Comm *comm,
                                       struct hwmc_spread *s)
{
    const struct hwmc_reduce_scatter_call *c = (const struct hwmc_reduce_scatter_call *) call;

    return init_scatter((struct hwmc_spread_scatter *) s, &c->x, c->counts, comm);
}

bool hwmc_spread_reduce_scatter(const void *sendbuf, void *recvbuf, const MPI_Aint *counts,
                                MPI_Aint count, MPI_Datatype datatype, MPI_Op op, MPIR_Comm *comm,
                                int *mpi_errno)
{
    struct hwmc_spread_scatter r;
    const struct hwmc_combination x = {.sendbuf = sendbuf,
                                       .recvbuf = recvbuf,
                                       .count = count,
                                       .operation = {.type = datatype, .op = op}};
    const MPI_Aint weight = init_scatter(&r, &x, counts, comm);

    return hwmc_spread_take(&r.spread, comm, weight, mpi_errno);
}
