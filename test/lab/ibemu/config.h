/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What the environment says: README.md has the list.
 */
#ifndef HWMC_TEST_LAB_IBEMU_CONFIG_H_INCLUDED
#define HWMC_TEST_LAB_IBEMU_CONFIG_H_INCLUDED

#include "hca.h"

struct em_config {
    struct em_port ports[EM_PORTS_MAX]; /* num, name, ifindex, addr, mtu and lmc */
    int num_ports;
    uint16_t udp_port;
    unsigned drop; /* per mille */
    uint64_t seed;
    struct em_joins joins;
    const char *control; /* path of the control file; NULL: none */
};

/* Reads the environment and looks at the interfaces. Returns 0, or an errno after a line on
 * standard error that says what is wrong. */
int em_config_read(struct em_config *config);

#endif /* HWMC_TEST_LAB_IBEMU_CONFIG_H_INCLUDED */
