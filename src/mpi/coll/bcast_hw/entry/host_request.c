/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * host_request: see host_request.h.
 *
 *   DECIDE -> BY_HWMC -> OVER
 *         \-> BY_MPICH -^
 *   PLAN ---> SPREAD ----^
 *         \-> BY_MPICH -^
 *
 *   DECIDE    it is the first of its queue: it is counted, as blocking collectives are, and the
 *             segment may be made for it
 *   BY_HWMC   the call has begun and is stepped over shared memory
 *   PLAN      the same over hosts: it is weighed, and the leader group may be set up for it
 *   SPREAD    the stages of a collective over hosts are stepped
 *   BY_MPICH  a schedule of MPICH's: the communicator counts its first collectives, or has no
 *             segment or leader group, or the call does not fit
 *
 * The helper thread leaves it alone: steps may call MPICH for datatypes and the program's
 * operations.
 */

#include "mpiimpl.h"
#include "host_request.h"
#include "spread_select.h"
#include "../op/host_loss.h"
#include "../op/wait_failure.h"
#include "../op/wait_stage.h"
#include "../process/errors.h"
#include "../process/mpich.h"
#include "../process/process.h"
#include "../shm/segment/wakeup.h"

#include <stddef.h>

#define ARRAYS_MOST 4 /* of counts and displacements: of MPI_Alltoallv */
#define TYPES_MOST 2  /* arrays of datatypes: of MPI_Alltoallw */

enum host_state { HOST_DECIDE, HOST_BY_HWMC, HOST_PLAN, HOST_SPREAD, HOST_BY_MPICH, HOST_OVER };

struct hwmc_host_request {
    struct hwmc_request request;
    const struct hwmc_host_kind *kind;
    struct hwmc_host_uses uses; /* with a reference of each */
    MPI_Aint *kept[ARRAYS_MOST];
    int num_kept;
    MPI_Datatype *types[TYPES_MOST]; /* with a reference of each */
    int num_types;
    bool no_memory; /* ... for one of these */

    /* Since it was started. */
    enum host_state state;
    bool begun; /* the call has begun and not ended */
    struct hwmc_shm_ask ask;
    struct hwmc_await await;
    struct hwmc_messages messages;
    uint32_t fruitless; /* BY_HWMC: steps in a row that found nothing */

    /* Over hosts. */
    struct hwmc_spread *spread; /* behind the call; NULL: inside a host */
    MPI_Aint bytes;             /* that it weighs */
    struct hwmc_ask plan;
    struct hwmc_wait_failure failure;

    max_align_t call[]; /* its struct */
};

static struct hwmc_host_request *host_of(const struct hwmc_request *r)
{
    return MPL_container_of(r, struct hwmc_host_request, request);
}

void *hwmc_host_call(struct hwmc_host_request *r)
{
    return r->call;
}

static void host_over(struct hwmc_host_request *h, int mpi_errno)
{
    h->request.mpi_errno = mpi_errno;
    h->state = HOST_OVER;
}

static void host_start(struct hwmc_request *r)
{
    struct hwmc_host_request *h = host_of(r);

    h->state = h->spread ? HOST_PLAN : HOST_DECIDE;
    h->begun = false;
    h->plan = hwmc_ask_of(0, h->bytes, r->tag);
    h->failure = (struct hwmc_wait_failure){.wake = 0};
    h->ask = (struct hwmc_shm_ask){.tag = r->tag};
    h->messages = hwmc_messages_of(r->comm, r->tag);
    h->fruitless = 0;
}

static int host_schedule(const void *what, MPIR_Comm *comm, MPIR_Sched_t s)
{
    const struct hwmc_host_request *h = what;

    return h->kind->schedule((const void *) h->call, comm, s);
}

static void host_leave(struct hwmc_host_request *h)
{
    const int mpi_errno = hwmc_messages_run(&h->messages, host_schedule, h);

    h->state = HOST_BY_MPICH;
    if (mpi_errno)
        host_over(h, mpi_errno);
}

static void host_plan(struct hwmc_host_request *h)
{
    struct hwmc_spread *s = h->spread;
    int mpi_errno;

    if (!hwmc_leader_group_ask(h->request.comm, h->request.carried, &h->plan, &h->await,
                               MPI_SUCCESS)) {
        if (h->await.kind == HWMC_AWAIT_GROUP)
            hwmc_wait_failure_look(&h->failure, h->await.group);
        return;
    }
    if (!h->plan.goes || !hwmc_spread_goes(s)) {
        host_leave(h);
        return;
    }
    h->state = HOST_SPREAD;
    mpi_errno = hwmc_spread_begin(s);
    h->begun = mpi_errno == MPI_SUCCESS;
    if (mpi_errno)
        host_over(h, mpi_errno);
}

