/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread: one collective of a communicator that is spread over several hosts, as MPI knows it: its
 * arguments and, once it is begun, its stages (op/chain.h). The struct of each collective begins
 * with struct hwmc_spread; `..._spread_init` sets its arguments. Whoever runs it calls
 *
 *     goes     whether it goes over hosts by hwmc (spread_select.h); else MPICH has to run it;
 *              alike on all ranks
 *     begin    packs or finds buffers, and begins the chain
 *              now the caller steps s->chain.stage until it is over
 *     end      stores the result and frees what begin made
 *
 * Between hosts the members of the communicator's first leader group take part: one rank of each
 * host, or all ranks (comm/leader_group.h).
 *
 * Buffers, counts, datatypes and operations are the caller's, as in entry/call.h, and so is that
 * the struct does not move.
 */

#ifndef HWMC_ENTRY_SPREAD_H_INCLUDED
#define HWMC_ENTRY_SPREAD_H_INCLUDED

#include "mpiimpl.h"
#include "../comm/shm.h"
#include "../core/model/collective.h"
#include "../op/bcast.h"
#include "../op/chain.h"
#include "../op/moves.h"

struct hwmc_spread;
struct hwmc_combination;

struct hwmc_spread_ops {
    /* Whether it can go over hosts; NULL: it always can. */
    bool (*fits)(const struct hwmc_spread *s);
    /* Between hosts of several ranks, of what fits, where nobody says who runs it: it is faster
     * than MPICH's. `most`: ranks of the host that has most. NULL: the cost model says so
     * (core/model/collective.h). Alike on all ranks. */
    bool (*wins)(const struct hwmc_spread *s, uint32_t most);
    /* The leader group is ready. MPICH's error code; on an error there is nothing to end. */
    int (*begin)(struct hwmc_spread *s);
    /* Of what combines: what, and the elements of the result that come to this rank. NULL: it
     * combines nothing. */
    struct hwmc_combination *(*combines)(struct hwmc_spread *s, MPI_Aint *result);
    /* All of it by MPICH's own algorithm. MPICH's error code. */
    int (*by_mpich)(struct hwmc_spread *s);
    /* Directly (core/model/collective.h), of what `fits_directly`. MPICH's error code. Both NULL:
     * there is no such way. */
    int (*directly)(struct hwmc_spread *s);
    bool (*fits_directly)(const struct hwmc_spread *s);
    /* It is over, with this code of MPICH's. MPICH's error code: the one given, or the first that
     * was met. */
    int (*end)(struct hwmc_spread *s, int mpi_errno);
};

struct hwmc_spread {
    struct hwmc_chain chain;
    const struct hwmc_spread_ops *ops;
    MPIR_Comm *comm;
    struct hwmc_comm *c; /* that it carries */

    /* What selection goes by: struct hwmc_coll_case. */
    enum hwmc_coll coll;
    bool commutative;
    enum hwmc_tries tries;
    uint64_t length; /* bytes; HWMC_LENGTH_UNKNOWN where ranks do not know it alike */
    bool by_blocks;  /* of an allreduce that hwmc runs: spread_blocks.h */
    int root;        /* from which, or to which, all goes; negative: none */
};

