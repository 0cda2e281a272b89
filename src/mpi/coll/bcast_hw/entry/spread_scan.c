/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_scan: see spread_scan.h.
 */

#include "spread_scan.h"

#include "direct.h"
#include "scan.h"
#include "spread_take.h"
#include "../op/wait_stage.h"
#include "../process/mpich.h"
#include "../process/process.h"
#include "../select/network.h"

enum { UP, INSIDE, ACROSS, DOWN, STAGES };

static bool is_last_host(const struct hwmc_spread_scan *r)
{
    return hwmc_spread_own_member(&r->spread) ==
           hwmc_spread_member(&r->spread, r->spread.comm->local_size - 1);
}

/* The shared memory of a host with other ranks; NULL: this one is alone. */
static struct hwmc_shm_host *shared(const struct hwmc_spread_scan *r)
{
    struct hwmc_shm_host *n = hwmc_spread_host(&r->spread);

    return n && n->group.size > 1 ? n : NULL;
}

static bool scan_fits(const struct hwmc_spread *s)
{
    const struct hwmc_spread_scan *r = (const struct hwmc_spread_scan *) s;
    const struct hwmc_shm_host *n = hwmc_spread_host(s);

    if (r->x.operation.of.element == 0 || (n && !hwmc_combination_fits(&r->x, n)))
        return false;
    return hwmc_spread_in_order(s);
}

static struct hwmc_op_stage *begin_up(struct hwmc_spread_scan *r)
{
    struct hwmc_shm_host *n = shared(r);

    return n && !is_last_host(r)
               ? hwmc_spread_up_begin(&r->up, &r->spread, n, &r->x, r->host, r->bytes)
               : NULL;
}

static struct hwmc_op_stage *begin_inside(struct hwmc_spread_scan *r)
{
    struct hwmc_shm_host *n = shared(r);
    int err;

    if (!n || hwmc_spread_failed_in_host(&r->spread))
        return NULL;
    hwmc_shm_choose(n, HWMC_SHM_KIND_SCAN, (MPI_Aint) r->bytes);
    err = hwmc_shm_scan_begin(&r->inside, &n->group, &r->x.operation.of, r->exclusive,
                              r->x.operands.in, r->x.operands.out, (uint64_t) r->x.count);
    MPIR_Assert(err == HWMC_OK);
    hwmc_shm_stage_begin(&r->inside_stage, &r->inside.op);
    return &r->inside_stage.stage;
}

/* A rank that is alone gets its result here. */
static void find_vectors(const struct hwmc_spread_scan *r, struct hwmc_net_scan_cfg *cfg)
{
    cfg->in = shared(r) ? r->host : r->x.operands.in;
    cfg->before = shared(r) ? r->before : r->exclusive ? r->x.operands.out : NULL;
    cfg->sum = shared(r) || r->exclusive ? NULL : r->x.operands.out;
}

static struct hwmc_op_stage *begin_across(struct hwmc_spread_scan *r)
{
    struct hwmc_group *g = r->spread.c->leader_group[0].group;
    const struct hwmc_pace pace = hwmc_pace_of(hwmc_network_now());
    struct hwmc_net_scan_cfg cfg;

    if (!hwmc_spread_leads(&r->spread))
        return NULL;
    cfg = (struct hwmc_net_scan_cfg){
        .engine = hwmc_process_engine(),
        .group = g,
        .withdraw_ns = hwmc_withdraw_ns(),
        .operation = &r->x.operation.of,
        .bytes = r->bytes,
        .way = hwmc_scan_way_of(hwmc_network_now(), g->cfg.size, r->bytes, pace.part),
        .window = pace.combined,
    };
    find_vectors(r, &cfg);
    hwmc_net_scan_begin(&r->across, &cfg);
    if (hwmc_spread_failed_in_host(&r->spread))
        hwmc_stage_fail(&r->across.stage, HWMC_ERR_INVAL);
    return &r->across.stage;
}

/* A leader that has failed gives no bytes: the others find another length and end with an error
 * too. */
static struct hwmc_op_stage *begin_down(struct hwmc_spread_scan *r)
{
    struct hwmc_shm_host *n = shared(r);
    struct hwmc_bcast_cfg cfg = {.is_root = hwmc_spread_leads(&r->spread)};
    const bool failed = r->spread.chain.stage.err != HWMC_OK;

    if (!n || hwmc_spread_own_member(&r->spread) == 0 || hwmc_spread_failed_in_host(&r->spread))
        return NULL;
    cfg.buffer =
        (struct hwmc_buffer){.memory = r->before, .bytes = failed && cfg.is_root ? 0 : r->bytes};
    hwmc_spread_plan_host(&r->spread, n, &cfg);
    hwmc_bcast_begin(&r->down, &cfg);
    return &r->down.stage;
}

static struct hwmc_op_stage *begin_stage(struct hwmc_chain *c, uint32_t i)
{
    struct hwmc_spread_scan *r = (struct hwmc_spread_scan *) c;

    switch (i) {
        case UP:
            return begin_up(r);
        case INSIDE:
            return begin_inside(r);
        case ACROSS:
            return begin_across(r);
        default:
            return begin_down(r);
    }
}

