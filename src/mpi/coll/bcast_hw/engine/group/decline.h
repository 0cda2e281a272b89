/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * decline: a rank without memory for a group declines it for all members. It takes part in the
 * set-up of the group (core/negotiation) with reason NOMEM: it reports to its parent, and passes
 * the leader's decision on to its children. Trees do not help against that reason, so set-up ends
 * with NO at every member, and nobody waits for a report that never comes.
 *
 * This takes no memory: a decline knows only its neighbours in the ring and the tree, and the
 * engine has room for HWMC_DECLINES of them. It ends when the leader's decision has come and the
 * children have it, or when a member is lost; then it sends LOST to the neighbours, as a group does
 * (core/failure/notice.h).
 *
 * Example, p = 3, fanout 2: rank 1 has no memory. REPORT(NOMEM) from 1 to 0, REPORT from 2 to 0;
 * rank 0 decides NO: DECIDE to 1 and 2.
 */
#ifndef HWMC_ENGINE_GROUP_DECLINE_H_INCLUDED
#define HWMC_ENGINE_GROUP_DECLINE_H_INCLUDED

#include "../../core/negotiation/negotiation.h"
#include "../wire/wire.h"

#define HWMC_DECLINES 16u /* that may be under way at a time */

struct hwmc_groups;

#define HWMC_DECLINE_NEIGHBOURS (3 + HWMC_FANOUT_MAX)

/* The group that is declined: fields as in struct hwmc_group_cfg. */
struct hwmc_decline_cfg {
    uint32_t context;
    uint32_t size;
    uint32_t rank;
    uint32_t fanout;
    uint64_t key;
    uint32_t leader; /* rank in MPI_COMM_WORLD of rank 0 */
    /* This rank's neighbours: before it and after it in the ring, its parent, its children. Some
     * may be the same. */
    uint32_t num_neighbours;
    uint32_t neighbour[HWMC_DECLINE_NEIGHBOURS];
    uint32_t world[HWMC_DECLINE_NEIGHBOURS]; /* their ranks in MPI_COMM_WORLD */
};

/* Sets which ranks are neighbours, by size, rank and fanout. */
void hwmc_decline_list(struct hwmc_decline_cfg *cfg);

struct hwmc_decline {
    bool used;
    struct hwmc_decline_cfg cfg;
    struct hwmc_wire_id id;
    struct hwmc_negotiation negotiation; /* its phase is OFFER or NO */
};

struct hwmc_declines {
    struct hwmc_decline one[HWMC_DECLINES];
    uint32_t num; /* that are used */
};

/* Begins to decline a group. False: as many are under way as there is room for; nothing was
 * done. */
bool hwmc_decline_begin(struct hwmc_groups *all, const struct hwmc_decline_cfg *cfg, uint64_t now);

/* A message that no group is named by. False: it names no declined group either. */
bool hwmc_decline_on_recv(struct hwmc_groups *all, const struct hwmc_wire_in *in, uint64_t now);

/* The lane to this process failed. Other neighbours are told where it is a neighbour. */
void hwmc_decline_on_lost(struct hwmc_groups *all, uint32_t world_rank);

#endif /* HWMC_ENGINE_GROUP_DECLINE_H_INCLUDED */