/* MPICH's control variables name none of its algorithms for the collective of this name. */
#define HWMC_SPREADS(NAME)                                                                         \
    (MPIR_CVAR_##NAME##_INTRA_ALGORITHM == MPIR_CVAR_##NAME##_INTRA_ALGORITHM_auto)

/* Where a rank stands, once the leader group is ready. */

/* The host's shared memory; NULL: each rank takes part by itself. */
static inline struct hwmc_shm_host *hwmc_spread_host(const struct hwmc_spread *s)
{
    return s->c->by_hosts ? &s->c->shm->host : NULL;
}

/* How many take part between hosts. */
static inline uint32_t hwmc_spread_members(const struct hwmc_spread *s)
{
    return hwmc_leader_group_members(s->comm, s->c);
}

/* The member of the leader group that stands for `rank`. */
static inline uint32_t hwmc_spread_member(const struct hwmc_spread *s, int rank)
{
    return s->c->by_hosts ? s->c->leaders.host_of[rank] : (uint32_t) rank;
}

/* The one that stands for this rank. */
static inline uint32_t hwmc_spread_own_member(const struct hwmc_spread *s)
{
    return hwmc_spread_member(s, s->comm->rank);
}

/* The rank that is that member; and the number of this rank's leader inside the host. */
uint32_t hwmc_spread_leader(const struct hwmc_spread *s, uint32_t member);
uint32_t hwmc_spread_leader_number(const struct hwmc_spread *s);

/* This rank takes part between hosts. */
static inline bool hwmc_spread_leads(const struct hwmc_spread *s)
{
    return hwmc_spread_leader(s, hwmc_spread_own_member(s)) == (uint32_t) s->comm->rank;
}

/* Ranks of each host follow each other, and hosts too: what a tree of hosts combines is in the
 * order of ranks. */
bool hwmc_spread_in_order(const struct hwmc_spread *s);

/* It has failed inside this rank's host, whose segment is of no use then. A leader lets the other
 * hosts know. */
static inline bool hwmc_spread_failed_in_host(const struct hwmc_spread *s)
{
    return s->chain.stage.err != HWMC_OK && s->chain.stage.in_host;
}

/* The host can have no more stages: some rank has left them, and the others see it. Lengths that
 * disagree in a gather, scatter or broadcast are no reason. */
static inline bool hwmc_spread_lost_host(const struct hwmc_shm_host *n)
{
    return hwmc_shm_group_failed(&n->group) || !hwmc_shm_group_in_step(&n->group);
}

/* Instead of a stage inside the host: `stage`, which is over with this error. None follows. */
struct hwmc_op_stage *hwmc_spread_leave_host(struct hwmc_shm_host *n, struct hwmc_op_stage *stage,
                                             enum hwmc_err err);

/* The plans of exchanges (core/exchange/exchange.h). */
enum hwmc_spread_plan { HWMC_PLAN_USUAL, HWMC_PLAN_BLOCKS };

/* Begins moves between the members of the leader group. */
void hwmc_spread_begin_moves(struct hwmc_spread *s, struct hwmc_moves *moves,
                             const struct hwmc_move *in, uint32_t num_in,
                             const struct hwmc_move *out, uint32_t num_out,
                             enum hwmc_spread_plan plan);

/* Lengths disagreed between hosts, and the last stage lets the ranks of this one know: they stay in
 * step, so their shared memory stays of use. */
static inline void hwmc_spread_keep_host(struct hwmc_spread *s)
{
    if (s->chain.stage.err == HWMC_ERR_INVAL)
        s->chain.stage.in_host = true;
}

/* Completes the plan of a broadcast inside a host, of cfg->buffer, from the leader to all. */
void hwmc_spread_plan_host(const struct hwmc_spread *s, struct hwmc_shm_host *n,
                           struct hwmc_bcast_cfg *cfg);

/* Begins the way inside the host, as `down`, of what its leader has at `memory`, to all others.
 * After an error the leader has no bytes, so they end with an error too. NULL: it is alone in its
 * host, or that is lost. */
struct hwmc_op_stage *hwmc_spread_begin_down(struct hwmc_spread *s, struct hwmc_bcast *down,
                                             void *memory, uint64_t bytes);

/* Bytes of the parts of `num` ranks, at the mean. `counts`, elements of `type`; NULL: all have
 * `count`. */
uint64_t hwmc_spread_mean(const MPI_Aint *counts, MPI_Aint count, int num, MPI_Datatype type);

/* For who does not wait, once the communicator is known to be ready: begins the chain. MPICH's
 * error code; on an error there is nothing to end. s->comm and s->c are set. */
int hwmc_spread_begin(struct hwmc_spread *s);

/* The chain is over: ends it, counts it, and returns MPICH's error code. */
int hwmc_spread_end(struct hwmc_spread *s, int mpi_errno);

/* All of it, for who waits: likewise. */
int hwmc_spread_run(struct hwmc_spread *s);

#endif /* HWMC_ENTRY_SPREAD_H_INCLUDED */
