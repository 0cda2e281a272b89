/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_moves: gather, scatter, allgather, all-to-all and reduce-scatter over several hosts.
 *
 * One rank a host: every rank sends each other one what that is to have (op/moves.h). Rank r hears
 * r - 1 first, then r - 2, ...; so each is heard by one, or two, at a time. An allgather may
 * multicast (spread_all.h). Several ranks a host: leaders move parts for their hosts (relay.h,
 * share.h). All but an allgather may go directly (direct.h), an all-to-all of parts that are not
 * alike in part (split.h).
 *
 * A reduce-scatter has all operands of a host's part come, and combines them in the order of hosts.
 * Several ranks a host combine at their leader first (shm/coll/reduction), and get their parts from
 * it (shm/coll/scatter); the ranks of hosts are to follow each other.
 */

#ifndef HWMC_ENTRY_SPREAD_MOVES_H_INCLUDED
#define HWMC_ENTRY_SPREAD_MOVES_H_INCLUDED

#include "call.h"
#include "combination.h"
#include "spread_all.h"
#include "spread_apart.h"
#include "spread_up.h"
#include "relay.h"
#include "share.h"
#include "vbuf.h"

/* Who sends to whom. */
enum hwmc_pattern {
    HWMC_PATTERN_TO_ROOT,   /* gather */
    HWMC_PATTERN_FROM_ROOT, /* scatter */
    HWMC_PATTERN_SAME,      /* allgather: to all the same */
    HWMC_PATTERN_EACH       /* all-to-all: to each its part */
};

struct hwmc_spread_moves {
    struct hwmc_spread spread;
    enum hwmc_pattern pattern;
    struct hwmc_vbuf in;      /* what this rank sends: one part, or one for each */
    struct hwmc_vbuf out;     /* what it receives */
    bool split;               /* of two all-to-alls: parts without elements are no part of it */
    char *copy;               /* of `out`, where an all-to-all is in place; NULL */
    struct hwmc_move *rows;   /* two for each rank */
    struct hwmc_turn *blocks; /* HWMC_PATTERN_SAME: one for each rank, behind the rows */
    union {
        struct hwmc_moves each;    /* one rank a host */
        union hwmc_spread_all all; /* one rank a host, HWMC_PATTERN_SAME */
        struct hwmc_relay relay;
        struct hwmc_share share; /* HWMC_PATTERN_SAME */
    } by;
};

/* `in` and `out` as the calls inside hosts have them (gather.h, scatter.h); what this rank does not
 * send, or receive, is not looked at. `in`, or `out` of a scatter, may be MPI_IN_PLACE. Runs it if
 * it is hwmc's: as hwmc_spread_take. */
bool hwmc_spread_move(enum hwmc_pattern pattern, const struct hwmc_vbuf *in,
                      const struct hwmc_vbuf *out, int root, MPIR_Comm *comm, int *mpi_errno);

/* With the arguments of calls inside hosts: as struct hwmc_host_kind (host_request.h). */
MPI_Aint hwmc_spread_of_gather(const struct hwmc_call *c, const MPIR_Comm *comm,
                               struct hwmc_spread *s);
MPI_Aint hwmc_spread_of_scatter(const struct hwmc_call *c, const MPIR_Comm *comm,
                                struct hwmc_spread *s);
MPI_Aint hwmc_spread_of_alltoall(const struct hwmc_call *c, const MPIR_Comm *comm,
                                 struct hwmc_spread *s);
MPI_Aint hwmc_spread_of_reduce_scatter(const struct hwmc_call *c, const MPIR_Comm *comm,
                                       struct hwmc_spread *s);

struct hwmc_spread_scatter {
    struct hwmc_spread spread;
    struct hwmc_combination x;
    const MPI_Aint *counts; /* elements of each rank's part; NULL: all have `count` */
    MPI_Aint count;
    uint64_t bytes; /* of all parts */
    char *vector;   /* of a leader: what its host has of all parts; NULL: it is alone */
    struct hwmc_shm_range *blocks; /* of a leader: those of the members in all parts, */
    struct hwmc_shm_range *parts;  /* ... and of its mates, in the block of the host */
    struct hwmc_spread_up up;
    struct hwmc_shm_scatter down;
    struct hwmc_shm_stage down_stage;
    struct hwmc_spread_apart across;
};

/* MPI_Reduce_scatter and MPI_Reduce_scatter_block, likewise. */
bool hwmc_spread_reduce_scatter(const void *sendbuf, void *recvbuf, const MPI_Aint *counts,
                                MPI_Aint count, MPI_Datatype datatype, MPI_Op op, MPIR_Comm *comm,
                                int *mpi_errno);

#endif /* HWMC_ENTRY_SPREAD_MOVES_H_INCLUDED */
