/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Broadcasts by hosts: of each host one rank takes part in a broadcast over the network. All ranks
 * of the communicator learn alike who is where.
 */

#include "node_glue.h"

#include <pthread.h>

static void (*find_distances)(int *distance);
static struct bcast_hw_near own;
static bool found; /* `own` is known */
static pthread_mutex_t own_lock = PTHREAD_MUTEX_INITIALIZER;

void MPIR_Bcast_hw_register_distances(void (*find)(int *distance))
{
    find_distances = find;
    found = false;
}

static struct bcast_hw_near find_own(void)
{
    struct bcast_hw_near copy;

    pthread_mutex_lock(&own_lock);
    if (!found) {
        for (int i = 0; i < (int) BCAST_HW_RAIL_BITS; i++)
            own.distance[i] = -1;
        if (find_distances)
            find_distances(own.distance);
        for (int i = 0; i < (int) BCAST_HW_RAIL_BITS; i++)
            own.distance[i] = own.distance[i] < 0 ? INT_MAX : own.distance[i];
        own.casts = MPIR_Bcast_hw_engine()->rails.mask;
        found = true;
    }
    copy = own;
    pthread_mutex_unlock(&own_lock);
    return copy;
}

/* By rank, in which host it is, counted from that of rank 0. Sets *known: somebody knows of every
 * rank. */
