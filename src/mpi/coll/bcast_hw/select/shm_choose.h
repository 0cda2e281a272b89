/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * shm_choose: algorithm, tree and lengths of a collective inside a host: from control variables,
 * the selection file (select/shm_csel), or defaults. The same on every rank.
 */

#ifndef HWMC_SELECT_SHM_CHOOSE_H_INCLUDED
#define HWMC_SELECT_SHM_CHOOSE_H_INCLUDED

#include "mpiimpl.h"
#include "../shm/segment/group.h"
#include "../shm/segment/op.h"
#include "../shm/segment/params.h"
#include "../shm/segment/segment.h"
#include "../shm/topo/levels.h"
#include "../shm/topo/shape.h"

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

/* What ranks of a communicator that run on one host share, and how they use it. */
struct hwmc_shm_host {
    bool part; /* some of the communicator's ranks run on other hosts */
    /* PART: the MPI error of a host that this rank knows to be lost, or MPI_SUCCESS. A rank that
     * waits inside its host asks: what it waits for may never come. */
    int (*lost)(const void *of);
    const void *of;
    bool broken;          /* a collective failed at this rank: each one does so from then on */
    bool crowded;         /* ranks share processors; alike on all of them, for selection */
    uint64_t stream_min;  /* bytes: of its parameters, as the caches want it */
    uint32_t chunk_least; /* bytes of a chunk, the least of all hosts of the communicator */
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

/* Nothing chosen yet, of memory that is zero; frees what choices keep. */
void hwmc_shm_choose_begin(struct hwmc_shm_host *n);
void hwmc_shm_choose_end(struct hwmc_shm_host *n);

/* The choice for a message of `bytes`, applied to the group. Of n until the next one. */
const struct hwmc_shm_choice *hwmc_shm_choose(struct hwmc_shm_host *n, enum hwmc_shm_kind kind,
                                              MPI_Aint bytes);

/* The tree of a choice from `root`. Its children are kept until `n` is freed or another tree takes
 * their place, which it does not before the next collective. */
struct hwmc_shm_tree hwmc_shm_comm_tree(struct hwmc_shm_host *n,
                                        const struct hwmc_shm_choice *choice, uint32_t root);

#endif /* HWMC_SELECT_SHM_CHOOSE_H_INCLUDED */
