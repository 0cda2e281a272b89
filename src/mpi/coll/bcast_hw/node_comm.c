/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Which communicators have a segment, and the end of it.
 */

#include "node_csel.h"

/*
=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

cvars:
    - name        : MPIR_CVAR_BCAST_HW_NODE
      category    : BCAST_HW
      type        : boolean
      default     : true
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Collectives of communicators whose ranks all run on one host go over memory that these
        share. Those for which MPICH's own algorithm is named, by its control variable or a
        selection file, do not.

    - name        : MPIR_CVAR_BCAST_HW_NODE_MEMORY
      category    : BCAST_HW
      type        : int
      default     : 256
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        The bound (in MiB) on the shared memory that a process uses, for all its communicators. One
        for which it does not suffice is left to MPICH.

    - name        : MPIR_CVAR_BCAST_HW_NODE_AFTER
      category    : BCAST_HW
      type        : int
      default     : 4
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Collectives on a communicator before its ranks share memory.

    - name        : MPIR_CVAR_BCAST_HW_NODE_TOPOLOGY
      category    : BCAST_HW
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        For tests: the host's topology in hwloc's words, as package:2 l3:2 l2:4 pu:2, instead of the
        true one.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

static bool open_; /* between MPI_Init and MPI_Finalize */

void MPIR_Bcast_hw_node_open(void)
{
    open_ = true;
}

void MPIR_Bcast_hw_node_shut(void)
{
    open_ = false;
    MPIR_Bcast_hw_node_close();
}

static bool on_one_host(MPIR_Comm *comm)
{
    uint32_t world;

    for (int i = 0; i < comm->local_size; i++)
        if (!MPIR_Bcast_hw_world_rank(comm, i, &world) || !MPIR_Bcast_hw_same_host(world))
            return false;
    return true;
}

/* What the user gave MPICH to select by goes before. */
static bool wanted(void)
{
    const char *file = MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE;

    return open_ && MPIR_CVAR_BCAST_HW_NODE && !(file && *file);
}

static struct bcast_hw_node_comm *allocate(void)
{
    struct bcast_hw_node_comm *n = MPL_calloc(1, sizeof(*n), MPL_MEM_COMM);

    for (int i = 0; n && i < BCAST_HW_NODE_KIND_NUM; i++)
        n->last_bytes[i] = -1;
    return n;
}

static struct bcast_hw_node_comm *create(MPIR_Comm *comm)
{
    struct bcast_hw_node_comm *n = allocate();

    if (!n)
        return NULL;
    n->state = (uint32_t) comm->local_size <= BCAST_HW_NODE_RANKS_MAX && on_one_host(comm)
                   ? BCAST_HW_NODE_COUNTING
                   : BCAST_HW_NODE_SPREAD;
    return n;
}

struct bcast_hw_node_comm *MPIR_Bcast_hw_node_another(const struct bcast_hw_node_comm *n)
{
    struct bcast_hw_node_comm *another = allocate();
    const size_t bytes = (size_t) n->num_mates * sizeof(*n->mates);

    if (!another)
        return NULL;
    another->state = BCAST_HW_NODE_SPREAD;
    another->num_mates = n->num_mates;
    another->mates = MPL_malloc(bytes, MPL_MEM_COMM);
    if (!another->mates) {
        MPL_free(another);
        return NULL;
    }
    memcpy(another->mates, n->mates, bytes);
    return another;
}

struct bcast_hw_node_comm *MPIR_Bcast_hw_node_of_comm(MPIR_Comm *comm)
{
    struct bcast_hw_comm *c = MPIR_Bcast_hw_comm(comm);

    if (c && c->node)
        return c->node;
    if (!wanted() || comm->comm_kind != MPIR_COMM_KIND__INTRACOMM || comm->local_size < 2)
        return NULL;
    c = MPIR_Bcast_hw_state_of(comm);
    if (!c)
        return NULL;
    c->node = create(comm);
    MPIR_Bcast_hw_live_show(comm, c);
    return c->node;
}

int MPIR_Bcast_hw_node_broken(const struct bcast_hw_node_comm *n)
{
    int mpi_errno = MPI_SUCCESS;

    if (n->state == BCAST_HW_NODE_BROKEN)
        MPIR_ERR_SET1(mpi_errno, MPI_ERR_OTHER, "**bcast_hw_node", "**bcast_hw_node %s",
                      "an earlier one did");
    return mpi_errno;
}

struct bcast_hw_node_comm *MPIR_Bcast_hw_node_admit(MPIR_Comm *comm, int *mpi_errno)
{
    struct bcast_hw_node_comm *n = MPIR_Bcast_hw_node_of_comm(comm);

    if (!n)
        return NULL;
    if (n->state == BCAST_HW_NODE_COUNTING &&
        n->calls++ >= (uint64_t) MPL_MAX(MPIR_CVAR_BCAST_HW_NODE_AFTER, 0)) {
        *mpi_errno = MPIR_Bcast_hw_node_setup(n, comm);
        MPIR_Bcast_hw_live_show(comm, MPIR_Bcast_hw_comm(comm));
    }
    if (unlikely(*mpi_errno))
        return n;
    if (likely(n->state == BCAST_HW_NODE_ON))
        return n;
    if (n->state == BCAST_HW_NODE_OFF)
        MPIR_Bcast_hw_node_note_left();
    *mpi_errno = MPIR_Bcast_hw_node_broken(n);
    return *mpi_errno ? n : NULL;
}

void MPIR_Bcast_hw_node_fail(struct bcast_hw_node_comm *n)
{
    n->state = BCAST_HW_NODE_BROKEN;
    bcast_hw_node_group_fail(&n->group);
}

int MPIR_Bcast_hw_node_failed(struct bcast_hw_node_comm *n, int err)
{
    int mpi_errno = MPI_SUCCESS;

    if (!bcast_hw_node_group_in_step(&n->group))
        MPIR_Bcast_hw_node_fail(n);
    MPIR_ERR_SET1(mpi_errno, MPI_ERR_OTHER, "**bcast_hw_node", "**bcast_hw_node %s",
                  err == BCAST_HW_ERR_INVAL ? "the ranks' messages differ in length"
                                            : bcast_hw_err_text(err));
    return mpi_errno;
}

void MPIR_Bcast_hw_node_free(struct bcast_hw_node_comm *n)
{
    if (n->segment.base) {
        MPIR_Bcast_hw_node_note_segment(false, n->segment.bytes);
        bcast_hw_node_group_fini(&n->group);
        bcast_hw_node_segment_close(&n->segment);
    }
    for (int i = 0; i < BCAST_HW_NODE_TREES; i++)
        MPL_free(n->kept[i].children);
    MPIR_Bcast_hw_node_csel_end(n);
    MPL_free(n->mates);
    MPL_free(n);
}
