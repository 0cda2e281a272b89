/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_NETMOD_INLINE_H_INCLUDED
#define HWMC_NETMOD_INLINE_H_INCLUDED

/*
 * hwmc is MPICH's ucx netmod with some of its functions wrapped:
 *
 *   - a static inline of the ucx headers is renamed MPIDI_HWMC_super_* while they are read, and
 *     the wrapper takes its name;
 *   - an ordinary function, which ucx_noinline.h maps to MPIDI_UCX_*, is mapped to hwmc's instead.
 */

#define MPIDI_NM_progress MPIDI_HWMC_super_progress
#include "../ucx/netmod_inline.h"
#undef MPIDI_NM_progress

MPL_STATIC_INLINE_PREFIX int MPIDI_NM_progress(int vci, MPIR_BCAST_HW_PROGRESS_ARG_T arg)
{
    int mpi_errno;

    MPIDI_HWMC_poll_begins();
    mpi_errno = MPIDI_HWMC_super_progress(vci, arg);
    MPIDI_HWMC_poll_ends(vci);
    return mpi_errno;
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
#endif

#endif /* HWMC_NETMOD_INLINE_H_INCLUDED */
