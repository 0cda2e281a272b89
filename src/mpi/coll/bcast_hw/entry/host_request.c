/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * host_request: see host_request.h.
 *
 *   DECIDE -> BY_HWMC -> OVER
 *         \-> BY_MPICH -^
 *
 *   DECIDE    it is the first of its queue: it is counted, as blocking collectives are, and the
 *             segment may be made for it
 *   BY_HWMC   the call has begun and is stepped over shared memory
 *   BY_MPICH  a schedule of MPICH's: the communicator counts its first collectives, or has no
 *             segment, or the call does not fit
 *
 * The helper thread leaves it alone: steps may call MPICH for datatypes and the program's
 * operations.
 */

#include "mpiimpl.h"
#include "host_request.h"
#include "../process/errors.h"

#include <stddef.h>

#define ARRAYS_MOST 4 /* of counts and displacements: of MPI_Alltoallv */

enum host_state { HOST_DECIDE, HOST_BY_HWMC, HOST_BY_MPICH, HOST_OVER };

struct hwmc_host_request {
    struct hwmc_request request;
    const struct hwmc_host_kind *kind;
    struct hwmc_host_uses uses; /* with a reference of each */
    MPI_Aint *kept[ARRAYS_MOST];
    int num_kept;
    bool no_memory; /* ... for one of these */

    /* Since it was started. */
    enum host_state state;
    bool begun; /* the call has begun and not ended */
    struct hwmc_shm_ask ask;
    struct hwmc_await await;
    struct hwmc_messages messages;
    uint32_t fruitless; /* BY_HWMC: steps in a row that found nothing */

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

    h->state = HOST_DECIDE;
    h->begun = false;
    h->ask = (struct hwmc_shm_ask){.tag = r->tag};
    h->messages = hwmc_messages_of(r->comm, r->tag);
    h->fruitless = 0;
}

static int host_schedule(const void *what, MPIR_Comm *comm, MPIR_Sched_t s)
{
    const struct hwmc_host_request *h = what;

    return h->kind->schedule((const void *) h->call, comm, s);
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
        h->state = HOST_BY_MPICH;
        mpi_errno = hwmc_messages_run(&h->messages, host_schedule, h);
    } else {
        h->state = HOST_BY_HWMC;
        c->host = host;
        mpi_errno = c->ops->begin(c);
        h->begun = mpi_errno == MPI_SUCCESS;
    }
    if (mpi_errno)
        host_over(h, mpi_errno);
    else if (host)
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
    if (h->state == HOST_BY_MPICH && hwmc_messages_over(&h->messages, &mpi_errno))
        host_over(h, mpi_errno);
    if (h->state == HOST_BY_HWMC && hwmc_shm_try(c->host, c->op, &h->fruitless, &mpi_errno))
        host_over(h, mpi_errno);
    return h->state == HOST_OVER;
}

static bool host_in_memory(const struct hwmc_request *r)
{
    const struct hwmc_host_request *h = host_of(r);

    return h->state == HOST_BY_HWMC ||
           (h->state == HOST_DECIDE && h->await.kind == HWMC_AWAIT_HOST);
}

static void host_end(struct hwmc_request *r)
{
    struct hwmc_host_request *h = host_of(r);
    struct hwmc_call *c = hwmc_host_call(h);

    if (h->begun)
        r->mpi_errno = c->ops->end(c, r->mpi_errno);
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

static void host_destroy(struct hwmc_request *r)
{
    struct hwmc_host_request *h = host_of(r);

    MPIR_Datatype_release_if_not_builtin(h->uses.in);
    MPIR_Datatype_release_if_not_builtin(h->uses.out);
    if (h->uses.op != MPI_OP_NULL)
        MPIR_Op_release_if_not_builtin(h->uses.op);
    for (int i = 0; i < h->num_kept; i++)
        MPL_free(h->kept[i]);
    MPL_free(h);
}

static const struct hwmc_request_ops host_ops = {
    .start = host_start,
    .step = host_step,
    .in_memory = host_in_memory,
    .end = host_end,
    .destroy = host_destroy,
};

/* Whether collectives of `comm` may run inside a host. What it counts, and whether it has a
 * segment, is not looked at: operations that were started before it may change that, and have got
 * on differently at other ranks. */
bool hwmc_host_take(MPIR_Comm *comm, enum hwmc_form form, const struct hwmc_host_kind *kind,
                    struct hwmc_host_request **r)
{
    const struct hwmc_shm_comm *n = hwmc_shm_of_comm(comm);
    struct hwmc_comm *c;
    struct hwmc_host_request *h;

    if (!n || n->state == HWMC_SHM_SPREAD || n->state == HWMC_SHM_PART)
        return false;
    c = form == HWMC_PERSISTENT ? hwmc_twin_host(comm) : hwmc_comm_state(comm);
    h = c ? MPL_calloc(1, sizeof(*h) + kind->bytes, MPL_MEM_COLL) : NULL;
    *r = h;
    if (h) {
        h->request = (struct hwmc_request){.ops = &host_ops, .comm = comm, .carried = c};
        h->kind = kind;
    } else {
        hwmc_twin_free(c);
    }
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

bool hwmc_host_go(struct hwmc_host_request *r, struct hwmc_host_uses uses, enum hwmc_form form,
                  MPIR_Request **request, int *mpi_errno)
{
    *mpi_errno = MPI_SUCCESS;
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
