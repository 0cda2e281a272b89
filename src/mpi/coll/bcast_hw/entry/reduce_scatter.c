/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Reduce_scatter, of blocks alike or not, over the memory that a host's ranks share.
 */

#include "mpiimpl.h"
#include "hooks.h"
#include "spread_moves.h"
#include "reduce_scatter.h"

/* Sets which elements are whose. */
static int find_blocks(struct hwmc_reduce_scatter_call *c)
{
    int mpi_errno = MPI_SUCCESS;
    const struct hwmc_shm_group *g = &c->call.host->group;
    const uint32_t element = c->x.operation.of.element;
    const uint64_t block = (uint64_t) c->x.count * element;

    c->each = NULL;
    c->own = c->counts ? c->counts[g->rank] : c->x.count;
    c->all = c->x.count * g->size;
    c->blocks = (struct hwmc_shm_vector){.stride = block, .bytes = block};
    if (!c->counts)
        goto fn_exit;
    c->each = MPL_malloc(g->size * sizeof(*c->each), MPL_MEM_COLL);
    MPIR_ERR_CHKANDJUMP(!c->each, mpi_errno, MPI_ERR_OTHER, "**nomem");
    c->blocks.each = c->each;
    c->all = 0;
    for (uint32_t i = 0; i < g->size; i++) {
        c->each[i].at = (uint64_t) c->all * element;
        c->each[i].bytes = (uint64_t) c->counts[i] * element;
        c->all += c->counts[i];
    }

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Memory for what this rank gets, where it may not be written to at once: in place it would be on
 * what others still read. And memory to work in, where that is needed. */
static int make_room(struct hwmc_reduce_scatter_call *c, uint64_t own, uint64_t all)
{
    int mpi_errno = MPI_SUCCESS;

    if (c->x.operands.in == c->x.operands.out && own > 0) {
        c->out = MPL_malloc(own, MPL_MEM_BUFFER);
        MPIR_ERR_CHKANDJUMP(!c->out, mpi_errno, MPI_ERR_OTHER, "**nomem");
    }
    if (all > 0 && hwmc_shm_reduce_scatter_needs_work(&c->call.host->group, all)) {
        c->work = MPL_malloc(all, MPL_MEM_BUFFER);
        MPIR_ERR_CHKANDJUMP(!c->work, mpi_errno, MPI_ERR_OTHER, "**nomem");
    }

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static void free_room(struct hwmc_reduce_scatter_call *c)
{
    MPL_free(c->out);
    MPL_free(c->work);
    MPL_free(c->each);
    c->out = c->work = c->each = NULL;
}

/* Finds operands and memory for `all` bytes, `own` of which are this rank's. */
static int begin_operands(struct hwmc_reduce_scatter_call *c, uint64_t own, uint64_t all)
{
    struct hwmc_combination *x = &c->x;
    int mpi_errno = hwmc_operands_begin(&x->operands, &x->operation, x->sendbuf, c->all, x->recvbuf,
                                        c->own, true);

    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = make_room(c, own, all);
    if (mpi_errno)
        hwmc_operands_end(&x->operands, &x->operation, false);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static bool reduce_scatter_fits(const struct hwmc_call *call, const struct hwmc_shm_host *n)
{
    return hwmc_combination_fits(&((const struct hwmc_reduce_scatter_call *) call)->x, n);
}

static int begin_reduce_scatter(struct hwmc_call *call)
{
    struct hwmc_reduce_scatter_call *c = (struct hwmc_reduce_scatter_call *) call;
    const struct hwmc_shm_operation *of = &c->x.operation.of;
    const struct hwmc_operands *a = &c->x.operands;
    struct hwmc_shm_host *n = call->host;
    int mpi_errno = MPI_SUCCESS, err;
    struct hwmc_shm_tree tree;
    uint64_t all;

    c->out = c->work = NULL;
    mpi_errno = find_blocks(c);
    MPIR_ERR_CHECK(mpi_errno);
    all = (uint64_t) c->all * of->element;
    tree =
        hwmc_shm_comm_tree(n, hwmc_shm_choose(n, HWMC_SHM_KIND_REDUCE_SCATTER, (MPI_Aint) all), 0);
    mpi_errno = begin_operands(c, (uint64_t) c->own * of->element, all);
    MPIR_ERR_CHECK(mpi_errno);
    err = hwmc_shm_reduce_scatter_begin(&c->reduce_scatter, &n->group, &tree, of, a->in, &c->blocks,
                                        all, c->out ? c->out : a->out, c->work);
    MPIR_Assert(err == HWMC_OK);
    call->op = &c->reduce_scatter.op;

fn_exit:
    return mpi_errno;
fn_fail:
    free_room(c);
    goto fn_exit;
}

static int end_reduce_scatter(struct hwmc_call *call, int mpi_errno)
{
    struct hwmc_reduce_scatter_call *c = (struct hwmc_reduce_scatter_call *) call;

    if (c->out)
        memcpy(c->x.operands.out, c->out, (uint64_t) c->own * c->x.operation.of.element);
    mpi_errno = hwmc_combination_end(&c->x, mpi_errno, true);
    free_room(c);
    return mpi_errno;
}

static const struct hwmc_call_ops reduce_scatter_ops = {
    .fits = reduce_scatter_fits,
    .begin = begin_reduce_scatter,
    .end = end_reduce_scatter,
};

void hwmc_reduce_scatter_call_init(struct hwmc_reduce_scatter_call *c, const void *sendbuf,
                                   void *recvbuf, const MPI_Aint *recvcounts, MPI_Datatype datatype,
                                   MPI_Op op)
{
    hwmc_combination_init(&c->x, sendbuf, recvbuf, 0, datatype, op);
    c->counts = recvcounts;
    c->call.ops = &reduce_scatter_ops;
}

void hwmc_reduce_scatter_block_call_init(struct hwmc_reduce_scatter_call *c, const void *sendbuf,
                                         void *recvbuf, MPI_Aint recvcount, MPI_Datatype datatype,
                                         MPI_Op op)
{
    hwmc_combination_init(&c->x, sendbuf, recvbuf, recvcount, datatype, op);
    c->counts = NULL;
    c->call.ops = &reduce_scatter_ops;
}

bool MPIR_Hwmc_reduce_scatter(const void *sendbuf, void *recvbuf, const MPI_Aint *recvcounts,
                              MPI_Datatype datatype, MPI_Op op, MPIR_Comm *comm, int *mpi_errno)
{
    struct hwmc_shm_host *n = HWMC_SHM_ADMIT(REDUCE_SCATTER, comm, mpi_errno);
    struct hwmc_reduce_scatter_call c;

    if (!n)
        return HWMC_SPREADS(REDUCE_SCATTER) &&
               hwmc_spread_reduce_scatter(sendbuf, recvbuf, recvcounts, 0, datatype, op, comm,
                                          mpi_errno);
    if (*mpi_errno)
        return true;
    hwmc_reduce_scatter_call_init(&c, sendbuf, recvbuf, recvcounts, datatype, op);
    return hwmc_call_take(&c.call, n, mpi_errno);
}

bool MPIR_Hwmc_reduce_scatter_block(const void *sendbuf, void *recvbuf, MPI_Aint recvcount,
                                    MPI_Datatype datatype, MPI_Op op, MPIR_Comm *comm,
                                    int *mpi_errno)
{
    struct hwmc_shm_host *n = HWMC_SHM_ADMIT(REDUCE_SCATTER_BLOCK, comm, mpi_errno);
    struct hwmc_reduce_scatter_call c;

    if (!n)
        return HWMC_SPREADS(REDUCE_SCATTER_BLOCK) &&
               hwmc_spread_reduce_scatter(sendbuf, recvbuf, NULL, recvcount, datatype, op, comm,
                                          mpi_errno);
    if (*mpi_errno)
        return true;
    hwmc_reduce_scatter_block_call_init(&c, sendbuf, recvbuf, recvcount, datatype, op);
    return hwmc_call_take(&c.call, n, mpi_errno);
}