/* Memory of ours: where the ranks of a host share what others have. */
static bool make_memory(struct hwmc_spread_scan *r)
{
    const size_t whole = ((size_t) r->bytes + 15) / 16 * 16;

    hwmc_spread_up_init(&r->up);
    r->memory = r->before = r->host = NULL;
    if (!shared(r))
        return true;
    r->before = r->memory =
        MPL_malloc(hwmc_spread_leads(&r->spread) ? 2 * whole : whole, MPL_MEM_COLL);
    r->host = r->memory + whole;
    return r->memory != NULL;
}

static int begin_scan(struct hwmc_spread *s)
{
    struct hwmc_spread_scan *r = (struct hwmc_spread_scan *) s;
    struct hwmc_combination *x = &r->x;
    int mpi_errno = MPI_SUCCESS;

    r->bytes = (uint64_t) x->count * x->operation.of.element;
    mpi_errno = hwmc_operands_begin(&x->operands, &x->operation, x->sendbuf, x->count, x->recvbuf,
                                    x->count, true);
    MPIR_ERR_CHECK(mpi_errno);
    if (!make_memory(r)) {
        hwmc_combination_end(x, MPI_SUCCESS, false);
        MPIR_ERR_SETANDJUMP(mpi_errno, MPI_ERR_OTHER, "**nomem");
    }
    hwmc_chain_init(&s->chain, STAGES, begin_stage);

fn_fail:
    return mpi_errno;
}

/* What the hosts before this one have comes first. */
static void combine(struct hwmc_spread_scan *r)
{
    unsigned char *out = r->x.operands.out;

    if (!shared(r) || hwmc_spread_own_member(&r->spread) == 0)
        return;
    if (r->exclusive && shared(r)->group.rank == 0)
        memcpy(out, r->before, r->bytes);
    else
        hwmc_shm_operation_combine(&r->x.operation.of, out, r->before, out, r->bytes);
}

static int end_scan(struct hwmc_spread *s, int mpi_errno)
{
    struct hwmc_spread_scan *r = (struct hwmc_spread_scan *) s;

    if (mpi_errno == MPI_SUCCESS)
        combine(r);
    hwmc_spread_up_end(&r->up);
    MPL_free(r->memory);
    return hwmc_combination_end(&r->x, mpi_errno, !r->exclusive || s->comm->rank > 0);
}

static struct hwmc_combination *scan_combines(struct hwmc_spread *s, MPI_Aint *result)
{
    struct hwmc_spread_scan *r = (struct hwmc_spread_scan *) s;

    *result = r->x.count;
    return &r->x;
}

static int scan_by_mpich(struct hwmc_spread *s)
{
    const struct hwmc_spread_scan *r = (const struct hwmc_spread_scan *) s;
    const struct hwmc_combination *x = &r->x;

    if (r->exclusive)
        return MPIR_Exscan(x->sendbuf, x->recvbuf, x->count, x->operation.type, x->operation.op,
                           s->comm, HWMC_NO_ERRORS);
    return MPIR_Scan(x->sendbuf, x->recvbuf, x->count, x->operation.type, x->operation.op, s->comm,
                     HWMC_NO_ERRORS);
}

static int scan_directly(struct hwmc_spread *s)
{
    struct hwmc_spread_scan *r = (struct hwmc_spread_scan *) s;

    return hwmc_direct_scan(&r->x, r->exclusive, s->comm);
}

static bool scan_fits_directly(const struct hwmc_spread *s)
{
    return hwmc_direct_combines(&((const struct hwmc_spread_scan *) s)->x);
}

static const struct hwmc_spread_ops scan_ops = {.fits = scan_fits,
                                                .begin = begin_scan,
                                                .combines = scan_combines,
                                                .by_mpich = scan_by_mpich,
                                                .directly = scan_directly,
                                                .fits_directly = scan_fits_directly,
                                                .end = end_scan};

/* The bytes that it weighs. */
static MPI_Aint init_scan(struct hwmc_spread_scan *r, const void *sendbuf, void *recvbuf,
                          MPI_Aint count, MPI_Datatype datatype, MPI_Op op, bool exclusive)
{
    hwmc_combination_init(&r->x, sendbuf, recvbuf, count, datatype, op);
    r->spread.ops = &scan_ops;
    r->spread.coll = HWMC_COLL_SCAN;
    r->spread.commutative = r->x.operation.of.commutative;
    r->spread.tries = hwmc_combination_tries(&r->x);
    r->spread.length = hwmc_spread_mean(NULL, count, 1, datatype);
    r->spread.root = -1;
    r->exclusive = exclusive;
    return (MPI_Aint) r->spread.length;
}

MPI_Aint hwmc_spread_of_scan(const struct hwmc_call *call, const MPIR_Comm *comm,
                             struct hwmc_spread *s)
{
    const struct hwmc_scan_call *c = (const struct hwmc_scan_call *) call;

    (void) comm;
    return init_scan((struct hwmc_spread_scan *) s, c->x.sendbuf, c->x.recvbuf, c->x.count,
                     c->x.operation.type, c->x.operation.op, c->exclusive);
}

bool hwmc_spread_scan(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                      MPI_Op op, bool exclusive, MPIR_Comm *comm, int *mpi_errno)
{
    struct hwmc_spread_scan r;
    const MPI_Aint bytes = init_scan(&r, sendbuf, recvbuf, count, datatype, op, exclusive);

    return bytes > 0 && hwmc_spread_take(&r.spread, comm, bytes, mpi_errno);
}
