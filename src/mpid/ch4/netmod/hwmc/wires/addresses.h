/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * addresses: those of all hosts of the job, on the job's rails, as the first process on each host
 * has them.
 */

#ifndef HWMC_NETMOD_WIRES_ADDRESSES_H_INCLUDED
#define HWMC_NETMOD_WIRES_ADDRESSES_H_INCLUDED

#include "rails.h"

typedef struct hwmc_addr hwmc_job_host_addr[HWMC_RAILS_MAX]; /* of a host, by rail */

/* When the rails are matched. Collective over `world`, which is MPI_COMM_WORLD. An MPI error code.
 */
int hwmc_job_addresses_tell(const struct hwmc_job_rails *rails, MPIR_Comm *world);

/* All of them, by the hosts' numbers; NULL: they have not been told, or there is one host. */
const hwmc_job_host_addr *hwmc_job_addresses(void);

/* Rails on which the host is in another subnet than this one, a bit each. */
uint32_t hwmc_job_addresses_far(uint32_t host);

void hwmc_job_addresses_forget(void);

#endif /* HWMC_NETMOD_WIRES_ADDRESSES_H_INCLUDED */
