/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * doctor_tap: sees the multicast packets that a network port gets, whether or not this host has
 * joined their groups, and before any firewall of this host. Needs CAP_NET_RAW.
 */
#ifndef HWMC_NETMOD_TOOLS_DOCTOR_TAP_H_INCLUDED
#define HWMC_NETMOD_TOOLS_DOCTOR_TAP_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "../base/addr.h"
#include "../../../../../mpi/coll/bcast_hw/port/rail.h"

/* A descriptor that becomes readable when there are packets of the rail's family; -1: this process
 * may not. */
int hwmc_doctor_tap_open(const struct hwmc_rail *rail);

enum hwmc_doctor_packet_kind {
    HWMC_DOCTOR_PACKET_UDP,
    HWMC_DOCTOR_PACKET_QUERY /* of IGMP, MLD */
};

struct hwmc_doctor_packet {
    enum hwmc_doctor_packet_kind kind;
    struct hwmc_addr from, to;
};

/* The next packet of one of these kinds that has come over the wire; false: there is none yet. */
bool hwmc_doctor_tap_read(int fd, struct hwmc_doctor_packet *packet);

#endif /* HWMC_NETMOD_TOOLS_DOCTOR_TAP_H_INCLUDED */
