/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * agenda: see agenda.h.
 */
#include "agenda.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "group.h"

#define FIRST_ROOM 16u

static void make_alone(struct hwmc_agenda_node *n)
{
    n->prev = n->next = n;
}

static bool is_in(const struct hwmc_agenda_node *n)
{
    return n->next != n;
}

static void take_out(struct hwmc_agenda_node *n)
{
    n->prev->next = n->next;
    n->next->prev = n->prev;
    make_alone(n);
}

static void append_node(struct hwmc_agenda_node *list, struct hwmc_agenda_node *n)
{
    n->prev = list->prev;
    n->next = list;
    n->prev->next = n->next->prev = n;
}

static struct hwmc_group *touched_one(struct hwmc_agenda_node *n)
{
    return (struct hwmc_group *) (void *) ((char *) n - offsetof(struct hwmc_group, item.touched));
}

static struct hwmc_group *blocked_one(struct hwmc_agenda_node *n)
{
    return (struct hwmc_group *) (void *) ((char *) n - offsetof(struct hwmc_group, item.blocked));
}

void hwmc_agenda_init(struct hwmc_agenda *a)
{
    *a = (struct hwmc_agenda){0};
    make_alone(&a->touched);
    make_alone(&a->blocked);
}

void hwmc_agenda_free(struct hwmc_agenda *a)
{
    assert(a->groups == 0);
    free(a->heap);
    hwmc_agenda_init(a);
}

bool hwmc_agenda_add(struct hwmc_agenda *a, struct hwmc_group *g)
{
    if (a->groups == a->room) {
        uint32_t room = a->room > 0 ? 2 * a->room : FIRST_ROOM;
        struct hwmc_group **heap = realloc(a->heap, room * sizeof(struct hwmc_group *));

        if (!heap)
            return false;
        a->heap = heap;
        a->room = room;
    }
    a->groups++;
    g->item = (struct hwmc_agenda_item){.wake = HWMC_NEVER};
    make_alone(&g->item.touched);
    make_alone(&g->item.blocked);
    return true;
}

void hwmc_agenda_remove(struct hwmc_agenda *a, struct hwmc_group *g)
{
    hwmc_agenda_wake(a, g, HWMC_NEVER);
    hwmc_agenda_by_trees(a, g, false);
    take_out(&g->item.touched);
    take_out(&g->item.blocked);
    a->groups--;
}

void hwmc_agenda_touch(struct hwmc_agenda *a, struct hwmc_group *g)
{
    take_out(&g->item.touched);
    append_node(&a->touched, &g->item.touched);
}

void hwmc_agenda_done(struct hwmc_agenda *a, struct hwmc_group *g)
{
    (void) a;
    take_out(&g->item.touched);
}

/* The heap. */

static void heap_put(struct hwmc_agenda *a, struct hwmc_group *g, uint32_t place)
{
    a->heap[place - 1] = g;
    g->item.place = place;
}

static uint64_t wake_of(const struct hwmc_agenda *a, uint32_t place)
{
    return a->heap[place - 1]->item.wake;
}

static void heap_rise(struct hwmc_agenda *a, struct hwmc_group *g, uint32_t place)
{
    for (; place > 1 && wake_of(a, place / 2) > g->item.wake; place /= 2)
        heap_put(a, a->heap[place / 2 - 1], place);
    heap_put(a, g, place);
}

static void heap_sink(struct hwmc_agenda *a, struct hwmc_group *g, uint32_t place)
{
    for (uint32_t below = 2 * place; below <= a->in_heap; below = 2 * place) {
        if (below < a->in_heap && wake_of(a, below + 1) < wake_of(a, below))
            below++;
        if (wake_of(a, below) >= g->item.wake)
            break;
        heap_put(a, a->heap[below - 1], place);
        place = below;
    }
    heap_put(a, g, place);
}

static void heap_settle(struct hwmc_agenda *a, struct hwmc_group *g, uint32_t place)
{
    if (place > 1 && wake_of(a, place / 2) > g->item.wake)
        heap_rise(a, g, place);
    else
        heap_sink(a, g, place);
}

static void leave_heap(struct hwmc_agenda *a, struct hwmc_group *g)
{
    uint32_t place = g->item.place;
    struct hwmc_group *last = a->heap[a->in_heap - 1];

    a->in_heap--;
    g->item.place = 0;
    if (last != g)
        heap_settle(a, last, place);
}

void hwmc_agenda_wake(struct hwmc_agenda *a, struct hwmc_group *g, uint64_t wake)
{
    bool is_there = g->item.place > 0;

    if (wake == g->item.wake)
        return;
    g->item.wake = wake;
    if (wake == HWMC_NEVER)
        leave_heap(a, g);
    else
        heap_settle(a, g, is_there ? g->item.place : ++a->in_heap);
}

/* The rest. */

void hwmc_agenda_block(struct hwmc_agenda *a, struct hwmc_group *g, bool blocked)
{
    take_out(&g->item.blocked);
    if (blocked)
        append_node(&a->blocked, &g->item.blocked);
}

void hwmc_agenda_by_trees(struct hwmc_agenda *a, struct hwmc_group *g, bool by_trees)
{
    a->by_trees += by_trees;
    a->by_trees -= g->item.by_trees;
    g->item.by_trees = by_trees;
}

static void turn_take(struct hwmc_agenda_turn *turn, struct hwmc_group *g)
{
    take_out(&g->item.touched);
    append_node(&turn->groups, &g->item.touched);
}

void hwmc_agenda_begin(struct hwmc_agenda *a, struct hwmc_agenda_turn *turn, uint64_t now,
                       bool (*unblocked)(struct hwmc_group *g, uint64_t now))
{
    make_alone(&turn->groups);
    while (is_in(&a->touched))
        turn_take(turn, touched_one(a->touched.next));
    while (a->in_heap > 0 && wake_of(a, 1) <= now) {
        struct hwmc_group *g = a->heap[0];

        hwmc_agenda_wake(a, g, HWMC_NEVER);
        turn_take(turn, g);
    }
    for (struct hwmc_agenda_node *n = a->blocked.next; n != &a->blocked; n = n->next) {
        a->looks++;
        if (unblocked(blocked_one(n), now))
            turn_take(turn, blocked_one(n));
    }
}

struct hwmc_group *hwmc_agenda_next(struct hwmc_agenda *a, struct hwmc_agenda_turn *turn)
{
    struct hwmc_agenda_node *n = turn->groups.next;

    if (n == &turn->groups)
        return NULL;
    a->looks++;
    take_out(n);
    return touched_one(n);
}

uint64_t hwmc_agenda_deadline(const struct hwmc_agenda *a)
{
    if (is_in(&a->touched))
        return 0;
    return a->in_heap > 0 ? wake_of(a, 1) : HWMC_NEVER;
}

void hwmc_agenda_check(const struct hwmc_agenda *a)
{
    assert(a->in_heap <= a->groups && a->groups <= a->room && a->by_trees <= a->groups);
    for (uint32_t place = 1; place <= a->in_heap; place++) {
        assert(a->heap[place - 1]->item.place == place);
        assert(wake_of(a, place) != HWMC_NEVER);
        assert(place == 1 || wake_of(a, place / 2) <= wake_of(a, place));
    }
    (void) a;
}
