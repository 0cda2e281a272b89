/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * agenda: the groups of a process that have something to do: those that an event touched, those
 * whose timer fires (a binary heap), those whose multicast waits for room. The others cost nothing,
 * however many there are.
 *
 * Example: of 1,500 groups 2 were touched and 1 waits for room: a turn visits 3, and the heap's
 * first.
 *
 * Invariants (hwmc_agenda_check): a group has one entry in the heap if its time is not NEVER,
 * otherwise none; the heap is ordered; the number of groups along trees is right.
 */
#ifndef HWMC_ENGINE_GROUP_AGENDA_H_INCLUDED
#define HWMC_ENGINE_GROUP_AGENDA_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

struct hwmc_group;

/* In a circle with the list's own; alone in it: in no list. */
struct hwmc_agenda_node {
    struct hwmc_agenda_node *prev, *next;
};

/* What a group has of it. */
struct hwmc_agenda_item {
    struct hwmc_agenda_node touched, blocked;
    uint64_t wake;  /* ns at which its timer fires; NEVER */
    uint32_t place; /* in the heap, from 1 on; 0: in none */
    bool by_trees;
};

struct hwmc_agenda {
    struct hwmc_agenda_node touched, blocked;
    struct hwmc_group **heap; /* place 1 is heap[0] */
    uint32_t in_heap, room;
    uint32_t groups;
    uint32_t by_trees; /* of them */
    uint64_t looks;    /* at a group, to see whether it has something to do, or as it has */
};

void hwmc_agenda_init(struct hwmc_agenda *a);

/* Only without groups. */
void hwmc_agenda_free(struct hwmc_agenda *a);

/* A group that is new, with nothing to do; one that is about to be freed. add: false without
 * memory. */
bool hwmc_agenda_add(struct hwmc_agenda *a, struct hwmc_group *g);
void hwmc_agenda_remove(struct hwmc_agenda *a, struct hwmc_group *g);

/* Something happened to the group; it has been cared for. */
void hwmc_agenda_touch(struct hwmc_agenda *a, struct hwmc_group *g);
void hwmc_agenda_done(struct hwmc_agenda *a, struct hwmc_group *g);

/* Its timer fires at `wake` ns. A multicast of it waits for room, or not. A broadcast of it goes
 * along trees, or not. */
void hwmc_agenda_wake(struct hwmc_agenda *a, struct hwmc_group *g, uint64_t wake);
void hwmc_agenda_block(struct hwmc_agenda *a, struct hwmc_group *g, bool blocked);
void hwmc_agenda_by_trees(struct hwmc_agenda *a, struct hwmc_group *g, bool by_trees);

/* Takes those that have something to do at `now`, of the blocked ones those that `unblocked` says
 * so of; each once. A group that is removed or cared for meanwhile does not come. */
struct hwmc_agenda_turn {
    struct hwmc_agenda_node groups;
};
void hwmc_agenda_begin(struct hwmc_agenda *a, struct hwmc_agenda_turn *turn, uint64_t now,
                       bool (*unblocked)(struct hwmc_group *g, uint64_t now));

/* The next one of them, which is in the turn no more; NULL: there is none. */
struct hwmc_group *hwmc_agenda_next(struct hwmc_agenda *a, struct hwmc_agenda_turn *turn);

/* ns at which there is something to do; 0: there is; NEVER. */
uint64_t hwmc_agenda_deadline(const struct hwmc_agenda *a);

void hwmc_agenda_check(const struct hwmc_agenda *a);

#endif /* HWMC_ENGINE_GROUP_AGENDA_H_INCLUDED */
