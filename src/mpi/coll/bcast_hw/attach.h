/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The collective layer as a netmod sees it.
 *
 * A netmod gives the layer its wires: it takes the engine of this process, opens a lane whose
 * callbacks are the engine's (engine/engine.h) and, where it can, a fabric on each rail and further
 * lanes, and registers them. Where nothing is registered MPICH's own algorithms run.
 */

#ifndef BCAST_HW_ATTACH_H_INCLUDED
#define BCAST_HW_ATTACH_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "number.h"

struct bcast_hw_engine;
struct bcast_hw_engine_cfg;

struct bcast_hw_rail;

/* A number that this process tells of itself: a PVAR of this name (unsigned, 64 bits, of no object;
 * a state: an int, with an enumeration), a row of the summary, a line of `hwmc_info --live`. */
struct MPIR_Bcast_hw_counter {
    const char *name, *text; /* that last as long as the program */
    enum MPIR_Bcast_hw_number kind;
    const char *const *states; /* STATE: the names of 0, 1, ..., then NULL */
};

/* Before any counter is added; `version` is hwmc's. False: another MPI_Init of this process has
 * done it, and added them. */
bool MPIR_Bcast_hw_live_open(const char *version);

/* Registers them, alike on all processes of a job; where they are, in this order, as long as the
 * program runs. Whoever counts adds to memory and does nothing else. */
uint64_t *MPIR_Bcast_hw_counters_add(const struct MPIR_Bcast_hw_counter *list, uint32_t num);

/* The same of an array `list`, which names each word of the struct that `counts` is to point to. */
#define MPIR_BCAST_HW_COUNTERS_ADD(list, counts)                                                   \
    do {                                                                                           \
        MPL_COMPILE_TIME_ASSERT(sizeof(list) / sizeof((list)[0]) ==                                \
                                sizeof(*(counts)) / sizeof(uint64_t));                             \
        (counts) = (void *) MPIR_Bcast_hw_counters_add(list, sizeof(list) / sizeof((list)[0]));    \
    } while (0)

/* A rail by the job's number, as this host has it, and what multicasts there; empty: nothing does.
 * Once a process for each that the host has. */
void MPIR_Bcast_hw_live_rail(uint32_t number, const struct bcast_hw_rail *port, const char *fabric);

/* Lane `number` (below BCAST_HW_LIVE_LANES) stands so now: live.h. One caller at a time. */
struct bcast_hw_live_lane;
void MPIR_Bcast_hw_live_lane(uint32_t number, const struct bcast_hw_live_lane *lane);

/* MPIR_CVAR_HWMC_SUMMARY. In MPI_Init: reads it, for a program may have left the tools interface by
 * the end, and control variables with it. Then, collective over `world`, which is MPI_COMM_WORLD
 * and still works: writes the table. */
void MPIR_Bcast_hw_summary_open(void);
void MPIR_Bcast_hw_summary(MPIR_Comm *world);

/* Finds out which processes of MPI_COMM_WORLD share a host. Asks the process manager, so nobody
 * else may be asking it; before anything below. */
void MPIR_Bcast_hw_find_nodes(void);

/* This process was told where it is. */
bool MPIR_Bcast_hw_has_site(void);

/* Collective over MPI_COMM_WORLD, once the lanes are registered: who is at which site, where any
 * process was told; and what the network between hosts and sites is like. The latter takes some
 * round trips and some ms of traffic of two processes. */
int MPIR_Bcast_hw_find_sites(MPIR_Comm *world);
int MPIR_Bcast_hw_find_network(MPIR_Comm *world);

/* After these, at the same place of all processes: begins to set up MPI_COMM_WORLD's multicast, in
 * the background. Returns an MPI error code. */
int MPIR_Bcast_hw_prepare(MPIR_Comm *world);

/* Whether another process of the job runs on this host; true where nobody knows. */
bool MPIR_Bcast_hw_host_is_shared(void);

/* Whether all processes of the job run on one host: the same answer on all. */
bool MPIR_Bcast_hw_is_on_one_host(void);

/* Whether the user wants hwmc to take every broadcast, also where nothing is gained by that. */
bool MPIR_Bcast_hw_is_forced(void);

