/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * MPI_Ibcast and MPI_Bcast_init of a communicator whose ranks run on several hosts, or where the
 * user wants multicast on one (host_icoll.c has the others):
 *
 *   PLAN -> BY_HWMC -> OVER
 *      \--> BY_MPICH -^
 *
 *   PLAN      it is the first of its queue; who runs it is being decided, and groups may be set up
 *             for it meanwhile
 *   BY_HWMC   an operation of hwmc's (op/bcast.h)
 *   BY_MPICH  a schedule of MPICH's
 *
 * The helper thread may step BY_HWMC where the message lies in one piece: nothing of MPICH's is
 * called then.
 */

#include "mpiimpl.h"
#include "bcast_plan.h"
#include "host_request.h"
#include "../comm/shm.h"
#include "../op/wait_stage.h"
#include "../op/host_loss.h"
#include "../op/wait_failure.h"
#include "../process/errors.h"
#include "../process/process.h"
#include "../select/choose.h"
#include "../shm/segment/wakeup.h"
#include "../stats/counters.h"
#include "../stats/epoch.h"

enum ibcast_state { IBCAST_PLAN, IBCAST_BY_HWMC, IBCAST_BY_MPICH, IBCAST_OVER };

struct ibcast {
    struct hwmc_request request;
    struct hwmc_typed message;
    MPI_Aint bytes;
    int root;
    enum ibcast_state state;
    struct hwmc_plan plan;
    struct hwmc_await await;
    struct hwmc_messages messages;
    struct hwmc_bcast bcast;
    struct hwmc_shm_host *host; /* BY_HWMC: where it has a stage inside the host; NULL */
    struct hwmc_wait_failure failure;
};

static struct ibcast *ibcast_of(const struct hwmc_request *r)
{
    return MPL_container_of(r, struct ibcast, request);
}

static void ibcast_fail(struct ibcast *b, int mpi_errno)
{
    if (b->request.mpi_errno == MPI_SUCCESS)
        b->request.mpi_errno = mpi_errno;
    b->state = IBCAST_OVER;
}

static void ibcast_start(struct hwmc_request *r)
{
    struct ibcast *b = ibcast_of(r);

    b->state = IBCAST_PLAN;
    b->await.kind = HWMC_AWAIT_NOTHING;
    b->message.mpi_errno = MPI_SUCCESS;
    b->plan = hwmc_plan_of(b->root, b->bytes, r->tag);
    b->messages = hwmc_messages_of(r->comm, r->tag);
    b->failure = (struct hwmc_wait_failure){.wake = 0};
}

/* It is decided who runs it. */
static void ibcast_begin(struct ibcast *b)
{
    struct hwmc_request *r = &b->request;
    struct hwmc_bcast_cfg cfg;
    int mpi_errno;

    b->host = NULL;
    if (!b->plan.by_hwmc) {
        mpi_errno = hwmc_messages_bcast(&b->messages, b->message.buffer, b->message.count,
                                        b->message.datatype, b->root);
        b->state = IBCAST_BY_MPICH;
    } else {
        mpi_errno = hwmc_bcast_plan(r->carried, &b->message, b->bytes, b->root, r->comm,
                                    b->plan.leader_group, b->plan.along_trees, &cfg);
        b->state = IBCAST_BY_HWMC;
    }
    if (mpi_errno) {
        ibcast_fail(b, mpi_errno);
        return;
    }
    if (b->plan.by_hwmc) {
        b->host = r->carried->by_hosts ? &r->carried->shm->host : NULL;
        hwmc_bcast_begin(&b->bcast, &cfg);
    }
}

static void ibcast_plan(struct ibcast *b)
{
    struct hwmc_request *r = &b->request;

    if (hwmc_comm_plan(r->comm, r->carried, &b->plan, &b->await, MPI_SUCCESS))
        ibcast_begin(b);
    else if (b->await.kind == HWMC_AWAIT_GROUP)
        hwmc_wait_failure_look(&b->failure, b->await.group);
}

static void ibcast_run(struct ibcast *b, enum hwmc_stepper by)
{
    struct hwmc_op_stage *s = &b->bcast.stage;

    if (hwmc_stage_step(s)) {
        if (b->host)
            hwmc_shm_wakeup_ring(&b->host->group);
        b->state = IBCAST_OVER;
        return;
    }
    if (by == HWMC_STEP_BY_HELPER)
        return;
    if (s->waits == HWMC_STAGE_FOR_NET)
        hwmc_wait_failure_look(&b->failure, s->group);
    if (b->host && s->err == HWMC_OK && hwmc_shm_group_failed(&b->host->group))
        hwmc_host_loss_fail(s, b->host);
}

static bool ibcast_step(struct hwmc_request *r, enum hwmc_stepper by)
{
    struct ibcast *b = ibcast_of(r);
    int mpi_errno;

    if (by == HWMC_STEP_BY_HELPER && (b->state != IBCAST_BY_HWMC || !b->bcast.buffer.memory))
        return b->state == IBCAST_OVER;
    if (b->state == IBCAST_PLAN)
        ibcast_plan(b);
    if (b->state == IBCAST_BY_MPICH && hwmc_messages_over(&b->messages, &mpi_errno))
        ibcast_fail(b, mpi_errno);
    if (b->state == IBCAST_BY_HWMC)
        ibcast_run(b, by);
    return b->state == IBCAST_OVER;
}

