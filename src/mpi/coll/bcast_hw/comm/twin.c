/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * twin: see twin.h.
 */

#include "shm.h"
#include "../select/choose.h"
#include "../settings/settings.h"

bool hwmc_twin_pays(struct hwmc_comm *c, MPI_Aint bytes)
{
    enum hwmc_algorithm a;

    if (c->worth != HWMC_WORTH_YES || hwmc_bcast_is_said())
        return true;
    if (hwmc_trials_bcast_found(&c->trials, bytes, &a))
        return !hwmc_algorithm_is_mpich(a);
    return hwmc_weight(c->hosts, bytes) > 0;
}

static struct hwmc_comm *twin_make(void)
{
    struct hwmc_comm *t = MPL_calloc(1, sizeof(*t), MPL_MEM_COMM);

    if (t)
        t->twin.is = true;
    return t;
}

struct hwmc_comm *hwmc_twin_hosts(MPIR_Comm *comm, const struct hwmc_comm *c, int root,
                                  MPI_Aint bytes, bool by_all)
{
    struct hwmc_comm *t = c->worth == HWMC_WORTH_YES ? twin_make() : NULL;

    if (!t)
        return NULL;
    t->worth = c->worth;
    t->hosts = c->hosts;
    t->twin.root = root;
    t->twin.bytes = bytes;
    t->twin.by_all = by_all;
    if (!hwmc_leader_group_name(comm, &t->twin.name) ||
        !hwmc_trials_inherit(&t->trials, &c->trials)) {
        hwmc_trials_free(&t->trials);
        MPL_free(t);
        return NULL;
    }
    return t;
}

struct hwmc_comm *hwmc_twin_host(MPIR_Comm *comm)
{
    struct hwmc_comm *t = twin_make();

    if (!t || hwmc_shm_of(comm, t))
        return t;
    MPL_free(t);
    return NULL;
}

void hwmc_twin_free(struct hwmc_comm *c)
{
    if (c && c->twin.is)
        hwmc_comm_release(c);
}
