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

#ifndef HWMC_COMM_SHM_H_INCLUDED
#define HWMC_COMM_SHM_H_INCLUDED

#include "comm.h"
#include "../shm/coll/bcast.h"
#include "../shm/segment/group.h"
#include "../shm/topo/levels.h"
#include "../shm/segment/op.h"
#include "../shm/segment/segment.h"
#include "../shm/topo/shape.h"

enum hwmc_shm_state {
    HWMC_SHM_SPREAD,   /* the ranks run on several hosts: all go to MPICH, but what hwmc sends
                           * between hosts */
    HWMC_SHM_PART,     /* so they do, and those of each host share a segment for what comes from
                           * others */
    HWMC_SHM_COUNTING, /* collectives go to MPICH until there have been enough */
    HWMC_SHM_OFF,      /* there is no segment: all go to MPICH */
    HWMC_SHM_ON,
    HWMC_SHM_BROKEN, /* a collective failed at this rank: each one answers so from then on */
};

/* Collectives that are selected for by themselves. */
enum hwmc_shm_kind {
    HWMC_SHM_KIND_BARRIER,
    HWMC_SHM_KIND_BCAST,
    HWMC_SHM_KIND_REDUCE,
    HWMC_SHM_KIND_ALLREDUCE,
    HWMC_SHM_KIND_GATHER,
    HWMC_SHM_KIND_ALLGATHER,
    HWMC_SHM_KIND_SCATTER,
    HWMC_SHM_KIND_ALLTOALL,
    HWMC_SHM_KIND_REDUCE_SCATTER,
    HWMC_SHM_KIND_SCAN,
    HWMC_SHM_KIND_NUM
};

/* Of those, the ones by an algorithm for reductions. */
static inline bool hwmc_shm_reduces(enum hwmc_shm_kind kind)
{
    return kind == HWMC_SHM_KIND_REDUCE || kind == HWMC_SHM_KIND_ALLREDUCE ||
           kind == HWMC_SHM_KIND_REDUCE_SCATTER;
}

/* By what a collective goes. */
struct hwmc_shm_choice {
    struct hwmc_shm_params params;
    enum hwmc_shm_shape shape; /* of the tree */
    uint32_t degree;
};

#define HWMC_SHM_TREES 16 /* kept; a power of 2 */

/* A tree from a root. */
struct hwmc_shm_kept {
    uint32_t degree; /* 0: none is kept here */
    enum hwmc_shm_shape shape;
    uint32_t root;
    struct hwmc_shm_tree tree; /* its children are below */
    uint16_t *children;        /* room for all ranks; NULL: not made yet */
};

struct hwmc_shm_csel;

struct hwmc_shm_comm {
    enum hwmc_shm_state state;
    uint64_t calls;      /* collectives while counting */
    bool crowded;        /* ranks share processors; alike on all of them, for selection */
    uint64_t stream_min; /* bytes: of its parameters, as the caches want it */
    int *
        mates; /* ranks of the communicator on this host, by their number in the group; NULL: all */
    int num_mates;
    struct hwmc_shm_segment segment;
    struct hwmc_shm_group group;
    struct hwmc_shm_levels levels;
    struct hwmc_shm_csel *csel; /* NULL: nothing says how to select; select/shm_csel.c */
    void *pruned;               /* MPICH's, what of it is for this number of ranks */
    struct hwmc_shm_choice last[HWMC_SHM_KIND_NUM]; /* of each kind, the last choice */
    MPI_Aint last_bytes[HWMC_SHM_KIND_NUM];         /* what it was for; -1: none was made */
    const struct hwmc_shm_choice *applied;          /* what the group has; of `last` */
    struct hwmc_shm_kept kept[HWMC_SHM_TREES];
};

/* Which node layer is to run this collective on `comm`; NULL: MPICH is. Sets *mpi_errno if it
 * cannot, as it is BROKEN. May make the segment, which all ranks take part in. */
struct hwmc_shm_comm *hwmc_shm_admit(MPIR_Comm *comm, int *mpi_errno);

/* The same for the collective of this name in MPICH's control variables; if these name an algorithm
 * of MPICH's it is to run it. */
#define HWMC_SHM_ADMIT(NAME, comm, mpi_errno)                                                      \
    (MPIR_CVAR_##NAME##_INTRA_ALGORITHM == MPIR_CVAR_##NAME##_INTRA_ALGORITHM_auto                 \
         ? hwmc_shm_admit(comm, mpi_errno)                                                         \
         : NULL)

/* What `comm` has of the node layer, made if it can be. */
struct hwmc_shm_comm *hwmc_shm_of_comm(MPIR_Comm *comm);

/* Makes the segment, of all ranks of `comm`, or on each host of n->mates: shm_setup.c. Leaves `n`
 * ON or PART if all ranks of `comm` have theirs, else OFF or SPREAD; BROKEN where messages for that
 * failed here, as it may have worked for others. MPICH's error code then, and where this rank could
 * not, as what the user gave to select by is wrong. */
int hwmc_shm_setup(struct hwmc_shm_comm *n, MPIR_Comm *comm);

/* The choice for a message of `bytes`, applied to the group. Of n until the next one. */
const struct hwmc_shm_choice *hwmc_shm_choose(struct hwmc_shm_comm *n, enum hwmc_shm_kind kind,
                                              MPI_Aint bytes);

/* The tree of a choice from `root`. Its children are kept until `n` is freed or another tree takes
 * their place, which it does not before the next collective. */
struct hwmc_shm_tree hwmc_shm_comm_tree(struct hwmc_shm_comm *n,
                                        const struct hwmc_shm_choice *choice, uint32_t root);

/* Steps until it is done, with MPICH's progress where it has to wait. MPICH's error code; after an
 * error the communicator's node layer is BROKEN. */
int hwmc_shm_wait(struct hwmc_shm_comm *n, struct hwmc_shm_op *op);

/* The MPI error that each collective on it has; MPI_SUCCESS unless `n` is BROKEN. */
int hwmc_shm_broken(const struct hwmc_shm_comm *n);

/* The MPI error of what a step returned; `n` is BROKEN unless the ranks are still in step. */
int hwmc_shm_failed(struct hwmc_shm_comm *n, int err);

/* This rank can take no further part: the others, who may wait for it, get an error. */
void hwmc_shm_fail(struct hwmc_shm_comm *n);

/* What this thread waits for in MPICH's progress is, or is not, in memory that others write to. */
void hwmc_shm_watch(bool memory);

/* The same with what a step returned, for set-up. */
int hwmc_shm_wait_until(struct hwmc_shm_comm *n, int (*step)(void *what), void *what);

/* For the counters: a collective ran here, or could have but for a segment; a segment came, or
 * went; a choice was made that is not the one before. */
void hwmc_shm_note_call(void);
void hwmc_shm_note_left(void);
void hwmc_shm_note_segment(bool more, size_t bytes);
void hwmc_shm_note_choice(enum hwmc_shm_kind kind, const struct hwmc_shm_params *params);

/* Bytes of the segments that this process has. */
size_t hwmc_shm_mapped(void);

#endif /* HWMC_COMM_SHM_H_INCLUDED */
