/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Which broadcasts hwmc takes.
 *
 * Every rank must answer alike. So the answer depends only on what all ranks of a communicator know
 * alike: control variables, message bytes, the communicator's members and their hosts, and the
 * state of its first leader group (leader_group.h).
 */

#include "comm.h"
#include "../process/hosts.h"
#include "../process/mpich.h"
#include "../process/process.h"
#include "../select/choose.h"

/*
=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

categories :
    - name : BCAST_HW
      description : Broadcast by the network's own multicast, with repair

cvars:
    - name        : MPIR_CVAR_BCAST_HW_ENABLE
      category    : BCAST_HW
      type        : boolean
      default     : true
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        If false, hwmc takes no broadcast between hosts unless MPIR_CVAR_BCAST_INTRA_ALGORITHM is
        hw.

    - name        : MPIR_CVAR_BCAST_HW_ALGORITHM
      category    : BCAST_HW
      type        : enum
      default     : auto
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : |-
        Variable to select the algorithm of the broadcasts that hwmc takes
        auto      - The fastest by the cost model (hwmc_info --model), MPICH's own among them
        two_stage - Multicast, then repair along a ring
        multilane - Trees over the lanes of all rails, without multicast

    - name        : MPIR_CVAR_BCAST_HW_REPAIR
      category    : BCAST_HW
      type        : enum
      default     : auto
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : |-
        Variable to select how lost multicast datagrams are repaired
        auto - Pull, or push while many short broadcasts need a repair
        push - Every rank forwards each fragment to its successor in the ring
        pull - A rank forwards what its successor asks for

    - name        : MPIR_CVAR_BCAST_HW_MIN_RANKS
      category    : BCAST_HW
      type        : int
      default     : 4
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Communicators with fewer ranks, and those on one node, are left to MPICH, unless
        MPIR_CVAR_BCAST_INTRA_ALGORITHM is hw.

    - name        : MPIR_CVAR_BCAST_HW_MAX_BYTES
      category    : BCAST_HW
      type        : int
      default     : -1
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Longer messages (in bytes) are left to MPICH, unless MPIR_CVAR_BCAST_INTRA_ALGORITHM is hw.
        -1: those of any length are for algorithm selection.

    - name        : MPIR_CVAR_BCAST_HW_CHANNELS
      category    : BCAST_HW
      type        : int
      default     : 16
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        How many broadcasts a root may be ahead of the slowest member of a communicator (1 to 64).

    - name        : MPIR_CVAR_BCAST_HW_SYNC_PERIOD
      category    : BCAST_HW
      type        : int
      default     : 0
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Broadcasts to a synchronization that frees channels, 1 to MPIR_CVAR_BCAST_HW_CHANNELS.
        0: half of them to begin with, then one to three quarters, as fast as broadcasts follow each
        other.

    - name        : MPIR_CVAR_BCAST_HW_FANOUT
      category    : BCAST_HW
      type        : int
      default     : 4
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Children of a rank in the tree that set-up and synchronization use (1 to 16).

    - name        : MPIR_CVAR_BCAST_HW_PIECE_BYTES
      category    : BCAST_HW
      type        : int
      default     : 0
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        The most a channel holds (in bytes). Longer messages go as several broadcasts, pipelined.
        0: 65536, or what all channels need to hold twice bandwidth times round trip.

    - name        : MPIR_CVAR_BCAST_HW_SEGMENT_BYTES
      category    : BCAST_HW
      type        : int
      default     : 8192
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        The pieces (in bytes) that a message along trees is passed on in.

    - name        : MPIR_CVAR_BCAST_HW_SEGMENT_WINDOW
      category    : BCAST_HW
      type        : int
      default     : 0
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        How many segments of a tree a rank takes from its parent ahead of what has come. More fill
        a longer line; fewer wait in hosts and switches. 0: 8, or twice bandwidth times round trip.

    - name        : MPIR_CVAR_BCAST_HW_LANES_ADAPT
      category    : BCAST_HW
      type        : boolean
      default     : true
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        If true, what a rail carries of a message along trees follows how late it brings its
        segments, for each pair of ranks. If false, it follows the speeds that were measured when
        the job started.

    - name        : MPIR_CVAR_BCAST_HW_SITE
      category    : BCAST_HW
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        A name or number for where this process runs, alike on all processes that are near to each
        other. Trees are built inside a site, and a message goes from site to site once.

    - name        : MPIR_CVAR_BCAST_HW_NETWORK
      category    : BCAST_HW
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        What algorithm selection takes the network for, instead of what was measured when the job
        started: any of latency_us=L, mbit=B (of a rail), site_latency_us=L, loss_ppm=P,
        datagram_ns=T (a host's time for one), separated by commas. What process 0 is told counts.
        With latency_us and mbit, and site_latency_us where there are sites, nothing is measured,
        and MPI_Init takes some ms less. hwmc_info --model shows what follows.

    - name        : MPIR_CVAR_BCAST_HW_COPY_BYTES
      category    : BCAST_HW
      type        : int
      default     : 65536
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        Messages up to this (in bytes) are copied to and from the channels. Longer ones that lie in
        one piece are sent from the program's memory and placed there, and only what not all members
        have when MPI_Bcast returns is copied.

    - name        : MPIR_CVAR_BCAST_HW_MEMORY
      category    : BCAST_HW
      type        : int
      default     : 64
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        The bound (in MiB) on a process's channel memory, shared by all communicators: each that
        uses multicast has MPIR_CVAR_BCAST_HW_CHANNELS times MPIR_CVAR_BCAST_HW_PIECE_BYTES of it.
        A communicator for which it does not suffice does without multicast.

    - name        : MPIR_CVAR_BCAST_HW_ROOT_DELAY
      category    : BCAST_HW
      type        : enum
      default     : none
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : |-
        Variable to select how long a root waits before it multicasts
        none     - Not at all
        fixed    - MPIR_CVAR_BCAST_HW_ROOT_DELAY_US
        adaptive - A time that follows how many members missed the multicast
        random   - Until one member, chosen at random, has joined the broadcast

    - name        : MPIR_CVAR_BCAST_HW_ROOT_DELAY_US
      category    : BCAST_HW
      type        : int
      default     : 50
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        Microseconds that a root waits with MPIR_CVAR_BCAST_HW_ROOT_DELAY=fixed.

    - name        : MPIR_CVAR_BCAST_HW_SETUP_AFTER
      category    : BCAST_HW
      type        : int
      default     : -1
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Broadcasts on a communicator before its multicast is set up. -1: 4, or until what hwmc would
        have saved, as the cost model has it, is what set-up costs; 0 where
        MPIR_CVAR_BCAST_INTRA_ALGORITHM is hw.

    - name        : MPIR_CVAR_BCAST_HW_SETUP_AHEAD
      category    : BCAST_HW
      type        : int
      default     : -1
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Broadcasts that run by MPICH's algorithms while set-up is under way; a rank this far ahead
        of the slowest waits for it. -1: at most 16, and until all know the outcome or what hwmc
        would have saved meanwhile is what set-up costs; 0 where MPIR_CVAR_BCAST_INTRA_ALGORITHM is
        hw.

    - name        : MPIR_CVAR_BCAST_HW_PREPARE
      category    : BCAST_HW
      type        : boolean
      default     : true
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        If true, the multicast of MPI_COMM_WORLD is set up from MPI_Init on, in the background,
        where each host has one rank and MPIR_CVAR_BCAST_HW_SETUP_AFTER is -1.

    - name        : MPIR_CVAR_BCAST_HW_JOIN_MS
      category    : BCAST_HW
      type        : int
      default     : 5000
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Milliseconds of set-up that joining the multicast group may take, or the communicator does
        without multicast. InfiniBand's subnet manager is asked for it; IP multicast joins at once.

    - name        : MPIR_CVAR_BCAST_HW_PROBE_MS
      category    : BCAST_HW
      type        : int
      default     : 250
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Milliseconds of set-up in which a multicast probe must have come, or the communicator does
        without multicast.

    - name        : MPIR_CVAR_BCAST_HW_INTEGRITY
      category    : COLLECTIVE
      type        : enum
      default     : crc32c
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : |-
        What hwmc's messages are checked by; process 0's choice is that of all.
        crc32c - A CRC in each: what the network spoils is dropped, and sent again.
        off    - Nothing beyond what the network itself checks.
        keyed  - An authentication code in each, under a secret of the job: what others on the
                 network send is dropped as well. Needs libsodium.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

static struct hwmc_comm **slot_of(MPIR_Comm *comm)
{
#ifdef HAVE_CH4_NETMOD_HWMC
    return &comm->dev.ch4.netmod.hwmc.group;
#else
    return NULL;
#endif
}

struct hwmc_comm *hwmc_comm_state(MPIR_Comm *comm)
{
    struct hwmc_comm **slot = slot_of(comm);

    return slot ? *slot : NULL;
}

/* Hosts that the communicator's ranks run on; 1 where that is not known; 0: no memory. */
static uint32_t num_hosts(MPIR_Comm *comm)
{
    char *seen = MPL_calloc((size_t) MPIR_Process.size, 1, MPL_MEM_COMM);
    uint32_t hosts = 0, world;

    if (!seen)
        return 0;
    for (int i = 0; i < comm->local_size; i++) {
        int host = hwmc_world_rank(comm, i, &world) ? hwmc_host_of(world) : -1;

        if (host >= 0 && host < MPIR_Process.size && !seen[host]) {
            seen[host] = 1;
            hosts++;
        }
    }
    MPL_free(seen);
    return hosts > 0 ? hosts : 1;
}