static void host_spread(struct hwmc_host_request *h)
{
    struct hwmc_op_stage *stage = &h->spread->chain.stage;
    struct hwmc_shm_host *n = hwmc_spread_host(h->spread);

    if (hwmc_stage_step(stage)) {
        if (n)
            hwmc_shm_wakeup_ring(&n->group);
        host_over(h, hwmc_stage_error(stage, n));
        return;
    }
    if (stage->waits == HWMC_STAGE_FOR_NET)
        hwmc_wait_failure_look(&h->failure, stage->group);
    if (n && stage->err == HWMC_OK && hwmc_shm_group_failed(&n->group))
        hwmc_host_loss_fail(stage, n);
}

/* It is decided who runs it: hwmc at `host`; MPICH if that is NULL. */
static void host_begin(struct hwmc_host_request *h, struct hwmc_shm_host *host)
{
    struct hwmc_call *c = hwmc_host_call(h);
    int mpi_errno;

    if (host && !hwmc_call_fits(c, host)) {
        hwmc_shm_note_left();
        host = NULL;
    }
    if (!host) {
        host_leave(h);
        return;
    }
    h->state = HOST_BY_HWMC;
    c->host = host;
    mpi_errno = c->ops->begin(c);
    h->begun = mpi_errno == MPI_SUCCESS;
    if (mpi_errno)
        host_over(h, mpi_errno);
    else
        hwmc_shm_note_call();
}

static void host_decide(struct hwmc_host_request *h)
{
    struct hwmc_shm_host *host = NULL;
    int mpi_errno = MPI_SUCCESS;

    if (!hwmc_shm_ask(h->request.comm, h->request.carried, &h->ask, &h->await, &host, &mpi_errno))
        return;
    if (mpi_errno)
        host_over(h, mpi_errno);
    else
        host_begin(h, host);
}

static bool host_step(struct hwmc_request *r, enum hwmc_stepper by)
{
    struct hwmc_host_request *h = host_of(r);
    const struct hwmc_call *c = hwmc_host_call(h);
    int mpi_errno;

    if (by == HWMC_STEP_BY_HELPER)
        return h->state == HOST_OVER;
    if (h->state == HOST_DECIDE)
        host_decide(h);
    if (h->state == HOST_PLAN)
        host_plan(h);
    if (h->state == HOST_SPREAD)
        host_spread(h);
    if (h->state == HOST_BY_MPICH && hwmc_messages_over(&h->messages, &mpi_errno))
        host_over(h, mpi_errno);
    if (h->state == HOST_BY_HWMC && hwmc_shm_try(c->host, c->op, &h->fruitless, &mpi_errno))
        host_over(h, mpi_errno);
    return h->state == HOST_OVER;
}

static bool host_in_memory(const struct hwmc_request *r)
{
    const struct hwmc_host_request *h = host_of(r);

    if (h->state == HOST_SPREAD)
        return hwmc_spread_host(h->spread) != NULL;
    return h->state == HOST_BY_HWMC ||
           ((h->state == HOST_DECIDE || h->state == HOST_PLAN) && h->await.kind == HWMC_AWAIT_HOST);
}

static void host_end(struct hwmc_request *r)
{
    struct hwmc_host_request *h = host_of(r);
    struct hwmc_call *c = hwmc_host_call(h);

    hwmc_wait_failure_over(&h->failure);
    if (h->begun)
        r->mpi_errno =
            h->spread ? hwmc_spread_end(h->spread, r->mpi_errno) : c->ops->end(c, r->mpi_errno);
    h->begun = false;
}

static void host_hold(struct hwmc_host_request *h, struct hwmc_host_uses uses)
{
    h->uses = uses;
    MPIR_Datatype_add_ref_if_not_builtin(uses.in);
    MPIR_Datatype_add_ref_if_not_builtin(uses.out);
    if (uses.op != MPI_OP_NULL)
        MPIR_Op_add_ref_if_not_builtin(uses.op);
}

static void host_free(struct hwmc_host_request *h)
{
    const int ranks = h->request.comm->local_size;

    for (int i = 0; i < h->num_kept; i++)
        MPL_free(h->kept[i]);
    for (int i = 0; i < h->num_types; i++) {
        for (int k = 0; h->types[i] && k < ranks; k++)
            MPIR_Datatype_release_if_not_builtin(h->types[i][k]);
        MPL_free(h->types[i]);
    }
    MPL_free(h);
}

static void host_destroy(struct hwmc_request *r)
{
    struct hwmc_host_request *h = host_of(r);

    MPIR_Datatype_release_if_not_builtin(h->uses.in);
    MPIR_Datatype_release_if_not_builtin(h->uses.out);
    if (h->uses.op != MPI_OP_NULL)
        MPIR_Op_release_if_not_builtin(h->uses.op);
    host_free(h);
}

static const struct hwmc_request_ops host_ops = {
    .start = host_start,
    .step = host_step,
    .in_memory = host_in_memory,
    .end = host_end,
    .destroy = host_destroy,
};

