/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * relay: gather(v), scatter(v), alltoall(v, w) over hosts of several ranks, by their leaders: parts
 * of ranks for ranks. Of an alltoallv or -w over one rail mostly the short parts only (split.h).
 *
 *   lengths   where not all parts are alike, the ranks of each host tell their leader how long
 *             theirs are (shm/coll/gather)
 *   up        ... and give it what they have (likewise)
 *   across    leaders send each other the blocks of their hosts (op/relay_plan, op/moves)
 *   down      each rank gets from its leader what it is to have (shm/coll/scatter)
 *
 * What ranks of one host have for each other goes the same way, but not across. Of a gather only
 * the root's host goes down, of a scatter only that goes up; where the root leads its host it does
 * without.
 *
 * Memory: a leader has up to twice what the ranks of its host give and get together. Where all
 * parts are alike, as much of each goes in a round that the ranks of no host give more than
 * HWMC_RELAY_BYTES in it (or HWMC_RELAY_SLICE of each part): so it has four times that at most, and
 * each rank twice its share of it.
 */

#ifndef HWMC_ENTRY_RELAY_H_INCLUDED
#define HWMC_ENTRY_RELAY_H_INCLUDED

#include "spread.h"
#include "../op/moves.h"
#include "../op/relay_plan.h"
#include "../op/shm_stage.h"
#include "../shm/coll/gather.h"
#include "../shm/coll/scatter.h"

#define HWMC_RELAY_BYTES (UINT64_C(8) << 20) /* that the ranks of a host give in a round */
#define HWMC_RELAY_SLICE UINT64_C(64)        /* of each part, at least */

/* Parts in one piece, or copied to it. */
struct hwmc_relay_piece {
    unsigned char *memory;
    unsigned char *made; /* NULL: none is needed */
    uint64_t bytes;
};

struct hwmc_relay {
    struct hwmc_spread *spread;
    const struct hwmc_move *give, *get; /* by rank, 0 bytes of none; the caller's */
    int to_root, from_root;             /* of a gather, of a scatter; -1: it is none */
    uint64_t alike;                     /* all parts have so many bytes; UINT64_MAX: they differ */
    uint64_t slice;                     /* bytes of each part that go in a round */
    uint64_t round, rounds;
    uint64_t *lengths;                 /* of this rank, as of a mate in a plan */
    struct hwmc_relay_piece sent, got; /* of this rank, in the round */
    bool leads;
    struct hwmc_relay_plan plan; /* of a leader */
    struct hwmc_move *rows;      /* of a leader: for each host */
    struct hwmc_shm_gather up;
    struct hwmc_shm_scatter down;
    struct hwmc_shm_stage host_stage; /* of either */
    struct hwmc_moves across;
};

/* To give and get these parts, for `s`, whose communicator has leaders. `root`: of a gather if
 * `to_root`, else of a scatter; -1: of neither. `alike`: bytes of each part, known to all ranks;
 * UINT64_MAX: they differ. Returns MPICH's error code; on an error there is nothing to end. */
int hwmc_relay_begin(struct hwmc_relay *r, struct hwmc_spread *s, const struct hwmc_move *give,
                     const struct hwmc_move *get, int root, bool to_root, uint64_t alike);

/* The stages of the chain of `s`, and stage `i` (op/chain.h). */
uint32_t hwmc_relay_stages(const struct hwmc_relay *r);
struct hwmc_op_stage *hwmc_relay_stage(struct hwmc_relay *r, uint32_t i);

/* The chain is over: the parts are there if it has no error. */
void hwmc_relay_end(struct hwmc_relay *r);

#endif /* HWMC_ENTRY_RELAY_H_INCLUDED */
