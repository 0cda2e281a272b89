/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * names: finds the group that a message is for among all groups of a process, without a look at the
 * others: by the key of its set-up, by its generation once it has one, and by the number that it
 * has in this process.
 *
 * Invariants (bcast_hw_names_check): a group is in the lists of its key and its number, and in that
 * of its generation once it has one.
 */
#ifndef BCAST_HW_NAMES_H_INCLUDED
#define BCAST_HW_NAMES_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

#define BCAST_HW_NAMES_LISTS 1024u

struct bcast_hw_group;

enum bcast_hw_names_kind {
    BCAST_HW_NAMES_KEY,
    BCAST_HW_NAMES_GENERATION,
    BCAST_HW_NAMES_NUMBER,
    BCAST_HW_NAMES_KINDS
};

/* By hash. The next group of a list is in the group. */
struct bcast_hw_names {
    struct bcast_hw_group *first[BCAST_HW_NAMES_KINDS][BCAST_HW_NAMES_LISTS];
    uint64_t looks; /* at a group, to see whether it is the one */
};

/* A group that is new; one that has a generation now; one that is about to be freed. */
void bcast_hw_names_add(struct bcast_hw_names *n, struct bcast_hw_group *g);
void bcast_hw_names_has_generation(struct bcast_hw_names *n, struct bcast_hw_group *g);
void bcast_hw_names_remove(struct bcast_hw_names *n, struct bcast_hw_group *g);

/* A message of this type is for a group that may have no generation yet. */
bool bcast_hw_names_is_by_key(enum bcast_hw_msg_type type);

/* The group that the message is for, as long as it is not over; NULL. What is not by key reaches a
 * group's stream, so only once that runs. */
struct bcast_hw_group *bcast_hw_names_of(struct bcast_hw_names *n,
                                         const struct bcast_hw_wire_in *in);

/* The group with this number; NULL. */
struct bcast_hw_group *bcast_hw_names_numbered(struct bcast_hw_names *n, uint32_t number);

/* `g` is one of `n`'s. */
void bcast_hw_names_check(const struct bcast_hw_names *n, const struct bcast_hw_group *g);

#endif /* BCAST_HW_NAMES_H_INCLUDED */
