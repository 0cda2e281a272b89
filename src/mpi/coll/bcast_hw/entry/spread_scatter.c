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

/* Of the ranks that a member stands for, which follow each other. */
static uint64_t member_bytes(const struct hwmc_spread_scatter *r, uint32_t member)
{
    const uint32_t p = (uint32_t) r->spread.comm->local_size;
    uint64_t bytes = 0;

    if (!r->spread.c->by_hosts)
        return bytes_at(r, member);
    for (uint32_t i = 0; i < p; i++)
        if (hwmc_spread_member(&r->spread, (int) i) == member)
            bytes += bytes_at(r, i);
    return bytes;
}

/* Where the operands of others lie: aligned as any type is. */
static uint64_t slot_bytes(const struct hwmc_spread_scatter *r)
{
    return (r->own + 15) / 16 * 16;
}

/* Where the members' operands are combined. */
static char *sum_of(const struct hwmc_spread_scatter *r)
{
    return r->operands + (r->members - 1) * slot_bytes(r);
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

/* After an error this leader has blocks of no bytes: other hosts find another length, and end with
 * an error too. */
static struct hwmc_op_stage *begin_across(struct hwmc_spread_scatter *r)
{
    const bool failed = r->spread.chain.stage.err != HWMC_OK;
    const uint32_t p = r->members, member = r->member;
    struct hwmc_move *in = r->rows, *out = r->rows + p;
    char *part = r->vector ? r->vector : (char *) (uintptr_t) r->x.operands.in;

    if (!hwmc_spread_leads(&r->spread))
        return NULL;
    for (uint32_t peer = 0; peer < p; peer++) {
        const uint64_t bytes = member_bytes(r, peer);
        char *slot = r->operands + peer * slot_bytes(r);

        if (peer != member) {
            in[(member + p - peer - 1) % p] = (struct hwmc_move){peer, slot, failed ? 0 : r->own};
            out[(peer + p - member - 1) % p] = (struct hwmc_move){peer, part, failed ? 0 : bytes};
        } else if (r->own > 0 && !failed) {
            memcpy(slot, part, r->own);
        }
        part += bytes;
    }
    hwmc_spread_begin_moves(&r->spread, &r->across, in, p - 1, out, p - 1);
    return &r->across.stage;
}

/* All operands are here: they are combined from the last member to the first, as the operation may
 * write to its second operand. */
static void combine(struct hwmc_spread_scatter *r)
{
    char *sum = sum_of(r);

    for (uint32_t i = r->members - 1; r->own > 0 && i-- > 0;)
        hwmc_shm_operation_combine(&r->x.operation.of, sum, r->operands + i * slot_bytes(r), sum,
                                   r->own);
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

    if (leads && !failed)
        combine(r);
    if (!n && !failed && own > 0)
        memcpy(r->x.operands.out, sum_of(r), own);
    if (!n || hwmc_spread_lost_host(n))
        return NULL;
    hwmc_spread_keep_host(&r->spread);
    hwmc_shm_choose(n, HWMC_SHM_KIND_SCATTER, 0);
    hwmc_shm_scatter_begin(&r->down, &n->group, hwmc_spread_leader_number(&r->spread),
                           leads ? sum_of(r) : NULL, &parts, r->x.operands.out, own);
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
    MPL_free(r->vector);
    MPL_free(r->operands);
    MPL_free(r->parts);
    MPL_free(r->rows);
}

/* Of this rank's host, where the parts of its ranks are in that of the host. */
static void lay_parts(struct hwmc_spread_scatter *r)
{
    const struct hwmc_leaders *l = &r->spread.c->leaders;
    uint64_t at = 0;

    for (uint32_t i = 0; i < l->ranks; i++)
        if (l->host_of[i] == r->member) {
            r->parts[l->number[i]] = (struct hwmc_shm_range){at, bytes_at(r, i)};
            at += bytes_at(r, i);
        }
}

/* Of a leader. False without memory. */
static bool make_rooms(struct hwmc_spread_scatter *r)
{
    struct hwmc_shm_host *n = shared(r);

    hwmc_spread_up_init(&r->up);
    r->vector = r->operands = NULL;
    r->rows = NULL;
    r->parts = NULL;
    if (!hwmc_spread_leads(&r->spread))
        return true;
    r->rows = MPL_malloc(2 * (size_t) r->members * sizeof(*r->rows), MPL_MEM_COLL);
    r->operands = MPL_malloc(MPL_MAX(r->members * slot_bytes(r), 1), MPL_MEM_COLL);
    if (n) {
        r->vector = MPL_malloc(MPL_MAX(r->bytes, 1), MPL_MEM_COLL);
        r->parts = MPL_malloc(n->group.size * sizeof(*r->parts), MPL_MEM_COLL);
    }
    if (r->parts)
        lay_parts(r);
    return r->rows && r->operands && (!n || (r->vector && r->parts));
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
    r->members = s->c->by_hosts ? s->c->leaders.hosts : (uint32_t) s->comm->local_size;
    r->member = hwmc_spread_own_member(s);
    r->own = member_bytes(r, r->member);
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

/* Returns what it weighs: as a short one, like moves. */
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
    return 1;
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
