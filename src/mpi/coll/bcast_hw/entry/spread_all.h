/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_all: a block of each member of the leader group to all members, as a stage: each
 * multicasts its block in turn (op/turns.h), or sends it to each other one (op/moves.h), whichever
 * is faster (core/model/turns_way.h).
 *
 * After an error this member's block goes without bytes: the others find another length than they
 * expect, and end with an error too.
 */

#ifndef HWMC_ENTRY_SPREAD_ALL_H_INCLUDED
#define HWMC_ENTRY_SPREAD_ALL_H_INCLUDED

#include "spread.h"
#include "../op/turns.h"

union hwmc_spread_all {
    struct hwmc_turns turns;
    struct hwmc_moves each;
};

/* Begins it. `block`: by member, where it lies or goes, of as many bytes as all members know; the
 * caller's until it is over. `rows`: for twice as many moves as there are members, during this
 * call. */
struct hwmc_op_stage *hwmc_spread_all_begin(union hwmc_spread_all *a, struct hwmc_spread *s,
                                            const struct hwmc_turn *block, struct hwmc_move *rows);

#endif /* HWMC_ENTRY_SPREAD_ALL_H_INCLUDED */
