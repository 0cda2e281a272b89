/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * ucx: a lane over UCX, with a UCP context and worker of its own, apart from MPICH's. Whatever
 * transport UCX chooses or UCX_* variables name carries it.
 */
#ifndef HWMC_NETMOD_LANE_UCX_H_INCLUDED
#define HWMC_NETMOD_LANE_UCX_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "../../../../../mpi/coll/bcast_hw/port/lane.h"

struct hwmc_lane_ucx_params {
    struct hwmc_lane_params lane;
    uint32_t size;       /* processes of the job: peers are 0..size-1 */
    const char *devices; /* as UCX_NET_DEVICES; NULL: UCX's choice */
    bool no_mates;       /* no peer runs on this host: shared memory would carry nothing */

    const char *tcp_families; /* as UCX_TCP_AF_PRIO, likewise */

    /* Whether an endpoint to `peer` is to survive a network that fails: UCX then reports failures,
     * the peer is lost, and can be had again; and keeps to transports that can do that, which
     * shared memory cannot. NULL: none. */
    bool (*survives)(void *ctx, uint32_t peer);
};

/* Opens the lane; its close frees it. ERR_NOMEM; ERR_INVAL: the address is longer than
 * HWMC_LANE_ADDRESS_MAX; ERR_LIMIT: hardly any descriptors are left; ERR_DEVICE: UCX has no
 * transport that can be waited for. */
int hwmc_lane_ucx_open(const struct hwmc_lane_ucx_params *params, struct hwmc_lane **lane);

/* Whether messages to some peer on another host go by this device, as UCX names it: "eth0",
 * "mlx5_0:1". */
bool hwmc_lane_ucx_is_by(struct hwmc_lane *lane, const char *device);

#endif /* HWMC_NETMOD_LANE_UCX_H_INCLUDED */
