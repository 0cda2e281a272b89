/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Broadcasts over several hosts with several ranks each: one rank of each host takes part in the
 * network's broadcast. All ranks of the communicator learn alike which rank is on which host.
 */

#include "shm.h"
#include "hierarchy.h"
#include "../process/errors.h"
#include "../process/hosts.h"
#include "../process/mpich.h"
#include "../shm/coll/bcast.h"

static struct hwmc_near find_own(void)
{
    struct hwmc_near own = {.casts = (int) hwmc_process_engine()->wires.rails.mask};

    hwmc_distances(own.distance);
    return own;
}

/* By rank, in which host it is, counted from that of rank 0. Sets *known: somebody knows of every
 * rank. */
static int number_hosts(MPIR_Comm *comm, uint32_t *host_of, bool *known)
{
    int mpi_errno = MPI_SUCCESS;
    const uint32_t ranks = (uint32_t) comm->local_size;
    int *hosts = MPL_malloc(ranks * sizeof(*hosts), MPL_MEM_COMM);
    uint32_t *table = MPL_calloc(hwmc_leaders_table_words(ranks), sizeof(*table), MPL_MEM_COMM);
    uint32_t world;

    mpi_errno = hosts && table ? MPI_SUCCESS : hwmc_error_nomem();
    MPIR_ERR_CHECK(mpi_errno);
    *known = true;
    for (uint32_t i = 0; i < ranks && *known; i++) {
        *known = hwmc_world_rank(comm, (int) i, &world);
        hosts[i] = *known ? hwmc_host_of(world) : 0;
    }
    if (*known)
        hwmc_leaders_number(ranks, hosts, host_of, table);

fn_exit:
    MPL_free(hosts);
    MPL_free(table);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* The first rail that messages can go by: of those that all ranks have multicast on; where there
 * are none, that lanes are on. */
static uint32_t first_rail(const struct hwmc_near *near, uint32_t ranks)
{
    uint32_t rails = (uint32_t) near[0].casts;

    for (uint32_t i = 1; i < ranks; i++)
        rails &= (uint32_t) near[i].casts;
    if (rails == 0)
        rails = hwmc_wires_lane_rails(&hwmc_process_engine()->wires);
    return rails ? (uint32_t) __builtin_ctz(rails) : 0;
}

/* Begins to gather what each rank says of itself. */
static int hierarchy_gather(MPIR_Comm *comm, struct hwmc_hierarchy *h)
{
    int mpi_errno = MPI_SUCCESS;
    const size_t ranks = (size_t) comm->local_size;

    h->own = find_own();
    h->near = MPL_malloc(ranks * sizeof(*h->near), MPL_MEM_COMM);
    mpi_errno = h->near ? MPI_SUCCESS : hwmc_error_nomem();
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = hwmc_messages_allgather(&h->messages, (const int *) &h->own, (int *) h->near,
                                        (int) (sizeof(h->own) / sizeof(int)));
    MPIR_ERR_CHECK(mpi_errno);

fn_fail:
    return mpi_errno;
}

/* Places the ranks of each host by their distances from the first rail. */
static int hierarchy_find_leaders(MPIR_Comm *comm, struct hwmc_comm *c)
{
    int mpi_errno = MPI_SUCCESS;
    const struct hwmc_hierarchy *h = &c->hierarchy;
    const uint32_t ranks = (uint32_t) comm->local_size;
    const uint32_t rail = first_rail(h->near, ranks);
    const size_t words = hwmc_leaders_words(ranks, c->hosts);
    int *far = MPL_malloc(ranks * sizeof(*far), MPL_MEM_COMM);

    c->leaders_mem = MPL_malloc(words * sizeof(*c->leaders_mem), MPL_MEM_COMM);
    mpi_errno = far && c->leaders_mem ? MPI_SUCCESS : hwmc_error_nomem();
    MPIR_ERR_CHECK(mpi_errno);
    for (uint32_t i = 0; i < ranks; i++)
        far[i] = h->near[i].distance[rail];
    if (c->twin.is && c->twin.root >= 0)
        far[c->twin.root] = -1; /* it leads its host */
    hwmc_leaders_init(&c->leaders, ranks, c->hosts, h->host_of, far, c->leaders_mem);

fn_exit:
    MPL_free(far);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* The ranks of this host, by their numbers. */
static void find_mates(MPIR_Comm *comm, const struct hwmc_leaders *s, struct hwmc_shm_comm *n)
{
    const uint32_t host = s->host_of[comm->rank];

    n->num_mates = (int) hwmc_leaders_on(s, host);
    for (int r = 0; r < comm->local_size; r++)
        if (s->host_of[r] == host)
            n->mates[s->number[r]] = r;
}

/* Whether there may be leaders: the ranks run on several hosts, and some host has several; and who
 * is where is known. */
static int hierarchy_is_possible(MPIR_Comm *comm, struct hwmc_comm *c, bool *possible)
{
    int mpi_errno = MPI_SUCCESS;
    const size_t ranks = (size_t) comm->local_size;
    struct hwmc_shm_comm *n = hwmc_shm_of(comm, c);
    struct hwmc_hierarchy *h = &c->hierarchy;

    *possible = false;
    if (hwmc_shm_lacks_memory(comm, n)) {
        mpi_errno = hwmc_error_nomem();
        goto fn_fail;
    }
    if (!n || n->state != HWMC_SHM_SPREAD || c->hosts == 1 || c->hosts == ranks)
        goto fn_exit;
    h->host_of = MPL_malloc(ranks * sizeof(*h->host_of), MPL_MEM_COMM);
    n->mates = MPL_malloc(ranks * sizeof(*n->mates), MPL_MEM_COMM);
    mpi_errno = h->host_of && n->mates ? MPI_SUCCESS : hwmc_error_nomem();
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = number_hosts(comm, h->host_of, possible);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

int hwmc_hierarchy_begin(MPIR_Comm *comm, struct hwmc_comm *c, int tag)
{
    int mpi_errno = MPI_SUCCESS;
    struct hwmc_hierarchy *h = &c->hierarchy;
    bool possible;

    h->state = HWMC_HIERARCHY_ENDED;
    h->messages = hwmc_messages_of(comm, tag);
    mpi_errno = hierarchy_is_possible(comm, c, &possible);
    MPIR_ERR_CHECK(mpi_errno);
    if (possible) {
        h->state = HWMC_HIERARCHY_GATHER;
        mpi_errno = hierarchy_gather(comm, h);
        MPIR_ERR_CHECK(mpi_errno);
    }

fn_exit:
    return mpi_errno;
fn_fail:
    h->state = HWMC_HIERARCHY_ENDED;
    goto fn_exit;
}

/* All have said who they are. */
static int hierarchy_gathered(MPIR_Comm *comm, struct hwmc_comm *c)
{
    int mpi_errno = hierarchy_find_leaders(comm, c);
    struct hwmc_shm_comm *n = c->shm;

    MPIR_ERR_CHECK(mpi_errno);
    c->hierarchy.state = HWMC_HIERARCHY_ENDED;
    if (hwmc_leaders_num(&c->leaders) > HWMC_SHM_RANKS_MAX)
        goto fn_exit;
    find_mates(comm, &c->leaders, n);
    n->host.lost = hwmc_leader_groups_lost;
    n->host.of = c;
    hwmc_shm_setup_begin(n, comm, c->hierarchy.messages.tag);
    c->hierarchy.state = HWMC_HIERARCHY_SEGMENT;

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Without a segment the ranks of a host do without one, all alike. */
static bool hierarchy_step_segment(struct hwmc_comm *c, struct hwmc_await *a, int *mpi_errno)
{
    struct hwmc_shm_comm *n = c->shm;

    if (!hwmc_shm_setup_step(n, a, mpi_errno))
        return false;
    c->hierarchy.state = HWMC_HIERARCHY_ENDED;
    if (!n->host.broken) {
        *mpi_errno = MPI_SUCCESS;
        c->by_hosts = n->state != HWMC_SHM_SPREAD;
    }
    return true;
}

bool hwmc_hierarchy_step(MPIR_Comm *comm, struct hwmc_comm *c, struct hwmc_await *a, int *mpi_errno)
{
    struct hwmc_hierarchy *h = &c->hierarchy;

    if (h->state == HWMC_HIERARCHY_GATHER && *mpi_errno == MPI_SUCCESS) {
        if (!hwmc_messages_over(&h->messages, mpi_errno)) {
            a->kind = HWMC_AWAIT_MESSAGES;
            a->messages = &h->messages;
            return false;
        }
        if (*mpi_errno == MPI_SUCCESS)
            *mpi_errno = hierarchy_gathered(comm, c);
    }
    if (h->state == HWMC_HIERARCHY_SEGMENT && !hierarchy_step_segment(c, a, mpi_errno))
        return false;
    h->state = HWMC_HIERARCHY_ENDED;
    MPL_free(h->host_of);
    MPL_free(h->near);
    h->host_of = NULL;
    h->near = NULL;
    return true;
}

void hwmc_hierarchy_forget(struct hwmc_comm *c)
{
    MPL_free(c->hierarchy.host_of);
    MPL_free(c->hierarchy.near);
    MPL_free(c->leaders_mem);
}

void hwmc_outcome_begin(struct hwmc_comm *c, uint32_t leader_group, struct hwmc_outcome_told *t)
{
    struct hwmc_shm_comm *n = c->shm;
    const uint32_t host = c->leaders.host_of[n->mates[n->host.group.rank]];
    const uint32_t from = c->leaders.number[hwmc_leaders_at(&c->leaders, leader_group, host)];
    uint64_t here = n->host.group.rank == from ? sizeof(t->outcome) : 0;

    t->star = hwmc_shm_group_star(&n->host.group, from);
    hwmc_shm_bcast_begin(&t->bcast, &n->host.group, &t->star, from, &t->outcome, sizeof(t->outcome),
                         here);
    t->shm = (struct hwmc_await_shm){.op = &t->bcast.op, .err = HWMC_AGAIN};
}

bool hwmc_outcome_step(struct hwmc_comm *c, struct hwmc_outcome_told *t, struct hwmc_await *a)
{
    a->kind = HWMC_AWAIT_NOTHING;
    if (hwmc_await_shm_step(&t->shm) == HWMC_AGAIN)
        *a = (struct hwmc_await){.kind = HWMC_AWAIT_HOST,
                                 .host = &c->shm->host,
                                 .step = hwmc_await_shm_step,
                                 .what = &t->shm};
    return a->kind == HWMC_AWAIT_NOTHING;
}