/* Of what carries `c`; NULL: no memory, and `c` is freed if it is of this request alone. */
static struct hwmc_host_request *host_make(MPIR_Comm *comm, struct hwmc_comm *c,
                                           const struct hwmc_host_kind *kind, bool over_hosts)
{
    const size_t align = sizeof(max_align_t), call = (kind->bytes + align - 1) / align * align;
    const size_t bytes = call + (over_hosts ? kind->spread_bytes : 0);
    struct hwmc_host_request *h = c ? MPL_calloc(1, sizeof(*h) + bytes, MPL_MEM_COLL) : NULL;

    if (!h) {
        hwmc_twin_free(c);
        return NULL;
    }
    h->request = (struct hwmc_request){.ops = &host_ops, .comm = comm, .carried = c};
    h->kind = kind;
    if (over_hosts) {
        h->spread = (struct hwmc_spread *) (void *) ((char *) h->call + call);
        h->spread->comm = comm;
        h->spread->c = c;
    }
    return h;
}

/* Whether collectives of `comm` may run inside a host, or over hosts. What it counts, and whether
 * it has a segment, is not looked at: operations that were started before it may change that, and
 * have got on differently at other ranks. */
bool hwmc_host_take(MPIR_Comm *comm, enum hwmc_form form, const struct hwmc_host_kind *kind,
                    struct hwmc_host_request **r)
{
    const struct hwmc_shm_comm *n = hwmc_shm_of_comm(comm);
    const bool on_one_host = n && n->state != HWMC_SHM_SPREAD && n->state != HWMC_SHM_PART;
    struct hwmc_comm *c;

    if (unlikely(hwmc_shm_lacks_memory(comm, n))) {
        *r = NULL;
        return true;
    }
    if (on_one_host) {
        c = form == HWMC_PERSISTENT ? hwmc_twin_host(comm) : hwmc_comm_state(comm);
        *r = host_make(comm, c, kind, false);
        return true;
    }
    if (!kind->spread || !hwmc_comm_queues_spread(comm, &c))
        return false;
    *r = host_make(comm, c, kind, true);
    return true;
}

const MPI_Aint *hwmc_host_keep(struct hwmc_host_request *r, const MPI_Aint *array)
{
    const size_t bytes = r ? (size_t) r->request.comm->local_size * sizeof(*array) : 0;
    MPI_Aint *copy = r && array ? MPL_malloc(bytes, MPL_MEM_COLL) : NULL;

    if (!r || !array)
        return NULL;
    MPIR_Assert(r->num_kept < ARRAYS_MOST);
    if (copy)
        memcpy(copy, array, bytes);
    else
        r->no_memory = true;
    r->kept[r->num_kept++] = copy;
    return copy;
}

/* What is not looked at need not be valid. */
const MPI_Datatype *hwmc_host_keep_types(struct hwmc_host_request *r, const MPI_Datatype *types,
                                         const MPI_Aint *counts)
{
    const int ranks = r ? r->request.comm->local_size : 0;
    MPI_Datatype *copy;

    if (!r || r->no_memory || !types)
        return NULL;
    MPIR_Assert(r->num_types < TYPES_MOST);
    copy = MPL_malloc((size_t) ranks * sizeof(*copy), MPL_MEM_COLL);
    for (int i = 0; copy && i < ranks; i++) {
        copy[i] = counts[i] > 0 ? types[i] : HWMC_BYTE;
        MPIR_Datatype_add_ref_if_not_builtin(copy[i]);
    }
    r->no_memory = !copy;
    r->types[r->num_types++] = copy;
    return copy;
}

/* Over hosts: with the arguments of the call. False: MPICH is to run it. A persistent one carries
 * something of its own from here on, if there is memory for it. */
static bool host_spread_init(struct hwmc_host_request *h, enum hwmc_form form)
{
    struct hwmc_spread *s = h->spread;

    h->bytes = h->kind->spread(hwmc_host_call(h), h->request.comm, s);
    if (h->bytes == 0 || hwmc_spread_is_mpichs(s->coll))
        return false;
    if (form != HWMC_PERSISTENT)
        return true;
    if (!hwmc_spread_pays(s))
        return false;
    s->c = hwmc_spread_twin(s);
    if (s->c)
        h->request.carried = s->c;
    h->no_memory = !s->c;
    return true;
}

bool hwmc_host_go(struct hwmc_host_request *r, struct hwmc_host_uses uses, enum hwmc_form form,
                  MPIR_Request **request, int *mpi_errno)
{
    *mpi_errno = MPI_SUCCESS;
    if (r && r->spread && !r->no_memory && !host_spread_init(r, form)) {
        host_free(r);
        return false;
    }
    if (r)
        host_hold(r, uses);
    if (!r || r->no_memory)
        *mpi_errno = hwmc_error_nomem();
    else
        *mpi_errno = hwmc_request_make(&r->request, form, request);
    if (r && *mpi_errno)
        hwmc_request_destroy(&r->request);
    return true;
}
