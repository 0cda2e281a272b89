/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * seen: see seen.h.
 */
#include "seen.h"

#include <stdlib.h>

#define FIRST_ROOM 64u

/* Its place, or the free one where it belongs. */
static struct bcast_hw_seen_one *place_of(struct bcast_hw_seen *s, uint64_t name)
{
    size_t i = (size_t) name & (s->room - 1);

    s->looks++;
    while (s->one[i].times > 0 && s->one[i].name != name) {
        i = (i + 1) & (s->room - 1);
        s->looks++;
    }
    return &s->one[i];
}

static bool grow(struct bcast_hw_seen *s)
{
    struct bcast_hw_seen more = {
        .room = s->room > 0 ? 2 * s->room : FIRST_ROOM, .names = s->names, .looks = s->looks};

    more.one = calloc(more.room, sizeof(*more.one));
    if (!more.one)
        return false;
    for (size_t i = 0; i < s->room; i++)
        if (s->one[i].times > 0)
            *place_of(&more, s->one[i].name) = s->one[i];
    free(s->one);
    *s = more;
    return true;
}

/* There is room for one more name. Without memory for a larger table the one there is gets full,
 * but for the place at which a search ends. */
static bool has_room(struct bcast_hw_seen *s)
{
    return 2 * s->names < s->room || grow(s) || s->names + 1 < s->room;
}

bool bcast_hw_seen_again(struct bcast_hw_seen *s, uint64_t name, uint64_t *before)
{
    struct bcast_hw_seen_one *one = s->room > 0 ? place_of(s, name) : NULL;

    if (!one || one->times == 0) {
        if (!has_room(s))
            return false;
        one = place_of(s, name);
        s->names++;
    }
    one->name = name;
    *before = one->times++;
    return true;
}

void bcast_hw_seen_free(struct bcast_hw_seen *s)
{
    free(s->one);
    *s = (struct bcast_hw_seen){0};
}
