/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Reduce-scatter over several hosts: see spread_moves.h.
 */

#include "spread_moves.h"

#include "reduce_scatter.h"

static MPI_Aint count_at(const struct hwmc_spread_scatter *r, uint32_t rank)
{
    return r->counts ? r->counts[rank] : r->count;
}

static uint64_t own_bytes(const struct hwmc_spread_scatter *r)
{
    return (uint64_t) count_at(r, (uint32_t) r->spread.comm->rank) * r->x.operation.of.element;
}

/* Where the operands of others lie: aligned as any type is. */
static uint64_t slot_bytes(const struct hwmc_spread_scatter *r)
{
    return (own_bytes(r) + 15) / 16 * 16;
}

static bool scatter_fits(const struct hwmc_spread *s)
{
    return hwmc_spread_each_alone(s) &&
           ((const struct hwmc_spread_scatter *) s)->x.operation.of.element > 0;
}

static struct hwmc_op_stage *begin_moves(struct hwmc_chain *c, uint32_t i)
{
    struct hwmc_spread_scatter *r = (struct hwmc_spread_scatter *) c;
    const uint32_t p = (uint32_t) r->spread.comm->local_size;
    const uint32_t rank = (uint32_t) r->spread.comm->rank;
    struct hwmc_move *in = r->rows, *out = r->rows + p;
    char *part = (char *) (uintptr_t) r->x.operands.in;

    (void) i;
    for (uint32_t peer = 0; peer < p; peer++) {
        const uint64_t bytes = (uint64_t) count_at(r, peer) * r->x.operation.of.element;

        if (peer != rank) {
            in[(rank + p - peer - 1) % p] =
                (struct hwmc_move){peer, r->operands + peer * slot_bytes(r), own_bytes(r)};
            out[(peer + p - rank - 1) % p] = (struct hwmc_move){peer, part, bytes};
        }
        part += bytes;
    }
    hwmc_spread_begin_moves(&r->spread, &r->moves, in, p - 1, out, p - 1);
    return &r->moves.stage;
}

static void free_rooms(struct hwmc_spread_scatter *r)
{
    MPL_free(r->operands);
    MPL_free(r->rows);
}

static int begin_scatter(struct hwmc_spread *s)
{
    struct hwmc_spread_scatter *r = (struct hwmc_spread_scatter *) s;
    const uint32_t p = (uint32_t) s->comm->local_size;
    struct hwmc_combination *x = &r->x;
    MPI_Aint all = 0, own = count_at(r, (uint32_t) s->comm->rank);
    int mpi_errno = MPI_SUCCESS;

    for (uint32_t i = 0; i < p; i++)
        all += count_at(r, i);
    r->rows = MPL_malloc(2 * p * sizeof(*r->rows), MPL_MEM_COLL);
    r->operands = MPL_malloc(MPL_MAX(p * slot_bytes(r), 1), MPL_MEM_COLL);
    MPIR_ERR_CHKANDJUMP(!r->rows || !r->operands, mpi_errno, MPI_ERR_OTHER, "**nomem");
    mpi_errno =
        hwmc_operands_begin(&x->operands, &x->operation, x->sendbuf, all, x->recvbuf, own, true);
    MPIR_ERR_CHECK(mpi_errno);
    hwmc_chain_init(&s->chain, 1, begin_moves);

fn_exit:
    return mpi_errno;
fn_fail:
    free_rooms(r);
    goto fn_exit;
}

/* All operands are here: they are combined from the last rank to the first, as the operation may
 * write to its second operand. */
static void combine(struct hwmc_spread_scatter *r)
{
    const struct hwmc_shm_operation *o = &r->x.operation.of;
    const uint32_t p = (uint32_t) r->spread.comm->local_size;
    const uint32_t rank = (uint32_t) r->spread.comm->rank;
    const uint64_t bytes = own_bytes(r);
    const char *own = r->x.operands.in;
    char *sum = r->operands + (p - 1) * slot_bytes(r);

    for (uint32_t i = 0; i < rank; i++)
        own += (uint64_t) count_at(r, i) * o->element;
    if (bytes == 0)
        return;
    memcpy(r->operands + rank * slot_bytes(r), own, bytes);
    for (uint32_t i = p - 1; i-- > 0;)
        hwmc_shm_operation_combine(o, sum, r->operands + i * slot_bytes(r), sum, bytes);
    memcpy(r->x.operands.out, sum, bytes);
}

static int end_scatter(struct hwmc_spread *s, int mpi_errno)
{
    struct hwmc_spread_scatter *r = (struct hwmc_spread_scatter *) s;

    if (mpi_errno == MPI_SUCCESS)
        combine(r);
    free_rooms(r);
    return hwmc_combination_end(&r->x, mpi_errno, true);
}

static const struct hwmc_spread_ops scatter_ops = {
    .fits = scatter_fits, .begin = begin_scatter, .end = end_scatter};

/* Returns what it weighs: as a short one, like moves. */
static MPI_Aint init_scatter(struct hwmc_spread *s, const struct hwmc_combination *x,
                             const MPI_Aint *counts, const MPIR_Comm *comm)
{
    struct hwmc_spread_scatter *r = (struct hwmc_spread_scatter *) s;

    r->spread.ops = &scatter_ops;
    r->counts = counts;
    r->count = x->count;
    hwmc_combination_init(&r->x, x->sendbuf, x->recvbuf, x->count, x->operation.type,
                          x->operation.op);
    r->spread.coll = HWMC_COLL_REDUCE_SCATTER;
    r->spread.commutative = r->x.operation.of.commutative;
    r->spread.length = hwmc_spread_mean(counts, x->count, comm->local_size, x->operation.type) *
                       (uint64_t) comm->local_size;
    return 1;
}

MPI_Aint hwmc_spread_of_reduce_scatter(const struct hwmc_call *call, const MPIR_Comm *comm,
                                       struct hwmc_spread *s)
{
    const struct hwmc_reduce_scatter_call *c = (const struct hwmc_reduce_scatter_call *) call;

    return init_scatter(s, &c->x, c->counts, comm);
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
    const MPI_Aint weight = init_scatter(&r.spread, &x, counts, comm);

    return hwmc_spread_take(&r.spread, comm, weight, mpi_errno);
}