/* Whether the communicator has a shape that gains from multicast. Its nodes are looked at once.
 * Without memory for that set-up has failed: other ranks may find that it has. */
static bool worthwhile(MPIR_Comm *comm, struct hwmc_comm *c)
{
    if (c->worth == HWMC_WORTH_UNKNOWN) {
        c->hosts = num_hosts(comm);
        if (c->hosts == 0) {
            c->leader_group[0].state = HWMC_LEADER_GROUP_BROKEN;
            return true;
        }
        c->worth =
            hwmc_is_forced() || (comm->local_size >= MPIR_CVAR_BCAST_HW_MIN_RANKS && c->hosts > 1)
                ? HWMC_WORTH_YES
                : HWMC_WORTH_NO;
    }
    return c->worth == HWMC_WORTH_YES;
}

/* A broadcast of `bytes` goes to one of hwmc's algorithms, and to which; or it is an error. */
static bool is_chosen(const struct hwmc_comm *c, MPI_Aint bytes, bool *along_trees)
{
    enum hwmc_algorithm a;

    *along_trees = false;
    if (c->leader_group[0].state == HWMC_LEADER_GROUP_BROKEN)
        return true;
    a = hwmc_choose(&c->leader_group[0].shape, bytes, hwmc_is_forced());
    *along_trees = a == HWMC_ALGORITHM_MULTILANE;
    return !hwmc_algorithm_is_mpich(a);
}

