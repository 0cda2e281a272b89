/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Algorithm and parameters of a collective inside a host: from control variables; else from the
 * selection for this number of ranks and bytes (shm_csel.c); else a default.
 */

#include "shm_csel.h"
#include "../stats/counters.h"
#include "../shm/segment/slot.h"

/*
=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

cvars:
    - name        : MPIR_CVAR_BCAST_HW_NODE_COPY
      category    : BCAST_HW
      type        : enum
      default     : auto
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : |-
        Variable to select how long messages inside a host are copied
        auto  - At once, by xpmem or else cma if that works between all ranks; else through shared
              memory
        none  - Through shared memory
        xpmem - XPMEM, if hwmc was built with it and it works
        cma   - Cross-memory attach (process_vm_readv), if it works

    - name        : MPIR_CVAR_BCAST_HW_NODE_BARRIER
      category    : BCAST_HW
      type        : enum
      default     : auto
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : |-
        Variable to select the algorithm of barriers inside a host
        auto - Internal selection
        ota  - One to all: rank 0 looks at all, and all look at rank 0
        sig  - All set a bit in a word of rank 0, and look at it
        tree - Up a tree, and down
        pe   - Pairwise exchange
        dis  - Dissemination; of several ways with MPIR_CVAR_BCAST_HW_NODE_DEGREE

    - name        : MPIR_CVAR_BCAST_HW_NODE_BCAST
      category    : BCAST_HW
      type        : enum
      default     : auto
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : |-
        Variable to select the algorithm of broadcasts inside a host
        auto   - Internal selection
        treemm - Along a tree, the whole message at a time
        ota    - All ranks copy from the root
        g      - The root copies to all
        ag     - Each rank copies a piece from the root to all
        tree   - Along a tree, chunk by chunk; a chain with degree 1

    - name        : MPIR_CVAR_BCAST_HW_NODE_REDUCE
      category    : BCAST_HW
      type        : enum
      default     : auto
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : |-
        Variable to select the algorithm of reductions inside a host
        auto   - Internal selection
        tree   - Up a tree, chunk by chunk; a chain with degree 1
        ag     - Each rank combines a piece of all
        treemm - Up a tree, the whole message at a time
        each   - Each rank combines all of all, where all get the result; else as tree

    - name        : MPIR_CVAR_BCAST_HW_NODE_SHAPE
      category    : BCAST_HW
      type        : enum
      default     : auto
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : |-
        Variable to select the shape of trees inside a host
        auto    - Internal selection
        knomial - In each phase all that have the data serve k - 1 others each
        kary    - Each serves k others

    - name        : MPIR_CVAR_BCAST_HW_NODE_DEGREE
      category    : BCAST_HW
      type        : int
      default     : 0
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Degree of trees inside a host; 1 is a chain. Of barrier dis, for how many a rank waits at a
        time. 0: internal selection.

    - name        : MPIR_CVAR_BCAST_HW_NODE_CHUNK_BYTES
      category    : BCAST_HW
      type        : int
      default     : 0
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        What goes through shared memory at a time (in bytes), a multiple of 64. 0: from the sizes of
        the caches.

    - name        : MPIR_CVAR_BCAST_HW_NODE_INLINE_BYTES
      category    : BCAST_HW
      type        : int
      default     : -1
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Messages up to this (in bytes) travel with their metadata; 976 at most. -1: as many as fit.

    - name        : MPIR_CVAR_BCAST_HW_NODE_COPY_BYTES
      category    : BCAST_HW
      type        : int
      default     : -1
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Messages from this on (in bytes) are copied at once from rank to rank where that works.
        -1: internal selection.

    - name        : MPIR_CVAR_BCAST_HW_NODE_STREAM_BYTES
      category    : BCAST_HW
      type        : int
      default     : -1
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        Broadcasts and reductions from this on (in bytes) that go through shared memory are written
        past the caches where they arrive. -1: from half of a rank's share of the last-level cache
        on.

    - name        : MPIR_CVAR_BCAST_HW_NODE_PIECE_BYTES
      category    : BCAST_HW
      type        : int
      default     : 0
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        The least (in bytes) that a rank copies or combines for the others with algorithm ag.
        0: internal selection.

    - name        : MPIR_CVAR_BCAST_HW_NODE_SHIFT_BYTES
      category    : BCAST_HW
      type        : int
      default     : 0
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        With broadcast ota, how far (in bytes) into the message a rank begins after the rank before
        it.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

/* Bytes that a rank combines of all, rather than wait for another that does. */
#define EACH_MOST 8192

