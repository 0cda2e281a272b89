/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * agenda: which groups of a process have something to do: those that something happened to, those
 * whose timer fires (a binary heap), those whose multicast waits for room. The others cost nothing,
 * however many there are.
 *
 * Example: of 1,500 groups 2 were touched and 1 waits for room: a turn looks at 3, and at the
 * heap's first.
 *
 * Invariants (bcast_hw_agenda_check): a group has one place in the heap if its time is not NEVER,
 * else none; no group comes before the one above it there; as many groups go along trees as say so.
 */
#ifndef BCAST_HW_AGENDA_H_INCLUDED
#define BCAST_HW_AGENDA_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

struct bcast_hw_group;

/* In a circle with the list's own; alone in it: in no list. */
struct bcast_hw_agenda_node {
    struct bcast_hw_agenda_node *prev, *next;
};

/* What a group has of it. */
struct bcast_hw_agenda_item {
    struct bcast_hw_agenda_node touched, blocked;
    uint64_t wake;  /* ns at which its timer fires; NEVER */
    uint32_t place; /* in the heap, from 1 on; 0: in none */
    bool by_trees;
};

struct bcast_hw_agenda {
    struct bcast_hw_agenda_node touched, blocked;
    struct bcast_hw_group **heap; /* place 1 is heap[0] */
    uint32_t in_heap, room;
    uint32_t groups;
    uint32_t by_trees; /* of them */
    uint64_t looks;    /* at a group, to see whether it has something to do, or as it has */
};

void bcast_hw_agenda_init(struct bcast_hw_agenda *a);

/* Only without groups. */
void bcast_hw_agenda_free(struct bcast_hw_agenda *a);

/* A group that is new, with nothing to do; one that is about to be freed. add: false without
 * memory. */
bool bcast_hw_agenda_add(struct bcast_hw_agenda *a, struct bcast_hw_group *g);
void bcast_hw_agenda_remove(struct bcast_hw_agenda *a, struct bcast_hw_group *g);

/* Something happened to the group; it has been cared for. */
void bcast_hw_agenda_touch(struct bcast_hw_agenda *a, struct bcast_hw_group *g);
void bcast_hw_agenda_done(struct bcast_hw_agenda *a, struct bcast_hw_group *g);

/* Its timer fires at `wake` ns. A multicast of it waits for room, or not. A broadcast of it goes
 * along trees, or not. */
void bcast_hw_agenda_wake(struct bcast_hw_agenda *a, struct bcast_hw_group *g, uint64_t wake);
void bcast_hw_agenda_block(struct bcast_hw_agenda *a, struct bcast_hw_group *g, bool blocked);
void bcast_hw_agenda_by_trees(struct bcast_hw_agenda *a, struct bcast_hw_group *g, bool by_trees);

/* Takes those that have something to do at `now`, of the blocked ones those that `unblocked` says
 * so of; each once. A group that is removed or cared for meanwhile does not come. */
struct bcast_hw_agenda_turn {
    struct bcast_hw_agenda_node groups;
};
void bcast_hw_agenda_begin(struct bcast_hw_agenda *a, struct bcast_hw_agenda_turn *turn,
                           uint64_t now, bool (*unblocked)(struct bcast_hw_group *g, uint64_t now));

/* The next one of them, which is in the turn no more; NULL: there is none. */
struct bcast_hw_group *bcast_hw_agenda_next(struct bcast_hw_agenda *a,
                                            struct bcast_hw_agenda_turn *turn);

/* ns at which there is something to do; 0: there is; NEVER. */
uint64_t bcast_hw_agenda_deadline(const struct bcast_hw_agenda *a);

void bcast_hw_agenda_check(const struct bcast_hw_agenda *a);

#endif /* BCAST_HW_AGENDA_H_INCLUDED */
