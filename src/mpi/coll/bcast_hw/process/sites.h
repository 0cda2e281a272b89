/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * sites: where the processes of MPI_COMM_WORLD are. Needs mpiimpl.h.
 */

#ifndef HWMC_PROCESS_SITES_H_INCLUDED
#define HWMC_PROCESS_SITES_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

/* This process was told where it is. */
bool hwmc_has_site(void);

/* Collective over MPI_COMM_WORLD, once the lanes are registered: who is at which site, where any
 * process was told. */
int hwmc_find_sites(MPIR_Comm *world);

/* The name of the site that a process of MPI_COMM_WORLD is at, the same on every process; whether
 * there are several. */
uint64_t hwmc_site_of(uint32_t world_rank);
bool hwmc_several_sites(void);
void hwmc_forget_sites(void);

#endif /* HWMC_PROCESS_SITES_H_INCLUDED */
