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

/* The name that it was told, as a number. */
uint64_t hwmc_site_name(void);

/* Collective over MPI_COMM_WORLD, once the lanes are registered: who is at which site. `name`: that
 * of this process's site; others at the same site have the same one. `subnets`: sites are subnets,
 * on all processes. */
int hwmc_find_sites(MPIR_Comm *world, uint64_t name, bool subnets);

/* Of these sites, one or more, some is another than the first. */
bool hwmc_sites_differ(const uint64_t *site, uint32_t num);

/* The name of the site that a process of MPI_COMM_WORLD is at, the same on every process; whether
 * there are several. */
uint64_t hwmc_site_of(uint32_t world_rank);
bool hwmc_several_sites(void);

/* Multicast does not go from site to site. */
bool hwmc_sites_are_subnets(void);
void hwmc_forget_sites(void);

#endif /* HWMC_PROCESS_SITES_H_INCLUDED */
