/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What the files of the glue share: the one engine of the process, its lock, and what a
 * communicator carries.
 *
 * Locks: hwmc_lock guards the engine and everything in it. It is taken inside MPICH's own
 * locks (progress runs under the VCI's) and never around a call of MPICH.
 */

#ifndef HWMC_COMM_COMM_H_INCLUDED
#define HWMC_COMM_COMM_H_INCLUDED

#include "mpiimpl.h"
#include "../entry/netmod.h"
#include "../entry/hooks.h"
#include "../entry/contiguous.h"
#include "../core/place/leaders.h"
#include "../core/wait/wait_policy.h"
#include "leader_group.h"

enum hwmc_worth { HWMC_WORTH_UNKNOWN, HWMC_WORTH_YES, HWMC_WORTH_NO };

/* One per communicator, made at the first collective that hwmc may take. */
struct hwmc_comm {
    struct hwmc_shm_comm *shm;     /* shm.h; NULL before the first of its collectives */
    struct hwmc_export_comm *live; /* its place in stats/export.h; NULL: it has none */
    bool counted;                  /* ... where it is counted */
    enum hwmc_worth worth;         /* its shape gains from multicast */
    uint32_t hosts;                /* that its ranks run on; once `worth` is known */
    bool admitted;                 /* the broadcast under way is to be taken */
    bool along_trees;              /* ... by multilane */

    /* By hosts: a side has one rank of each host. The others on its host get messages from that
     * one, or from the root if it is among them, by `node` (op/pipeline.h), of which a rank is number
     * sides.place. If not, there is one side. */
    bool by_hosts;
    struct hwmc_leaders leaders;
    uint32_t *leaders_mem; /* theirs */
    struct hwmc_leader_group leader_group[HWMC_LEADERS_MAX];
};

/* What `comm` carries; NULL when nothing yet, or where the device has no place for it. */
struct hwmc_comm *hwmc_comm_state(MPIR_Comm *comm);

/* The same, made if it can be. */
struct hwmc_comm *hwmc_state_of(MPIR_Comm *comm);

/* Frees what a communicator has of the node layer. */
struct hwmc_shm_comm;
void hwmc_shm_free(struct hwmc_shm_comm *n);

/* Frees what a process has of it. */
void hwmc_shm_close(void);

/* Whether the netmod has registered a lane. */
bool hwmc_registered(void);

/* Whether the job ends: groups are the engine's alone, which has closed them. */
bool hwmc_drains(void);

/* Waits, with MPICH's progress, until `ready`, asked under the lock; meanwhile `relay`, if any,
 * goes on. Returns MPICH's error code, with the lock held in any case; an error when a lane of the
 * group is lost. */
struct hwmc_pipeline;
int hwmc_wait_group(struct hwmc_group *g, bool (*ready)(struct hwmc_group *g),
                    struct hwmc_pipeline *pipeline);

/* The netmod's hwmc_waiter, where it has one. */
void hwmc_wait_begins(void);
void hwmc_wait_polled(void);
void hwmc_wait_ends(void);

/* There is anything of MPICH's that progress of this process could move, for it or for others: a
 * request, or a window. */
static inline bool hwmc_owes_progress(void)
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
void hwmc_withdraw(struct hwmc_group *g);

/* The name of the site that a process of MPI_COMM_WORLD is at, the same on every process; whether
 * there are several. */
uint64_t hwmc_site_of(uint32_t world_rank);
bool hwmc_several_sites(void);
void hwmc_forget_sites(void);

/* What algorithm selection takes the network for; the same on every process. */
const struct hwmc_network *hwmc_network_now(void);

/* Finds out whether `comm` broadcasts by hosts: hierarchy.c. All members get here with the same
 * broadcast. */
int hwmc_is_hierarchical(MPIR_Comm *comm, struct hwmc_comm *c);
void hwmc_hierarchy_forget(struct hwmc_comm *c);

/* By hosts, when set-up of a side has ended: those who are not on it get to know how. */
struct hwmc_outcome {
    enum hwmc_leader_group_state state;
    struct hwmc_shape shape;
};
int hwmc_tell_outcome(struct hwmc_comm *c, uint32_t leader_group, struct hwmc_outcome *outcome);

/* What the cost model goes by, of a group that is set up. */
void hwmc_shape_of(const struct hwmc_comm *c, const struct hwmc_group *g, struct hwmc_shape *shape);

/* The algorithm for a broadcast of `bytes` on a communicator that is set up. `ours`: not one of
 * MPICH's if hwmc has any. */
enum hwmc_algorithm hwmc_choose(const struct hwmc_comm *c, MPI_Aint bytes, bool ours);

/* On a communicator that is not set up, as it is expected to be: what hwmc saves on a broadcast of
 * `bytes`, and what set-up costs, ns. The same on every rank. */
uint64_t hwmc_weight(const struct hwmc_comm *c, MPI_Aint bytes);
uint64_t hwmc_setup_cost(const struct hwmc_comm *c);

/* The user gave MPICH a selection file; and it names another algorithm for this broadcast. */
bool hwmc_file_given(void);
bool hwmc_file_refuses(MPI_Aint count, MPI_Datatype datatype, MPIR_Comm *comm);

/* The end of hwmc_find_hosts. */
void hwmc_forget_hosts(void);

/* A communicator does not use multicast for `reason`: for the counters. */
void hwmc_note_reason(uint32_t reason);

/* A broadcast of `bytes` ran over hwmc, or was left to MPICH. */
void hwmc_note_call(bool taken, MPI_Aint bytes);

/* A side other than a communicator's first was set up, or could not be. */
void hwmc_note_leader_group(bool on);

/* By hosts, at the root: it handed its broadcast to the network itself, or to another one of its
 * host. */
void hwmc_note_root(bool itself);

/* What becomes of rails that stop working in mid-run, as the user wishes: stats/epoch.c. */
void hwmc_configure_epochs(struct hwmc_group_cfg *cfg);

/* How the group multicasts has changed: shows it, and by PVARs which rails it left or took up last.
 * Under the lock. */
void hwmc_show_group(struct hwmc_group *g, bool first);
void hwmc_note_rails(const struct hwmc_group *g);

/* Says so, where the user wishes, if rails of the group were left or taken up since the last
 * message. */
void hwmc_note_epoch(struct hwmc_group *g);

/* What algorithm selection goes by. */
void hwmc_note_network(const struct hwmc_network *net);

/* Registers the counters of the collective layer; where the machines and the engine count. */
void hwmc_add_counters(struct hwmc_counts **machines, struct hwmc_engine_counts **engine);

/* What this process shows of itself: stats/export.h. */
const struct hwmc_export *hwmc_export_page(void);

/* Shows how the collectives of `comm`, which carries `c`, go from now on; shows it no more. */
void hwmc_export_show(MPIR_Comm *comm, struct hwmc_comm *c);
void hwmc_export_hide(struct hwmc_comm *c);

/* The same of how a group multicasts; `first`: it is new. Under the lock. */
void hwmc_export_note_cast(struct hwmc_group *g, bool first);

#endif /* HWMC_COMM_COMM_H_INCLUDED */
