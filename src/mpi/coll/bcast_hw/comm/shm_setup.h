/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * shm_setup: how the ranks of a communicator come to share a segment, as a machine that is stepped
 * and never waits: shm_setup.c.
 */

#ifndef HWMC_COMM_SHM_SETUP_H_INCLUDED
#define HWMC_COMM_SHM_SETUP_H_INCLUDED

#include "await.h"
#include "../shm/coll/bcast.h"
#include "../shm/segment/segment.h"
#include "../shm/topo/affinity.h"

/* What rank 0 tells, as integers. */
struct hwmc_shm_told {
    struct hwmc_shm_layout layout;
    char name[HWMC_SHM_NAME_MAX]; /* empty: there is no segment */
};

enum hwmc_shm_setup_state {
    HWMC_SHM_SETUP_BEGIN,
    HWMC_SHM_SETUP_TELL,
    HWMC_SHM_SETUP_AGREE,
    HWMC_SHM_SETUP_JOIN,
    HWMC_SHM_SETUP_PLACES,
    HWMC_SHM_SETUP_ENDED
};

struct hwmc_shm_setup {
    enum hwmc_shm_setup_state state;
    struct hwmc_messages messages;
    enum hwmc_shm_segment_kind kind;
    int rank, num;                    /* this rank among those that share the segment */
    int unusable;                     /* the MPI error of what the user gave to select by */
    struct hwmc_shm_affinity *places; /* where each runs; NULL: no memory */
    struct hwmc_shm_affinity *own;    /* of them, this rank's; NULL: it cannot take part */
    struct hwmc_shm_told told;
    int mine, all; /* bytes of a chunk; the least of all ranks. 0: one has no segment */
    int join;      /* what the last step of joining returned */
    uint32_t from; /* PLACES: whose place is under way */
    struct hwmc_shm_tree star;
    struct hwmc_shm_bcast bcast;
    struct hwmc_await_shm shm;
};

#endif /* HWMC_COMM_SHM_SETUP_H_INCLUDED */
