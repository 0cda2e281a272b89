/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * addr: an address of a network port, IPv4 or IPv6. Plain data; what is done with it is in the
 * netmod's base/addr.h.
 */
#ifndef HWMC_PORT_ADDR_H_INCLUDED
#define HWMC_PORT_ADDR_H_INCLUDED

#include <stdint.h>

enum hwmc_family { HWMC_NO_FAMILY = 0, HWMC_IPV4 = 4, HWMC_IPV6 = 6 };

struct hwmc_addr {
    uint32_t family;   /* enum hwmc_family; NO_FAMILY: there is none */
    uint8_t bytes[16]; /* as on the wire; IPv4: the first 4, and the others are 0 */
};

#endif /* HWMC_PORT_ADDR_H_INCLUDED */
