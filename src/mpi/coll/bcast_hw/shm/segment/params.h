/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * params: the algorithms of collectives inside a host (Velamati et al. 2007, sections 3.2 to 3.4),
 * and their parameters. All ranks of a group have the same.
 */
#ifndef HWMC_SHM_SEGMENT_PARAMS_H_INCLUDED
#define HWMC_SHM_SEGMENT_PARAMS_H_INCLUDED

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

/* Algorithm, name, what it does. */
#define HWMC_SHM_BARRIERS(X)                                                                       \
    X(OTA, ota, "rank 0 looks at all, and all at rank 0")                                          \
    X(SIG, sig, "all set their bit in a word of rank 0, and look at it")                           \
    X(TREE, tree, "up a tree, and down")                                                           \
    X(PE, pe, "exchange with the partner in each dimension of a hypercube")                        \
    X(DIS, dis,                                                                                    \
      "dissemination: each waits for w that are multiples of (w + 1)^i before, in phase i")

#define HWMC_SHM_BCASTS(X)                                                                         \
    X(TREEMM, treemm, "along a tree, from memory to memory, the whole message at a time")          \
    X(OTA, ota, "all take the message from the root")                                              \
    X(G, g, "the root gives the message to all")                                                   \
    X(AG, ag, "each rank takes a piece from the root and gives it to all")                         \
    X(TREE, tree, "along a tree, chunk by chunk; a chain is a tree of degree 1")

#define HWMC_SHM_REDUCTIONS(X)                                                                     \
    X(TREE, tree, "up a tree, chunk by chunk; a chain is a tree of degree 1")                      \
    X(AG, ag, "each rank combines a piece of all and gives it to the root")                        \
    X(TREEMM, treemm, "up a tree, from memory to memory, the whole message at a time")             \
    X(EACH, each, "each rank combines what all show, where all get the result; else as tree")

enum hwmc_shm_barrier_algorithm {
#define X(id, name, text) HWMC_SHM_BARRIER_##id,
    HWMC_SHM_BARRIERS(X)
#undef X
        HWMC_SHM_BARRIER_NUM
};

enum hwmc_shm_bcast_algorithm {
#define X(id, name, text) HWMC_SHM_BCAST_##id,
    HWMC_SHM_BCASTS(X)
#undef X
        HWMC_SHM_BCAST_NUM
};

enum hwmc_shm_reduction_algorithm {
#define X(id, name, text) HWMC_SHM_REDUCTION_##id,
    HWMC_SHM_REDUCTIONS(X)
#undef X
        HWMC_SHM_REDUCTION_NUM
};

/* The largest message that can travel with its metadata, bytes. */
#define HWMC_SHM_INLINE 976u

struct hwmc_shm_params {
    enum hwmc_shm_barrier_algorithm barrier;
    enum hwmc_shm_bcast_algorithm bcast;
    enum hwmc_shm_reduction_algorithm reduction;
    uint32_t ways;  /* barrier DIS: whom a rank waits for in a phase; 1 or more, the paper's: 1 */
    uint32_t chunk; /* bytes that go from rank to rank at a time; at most a buffer of the segment */
    uint32_t inline_max; /* bytes; up to this a message travels with its metadata; 0: never, at most
                          * INLINE */
    uint64_t copy_min;   /* bytes; from this on by single copy, where there is a method for it */
    uint64_t stream_min; /* bytes; from this on what ends a way through buffers is written past the
                          * caches */
    uint32_t
        copy_step; /* bytes; the most that one step copies by single copy where nobody waits for
                          * a part of it; 1 or more */
    uint32_t piece_min; /* bytes; AG: the least that a rank takes and gives; 1 or more */
    uint32_t
        shift; /* bytes; bcast OTA: rank i begins i * shift into the message, 0: all at its start */
};

/* What serves where nothing is known of the machine, for a segment with buffers of `chunk`
 * bytes. */
struct hwmc_shm_params hwmc_shm_params_default(uint32_t chunk);

/* The number of the algorithm that is called so; -1: none is. */
int hwmc_shm_barrier_named(const char *name);
int hwmc_shm_bcast_named(const char *name);
int hwmc_shm_reduction_named(const char *name);

/* Of an algorithm. */
const char *hwmc_shm_barrier_name(enum hwmc_shm_barrier_algorithm algorithm);
const char *hwmc_shm_bcast_name(enum hwmc_shm_bcast_algorithm algorithm);
const char *hwmc_shm_reduction_name(enum hwmc_shm_reduction_algorithm algorithm);

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

#endif /* HWMC_SHM_SEGMENT_PARAMS_H_INCLUDED */
