/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_moves: gather, scatter, allgather, all-to-all and reduce-scatter over several hosts of one
 * rank each: every rank sends each other one what that is to have (op/moves.h). Rank r hears r - 1
 * first, then r - 2, ...; so each is heard by one, or two, at a time. In an allgather each rank
 * multicasts its part instead (op/turns.h), where that is faster (core/model/turns_way.h).
 *
 * A reduce-scatter has all operands of its part come, and combines them in the order of ranks.
 */

#ifndef HWMC_ENTRY_SPREAD_MOVES_H_INCLUDED
#define HWMC_ENTRY_SPREAD_MOVES_H_INCLUDED

#include "call.h"
#include "combination.h"
#include "spread.h"
#include "vbuf.h"
#include "../op/moves.h"
#include "../op/turns.h"

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
    int root;             /* < 0: all are */
    struct hwmc_vbuf in;  /* what this rank sends: one part, or one for each */
    struct hwmc_vbuf out; /* what it receives */
    char *copy;           /* of `out`, where an all-to-all is in place; NULL */
    void *rows;           /* of struct hwmc_move, or hwmc_turn */
    union {
        struct hwmc_moves moves;
        struct hwmc_turns turns;
    };
};

/* `in` and `out` as the calls inside hosts have them (gather.h, scatter.h); what this rank does not
 * send, or receive, is not looked at. `in`, or `out` of a scatter, may be MPI_IN_PLACE. Runs it if
 * it is hwmc's: as hwmc_spread_take. */
bool hwmc_spread_move(enum hwmc_pattern pattern, const struct hwmc_vbuf *in,
                      const struct hwmc_vbuf *out, int root, MPIR_Comm *comm, int *mpi_errno);

/* For collectives of this kind. Each rank takes part by itself. Begins the moves. */
bool hwmc_spread_each_alone(const struct hwmc_spread *s);
void hwmc_spread_begin_moves(struct hwmc_spread *s, struct hwmc_moves *moves,
                             const struct hwmc_move *in, uint32_t num_in,
                             const struct hwmc_move *out, uint32_t num_out);

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
    char *operands; /* of this rank's part, in the order of ranks; its own stays where it is */
    struct hwmc_move *rows;
    struct hwmc_moves moves;
};

/* MPI_Reduce_scatter and MPI_Reduce_scatter_block, likewise. */
bool hwmc_spread_reduce_scatter(const void *sendbuf, void *recvbuf, const MPI_Aint *counts,
                                MPI_Aint count, MPI_Datatype datatype, MPI_Op op, MPIR_Comm *comm,
                                int *mpi_errno);

#endif /* HWMC_ENTRY_SPREAD_MOVES_H_INCLUDED */
