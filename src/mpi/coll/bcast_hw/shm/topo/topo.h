/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * topo: this host's topology as hwloc knows it, and in it the place of a rank. All of hwloc that
 * the collectives inside hosts uses.
 */
#ifndef HWMC_SHM_TOPO_TOPO_H_INCLUDED
#define HWMC_SHM_TOPO_TOPO_H_INCLUDED

#include "../../port/err.h"
#include "affinity.h"

struct hwmc_shm_topo;

/* Loads the topology, which takes milliseconds: of this host, or the one that `synthetic`
 * describes in hwloc's words ("package:2 [numa] l3:2 l2:4 pu:2"). NULL: this host. What a
 * container or a batch system does not let this process use is in it as well, so that parts have
 * the same names at all ranks. OK, ERR_NOMEM, ERR_INVAL (`synthetic`), ERR_LIMIT (hwloc cannot
 * say). The caller closes it. */
int hwmc_shm_topo_open(struct hwmc_shm_topo **topo, const char *synthetic);

void hwmc_shm_topo_close(struct hwmc_shm_topo *topo);

/* The place of a rank that is bound to the processors `cpus`, a list as Linux writes it ("0-3,8").
 * NULL: those that the calling process may run on now. What hwloc does not say is unknown in
 * `place`, and that is no error. OK; ERR_INVAL: no list, or none of this host's processors;
 * ERR_NOMEM. */
int hwmc_shm_topo_place(struct hwmc_shm_topo *topo, const char *cpus,
                        struct hwmc_shm_affinity *place);

#endif /* HWMC_SHM_TOPO_TOPO_H_INCLUDED */
