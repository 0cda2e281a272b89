/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Which broadcasts hwmc takes, and how a communicator comes to use multicast.
 *
 * Every rank must answer alike, so the answer rests only on what all ranks of a communicator know
 * alike: control variables, message bytes, the communicator's members and their nodes, how many
 * broadcasts it has seen, and the outcome of the set-up that all members agreed on.
 *
 *   broadcast number   0 ... after - 1          MPICH's
 *                      after                    set-up begins, in the background; MPICH's
 *                      ... after + ahead - 1    MPICH's: ranks may run ahead of the slowest member
 *                      after + ahead            waits for the outcome; from here on hwmc's, or
 *                                               MPICH's for good
 *
 * Set-up messages name the communicator by a key that all members compute alike without talking: the
 * hash of context id and members, and how many communicators with the same two this process has seen
 * come so far. Members have seen equally many, since each began its set-up on every one of them.
 */

#include "glue.h"
#include "core/prng.h"

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
        If false, hwmc takes no broadcast between hosts unless MPIR_CVAR_BCAST_INTRA_ALGORITHM is hw.

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
        auto - Internal selection (pull)
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
        0: half of them.

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
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        What algorithm selection takes the network for, instead of what was measured when the job
        started: any of latency_us=L, mbit=B (of a rail), site_latency_us=L, loss_ppm=P, datagram_ns=T (a
        host's time for one), separated by commas. hwmc_info --model shows what follows.

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
        Broadcasts on a communicator before its multicast is set up. -1: 4, or 0 where
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
        of the slowest waits for it. -1: 16, or 0 where MPIR_CVAR_BCAST_INTRA_ALGORITHM is hw.

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

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

static bool forced(void)
{
    return MPIR_CVAR_BCAST_INTRA_ALGORITHM == MPIR_CVAR_BCAST_INTRA_ALGORITHM_hw;
}

static uint64_t setup_after(void)
{
    int n = MPIR_CVAR_BCAST_HW_SETUP_AFTER;

    return n >= 0 ? (uint64_t) n : forced() ? 0 : 4;
}

static uint64_t setup_ahead(void)
{
    int n = MPIR_CVAR_BCAST_HW_SETUP_AHEAD;

    return n >= 0 ? (uint64_t) n : forced() ? 0 : 16;
}

static uint32_t clamp(int value, uint32_t low, uint32_t high)
{
    return value < (int) low ? low : value > (int) high ? high : (uint32_t) value;
}

static struct bcast_hw_comm **slot_of(MPIR_Comm *comm)
{
#ifdef HAVE_CH4_NETMOD_HWMC
    return &comm->dev.ch4.netmod.hwmc.group;
#else
    return NULL;
#endif
}

struct bcast_hw_comm *MPIR_Bcast_hw_comm(MPIR_Comm *comm)
{
    struct bcast_hw_comm **slot = slot_of(comm);

    return slot ? *slot : NULL;
}

/* Hosts that the communicator's ranks run on; 1 where that is not known. */
static uint32_t num_hosts(MPIR_Comm *comm)
{
    char *seen = MPL_calloc((size_t) MPIR_Process.size, 1, MPL_MEM_COMM);
    uint32_t hosts = 0, world;

    for (int i = 0; seen && i < comm->local_size; i++) {
        int node = MPIR_Bcast_hw_world_rank(comm, i, &world) ? MPIR_Bcast_hw_node_of(world) : -1;

        if (node >= 0 && node < MPIR_Process.size && !seen[node]) {
            seen[node] = 1;
            hosts++;
        }
    }
    MPL_free(seen);
    return hosts > 0 ? hosts : 1;
}

/* Whether the communicator has a shape that gains from multicast. Its nodes are looked at once. */
static bool worthwhile(MPIR_Comm *comm, struct bcast_hw_comm *c)
{
    if (c->worth == BCAST_HW_WORTH_UNKNOWN) {
        c->hosts = num_hosts(comm);
        c->worth = forced() || (comm->local_size >= MPIR_CVAR_BCAST_HW_MIN_RANKS && c->hosts > 1)
                       ? BCAST_HW_WORTH_YES
                       : BCAST_HW_WORTH_NO;
    }
    return c->worth == BCAST_HW_WORTH_YES;
}

/* The broadcast under way goes to one of hwmc's algorithms, and to which. */
static bool admit(struct bcast_hw_comm *c, MPI_Aint bytes)
{
    enum bcast_hw_algorithm a = MPIR_Bcast_hw_choose(c, bytes, forced());

    c->along_trees = a == BCAST_HW_ALGORITHM_MULTILANE;
    c->admitted = !bcast_hw_algorithm_is_mpich(a);
    return c->admitted;
}

static bool fits(MPI_Aint bytes)
{
    return bytes > 0 &&
           (forced() || MPIR_CVAR_BCAST_HW_MAX_BYTES < 0 || bytes <= MPIR_CVAR_BCAST_HW_MAX_BYTES);
}

/* How many communicators with this hash have begun set-up in this process before. Grows by one entry
 * for each different pair of members and context id; both recur in a program's loops. */
static struct seen {
    uint64_t hash;
    uint64_t times;
} * seen;
static size_t n_seen, room_seen;

static uint64_t seen_before(uint64_t hash)
{
    for (size_t i = 0; i < n_seen; i++)
        if (seen[i].hash == hash)
            return ++seen[i].times;
    if (n_seen == room_seen) {
        room_seen = room_seen ? 2 * room_seen : 64;
        seen = MPL_realloc(seen, room_seen * sizeof(*seen), MPL_MEM_COMM);
        MPIR_Assert(seen);
    }
    seen[n_seen++] = (struct seen){.hash = hash};
    return 0;
}

void MPIR_Bcast_hw_forget_seen(void)
{
    MPL_free(seen);
    seen = NULL;
    n_seen = room_seen = 0;
}

/* How much is under way: as the network needs it, unless the user says. */
static void configure_windows(struct bcast_hw_group_cfg *cfg)
{
    const struct bcast_hw_network *net = MPIR_Bcast_hw_network();
    uint32_t piece = clamp(MPIR_CVAR_BCAST_HW_PIECE_BYTES, 0, 1 << 28);
    uint32_t window = clamp(MPIR_CVAR_BCAST_HW_SEGMENT_WINDOW, 0, 1 << 20);
    bool far = MPIR_Bcast_hw_several_sites();

    cfg->piece_bytes = piece > 0 ? piece : bcast_hw_model_piece(net, far, cfg->channels);
    cfg->window =
        window > 0 ? window : bcast_hw_model_segments(net, false, cfg->trees, cfg->seg_bytes);
    cfg->far_window =
        window > 0 ? window : bcast_hw_model_segments(net, true, cfg->trees, cfg->seg_bytes);
}

static void configure(struct bcast_hw_group_cfg *cfg)
{
    cfg->push = MPIR_CVAR_BCAST_HW_REPAIR == MPIR_CVAR_BCAST_HW_REPAIR_push;
    cfg->channels = clamp(MPIR_CVAR_BCAST_HW_CHANNELS, 1, BCAST_HW_CHANNELS_MAX);
    cfg->period = clamp(MPIR_CVAR_BCAST_HW_SYNC_PERIOD > 0 ? MPIR_CVAR_BCAST_HW_SYNC_PERIOD
                                                           : (int) (cfg->channels + 1) / 2,
                        1, cfg->channels);
    cfg->fanout = clamp(MPIR_CVAR_BCAST_HW_FANOUT, 1, BCAST_HW_FANOUT_MAX);
    cfg->trees = MPL_MAX(MPIR_Bcast_hw_engine()->cfg.num_lanes, 2); /* two trees may share a lane */
    cfg->seg_bytes = clamp(MPIR_CVAR_BCAST_HW_SEGMENT_BYTES, 1, 1 << 28);
    configure_windows(cfg);
    cfg->delay_ns = (uint64_t) clamp(MPIR_CVAR_BCAST_HW_ROOT_DELAY_US, 0, 10000000) * 1000;
    cfg->join_ns = (uint64_t) clamp(MPIR_CVAR_BCAST_HW_JOIN_MS, 1, 600000) * 1000000;
    cfg->probe_ns = (uint64_t) clamp(MPIR_CVAR_BCAST_HW_PROBE_MS, 1, 600000) * 1000000;
    switch (MPIR_CVAR_BCAST_HW_ROOT_DELAY) {
        case MPIR_CVAR_BCAST_HW_ROOT_DELAY_fixed:
            cfg->delay = BCAST_HW_DELAY_FIXED;
            break;
        case MPIR_CVAR_BCAST_HW_ROOT_DELAY_adaptive:
            cfg->delay = BCAST_HW_DELAY_ADAPTIVE;
            break;
        case MPIR_CVAR_BCAST_HW_ROOT_DELAY_random:
            cfg->delay = BCAST_HW_DELAY_RANDOM;
            break;
        default:
            cfg->delay = BCAST_HW_DELAY_NONE;
            break;
    }
}

/* The members of the group: all ranks, or one of each host. Sets *hash by them. False: one of them is not of
 * MPI_COMM_WORLD. */
static bool find_members(MPIR_Comm *comm, const struct bcast_hw_comm *c,
                         const struct bcast_hw_group_cfg *cfg, uint32_t *world, uint64_t *site,
                         uint64_t *hash)
{
    *hash = bcast_hw_prng(comm->context_id, cfg->size);
    for (uint32_t i = 0; i < cfg->size; i++) {
        if (!MPIR_Bcast_hw_world_rank(comm, c->by_hosts ? (int) c->first_of[i] : (int) i,
                                      &world[i]))
            return false;
        *hash = bcast_hw_prng(*hash, world[i]);
        site[i] = MPIR_Bcast_hw_site_of(world[i]);
    }
    return true;
}

/* This rank's part in set-up. */
static int begin_group(MPIR_Comm *comm, struct bcast_hw_comm *c)
{
    int mpi_errno = MPI_SUCCESS;
    struct bcast_hw_group_cfg cfg = {
        .context = comm->context_id,
        .size = c->by_hosts ? c->hosts : (uint32_t) comm->local_size,
        .rank = c->by_hosts ? c->host_of[comm->rank] : (uint32_t) comm->rank,
    };
    uint32_t *world = MPL_malloc(cfg.size * sizeof(*world), MPL_MEM_COMM);
    uint64_t *site = MPL_malloc(cfg.size * sizeof(*site), MPL_MEM_COMM);
    uint64_t hash;

    MPIR_ERR_CHKANDJUMP(!world || !site, mpi_errno, MPI_ERR_OTHER, "**nomem");
    if (!find_members(comm, c, &cfg, world, site, &hash)) {
        c->off = true;
        MPIR_Bcast_hw_note_reason(BCAST_HW_REASON_SPAWNED);
        goto fn_exit;
    }
    cfg.world = world;
    cfg.site = MPIR_Bcast_hw_several_sites() ? site : NULL;
    configure(&cfg);

    MPIR_Bcast_hw_lock();
    cfg.key = bcast_hw_prng(hash, seen_before(hash));
    c->group = bcast_hw_group_create(MPIR_Bcast_hw_engine(), &cfg, MPIR_Bcast_hw_now());
    MPIR_Bcast_hw_unlock();
    MPIR_ERR_CHKANDJUMP(!c->group, mpi_errno, MPI_ERR_OTHER, "**nomem");

fn_exit:
    MPL_free(world);
    MPL_free(site);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Begins set-up. All ranks get here with the same broadcast. */
static int begin(MPIR_Comm *comm, struct bcast_hw_comm *c)
{
    int mpi_errno = MPI_SUCCESS;

    c->tried = true;
    mpi_errno = MPIR_Bcast_hw_by_hosts(comm, c);
    MPIR_ERR_CHECK(mpi_errno);
    if (!c->by_hosts || c->first_of[c->host_of[comm->rank]] == (uint32_t) comm->rank)
        mpi_errno = begin_group(comm, c);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static void drop_group(struct bcast_hw_comm *c)
{
    MPIR_Bcast_hw_lock();
    bcast_hw_group_close(c->group, MPIR_Bcast_hw_now());
    MPIR_Bcast_hw_unlock();
    c->group = NULL;
}

static bool settled(struct bcast_hw_group *g)
{
    return g->state != BCAST_HW_GROUP_SETUP;
}

/* Waits for the outcome of set-up, at who takes part in it. */
static void settle(struct bcast_hw_comm *c)
{
    MPIR_Bcast_hw_wait(c->group, settled, NULL);
    c->on = c->group->state == BCAST_HW_GROUP_ON;
    c->casts = c->group->casts;
    MPIR_Bcast_hw_unlock();
    MPIR_Bcast_hw_shape_of(c, &c->shape);
    if (!c->casts)
        MPIR_Bcast_hw_note_reason(c->group->reason);
}

/* Waits for the outcome of set-up; false: MPICH's algorithms from now on. */
static bool outcome(struct bcast_hw_comm *c)
{
    if (c->on)
        return true;
    if (c->group)
        settle(c);
    c->off = (c->by_hosts && MPIR_Bcast_hw_tell_outcome(c) != MPI_SUCCESS) || !c->on;
    if (c->off && c->group)
        drop_group(c);
    return c->on;
}

struct bcast_hw_comm *MPIR_Bcast_hw_state_of(MPIR_Comm *comm)
{
    struct bcast_hw_comm **slot = slot_of(comm);

    if (!slot)
        return NULL;
    if (!*slot)
        *slot = MPL_calloc(1, sizeof(**slot), MPL_MEM_COMM);
    return *slot;
}

bool MPIR_Bcast_hw_takes(MPI_Aint count, MPI_Datatype datatype, MPIR_Comm *comm)
{
    struct bcast_hw_comm *c;
    MPI_Aint size;
    uint64_t number;

    if (!MPIR_Bcast_hw_registered() || (!MPIR_CVAR_BCAST_HW_ENABLE && !forced()) ||
        comm->comm_kind != MPIR_COMM_KIND__INTRACOMM || comm->local_size < 2 ||
        MPIR_BCAST_HW_IS_SUBCOMM(comm))
        return false;
    MPIR_Datatype_get_size_macro(datatype, size);
    if (!fits(size * count) || (!forced() && MPIR_Bcast_hw_file_refuses(count, datatype, comm)))
        return false;
    c = MPIR_Bcast_hw_state_of(comm);
    if (!c || c->off || !worthwhile(comm, c))
        return false;
    number = c->eligible++;
    if (number < setup_after())
        return false;
    if (!c->tried && begin(comm, c) != MPI_SUCCESS)
        return false;
    if (number < setup_after() + setup_ahead() || !outcome(c))
        return false;
    return admit(c, size * count);
}

void MPIR_Bcast_hw_comm_free(MPIR_Comm *comm)
{
    struct bcast_hw_comm **slot = slot_of(comm);

    if (!slot || !*slot)
        return;
    if ((*slot)->group && MPIR_Bcast_hw_registered())
        drop_group(*slot);
    if ((*slot)->node)
        MPIR_Bcast_hw_node_free((*slot)->node);
    MPIR_Bcast_hw_forget_hosts(*slot);
    MPL_free(*slot);
    *slot = NULL;
}
