/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Broadcasts over several hosts with several ranks each: one rank of each host takes part in the
 * network's broadcast. All ranks of the communicator learn alike which rank is on which host.
 */

#include "shm.h"
#include "../process/hosts.h"
#include "../process/mpich.h"
#include "../shm/coll/bcast.h"

/* What a rank tells all others of itself. */
struct near {
    int distance[HWMC_RAIL_BITS]; /* from each rail, in any unit; INT_MAX: not known */
    int casts;                    /* rails that it has multicast on, a bit each */
};

static struct near find_own(void)
{
    struct near own = {.casts = (int) hwmc_process_engine()->wires.rails.mask};

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

    MPIR_ERR_CHKANDJUMP(!hosts || !table, mpi_errno, MPI_ERR_OTHER, "**nomem");
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
static uint32_t first_rail(const struct near *near, uint32_t ranks)
{
    uint32_t rails = (uint32_t) near[0].casts;

    for (uint32_t i = 1; i < ranks; i++)
        rails &= (uint32_t) near[i].casts;
    if (rails == 0)
        rails = hwmc_wires_lane_rails(&hwmc_process_engine()->wires);
    return rails ? (uint32_t) __builtin_ctz(rails) : 0;
}

/* Places the ranks of each host by their distances from the first rail. */
static int find_leaders(MPIR_Comm *comm, struct hwmc_comm *c, const uint32_t *host_of)
{
    int mpi_errno = MPI_SUCCESS;
    const uint32_t ranks = (uint32_t) comm->local_size;
    const size_t words = hwmc_leaders_words(ranks, c->hosts);
    const int ints = (int) (sizeof(struct near) / sizeof(int));
    struct near mine = find_own(), *near;
    int *far = MPL_malloc(ranks * sizeof(*far), MPL_MEM_COMM);
    uint32_t rail;

    near = MPL_malloc(ranks * sizeof(*near), MPL_MEM_COMM);
    c->leaders_mem = MPL_malloc(words * sizeof(*c->leaders_mem), MPL_MEM_COMM);
    MPIR_ERR_CHKANDJUMP(!near || !far || !c->leaders_mem, mpi_errno, MPI_ERR_OTHER, "**nomem");
    mpi_errno = MPIR_Allgather_allcomm_auto(&mine, ints, HWMC_INT, near, ints, HWMC_INT, comm,
                                            HWMC_NO_ERRORS);
    MPIR_ERR_CHECK(mpi_errno);
    rail = first_rail(near, ranks);
    for (uint32_t i = 0; i < ranks; i++)
        far[i] = near[i].distance[rail];
    hwmc_leaders_init(&c->leaders, ranks, c->hosts, host_of, far, c->leaders_mem);

fn_exit:
    MPL_free(near);
    MPL_free(far);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* The ranks of this host, by their places. */
static void find_mates(MPIR_Comm *comm, const struct hwmc_leaders *s, struct hwmc_shm_comm *n)
{
    const uint32_t host = s->host_of[comm->rank];

    n->num_mates = (int) hwmc_leaders_on(s, host);
    for (int i = 0; i < n->num_mates; i++)
        n->mates[i] = (int) hwmc_leaders_at(s, (uint32_t) i, host);
}

int hwmc_is_hierarchical(MPIR_Comm *comm, struct hwmc_comm *c)
{
    int mpi_errno = MPI_SUCCESS;
    const size_t ranks = (size_t) comm->local_size;
    struct hwmc_shm_comm *n = hwmc_shm_of_comm(comm);
    uint32_t *host_of = NULL;
    bool known;

    if (!n || n->state != HWMC_SHM_SPREAD || c->hosts == 1 || c->hosts == ranks)
        goto fn_exit;
    host_of = MPL_malloc(ranks * sizeof(*host_of), MPL_MEM_COMM);
    n->mates = MPL_malloc(ranks * sizeof(*n->mates), MPL_MEM_COMM);
    MPIR_ERR_CHKANDJUMP(!host_of || !n->mates, mpi_errno, MPI_ERR_OTHER, "**nomem");
    mpi_errno = number_hosts(comm, host_of, &known);
    MPIR_ERR_CHECK(mpi_errno);
    if (!known)
        goto fn_exit;
    mpi_errno = find_leaders(comm, c, host_of);
    MPIR_ERR_CHECK(mpi_errno);
    if (hwmc_leaders_num(&c->leaders) > HWMC_SHM_RANKS_MAX)
        goto fn_exit;
    find_mates(comm, &c->leaders, n);
    n->host.lost = hwmc_leader_groups_lost;
    n->host.of = c;
    mpi_errno = hwmc_shm_setup(n, comm);
    if (n->host.broken)
        goto fn_exit;
    /* Without a segment the ranks of a host do without one, all alike. */
    mpi_errno = MPI_SUCCESS;
    c->by_hosts = n->state != HWMC_SHM_SPREAD;

fn_exit:
    MPL_free(host_of);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

void hwmc_hierarchy_forget(struct hwmc_comm *c)
{
    MPL_free(c->leaders_mem);
}

int hwmc_tell_outcome(struct hwmc_comm *c, uint32_t leader_group, struct hwmc_outcome *outcome)
{
    struct hwmc_shm_comm *n = c->shm;
    const uint32_t host = c->leaders.host_of[n->mates[n->host.group.rank]];
    const uint32_t from = c->leaders.place[hwmc_leader_group_at(c, leader_group, host)];
    struct hwmc_shm_tree star = hwmc_shm_group_star(&n->host.group, from);
    uint64_t here = n->host.group.rank == from ? sizeof(*outcome) : 0;
    struct hwmc_shm_bcast b;

    hwmc_shm_bcast_begin(&b, &n->host.group, &star, from, outcome, sizeof(*outcome), here);
    return hwmc_shm_wait(&n->host, &b.op);
}
