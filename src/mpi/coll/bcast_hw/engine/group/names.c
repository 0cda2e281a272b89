/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * names: see names.h.
 */
#include "names.h"

#include <assert.h>
#include <stddef.h>

#include "../../core/base/prng.h"
#include "group.h"

static uint32_t list_of(uint32_t leader, uint64_t name)
{
    return (uint32_t) (hwmc_prng(leader, name) % HWMC_NAMES_LISTS);
}

static uint32_t list_by(const struct hwmc_group *g, enum hwmc_names_kind kind)
{
    switch (kind) {
        case HWMC_NAMES_KEY:
            return list_of(g->id.leader, g->cfg.key);
        case HWMC_NAMES_GENERATION:
            return list_of(g->id.leader, g->id.generation);
        default:
            return list_of(0, g->number);
    }
}

static void add_name(struct hwmc_names *n, struct hwmc_group *g, enum hwmc_names_kind kind)
{
    struct hwmc_group **first = &n->first[kind][list_by(g, kind)];

    g->same[kind] = *first;
    *first = g;
}

/* If it is there. */
static void take_out(struct hwmc_names *n, struct hwmc_group *g, enum hwmc_names_kind kind)
{
    struct hwmc_group **at = &n->first[kind][list_by(g, kind)];

    while (*at && *at != g)
        at = &(*at)->same[kind];
    if (*at)
        *at = g->same[kind];
}

void hwmc_names_add(struct hwmc_names *n, struct hwmc_group *g)
{
    add_name(n, g, HWMC_NAMES_KEY);
    add_name(n, g, HWMC_NAMES_NUMBER);
}

void hwmc_names_has_generation(struct hwmc_names *n, struct hwmc_group *g)
{
    add_name(n, g, HWMC_NAMES_GENERATION);
}

void hwmc_names_remove(struct hwmc_names *n, struct hwmc_group *g)
{
    if (n->last == g)
        n->last = NULL;
    for (int kind = 0; kind < HWMC_NAMES_KINDS; kind++)
        take_out(n, g, (enum hwmc_names_kind) kind);
}

static bool is_named_by(const struct hwmc_group *g, const struct hwmc_wire_in *in)
{
    if (g->id.leader != in->id.leader || g->over || (!in->cast && g->id.context != in->id.context))
        return false;
    if (hwmc_wire_is_by_key(in->msg.type))
        return in->id.generation == 0 && in->msg.bid == g->cfg.key;
    return g->running && g->id.generation == in->id.generation;
}

static struct hwmc_group *find_name(struct hwmc_names *n, const struct hwmc_wire_in *in,
                                    enum hwmc_names_kind kind, uint64_t name)
{
    struct hwmc_group *g = n->first[kind][list_of(in->id.leader, name)];

    for (; g; g = g->same[kind]) {
        n->looks++;
        if (is_named_by(g, in))
            return g;
    }
    return NULL;
}

struct hwmc_group *hwmc_names_of(struct hwmc_names *n, const struct hwmc_wire_in *in)
{
    if (hwmc_wire_is_by_key(in->msg.type))
        return find_name(n, in, HWMC_NAMES_KEY, in->msg.bid);
    if (n->last && is_named_by(n->last, in))
        return n->last;
    n->last = find_name(n, in, HWMC_NAMES_GENERATION, in->id.generation);
    return n->last;
}

struct hwmc_group *hwmc_names_numbered(struct hwmc_names *n, uint32_t number)
{
    struct hwmc_group *g = n->first[HWMC_NAMES_NUMBER][list_of(0, number)];

    while (g && g->number != number) {
        n->looks++;
        g = g->same[HWMC_NAMES_NUMBER];
    }
    return g;
}

static bool is_in(const struct hwmc_names *n, const struct hwmc_group *g, enum hwmc_names_kind kind)
{
    const struct hwmc_group *at = n->first[kind][list_by(g, kind)];

    while (at && at != g)
        at = at->same[kind];
    return at != NULL;
}

void hwmc_names_check(const struct hwmc_names *n, const struct hwmc_group *g)
{
    assert(is_in(n, g, HWMC_NAMES_KEY) && is_in(n, g, HWMC_NAMES_NUMBER));
    assert(is_in(n, g, HWMC_NAMES_GENERATION) == (g->id.generation != 0));
    (void) n;
    (void) g;
}
