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

#ifndef HWMC_ENTRY_NETMOD_H_INCLUDED
#define HWMC_ENTRY_NETMOD_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "../stats/number.h"

struct hwmc_engine;
struct hwmc_engine_cfg;

struct hwmc_rail;

/* A number that this process tells of itself: a PVAR of this name (unsigned, 64 bits, of no object;
 * a state: an int, with an enumeration), a row of the summary, a line of `hwmc_info --live`. */
struct hwmc_counter {
    const char *name, *text; /* that last as long as the program */
    enum hwmc_export_number kind;
    const char *const *states; /* STATE: the names of 0, 1, ..., then NULL */
};

/* Before any counter is added; `version` is hwmc's. False: another MPI_Init of this process has
 * done it, and added them. */
bool hwmc_export_open(const char *version);

/* Registers them, alike on all processes of a job; where they are, in this order, as long as the
 * program runs. Whoever counts adds to memory and does nothing else. */
uint64_t *hwmc_counters_register(const struct hwmc_counter *list, uint32_t num);

/* The same of an array `list`, which names each word of the struct that `counts` is to point to. */
#define HWMC_COUNTERS_ADD(list, counts)                                                            \
    do {                                                                                           \
        MPL_COMPILE_TIME_ASSERT(sizeof(list) / sizeof((list)[0]) ==                                \
                                sizeof(*(counts)) / sizeof(uint64_t));                             \
        (counts) = (void *) hwmc_counters_register(list, sizeof(list) / sizeof((list)[0]));        \
    } while (0)

/* A rail by the job's number, as this host has it, and what multicasts there; empty: nothing does.
 * Once a process for each that the host has. */
void hwmc_export_note_rail(uint32_t number, const struct hwmc_rail *port, const char *fabric);

/* Lane `number` (below HWMC_EXPORT_LANES) stands so now: stats/export.h. One caller at a time. */
struct hwmc_export_lane;
void hwmc_export_note_lane(uint32_t number, const struct hwmc_export_lane *lane);

/* MPIR_CVAR_HWMC_SUMMARY. In MPI_Init: reads it, for a program may have left the tools interface by
 * the end, and control variables with it. Then, collective over `world`, which is MPI_COMM_WORLD
 * and still works: writes the table. */
void hwmc_summary_open(void);
void hwmc_summary(MPIR_Comm *world);

/* Finds out which processes of MPI_COMM_WORLD share a host. Asks the process manager, so nobody
 * else may be asking it; before anything below. */
void hwmc_find_hosts(void);

/* This process was told where it is. */
bool hwmc_has_site(void);

/* Collective over MPI_COMM_WORLD, once the lanes are registered: who is at which site, where any
 * process was told; and what the network between hosts and sites is like. The latter takes some
 * round trips and some ms of traffic of two processes. */
int hwmc_find_sites(MPIR_Comm *world);
int hwmc_find_network(MPIR_Comm *world);

/* After these, at the same place of all processes: begins to set up MPI_COMM_WORLD's multicast, in
 * the background. Returns an MPI error code. */
int hwmc_prepare(MPIR_Comm *world);

/* Whether another process of the job runs on this host; true where nobody knows. */
bool hwmc_host_is_shared(void);

/* Whether all processes of the job run on one host: the same answer on all. */
bool hwmc_is_on_one_host(void);

/* Whether the user wants hwmc to take every broadcast, also where nothing is gained by that. */
bool hwmc_is_forced(void);

/* Rank in MPI_COMM_WORLD of `rank` in comm, or in its remote group; false where it has none. */
bool hwmc_world_rank(MPIR_Comm *comm, int rank, uint32_t *world);

/* The node that a process of MPI_COMM_WORLD runs on: a number, the same on every process, below
 * that of processes. */
int hwmc_host_of(uint32_t world_rank);

/* That process of MPI_COMM_WORLD runs on this host. */
bool hwmc_same_host(uint32_t world_rank);

/* The lock that guards the engine and its lanes. Never held around a call of MPICH. */
void hwmc_lock(void);
void hwmc_unlock(void);

/* COMM is about to go: drop what hwmc holds for it. Local, and never waits for another rank. */
void hwmc_comm_free(MPIR_Comm *comm);

/* The engine of this process, made by the first call; NULL without memory. */
struct hwmc_engine *hwmc_process_engine(void);

/* Registers fabrics and lanes: from here on broadcasts can be taken. Fields as engine/engine.h has
 * them; `memory` is filled in here. */
void hwmc_register(struct hwmc_engine_cfg *cfg);

/* Takes what came and sends what is due; returns how much happened. Cheap while no communicator
 * uses multicast. */
int hwmc_progress(void);

/* Time (hwmc_now) at which progress has something to do though nothing comes;
 * UINT64_MAX. */
uint64_t hwmc_deadline(void);

/* Monotonic, ns. */
uint64_t hwmc_now(void);

/* Progress has groups or a lane to care for: waiting must look at their descriptors. */
bool hwmc_active(void);

/* The lanes of the rails are in use: waiting must look at their descriptors too. */
bool hwmc_by_lanes(void);

/* `find` tells how far this process's processors are from each rail, by its number
 * (HWMC_RAIL_BITS of them): in the firmware's unit, in which 10 is near; negative: not known.
 * It is called once at most, when a communicator needs it. */
void hwmc_register_distances(void (*find)(int *distance));

/* Collectives inside a host: from now on, at the same point of all processes; no more. */
void hwmc_shm_open(void);
void hwmc_shm_shut(void);

/* Finds out whether the processes of the job on this host have a processor each, or more or less,
 * by their number, affinity masks and quotas. After hwmc_find_hosts; for waits. */
void hwmc_presume_processors(void);

/* This process may use more processors than the job has processes on this host. False where nobody
 * says. */
bool hwmc_has_processors_left(void);

/* What this thread knows of those who share its processor: core/wait/wait_policy.h. */
struct hwmc_wait_policy;
struct hwmc_wait_policy *hwmc_processor_wait_policy(void);

/* How the layer's own waits wait for messages: between begin and end the thread waits for the
 * engine, and calls polled after each MPID_Progress_test that may have found nothing. All take no
 * time where something came. */
struct hwmc_waiter {
    void (*begin)(void);
    void (*polled)(void);
    void (*end)(void);
};
void hwmc_register_waiter(const struct hwmc_waiter *w);

/* This thread waits for what another process writes to memory, which no descriptor tells of. */
bool hwmc_in_shm(void);

/* How many collectives inside the host this thread has finished: it does not wait any more for what
 * it waited for before. */
uint64_t hwmc_shm_finished(void);

/* This thread waits for all processes: MPI_SUCCESS, or the error that names one whose host is gone.
 * To be called as often as it looks for them. */
int hwmc_all_there(void);

/* Finalize, in three steps: drain, once; drained, between calls of progress until true: this
 * process needs nothing of others any more; close, when all processes are drained: until then it
 * makes progress, for others may need what it has sent. */
void hwmc_drain(void);
bool hwmc_drained(void);
void hwmc_close(void);

#endif /* HWMC_ENTRY_NETMOD_H_INCLUDED */
