/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What the environment says of the launcher that has started this process: mpiexec, srun, or
 * another. MPICH takes a process for a job of one where it finds no launcher that it can talk to.
 * If that launcher has started several, each is a job of its own, and the program runs N times.
 */

#ifndef HWMC_PROCESS_LAUNCHER_H_INCLUDED
#define HWMC_PROCESS_LAUNCHER_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

typedef char *hwmc_getenv(const char *name);

enum hwmc_launcher {
    HWMC_LAUNCHER_NONE, /* that talks to its processes */
    HWMC_LAUNCHER_PMI,  /* PMI-1 or PMI-2, over a socket: mpiexec, srun --mpi=pmi2 */
    HWMC_LAUNCHER_PMIX  /* srun --mpi=pmix, prterun */
};

/* A launcher of PMI comes first: its processes inherit what a launcher around it has set, as where
 * mpiexec starts its helpers by srun. */
enum hwmc_launcher hwmc_launcher_find(hwmc_getenv *get);

/* Whether the launcher has started other processes too. If so, and only then, `text` says in one
 * line which launcher, and what to do. To be asked in a process whose MPI_COMM_WORLD has size 1. */
bool hwmc_launcher_has_others(hwmc_getenv *get, char *text, size_t room);

#endif /* HWMC_PROCESS_LAUNCHER_H_INCLUDED */
