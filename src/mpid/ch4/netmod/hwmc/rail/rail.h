/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * rail: which network ports this host has, with an IPv4 or an IPv6 address, and which of them a job
 * uses. A port that has both goes by IPv4, unless it is turned: a datagram's headers are 20 bytes
 * shorter, and UCX prefers it too.
 */
#ifndef HWMC_NETMOD_RAIL_RAIL_H_INCLUDED
#define HWMC_NETMOD_RAIL_RAIL_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "../../../../../mpi/coll/bcast_hw/port/err.h"
#include "../../../../../mpi/coll/bcast_hw/port/rail.h"
#include "../base/addr.h"

/* How many interfaces a host can have that discovery looks at. */
#define HWMC_RAIL_PORTS_MAX 64

/* Every interface with an address that is up and can multicast, in the order of their kernel
 * indices; of several addresses of a family the first, but one of the link alone for want of
 * others; not yet located. An IPv6 address that another host has too, or of which that is not known
 * yet (RFC 4862), is none. Returns how many, at most `max`; ERR_LIMIT: the system does not tell.
 */
int hwmc_rail_discover(struct hwmc_rail *rails, int max);

/* Goes by its other address from now on, if it has one of that family. */
void hwmc_rail_turn(struct hwmc_rail *rail, enum hwmc_family family);

/* Chooses from the `num` ports those that `spec` names, in its order: names or subnets ("eth0",
 * "10.77.0.0/24", "fd77::/64"), separated by commas; a subnet names every port in it, which then
 * goes by that address and by no other. An empty spec: every port
 * that is not left out, that of the multicast route first, or loopback when there is none. Returns
 * how many, 1..max. ERR_INVAL: a part names no port; it is copied to `wrong`, cut to
 * HWMC_RAIL_NAME_MAX with its NUL. */
int hwmc_rail_select(const struct hwmc_rail *ports, int num, const char *spec,
                     struct hwmc_rail *rails, int max, char *wrong);

/* Where multicast is routed: a rail that a subnet of `spec` names is that subnet, though the port's
 * own may be a part of it. */
void hwmc_rail_span(struct hwmc_rail *rails, int num, const char *spec);

/* Why an empty spec does not choose ports[i]; NULL: it does. */
const char *hwmc_rail_left_out(const struct hwmc_rail *ports, int num, int i);

/* Mbit/s of the fastest port that could be a rail; 0: no port tells. */
uint32_t hwmc_rail_fastest(const struct hwmc_rail *ports, int num);

/* A rail of `mbit` carries nothing beside one of `fastest`: slower than a quarter. Unknown speeds,
 * 0, are not slow. */
static inline bool hwmc_rail_is_slow(uint32_t mbit, uint32_t fastest)
{
    return mbit > 0 && (uint64_t) mbit * 4 < fastest;
}

/* Two ports are in one subnet. */
static inline bool hwmc_rail_meets(const struct hwmc_rail *a, const struct hwmc_rail *b)
{
    const struct hwmc_addr subnet = hwmc_addr_subnet(&b->addr, b->prefix);

    return a->prefix == b->prefix && hwmc_addr_in(&a->addr, &subnet, b->prefix);
}

/* Makes what another process wrote one that can be printed. */
static inline void hwmc_rail_bound(struct hwmc_rail *r)
{
    r->name[HWMC_RAIL_NAME_MAX - 1] = '\0';
    if (r->addr.family != HWMC_IPV4 && r->addr.family != HWMC_IPV6)
        r->addr.family = HWMC_NO_FAMILY;
    if (r->prefix > hwmc_addr_bits(&r->addr))
        r->prefix = hwmc_addr_bits(&r->addr);
}

/* Fills numa and distance of `num` rails from hwloc's topology of this host, which takes
 * milliseconds to load; both are -1 where hwloc knows no such device, as for loopback. Returns how
 * many it found; ERR_LIMIT when there is no topology. */
int hwmc_rail_locate(struct hwmc_rail *rails, int num);

#endif /* HWMC_NETMOD_RAIL_RAIL_H_INCLUDED */
