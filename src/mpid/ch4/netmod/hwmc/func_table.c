/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

/* The netmod as a table of functions, for a build with --disable-ch4-netmod-inline: the table of
 * the ucx netmod with hwmc's functions in it. */

#ifndef NETMOD_INLINE
#define NETMOD_DISABLE_INLINES
#include <mpidimpl.h>
#include "netmod_inline.h"

#define MPIDI_UCX_init_local MPIDI_HWMC_init_local
#define MPIDI_UCX_mpi_finalize_hook MPIDI_HWMC_mpi_finalize_hook
#define MPIDI_UCX_mpi_comm_commit_pre_hook MPIDI_HWMC_mpi_comm_commit_pre_hook
#define MPIDI_UCX_mpi_comm_commit_post_hook MPIDI_HWMC_mpi_comm_commit_post_hook
#define MPIDI_UCX_mpi_comm_free_hook MPIDI_HWMC_mpi_comm_free_hook
#define MPIDI_UCX_comm_set_hints MPIDI_HWMC_comm_set_hints
#define MPIDI_UCX_mpi_win_create_hook MPIDI_HWMC_mpi_win_create_hook
#define MPIDI_UCX_mpi_win_allocate_hook MPIDI_HWMC_mpi_win_allocate_hook
#define MPIDI_NM_ucx_funcs MPIDI_NM_hwmc_funcs
#define MPIDI_NM_native_ucx_funcs MPIDI_NM_native_hwmc_funcs
#include "../ucx/func_table.c"

#endif
