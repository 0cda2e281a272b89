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

#include "../process/hosts.h"
#include "../process/process.h"
#include "../process/processors.h"
#include "../process/sites.h"
#include "../stats/counters.h"

/* The engine of this process, made by the first call, with its counters; NULL without memory. */
struct hwmc_engine *hwmc_open(void);

/* MPIR_CVAR_HWMC_SUMMARY. In MPI_Init: reads it, for a program may have left the tools interface by
 * the end, and control variables with it. Then, collective over `world`, which is MPI_COMM_WORLD
 * and still works: writes the table. */
void hwmc_summary_open(void);
void hwmc_summary(MPIR_Comm *world);

/* Collective over MPI_COMM_WORLD, once the lanes are registered and the sites known: what the
 * network between hosts and sites is like. Takes some round trips and some ms of traffic of two
 * processes. */
int hwmc_find_network(MPIR_Comm *world);

/* In MPI_Init: what nonblocking and persistent collectives need; hwmc_close ends it. */
int hwmc_requests_open(void);

/* Registers fabrics and lanes: from here on broadcasts can be taken. Fields as engine/wire/wires.h
 * has them; `memory` and `show` are filled in here. */
void hwmc_register(struct hwmc_wires_cfg *cfg);

/* The last of three steps of MPI_Finalize (process/process.h), when all processes are drained:
 * until then it makes progress, for others may need what it has sent. */
void hwmc_close(void);

#endif /* HWMC_ENTRY_NETMOD_H_INCLUDED */
