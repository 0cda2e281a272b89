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
 *   - ucp_worker_progress is renamed alike, so that what it returns is kept;
 *   - an ordinary function, which ucx_noinline.h maps to MPIDI_UCX_*, is mapped to hwmc's instead.
 */

#define MPIDI_NM_progress MPIDI_HWMC_super_progress
#define ucp_worker_progress MPIDI_HWMC_worker_progress

#include "../ucx/netmod_inline.h"

#undef MPIDI_NM_progress
#undef ucp_worker_progress

#include "hwmc_impl.h"
#include "hwmc_progress.h"

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
