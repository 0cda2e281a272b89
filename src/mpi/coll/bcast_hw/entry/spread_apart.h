/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_apart: the vectors of the members of the leader group, cut into a block for each member,
 * which combines those of its block: a reduce-scatter between them, as a stage (op/moves.h), then
 * the combining. Each has all operands of its block come, and combines them in the order of
 * members.
 *
 * After an error this member's blocks have no bytes: the others find another length, and end with
 * an error too.
 */

#ifndef HWMC_ENTRY_SPREAD_APART_H_INCLUDED
#define HWMC_ENTRY_SPREAD_APART_H_INCLUDED

#include "spread.h"
#include "../shm/coll/operation.h"
#include "../shm/coll/vector.h"

struct hwmc_spread_apart {
    struct hwmc_spread *spread;
    const struct hwmc_shm_operation *operation;
    const struct hwmc_shm_range *block; /* by member: in the vector; the caller's */
    enum hwmc_spread_plan plan;
    uint32_t members, member; /* how many, and this one */
    uint64_t slot;            /* bytes from an operand to the next */
    char *operands;           /* of this member's block, by member */
    struct hwmc_move *rows;
    struct hwmc_moves moves;
};

/* False without memory. */
bool hwmc_spread_apart_init(struct hwmc_spread_apart *a, struct hwmc_spread *s,
                            const struct hwmc_shm_operation *operation,
                            const struct hwmc_shm_range *block, enum hwmc_spread_plan plan);
void hwmc_spread_apart_free(struct hwmc_spread_apart *a);

/* Begins it: `vector` is this member's, which does not change until it is over. */
struct hwmc_op_stage *hwmc_spread_apart_begin(struct hwmc_spread_apart *a, const void *vector);

/* It is over, without an error: combines, and returns where the result is until `free`. */
char *hwmc_spread_apart_combine(struct hwmc_spread_apart *a);

#endif /* HWMC_ENTRY_SPREAD_APART_H_INCLUDED */