static bool fits(MPI_Aint bytes)
{
    return bytes > 0 && (hwmc_is_forced() || MPIR_CVAR_BCAST_HW_MAX_BYTES < 0 ||
                         bytes <= MPIR_CVAR_BCAST_HW_MAX_BYTES);
}

struct hwmc_comm *hwmc_state_of(MPIR_Comm *comm)
{
    struct hwmc_comm **slot = slot_of(comm);

    if (!slot)
        return NULL;
    if (!*slot)
        *slot = MPL_calloc(1, sizeof(**slot), MPL_MEM_COMM);
    return *slot;
}

/* What is known alike on all ranks whatever other collectives of `comm` are at. */
static bool may_take(MPI_Aint count, MPI_Datatype datatype, MPIR_Comm *comm, MPI_Aint *bytes)
{
    MPI_Aint size;

    if (!hwmc_registered() || (!MPIR_CVAR_BCAST_HW_ENABLE && !hwmc_is_forced()) ||
        comm->comm_kind != MPIR_COMM_KIND__INTRACOMM || comm->local_size < 2 ||
        HWMC_IS_SUBCOMM(comm))
        return false;
    MPIR_Datatype_get_size_macro(datatype, size);
    *bytes = size * count;
    return fits(*bytes) && (hwmc_is_forced() || !hwmc_file_refuses(count, datatype, comm));
}

/* What is new about how the broadcasts of `comm` go is shown. */
static void show_news(MPIR_Comm *comm, struct hwmc_comm *c, enum hwmc_worth worth,
                      enum hwmc_leader_group_state state)
{
    if (c->worth != worth || c->leader_group[0].state != state)
        hwmc_comm_show(comm, c);
}

