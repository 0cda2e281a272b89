/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What the glue's node_* files share: a communicator's side of the node layer (node/).
 *
 * All ranks of such a communicator run on one host. Its segment is made when it is about to run its
 * collective number MPIR_CVAR_BCAST_HW_NODE_AFTER, by all ranks together; what each of them finds
 * is agreed on, so that all use the segment from there on or none does. Everything that decides
 * about a collective is the same on all ranks: control variables, the members, and arguments that
 * MPI wants alike.
 *
 *     COUNTING -> ON -> BROKEN
 *             \-> OFF
 *     SPREAD -> PART -> BROKEN
 */

#ifndef BCAST_HW_NODE_GLUE_H_INCLUDED
#define BCAST_HW_NODE_GLUE_H_INCLUDED

#include "glue.h"
#include "node/bcast.h"
#include "node/group.h"
#include "node/levels.h"
#include "node/op.h"
#include "node/segment.h"
#include "node/shape.h"

enum bcast_hw_node_state {
    BCAST_HW_NODE_SPREAD, /* the ranks run on several hosts: all go to MPICH, but what hwmc sends
                           * between hosts */
    BCAST_HW_NODE_PART,   /* so they do, and those of each host share a segment for what comes from
                           * others */
    BCAST_HW_NODE_COUNTING, /* collectives go to MPICH until there have been enough */
    BCAST_HW_NODE_OFF,      /* there is no segment: all go to MPICH */
    BCAST_HW_NODE_ON,
    BCAST_HW_NODE_BROKEN, /* a collective failed at this rank: each one answers so from then on */
};

/* Collectives that are selected for by themselves. */
enum bcast_hw_node_kind {
    BCAST_HW_NODE_KIND_BARRIER,
    BCAST_HW_NODE_KIND_BCAST,
    BCAST_HW_NODE_KIND_REDUCE,
    BCAST_HW_NODE_KIND_ALLREDUCE,
    BCAST_HW_NODE_KIND_GATHER,
    BCAST_HW_NODE_KIND_ALLGATHER,
    BCAST_HW_NODE_KIND_SCATTER,
    BCAST_HW_NODE_KIND_ALLTOALL,
    BCAST_HW_NODE_KIND_REDUCE_SCATTER,
    BCAST_HW_NODE_KIND_SCAN,
    BCAST_HW_NODE_KIND_NUM
};

/* Of those, the ones by an algorithm for reductions. */
static inline bool MPIR_Bcast_hw_node_reduces(enum bcast_hw_node_kind kind)
{
    return kind == BCAST_HW_NODE_KIND_REDUCE || kind == BCAST_HW_NODE_KIND_ALLREDUCE ||
           kind == BCAST_HW_NODE_KIND_REDUCE_SCATTER;
}

/* By what a collective goes. */
struct bcast_hw_node_choice {
    struct bcast_hw_node_params params;
    enum bcast_hw_node_shape shape; /* of the tree */
    uint32_t degree;
};

#define BCAST_HW_NODE_TREES 16 /* kept; a power of 2 */

/* A tree from a root. */
struct bcast_hw_node_kept {
    uint32_t degree; /* 0: none is kept here */
    enum bcast_hw_node_shape shape;
    uint32_t root;
    struct bcast_hw_node_tree tree; /* its children are below */
    uint16_t *children;             /* room for all ranks; NULL: not made yet */
};

struct bcast_hw_node_csel;

struct bcast_hw_node_comm {
    enum bcast_hw_node_state state;
    uint64_t calls;      /* collectives while counting */
    bool crowded;        /* ranks share processors; alike on all of them, for selection */
    uint64_t stream_min; /* bytes: of its parameters, as the caches want it */
    int *
        mates; /* ranks of the communicator on this host, by their number in the group; NULL: all */
    int num_mates;
    struct bcast_hw_node_segment segment;
    struct bcast_hw_node_group group;
    struct bcast_hw_node_levels levels;
    struct bcast_hw_node_csel *csel; /* NULL: nothing says how to select; node_csel.c */
    void *pruned;                    /* MPICH's, what of it is for this number of ranks */
    struct bcast_hw_node_choice last[BCAST_HW_NODE_KIND_NUM]; /* of each kind, the last choice */
    MPI_Aint last_bytes[BCAST_HW_NODE_KIND_NUM]; /* what it was for; -1: none was made */
    const struct bcast_hw_node_choice *applied;  /* what the group has; of `last` */
    struct bcast_hw_node_kept kept[BCAST_HW_NODE_TREES];
};

