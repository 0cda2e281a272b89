/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The addresses by which the hosts of the job's processes can be probed (probe/).
 */

#ifndef HWMC_NETMOD_WIRES_PROBE_H_INCLUDED
#define HWMC_NETMOD_WIRES_PROBE_H_INCLUDED

#include "rails.h"

/* When all hosts' addresses are known (addresses.h), and `any` is: as in struct hwmc_probe. Asks
 * another host, so that silence comes to mean something. NULL where nothing can be asked. */
struct hwmc_probe *hwmc_job_probe_open(const struct hwmc_job_rails *rails, bool any);

/* When messages have gone between hosts since: which hosts have answered. Collective. */
int hwmc_job_probe_tried(MPIR_Comm *world);

void hwmc_job_probe_close(void);

#endif /* HWMC_NETMOD_WIRES_PROBE_H_INCLUDED */
