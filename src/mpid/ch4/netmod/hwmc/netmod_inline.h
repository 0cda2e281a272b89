/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_NETMOD_NETMOD_INLINE_H_INCLUDED
#define HWMC_NETMOD_NETMOD_INLINE_H_INCLUDED

/*
 * hwmc is MPICH's ucx netmod with some of its functions wrapped:
 *
 *   - a static inline of the ucx headers is renamed MPIDI_HWMC_super_* while they are read, and
 *     the wrapper takes its name;
 *   - an ordinary function, which ucx_noinline.h maps to MPIDI_UCX_*, is mapped to hwmc's instead.
 */

#define MPIDI_NM_progress MPIDI_HWMC_super_progress
#define MPIDI_NM_mpi_isend MPIDI_HWMC_super_mpi_isend
#define MPIDI_NM_mpi_issend MPIDI_HWMC_super_mpi_issend
#define MPIDI_NM_isend_coll MPIDI_HWMC_super_isend_coll
#define MPIDI_NM_mpi_irecv MPIDI_HWMC_super_mpi_irecv
#define MPIDI_NM_mpi_imrecv MPIDI_HWMC_super_mpi_imrecv
#define MPIDI_NM_mpi_iprobe MPIDI_HWMC_super_mpi_iprobe
#define MPIDI_NM_mpi_improbe MPIDI_HWMC_super_mpi_improbe
#define MPIDI_NM_mpi_cancel_send MPIDI_HWMC_super_mpi_cancel_send
#define MPIDI_NM_mpi_cancel_recv MPIDI_HWMC_super_mpi_cancel_recv
#define MPIDI_NM_am_isend MPIDI_HWMC_super_am_isend
#define MPIDI_NM_am_isend_reply MPIDI_HWMC_super_am_isend_reply
#define MPIDI_NM_am_send_hdr MPIDI_HWMC_super_am_send_hdr
#define MPIDI_NM_am_send_hdr_reply MPIDI_HWMC_super_am_send_hdr_reply
#define MPIDI_NM_am_check_eager MPIDI_HWMC_super_am_check_eager
#define MPIDI_NM_am_can_do_tag MPIDI_HWMC_super_am_can_do_tag
#include "../ucx/netmod_inline.h"
#undef MPIDI_NM_progress
#undef MPIDI_NM_mpi_isend
#undef MPIDI_NM_mpi_issend
#undef MPIDI_NM_isend_coll
#undef MPIDI_NM_mpi_irecv
#undef MPIDI_NM_mpi_imrecv
#undef MPIDI_NM_mpi_iprobe
#undef MPIDI_NM_mpi_improbe
#undef MPIDI_NM_mpi_cancel_send
#undef MPIDI_NM_mpi_cancel_recv
#undef MPIDI_NM_am_isend
#undef MPIDI_NM_am_isend_reply
#undef MPIDI_NM_am_send_hdr
#undef MPIDI_NM_am_send_hdr_reply
#undef MPIDI_NM_am_check_eager
#undef MPIDI_NM_am_can_do_tag
#include "am/am_override.h"

MPL_STATIC_INLINE_PREFIX int MPIDI_NM_progress(int vci, HWMC_PROGRESS_ARG_T arg)
{
    struct MPIDI_HWMC_poll *p = &MPIDI_HWMC_poll;
    int mpi_errno, ended;

    if (unlikely(hwmc_ended_in_poll)) { /* as MPICH 5.0 ends a poll in which a hook had success */
        hwmc_ended_in_poll = false;
        return MPI_SUCCESS;
    }
    if (unlikely(p->timed))
        MPIDI_HWMC_poll_begins();
    p->polling = true;
    mpi_errno = MPIDI_HWMC_super_progress(vci, arg);
    p->polling = false;
    if (likely(--p->left >= 0))
        return mpi_errno;
    ended = MPIDI_HWMC_poll_ends(vci);
    return mpi_errno ? mpi_errno : ended;
}

#ifdef NETMOD_INLINE
#undef MPIDI_NM_init_local
#define MPIDI_NM_init_local MPIDI_HWMC_init_local
#undef MPIDI_NM_mpi_finalize_hook
#define MPIDI_NM_mpi_finalize_hook MPIDI_HWMC_mpi_finalize_hook
#undef MPIDI_NM_mpi_comm_commit_pre_hook
#define MPIDI_NM_mpi_comm_commit_pre_hook MPIDI_HWMC_mpi_comm_commit_pre_hook
#undef MPIDI_NM_mpi_comm_commit_post_hook
#define MPIDI_NM_mpi_comm_commit_post_hook MPIDI_HWMC_mpi_comm_commit_post_hook
#undef MPIDI_NM_mpi_comm_free_hook
#define MPIDI_NM_mpi_comm_free_hook MPIDI_HWMC_mpi_comm_free_hook
#undef MPIDI_NM_comm_set_hints
#define MPIDI_NM_comm_set_hints MPIDI_HWMC_comm_set_hints
#undef MPIDI_NM_mpi_win_create_hook
#define MPIDI_NM_mpi_win_create_hook MPIDI_HWMC_mpi_win_create_hook
#undef MPIDI_NM_mpi_win_allocate_hook
#define MPIDI_NM_mpi_win_allocate_hook MPIDI_HWMC_mpi_win_allocate_hook
#endif

#endif /* HWMC_NETMOD_NETMOD_INLINE_H_INCLUDED */
