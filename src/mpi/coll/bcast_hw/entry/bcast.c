/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * MPI_Bcast: whether hwmc takes a message, and the call that carries it.
 */

#include "mpiimpl.h"
#include "bcast_plan.h"
#include "hooks.h"
#include "trial_call.h"
#include "../comm/shm.h"
#include "../op/wait_stage.h"
#include "../process/errors.h"
#include "../process/process.h"
#include "../stats/counters.h"
#include "../stats/epoch.h"

bool MPIR_Hwmc_takes(MPI_Aint count, MPI_Datatype datatype, MPIR_Comm *comm)
{
    return hwmc_comm_takes(count, datatype, comm);
}

static int broadcast(struct hwmc_comm *c, struct hwmc_typed *t, MPI_Aint bytes, int root,
                     MPIR_Comm *comm)
{
    int mpi_errno = MPI_SUCCESS;
    struct hwmc_shm_host *n = c->by_hosts ? &c->shm->host : NULL;
    uint32_t leader_group = n ? hwmc_leader_group_of_root(c, root) : 0;
    struct hwmc_bcast b;
    struct hwmc_bcast_cfg cfg;

    if (leader_group > 0 && !hwmc_leader_group_ready(comm, c, leader_group, bytes))
        leader_group = 0;
    mpi_errno = hwmc_bcast_plan(c, t, bytes, root, comm, leader_group, c->along_trees, &cfg);
    MPIR_ERR_CHECK(mpi_errno);
    hwmc_bcast_begin(&b, &cfg);
    mpi_errno = hwmc_wait_stage(&b.stage, n);
    hwmc_leader_groups_settle(c, b.stage.err);
    MPIR_ERR_CHECK(mpi_errno);
    if (hwmc_bcast_by_net(&b))
        hwmc_note_epoch(b.net.cfg.group);
    if (n)
        hwmc_shm_note_call();

fn_exit:
    return mpi_errno;
fn_fail:
    mpi_errno = t->mpi_errno ? t->mpi_errno : mpi_errno;
    goto fn_exit;
}

/* A call of a trial, by the way that hwmc_comm_takes has found. */
static int try_way(struct hwmc_comm *c, struct hwmc_typed *t, MPI_Aint bytes, int root,
                   MPIR_Comm *comm)
{
    const enum hwmc_algorithm a = (enum hwmc_algorithm) c->trials.under_way->trial.way;
    const bool by_hwmc = !hwmc_algorithm_is_mpich(a);
    const uint64_t begun = hwmc_trial_call_begin();
    int mpi_errno, err;

    hwmc_note_call(by_hwmc, bytes);
    if (!by_hwmc)
        hwmc_trial_call_aside(c);
    mpi_errno = by_hwmc ? broadcast(c, t, bytes, root, comm)
                        : MPIR_Bcast(t->buffer, t->count, t->datatype, root, comm, HWMC_NO_ERRORS);
    err = hwmc_trial_call_end(comm, c, begun, mpi_errno);
    return mpi_errno ? mpi_errno : err;
}

/* MPICH's own choice for a whole communicator, made here: the general selection could name this
 * algorithm again. */
static int leave_to_mpich(void *buffer, MPI_Aint count, MPI_Datatype datatype, MPI_Aint bytes,
                          int root, MPIR_Comm *comm, HWMC_TAIL_T MPIR_HWMC_TAIL)
{
    if (bytes < MPIR_CVAR_BCAST_SHORT_MSG_SIZE || comm->local_size < MPIR_CVAR_BCAST_MIN_PROCS)
        return MPIR_Bcast_intra_binomial(buffer, count, datatype, root, comm, MPIR_HWMC_TAIL);
    if (bytes < MPIR_CVAR_BCAST_LONG_MSG_SIZE && (comm->local_size & (comm->local_size - 1)) == 0)
        return MPIR_Bcast_intra_scatter_recursive_doubling_allgather(buffer, count, datatype, root,
                                                                     comm, MPIR_HWMC_TAIL);
    return MPIR_Bcast_intra_scatter_ring_allgather(buffer, count, datatype, root, comm,
                                                   MPIR_HWMC_TAIL);
}

/* Comes from MPID_Bcast, which has asked MPIR_Hwmc_takes, or from MPICH's selection by CVAR or
 * JSON file, which has not. */
int MPIR_Bcast_intra_hw(void *buffer, MPI_Aint count, MPI_Datatype datatype, int root,
                        MPIR_Comm *comm, HWMC_TAIL_T MPIR_HWMC_TAIL)
{
    int mpi_errno = MPI_SUCCESS;
    struct hwmc_comm *c;
    struct hwmc_typed t = {.buffer = buffer, .count = count, .datatype = datatype};
    MPI_Aint size, bytes;

    MPIR_FUNC_ENTER;

    MPIR_Datatype_get_size_macro(datatype, size);
    bytes = size * count;
    c = hwmc_comm_state(comm);
    if (!(c && c->admitted) && !hwmc_comm_takes(count, datatype, comm)) {
        hwmc_note_call(false, bytes);
        mpi_errno = leave_to_mpich(buffer, count, datatype, bytes, root, comm, MPIR_HWMC_TAIL);
        MPIR_ERR_CHECK(mpi_errno);
        goto fn_exit;
    }
    c = hwmc_comm_state(comm);
    mpi_errno = c ? MPI_SUCCESS : hwmc_error_setup();
    MPIR_ERR_CHECK(mpi_errno);
    c->admitted = false;
    if (c->trials.under_way) {
        mpi_errno = try_way(c, &t, bytes, root, comm);
    } else {
        hwmc_note_call(true, bytes);
        mpi_errno = broadcast(c, &t, bytes, root, comm);
    }
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    MPIR_FUNC_EXIT;
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
