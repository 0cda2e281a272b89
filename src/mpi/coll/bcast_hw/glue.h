/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What the files of the glue share: the one engine of the process, its lock, and what a
 * communicator carries.
 *
 * Locks: MPIR_Bcast_hw_lock guards the engine and everything in it. It is taken inside MPICH's own
 * locks (progress runs under the VCI's) and never around a call of MPICH.
 */

#ifndef BCAST_HW_GLUE_H_INCLUDED
#define BCAST_HW_GLUE_H_INCLUDED

#include "mpiimpl.h"
#include "attach.h"
#include "bcast_hw.h"
#include "contiguous.h"
#include "core/feeds.h"
#include "core/wait_policy.h"
#include "side.h"

enum bcast_hw_worth { BCAST_HW_WORTH_UNKNOWN, BCAST_HW_WORTH_YES, BCAST_HW_WORTH_NO };

/* One per communicator, made at the first collective that hwmc may take. */
struct bcast_hw_comm {
    struct bcast_hw_node_comm *node; /* node_glue.h; NULL before the first of its collectives */
    struct bcast_hw_live_comm *live; /* its place in live.h; NULL: it has none */
    bool counted;                    /* ... where it is counted */
    enum bcast_hw_worth worth;       /* its shape gains from multicast */
    uint32_t hosts;                  /* that its ranks run on; once `worth` is known */
    bool admitted;                   /* the broadcast under way is to be taken */
    bool along_trees;                /* ... by multilane */

    /* By hosts: a side has one rank of each host. The others on its host get messages from that
     * one, or from the root if it is among them, by `node` (relay.h), of which a rank is number
     * sides.place. If not, there is one side. */
    bool by_hosts;
    struct bcast_hw_sides sides;
    struct bcast_hw_feeds feeds;
    uint32_t *sides_mem;                           /* theirs */
    struct bcast_hw_side side[BCAST_HW_SIDES_ALL]; /* the sides, then the feeds */
    /* By feed: what hands its part on inside the host, beside `node`, which the first one has;
     * NULL: not yet. */
    struct bcast_hw_node_comm *feed_node[BCAST_HW_RAIL_BITS];
};

/* What `comm` carries; NULL when nothing yet, or where the device has no place for it. */
struct bcast_hw_comm *MPIR_Bcast_hw_comm(MPIR_Comm *comm);

/* The same, made if it can be. */
struct bcast_hw_comm *MPIR_Bcast_hw_state_of(MPIR_Comm *comm);

/* Frees what a communicator has of the node layer. */
struct bcast_hw_node_comm;
void MPIR_Bcast_hw_node_free(struct bcast_hw_node_comm *n);

/* Frees what a process has of it. */
void MPIR_Bcast_hw_node_close(void);

/* Whether the netmod has registered a lane. */
bool MPIR_Bcast_hw_registered(void);

/* Whether the job ends: groups are the engine's alone, which has closed them. */
bool MPIR_Bcast_hw_drains(void);

/* Waits, with MPICH's progress, until `ready`, asked under the lock; meanwhile `relay`, if any,
 * goes on. Returns MPICH's error code, with the lock held in any case; an error when a lane of the
 * group is lost. */
struct bcast_hw_relay;
int MPIR_Bcast_hw_wait(struct bcast_hw_group *g, bool (*ready)(struct bcast_hw_group *g),
                       struct bcast_hw_relay *relay);

/* The netmod's MPIR_Bcast_hw_waiter, where it has one. */
void MPIR_Bcast_hw_wait_begins(void);
void MPIR_Bcast_hw_wait_polled(void);
void MPIR_Bcast_hw_wait_ends(void);

/* There is anything of MPICH's that progress of this process could move, for it or for others: a
 * request, or a window. */
static inline bool MPIR_Bcast_hw_owes_progress(void)
{
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
    return true; /* requests are in many pools */
#else
    return MPIR_Request_mem[0].num_allocated > MPIR_Request_mem[0].num_avail ||
           MPIR_Win_mem.num_allocated > MPIR_Win_mem.num_avail;
#endif
}

/* Under the lock, which it gives away meanwhile: ends a broadcast along trees that has failed. When
 * it returns nothing of the memory that it was posted with is in use any more. */
void MPIR_Bcast_hw_withdraw(struct bcast_hw_group *g);

/* The name of the site that a process of MPI_COMM_WORLD is at, the same on every process; whether
 * there are several. */
uint64_t MPIR_Bcast_hw_site_of(uint32_t world_rank);
bool MPIR_Bcast_hw_several_sites(void);
void MPIR_Bcast_hw_forget_sites(void);

/* What algorithm selection takes the network for; the same on every process. */
const struct bcast_hw_network *MPIR_Bcast_hw_network(void);

/* Finds out whether `comm` broadcasts by hosts: hosts.c. All members get here with the same
 * broadcast. */
int MPIR_Bcast_hw_by_hosts(MPIR_Comm *comm, struct bcast_hw_comm *c);
void MPIR_Bcast_hw_forget_hosts(struct bcast_hw_comm *c);

/* By hosts: a long message is to go in parts (core/feeds), each by the side MPIR_Bcast_hw_feed(its
 * number) and the memory feed_node; or not. All ranks of `comm` ask with the same broadcast. */
bool MPIR_Bcast_hw_feeds_ready(MPIR_Comm *comm, struct bcast_hw_comm *c, MPI_Aint bytes);

/* Makes what hands the part of a feed on inside each host. False: there will be none, alike on all
 * ranks; or this one could not, and then c->node has failed. */
bool MPIR_Bcast_hw_feed_begin(MPIR_Comm *comm, struct bcast_hw_comm *c, uint32_t feed);

/* Frees it. */
void MPIR_Bcast_hw_forget_feeds(struct bcast_hw_comm *c);

/* At the root: its broadcast goes in parts. */
void MPIR_Bcast_hw_note_parts(void);

/* By hosts, when set-up of a side has ended: those who are not on it get to know how. */
struct bcast_hw_outcome {
    enum bcast_hw_side_state state;
    struct bcast_hw_shape shape;
};
int MPIR_Bcast_hw_tell_outcome(struct bcast_hw_comm *c, uint32_t side,
                               struct bcast_hw_outcome *outcome);

/* What the cost model goes by, of a group that is set up. */
void MPIR_Bcast_hw_shape_of(const struct bcast_hw_comm *c, const struct bcast_hw_group *g,
                            struct bcast_hw_shape *shape);

/* The algorithm for a broadcast of `bytes` on a communicator that is set up. `ours`: not one of
 * MPICH's if hwmc has any. */
enum bcast_hw_algorithm MPIR_Bcast_hw_choose(const struct bcast_hw_comm *c, MPI_Aint bytes,
                                             bool ours);

/* On a communicator that is not set up, as it is expected to be: what hwmc saves on a broadcast of
 * `bytes`, and what set-up costs, ns. The same on every rank. */
uint64_t MPIR_Bcast_hw_weight(const struct bcast_hw_comm *c, MPI_Aint bytes);
uint64_t MPIR_Bcast_hw_setup_cost(const struct bcast_hw_comm *c);

/* The user gave MPICH a selection file; and it names another algorithm for this broadcast. */
bool MPIR_Bcast_hw_file_given(void);
bool MPIR_Bcast_hw_file_refuses(MPI_Aint count, MPI_Datatype datatype, MPIR_Comm *comm);

/* The end of MPIR_Bcast_hw_find_nodes. */
void MPIR_Bcast_hw_forget_nodes(void);

/* A communicator does not use multicast for `reason`: for the counters. */
void MPIR_Bcast_hw_note_reason(uint32_t reason);

/* A broadcast of `bytes` ran over hwmc, or was left to MPICH. */
void MPIR_Bcast_hw_note_call(bool taken, MPI_Aint bytes);

/* A side other than a communicator's first was set up, or could not be. */
void MPIR_Bcast_hw_note_side(bool on);

/* By hosts, at the root: it handed its broadcast to the network itself, or to another one of its
 * host. */
void MPIR_Bcast_hw_note_root(bool itself);

/* What becomes of rails that stop working in mid-run, as the user wishes: epochs.c. */
void MPIR_Bcast_hw_configure_epochs(struct bcast_hw_group_cfg *cfg);

/* How the group multicasts has changed: shows it, and by PVARs which rails it left or took up last.
 * Under the lock. */
void MPIR_Bcast_hw_show_group(struct bcast_hw_group *g, bool first);
void MPIR_Bcast_hw_note_rails(const struct bcast_hw_group *g);

/* Says so, where the user wishes, if rails of the group were left or taken up since the last
 * message. */
void MPIR_Bcast_hw_note_epoch(struct bcast_hw_group *g);

/* What algorithm selection goes by. */
void MPIR_Bcast_hw_note_network(const struct bcast_hw_network *net);

/* Registers the counters of the collective layer; where the machines and the engine count. */
void MPIR_Bcast_hw_add_counters(struct bcast_hw_counts **machines,
                                struct bcast_hw_engine_counts **engine);

/* What this process shows of itself: live.h. */
const struct bcast_hw_live *MPIR_Bcast_hw_live(void);

/* Shows how the collectives of `comm`, which carries `c`, go from now on; shows it no more. */
void MPIR_Bcast_hw_live_show(MPIR_Comm *comm, struct bcast_hw_comm *c);
void MPIR_Bcast_hw_live_hide(struct bcast_hw_comm *c);

/* The same of how a group multicasts; `first`: it is new. Under the lock. */
void MPIR_Bcast_hw_live_cast(struct bcast_hw_group *g, bool first);

#endif /* BCAST_HW_GLUE_H_INCLUDED */
