/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * bcast: one broadcast at one rank, as an operation: begun, stepped until it is over, never
 * waiting. It has a stage in the network (op/net_stage), or one inside the host (op/host_stage), or
 * both: then one rank of each host takes part in the network's broadcast, the one in its leader
 * group (comm/leader_group.h), and all get the message inside their host as it comes.
 *
 *   the root, a leader       has it all; others take it while it is sent
 *   the root                 has it all; others take it
 *   another of its host      from the root, chunk by chunk; a leader sends each piece then
 *   a leader of another host gives on what the network has brought
 *   the others               take it chunk by chunk
 *
 * Invariants: each stage has as much of the message as the one that it has it from; over: nothing
 * of the program's memory is in use. A stage that fails ends the other.
 */

#ifndef HWMC_OP_BCAST_H_INCLUDED
#define HWMC_OP_BCAST_H_INCLUDED

#include "host_stage.h"
#include "net_stage.h"

struct hwmc_bcast_cfg {
    struct hwmc_buffer buffer;
    bool is_root;
    struct hwmc_net_cfg net;   /* group NULL: no part in the network's; its buffer is filled in */
    struct hwmc_host_cfg host; /* group NULL: each gets it by itself */
};

/* A bit each. */
enum hwmc_bcast_stage { HWMC_BCAST_NET = 1, HWMC_BCAST_HOST = 2 };

struct hwmc_bcast {
    struct hwmc_buffer buffer; /* the program's */
    struct hwmc_buffer whole;  /* what stages work on: the same, or a copy in one piece */
    bool is_root;
    uint8_t stages;    /* that it has: of enum hwmc_bcast_stage */
    enum hwmc_err err; /* the first error; of the network, unless in_host */
    bool in_host;
    bool over;
    uint64_t now; /* ns: of the engine's last progress, as the last step saw it */
    struct hwmc_net_stage net;
    struct hwmc_host_stage host;
};

/* What it waits for, if it is not over. */
enum hwmc_bcast_wait {
    HWMC_BCAST_FOR_NET, /* what the network brings */
    HWMC_BCAST_FOR_HOST /* other ranks of the host */
};

static inline bool hwmc_bcast_by_net(const struct hwmc_bcast *b)
{
    return (b->stages & HWMC_BCAST_NET) != 0;
}

static inline bool hwmc_bcast_by_host(const struct hwmc_bcast *b)
{
    return (b->stages & HWMC_BCAST_HOST) != 0;
}

/* Begins it; without memory it has failed. Both groups are between two broadcasts. */
void hwmc_bcast_begin(struct hwmc_bcast *b, const struct hwmc_bcast_cfg *cfg);

/* Does what can be done; not under the engine's lock. True: it is over. */
bool hwmc_bcast_step(struct hwmc_bcast *b);

enum hwmc_bcast_wait hwmc_bcast_waits(const struct hwmc_bcast *b);

/* It cannot go on. It is stepped further, until it is over. */
void hwmc_bcast_fail(struct hwmc_bcast *b, enum hwmc_err err);

#endif /* HWMC_OP_BCAST_H_INCLUDED */
