/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * rail: one network port of this host, as discovery found it. Plain data.
 */
#ifndef HWMC_PORT_RAIL_H_INCLUDED
#define HWMC_PORT_RAIL_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "addr.h"

#define HWMC_RAILS_MAX 8
#define HWMC_RAIL_NAME_MAX 32

struct hwmc_rail {
    char name[HWMC_RAIL_NAME_MAX]; /* of the network interface, e.g. "eth0" */
    uint32_t index;                /* the kernel's interface index */
    struct hwmc_addr addr;         /* that the job uses, or would */
    uint32_t prefix;               /* of its subnet, bits */
    struct hwmc_addr other;        /* one of the other family, where the port has both */
    uint32_t other_prefix;
    uint32_t mtu;  /* bytes */
    uint32_t mbit; /* speed in Mbit/s; 0 when the system does not say */
    int numa;      /* nearest NUMA node; -1: unknown, or no device */
    int distance;  /* NUMA distance to this process's cores; 10: local; -1: unknown */
    bool up;
    bool loopback;
    bool bridge; /* between guests of this host, as a rule */
};

#endif /* HWMC_PORT_RAIL_H_INCLUDED */
