/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * MPI_Bcast: which way a message goes, over which of the communicator's groups, and which ranks
 * pass it on inside hosts.
 */

#include "mpiimpl.h"
#include "bcast.h"
#include "hooks.h"
#include "../comm/shm.h"
#include "../op/contiguous.h"
#include "../op/wait_stage.h"
#include "../process/errors.h"
#include "../process/process.h"
#include "../stats/counters.h"
#include "../stats/epoch.h"
#include "../settings/settings.h"

bool MPIR_Hwmc_takes(MPI_Aint count, MPI_Datatype datatype, MPIR_Comm *comm)
{
    return hwmc_comm_takes(count, datatype, comm);
}

static int pack(void *of, uint64_t at, void *to, uint64_t n)
{
    struct hwmc_typed *t = of;
    MPI_Aint packed = 0;

    t->mpi_errno = MPIR_Typerep_pack(t->buffer, t->count, t->datatype, (MPI_Aint) at, to,
                                     (MPI_Aint) n, &packed HWMC_TYPEREP_FLAGS);
    return t->mpi_errno || packed != (MPI_Aint) n ? HWMC_ERR_INVAL : HWMC_OK;
}

static int unpack(void *of, uint64_t at, const void *from, uint64_t n)
{
    struct hwmc_typed *t = of;
    MPI_Aint unpacked = 0;

    t->mpi_errno = MPIR_Typerep_unpack(from, (MPI_Aint) n, t->buffer, t->count, t->datatype,
                                       (MPI_Aint) at, &unpacked HWMC_TYPEREP_FLAGS);
    return t->mpi_errno || unpacked != (MPI_Aint) n ? HWMC_ERR_INVAL : HWMC_OK;
}

int hwmc_bcast_plan_net(const struct hwmc_leader_group *s, uint32_t root, bool is_root,
                        struct hwmc_net_cfg *net)
{
    int mpi_errno = hwmc_leader_group_error(s);

    net->engine = hwmc_process_engine();
    net->group = s->group;
    net->root = root;
    net->is_root = is_root;
    net->pin_min = (uint64_t) MPL_MAX(hwmc_settings.tune.in_place, 0);
    net->withdraw_ns = hwmc_withdraw_ns();
    return mpi_errno;
}

/* By a leader group: of each host one rank takes part in the network's broadcast, and all get the
 * message inside their host as it comes. */
static int plan_by_hosts(struct hwmc_comm *c, int root, MPIR_Comm *comm, uint32_t leader_group,
                         struct hwmc_bcast_cfg *cfg)
{
    int mpi_errno = hwmc_shm_broken(c->shm);
    struct hwmc_shm_host *n = &c->shm->host;
    const struct hwmc_leaders *leaders = &c->leaders;
    const uint32_t own_host = leaders->host_of[comm->rank], root_host = leaders->host_of[root];
    const bool at_home = root_host == own_host;
    const uint32_t on_it = hwmc_leaders_at(leaders, leader_group, own_host);
    const struct hwmc_shm_choice *choice;

    MPIR_ERR_CHECK(mpi_errno);
    choice = hwmc_shm_choose(n, HWMC_SHM_KIND_BCAST, (MPI_Aint) cfg->buffer.bytes);
    cfg->host.group = &n->group;
    cfg->host.from = leaders->number[at_home ? (uint32_t) root : on_it];
    cfg->host.tree = hwmc_shm_comm_tree(n, choice, cfg->host.from);
    cfg->net.from_host = !hwmc_leaders_has(leaders, leader_group, (uint32_t) root);
    if (cfg->is_root)
        hwmc_note_root(!cfg->net.from_host);
    if (on_it == (uint32_t) comm->rank)
        mpi_errno =
            hwmc_bcast_plan_net(&c->leader_group[leader_group], root_host, at_home, &cfg->net);

fn_fail:
    return mpi_errno;
}

int hwmc_bcast_plan(struct hwmc_comm *c, struct hwmc_typed *t, MPI_Aint bytes, int root,
                    MPIR_Comm *comm, uint32_t leader_group, bool along_trees,
                    struct hwmc_bcast_cfg *cfg)
{
    int mpi_errno;

    *cfg = (struct hwmc_bcast_cfg){.buffer = {.memory = hwmc_contiguous(t->buffer, t->datatype),
                                              .bytes = (uint64_t) bytes,
                                              .pack = pack,
                                              .unpack = unpack,
                                              .of = t},
                                   .is_root = comm->rank == root};
    mpi_errno = c->by_hosts ? plan_by_hosts(c, root, comm, leader_group, cfg)
                            : hwmc_bcast_plan_net(&c->leader_group[0], (uint32_t) root,
                                                  cfg->is_root, &cfg->net);
    cfg->net.along_trees = along_trees;
    if (mpi_errno && c->by_hosts) /* others of the host may wait for this rank */
        hwmc_shm_fail(&c->shm->host);
    if (mpi_errno)
        hwmc_leader_groups_leave(c);
    return mpi_errno;
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
    hwmc_note_call(true, bytes);
    mpi_errno = broadcast(c, &t, bytes, root, comm);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    MPIR_FUNC_EXIT;
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
