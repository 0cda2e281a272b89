/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * names: finds the group that a message is for: by the key of its set-up, by its generation once it
 * has one, and by its number in this process. It visits no other group.
 *
 * Invariants (hwmc_names_check): a group is in the lists of its key and its number, and in that
 * of its generation once it has one.
 */
#ifndef HWMC_ENGINE_GROUP_NAMES_H_INCLUDED
#define HWMC_ENGINE_GROUP_NAMES_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "../wire/wire.h"

#define HWMC_NAMES_LISTS 1024u

struct hwmc_group;

enum hwmc_names_kind { HWMC_NAMES_KEY, HWMC_NAMES_GENERATION, HWMC_NAMES_NUMBER, HWMC_NAMES_KINDS };

/* By hash. The next group of a list is in the group. */
struct hwmc_names {
    struct hwmc_group *first[HWMC_NAMES_KINDS][HWMC_NAMES_LISTS];
    struct hwmc_group *last; /* that a message was for, but for set-up; NULL */
    uint64_t looks;          /* at a group, to see whether it is the one */
};

/* A group that is new; one that has a generation now; one that is about to be freed. */
void hwmc_names_add(struct hwmc_names *n, struct hwmc_group *g);
void hwmc_names_has_generation(struct hwmc_names *n, struct hwmc_group *g);
void hwmc_names_remove(struct hwmc_names *n, struct hwmc_group *g);

/* The group that the message is for, as long as it is not over; NULL. What is not by key reaches a
 * group's stream, so only once that runs. */
struct hwmc_group *hwmc_names_of(struct hwmc_names *n, const struct hwmc_wire_in *in);

/* The group with this number; NULL. */
struct hwmc_group *hwmc_names_numbered(struct hwmc_names *n, uint32_t number);

/* `g` is one of `n`'s. */
void hwmc_names_check(const struct hwmc_names *n, const struct hwmc_group *g);

#endif /* HWMC_ENGINE_GROUP_NAMES_H_INCLUDED */