/* Bytes of a message from another host that are worth a system call at each rank. */
#define PART_COPY (128u << 10)

/* What serves where nobody said or measured anything. */
static void by_default(const struct hwmc_shm_host *n, enum hwmc_shm_kind kind, MPI_Aint bytes,
                       struct hwmc_shm_choice *c)
{
    const uint32_t ranks = n->group.size;

    c->params = hwmc_shm_params_default(n->segment.layout.chunk);
    c->params.stream_min = n->stream_min;
    c->shape = HWMC_SHM_SHAPE_KARY;
    c->degree = MPL_MIN(ranks, 4);
    /* Ranks that share processors come one after the other: the fewer phases the better. */
    if (kind == HWMC_SHM_KIND_BARRIER && n->crowded)
        c->params.ways = ranks - 1;
    if (kind == HWMC_SHM_KIND_ALLREDUCE && bytes * ranks <= EACH_MOST)
        c->params.reduction = HWMC_SHM_REDUCTION_EACH;
    if (bytes <= c->params.inline_max)
        c->degree = MPL_MIN(ranks, 16);
}

static void by_selection(const struct hwmc_shm_host *n, enum hwmc_shm_kind kind, MPI_Aint bytes,
                         struct hwmc_shm_choice *c)
{
    const struct hwmc_shm_entry *e = hwmc_shm_csel_search(n, kind, bytes);
    struct hwmc_shm_params *p = &c->params;

    if (!e || (e->crowded >= 0 && (e->crowded == 1) != n->crowded))
        return;
    if (kind == HWMC_SHM_KIND_BARRIER && e->barrier >= 0)
        p->barrier = (enum hwmc_shm_barrier_algorithm) e->barrier;
    if (kind == HWMC_SHM_KIND_BCAST && e->bcast >= 0)
        p->bcast = (enum hwmc_shm_bcast_algorithm) e->bcast;
    if (hwmc_shm_reduces(kind) && e->reduction >= 0)
        p->reduction = (enum hwmc_shm_reduction_algorithm) e->reduction;
    if (e->shape >= 0)
        c->shape = (enum hwmc_shm_shape) e->shape;
    if (e->degree > 0)
        c->degree = p->ways = (uint32_t) e->degree;
    if (e->chunk > 0)
        p->chunk = MPL_MIN((uint32_t) e->chunk, n->segment.layout.chunk);
    if (e->inline_max >= 0)
        p->inline_max = (uint32_t) e->inline_max;
    if (e->copy_min >= 0)
        p->copy_min = (uint64_t) e->copy_min;
    if (e->piece_min > 0)
        p->piece_min = (uint32_t) e->piece_min;
    if (e->shift >= 0)
        p->shift = (uint32_t) e->shift;
}

/* The user's selection is for all. */
static bool is_said(void)
{
    return MPIR_CVAR_BCAST_HW_NODE_SELECTION && *MPIR_CVAR_BCAST_HW_NODE_SELECTION;
}

/* A message that comes from another host, and comes slowly: all take it from where it lies as it
 * does, since each rank that hands it on has to be woken first. Tuning runs, on one host, know
 * nothing of that. */
static void for_part(const struct hwmc_shm_host *n, struct hwmc_shm_choice *c)
{
    c->params.bcast = HWMC_SHM_BCAST_TREE;
    c->params.copy_min = PART_COPY;
    c->degree = MPL_MIN(n->group.size, 16);
}

