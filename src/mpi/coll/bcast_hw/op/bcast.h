/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * bcast: one broadcast at one rank, as an operation: begun, stepped until it is over, never
 * waiting. It has a stage in the network (op/net_stage), or one inside the host (op/host_stage), or
 * both: then one rank of each host takes part in the network's broadcast, the one in its leader
 * group (comm/leader_group.h), and all get the message inside their host as it comes.
 *
 * Where hosts are at several sites it may go by two kinds of groups (comm/site_groups.h): the
 * members of each site, and the first one of each. Then a member of both is a gateway: it has a
 * second stage in the network, which sends in one group what comes by the other.
 *
 *   the root, a leader       has it all; others take it while it is sent
 *   the root                 has it all; others take it
 *   another of its host      from the root, chunk by chunk; a leader sends each piece then
 *   a leader of another host gives on what the network has brought
 *   the others               take it chunk by chunk
 *
 *   in the root's site       the root: inside it; its first member gives on to those of the others
 *   in another site          its first member gives on to the others
 *
 * Invariants: each stage has as much of the message as the one that it has it from; over: nothing
 * of the program's memory is in use. A stage that fails ends the others. Of net.group,
 * gateway.group and `all`, none is BROKEN for longer than a step while another is not.
 */

#ifndef HWMC_OP_BCAST_H_INCLUDED
#define HWMC_OP_BCAST_H_INCLUDED

#include "host_stage.h"
#include "net_stage.h"
#include "stage.h"

struct hwmc_bcast_cfg {
    struct hwmc_buffer buffer;
    bool is_root;
    struct hwmc_net_cfg net;     /* group NULL: no part in the network's; its buffer is filled in */
    struct hwmc_net_cfg gateway; /* group NULL: there is none; is_root, and its buffer likewise */
    /* NULL, or, where those that take part in the network are not in one group, that of all of
     * them: it fails with each of theirs. */
    struct hwmc_group *all;
    struct hwmc_host_cfg host; /* group NULL: each gets it by itself */
};

/* A bit each. */
enum hwmc_bcast_stage { HWMC_BCAST_NET = 1, HWMC_BCAST_HOST = 2, HWMC_BCAST_GATEWAY = 4 };

struct hwmc_bcast {
    struct hwmc_op_stage stage;
    struct hwmc_buffer buffer; /* the program's */
    struct hwmc_buffer whole;  /* what stages work on: the same, or a copy in one piece */
    bool is_root;
    uint8_t stages; /* that it has: of enum hwmc_bcast_stage */
    struct hwmc_group *all;
    struct hwmc_net_stage net, gateway;
    struct hwmc_host_stage host;
};

static inline bool hwmc_bcast_by_net(const struct hwmc_bcast *b)
{
    return (b->stages & HWMC_BCAST_NET) != 0;
}

static inline bool hwmc_bcast_by_host(const struct hwmc_bcast *b)
{
    return (b->stages & HWMC_BCAST_HOST) != 0;
}

static inline bool hwmc_bcast_by_gateway(const struct hwmc_bcast *b)
{
    return (b->stages & HWMC_BCAST_GATEWAY) != 0;
}

/* Begins it; without memory it has failed. All its groups are between two broadcasts. It is run as
 * b->stage. */
void hwmc_bcast_begin(struct hwmc_bcast *b, const struct hwmc_bcast_cfg *cfg);

#endif /* HWMC_OP_BCAST_H_INCLUDED */
