/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * request: see request.h. MPICH's progress steps operations by a hook that is active while there
 * are any. The hook says that it made progress only if it completed a request: since MPICH 5.0 a
 * poll in which a hook made progress ends there.
 */

#include "request.h"
#include "hooks.h"
#include "netmod.h"

static int hook = -1; /* MPICH's number of the progress hook; negative: there is none */

static int requests_progress(int *made_progress)
{
    const uint32_t ended = hwmc_queues_step(HWMC_STEP_BY_PROGRAM);

    *made_progress = ended > 0;
    hwmc_note_finished(ended);
    if (hwmc_queues_pending() == 0) {
        MPIR_Progress_hook_deactivate(hook);
        if (hwmc_queues_pending() > 0) /* another thread has just started one */
            MPIR_Progress_hook_activate(hook);
    }
    return MPI_SUCCESS;
}

#if MPICH_NUMVERSION >= 40300000
static int requests_hook(int vci, int *made_progress)
{
    (void) vci;
    return requests_progress(made_progress);
}

int hwmc_requests_open(void)
{
    return MPIR_Progress_hook_register(-1, requests_hook, &hook);
}
#else
int hwmc_requests_open(void)
{
    return MPIR_Progress_hook_register(requests_progress, &hook);
}
#endif

void hwmc_requests_close(void)
{
    if (hook >= 0)
        MPIR_Progress_hook_deregister(hook);
    hook = -1;
}

static struct hwmc_request *request_of(const struct hwmc_op *op)
{
    return MPL_container_of(op, struct hwmc_request, op);
}

static bool request_step(struct hwmc_op *op, enum hwmc_stepper by)
{
    struct hwmc_request *r = request_of(op);

    return r->ops->step(r, by);
}

static bool request_in_memory(const struct hwmc_op *op)
{
    struct hwmc_request *r = request_of(op);

    return r->ops->in_memory(r);
}

void hwmc_request_destroy(struct hwmc_request *r)
{
    struct hwmc_comm *carried = r->carried;

    r->ops->destroy(r);
    hwmc_twin_free(carried);
}

/* The communicator may go with the request. */
static void request_end(struct hwmc_op *op)
{
    struct hwmc_request *r = request_of(op);
    MPIR_Request *request = r->request;

    r->ops->end(r);
    request->status.MPI_ERROR = r->mpi_errno;
    r->request = NULL;
    if (!r->persistent)
        hwmc_request_destroy(r);
    MPIR_Request_complete(request);
}

static const struct hwmc_op_ops request_op_ops = {
    .step = request_step,
    .end = request_end,
    .in_memory = request_in_memory,
};

/* *request is the program's, or the partner of a persistent one. */
static int request_start(struct hwmc_request *r, MPIR_Request **request)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Request *made = NULL;

    if (!r->persistent)
        mpi_errno = hwmc_messages_tag(r->comm, &r->tag);
    MPIR_ERR_CHECK(mpi_errno);
    made = MPIR_Request_create(MPIR_REQUEST_KIND__COLL);
    MPIR_ERR_CHKANDJUMP(!made, mpi_errno, MPI_ERR_OTHER, "**nomem");
    MPIR_Comm_add_ref(r->comm);
    made->comm = r->comm;
    MPIR_Request_add_ref(made); /* the operation's */
    r->op.ops = &request_op_ops;
    r->request = made;
    r->mpi_errno = MPI_SUCCESS;
    r->ops->start(r);
    *request = made;
    hwmc_queue_start(&r->carried->queue, &r->op);
    if (hwmc_queues_pending() > 0) {
        MPIR_Progress_hook_activate(hook);
        hwmc_wait_started();
    }

fn_fail:
    return mpi_errno;
}

static int request_persist(struct hwmc_request *r, MPIR_Request **request)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Request *made = NULL;

    mpi_errno = hwmc_messages_tag(r->comm, &r->tag);
    MPIR_ERR_CHECK(mpi_errno);
    made = MPIR_Request_create(MPIR_REQUEST_KIND__PREQUEST_COLL);
    MPIR_ERR_CHKANDJUMP(!made, mpi_errno, MPI_ERR_OTHER, "**nomem");
    MPIR_Comm_add_ref(r->comm);
    made->comm = r->comm;
    made->u.persist_coll.sched_type = MPIR_SCHED_INVALID; /* MPICH has no schedule for it */
    made->u.persist_coll.real_request = NULL;
    made->u.persist_coll.sched = r;
#if MPICH_NUMVERSION >= 40200000
    MPIR_Comm_save_inactive_request(r->comm, made);
#endif
    r->persistent = true;
    *request = made;

fn_fail:
    return mpi_errno;
}

int hwmc_request_make(struct hwmc_request *r, enum hwmc_form form, MPIR_Request **request)
{
    return form == HWMC_PERSISTENT ? request_persist(r, request) : request_start(r, request);
}

static bool request_is_ours(const MPIR_Request *request)
{
    return request->u.persist_coll.sched_type == MPIR_SCHED_INVALID &&
           request->u.persist_coll.sched != NULL;
}

/* The partner's error is that of the request, which MPICH reads when it is complete. */
bool MPIR_Hwmc_persist_start(MPIR_Request *request, int *mpi_errno)
{
    MPIR_Request *partner = NULL;

    if (!request_is_ours(request))
        return false;
    *mpi_errno = request_start(request->u.persist_coll.sched, &partner);
    request->u.persist_coll.real_request = partner;
    request->status.MPI_ERROR = *mpi_errno;
    request->cc_ptr = partner ? &partner->cc : &request->cc;
    if (!partner)
        MPIR_cc_set(&request->cc, 0);
    return true;
}

bool MPIR_Hwmc_persist_free(MPIR_Request *request)
{
    struct hwmc_request *r = request->u.persist_coll.sched;

    if (!request_is_ours(request))
        return false;
#if MPICH_NUMVERSION < 40200000
    if (request->u.persist_coll.real_request)
        MPIR_Request_free(request->u.persist_coll.real_request);
#endif
    if (r->request) /* under way: freed when it is over */
        r->persistent = false;
    else
        hwmc_request_destroy(r);
    return true;
}
