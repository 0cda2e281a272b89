/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * notice: a member of a group that another one cannot reach any more. That ends the group
 * everywhere: who found it takes no part in broadcasts from then on, so others would wait for ever,
 * through it, for somebody whom they can reach. It tells its neighbours in the ring and in the tree
 * of synchronization, and they theirs.
 *
 *   SETUP, ON, CLOSING --a lane failed, a host is silent, or LOST came--> BROKEN, untold
 *   BROKEN, untold --pump--> BROKEN
 *
 * LOST may come before its receiver has begun the group, and is dropped there. It is sent once more
 * to who says anything by lane to a broken group, as that one will.
 *
 * Example, ring 0 1 2 3: nothing passes between 1 and 2, else all is well. 1 finds that out: LOST
 * to 0, which tells 3. 2, which would have found it out as well, hears of it from 3.
 *
 * Invariants: the first loss stands; a member sends LOST once to each neighbour, and once for each
 * message that comes to it later, never for LOST.
 */
#ifndef HWMC_ENGINE_GROUP_NOTICE_H_INCLUDED
#define HWMC_ENGINE_GROUP_NOTICE_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "../wire/wire.h"

struct hwmc_group;

/* What a group waits for. The values are part of the wire protocol. */
#define HWMC_STAGES(X)                                                                             \
    X(SETUP, "set-up")                                                                             \
    X(CAST, "multicast and repair")                                                                \
    X(TREES, "broadcast along trees")                                                              \
    X(SYNC, "synchronization")                                                                     \
    X(END, "closing, in MPI_Finalize")

enum hwmc_stage {
#define X(name, text) HWMC_STAGE_##name,
    HWMC_STAGES(X)
#undef X
        HWMC_STAGE_LIMIT
};

const char *hwmc_stage_text(enum hwmc_stage stage);

/* What the group waits for now. */
enum hwmc_stage hwmc_group_stage(const struct hwmc_group *g);

/* Why a group is BROKEN. */
struct hwmc_notice {
    uint32_t rank;         /* the member that is lost */
    uint32_t finder;       /* the member that cannot reach it */
    uint32_t rails;        /* that its host is silent on, a bit each; 0: a lane told */
    enum hwmc_stage stage; /* in which the finder was */
    uint64_t at;           /* ns: when this rank got to know */
    bool untold;           /* the neighbours do not know it from here */
};

/* A lane of this process failed, to a process that may be a member. */
void hwmc_group_on_lost(struct hwmc_group *g, uint32_t world_rank);

/* The member's host is silent on these rails, at least one. */
void hwmc_group_on_failed(struct hwmc_group *g, uint32_t member, uint32_t rails);

/* LOST came, or anything else for a group that is broken. */
void hwmc_group_on_told(struct hwmc_group *g, const struct hwmc_msg *msg);
void hwmc_group_tell_again(struct hwmc_group *g, const struct hwmc_msg *msg);

/* Of pump, BROKEN: neighbours get to know what they have not been told. */
void hwmc_group_tell_lost(struct hwmc_group *g);

#endif /* HWMC_ENGINE_GROUP_NOTICE_H_INCLUDED */