/* Which node layer is to run this collective on `comm`; NULL: MPICH is. Sets *mpi_errno if it
 * cannot, as it is BROKEN. May make the segment, which all ranks take part in. */
struct bcast_hw_node_comm *MPIR_Bcast_hw_node_admit(MPIR_Comm *comm, int *mpi_errno);

/* The same for the collective of this name in MPICH's control variables; if these name an algorithm
 * of MPICH's it is to run it. */
#define MPIR_BCAST_HW_NODE_ADMIT(NAME, comm, mpi_errno)                                            \
    (MPIR_CVAR_##NAME##_INTRA_ALGORITHM == MPIR_CVAR_##NAME##_INTRA_ALGORITHM_auto                 \
         ? MPIR_Bcast_hw_node_admit(comm, mpi_errno)                                               \
         : NULL)

/* What `comm` has of the node layer, made if it can be. */
struct bcast_hw_node_comm *MPIR_Bcast_hw_node_of_comm(MPIR_Comm *comm);

/* The same ranks of this host as `n` has, which is PART, without a segment yet; NULL without
 * memory. */
struct bcast_hw_node_comm *MPIR_Bcast_hw_node_another(const struct bcast_hw_node_comm *n);

/* Makes the segment, of all ranks of `comm`, or on each host of n->mates: node_setup.c. Leaves `n`
 * ON or PART if all ranks of `comm` have theirs, else OFF or SPREAD; BROKEN where messages for that
 * failed here, as it may have worked for others. MPICH's error code then, and where this rank could
 * not, as what the user gave to select by is wrong. */
int MPIR_Bcast_hw_node_setup(struct bcast_hw_node_comm *n, MPIR_Comm *comm);

/* The choice for a message of `bytes`, applied to the group. Of n until the next one. */
const struct bcast_hw_node_choice *MPIR_Bcast_hw_node_choose(struct bcast_hw_node_comm *n,
                                                             enum bcast_hw_node_kind kind,
                                                             MPI_Aint bytes);

/* The tree of a choice from `root`. Its children are kept until `n` is freed or another tree takes
 * their place, which it does not before the next collective. */
struct bcast_hw_node_tree MPIR_Bcast_hw_node_tree(struct bcast_hw_node_comm *n,
                                                  const struct bcast_hw_node_choice *choice,
                                                  uint32_t root);

/* Steps until it is done, with MPICH's progress where it has to wait. MPICH's error code; after an
 * error the communicator's node layer is BROKEN. */
int MPIR_Bcast_hw_node_wait(struct bcast_hw_node_comm *n, struct bcast_hw_node_op *op);

/* The MPI error that each collective on it has; MPI_SUCCESS unless `n` is BROKEN. */
int MPIR_Bcast_hw_node_broken(const struct bcast_hw_node_comm *n);

/* The MPI error of what a step returned; `n` is BROKEN unless the ranks are still in step. */
int MPIR_Bcast_hw_node_failed(struct bcast_hw_node_comm *n, int err);

/* This rank can take no further part: the others, who may wait for it, get an error. */
void MPIR_Bcast_hw_node_fail(struct bcast_hw_node_comm *n);

/* What this thread waits for in MPICH's progress is, or is not, in memory that others write to. */
void MPIR_Bcast_hw_node_watch(bool memory);

/* The same with what a step returned, for set-up. */
int MPIR_Bcast_hw_node_wait_until(struct bcast_hw_node_comm *n, int (*step)(void *what),
                                  void *what);

/* For the counters: a collective ran here, or could have but for a segment; a segment came, or
 * went; a choice was made that is not the one before. */
void MPIR_Bcast_hw_node_note_call(void);
void MPIR_Bcast_hw_node_note_left(void);
void MPIR_Bcast_hw_node_note_segment(bool more, size_t bytes);
void MPIR_Bcast_hw_node_note_choice(enum bcast_hw_node_kind kind,
                                    const struct bcast_hw_node_params *params);

/* Bytes of the segments that this process has. */
size_t MPIR_Bcast_hw_node_mapped(void);

#endif /* BCAST_HW_NODE_GLUE_H_INCLUDED */
