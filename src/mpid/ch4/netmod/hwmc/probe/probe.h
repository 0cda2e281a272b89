/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * probe: probes hosts (port/probe.h) by TCP to the discard port (RFC 863), where usually nobody
 * listens. The host's kernel accepts or refuses, and either is an answer. Each probe is one
 * connection attempt; nothing is ever sent over it.
 */
#ifndef HWMC_NETMOD_PROBE_PROBE_H_INCLUDED
#define HWMC_NETMOD_PROBE_PROBE_H_INCLUDED

#include "../../../../../mpi/coll/bcast_hw/port/err.h"
#include "../../../../../mpi/coll/bcast_hw/port/probe.h"
#include "../../../../../mpi/coll/bcast_hw/port/rail.h"

#define HWMC_RAIL_PROBE_PORT 9
#define HWMC_RAIL_PROBE_PLACES 32u /* at least HWMC_DETECTOR_PLACES */

struct hwmc_rail_probe_params {
    uint32_t hosts;                        /* of the job */
    uint32_t host;                         /* this one */
    struct hwmc_rail mine[HWMC_RAILS_MAX]; /* by the job's number */
    uint32_t have;                         /* which of them there are, a bit each */
    uint16_t port;
    bool any; /* as in struct hwmc_probe */

    /* By host, and then by the job's number of the rail: of the family of this host's, or none
     * there. Not kept. */
    const struct hwmc_addr (*addr)[HWMC_RAILS_MAX];
    uint32_t (*control)(void *ctx); /* as the operation */
    void *ctx;
};

/* OK, ERR_NOMEM. */
int hwmc_rail_probe_open(const struct hwmc_rail_probe_params *params, struct hwmc_probe **probe);
void hwmc_rail_probe_close(struct hwmc_probe *probe);

/* Rails by which this host has answered this process; and: that it has answered another one. */
uint32_t hwmc_rail_probe_heard(const struct hwmc_probe *probe, uint32_t host);
void hwmc_rail_probe_learn(struct hwmc_probe *probe, uint32_t host, uint32_t rails);

#endif /* HWMC_NETMOD_PROBE_PROBE_H_INCLUDED */
