/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * knock: asks the host of another process of the job, by one rail or several, whether it is there; its kernel answers,
 * whatever the process does. A question has a place, of BCAST_HW_ROLL_PLACES; a peer is a rank in MPI_COMM_WORLD;
 * rails are the job's, a bit each. No call waits for the network. Not thread-safe: the caller has one lock for all
 * calls, but `describe`.
 */
#ifndef BCAST_HW_KNOCK_H_INCLUDED
#define BCAST_HW_KNOCK_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bcast_hw_knock {
    const struct bcast_hw_knock_ops *ops;
    bool any; /* what lanes carry goes on while one rail is left */
};

struct bcast_hw_knock_ops {
    /* Rails that both have; 0: none, or it is on this host, or nobody knows. May ask the process manager. */
    uint32_t (*shared)(struct bcast_hw_knock *k, uint32_t peer);

    /* Rails by which somebody has ever answered here: where none has, silence says nothing. */
    uint32_t (*proven)(struct bcast_hw_knock *k);

    /* Rails that the lane for control and repair goes by; 0: not known. */
    uint32_t (*control)(struct bcast_hw_knock *k);

    /* Asks by these rails, instead of what was asked before at this place. Rails by which the question was put; where
     * the network refuses it at once it was. */
    uint32_t (*ask)(struct bcast_hw_knock *k, uint32_t place, uint32_t peer, uint32_t rails);

    /* Rails that have brought an answer to it. */
    uint32_t (*answered)(struct bcast_hw_knock *k, uint32_t place);

    /* The place is free again. */
    void (*end)(struct bcast_hw_knock *k, uint32_t place);

    /* Writes "eth0 (10.77.0.3), eth1 (10.77.1.3)": the peer's addresses by these rails, and this host's ports. */
    void (*describe)(struct bcast_hw_knock *k, uint32_t peer, uint32_t rails, char *text,
                     size_t room);
};

#endif /* BCAST_HW_KNOCK_H_INCLUDED */
