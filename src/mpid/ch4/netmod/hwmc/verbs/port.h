/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * port: the port of an RDMA device that is behind a rail: the one to which librdmacm binds the
 * rail's address. InfiniBand (the address is IPoIB's) or RoCE v2, that by IPv4 only.
 */
#ifndef HWMC_NETMOD_VERBS_PORT_H_INCLUDED
#define HWMC_NETMOD_VERBS_PORT_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "../../../../../mpi/coll/bcast_hw/port/err.h"
#include "../../../../../mpi/coll/bcast_hw/port/rail.h"

struct hwmc_verbs_port {
    struct rdma_event_channel *channel; /* of the id alone; its descriptor does not block */
    struct rdma_cm_id *id;              /* bound to the rail's address; of RDMA_PS_UDP */
    struct ibv_context *context; /* librdmacm's, one for all ids of a device in this process */
    uint8_t port;                /* of the device, from 1 on */
    bool infiniband;             /* else RoCE v2 */
    int gid_index;               /* InfiniBand: 0; RoCE: of the rail's IPv4 address */
    union ibv_gid gid;           /* at that index */
    uint16_t lid;                /* RoCE: 0 */
    uint16_t pkey_index;         /* of the partition that the address is in; RoCE: 0 */
    enum ibv_mtu mtu;            /* active: IBV_MTU_256..IBV_MTU_4096 */
};

/* Finds and opens the port behind `rail`. Does not block; where there is no RDMA at all it takes
 * a fraction of a millisecond and nothing is printed. ERR_DEVICE: the address is no RDMA device's,
 * or the port is not active or neither InfiniBand nor RoCE v2. */
int hwmc_verbs_port_open(const struct hwmc_rail *rail, struct hwmc_verbs_port *p);

/* What was made with the context, and its listeners (events.h), goes before. */
void hwmc_verbs_port_close(struct hwmc_verbs_port *p);

/* Bytes of payload in a packet of that MTU: 256..4096. */
static inline uint32_t hwmc_verbs_mtu_bytes(enum ibv_mtu mtu)
{
    return 128u << mtu;
}

#endif /* HWMC_NETMOD_VERBS_PORT_H_INCLUDED */
