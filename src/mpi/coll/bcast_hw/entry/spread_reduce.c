/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_reduce: see spread_reduce.h.
 */

#include "spread_reduce.h"

#include "direct.h"
#include "reduce.h"
#include "spread_select.h"
#include "../op/wait_stage.h"
#include "../process/mpich.h"
#include "../process/process.h"
#include "../select/network.h"

enum { UP, ACROSS, DOWN, SETTLED, STAGES };

static struct hwmc_spread_reduce *reduce_of(struct hwmc_chain *c)
{
    return (struct hwmc_spread_reduce *) c;
}

/* The member that the result comes to first. */
static uint32_t root_member(const struct hwmc_spread_reduce *r)
{
    return r->spread.root < 0 ? 0 : hwmc_spread_member(&r->spread, r->spread.root);
}

static bool to_all(const struct hwmc_spread_reduce *r)
{
    return r->spread.root < 0;
}

/* This rank is the member, or stands in its host. */
static bool at_root(const struct hwmc_spread_reduce *r)
{
    return hwmc_spread_own_member(&r->spread) == root_member(r);
}

static bool root_leads(const struct hwmc_spread_reduce *r)
{
    return to_all(r) || hwmc_spread_leader(&r->spread, root_member(r)) == (uint32_t) r->spread.root;
}

/* This rank has the result at the end. */
static bool gets_result(const struct hwmc_spread_reduce *r)
{
    return to_all(r) || r->spread.comm->rank == r->spread.root;
}

static bool reduce_fits(const struct hwmc_spread *s)
{
    const struct hwmc_spread_reduce *r = (const struct hwmc_spread_reduce *) s;
    const struct hwmc_shm_host *n = hwmc_spread_host(s);

    if (r->x.operation.of.element == 0 || (n && !hwmc_combination_fits(&r->x, n)))
        return false;
    return r->x.operation.of.commutative || hwmc_spread_in_order(s);
}

static struct hwmc_op_stage *begin_up(struct hwmc_spread_reduce *r)
{
    struct hwmc_shm_host *n = hwmc_spread_host(&r->spread);

    if (!n || n->group.size == 1)
        return NULL;
    return hwmc_spread_up_begin(&r->up, &r->spread, n, &r->x, r->out, r->bytes);
}

static struct hwmc_op_stage *begin_across(struct hwmc_spread_reduce *r)
{
    struct hwmc_group *g = r->spread.c->leader_group[0].group;
    const struct hwmc_shm_operation *of = &r->x.operation.of;
    struct hwmc_coll_case c = hwmc_spread_case(&r->spread);
    struct hwmc_net_reduce_cfg cfg;

    if (!hwmc_spread_leads(&r->spread))
        return NULL;
    c.bytes = r->bytes;
    cfg = (struct hwmc_net_reduce_cfg){
        .engine = hwmc_process_engine(),
        .group = g,
        .withdraw_ns = hwmc_withdraw_ns(),
        .root = root_member(r),
        .operation = of,
        .in = r->in,
        .out = r->out,
        .bytes = r->bytes,
        .way = hwmc_spread_reduce_way(&r->spread.c->reduction, &c),
        .window = hwmc_pace_of(hwmc_network_now()).combined,
    };
    hwmc_net_reduce_begin(&r->by.tree.across, &cfg);
    if (hwmc_spread_failed_in_host(&r->spread))
        hwmc_stage_fail(&r->by.tree.across.stage, HWMC_ERR_INVAL);
    return &r->by.tree.across.stage;
}

/* The root's host alone: from its leader to all there, though only the root wants it. */
static void plan_to_root(struct hwmc_spread_reduce *r, struct hwmc_bcast_cfg *cfg)
{
    cfg->buffer = (struct hwmc_buffer){.memory = r->out, .bytes = r->bytes};
    cfg->is_root = hwmc_spread_leads(&r->spread);
    hwmc_spread_plan_host(&r->spread, hwmc_spread_host(&r->spread), cfg);
}

/* From member 0 to all. After an error its length is not that of the others, which end with an
 * error too. */
static void plan_to_all(struct hwmc_spread_reduce *r, struct hwmc_bcast_cfg *cfg)
{
    const uint32_t root = hwmc_spread_leader(&r->spread, 0);
    const bool is_root = root == (uint32_t) r->spread.comm->rank;
    const bool failed = r->spread.chain.stage.err != HWMC_OK;
    const uint64_t bytes = failed && is_root ? 0 : r->bytes;
    int mpi_errno;

    r->by.tree.message =
        (struct hwmc_typed){.buffer = r->out, .count = (MPI_Aint) r->bytes, .datatype = HWMC_BYTE};
    if (hwmc_spread_failed_in_host(&r->spread)) {
        cfg->buffer = (struct hwmc_buffer){.memory = r->out, .bytes = bytes};
        cfg->is_root = is_root;
        mpi_errno = hwmc_bcast_plan_net(r->spread.c, 0, 0, is_root, cfg);
    } else {
        mpi_errno = hwmc_bcast_plan(r->spread.c, &r->by.tree.message, (MPI_Aint) bytes, (int) root,
                                    r->spread.comm, 0, false, cfg);
    }
    MPIR_Assert(mpi_errno == MPI_SUCCESS); /* groups and host were looked at when it began */
}