bool hwmc_comm_takes(MPI_Aint count, MPI_Datatype datatype, MPIR_Comm *comm)
{
    struct hwmc_comm *c;
    enum hwmc_worth worth;
    enum hwmc_leader_group_state state;
    MPI_Aint bytes;
    bool usable;

    if (!may_take(count, datatype, comm, &bytes))
        return false;
    c = hwmc_state_of(comm);
    if (!c) /* other ranks may set it up, so this one must not go another way */
        return true;
    hwmc_comm_drain(c);
    worth = c->worth;
    state = c->leader_group[0].state;
    usable = worthwhile(comm, c) && hwmc_leader_group_ready(comm, c, 0, bytes);
    show_news(comm, c, worth, state);
    c->admitted = usable && is_chosen(c, bytes, &c->along_trees);
    return c->admitted;
}

bool hwmc_comm_queues(MPI_Aint count, MPI_Datatype datatype, MPIR_Comm *comm,
                      struct hwmc_comm **queues)
{
    MPI_Aint bytes;

    if (!may_take(count, datatype, comm, &bytes))
        return false;
    *queues = hwmc_state_of(comm);
    return !*queues || worthwhile(comm, *queues);
}

static bool plan_first(MPIR_Comm *comm, struct hwmc_comm *c, struct hwmc_plan *p,
                       struct hwmc_await *a, int mpi_errno)
{
    const enum hwmc_leader_group_state state = c->leader_group[0].state;
    const bool answered = hwmc_leader_group_ask(comm, c, &p->ask, a, mpi_errno);

    show_news(comm, c, c->worth, state);
    if (!answered)
        return false;
    p->by_hwmc = p->ask.goes && is_chosen(c, p->ask.bytes, &p->along_trees);
    p->leader_group = 0;
    return true;
}

bool hwmc_comm_plan(MPIR_Comm *comm, struct hwmc_comm *c, struct hwmc_plan *p, struct hwmc_await *a,
                    int mpi_errno)
{
    uint32_t which;

    if (p->state == HWMC_PLAN_FIRST) {
        if (!plan_first(comm, c, p, a, mpi_errno))
            return false;
        which = p->by_hwmc && c->by_hosts ? hwmc_leader_group_of_root(c, p->root) : 0;
        p->state = which > 0 ? HWMC_PLAN_ANOTHER : HWMC_PLAN_MADE;
        p->ask = hwmc_ask_of(which, p->ask.bytes, p->ask.tag);
        mpi_errno = MPI_SUCCESS;
    }
    if (p->state == HWMC_PLAN_ANOTHER) {
        if (!hwmc_leader_group_ask(comm, c, &p->ask, a, mpi_errno))
            return false;
        p->leader_group = p->ask.goes ? p->ask.which : 0;
        p->state = HWMC_PLAN_MADE;
    }
    return true;
}

void hwmc_comm_drain(struct hwmc_comm *c)
{
    if (likely(hwmc_queue_is_empty(&c->queue)))
        return;
    hwmc_wait_begins();
    while (!hwmc_queue_is_empty(&c->queue) && MPID_Progress_test(NULL) == MPI_SUCCESS) {
        hwmc_wait_polled();
        MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    }
    hwmc_wait_ends();
}

int hwmc_prepare(MPIR_Comm *world)
{
    int mpi_errno = MPI_SUCCESS;
    struct hwmc_comm *c;

    if (!hwmc_registered() || !MPIR_CVAR_BCAST_HW_ENABLE || !MPIR_CVAR_BCAST_HW_PREPARE ||
        hwmc_file_given())
        goto fn_exit;
    c = hwmc_state_of(world);
    MPIR_ERR_CHKANDJUMP(!c, mpi_errno, MPI_ERR_OTHER, "**nomem"); /* others begin */
    if (worthwhile(world, c) && c->hosts == (uint32_t) world->local_size) {
        hwmc_leader_group_prepare(world, c);
        hwmc_comm_show(world, c);
    }
    mpi_errno = hwmc_leader_group_error(&c->leader_group[0]); /* likewise */
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

void hwmc_comm_free(MPIR_Comm *comm)
{
    struct hwmc_comm **slot = slot_of(comm);

    if (!slot || !*slot)
        return;
    for (uint32_t i = 0; i < HWMC_LEADERS_MAX; i++)
        hwmc_leader_group_drop(&(*slot)->leader_group[i]);
    if ((*slot)->shm)
        hwmc_shm_free((*slot)->shm);
    hwmc_hierarchy_forget(*slot);
    hwmc_export_hide(&(*slot)->place);
    MPL_free(*slot);
    *slot = NULL;
}