static bool ibcast_in_memory(const struct hwmc_request *r)
{
    const struct ibcast *b = ibcast_of(r);

    if (b->state == IBCAST_PLAN)
        return b->await.kind == HWMC_AWAIT_HOST;
    return b->state == IBCAST_BY_HWMC && b->host != NULL;
}

static void ibcast_end(struct hwmc_request *r)
{
    struct ibcast *b = ibcast_of(r);

    hwmc_wait_failure_over(&b->failure);
    hwmc_note_call(b->plan.by_hwmc, b->bytes);
    if (!b->plan.by_hwmc || r->mpi_errno)
        return;
    r->mpi_errno = hwmc_stage_error(&b->bcast.stage, b->host);
    hwmc_leader_groups_settle(r->carried, b->bcast.stage.err);
    if (b->message.mpi_errno)
        r->mpi_errno = b->message.mpi_errno;
    if (r->mpi_errno)
        return;
    if (hwmc_bcast_by_net(&b->bcast))
        hwmc_note_epoch(b->bcast.net.cfg.group);
    if (b->host)
        hwmc_shm_note_call();
}

static void ibcast_destroy(struct hwmc_request *r)
{
    struct ibcast *b = ibcast_of(r);

    MPIR_Datatype_release_if_not_builtin(b->message.datatype);
    MPL_free(b);
}

static const struct hwmc_request_ops ibcast_ops = {
    .start = ibcast_start,
    .step = ibcast_step,
    .in_memory = ibcast_in_memory,
    .end = ibcast_end,
    .destroy = ibcast_destroy,
};

static MPI_Aint bytes_of(MPI_Aint count, MPI_Datatype datatype)
{
    MPI_Aint size;

    MPIR_Datatype_get_size_macro(datatype, size);
    return size * count;
}

/* Makes an operation of `c`; ibcast_start sets the rest of it. NULL without memory: then `c` is
 * freed, if it is of this broadcast alone, and this rank fails. Others may wait for it, as they
 * would in MPICH. */
static struct ibcast *ibcast_make(void *buffer, MPI_Aint count, MPI_Datatype datatype, int root,
                                  MPIR_Comm *comm, struct hwmc_comm *c)
{
    struct ibcast *b = c ? MPL_malloc(sizeof(*b), MPL_MEM_COLL) : NULL;

    if (!b) {
        hwmc_twin_free(c);
        return NULL;
    }
    MPIR_Datatype_add_ref_if_not_builtin(datatype);
    b->request = (struct hwmc_request){.ops = &ibcast_ops, .comm = comm, .carried = c};
    b->message = (struct hwmc_typed){.buffer = buffer, .count = count, .datatype = datatype};
    b->bytes = bytes_of(count, datatype);
    b->root = root;
    return b;
}

/* Whether this broadcast goes to a queue, and what has that in *c; NULL: no memory. A persistent
 * one has its own. */
static bool ibcast_queues(MPI_Aint count, MPI_Datatype datatype, int root, MPIR_Comm *comm,
                          enum hwmc_form form, struct hwmc_comm **c)
{
    const MPI_Aint bytes = bytes_of(count, datatype);

    if (!hwmc_comm_queues(count, datatype, comm, c))
        return false;
    if (!*c || form != HWMC_PERSISTENT)
        return true;
    if (!hwmc_twin_pays(*c, bytes))
        return false;
    *c = hwmc_twin_hosts(comm, *c, root, bytes, false);
    return true;
}

/* The user has named one of MPICH's own algorithms. */
static bool is_mpichs(void)
{
    return MPIR_CVAR_IBCAST_INTRA_ALGORITHM != MPIR_CVAR_IBCAST_INTRA_ALGORITHM_auto &&
           MPIR_CVAR_IBCAST_INTRA_ALGORITHM != MPIR_CVAR_IBCAST_INTRA_ALGORITHM_hw;
}

/* Makes the operation and a request of it, unless MPICH is to run the broadcast. */
static bool ibcast_take(void *buffer, MPI_Aint count, MPI_Datatype datatype, int root,
                        MPIR_Comm *comm, enum hwmc_form form, MPIR_Request **request,
                        int *mpi_errno)
{
    struct hwmc_comm *c;
    struct ibcast *b;

    *mpi_errno = MPI_SUCCESS;
    if (!hwmc_form_goes(form) || is_mpichs() ||
        !ibcast_queues(count, datatype, root, comm, form, &c))
        return false;
    b = ibcast_make(buffer, count, datatype, root, comm, c);
    if (!b) {
        *mpi_errno = hwmc_error_nomem();
        return true;
    }
    *mpi_errno = hwmc_request_make(&b->request, form, request);
    if (*mpi_errno)
        hwmc_request_destroy(&b->request);
    return true;
}

bool MPIR_Hwmc_ibcast(void *buffer, MPI_Aint count, MPI_Datatype datatype, int root,
                      MPIR_Comm *comm, enum hwmc_form form, MPIR_Request **request, int *mpi_errno)
{
    return (!hwmc_is_forced() &&
            hwmc_host_ibcast(buffer, count, datatype, root, comm, form, request, mpi_errno)) ||
           ibcast_take(buffer, count, datatype, root, comm, form, request, mpi_errno);
}

/* MPICH's selection names hwmc, by control variable or JSON file, for a broadcast that hwmc does
 * not take. */
int MPIR_Ibcast_intra_hw(void *buffer, MPI_Aint count, MPI_Datatype datatype, int root,
                         MPIR_Comm *comm, MPIR_Sched_t s)
{
    return MPIR_Ibcast_intra_sched_auto(buffer, count, datatype, root, comm, s);
}
