/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "mpidimpl.h"
#include "../../../../../mpi/coll/bcast_hw/comm/comm.h"
#include "../../../../../mpi/coll/bcast_hw/entry/settings.h"
#include "../base/global.h"
#include "exit_pmi.h"
#include "../wait/helper.h"
#include "../wires/addresses.h"
#include "../wires/probe.h"
#include "../wires/sessions.h"
#include "../wires/ucx_memory.h"
#include "../wires/auth.h"
#include "../../ucx/ucx_noinline.h"

/* The processes of MPI_COMM_WORLD have met: they can, and have to, part together. */
static bool world_is_up;

atomic_int hwmc_num_strange;

/* All whom a message in comm can go to or come from are processes of MPI_COMM_WORLD. */
static bool is_of_this_world(MPIR_Comm *comm)
{
    uint32_t world;

    for (int i = 0; i < comm->remote_size; i++)
        if (!hwmc_world_rank(comm, i, &world))
            return false;
    return true;
}

int MPIDI_HWMC_init_local(int *tag_bits)
{
    int mpi_errno = MPI_SUCCESS;

    mpi_errno = hwmc_settings_open();
    MPIR_ERR_CHECK(mpi_errno);
    hwmc_find_hosts(); /* enabled or not: all processes ask the process manager the same */
    if (hwmc_settings.enable)
        hwmc_memory_init();
    hwmc_wait_init();
    mpi_errno = MPIDI_UCX_init_local(tag_bits);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

int MPIDI_HWMC_mpi_finalize_hook(void)
{
    int mpi_errno = MPI_SUCCESS;

    hwmc_helper_stop();
    /* Other processes may be gone when the user says so: nothing can wait for them. */
    if (MPIR_Process.size > 1 && world_is_up && HWMC_FINALIZE_IS_COLLECTIVE) {
        mpi_errno = hwmc_quiesce();
        MPIR_ERR_CHECK(mpi_errno);
        world_is_up = false;
    }
    hwmc_close();
    hwmc_job_sessions_close();
    hwmc_auth_secret_close();
    hwmc_job_probe_close();
    hwmc_job_addresses_forget();
    mpi_errno = MPIDI_UCX_mpi_finalize_hook();
    MPIR_ERR_CHECK(mpi_errno);
    hwmc_memory_finalize();

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

int MPIDI_HWMC_mpi_comm_commit_pre_hook(MPIR_Comm *comm)
{
    MPIDI_HWMC_COMM(comm).group = NULL;
    MPIDI_HWMC_COMM(comm).carried = false;
    MPIDI_HWMC_COMM(comm).path[0] = '\0';
    return MPIDI_UCX_mpi_comm_commit_pre_hook(comm);
}

int MPIDI_HWMC_mpi_comm_commit_post_hook(MPIR_Comm *comm)
{
    int mpi_errno = MPI_SUCCESS;

    mpi_errno = MPIDI_UCX_mpi_comm_commit_post_hook(comm);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = hwmc_settings_refresh();
    MPIR_ERR_CHECK(mpi_errno);
    MPIDI_HWMC_COMM(comm).carried = hwmc_lanes_need_sessions() && is_of_this_world(comm);
    hwmc_num_strange += !MPIDI_HWMC_COMM(comm).carried;
    if (comm == MPIR_Process.comm_world) {
        world_is_up = true;
        if (MPIR_Process.size > 1)
            hwmc_exit_pmi_reserve();
        mpi_errno = hwmc_setup(comm);
        MPIR_ERR_CHECK(mpi_errno);
    }

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

int MPIDI_HWMC_mpi_comm_free_hook(MPIR_Comm *comm)
{
    /* MPI_Finalize frees MPI_COMM_SELF first: MPI_COMM_WORLD still works. */
    if (comm == MPIR_Process.comm_self && MPIR_Process.comm_world && world_is_up &&
        HWMC_FINALIZE_IS_COLLECTIVE)
        hwmc_summary(MPIR_Process.comm_world);
    hwmc_comm_free(comm);
    hwmc_num_strange -= !MPIDI_HWMC_COMM(comm).carried;
    return MPIDI_UCX_mpi_comm_free_hook(comm);
}
