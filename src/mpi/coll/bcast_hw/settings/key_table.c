/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The keys of MPIR_CVAR_HWMC_ALGORITHMS, _TUNE and _DEBUG: what each means, and may say.
 */

#include "keys.h"

#include <limits.h>

#define AT(field) offsetof(struct hwmc_settings, field)

#define INT(field, alike, least, most, normal, unit, meaning)                                      \
    {                                                                                              \
#field, HWMC_KEY_INT, alike, AT(tune.field), least, most, normal, {NULL }, unit, meaning   \
    }
#define BOOL(field, alike, normal, meaning)                                                        \
    {                                                                                              \
#field, HWMC_KEY_BOOL, alike, AT(tune.field), 0, 1, normal, {NULL }, "", meaning           \
    }
#define WORD(field, alike, num, meaning, ...)                                                      \
    {                                                                                              \
#field, HWMC_KEY_WORD, alike, AT(tune.field), 0, (num) -1, 0, {__VA_ARGS__ }, "", meaning  \
    }
#define TEXT(field, at, alike, room, normal, meaning)                                              \
    {                                                                                              \
#field, HWMC_KEY_TEXT, alike, AT(at.field), 0, room, 0, {normal }, "", meaning             \
    }

#define RUNNER(COLL, name, num, meaning, ...)                                                      \
    {                                                                                              \
        name, HWMC_KEY_WORD, true, AT(runner[HWMC_COLL_##COLL]), 0, (num) -1, 0,                   \
            {"auto", "hw", "mpich", ##__VA_ARGS__}, "", meaning                                    \
    }

#define ALIKE true
#define LOCAL false
#define SECONDS_10 10000000 /* us */
#define MINUTES_10 600000   /* ms */

_Static_assert(sizeof(enum hwmc_set_copy) == sizeof(int) &&
                   sizeof(enum hwmc_set_shape) == sizeof(int) &&
                   sizeof(enum hwmc_set_runner) == sizeof(int),
               "words are kept as integers");

#define RUNS "auto: the fastest by the cost model (hwmc_info --model). hw: hwmc's. mpich: MPICH's."
#define REDUCES                                                                                    \
    RUNS " ranges: hwmc's along a tree of ranges of hosts. trees: along two trees, part by part; " \
         "not of an operation that does not commute. chain: along a chain, part by part."

#define BLOCKS " blocks: each host combines a block and multicasts it."
#define BLOCKING " Calls that do not block go as auto has it."
#define DIRECT                                                                                     \
    " direct: MPICH's by which each block is one message from process to process." BLOCKING
#define CHAINED " direct: along a chain of ranks, by MPICH's messages." BLOCKING

static const struct hwmc_key algorithm_keys[] = {
    RUNNER(LIMIT, "all", 3, RUNS " Of all collectives below that say auto."),
    RUNNER(BARRIER, "barrier", 3, RUNS),
    RUNNER(REDUCE, "reduce", 7, REDUCES DIRECT, "ranges", "trees", "chain", "direct"),
    RUNNER(ALLREDUCE, "allreduce", 7, REDUCES BLOCKS, "ranges", "trees", "chain", "blocks"),
    RUNNER(GATHER, "gather", 4, RUNS DIRECT " Also of gatherv.", "direct"),
    RUNNER(SCATTER, "scatter", 4, RUNS DIRECT " Also of scatterv.", "direct"),
    RUNNER(ALLGATHER, "allgather", 3, RUNS " Also of allgatherv."),
    RUNNER(ALLTOALL, "alltoall", 4, RUNS DIRECT, "direct"),
    RUNNER(ALLTOALLV, "alltoallv", 3, RUNS " auto, and alltoall says something else: that."),
    RUNNER(ALLTOALLW, "alltoallw", 3, RUNS " auto, and alltoallv says something else: that."),
    RUNNER(REDUCE_SCATTER, "reduce_scatter", 3, RUNS " Also of reduce_scatter_block."),
    RUNNER(SCAN, "scan", 4, RUNS CHAINED " Also of exscan.", "direct"),
};

static const struct hwmc_key tune_keys[] = {
    INT(max_bytes, ALIKE, -1, INT_MAX, -1, "bytes",
        "Longer messages are left to MPICH, unless MPIR_CVAR_BCAST_INTRA_ALGORITHM is hw. -1: "
        "those "
        "of any length are for algorithm selection."),
    INT(setup_after, ALIKE, -1, INT_MAX, -1, "broadcasts",
        "Broadcasts on a communicator before its multicast is set up. -1: 4, or until what hwmc "
        "would have saved, as the cost model has it, is what set-up costs; 0 where "
        "MPIR_CVAR_BCAST_INTRA_ALGORITHM is hw."),
    INT(setup_ahead, ALIKE, -1, INT_MAX, -1, "broadcasts",
        "Broadcasts that run by MPICH's algorithms while set-up is under way; a rank this far "
        "ahead "
        "of the slowest waits for it. -1: at most 16, and until all know the outcome or what hwmc "
        "would have saved meanwhile is what set-up costs; 0 where MPIR_CVAR_BCAST_INTRA_ALGORITHM "
        "is hw."),
    BOOL(prepare, ALIKE, 1,
         "1: the multicast of MPI_COMM_WORLD is set up from MPI_Init on, in the background, where "
         "each host has one rank and setup_after is -1."),
    BOOL(persistent, ALIKE, 1,
         "1: hwmc runs persistent collectives too. Each has shared memory or a multicast group of "
         "its own, which its first start sets up. 0: they are MPICH's."),
    BOOL(trials, ALIKE, 1,
         "1: some calls of a collective over hosts go by each way in turn, hwmc's and MPICH's, to "
         "find out which is the fastest, where no variable and no file says which way they go. "
         "0: they go as the cost model has it."),
    INT(sync_period, ALIKE, 0, 64, 0, "broadcasts",
        "Broadcasts to a synchronization that frees channels, at most MPIR_CVAR_HWMC_CHANNELS. 0: "
        "half of them to begin with, then one to three quarters, as fast as broadcasts follow each "
        "other."),
    INT(fanout, ALIKE, 1, 16, 4, "ranks",
        "Children of a rank in the tree that set-up and synchronization use."),
    INT(channel, ALIKE, 0, 1 << 28, 0, "bytes",
        "The most a channel holds. Longer messages go as several broadcasts, pipelined. 0: 65536, "
        "or what all channels need to hold twice bandwidth times round trip."),
    INT(in_place, LOCAL, 0, INT_MAX, 65536, "bytes",
        "Messages up to this are copied to and from the channels. Longer ones that lie in one "
        "piece "
        "are sent from the program's memory and placed there, and only what not all members have "
        "when MPI_Bcast returns is copied."),
    INT(direct, LOCAL, 0, 1, 1, "",
        "1: over verbs with one rail, adapters put payloads of messages longer than in_place, from "
        "their second window on, into the program's memory; on all ranks or on none. 0: no."),
    INT(leaders, ALIKE, 1, 8, 4, "ranks",
        "How many ranks of a host hand their own broadcasts to the network themselves. The others "
        "give them to the first of these. Each needs channels of its own."),
    INT(root_delay_us, LOCAL, 0, SECONDS_10, 50, "us",
        "How long a root waits with MPIR_CVAR_HWMC_ROOT_DELAY=fixed."),
    INT(ttl, ALIKE, 1, 255, 1, "hops",
        "How far multicast by UDP goes: 1 stays in a subnet, and each router takes one away. With "
        "2 "
        "or more a network that MPIR_CVAR_HWMC_RAILS names is one rail, of all subnets inside."),
    TEXT(groups, tune, ALIKE, HWMC_SET_PATH_ROOM, "239.192.0.0/14",
         "The multicast addresses of which groups are drawn, as the routers and the firewalls "
         "of a network have a scope for. Few are enough, since messages name their job too. IPv6: "
         "ff1S::/16, S being the scope; by default ff15::/16. With a + between: one of each."),
    INT(join_ms, ALIKE, 1, MINUTES_10, 5000, "ms",
        "The part of set-up that joining the multicast group may take, or the communicator does "
        "without multicast. InfiniBand's subnet manager is asked for it; IP multicast joins at "
        "once."),
    INT(probe_ms, ALIKE, 1, MINUTES_10, 250, "ms",
        "The part of set-up in which a multicast probe must have come, or the communicator does "
        "without multicast."),
    INT(reprobe_ms, ALIKE, 1, INT_MAX, 100, "ms",
        "The pause after which a rail that was left is probed; then twice that, and so on."),
    INT(reprobe_max_ms, ALIKE, 1, INT_MAX, 60000, "ms",
        "The longest pause between probes of a rail that was left."),
    INT(segment, ALIKE, 1, 1 << 28, 8192, "bytes",
        "The pieces that a message along trees is passed on in."),
    INT(segment_max, ALIKE, 1, 1 << 28, 1 << 20, "bytes",
        "Up to this long they get with the message where the network carries more than 2.5 Gbit/s; "
        "not, if segment is longer."),
    INT(window, ALIKE, 0, 1 << 20, 0, "segments",
        "How many segments of a tree a rank takes from its parent ahead of what has come. More "
        "fill "
        "a longer line; fewer wait in hosts and switches. 0: 8, or twice bandwidth times round "
        "trip."),
    BOOL(rail_weight, ALIKE, 1,
         "1: what a rail carries of a message along trees follows how late it brings its segments, "
         "for each pair of ranks. 0: it follows the speeds that were measured when the job "
         "started."),
    INT(rail_lanes, ALIKE, 1, 4, 1, "lanes",
        "Lanes (connections to a peer) over each rail, for broadcasts along trees. With one rail "
        "and one lane those go over the lane that serves repair."),
    INT(site_lanes, ALIKE, 1, 4, 4, "lanes",
        "The same between sites (MPIR_CVAR_HWMC_SITE), where one connection may not fill the "
        "line."),
    TEXT(
        apm_path, tune, LOCAL, HWMC_SET_PATH_ROOM, "auto",
        "Which of its ports and LIDs this process offers for alternate paths; a path is what both "
        "ends offer. auto: another port of the device, else another LID of the same port. port=N: "
        "the device's port N, and no other. port=same: the rail's own port, by another of its LIDs "
        "(the subnet has to have LMC > 0). bits=B: the LID is the port's first plus B. Two of them "
        "as [port=same,bits=3]."),
    INT(rc_max_peers, LOCAL, 1, INT_MAX, 256, "peers",
        "Reliable connections of verbs that a process has at a time on each rail. Peers beyond "
        "that "
        "are served by UCX."),
    INT(rc_timeout, LOCAL, 1, 31, 12, "",
        "How long a reliable connection waits for an acknowledgement before it sends again, as the "
        "exponent t of 4.096 us * 2^t; a device may take four times that. With 12 a dead path is "
        "known within half a second."),
    INT(suspect_ms, ALIKE, 10, INT_MAX, 50, "ms",
        "The time without any acknowledgement from a peer after which its lanes are probed; and "
        "how "
        "much later than another a lane may answer before it is taken for dead."),
    INT(no_memory_ms, LOCAL, 0, INT_MAX, 5000, "ms",
        "How long a process may get no memory that UCX asks for again and again before the job "
        "ends "
        "with an error. 0: it may wait for ever. UCX must be allowed to complain: with "
        "UCX_LOG_LEVEL=fatal it says nothing."),
    INT(wait_yield_us, LOCAL, 0, INT_MAX, 1000, "us",
        "How long a waiting process whose processor others want gives it away between polls before "
        "it sleeps. It sleeps at once where others turn out to compute on it."),
    INT(shm_after, ALIKE, 0, INT_MAX, 4, "collectives",
        "Collectives on a communicator before its ranks share memory."),
    INT(shm_chunk, ALIKE, 0, INT_MAX, 0, "bytes",
        "What goes through shared memory at a time, a multiple of 64. 0: from the sizes of the "
        "caches."),
    INT(shm_inline, ALIKE, -1, INT_MAX, -1, "bytes",
        "Messages up to this travel with their metadata; 976 at most. -1: as many as fit."),
    WORD(shm_copy, ALIKE, 4,
         "How long messages inside a host are copied. auto: at once, by xpmem or else cma if that "
         "works between all ranks; else through shared memory. none: through shared memory. xpmem: "
         "XPMEM, if hwmc was built with it and it works. cma: cross-memory attach "
         "(process_vm_readv), if it works.",
         "auto", "none", "xpmem", "cma"),
    INT(shm_copy_min, ALIKE, -1, INT_MAX, -1, "bytes",
        "Messages from this on are copied at once from rank to rank where that works. -1: internal "
        "selection."),
    INT(shm_nontemporal, LOCAL, -1, INT_MAX, -1, "bytes",
        "Broadcasts and reductions from this on that go through shared memory are written past the "
        "caches where they arrive. -1: from half of a rank's share of the last-level cache on."),
    INT(shm_piece, ALIKE, 0, INT_MAX, 0, "bytes",
        "The least that a rank copies or combines for the others with algorithm ag. 0: internal "
        "selection."),
    INT(shm_shift, ALIKE, 0, INT_MAX, 0, "bytes",
        "With broadcast ota, how far into the message a rank begins after the rank before it."),
    WORD(shm_shape, ALIKE, 3,
         "The shape of trees inside a host. auto: internal selection. knomial: in each phase all "
         "that have the data serve k - 1 others each. kary: each serves k others.",
         "auto", "knomial", "kary"),
    INT(shm_degree, ALIKE, 0, INT_MAX, 0, "ranks",
        "Degree of trees inside a host; 1 is a chain. Of barrier dis, for how many a rank waits at "
        "a time. 0: internal selection."),
};

static const struct hwmc_key debug_keys[] = {
    TEXT(fault, debug, LOCAL, HWMC_SET_TEXT_ROOM, "",
         "Spoils the multicast datagrams that come. Any of drop=PCT, dup=PCT, corrupt=PCT, "
         "reorder=PCT, delay=PCT:USEC, after=N, until=N, seed=N, rank=R, as [drop=5,seed=1]."),
    TEXT(group, debug, ALIKE, HWMC_SET_TEXT_ROOM, "",
         "The multicast group of every communicator, and the UDP ports of which the first that is "
         "free on all hosts is used, as 239.192.1.2:50000 or [239.192.1.2:50000,50001]. Empty: "
         "drawn at random."),
    {"near_rail",
     HWMC_KEY_INT,
     LOCAL,
     AT(debug.near_rail),
     -1,
     7,
     -1,
     {NULL},
     "",
     "The rail, by its number in the job, that this process is near to, and to no other one, "
     "whatever the host's topology says. -1: what that says."},
    TEXT(topology, debug, ALIKE, HWMC_SET_TEXT_ROOM, "",
         "The host's topology in hwloc's words, as package:2 l3:2 l2:4 pu:2, instead of the true "
         "one."),
    TEXT(trace, debug, LOCAL, HWMC_SET_TEXT_ROOM, "",
         "Writes what machines do to standard error: some of bcast, epoch, setup, group, session, "
         "trial "
         "and failure, as [bcast,epoch], or all. docs/tracing.md."),
};

#define NUM(table) (sizeof(table) / sizeof((table)[0]))

_Static_assert(NUM(algorithm_keys) == HWMC_COLL_LIMIT + 1, "a key for each collective");
_Static_assert(NUM(algorithm_keys) + NUM(tune_keys) + NUM(debug_keys) <= HWMC_KEYS_MAX,
               "room for all keys");

static const struct {
    const char *variable;
    const struct hwmc_key *keys;
    size_t num;
} strings[] = {
    [HWMC_KEYS_ALGORITHMS] = {"MPIR_CVAR_HWMC_ALGORITHMS", algorithm_keys, NUM(algorithm_keys)},
    [HWMC_KEYS_TUNE] = {"MPIR_CVAR_HWMC_TUNE", tune_keys, NUM(tune_keys)},
    [HWMC_KEYS_DEBUG] = {"MPIR_CVAR_HWMC_DEBUG", debug_keys, NUM(debug_keys)},
};

const struct hwmc_key *hwmc_keys(enum hwmc_key_string string, size_t *num)
{
    *num = strings[string].num;
    return strings[string].keys;
}

const char *hwmc_keys_variable(enum hwmc_key_string string)
{
    return strings[string].variable;
}
