/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_PRE_H_INCLUDED
#define HWMC_PRE_H_INCLUDED

/* What MPICH's own files see of hwmc. Read before MPIR_Comm is complete, and by all of MPICH: what need
 * not be here is in hwmc_impl.h. */

#include "../ucx/ucx_pre.h"
#include "../../../../mpi/coll/bcast_hw/bcast_hw.h"

#include <ucp/api/ucp.h>

typedef struct {
    struct bcast_hw_comm *group; /* NULL until the first broadcast that hwmc may take */
    bool carried; /* its messages go over hwmc's links, once there are any: hwmc_carry.h */
} MPIDI_HWMC_comm_t;

/* Three calls of the ucx netmod, whose sources stay as they are, are hwmc's to answer: its UCX context
 * shall be one that can be waited for, what its workers report is counted (both hwmc_wait.c), and its
 * endpoints shall not be closed one by one when none needs it (hwmc_finalize.c). */
#define ucp_init MPIDI_HWMC_ucp_init
#define ucp_disconnect_nb MPIDI_HWMC_ucp_disconnect_nb
#define ucp_worker_progress MPIDI_HWMC_ucp_worker_progress

ucs_status_t MPIDI_HWMC_ucp_init(const ucp_params_t *params, const ucp_config_t *config,
                                 ucp_context_h *context);
void *MPIDI_HWMC_ucp_disconnect_nb(ucp_ep_h ep);
unsigned MPIDI_HWMC_ucp_worker_progress(ucp_worker_h worker);

/* Around each poll of the ucx netmod for `vci`, with the lock of the VCI held. */
void MPIDI_HWMC_poll_begins(void);
int MPIDI_HWMC_poll_ends(int vci);

/* The hooks that hwmc wraps around those of the ucx netmod. They may run before there is any
 * connection, or inside a progress call: none of them communicates. */
int MPIDI_HWMC_init_local(int *tag_bits);
int MPIDI_HWMC_mpi_finalize_hook(void);
int MPIDI_HWMC_mpi_comm_commit_pre_hook(MPIR_Comm *comm);
int MPIDI_HWMC_mpi_comm_commit_post_hook(MPIR_Comm *comm);
int MPIDI_HWMC_mpi_comm_free_hook(MPIR_Comm *comm);
int MPIDI_HWMC_mpi_win_create_hook(MPIR_Win *win);
int MPIDI_HWMC_mpi_win_allocate_hook(MPIR_Win *win);

/* Links carry MPICH's messages: set once, in MPI_Init, at the same point of all processes. */
extern bool MPIDI_HWMC_carries;

/* CH4's active messages over links (hwmc_am.c). The data are the caller's again when the request's origin
 * callback has been called, which may be at once. */
int MPIDI_HWMC_am_isend(int rank, MPIR_Comm *comm, int handler_id, const void *am_hdr,
                        MPI_Aint am_hdr_sz, const void *data, MPI_Aint count, MPI_Datatype datatype,
                        MPIR_Request *sreq);
int MPIDI_HWMC_am_send_hdr(int rank, MPIR_Comm *comm, int handler_id, const void *am_hdr,
                           MPI_Aint am_hdr_sz);

#endif /* HWMC_PRE_H_INCLUDED */
