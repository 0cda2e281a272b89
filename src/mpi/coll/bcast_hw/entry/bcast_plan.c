/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * bcast_plan: over which of the communicator's groups a message goes, and which ranks pass it on
 * inside hosts: see bcast_plan.h.
 */

#include "bcast_plan.h"

#include "../comm/shm.h"
#include "../op/contiguous.h"
#include "../op/wait_stage.h"
#include "../process/mpich.h"
#include "../process/process.h"
#include "../select/network.h"
#include "../settings/settings.h"
#include "../stats/counters.h"

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

/* Where multicast ends with a site: which of its groups this member has the message by, and which
 * it gives it on to. */
static void plan_sites(const struct hwmc_site_groups *groups, const struct hwmc_group *all,
                       struct hwmc_bcast_cfg *cfg)
{
    const struct hwmc_sites *sites = &all->sites;
    const uint32_t own = hwmc_sites_of(sites, all->cfg.rank);
    const uint32_t at = hwmc_sites_of(sites, cfg->net.root);
    const uint32_t place = sites->at[cfg->net.root] - sites->first[at];
    const uint32_t which = place == 0 && hwmc_model_is_long(hwmc_network_now(), cfg->buffer.bytes);
    struct hwmc_net_cfg inside = cfg->net, between = cfg->net;

    inside.group = groups->inside;
    inside.root = own == at ? place : hwmc_site_gateway(sites, own, which);
    inside.is_root = own == at ? cfg->net.is_root : groups->between[which] != NULL;
    inside.from_host = cfg->net.from_host || own != at;
    between.group = groups->between[which];
    between.root = at;
    between.is_root = own == at;
    between.from_host = cfg->net.from_host || place != hwmc_site_gateway(sites, at, which);
    between.along_trees = true;
    cfg->net = own == at ? inside : between;
    cfg->gateway = own == at ? between : inside;
    if (!cfg->net.group) {
        cfg->net = cfg->gateway;
        cfg->gateway.group = NULL;
    }
}

int hwmc_bcast_plan_net(const struct hwmc_comm *c, uint32_t leader_group, uint32_t root,
                        bool is_root, struct hwmc_bcast_cfg *cfg)
{
    const struct hwmc_leader_group *s = &c->leader_group[leader_group];
    int mpi_errno = hwmc_leader_group_error(s);
    struct hwmc_net_cfg *net = &cfg->net;

    net->engine = hwmc_process_engine();
    net->group = s->group;
    net->root = root;
    net->is_root = is_root;
    net->pin_min = (uint64_t) MPL_MAX(hwmc_settings.tune.in_place, 0);
    net->withdraw_ns = hwmc_withdraw_ns();
    if (mpi_errno || net->along_trees || s->shape.site_frag_bytes == 0)
        return mpi_errno;
    cfg->all = s->group;
    plan_sites(&c->site_groups, s->group, cfg);
    return MPI_SUCCESS;
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
    mpi_errno = hwmc_leader_group_error(&c->leader_group[0]); /* a rank that does not lead, too */
    MPIR_ERR_CHECK(mpi_errno);
    choice = hwmc_shm_choose(n, HWMC_SHM_KIND_BCAST, (MPI_Aint) cfg->buffer.bytes);
    cfg->host.group = &n->group;
    cfg->host.from = leaders->number[at_home ? (uint32_t) root : on_it];
    cfg->host.tree = hwmc_shm_comm_tree(n, choice, cfg->host.from);
    cfg->net.from_host = !hwmc_leaders_has(leaders, leader_group, (uint32_t) root);
    if (cfg->is_root)
        hwmc_note_root(!cfg->net.from_host);
    if (on_it == (uint32_t) comm->rank)
        mpi_errno = hwmc_bcast_plan_net(c, leader_group, root_host, at_home, cfg);

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
                                   .is_root = comm->rank == root,
                                   .net = {.along_trees = along_trees}};
    mpi_errno = c->by_hosts ? plan_by_hosts(c, root, comm, leader_group, cfg)
                            : hwmc_bcast_plan_net(c, 0, (uint32_t) root, cfg->is_root, cfg);
    if (mpi_errno && c->by_hosts) /* others of the host may wait for this rank */
        hwmc_shm_fail(&c->shm->host);
    if (mpi_errno)
        hwmc_leader_groups_leave(c);
    return mpi_errno;
}