/* Rank in MPI_COMM_WORLD of `rank` in comm, or in its remote group; false where it has none. */
bool MPIR_Bcast_hw_world_rank(MPIR_Comm *comm, int rank, uint32_t *world);

/* The node that a process of MPI_COMM_WORLD runs on: a number, the same on every process, below
 * that of processes. */
int MPIR_Bcast_hw_node_of(uint32_t world_rank);

/* That process of MPI_COMM_WORLD runs on this host. */
bool MPIR_Bcast_hw_same_host(uint32_t world_rank);

/* The lock that guards the engine and its lanes. Never held around a call of MPICH. */
void MPIR_Bcast_hw_lock(void);
void MPIR_Bcast_hw_unlock(void);

/* COMM is about to go: drop what hwmc holds for it. Local, and never waits for another rank. */
void MPIR_Bcast_hw_comm_free(MPIR_Comm *comm);

/* The engine of this process, made by the first call; NULL without memory. */
struct bcast_hw_engine *MPIR_Bcast_hw_engine(void);

/* Registers fabrics and lanes: from here on broadcasts can be taken. Fields as engine/engine.h has
 * them; `memory` is filled in here. */
void MPIR_Bcast_hw_register(struct bcast_hw_engine_cfg *cfg);

/* Takes what came and sends what is due; returns how much happened. Cheap while no communicator
 * uses multicast. */
int MPIR_Bcast_hw_progress(void);

/* Time (MPIR_Bcast_hw_now) at which progress has something to do though nothing comes;
 * UINT64_MAX. */
uint64_t MPIR_Bcast_hw_deadline(void);

/* Monotonic, ns. */
uint64_t MPIR_Bcast_hw_now(void);

/* Progress has groups or a lane to care for: waiting must look at their descriptors. */
bool MPIR_Bcast_hw_active(void);

/* The lanes of the rails are in use: waiting must look at their descriptors too. */
bool MPIR_Bcast_hw_by_lanes(void);

/* `find` tells how far this process's processors are from each rail, by its number
 * (BCAST_HW_RAIL_BITS of them): in the firmware's unit, in which 10 is near; negative: not known.
 * It is called once at most, when a communicator needs it. */
void MPIR_Bcast_hw_register_distances(void (*find)(int *distance));

/* Collectives inside a host: from now on, at the same point of all processes; no more. */
void MPIR_Bcast_hw_node_open(void);
void MPIR_Bcast_hw_node_shut(void);

/* Finds out whether the processes of the job on this host have a processor each, or more or less,
 * by their number, affinity masks and quotas. After MPIR_Bcast_hw_find_nodes; for waits. */
void MPIR_Bcast_hw_presume_processors(void);

/* This process may use more processors than the job has processes on this host. False where nobody
 * says. */
bool MPIR_Bcast_hw_has_processors_left(void);

/* What this thread knows of those who share its processor: core/wait_policy.h. */
struct bcast_hw_wait_policy;
struct bcast_hw_wait_policy *MPIR_Bcast_hw_wait_policy(void);

/* How the layer's own waits wait for messages: between begin and end the thread waits for the
 * engine, and calls polled after each MPID_Progress_test that may have found nothing. All take no
 * time where something came. */
struct MPIR_Bcast_hw_waiter {
    void (*begin)(void);
    void (*polled)(void);
    void (*end)(void);
};
void MPIR_Bcast_hw_register_waiter(const struct MPIR_Bcast_hw_waiter *w);

/* This thread waits for what another process writes to memory, which no descriptor tells of. */
bool MPIR_Bcast_hw_in_node(void);

/* How many collectives inside the host this thread has finished: it does not wait any more for what
 * it waited for before. */
uint64_t MPIR_Bcast_hw_node_finished(void);

/* This thread waits for all processes: MPI_SUCCESS, or the error that names one whose host is gone.
 * To be called as often as it looks for them. */
int MPIR_Bcast_hw_all_there(void);

/* Finalize, in three steps: drain, once; drained, between calls of progress until true: this
 * process needs nothing of others any more; close, when all processes are drained: until then it
 * makes progress, for others may need what it has sent. */
void MPIR_Bcast_hw_drain(void);
bool MPIR_Bcast_hw_drained(void);
void MPIR_Bcast_hw_close(void);

#endif /* BCAST_HW_ATTACH_H_INCLUDED */
