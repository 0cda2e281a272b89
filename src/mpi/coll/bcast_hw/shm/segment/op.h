/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * op: a collective under way at one rank. `begin` of the collective fills a struct that begins with
 * this one; the caller then calls step until it does not answer AGAIN. A step does what can be done
 * now and never waits, so that the caller can have the network make progress between two of them.
 * It copies a chunk at most, or copy_step bytes (params.h).
 */
#ifndef HWMC_SHM_SEGMENT_OP_H_INCLUDED
#define HWMC_SHM_SEGMENT_OP_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "../../port/err.h"
#include "group.h"

struct hwmc_shm_op {
    struct hwmc_shm_group *group; /* borrowed until it is done */
    uint64_t serial;              /* the group's, of this collective */
    int (*step)(struct hwmc_shm_op *op);
    int verdict; /* what it answers at its end: OK; ERR_INVAL: lengths disagree, slot.h */
    bool opened; /* the lines of this rank are open */
    bool waited; /* a step had to */
    bool moved; /* the last step copied something: the next may, though nobody else does anything */
};

/* OK: done at this rank, not to be called again; AGAIN: others have to come first, or there is more
 * to do; negative: it failed. Then the group is of no use any more, unless it is in step
 * (shm/segment/group.h): the collective is done with, and only its data are not right. */
static inline int hwmc_shm_op_step(struct hwmc_shm_op *op)
{
    int err;

    op->moved = false;
    op->group->awaits = HWMC_SHM_ANYONE;
    err = op->step(op);
    if (err == HWMC_AGAIN && !op->moved)
        op->waited = true;
    return err;
}

/* For collectives. The group's next one begins; its last one is done. */
void hwmc_shm_op_begin(struct hwmc_shm_op *op, struct hwmc_shm_group *g,
                       int (*step)(struct hwmc_shm_op *op));

/* For collectives: this rank owes nobody anything for it. The verdict. */
int hwmc_shm_op_end(struct hwmc_shm_op *op);

/* A step with nothing to do but to end. */
int hwmc_shm_op_nothing(struct hwmc_shm_op *op);

#endif /* HWMC_SHM_SEGMENT_OP_H_INCLUDED */
