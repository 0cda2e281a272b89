/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The fabric of each rail: verbs if every process of the job that has the rail can use it, else
 * udp, as far as MPIR_CVAR_HWMC_FABRIC allows.
 */

#ifndef HWMC_NETMOD_WIRES_FABRICS_H_INCLUDED
#define HWMC_NETMOD_WIRES_FABRICS_H_INCLUDED

#include "../base/random.h"
#include "rails.h"

struct hwmc_fabrics {
    uint64_t key;                       /* the job's */
    struct hwmc_random_port_list ports; /* of which the job uses one */
    uint16_t port;                      /* that one, of UDP */
    struct hwmc_random_groups groups;   /* of which all are drawn */
    /* By the job's number of the rail: open, and multicast works there; NULL: not so. */
    struct hwmc_fabric *verbs[HWMC_RAILS_MAX];
};

/* Tries verbs on the rails. can[i]: 1 where it works or there is no such rail here, else 0: to be
 * combined by minimum over all processes. One process of a host asks the network,
 * the others whether the device can. Takes up to 250 ms a rail where multicast does not work, and
 * less than 1 ms where there is no RDMA. */
void hwmc_fabrics_try(struct hwmc_fabrics *f, const struct hwmc_job_rails *rails, int *can);

/* free[i]: 1 where this process can have ports[i], else 0: to be combined by minimum over all
 * processes. There are HWMC_RANDOM_PORTS_MAX of them. */
void hwmc_fabrics_try_ports(const struct hwmc_fabrics *f, const struct hwmc_job_rails *rails,
                            int *free);

/* Chooses the first port that all can have. False: there is none, and no rail will multicast by
 * UDP. */
bool hwmc_fabrics_choose_port(struct hwmc_fabrics *f, const int *free);

/* Opens a fabric on each rail that carries something, given what all can and the agreed speeds:
 * into cfg->fabrics, with cfg->mbit. A rail that cannot be used is no error. */
int hwmc_fabrics_open(struct hwmc_fabrics *f, const struct hwmc_job_rails *rails, const int *can,
                      const int *mbit, struct hwmc_wires_cfg *cfg);

/* Closes what was tried and not handed over. */
void hwmc_fabrics_close(struct hwmc_fabrics *f);

#endif /* HWMC_NETMOD_WIRES_FABRICS_H_INCLUDED */
