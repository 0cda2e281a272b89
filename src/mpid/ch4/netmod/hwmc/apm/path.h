/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * path: one path of a connection, and which of its two paths the device uses.
 */
#ifndef HWMC_NETMOD_APM_PATH_H_INCLUDED
#define HWMC_NETMOD_APM_PATH_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

/* A path from a port of this device to one of the peer's. */
struct hwmc_apm_path {
    uint8_t port;          /* of this device, from 1 on */
    uint8_t src_path_bits; /* added to the port's base LID, below 2^LMC */
    uint16_t dlid;         /* of the peer's port, path bits included */
    uint16_t pkey_index;
    uint8_t sl;
    uint8_t timeout; /* of an acknowledgement: 4.096 us * 2^timeout, 1..31 */
    bool grh; /* packets name GIDs too: between subnets, on RoCE, or where the port requires it */
    uint8_t sgid_index;
    union ibv_gid dgid; /* with grh */
};

/* The address handle and port of a path, as ah_attr and alt_ah_attr take it. */
void hwmc_apm_path_address(const struct hwmc_apm_path *path, struct ibv_ah_attr *ah);

/* Whether the device has the queue pair's alternate path in use, or none loaded: asks it. */
bool hwmc_apm_path_has_migrated(struct ibv_qp *qp);

#endif /* HWMC_NETMOD_APM_PATH_H_INCLUDED */
