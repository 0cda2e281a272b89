/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * doctor_pmi: a client of PMI version 1, the protocol between a process of a job and its process
 * manager (Hydra's mpiexec; Slurm's srun --mpi=pmi2, which understands it too): lines of text over
 * a socket that the process inherits. MPICH has a client, which its library does not export.
 *
 * Without a process manager there is one process, and all calls do what they would for one.
 */
#ifndef HWMC_NETMOD_TOOLS_DOCTOR_PMI_H_INCLUDED
#define HWMC_NETMOD_TOOLS_DOCTOR_PMI_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

struct hwmc_doctor_pmi {
    int fd; /* -1: no process manager */
    int rank, size;
    char space[256]; /* of keys and values */
};

/* False: the process manager does not answer as it should; `why` says what (static text). */
bool hwmc_doctor_pmi_open(struct hwmc_doctor_pmi *p, const char **why);

/* Shows bytes to all processes under a name, from the next barrier on. */
bool hwmc_doctor_pmi_put(struct hwmc_doctor_pmi *p, const char *name, const void *bytes,
                         size_t len);

/* Reads `len` bytes that `rank` has put under this name. False: it has put fewer, or none. */
bool hwmc_doctor_pmi_get(struct hwmc_doctor_pmi *p, int rank, const char *name, void *bytes,
                         size_t len);

/* Until all processes are here. */
bool hwmc_doctor_pmi_barrier(struct hwmc_doctor_pmi *p);

void hwmc_doctor_pmi_close(struct hwmc_doctor_pmi *p);

#endif /* HWMC_NETMOD_TOOLS_DOCTOR_PMI_H_INCLUDED */
