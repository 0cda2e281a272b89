/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * names: see names.h.
 */
#include "names.h"

#include <assert.h>
#include <stddef.h>

#include "../core/prng.h"
#include "group.h"

static uint32_t list_of(uint32_t leader, uint64_t name)
{
    return (uint32_t) (bcast_hw_prng(leader, name) % BCAST_HW_NAMES_LISTS);
}

static uint32_t list_by(const struct bcast_hw_group *g, enum bcast_hw_names_kind kind)
{
    switch (kind) {
        case BCAST_HW_NAMES_KEY:
            return list_of(g->id.leader, g->cfg.key);
        case BCAST_HW_NAMES_GENERATION:
            return list_of(g->id.leader, g->id.generation);
        default:
            return list_of(0, g->number);
    }
}

static void add(struct bcast_hw_names *n, struct bcast_hw_group *g, enum bcast_hw_names_kind kind)
{
    struct bcast_hw_group **first = &n->first[kind][list_by(g, kind)];

    g->same[kind] = *first;
    *first = g;
}

/* If it is there. */
static void take_out(struct bcast_hw_names *n, struct bcast_hw_group *g,
                     enum bcast_hw_names_kind kind)
{
    struct bcast_hw_group **at = &n->first[kind][list_by(g, kind)];

    while (*at && *at != g)
        at = &(*at)->same[kind];
    if (*at)
        *at = g->same[kind];
}

void bcast_hw_names_add(struct bcast_hw_names *n, struct bcast_hw_group *g)
{
    add(n, g, BCAST_HW_NAMES_KEY);
    add(n, g, BCAST_HW_NAMES_NUMBER);
}

void bcast_hw_names_has_generation(struct bcast_hw_names *n, struct bcast_hw_group *g)
{
    add(n, g, BCAST_HW_NAMES_GENERATION);
}

void bcast_hw_names_remove(struct bcast_hw_names *n, struct bcast_hw_group *g)
{
    for (int kind = 0; kind < BCAST_HW_NAMES_KINDS; kind++)
        take_out(n, g, (enum bcast_hw_names_kind) kind);
}

bool bcast_hw_names_is_by_key(enum bcast_hw_msg_type type)
{
    return type == BCAST_HW_MSG_INVITE || type == BCAST_HW_MSG_REPORT ||
           type == BCAST_HW_MSG_DECIDE || type == BCAST_HW_MSG_LOST;
}

static bool names(const struct bcast_hw_group *g, const struct bcast_hw_wire_in *in)
{
    if (g->id.leader != in->id.leader || g->over || (!in->cast && g->id.context != in->id.context))
        return false;
    if (bcast_hw_names_is_by_key(in->msg.type))
        return in->id.generation == 0 && in->msg.bid == g->cfg.key;
    return g->running && g->id.generation == in->id.generation;
}

struct bcast_hw_group *bcast_hw_names_of(struct bcast_hw_names *n,
                                         const struct bcast_hw_wire_in *in)
{
    const bool by_key = bcast_hw_names_is_by_key(in->msg.type);
    const enum bcast_hw_names_kind kind = by_key ? BCAST_HW_NAMES_KEY : BCAST_HW_NAMES_GENERATION;
    struct bcast_hw_group *g =
        n->first[kind][list_of(in->id.leader, by_key ? in->msg.bid : in->id.generation)];

    for (; g; g = g->same[kind]) {
        n->looks++;
        if (names(g, in))
            return g;
    }
    return NULL;
}

struct bcast_hw_group *bcast_hw_names_numbered(struct bcast_hw_names *n, uint32_t number)
{
    struct bcast_hw_group *g = n->first[BCAST_HW_NAMES_NUMBER][list_of(0, number)];

    while (g && g->number != number) {
        n->looks++;
        g = g->same[BCAST_HW_NAMES_NUMBER];
    }
    return g;
}

static bool is_in(const struct bcast_hw_names *n, const struct bcast_hw_group *g,
                  enum bcast_hw_names_kind kind)
{
    const struct bcast_hw_group *at = n->first[kind][list_by(g, kind)];

    while (at && at != g)
        at = at->same[kind];
    return at != NULL;
}

void bcast_hw_names_check(const struct bcast_hw_names *n, const struct bcast_hw_group *g)
{
    assert(is_in(n, g, BCAST_HW_NAMES_KEY) && is_in(n, g, BCAST_HW_NAMES_NUMBER));
    assert(is_in(n, g, BCAST_HW_NAMES_GENERATION) == (g->id.generation != 0));
    (void) n;
    (void) g;
}
