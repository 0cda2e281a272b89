/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The control variables, and those of their values that need no parsing. entry/settings.c does the
 * rest.
 */

#include "mpiimpl.h"
#include "settings.h"
#include "cvar_text.h"

/*
=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

categories :
    - name : HWMC
      description : Collectives by multicast with repair, and over shared memory

cvars:
    - name        : MPIR_CVAR_HWMC_ENABLE
      category    : HWMC
      type        : boolean
      default     : true
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        If false, MPICH works as if hwmc were not there: no collective is hwmc's, between hosts or
        inside one, no rail is opened, and a process waits as MPICH has it.

    - name        : MPIR_CVAR_HWMC_RAILS
      category    : HWMC
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        The network ports for multicast: names of interfaces or subnets, as eth0,eth1 or
        10.77.0.0/24 or fd77::/64, up to 8, separated by commas. Those in subnets that all hosts of
        a communicator share are used, in the order that rank 0 has them. Empty: every port that is
        up, is no bridge, has no address of its link alone where another has one of its own, and is
        not slower than a quarter of the fastest, that of the multicast route first; loopback when
        there is none. Without those that have one address on all hosts, or by which hosts do not
        reach each other.

    - name        : MPIR_CVAR_HWMC_FABRIC
      category    : HWMC
      type        : enum
      default     : auto
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : |-
        What multicasts.
        auto  - On each rail verbs if all processes with a port there can, and udp otherwise.
        verbs - Multicast of InfiniBand or RoCE v2, on rails where all can (hwmc_off_fabric).
        udp   - IP multicast.
        none  - Nothing: long broadcasts may go along trees over lanes, the others are MPICH's.

    - name        : MPIR_CVAR_HWMC_LANE
      category    : HWMC
      type        : enum
      default     : auto
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : |-
        What hwmc's lanes between two processes are.
        auto - UCX; with MPIR_CVAR_HWMC_RESILIENT rather rc, where the device migrates paths.
        ucx  - UCX, over whatever it has.
        rc   - Reliable connections of verbs where all have an RDMA device on a rail, else UCX.

    - name        : MPIR_CVAR_HWMC_RESILIENT
      category    : HWMC
      type        : boolean
      default     : false
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        If true, a rail that fails stops no program: broadcasts, point-to-point and one-sided
        operations travel over hwmc's own lanes, and what was under way on one that fails goes again
        over another rail's, in order and once. Off, MPICH's messages go over UCX's endpoints, which
        is faster, and fail or stop with them. Processes outside MPI_COMM_WORLD are not covered.

    - name        : MPIR_CVAR_HWMC_APM
      category    : HWMC
      type        : boolean
      default     : true
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        If true, reliable connections get an alternate path, to which the device migrates by itself
        when the path dies, where a trial at start-up shows that it does. False: a dead path is left
        in software.

    - name        : MPIR_CVAR_HWMC_INTEGRITY
      category    : HWMC
      type        : enum
      default     : crc32c
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : |-
        What hwmc's messages are checked by; process 0's choice is that of all.
        crc32c - A CRC in each: what the network spoils is dropped, and sent again.
        off    - Nothing beyond what the network itself checks.
        keyed  - An authentication code in each: what others send is dropped too. Needs libsodium.

    - name        : MPIR_CVAR_HWMC_SITE
      category    : HWMC
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        A name or number for where this process runs, alike on all processes that are near to each
        other. Trees are built inside a site, and a message goes from site to site once.

    - name        : MPIR_CVAR_HWMC_NETWORK
      category    : HWMC
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        What algorithm selection takes the network for, instead of what was measured when the job
        started: any of latency_us=L, mbit=B (of a rail), site_latency_us=L, loss_ppm=P,
        datagram_ns=T (a host's time for one), message_ns=T (for a short message), separated by
        commas; more in docs/tuning.md. What process 0 is told counts.
        With latency_us and mbit, and site_latency_us where there are sites, nothing is measured,
        and MPI_Init takes some ms less. hwmc_info --model shows what follows.

    - name        : MPIR_CVAR_HWMC_SELECTION
      category    : HWMC
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        A file of hwmc_tune's: by which algorithm a collective inside a host goes, for each number
        of ranks and message length, and who runs one over hosts. Empty: the one that hwmc comes
        with; none: none. Those of different processes must say the same.

    - name        : MPIR_CVAR_HWMC_BCAST_ALGORITHM
      category    : HWMC
      type        : string
      default     : auto
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : |-
        Algorithm of broadcasts, between hosts, inside a host, or of both as two_stage+tree.
        auto      - The fastest by the cost model (hwmc_info --model), MPICH's own among them.
        two_stage - Between hosts: multicast, then repair along a ring; trees between subnets.
        multilane - Between hosts: trees over the lanes of all rails, without multicast.
        treemm    - Inside a host: along a tree, the whole message at a time.
        ota       - Inside a host: all ranks copy from the root.
        g         - Inside a host: the root copies to all.
        ag        - Inside a host: each rank copies a piece from the root to all.
        tree      - Inside a host: along a tree, chunk by chunk; a chain with degree 1.

    - name        : MPIR_CVAR_HWMC_BARRIER_ALGORITHM
      category    : HWMC
      type        : string
      default     : auto
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : |-
        The algorithm of barriers inside a host.
        auto - Internal selection.
        ota  - One to all: rank 0 looks at all, and all look at rank 0.
        sig  - All set a bit in a word of rank 0, and look at it.
        tree - Up a tree, and down.
        pe   - Pairwise exchange.
        dis  - Dissemination; of several ways with shm_degree of MPIR_CVAR_HWMC_TUNE.

    - name        : MPIR_CVAR_HWMC_REDUCE_ALGORITHM
      category    : HWMC
      type        : string
      default     : auto
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : |-
        The algorithm of reductions inside a host.
        auto   - Internal selection.
        tree   - Up a tree, chunk by chunk; a chain with degree 1.
        ag     - Each rank combines a piece of all.
        treemm - Up a tree, the whole message at a time.
        each   - Each rank combines all of all, where all get the result; else as tree.

    - name        : MPIR_CVAR_HWMC_ALLREDUCE_ALGORITHM
      category    : HWMC
      type        : string
      default     : auto
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        The algorithm of MPI_Allreduce inside a host, of those of MPIR_CVAR_HWMC_REDUCE_ALGORITHM.
        auto: what that says.

    - name        : MPIR_CVAR_HWMC_ALGORITHMS
      category    : HWMC
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        Whether hwmc or MPICH runs each collective over hosts, but for broadcasts:
        allreduce=mpich,barrier=hw, or all=mpich. hwmc_info --cvars lists the keys. Where no key
        says so, the selection file or the cost model selects. Compared in MPI_Init.

    - name        : MPIR_CVAR_HWMC_REPAIR
      category    : HWMC
      type        : enum
      default     : auto
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : |-
        How lost multicast datagrams are repaired.
        auto - Pull, or push while many short broadcasts need a repair.
        push - Every rank forwards each fragment to its successor in the ring.
        pull - A rank forwards what its successor asks for.

    - name        : MPIR_CVAR_HWMC_ROOT_DELAY
      category    : HWMC
      type        : enum
      default     : none
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : |-
        How long a root waits before it multicasts.
        none     - Not at all.
        fixed    - As long as root_delay_us of MPIR_CVAR_HWMC_TUNE says.
        adaptive - A time that follows how many members missed the multicast.
        random   - Until one member, chosen at random, has joined the broadcast.

    - name        : MPIR_CVAR_HWMC_CHANNELS
      category    : HWMC
      type        : int
      default     : 16
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        How many broadcasts a root may be ahead of the slowest member of a communicator (1 to 64).

    - name        : MPIR_CVAR_HWMC_MIN_RANKS
      category    : HWMC
      type        : int
      default     : 2
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Communicators over several hosts with fewer ranks are left to MPICH, unless
        MPIR_CVAR_BCAST_INTRA_ALGORITHM is hw. Those on one host use shared memory
        (MPIR_CVAR_HWMC_SHM) whatever their size.

    - name        : MPIR_CVAR_HWMC_MEMORY
      category    : HWMC
      type        : int
      default     : 256
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        The bound (in MiB) on a process's channel memory, shared by all communicators: each that
        uses multicast has MPIR_CVAR_HWMC_CHANNELS channels of it. Channels are longer on fast
        networks, as long as half of it is free. A communicator for which it does not suffice does
        without multicast. Memory is taken from the system only as it is used.

    - name        : MPIR_CVAR_HWMC_SHM
      category    : HWMC
      type        : boolean
      default     : true
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Collectives of communicators whose ranks all run on one host go over memory that these
        share. Those for which MPICH's own algorithm is named, by its control variable or a
        selection file, do not.

    - name        : MPIR_CVAR_HWMC_SHM_MEMORY
      category    : HWMC
      type        : int
      default     : 256
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        The bound (in MiB) on the shared memory that a process uses, for all its communicators. One
        for which it does not suffice is left to MPICH.

    - name        : MPIR_CVAR_HWMC_WAIT
      category    : HWMC
      type        : enum
      default     : auto
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : |-
        What a process does while it waits for a message.
        auto  - Poll, and sleep after long; where others want the processor, yield, and sleep soon.
        spin  - Poll, as MPICH does without hwmc.
        yield - As auto, but never sleep.
        block - Sleep until one comes.

    - name        : MPIR_CVAR_HWMC_PROGRESS_THREAD
      category    : HWMC
      type        : enum
      default     : off
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : |-
        Whether a thread of hwmc's answers and passes messages on while the program computes.
        off   - No: who needs something of this process waits until it calls MPI again.
        on    - Yes.
        auto  - Where this process's host has more processors for it than the job has ranks there.

    - name        : MPIR_CVAR_HWMC_FAILOVER
      category    : HWMC
      type        : boolean
      default     : true
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        If true, a communicator leaves rails on which multicast stops working in mid-run, and takes
        them up when it works again; with none left its broadcasts go along trees. If false, what is
        lost is repaired for ever.

    - name        : MPIR_CVAR_HWMC_PEER_TIMEOUT_MS
      category    : HWMC
      type        : int
      default     : 120000
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        Milliseconds of silence after which a host has failed. A rank that waits in MPI_Bcast or
        MPI_Finalize probes the hosts of all members, on the rails that the broadcast needs; the
        error that names the host comes at most a quarter of this time later. Kernels answer the
        probes, so a process that computes or is stopped has not failed. 0: no limit.

    - name        : MPIR_CVAR_HWMC_VERBOSE
      category    : HWMC
      type        : int
      default     : 0
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        1: the first rank of a communicator says on standard error when it leaves rails or takes
        them up, or goes over to another repair or period of synchronization, and why. 2: every rank
        says so. 0: none does.

    - name        : MPIR_CVAR_HWMC_SUMMARY
      category    : HWMC
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Where rank 0 writes, in MPI_Finalize, what hwmc has counted in the job: one table of all
        counters that are not 0, with their sum over the ranks, the least, the most, and who had the
        most. stderr or 1: to standard error. Any other word: a file of this name, to which it is
        appended. json: before either: a line of JSON in place of the table. Empty or 0: nowhere.

    - name        : MPIR_CVAR_HWMC_TUNE
      category    : HWMC
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        Parameters for experts, as segment=8192,window=8. A value that holds commas stands in
        brackets. hwmc_info --cvars lists the keys with meaning, unit, default and value. Read by
        MPI_Init, and again when a communicator is made after MPI_T has written it. Keys that have
        to be alike on all processes are compared in MPI_Init.

    - name        : MPIR_CVAR_HWMC_DEBUG
      category    : HWMC
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        What is for tests and for finding faults, in the same form, as fault=[drop=5,seed=1]:
        hwmc_info --cvars lists the keys.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

/* The choices of a control variable are numbered as the enumeration of settings.h is. */
#define SAME(variable, word, set)                                                                  \
    _Static_assert((int) MPIR_CVAR_HWMC_##variable##_##word == (int) HWMC_SET_##set, #set)

SAME(FABRIC, auto, FABRIC_AUTO);
SAME(FABRIC, verbs, FABRIC_VERBS);
SAME(FABRIC, udp, FABRIC_UDP);
SAME(FABRIC, none, FABRIC_NONE);
SAME(LANE, auto, LANE_AUTO);
SAME(LANE, ucx, LANE_UCX);
SAME(LANE, rc, LANE_RC);
SAME(INTEGRITY, crc32c, INTEGRITY_CRC32C);
SAME(INTEGRITY, off, INTEGRITY_OFF);
SAME(INTEGRITY, keyed, INTEGRITY_KEYED);
SAME(REPAIR, auto, REPAIR_AUTO);
SAME(REPAIR, push, REPAIR_PUSH);
SAME(REPAIR, pull, REPAIR_PULL);
SAME(ROOT_DELAY, none, ROOT_DELAY_NONE);
SAME(ROOT_DELAY, fixed, ROOT_DELAY_FIXED);
SAME(ROOT_DELAY, adaptive, ROOT_DELAY_ADAPTIVE);
SAME(ROOT_DELAY, random, ROOT_DELAY_RANDOM);
SAME(WAIT, auto, WAIT_AUTO);
SAME(WAIT, spin, WAIT_SPIN);
SAME(WAIT, yield, WAIT_YIELD);
SAME(WAIT, block, WAIT_BLOCK);
SAME(PROGRESS_THREAD, off, THREAD_OFF);
SAME(PROGRESS_THREAD, on, THREAD_ON);
SAME(PROGRESS_THREAD, auto, THREAD_AUTO);

/* A copy of a variable's text, which MPI_T_finalize frees, and which stays from then on. `now` is
 * the copy of before, if there is one: others may hold it, so it is not freed. Sets *full where
 * there is no memory. */
static const char *keep_text(const char *now, const char *name, const char *value, bool *full)
{
    const char *text = hwmc_cvar_text(name, value), *kept;

    if (*text == '\0')
        return "";
    if (now && strcmp(now, text) == 0)
        return now;
    kept = MPL_strdup(text);
    *full = *full || !kept;
    return kept;
}

static void fill_ways(struct hwmc_set_ways *w, const struct hwmc_set_ways *now, bool *full)
{
    w->rails = keep_text(now->rails, "MPIR_CVAR_HWMC_RAILS", MPIR_CVAR_HWMC_RAILS, full);
    w->site = keep_text(now->site, "MPIR_CVAR_HWMC_SITE", MPIR_CVAR_HWMC_SITE, full);
    w->network = keep_text(now->network, "MPIR_CVAR_HWMC_NETWORK", MPIR_CVAR_HWMC_NETWORK, full);
    w->fabric = (enum hwmc_set_fabric) MPIR_CVAR_HWMC_FABRIC;
    w->lane = (enum hwmc_set_lane) MPIR_CVAR_HWMC_LANE;
    w->integrity = (enum hwmc_set_integrity) MPIR_CVAR_HWMC_INTEGRITY;
    w->resilient = MPIR_CVAR_HWMC_RESILIENT;
    w->apm = MPIR_CVAR_HWMC_APM;
    w->failover = MPIR_CVAR_HWMC_FAILOVER;
}

static void fill_net(struct hwmc_set_net_collectives *n)
{
    n->repair = (enum hwmc_set_repair) MPIR_CVAR_HWMC_REPAIR;
    n->root_delay = (enum hwmc_set_root_delay) MPIR_CVAR_HWMC_ROOT_DELAY;
    n->channels = MPIR_CVAR_HWMC_CHANNELS;
    n->min_ranks = MPIR_CVAR_HWMC_MIN_RANKS;
    n->memory = MPIR_CVAR_HWMC_MEMORY;
    n->peer_timeout_ms = MPIR_CVAR_HWMC_PEER_TIMEOUT_MS;
}

bool hwmc_cvars_fill(struct hwmc_settings *s)
{
    const struct hwmc_settings *now = &hwmc_settings;
    bool full = false;

    s->enable = MPIR_CVAR_HWMC_ENABLE;
    s->verbose = MPIR_CVAR_HWMC_VERBOSE;
    s->summary = keep_text(now->summary, "MPIR_CVAR_HWMC_SUMMARY", MPIR_CVAR_HWMC_SUMMARY, &full);
    s->wait = (enum hwmc_set_wait) MPIR_CVAR_HWMC_WAIT;
    s->progress_thread = (enum hwmc_set_thread) MPIR_CVAR_HWMC_PROGRESS_THREAD;
    fill_ways(&s->ways, &now->ways, &full);
    fill_net(&s->net);
    s->shm.on = MPIR_CVAR_HWMC_SHM;
    s->shm.memory = MPIR_CVAR_HWMC_SHM_MEMORY;
    s->shm.selection =
        keep_text(now->shm.selection, "MPIR_CVAR_HWMC_SELECTION", MPIR_CVAR_HWMC_SELECTION, &full);
    return !full;
}
