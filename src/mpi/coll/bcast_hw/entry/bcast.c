/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * MPI_Bcast: which way a message goes, over which of the communicator's groups, and which ranks
 * pass it on inside hosts.
 */

#include "mpiimpl.h"
#include "hooks.h"
#include "../comm/shm.h"
#include "../op/contiguous.h"
#include "../op/message.h"
#include "../stats/counters.h"

bool MPIR_Hwmc_takes(MPI_Aint count, MPI_Datatype datatype, MPIR_Comm *comm)
{
    return hwmc_comm_takes(count, datatype, comm);
}

/* Over the network, by a leader group. */
static int move(const struct hwmc_leader_group *s, const struct hwmc_comm *c,
                struct hwmc_message *m, int root, bool is_root)
{
    int mpi_errno = hwmc_leader_group_error(s);

    return mpi_errno ? mpi_errno : hwmc_move(s->group, c->along_trees, m, root, is_root);
}

/* By the leader group that the root is on, or by the first: of each host one rank takes part in the
 * network's broadcast. */
static int message_by_leader_group(struct hwmc_comm *c, struct hwmc_message *m, int root,
                                   MPIR_Comm *comm)
{
    int mpi_errno = MPI_SUCCESS, err;
    const struct hwmc_leaders *leaders = &c->leaders;
    const uint32_t own_host = leaders->host_of[comm->rank], root_host = leaders->host_of[root];
    const bool is_root = comm->rank == root, at_home = root_host == own_host;
    const uint32_t leader_group = hwmc_leader_group_for(comm, c, root, m->bytes);
    const uint32_t on_it = hwmc_leaders_at(leaders, leader_group, own_host);
    struct hwmc_pipeline pipeline;

    hwmc_pipeline_begin(&pipeline, &c->shm->host, leaders->place[at_home ? (uint32_t) root : on_it],
                        m->buffer, m->bytes, is_root ? m->bytes : 0);
    m->pipeline = &pipeline;
    m->from_mate = !hwmc_leaders_has(leaders, leader_group, (uint32_t) root);
    if (is_root)
        hwmc_note_root(!m->from_mate);
    if (on_it == (uint32_t) comm->rank)
        mpi_errno = move(&c->leader_group[leader_group], c, m, (int) root_host, at_home);
    err = hwmc_pipeline_end(&pipeline, mpi_errno != MPI_SUCCESS);
    return mpi_errno ? mpi_errno : err;
}

/* One rank of each host takes part in the network's broadcast, and all get the message inside
 * their host as it comes: op/pipeline.h. It lies in one piece. */
static int message_by_hosts(struct hwmc_comm *c, const struct hwmc_message *m, int root,
                            MPIR_Comm *comm)
{
    int mpi_errno = MPI_SUCCESS;
    const bool is_root = comm->rank == root;
    struct hwmc_message whole = {.count = m->bytes, .datatype = HWMC_BYTE, .bytes = m->bytes};
    MPI_Aint moved = m->bytes;
    char *own = NULL;

    mpi_errno = hwmc_shm_broken(c->shm);
    MPIR_ERR_CHECK(mpi_errno);
    whole.buffer = hwmc_contiguous(m->buffer, m->datatype);
    if (!whole.buffer) {
        whole.buffer = own = MPL_malloc(m->bytes, MPL_MEM_BUFFER);
        MPIR_ERR_CHKANDJUMP(!own, mpi_errno, MPI_ERR_OTHER, "**nomem");
    }
    if (own && is_root)
        mpi_errno = MPIR_Typerep_pack(m->buffer, m->count, m->datatype, 0, own, m->bytes,
                                      &moved HWMC_TYPEREP_FLAGS);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = message_by_leader_group(c, &whole, root, comm);
    MPIR_ERR_CHECK(mpi_errno);
    if (own && !is_root)
        mpi_errno = MPIR_Typerep_unpack(own, m->bytes, m->buffer, m->count, m->datatype, 0,
                                        &moved HWMC_TYPEREP_FLAGS);
    MPIR_ERR_CHECK(mpi_errno);
    MPIR_Assert(moved == m->bytes);

fn_exit:
    MPL_free(own);
    return mpi_errno;
fn_fail:
    goto fn_exit;
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
    struct hwmc_message m = {.buffer = buffer, .count = count, .datatype = datatype};
    MPI_Aint size;

    MPIR_FUNC_ENTER;

    MPIR_Datatype_get_size_macro(datatype, size);
    m.bytes = size * count;
    c = hwmc_comm_state(comm);
    if (!(c && c->admitted) && !hwmc_comm_takes(count, datatype, comm)) {
        hwmc_note_call(false, m.bytes);
        mpi_errno = leave_to_mpich(buffer, count, datatype, m.bytes, root, comm, MPIR_HWMC_TAIL);
        MPIR_ERR_CHECK(mpi_errno);
        goto fn_exit;
    }
    c = hwmc_comm_state(comm);
    MPIR_ERR_CHKANDJUMP(!c, mpi_errno, MPI_ERR_OTHER, "**hwmc_setup");
    c->admitted = false;
    hwmc_note_call(true, m.bytes);
    mpi_errno = c->by_hosts ? message_by_hosts(c, &m, root, comm)
                            : move(&c->leader_group[0], c, &m, root, comm->rank == root);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    MPIR_FUNC_EXIT;
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
