/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * process: what hwmc has once a process: the engine, its lock and clock, and the netmod's
 * registration.
 *
 * Locks: hwmc_lock guards the engine and everything in it. It is taken inside MPICH's own locks
 * (progress runs under the VCI's) and never around a call of MPICH.
 */

#ifndef HWMC_PROCESS_PROCESS_H_INCLUDED
#define HWMC_PROCESS_PROCESS_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

struct hwmc_counts;
struct hwmc_engine;
struct hwmc_wires_cfg;
struct hwmc_engine_counts;

/* Makes the engine of this process, unless there is one. Machines and engine count in the two
 * structs. NULL without memory. */
struct hwmc_engine *hwmc_process_open(struct hwmc_counts *counts,
                                      struct hwmc_engine_counts *engine_counts);

/* The engine. */
struct hwmc_engine *hwmc_process_engine(void);

void hwmc_lock(void);
void hwmc_unlock(void);

/* Monotonic, ns. */
uint64_t hwmc_now(void);

/* The netmod's fabrics and lanes: engine/wire/wires.h. */
void hwmc_process_register(const struct hwmc_wires_cfg *cfg);

/* Whether there is a lane among them. */
bool hwmc_registered(void);

/* Takes what came and sends what is due; returns how much happened. Cheap while no communicator
 * uses multicast. `all`: looks at all sources of messages; else leaves out dry ones, as a thread
 * may that does nothing but wait (core/wait/dry). */
int hwmc_progress(bool all);

/* Time (hwmc_now) at which the engine has something to do though nothing comes; UINT64_MAX. */
uint64_t hwmc_process_deadline(void);

/* Progress has groups or a lane to care for: waiting must look at their descriptors. */
bool hwmc_active(void);

/* The lanes of the rails are in use: waiting must look at their descriptors too. */
bool hwmc_by_lanes(void);

/* The first two of three steps of MPI_Finalize: drain, once; drained, between calls of progress
 * until true: this process needs nothing of others any more. */
void hwmc_drain(void);
bool hwmc_drained(void);

/* Whether the job ends: groups are the engine's alone, which has closed them. */
bool hwmc_drains(void);

/* The third, under the lock: nothing is registered any more. */
void hwmc_process_close(void);

#endif /* HWMC_PROCESS_PROCESS_H_INCLUDED */
