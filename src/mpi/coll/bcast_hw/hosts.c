/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Broadcasts by hosts: of each host one rank, its first, takes part in the network's broadcasts: the one whose
 * processors are nearest to the rail, of several the lowest. All ranks of the communicator learn alike who is where.
 */

#include "node_glue.h"

static int distance; /* of this process from the rail that it uses first; 0: near, or not known */

void MPIR_Bcast_hw_note_distance(int from_rail)
{
    distance = from_rail;
}

/* By rank, in which host it is, counted from that of rank 0. False: nobody knows of some rank. */
static bool number_hosts(MPIR_Comm *comm, uint32_t *host_of)
{
    uint32_t hosts = 0, world, earlier;

    for (int i = 0; i < comm->local_size; i++) {
        int j = 0;

        if (!MPIR_Bcast_hw_world_rank(comm, i, &world))
            return false;
        for (; j < i; j++)
            if (MPIR_Bcast_hw_world_rank(comm, j, &earlier) &&
                MPIR_Bcast_hw_node_of(earlier) == MPIR_Bcast_hw_node_of(world))
                break;
        host_of[i] = j < i ? host_of[j] : hosts++;
    }
    return true;
}

/* By host, who is nearest to the rail. */
static int find_first(MPIR_Comm *comm, struct bcast_hw_comm *c)
{
    int mpi_errno = MPI_SUCCESS;
    int *far = MPL_malloc((size_t) comm->local_size * sizeof(*far), MPL_MEM_COMM);

    MPIR_ERR_CHKANDJUMP(!far, mpi_errno, MPI_ERR_OTHER, "**nomem");
    mpi_errno = MPIR_Allgather_allcomm_auto(&distance, 1, MPIR_BCAST_HW_INT, far, 1,
                                            MPIR_BCAST_HW_INT, comm, MPIR_BCAST_HW_NO_ERRORS);
    MPIR_ERR_CHECK(mpi_errno);
    for (int i = comm->local_size - 1; i >= 0; i--) {
        uint32_t *first = &c->first_of[c->host_of[i]];

        if (*first == UINT32_MAX || far[i] <= far[*first])
            *first = (uint32_t) i;
    }

fn_exit:
    MPL_free(far);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* The ranks of this host, and the most that any host has. */
static int count_mates(MPIR_Comm *comm, struct bcast_hw_comm *c, struct bcast_hw_node_comm *n)
{
    int *on_host = MPL_calloc(c->hosts, sizeof(*on_host), MPL_MEM_COMM);
    int most = 0;

    for (int i = 0; on_host && i < comm->local_size; i++) {
        most = MPL_MAX(most, ++on_host[c->host_of[i]]);
        if (c->host_of[i] == c->host_of[comm->rank]) {
            c->mate_of[i] = (uint32_t) n->num_mates;
            n->mates[n->num_mates++] = i;
        }
    }
    MPL_free(on_host);
    return most;
}

int MPIR_Bcast_hw_by_hosts(MPIR_Comm *comm, struct bcast_hw_comm *c)
{
    int mpi_errno = MPI_SUCCESS;
    const size_t ranks = (size_t) comm->local_size;
    struct bcast_hw_node_comm *n = MPIR_Bcast_hw_node_of_comm(comm);

    if (!n || n->state != BCAST_HW_NODE_SPREAD || c->hosts == 1 || c->hosts == ranks)
        goto fn_exit;
    c->host_of = MPL_calloc(ranks, sizeof(*c->host_of), MPL_MEM_COMM);
    c->mate_of = MPL_calloc(ranks, sizeof(*c->mate_of), MPL_MEM_COMM);
    c->first_of = MPL_malloc(c->hosts * sizeof(*c->first_of), MPL_MEM_COMM);
    n->mates = MPL_malloc(ranks * sizeof(*n->mates), MPL_MEM_COMM);
    MPIR_ERR_CHKANDJUMP(!c->host_of || !c->mate_of || !c->first_of || !n->mates, mpi_errno,
                        MPI_ERR_OTHER, "**nomem");
    memset(c->first_of, 0xff, c->hosts * sizeof(*c->first_of));
    if (!number_hosts(comm, c->host_of))
        goto fn_exit;
    mpi_errno = find_first(comm, c);
    MPIR_ERR_CHECK(mpi_errno);
    if (count_mates(comm, c, n) > (int) BCAST_HW_NODE_RANKS_MAX)
        goto fn_exit;
    /* Without a segment the ranks of a host do without one. */
    (void) MPIR_Bcast_hw_node_setup(n, comm);
    c->by_hosts = n->state != BCAST_HW_NODE_SPREAD;

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

void MPIR_Bcast_hw_forget_hosts(struct bcast_hw_comm *c)
{
    MPL_free(c->host_of);
    MPL_free(c->mate_of);
    MPL_free(c->first_of);
}

/* What the first rank of a host tells the others of the outcome of set-up. */
struct outcome {
    bool on, casts;
    struct bcast_hw_shape shape;
};

int MPIR_Bcast_hw_tell_outcome(struct bcast_hw_comm *c)
{
    int mpi_errno = MPI_SUCCESS;
    struct bcast_hw_node_comm *n = c->node;
    const uint32_t first = c->mate_of[c->first_of[c->host_of[n->mates[n->group.rank]]]];
    struct bcast_hw_node_tree star = bcast_hw_node_group_star(&n->group, first);
    struct outcome outcome = {.on = c->on, .casts = c->casts, .shape = c->shape};
    uint64_t here = n->group.rank == first ? sizeof(outcome) : 0;
    struct bcast_hw_node_bcast b;

    bcast_hw_node_bcast_begin(&b, &n->group, &star, first, &outcome, sizeof(outcome), here);
    mpi_errno = MPIR_Bcast_hw_node_wait(n, &b.op);
    MPIR_ERR_CHECK(mpi_errno);
    c->on = outcome.on;
    c->casts = outcome.casts;
    c->shape = outcome.shape;

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
