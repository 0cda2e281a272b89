/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * seen: see seen.h.
 */
#include "seen.h"

#include <stdlib.h>

/* Its place, or the free one where it belongs. */
static struct hwmc_seen_one *place_of(struct hwmc_seen *s, uint64_t name)
{
    size_t i = (size_t) name & (s->room - 1);

    s->looks++;
    while (s->one[i].times > 0 && s->one[i].name != name) {
        i = (i + 1) & (s->room - 1);
        s->looks++;
    }
    return &s->one[i];
}

static void seen_begin(struct hwmc_seen *s)
{
    s->one = s->first;
    s->room = HWMC_SEEN_FIRST;
}

static bool seen_grow(struct hwmc_seen *s)
{
    struct hwmc_seen_one *old = s->one, *more = calloc(2 * s->room, sizeof(*more));
    const size_t room = s->room;

    if (!more)
        return false;
    s->one = more;
    s->room = 2 * room;
    for (size_t i = 0; i < room; i++)
        if (old[i].times > 0)
            *place_of(s, old[i].name) = old[i];
    if (old != s->first)
        free(old);
    return true;
}

/* There is room for one more name. Without memory for a larger table the one there is gets full,
 * but for the place at which a search ends. */
static bool has_room(struct hwmc_seen *s)
{
    return 2 * s->names < s->room || seen_grow(s) || s->names + 1 < s->room;
}

bool hwmc_seen_again(struct hwmc_seen *s, uint64_t name, uint64_t *before)
{
    struct hwmc_seen_one *one;

    if (!s->one)
        seen_begin(s);
    one = place_of(s, name);
    if (one->times == 0) {
        if (!has_room(s))
            return false;
        one = place_of(s, name); /* it may be another table */
        s->names++;
    }
    one->name = name;
    *before = one->times++;
    return true;
}

void hwmc_seen_free(struct hwmc_seen *s)
{
    if (s->one != s->first)
        free(s->one);
    *s = (struct hwmc_seen){0};
}
