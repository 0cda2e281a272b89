/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * host_stage: the way of one message inside a host, as a machine that is stepped and never waits:
 * a broadcast over the ranks' shared memory (shm/coll/bcast) from the rank that has the message, or
 * gets it piece by piece. Each step does what can be done now.
 */

#ifndef HWMC_OP_HOST_STAGE_H_INCLUDED
#define HWMC_OP_HOST_STAGE_H_INCLUDED

#include "../shm/coll/bcast.h"

struct hwmc_host_stage {
    struct hwmc_shm_bcast b;
    bool over;         /* inside the host nothing is left for this rank to do */
    enum hwmc_err err; /* over: how */
};

struct hwmc_host_cfg {
    struct hwmc_shm_group *group; /* its parameters are those for this message */
    struct hwmc_shm_tree tree;
    uint32_t from; /* the rank of the host that the others have it from */
};

/* The message of `bytes` at `memory`. `here`: bytes that are there; more than 0 at cfg->from only.
 */
void hwmc_host_stage_begin(struct hwmc_host_stage *s, const struct hwmc_host_cfg *cfg, void *memory,
                           uint64_t bytes, uint64_t here);

/* At cfg->from: its first `bytes` are there now. */
void hwmc_host_stage_more(struct hwmc_host_stage *s, uint64_t bytes);

void hwmc_host_stage_step(struct hwmc_host_stage *s);

/* Bytes of the message that are in this rank's memory. */
static inline uint64_t hwmc_host_stage_here(const struct hwmc_host_stage *s)
{
    return s->b.here;
}

/* There is more to do as soon as others of the host are ready. */
static inline bool hwmc_host_stage_behind(const struct hwmc_host_stage *s)
{
    return !s->over && hwmc_shm_bcast_behind(&s->b);
}

#endif /* HWMC_OP_HOST_STAGE_H_INCLUDED */