#define SAID(var, field, prefix)                                                                   \
    do {                                                                                           \
        if (MPIR_CVAR_BCAST_HW_NODE_##var != MPIR_CVAR_BCAST_HW_NODE_##var##_auto)                 \
            field = prefix;                                                                        \
    } while (0)

static void by_cvars(const struct hwmc_shm_host *n, struct hwmc_shm_choice *c)
{
    struct hwmc_shm_params *p = &c->params;

    /* The values of the control variables follow `auto` in the order of the tables. */
    SAID(BARRIER, p->barrier,
         (enum hwmc_shm_barrier_algorithm)(MPIR_CVAR_BCAST_HW_NODE_BARRIER -
                                           MPIR_CVAR_BCAST_HW_NODE_BARRIER_ota));
    SAID(BCAST, p->bcast,
         (enum hwmc_shm_bcast_algorithm)(MPIR_CVAR_BCAST_HW_NODE_BCAST -
                                         MPIR_CVAR_BCAST_HW_NODE_BCAST_treemm));
    SAID(REDUCE, p->reduction,
         (enum hwmc_shm_reduction_algorithm)(MPIR_CVAR_BCAST_HW_NODE_REDUCE -
                                             MPIR_CVAR_BCAST_HW_NODE_REDUCE_tree));
    SAID(SHAPE, c->shape,
         (enum hwmc_shm_shape)(MPIR_CVAR_BCAST_HW_NODE_SHAPE -
                               MPIR_CVAR_BCAST_HW_NODE_SHAPE_knomial));
    if (MPIR_CVAR_BCAST_HW_NODE_DEGREE > 0)
        c->degree = p->ways = (uint32_t) MPIR_CVAR_BCAST_HW_NODE_DEGREE;
    if (MPIR_CVAR_BCAST_HW_NODE_CHUNK_BYTES > 0)
        p->chunk = MPL_MIN((uint32_t) MPIR_CVAR_BCAST_HW_NODE_CHUNK_BYTES, n->segment.layout.chunk);
    if (MPIR_CVAR_BCAST_HW_NODE_INLINE_BYTES >= 0)
        p->inline_max = MPL_MIN((uint32_t) MPIR_CVAR_BCAST_HW_NODE_INLINE_BYTES, HWMC_SHM_INLINE);
    if (MPIR_CVAR_BCAST_HW_NODE_COPY_BYTES >= 0)
        p->copy_min = (uint64_t) MPIR_CVAR_BCAST_HW_NODE_COPY_BYTES;
    if (MPIR_CVAR_BCAST_HW_NODE_STREAM_BYTES >= 0)
        p->stream_min = (uint64_t) MPIR_CVAR_BCAST_HW_NODE_STREAM_BYTES;
    if (MPIR_CVAR_BCAST_HW_NODE_PIECE_BYTES > 0)
        p->piece_min = (uint32_t) MPIR_CVAR_BCAST_HW_NODE_PIECE_BYTES;
    if (MPIR_CVAR_BCAST_HW_NODE_SHIFT_BYTES > 0)
        p->shift = (uint32_t) MPIR_CVAR_BCAST_HW_NODE_SHIFT_BYTES;
}

void hwmc_shm_choose_begin(struct hwmc_shm_host *n)
{
    for (int i = 0; i < HWMC_SHM_KIND_NUM; i++)
        n->last_bytes[i] = -1;
}

void hwmc_shm_choose_end(struct hwmc_shm_host *n)
{
    for (int i = 0; i < HWMC_SHM_TREES; i++)
        MPL_free(n->kept[i].children);
    hwmc_shm_csel_end(n);
}

const struct hwmc_shm_choice *hwmc_shm_choose(struct hwmc_shm_host *n, enum hwmc_shm_kind kind,
                                              MPI_Aint bytes)
{
    struct hwmc_shm_choice *c = &n->last[kind];

    if (n->last_bytes[kind] != bytes) {
        by_default(n, kind, bytes, c);
        if (n->part && kind == HWMC_SHM_KIND_BCAST && !is_said())
            for_part(n, c);
        else
            by_selection(n, kind, bytes, c);
        by_cvars(n, c);
        hwmc_shm_note_choice(kind, &c->params);
        n->last_bytes[kind] = bytes;
        n->applied = NULL;
    }
    if (n->applied != c) {
        int err = hwmc_shm_group_set(&n->group, &c->params);

        MPIR_Assert(err == HWMC_OK);
        n->applied = c;
    }
    return c;
}

struct hwmc_shm_tree hwmc_shm_comm_tree(struct hwmc_shm_host *n,
                                        const struct hwmc_shm_choice *choice, uint32_t root)
{
    struct hwmc_shm_kept *k = &n->kept[(root ^ choice->degree) & (HWMC_SHM_TREES - 1)];

    if (k->degree != choice->degree || k->shape != choice->shape || k->root != root) {
        if (!k->children)
            k->children = MPL_malloc(n->group.size * sizeof(*k->children), MPL_MEM_COMM);
        MPIR_Assert(k->children);
        k->degree = choice->degree;
        k->shape = choice->shape;
        k->root = root;
        k->tree = hwmc_shm_shape_tree(&n->levels, choice->shape, choice->degree, root,
                                      n->group.rank, k->children);
    }
    return k->tree;
}