static int number_hosts(MPIR_Comm *comm, uint32_t *host_of, bool *known)
{
    int mpi_errno = MPI_SUCCESS;
    const uint32_t ranks = (uint32_t) comm->local_size;
    int *node = MPL_malloc(ranks * sizeof(*node), MPL_MEM_COMM);
    uint32_t *table = MPL_calloc(bcast_hw_sides_table_words(ranks), sizeof(*table), MPL_MEM_COMM);
    uint32_t world;

    MPIR_ERR_CHKANDJUMP(!node || !table, mpi_errno, MPI_ERR_OTHER, "**nomem");
    *known = true;
    for (uint32_t i = 0; i < ranks && *known; i++) {
        *known = MPIR_Bcast_hw_world_rank(comm, (int) i, &world);
        node[i] = *known ? MPIR_Bcast_hw_node_of(world) : 0;
    }
    if (*known)
        bcast_hw_sides_number(ranks, node, host_of, table);

fn_exit:
    MPL_free(node);
    MPL_free(table);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* The rails' speeds, alike on all ranks: as measured over their lanes, or as the system says. */
static void find_speeds(uint32_t *mbit)
{
    const struct bcast_hw_engine_cfg *cfg = &MPIR_Bcast_hw_engine()->cfg;

    memcpy(mbit, cfg->mbit, sizeof(cfg->mbit));
    for (uint32_t i = 0; i < cfg->num_rails; i++)
        mbit[cfg->lane_rail[i]] = cfg->lane_mbit[i];
}

/* Places the ranks of each host by their distances from the first rail, and finds feeds. */
static int find_sides(MPIR_Comm *comm, struct bcast_hw_comm *c, const uint32_t *host_of)
{
    int mpi_errno = MPI_SUCCESS;
    const uint32_t ranks = (uint32_t) comm->local_size;
    const size_t words = bcast_hw_sides_words(ranks, c->hosts);
    const int ints = (int) (sizeof(struct bcast_hw_near) / sizeof(int));
    struct bcast_hw_near mine = find_own(), *near;
    int *far = MPL_malloc(ranks * sizeof(*far), MPL_MEM_COMM);
    uint32_t rails, mbit[BCAST_HW_RAIL_BITS];

    near = MPL_malloc(ranks * sizeof(*near), MPL_MEM_COMM);
    c->sides_mem =
        MPL_malloc((words + bcast_hw_feeds_words(c->hosts)) * sizeof(*c->sides_mem), MPL_MEM_COMM);
    MPIR_ERR_CHKANDJUMP(!near || !far || !c->sides_mem, mpi_errno, MPI_ERR_OTHER, "**nomem");
    mpi_errno = MPIR_Allgather_allcomm_auto(&mine, ints, MPIR_BCAST_HW_INT, near, ints,
                                            MPIR_BCAST_HW_INT, comm, MPIR_BCAST_HW_NO_ERRORS);
    MPIR_ERR_CHECK(mpi_errno);
    rails = bcast_hw_feeds_rails(near, ranks, bcast_hw_engine_lane_rails(MPIR_Bcast_hw_engine()));
    for (uint32_t i = 0; i < ranks; i++)
        far[i] = near[i].distance[rails ? __builtin_ctz(rails) : 0];
    bcast_hw_sides_init(&c->sides, ranks, c->hosts, host_of, far, c->sides_mem);
    find_speeds(mbit);
    bcast_hw_feeds_init(&c->feeds, &c->sides, near, rails, mbit, c->sides_mem + words);

fn_exit:
    MPL_free(near);
    MPL_free(far);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* The ranks of this host, by their places. */
static void find_mates(MPIR_Comm *comm, const struct bcast_hw_sides *s,
                       struct bcast_hw_node_comm *n)
{
    const uint32_t host = s->host_of[comm->rank];

    n->num_mates = (int) bcast_hw_sides_on(s, host);
    for (int i = 0; i < n->num_mates; i++)
        n->mates[i] = (int) bcast_hw_sides_at(s, (uint32_t) i, host);
}

int MPIR_Bcast_hw_by_hosts(MPIR_Comm *comm, struct bcast_hw_comm *c)
{
    int mpi_errno = MPI_SUCCESS;
    const size_t ranks = (size_t) comm->local_size;
    struct bcast_hw_node_comm *n = MPIR_Bcast_hw_node_of_comm(comm);
    uint32_t *host_of = NULL;
    bool known;

    if (!n || n->state != BCAST_HW_NODE_SPREAD || c->hosts == 1 || c->hosts == ranks)
        goto fn_exit;
    host_of = MPL_malloc(ranks * sizeof(*host_of), MPL_MEM_COMM);
    n->mates = MPL_malloc(ranks * sizeof(*n->mates), MPL_MEM_COMM);
    MPIR_ERR_CHKANDJUMP(!host_of || !n->mates, mpi_errno, MPI_ERR_OTHER, "**nomem");
    mpi_errno = number_hosts(comm, host_of, &known);
    MPIR_ERR_CHECK(mpi_errno);
    if (!known)
        goto fn_exit;
    mpi_errno = find_sides(comm, c, host_of);
    MPIR_ERR_CHECK(mpi_errno);
    if (bcast_hw_sides_num(&c->sides) > BCAST_HW_NODE_RANKS_MAX)
        goto fn_exit;
    find_mates(comm, &c->sides, n);
    mpi_errno = MPIR_Bcast_hw_node_setup(n, comm);
    if (n->state == BCAST_HW_NODE_BROKEN)
        goto fn_exit;
    /* Without a segment the ranks of a host do without one, all alike. */
    mpi_errno = MPI_SUCCESS;
    c->by_hosts = n->state != BCAST_HW_NODE_SPREAD;

fn_exit:
    MPL_free(host_of);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

void MPIR_Bcast_hw_forget_hosts(struct bcast_hw_comm *c)
{
    MPL_free(c->sides_mem);
}

int MPIR_Bcast_hw_tell_outcome(struct bcast_hw_comm *c, uint32_t side,
                               struct bcast_hw_outcome *outcome)
{
    struct bcast_hw_node_comm *n = c->node;
    const uint32_t host = c->sides.host_of[n->mates[n->group.rank]];
    const uint32_t from = c->sides.place[MPIR_Bcast_hw_side_at(c, side, host)];
    struct bcast_hw_node_tree star = bcast_hw_node_group_star(&n->group, from);
    uint64_t here = n->group.rank == from ? sizeof(*outcome) : 0;
    struct bcast_hw_node_bcast b;

    bcast_hw_node_bcast_begin(&b, &n->group, &star, from, outcome, sizeof(*outcome), here);
    return MPIR_Bcast_hw_node_wait(n, &b.op);
}
