/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_reduce: barrier, reduce and allreduce over several hosts.
 *
 *   up       the ranks of each host combine at its leader (shm/coll/reduction)
 *   across   leaders combine at one of them (op/net_reduce)
 *   down     to all: that one broadcasts, between hosts and inside (op/bcast);
 *            to a root that does not lead its host: inside that
 *
 * An allreduce that is long goes by blocks (spread_blocks.h) after `up`, where that is faster.
 *
 * A barrier combines a byte.
 */

#ifndef HWMC_ENTRY_SPREAD_REDUCE_H_INCLUDED
#define HWMC_ENTRY_SPREAD_REDUCE_H_INCLUDED

#include "bcast_plan.h"
#include "call.h"
#include "spread_blocks.h"
#include "spread_up.h"
#include "../op/bcast.h"
#include "../op/net_reduce.h"

struct hwmc_spread_reduce {
    struct hwmc_spread spread;
    struct hwmc_combination x;
    unsigned char byte[2]; /* of a barrier: what it combines, and the result */
    uint64_t bytes;
    unsigned char *memory; /* made here: what has no place in the program's; NULL */
    const void *in;        /* what goes across, at a leader, */
    void *out;             /* ... and the result, at the member that gets it */
    struct hwmc_spread_up up;
    union {
        struct {
            struct hwmc_net_reduce across;
            struct hwmc_typed message;
            struct hwmc_bcast down;
        } tree;
        struct hwmc_spread_blocks blocks;
    } by;
};

/* A barrier: a reduction of a byte. */
void hwmc_spread_barrier_init(struct hwmc_spread_reduce *r);

/* With the arguments of MPI_Reduce; root -1: of MPI_Allreduce. */
void hwmc_spread_reduce_init(struct hwmc_spread_reduce *r, const void *sendbuf, void *recvbuf,
                             MPI_Aint count, MPI_Datatype datatype, MPI_Op op, int root);

/* With the arguments of calls inside hosts: as struct hwmc_host_kind (host_request.h). */
MPI_Aint hwmc_spread_of_barrier(const struct hwmc_call *c, const MPIR_Comm *comm,
                                struct hwmc_spread *s);
MPI_Aint hwmc_spread_of_reduce(const struct hwmc_call *c, const MPIR_Comm *comm,
                               struct hwmc_spread *s);
MPI_Aint hwmc_spread_of_allreduce(const struct hwmc_call *c, const MPIR_Comm *comm,
                                  struct hwmc_spread *s);

#endif /* HWMC_ENTRY_SPREAD_REDUCE_H_INCLUDED */
