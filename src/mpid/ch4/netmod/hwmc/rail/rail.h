/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * rail: which IPv4 network ports this host has, and which of them a job uses.
 */
#ifndef HWMC_NETMOD_RAIL_RAIL_H_INCLUDED
#define HWMC_NETMOD_RAIL_RAIL_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "../../../../../mpi/coll/bcast_hw/port/err.h"
#include "../../../../../mpi/coll/bcast_hw/port/rail.h"

/* How many interfaces a host can have that discovery looks at. */
#define HWMC_RAIL_PORTS_MAX 64

/* Every interface with an IPv4 address that is up and can multicast, in the order of their kernel
 * indices; of an interface with several addresses the first; not yet located. Returns how many, at
 * most `max`; ERR_LIMIT when the system does not tell. */
int hwmc_rail_discover(struct hwmc_rail *rails, int max);

/* Chooses from the `num` ports those that `spec` names, in its order: names or subnets ("eth0",
 * "10.77.0.0/24"), separated by commas; a subnet names every port in it. An empty spec: every port
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

/* A rail of `mbit` carries nothing beside one of `fastest`: slower than a quarter. Unknown speeds,
 * 0, are not slow. */
static inline bool hwmc_rail_is_slow(uint32_t mbit, uint32_t fastest)
{
    return mbit > 0 && (uint64_t) mbit * 4 < fastest;
}

/* The network that an address is in: its first `prefix` bits. */
static inline uint32_t hwmc_rail_subnet(uint32_t addr, uint32_t prefix)
{
    return prefix == 0 ? 0 : addr & UINT32_MAX << (32 - prefix);
}

/* Fills numa and distance of `num` rails from hwloc's topology of this host, which takes
 * milliseconds to load; both are -1 where hwloc knows no such device, as for loopback. Returns how
 * many it found; ERR_LIMIT when there is no topology. */
int hwmc_rail_locate(struct hwmc_rail *rails, int num);

#endif /* HWMC_NETMOD_RAIL_RAIL_H_INCLUDED */
