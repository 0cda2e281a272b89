/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * group: one rank's view of a group of ranks that share a segment: which collective it is in, how
 * far the others are as far as it knows, and how it reads their memory. The ranks call the same
 * collectives in the same order; each has one under way at a time. Not thread-safe.
 *
 * The progress of the others is a cached minimum of all ranks' finished serials, the floor. It is
 * read again only when it does not suffice: with K slots about once in K collectives. The scan
 * stays at the first rank that is not far enough, so that waiting costs one load a poll.
 *
 * States:  init -> joining -> (join answers OK) -> in use -> fini
 */
#ifndef HWMC_SHM_SEGMENT_GROUP_H_INCLUDED
#define HWMC_SHM_SEGMENT_GROUP_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../copy/copy.h"
#include "params.h"
#include "segment.h"
#include "mismatch.h"
#include "../topo/tree.h"

#define HWMC_SHM_ANYONE UINT32_MAX

struct hwmc_shm_group {
    struct hwmc_shm_segment *segment;
    uint32_t rank; /* of this one */
    uint32_t size; /* 1 to RANKS_MAX */
    struct hwmc_shm_params params;
    uint32_t buffers; /* used of each rank's, a power of 2; by params */
    size_t stride;    /* bytes from where a chunk begins in one to where it does in the next */
    uint32_t extent;  /* of a buffer, so many bytes from where a chunk begins are used */
    const struct hwmc_shm_copy *copy; /* NULL: no single copy */
    struct hwmc_shm_peer *peers;      /* by rank, for `copy` */

    uint64_t serial;   /* of the last collective that was begun; 0: none was */
    uint64_t finished; /* of the last that was finished: serial or serial - 1 */
    uint64_t floor;    /* all ranks have finished this one; <= finished */
    uint32_t scan;     /* the ranks below this one have finished at least scan_low */
    uint64_t scan_low;

    uint64_t
        chunks; /* put into this rank's buffers so far: the next goes to buffer `chunks` mod their
                      * number */
    uint64_t used[HWMC_SHM_BUFFERS_MAX]; /* by buffer: serial that used it last; 0: none did */

    uint64_t told;          /* stores so far that others may wait for */
    uint64_t rung;          /* of them, those before the last call of wakeup_ring */
    uint64_t rung_finished; /* `finished` then */
    uint32_t awaits;        /* the rank whose next store alone the last step waits for; ANYONE */
    uint32_t listens_to;    /* ... when this rank said that it would sleep */

    uint64_t methods; /* while joining: those that work as far as is known */
    uint32_t joined;  /* ranks that were looked at in this part of joining */
    bool judged;      /* all cards were seen */

    struct hwmc_shm_mismatch mismatch;

    /* 0 to size - 1, twice: from r + 1 on stand all ranks but r. */
    uint16_t *ring;
};

/* Becomes rank `rank` of the segment's ranks, the only one to write to its block. `methods`: the
 * set of single copy that may be tried. The segment is borrowed until fini; the group does not move
 * until then. ERR_INVAL: the parameters do not fit the layout; ERR_NOMEM. */
int hwmc_shm_group_init(struct hwmc_shm_group *g, struct hwmc_shm_segment *segment, uint32_t rank,
                        uint64_t methods, const struct hwmc_shm_params *params);

/* Gives back what the group has made; nothing where it has not begun, and is all zero. */
void hwmc_shm_group_fini(struct hwmc_shm_group *g);

/* All ranks call this until it answers OK: finds the first method of single copy by which every
 * rank can read every other's memory. AGAIN until all have come. */
int hwmc_shm_group_join(struct hwmc_shm_group *g);

/* This rank takes no part in the collective under way, nor in later ones: others need not wait for
 * it there. */
void hwmc_shm_group_fail(struct hwmc_shm_group *g);

/* Processes of the job, by rank. */
struct hwmc_shm_loss {
    uint32_t rank;   /* that cannot be reached ... */
    uint32_t finder; /* ... by this one */
};

/* Before it fails: that is why. */
void hwmc_shm_group_note_lost(struct hwmc_shm_group *g, const struct hwmc_shm_loss *loss);

/* A rank that has failed said so; `loss`: what it noted, in or before the collective under way. */
bool hwmc_shm_group_lost(const struct hwmc_shm_group *g, struct hwmc_shm_loss *loss);

/* Some rank takes no part in the collective under way here. One that failed in a later one has
 * finished this. To be asked now and then while waiting. */
bool hwmc_shm_group_failed(const struct hwmc_shm_group *g);

/* A step waits for a store of `rank` and for nothing else: it is not woken by others. AGAIN. */
static inline int hwmc_shm_group_await(struct hwmc_shm_group *g, uint32_t rank)
{
    g->awaits = rank;
    return HWMC_AGAIN;
}

/* New parameters, between the same two collectives on all ranks. ERR_INVAL: they do not fit. */
int hwmc_shm_group_set(struct hwmc_shm_group *g, const struct hwmc_shm_params *params);

/* In the collective that begins, alike on all ranks, a chunk takes `extent` bytes of a buffer. */
void hwmc_shm_group_lay(struct hwmc_shm_group *g, uint32_t extent);

/* Every rank has finished collective `serial`, and all that it did there is seen from here. */
bool hwmc_shm_group_all_finished(struct hwmc_shm_group *g, uint64_t serial);

/* The lines of the collective under way may be opened: the run-ahead bound. */
static inline bool hwmc_shm_group_may_open(struct hwmc_shm_group *g)
{
    uint32_t slots = g->segment->layout.slots;

    return g->serial <= g->floor + slots || hwmc_shm_group_all_finished(g, g->serial - slots);
}

/* Nothing is under way: the next collective may begin, also after an error. */
static inline bool hwmc_shm_group_in_step(const struct hwmc_shm_group *g)
{
    return g->finished == g->serial;
}

/* Memory of `peer`: see shm/copy/copy.h. ERR_INVAL, NULL where there is no method: a rank that does
 * not call the same may show an address. */
const void *hwmc_shm_group_at(const struct hwmc_shm_group *g, uint32_t peer, uint64_t from,
                              size_t bytes);
int hwmc_shm_group_get(const struct hwmc_shm_group *g, uint32_t peer, void *to, uint64_t from,
                       size_t bytes);
int hwmc_shm_group_put(const struct hwmc_shm_group *g, uint32_t peer, uint64_t to, const void *from,
                       size_t bytes);

/* All other ranks are children of the root. */
static inline struct hwmc_shm_tree hwmc_shm_group_star(const struct hwmc_shm_group *g,
                                                       uint32_t root)
{
    return (struct hwmc_shm_tree){
        .parent = (uint16_t) root,
        .num_children = (uint16_t) (g->rank == root ? g->size - 1 : 0),
        .children = &g->ring[root + 1],
    };
}

/* Asserts what is written above. */
void hwmc_shm_group_check(const struct hwmc_shm_group *g);

#endif /* HWMC_SHM_SEGMENT_GROUP_H_INCLUDED */
