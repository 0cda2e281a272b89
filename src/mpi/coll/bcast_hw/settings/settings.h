/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * settings: what the user has set, in one struct. entry/settings.c fills it from the control
 * variables MPIR_CVAR_HWMC_* when MPI starts and after MPI_T has written one; everybody else reads
 * it. runner, tune and debug are what the strings MPIR_CVAR_HWMC_ALGORITHMS, _TUNE and _DEBUG say:
 * keys.h.
 */

#ifndef HWMC_SETTINGS_SETTINGS_H_INCLUDED
#define HWMC_SETTINGS_SETTINGS_H_INCLUDED

#include <stdbool.h>

#include "../core/model/collective.h"

/* Values of enumerations are in the order of the control variables' choices: entry/cvars.c
 * asserts that. */
enum hwmc_set_fabric {
    HWMC_SET_FABRIC_AUTO,
    HWMC_SET_FABRIC_VERBS,
    HWMC_SET_FABRIC_UDP,
    HWMC_SET_FABRIC_NONE
};

enum hwmc_set_lane { HWMC_SET_LANE_AUTO, HWMC_SET_LANE_UCX, HWMC_SET_LANE_RC };

enum hwmc_set_integrity {
    HWMC_SET_INTEGRITY_CRC32C,
    HWMC_SET_INTEGRITY_OFF,
    HWMC_SET_INTEGRITY_KEYED
};

enum hwmc_set_repair { HWMC_SET_REPAIR_AUTO, HWMC_SET_REPAIR_PUSH, HWMC_SET_REPAIR_PULL };

enum hwmc_set_root_delay {
    HWMC_SET_ROOT_DELAY_NONE,
    HWMC_SET_ROOT_DELAY_FIXED,
    HWMC_SET_ROOT_DELAY_ADAPTIVE,
    HWMC_SET_ROOT_DELAY_RANDOM
};

enum hwmc_set_wait {
    HWMC_SET_WAIT_AUTO,
    HWMC_SET_WAIT_SPIN,
    HWMC_SET_WAIT_YIELD,
    HWMC_SET_WAIT_BLOCK
};

enum hwmc_set_thread { HWMC_SET_THREAD_OFF, HWMC_SET_THREAD_ON, HWMC_SET_THREAD_AUTO };

/* How a broadcast goes over the network. */
enum hwmc_set_net { HWMC_SET_NET_AUTO, HWMC_SET_NET_TWO_STAGE, HWMC_SET_NET_MULTILANE };

/* Who runs a collective over several hosts: words of ALGORITHMS, in the order of their table in
 * key_table.c. Those from the fourth on are a collective's own: of reductions hwmc's ways, in the
 * order of enum hwmc_reduce_kind, then DIRECT_REDUCE, of an allreduce "blocks"; of others DIRECT.
 * */
enum hwmc_set_runner {
    HWMC_SET_RUNNER_AUTO,
    HWMC_SET_RUNNER_HW,
    HWMC_SET_RUNNER_MPICH,
    HWMC_SET_RUNNER_RANGES,
    HWMC_SET_RUNNER_TREES,
    HWMC_SET_RUNNER_CHAIN,
    HWMC_SET_RUNNER_DIRECT_REDUCE,
    HWMC_SET_RUNNER_DIRECT = HWMC_SET_RUNNER_RANGES
};

/* Words of TUNE, in the order of their table in key_table.c. */
enum hwmc_set_copy {
    HWMC_SET_COPY_AUTO,
    HWMC_SET_COPY_NONE,
    HWMC_SET_COPY_XPMEM,
    HWMC_SET_COPY_CMA
};

enum hwmc_set_shape { HWMC_SET_SHAPE_AUTO, HWMC_SET_SHAPE_KNOMIAL, HWMC_SET_SHAPE_KARY };

/* Ways between processes. Strings are never NULL, and stay as long as the process; "": nothing is
 * said. */
struct hwmc_set_ways {
    const char *rails;
    const char *site;
    const char *network; /* its figures: select/network_text.h */
    enum hwmc_set_fabric fabric;
    enum hwmc_set_lane lane;
    enum hwmc_set_integrity integrity;
    bool resilient;
    bool apm;
    bool failover; /* rails that stop working in mid-run are left */
};

/* Collectives over the network. */
struct hwmc_set_net_collectives {
    enum hwmc_set_net bcast;
    enum hwmc_set_repair repair;
    enum hwmc_set_root_delay root_delay;
    int channels;
    int min_ranks;
    int memory;          /* MiB */
    int peer_timeout_ms; /* 0: none */
};

/* Collectives inside a host. Algorithms are those of shm/segment/params.h; -1: internal
 * selection. */
