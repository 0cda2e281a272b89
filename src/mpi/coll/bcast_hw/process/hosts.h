/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * hosts: which process of MPI_COMM_WORLD a rank is, and which of them share a host. Needs
 * mpiimpl.h.
 */

#ifndef HWMC_PROCESS_HOSTS_H_INCLUDED
#define HWMC_PROCESS_HOSTS_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

/* Finds out which processes of MPI_COMM_WORLD share a host. Asks the process manager, so nobody
 * else may be asking it; once its map of processes is there, and before anything below. */
void hwmc_find_hosts(void);

/* The end of hwmc_find_hosts. */
void hwmc_forget_hosts(void);

/* Whether another process of the job runs on this host; true where nobody knows. */
bool hwmc_host_is_shared(void);

/* Whether all processes of the job run on one host: the same answer on all. */
bool hwmc_is_on_one_host(void);

/* Rank in MPI_COMM_WORLD of `rank` in comm, or in its remote group; false where it has none. */
bool hwmc_world_rank(MPIR_Comm *comm, int rank, uint32_t *world);

/* The host that a process of MPI_COMM_WORLD runs on: a number, the same on every process, below
 * that of processes. */
int hwmc_host_of(uint32_t world_rank);

/* One more than the highest of these numbers. */
int hwmc_num_hosts(void);

/* That process of MPI_COMM_WORLD runs on this host. */
bool hwmc_same_host(uint32_t world_rank);

#endif /* HWMC_PROCESS_HOSTS_H_INCLUDED */
