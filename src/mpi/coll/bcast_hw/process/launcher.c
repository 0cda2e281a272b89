/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include <stdio.h>
#include <stdlib.h>
#include "launcher.h"

/* A variable by which a launcher tells each process how many it has started, or which of them this
 * one is. The first that shows others is reported. */
struct sign {
    const char *name;
    int least; /* the value from which on there are others */
    const char *advice;
};

static const struct sign signs[] = {
    {"SLURM_STEP_NUM_TASKS", 2, "start it with srun --mpi=pmi2, or with mpiexec"},
    {"OMPI_COMM_WORLD_SIZE", 2, "that is Open MPI's mpiexec: use the one beside hwmc's mpicc"},
    {"PMIX_RANK", 1, "start it with mpiexec, or by PMI-2"},
    {"PMI_SIZE", 2, "start it with mpiexec"},
};

/* In a build of MPICH with a PMIx library: docs/slurm.md. */
static const char *const or_pmix =
    "; PMIx needs MPICH 4.2 or later, configured as in docs/slurm.md";

/* The value of a variable; -1: not set, or no number. */
static long number_of(hwmc_getenv *get, const char *name)
{
    const char *text = get(name);
    char *end = NULL;
    const long value = text ? strtol(text, &end, 10) : -1;

    return text && end != text && *end == '\0' ? value : -1;
}

enum hwmc_launcher hwmc_launcher_find(hwmc_getenv *get)
{
    if (get("PMI_FD") || get("PMI_PORT"))
        return HWMC_LAUNCHER_PMI;
    return get("PMIX_NAMESPACE") ? HWMC_LAUNCHER_PMIX : HWMC_LAUNCHER_NONE;
}

bool hwmc_launcher_has_others(hwmc_getenv *get, char *text, size_t room)
{
    const enum hwmc_launcher launcher = hwmc_launcher_find(get);

    if (launcher == HWMC_LAUNCHER_PMI)
        return false; /* it was asked, and has started one */
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        if (number_of(get, signs[i].name) < signs[i].least)
            continue;
        snprintf(text, room, "%s=%s: %s%s", signs[i].name, get(signs[i].name), signs[i].advice,
                 launcher == HWMC_LAUNCHER_PMIX ? or_pmix : "");
        return true;
    }
    return false;
}