struct hwmc_set_shm {
    bool on;
    int memory;            /* MiB */
    const char *selection; /* a file; "": the one that is compiled in; "none": none */
    int barrier;           /* enum hwmc_shm_barrier_algorithm */
    int bcast;             /* enum hwmc_shm_bcast_algorithm */
    int reduce;            /* enum hwmc_shm_reduction_algorithm; of all reductions but ... */
    int allreduce;         /* ... of this one, where it is set */
};

#define HWMC_SET_PATH_ROOM 32

/* A field a key of MPIR_CVAR_HWMC_TUNE; key_table.c says what each means. */
struct hwmc_set_tune {
    int max_bytes;
    int setup_after, setup_ahead;
    bool prepare;
    bool persistent;
    bool trials;
    int sync_period;
    int fanout;
    int channel;
    int in_place;
    int direct;
    int leaders;
    int root_delay_us;
    int ttl;
    char groups[HWMC_SET_PATH_ROOM];
    int join_ms, probe_ms;
    int reprobe_ms, reprobe_max_ms;
    int segment, segment_max, window;
    bool rail_weight;
    int rail_lanes, site_lanes;
    char apm_path[HWMC_SET_PATH_ROOM];
    int rc_max_peers, rc_timeout;
    int suspect_ms;
    int no_memory_ms;
    int wait_yield_us;
    int shm_after;
    int shm_chunk, shm_inline, shm_piece, shm_shift;
    enum hwmc_set_copy shm_copy;
    int shm_copy_min, shm_nontemporal;
    enum hwmc_set_shape shm_shape;
    int shm_degree;
};

#define HWMC_SET_TEXT_ROOM 128

/* A field a key of MPIR_CVAR_HWMC_DEBUG. */
struct hwmc_set_debug {
    char fault[HWMC_SET_TEXT_ROOM];    /* fabric/fault.h of the netmod */
    char group[HWMC_SET_TEXT_ROOM];    /* address and UDP ports */
    char topology[HWMC_SET_TEXT_ROOM]; /* hwloc's words */
    char trace[HWMC_SET_TEXT_ROOM];    /* topics: core/base/trace.h */
    int near_rail;
};

struct hwmc_settings {
    bool enable; /* false: as if hwmc were not there */
    int verbose;
    const char *summary; /* "": none */
    enum hwmc_set_wait wait;
    enum hwmc_set_thread progress_thread;
    struct hwmc_set_ways ways;
    struct hwmc_set_net_collectives net;
    enum hwmc_set_runner runner[HWMC_COLL_LIMIT + 1]; /* over hosts, a key of ALGORITHMS each;
                                                      * the last: of those that say auto */
    struct hwmc_set_shm shm;
    struct hwmc_set_tune tune;
    struct hwmc_set_debug debug;
};

/* Who runs a collective over hosts. The first of these keys decides that does not say auto: its
 * own, that of its base (hwmc_coll_base), `all`. */
static inline enum hwmc_set_runner hwmc_settings_runner(const struct hwmc_settings *s,
                                                        enum hwmc_coll coll)
{
    while (coll != HWMC_COLL_LIMIT && s->runner[coll] == HWMC_SET_RUNNER_AUTO)
        coll = hwmc_coll_base(coll);
    return s->runner[coll];
}

/* The way that it names; not of AUTO. MPICH's choice for a vector form of alltoall is direct. */
static inline enum hwmc_way hwmc_settings_way(enum hwmc_coll coll, enum hwmc_set_runner runner)
{
    const bool reduces = coll == HWMC_COLL_REDUCE || coll == HWMC_COLL_ALLREDUCE;

    if (runner == HWMC_SET_RUNNER_DIRECT_REDUCE)
        return HWMC_WAY_DIRECT;
    if (runner == HWMC_SET_RUNNER_DIRECT && !reduces)
        return hwmc_coll_base(coll) == HWMC_COLL_LIMIT ? HWMC_WAY_DIRECT : HWMC_WAY_MPICH;
    return runner == HWMC_SET_RUNNER_MPICH ? HWMC_WAY_MPICH : HWMC_WAY_HWMC;
}

/* The way of a reduction that it names. */
static inline enum hwmc_reduce_kind hwmc_settings_reduce_kind(enum hwmc_set_runner runner)
{
    switch (runner) {
        case HWMC_SET_RUNNER_RANGES:
            return HWMC_REDUCE_RANGES;
        case HWMC_SET_RUNNER_TREES:
            return HWMC_REDUCE_TREES;
        case HWMC_SET_RUNNER_CHAIN:
            return HWMC_REDUCE_CHAIN;
        default:
            return HWMC_REDUCE_ANY;
    }
}

/* Of this process. Written in MPI_Init, and while a communicator is made; all of it is zero before
 * the first time. */
extern struct hwmc_settings hwmc_settings;

#endif /* HWMC_SETTINGS_SETTINGS_H_INCLUDED */
