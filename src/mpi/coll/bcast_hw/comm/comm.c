/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Which broadcasts hwmc takes.
 *
 * Every rank must answer alike. So the answer depends only on what all ranks of a communicator know
 * alike: control variables, message bytes, the communicator's members and their hosts, and the
 * state of its first leader group (leader_group.h).
 */

#include "comm.h"
#include "../process/errors.h"
#include "../process/hosts.h"
#include "../process/mpich.h"
#include "../process/process.h"
#include "../select/choose.h"
#include "../settings/settings.h"

/* Some ranks are of another MPI_COMM_WORLD: of their hosts this one knows nothing, as they of its
 * own, so the communicator is MPICH's alone. */
static bool has_strangers(MPIR_Comm *comm)
{
    uint32_t world;

    for (int i = 0; i < comm->local_size; i++)
        if (!hwmc_world_rank(comm, i, &world))
            return true;
    return false;
}

/* Hosts that the communicator's ranks run on; 1 where that is not known; 0: no memory. */
static uint32_t num_hosts(MPIR_Comm *comm)
{
    char *seen = MPL_calloc((size_t) MPIR_Process.size, 1, MPL_MEM_COMM);
    uint32_t hosts = 0, world;

    if (!seen)
        return 0;
    for (int i = 0; i < comm->local_size; i++) {
        int host = hwmc_world_rank(comm, i, &world) ? hwmc_host_of(world) : -1;

        if (host >= 0 && host < MPIR_Process.size && !seen[host]) {
            seen[host] = 1;
            hosts++;
        }
    }
    MPL_free(seen);
    return hosts > 0 ? hosts : 1;
}

/* Whether the communicator has a shape that gains from multicast. Its nodes are looked at once.
 * Without memory for that set-up has failed: other ranks may find that it has. */
static bool worthwhile(MPIR_Comm *comm, struct hwmc_comm *c)
{
    if (c->worth == HWMC_WORTH_UNKNOWN && has_strangers(comm)) {
        c->hosts = 1;
        c->worth = HWMC_WORTH_NO;
    } else if (c->worth == HWMC_WORTH_UNKNOWN) {
        c->hosts = num_hosts(comm);
        if (c->hosts == 0) {
            c->leader_group[0].state = HWMC_LEADER_GROUP_BROKEN;
            return true;
        }
        c->worth =
            hwmc_is_forced() || (comm->local_size >= hwmc_settings.net.min_ranks && c->hosts > 1)
                ? HWMC_WORTH_YES
                : HWMC_WORTH_NO;
    }
    return c->worth == HWMC_WORTH_YES;
}

/* A broadcast of `bytes` goes to one of hwmc's algorithms, and to which; or it is an error. */
static bool is_chosen(const MPIR_Comm *comm, struct hwmc_comm *c, MPI_Aint bytes, bool blocking,
                      bool *along_trees)
{
    enum hwmc_algorithm a;

    *along_trees = false;
    if (c->leader_group[0].state == HWMC_LEADER_GROUP_BROKEN)
        return true;
    a = hwmc_trials_bcast(comm, c, bytes, blocking);
    *along_trees = a == HWMC_ALGORITHM_MULTILANE;
    return !hwmc_algorithm_is_mpich(a) || c->leader_group[0].state == HWMC_LEADER_GROUP_BROKEN;
}

static bool fits(MPI_Aint bytes)
{
    return bytes > 0 && (hwmc_is_forced() || hwmc_settings.tune.max_bytes < 0 ||
                         bytes <= hwmc_settings.tune.max_bytes);
}

/* What follows is known alike on all ranks whatever other collectives of `comm` are at. */

static bool may_spread(const MPIR_Comm *comm)
{
    return hwmc_registered() && hwmc_settings.enable &&
           comm->comm_kind == MPIR_COMM_KIND__INTRACOMM && comm->local_size >= 2 &&
           !HWMC_IS_SUBCOMM(comm);
}

static bool may_take(MPI_Aint count, MPI_Datatype datatype, MPIR_Comm *comm, MPI_Aint *bytes)
{
    MPI_Aint size;

    if (!may_spread(comm))
        return false;
    MPIR_Datatype_get_size_macro(datatype, size);
    *bytes = size * count;
    return fits(*bytes) && (hwmc_is_forced() || !hwmc_file_refuses(count, datatype, comm));
}

/* What is new about how the broadcasts of `comm` go is shown. */
static void show_news(MPIR_Comm *comm, struct hwmc_comm *c, enum hwmc_worth worth,
                      enum hwmc_leader_group_state state)
{
    if (c->worth != worth || c->leader_group[0].state != state)
        hwmc_comm_show(comm, c);
}

/* A collective of `bytes` is counted, after those in the queue; the first leader group is ready for
 * it. `over_hosts`: and there are several. Waits. */
static bool is_ready(MPIR_Comm *comm, struct hwmc_comm *c, MPI_Aint bytes, bool over_hosts)
{
    enum hwmc_leader_group_state state;
    enum hwmc_worth worth;
    bool ready;

    hwmc_comm_drain(c);
    state = c->leader_group[0].state;
    worth = c->worth;
    ready = worthwhile(comm, c) && (!over_hosts || c->hosts != 1) &&
            hwmc_leader_group_ready(comm, c, 0, bytes);
    show_news(comm, c, worth, state);
    return ready;
}

