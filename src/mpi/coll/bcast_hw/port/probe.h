/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * probe: asks another host of the job, by one rail or several, whether it is there; its kernel
 * answers, whatever its processes do. A question has a place, of HWMC_DETECTOR_PLACES; hosts have
 * numbers, alike on all processes; rails are the job's, a bit each. No call waits for anything. Not
 * thread-safe: the caller has one lock for all calls, but `describe`.
 */
#ifndef HWMC_PORT_PROBE_H_INCLUDED
#define HWMC_PORT_PROBE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hwmc_probe {
    const struct hwmc_probe_ops *ops;
    bool any; /* what lanes carry goes on while one rail is left */
};

struct hwmc_probe_ops {
    /* Rails that both have; 0: none, or it is this host, or there is no such host. */
    uint32_t (*shared)(struct hwmc_probe *k, uint32_t host);

    /* Rails on which its silence says something: by which it has ever answered a process of the
     * job, and somebody this one. */
    uint32_t (*proven)(struct hwmc_probe *k, uint32_t host);

    /* Rails that the lane for control and repair goes by; 0: not known. */
    uint32_t (*control)(struct hwmc_probe *k);

    /* Asks by these rails, instead of what was asked before at this place. Rails by which the
     * question was put; where the network refuses it at once it was. */
    uint32_t (*ask)(struct hwmc_probe *k, uint32_t place, uint32_t host, uint32_t rails);

    /* Rails that have brought an answer to it. */
    uint32_t (*answered)(struct hwmc_probe *k, uint32_t place);

    /* The place is free again. */
    void (*end)(struct hwmc_probe *k, uint32_t place);

    /* Writes "eth0 (10.77.0.3), eth1 (10.77.1.3)": its addresses by these rails, and this host's
     * ports. It may be this host, which others have found to have failed. */
    void (*describe)(struct hwmc_probe *k, uint32_t host, uint32_t rails, char *text, size_t room);
};

#endif /* HWMC_PORT_PROBE_H_INCLUDED */
