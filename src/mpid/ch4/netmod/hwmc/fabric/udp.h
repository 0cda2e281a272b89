/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * udp: IP multicast as a fabric, on Ethernet or loopback, by IPv4 or IPv6 as the rail's address is.
 * Its groups are those of base/random.h; their IPv6 addresses are made by base/addr.h.
 */
#ifndef HWMC_NETMOD_FABRIC_UDP_H_INCLUDED
#define HWMC_NETMOD_FABRIC_UDP_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../../../../mpi/coll/bcast_hw/port/fabric.h"
#include "../../../../../mpi/coll/bcast_hw/port/rail.h"
#include "../base/random.h"

struct hwmc_udp_params {
    uint16_t port;                    /* the same in the whole job; not 0 */
    uint64_t key;                     /* the job's, for addresses of IPv6 groups */
    uint8_t ttl;                      /* 1: one subnet */
    bool loop;                        /* other ranks of the job live on this host */
    struct hwmc_random_groups groups; /* of which draw gives one */
    size_t window;                    /* bytes of payload that shall be able to wait unread */
    uint64_t
        *unicast; /* counts what came to this host alone, and was dropped; NULL: nobody counts */
};

/* Opens the fabric on `rail`; close frees it. ERR_INVAL: no port, or the rail is too small or not
 * up. ERR_DEVICE: the rail cannot carry multicast. ERR_NOMEM, ERR_LIMIT: out of memory or
 * descriptors. Its window may come out smaller or larger than asked: the kernel decides, query
 * tells. */
int hwmc_udp_open(const struct hwmc_rail *rail, const struct hwmc_udp_params *params,
                  struct hwmc_fabric **fabric);

/* Whether a fabric of that family could have the port on this host now. */
bool hwmc_udp_may_bind(enum hwmc_family family, uint16_t port);

/* What the kernel is taken to charge a socket for one waiting datagram of `len` bytes. */
size_t hwmc_udp_cost(size_t len);

/* What a socket asks for, bytes as SO_RCVBUF has them, so that `window` bytes can wait in datagrams
 * of `len`; and as SO_SNDBUF: what waits in this host delays everything behind it. The kernel gives
 * twice that. */
int hwmc_udp_buffer_for(size_t window, size_t len);
#define HWMC_UDP_SEND_BUFFER 65536

/* Of a fabric of this kind: the address of a group. */
struct hwmc_addr hwmc_udp_group_address(const struct hwmc_fabric *fabric, uint64_t group);

/* Of a fabric of this kind: the kernel takes several datagrams as one message, as far as is known;
 * how many it has handed over in one, of late. */
bool hwmc_udp_sends_together(const struct hwmc_fabric *fabric);
uint32_t hwmc_udp_came_together(const struct hwmc_fabric *fabric);

#endif /* HWMC_NETMOD_FABRIC_UDP_H_INCLUDED */
