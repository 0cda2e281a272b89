/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_NETMOD_PRE_H_INCLUDED
#define HWMC_NETMOD_PRE_H_INCLUDED

/* What MPICH's own files see of hwmc. Read before MPIR_Comm is complete, and by all of MPICH: what
 * need not be here is in base/global.h. */

#include "../ucx/ucx_pre.h"
#include "../../../../mpi/coll/bcast_hw/entry/hooks.h"

#include <ucp/api/ucp.h>

#define HWMC_COMM_PATH_MAX 32

typedef struct {
    struct hwmc_comm *group; /* NULL until the first broadcast that hwmc may take */
    bool carried; /* its messages go over hwmc's sessions, once there are any: am/am_override.h */
    char path[HWMC_COMM_PATH_MAX]; /* info key hwmc_path, where it has an effect; else empty */
} MPIDI_HWMC_comm_t;

/* Some calls of the ucx netmod, whose sources stay as they are, are hwmc's to answer: its UCX
 * context shall be one that can be waited for (init/context.c), what its workers report is counted
 * (wait/wait.c), and its endpoints shall not be closed one by one when none needs it
 * (init/finalize.c). */
#define ucp_init MPIDI_HWMC_ucp_init
#define ucp_disconnect_nb MPIDI_HWMC_ucp_disconnect_nb

/* Of each thread, for its polls of the ucx netmod: what every one of them looks at. */
struct MPIDI_HWMC_poll {
    int left;        /* until the next one that looks at the engine as well; poll_ends */
    int wait_left;   /* of a wait, until the next look at the clock; wait_looked */
    unsigned events; /* that they had, since somebody asked */
    int eager;       /* depth of waits for the engine */
    bool timed;      /* each begins with a look at the clock: others want the processor */
    bool polling;    /* one is under way */
    bool inside;     /* a worker makes progress */
};
extern __thread struct MPIDI_HWMC_poll MPIDI_HWMC_poll __attribute__((tls_model("initial-exec")));

/* Operations of the layer have ended in this poll, before the netmod's part of it: op/wait.h. */
extern __thread bool hwmc_ended_in_poll __attribute__((tls_model("initial-exec")));

/* Sessions carry MPICH's messages: set once, in MPI_Init, at the same point of all processes. */
extern bool hwmc_am_override;

unsigned MPIDI_HWMC_other_progress(ucp_worker_h worker);

MPL_STATIC_INLINE_PREFIX unsigned MPIDI_HWMC_ucp_worker_progress(ucp_worker_h worker)
{
    struct MPIDI_HWMC_poll *p = &MPIDI_HWMC_poll;
    unsigned events;

    if (unlikely(!p->polling || p->inside || p->eager > 0 || hwmc_am_override))
        return MPIDI_HWMC_other_progress(worker);
    p->inside = true;
    events = ucp_worker_progress(worker);
    p->inside = false;
    p->events += events;
    return events;
}
#define ucp_worker_progress MPIDI_HWMC_ucp_worker_progress

/* UCX waits for this in a loop of its own, in which no other process gets the processor. */
ucs_status_t MPIDI_HWMC_ucp_ep_flush(ucp_ep_h ep);
#define ucp_ep_flush MPIDI_HWMC_ucp_ep_flush

/* A poll of a wait is over, and may have found nothing. */
void hwmc_wait_looked(void);
MPL_STATIC_INLINE_PREFIX void MPIDI_HWMC_wait_polled(void)
{
    if (unlikely(--MPIDI_HWMC_poll.wait_left < 0))
        hwmc_wait_looked();
}

ucs_status_t MPIDI_HWMC_ucp_init(const ucp_params_t *params, const ucp_config_t *config,
                                 ucp_context_h *context);
void *MPIDI_HWMC_ucp_disconnect_nb(ucp_ep_h ep);

/* Around a poll of the ucx netmod for `vci`, with the lock of the VCI held: before it where polls
 * are timed, after it where none is left. */
void MPIDI_HWMC_poll_begins(void);
int MPIDI_HWMC_poll_ends(int vci);

/* The hooks that hwmc wraps around those of the ucx netmod. They may run before there is any
 * connection, or inside a progress call: none of them communicates. */
int MPIDI_HWMC_init_local(int *tag_bits);
int MPIDI_HWMC_mpi_finalize_hook(void);
int MPIDI_HWMC_mpi_comm_commit_pre_hook(MPIR_Comm *comm);
int MPIDI_HWMC_mpi_comm_commit_post_hook(MPIR_Comm *comm);
int MPIDI_HWMC_mpi_comm_free_hook(MPIR_Comm *comm);
int MPIDI_HWMC_comm_set_hints(MPIR_Comm *comm, MPIR_Info *info);
int MPIDI_HWMC_mpi_win_create_hook(MPIR_Win *win);
int MPIDI_HWMC_mpi_win_allocate_hook(MPIR_Win *win);

/* Adds hwmc's info keys of the communicator to those that MPI_Comm_get_info tells of. */
void MPIDI_HWMC_comm_get_hints(MPIR_Comm *comm, MPIR_Info *info);

/* CH4's active messages over sessions (am/am.c). The data are the caller's again when the request's
 * origin callback has been called, which may be at once. */
int hwmc_am_isend(int rank, MPIR_Comm *comm, int handler_id, const void *am_hdr, MPI_Aint am_hdr_sz,
                  const void *data, MPI_Aint count, MPI_Datatype datatype, MPIR_Request *sreq);
int hwmc_am_send_hdr(int rank, MPIR_Comm *comm, int handler_id, const void *am_hdr,
                     MPI_Aint am_hdr_sz);

#endif /* HWMC_NETMOD_PRE_H_INCLUDED */
