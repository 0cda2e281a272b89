/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "mpidimpl.h"
#include "hwmc_impl.h"
#include "../ucx/ucx_noinline.h"

int MPIDI_HWMC_init_local(int *tag_bits)
{
    return MPIDI_UCX_init_local(tag_bits);
}

int MPIDI_HWMC_mpi_finalize_hook(void)
{
    return MPIDI_UCX_mpi_finalize_hook();
}

int MPIDI_HWMC_mpi_comm_commit_pre_hook(MPIR_Comm *comm)
{
    MPIDI_HWMC_COMM(comm).group = NULL;
    return MPIDI_UCX_mpi_comm_commit_pre_hook(comm);
}

int MPIDI_HWMC_mpi_comm_commit_post_hook(MPIR_Comm *comm)
{
    return MPIDI_UCX_mpi_comm_commit_post_hook(comm);
}

int MPIDI_HWMC_mpi_comm_free_hook(MPIR_Comm *comm)
{
    MPIR_Bcast_hw_comm_free(comm);
    return MPIDI_UCX_mpi_comm_free_hook(comm);
}