static struct hwmc_op_stage *begin_down(struct hwmc_spread_reduce *r)
{
    const bool is_mine = to_all(r) || (!root_leads(r) && at_root(r));
    struct hwmc_bcast_cfg cfg = {.is_root = false};

    if (!is_mine ||
        (hwmc_spread_failed_in_host(&r->spread) && !(to_all(r) && hwmc_spread_leads(&r->spread))))
        return NULL;
    if (to_all(r))
        plan_to_all(r, &cfg);
    else
        plan_to_root(r, &cfg);
    hwmc_bcast_begin(&r->by.tree.down, &cfg);
    return &r->by.tree.down.stage;
}

/* That the result has come says that all have had what was sent to them across. Before another
 * exchange begins, which may be as soon as the chain is over. */
static void settle(const struct hwmc_spread_reduce *r)
{
    if (!to_all(r) || r->spread.chain.stage.err != HWMC_OK || !hwmc_spread_leads(&r->spread))
        return;
    hwmc_lock();
    hwmc_exchange_settle(&r->spread.c->leader_group[0].group->blocks.exchange);
    hwmc_unlock();
}

static struct hwmc_op_stage *begin_stage(struct hwmc_chain *c, uint32_t i)
{
    struct hwmc_spread_reduce *r = reduce_of(c);

    switch (i) {
        case UP:
            return begin_up(r);
        case ACROSS:
            return begin_across(r);
        case DOWN:
            return begin_down(r);
        default:
            settle(r);
            return NULL;
    }
}

/* Where the vector that goes across lies, and the result: in the program's memory where that is to
 * have the result, else in memory of ours. */
static bool find_vectors(struct hwmc_spread_reduce *r)
{
    const struct hwmc_shm_host *n = hwmc_spread_host(&r->spread);
    const bool combines = n && n->group.size > 1 && hwmc_spread_leads(&r->spread);
    const bool has_out = gets_result(r);
    const bool needs_out = at_root(r) && !root_leads(r);

    hwmc_spread_up_init(&r->up);
    r->memory = NULL;
    r->out = has_out ? r->x.operands.out : NULL;
    if ((combines || needs_out) && !has_out) {
        r->memory = MPL_malloc(MPL_MAX(r->bytes, 1), MPL_MEM_COLL);
        if (!r->memory)
            return false;
        r->out = r->memory;
    }
    r->in = combines ? r->out : r->x.operands.in;
    return true;
}

/* Of a long allreduce. */
static struct hwmc_op_stage *begin_stage_of_blocks(struct hwmc_chain *c, uint32_t i)
{
    struct hwmc_spread_reduce *r = reduce_of(c);

    return i == UP ? begin_up(r) : hwmc_spread_blocks_stage(&r->by.blocks, i - 1);
}

/* False without memory. */
static bool init_chain(struct hwmc_spread_reduce *r)
{
    if (!r->spread.by_blocks) {
        hwmc_chain_init(&r->spread.chain, STAGES, begin_stage);
        return true;
    }
    hwmc_chain_init(&r->spread.chain, 1 + HWMC_SPREAD_BLOCKS_STAGES, begin_stage_of_blocks);
    return hwmc_spread_blocks_init(&r->by.blocks, &r->spread, &r->x.operation.of, r->in, r->out,
                                   r->bytes);
}

static int begin_reduce(struct hwmc_spread *s)
{
    struct hwmc_spread_reduce *r = (struct hwmc_spread_reduce *) s;
    struct hwmc_combination *x = &r->x;
    int mpi_errno = MPI_SUCCESS;

    r->bytes = (uint64_t) x->count * x->operation.of.element;
    mpi_errno = hwmc_operands_begin(&x->operands, &x->operation, x->sendbuf, x->count, x->recvbuf,
                                    gets_result(r) ? x->count : 0, gets_result(r));
    MPIR_ERR_CHECK(mpi_errno);
    if (!find_vectors(r) || !init_chain(r)) {
        MPL_free(r->memory);
        hwmc_combination_end(x, MPI_SUCCESS, false);
        MPIR_ERR_SETANDJUMP(mpi_errno, MPI_ERR_OTHER, "**nomem");
    }

fn_fail:
    return mpi_errno;
}