bool hwmc_comm_takes(MPI_Aint count, MPI_Datatype datatype, MPIR_Comm *comm)
{
    struct hwmc_comm *c;
    MPI_Aint bytes;

    if (hwmc_trials_stand_aside(comm) || !may_take(count, datatype, comm, &bytes))
        return false;
    c = hwmc_state_of(comm);
    if (!c) /* other ranks may set it up, so this one must not go another way */
        return true;
    c->admitted =
        is_ready(comm, c, bytes, false) && (is_chosen(comm, c, bytes, true, &c->along_trees) ||
                                            c->trials.under_way); /* its time is to be taken */
    return c->admitted;
}

bool hwmc_comm_spreads(MPIR_Comm *comm, MPI_Aint bytes, struct hwmc_comm **c)
{
    if (hwmc_trials_stand_aside(comm) || !may_spread(comm))
        return false;
    *c = hwmc_state_of(comm);
    return !*c || is_ready(comm, *c, bytes, true);
}

bool hwmc_comm_queues_spread(MPIR_Comm *comm, struct hwmc_comm **c)
{
    if (!may_spread(comm))
        return false;
    *c = hwmc_state_of(comm);
    return !*c || (worthwhile(comm, *c) && (*c)->hosts != 1);
}

bool hwmc_comm_queues(MPI_Aint count, MPI_Datatype datatype, MPIR_Comm *comm,
                      struct hwmc_comm **queues)
{
    MPI_Aint bytes;

    if (!may_take(count, datatype, comm, &bytes))
        return false;
    *queues = hwmc_state_of(comm);
    return !*queues || worthwhile(comm, *queues);
}

static bool plan_first(MPIR_Comm *comm, struct hwmc_comm *c, struct hwmc_plan *p,
                       struct hwmc_await *a, int mpi_errno)
{
    const enum hwmc_leader_group_state state = c->leader_group[0].state;
    const bool answered = hwmc_leader_group_ask(comm, c, &p->ask, a, mpi_errno);

    show_news(comm, c, c->worth, state);
    if (!answered)
        return false;
    p->by_hwmc = p->ask.goes && is_chosen(comm, c, p->ask.bytes, false, &p->along_trees);
    p->leader_group = 0;
    return true;
}

bool hwmc_comm_plan(MPIR_Comm *comm, struct hwmc_comm *c, struct hwmc_plan *p, struct hwmc_await *a,
                    int mpi_errno)
{
    uint32_t which;

    if (p->state == HWMC_PLAN_FIRST) {
        if (!plan_first(comm, c, p, a, mpi_errno))
            return false;
        which = p->by_hwmc && c->by_hosts ? hwmc_leader_group_of_root(c, p->root) : 0;
        p->state = which > 0 ? HWMC_PLAN_ANOTHER : HWMC_PLAN_MADE;
        p->ask = hwmc_ask_of(which, p->ask.bytes, p->ask.tag);
        mpi_errno = MPI_SUCCESS;
    }
    if (p->state == HWMC_PLAN_ANOTHER) {
        if (!hwmc_leader_group_ask(comm, c, &p->ask, a, mpi_errno))
            return false;
        p->leader_group = p->ask.goes ? p->ask.which : 0;
        p->state = HWMC_PLAN_MADE;
    }
    return true;
}

int hwmc_prepare(MPIR_Comm *world)
{
    int mpi_errno = MPI_SUCCESS;
    struct hwmc_comm *c;

    if (!hwmc_registered() || !hwmc_settings.enable || !hwmc_settings.tune.prepare ||
        hwmc_file_given())
        goto fn_exit;
    c = hwmc_state_of(world);
    mpi_errno = c ? MPI_SUCCESS : hwmc_error_nomem(); /* others begin */
    MPIR_ERR_CHECK(mpi_errno);
    if (worthwhile(world, c) && c->hosts == (uint32_t) world->local_size) {
        hwmc_leader_group_prepare(world, c);
        hwmc_comm_show(world, c);
    }
    mpi_errno = hwmc_leader_group_error(&c->leader_group[0]); /* likewise */
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

void hwmc_comm_release(struct hwmc_comm *c)
{
    hwmc_site_groups_drop(&c->site_groups);
    for (uint32_t i = 0; i < HWMC_LEADERS_MAX; i++)
        hwmc_drop_group(&c->leader_group[i].group);
    if (c->shm)
        hwmc_shm_free(c->shm);
    hwmc_hierarchy_forget(c);
    hwmc_trials_free(&c->trials);
    hwmc_export_hide(&c->place);
    MPL_free(c);
}

void hwmc_comm_free(MPIR_Comm *comm)
{
    struct hwmc_comm **slot = hwmc_comm_slot(comm);

    if (!slot || !*slot)
        return;
    hwmc_comm_release(*slot);
    *slot = NULL;
}