static int end_reduce(struct hwmc_spread *s, int mpi_errno)
{
    struct hwmc_spread_reduce *r = (struct hwmc_spread_reduce *) s;

    hwmc_spread_up_end(&r->up);
    if (r->spread.by_blocks)
        hwmc_spread_blocks_free(&r->by.blocks);
    MPL_free(r->memory);
    return hwmc_combination_end(&r->x, mpi_errno, gets_result(r));
}

static struct hwmc_combination *reduce_combines(struct hwmc_spread *s, MPI_Aint *result)
{
    struct hwmc_spread_reduce *r = (struct hwmc_spread_reduce *) s;

    *result = gets_result(r) ? r->x.count : 0;
    return &r->x;
}

static int reduce_by_mpich(struct hwmc_spread *s)
{
    const struct hwmc_spread_reduce *r = (const struct hwmc_spread_reduce *) s;
    const struct hwmc_combination *x = &r->x;

    if (s->coll == HWMC_COLL_BARRIER)
        return MPIR_Barrier(s->comm, HWMC_NO_ERRORS);
    if (to_all(r))
        return MPIR_Allreduce(x->sendbuf, x->recvbuf, x->count, x->operation.type, x->operation.op,
                              s->comm, HWMC_NO_ERRORS);
    return MPIR_Reduce(x->sendbuf, x->recvbuf, x->count, x->operation.type, x->operation.op,
                       s->root, s->comm, HWMC_NO_ERRORS);
}

static int reduce_directly(struct hwmc_spread *s)
{
    int mpi_errno;

    if (s->root < 0) {
        s->by_blocks = true;
        mpi_errno = hwmc_spread_run(s);
        s->by_blocks = false;
        return mpi_errno;
    }
    return hwmc_direct_reduce(&((struct hwmc_spread_reduce *) s)->x, s->root, s->comm);
}

/* An allreduce goes by blocks then. */
static bool reduce_fits_directly(const struct hwmc_spread *s)
{
    return s->root < 0 || hwmc_direct_combines(&((const struct hwmc_spread_reduce *) s)->x);
}

static const struct hwmc_spread_ops reduce_ops = {.fits = reduce_fits,
                                                  .begin = begin_reduce,
                                                  .combines = reduce_combines,
                                                  .by_mpich = reduce_by_mpich,
                                                  .directly = reduce_directly,
                                                  .fits_directly = reduce_fits_directly,
                                                  .end = end_reduce};

void hwmc_spread_reduce_init(struct hwmc_spread_reduce *r, const void *sendbuf, void *recvbuf,
                             MPI_Aint count, MPI_Datatype datatype, MPI_Op op, int root)
{
    hwmc_combination_init(&r->x, sendbuf, recvbuf, count, datatype, op);
    r->spread.ops = &reduce_ops;
    r->spread.coll = root < 0 ? HWMC_COLL_ALLREDUCE : HWMC_COLL_REDUCE;
    r->spread.commutative = r->x.operation.of.commutative;
    r->spread.tries = hwmc_combination_tries(&r->x);
    r->spread.length = hwmc_spread_mean(NULL, count, 1, datatype);
    r->spread.root = root;
    r->spread.by_blocks = false;
}

void hwmc_spread_barrier_init(struct hwmc_spread_reduce *r)
{
    r->byte[0] = 0;
    hwmc_spread_reduce_init(r, &r->byte[0], &r->byte[1], 1, HWMC_BYTE, MPI_BOR, -1);
    r->spread.coll = HWMC_COLL_BARRIER;
    r->spread.commutative = true; /* nothing is combined */
    r->spread.tries = HWMC_TRIES_CALLS;
}

MPI_Aint hwmc_spread_of_barrier(const struct hwmc_call *c, const MPIR_Comm *comm,
                                struct hwmc_spread *s)
{
    (void) c;
    (void) comm;
    hwmc_spread_barrier_init((struct hwmc_spread_reduce *) s);
    return 1;
}

static MPI_Aint init_of(const struct hwmc_combination *x, int root, struct hwmc_spread *s)
{
    hwmc_spread_reduce_init((struct hwmc_spread_reduce *) s, x->sendbuf, x->recvbuf, x->count,
                            x->operation.type, x->operation.op, root);
    return (MPI_Aint) s->length;
}

MPI_Aint hwmc_spread_of_reduce(const struct hwmc_call *call, const MPIR_Comm *comm,
                               struct hwmc_spread *s)
{
    const struct hwmc_reduce_call *c = (const struct hwmc_reduce_call *) call;

    (void) comm;
    return init_of(&c->x, c->root, s);
}

MPI_Aint hwmc_spread_of_allreduce(const struct hwmc_call *call, const MPIR_Comm *comm,
                                  struct hwmc_spread *s)
{
    (void) comm;
    return init_of(&((const struct hwmc_allreduce_call *) call)->x, -1, s);
}
