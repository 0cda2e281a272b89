/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * dry: which sources of messages a poll of a waiting thread looks at. Each look is a system call,
 * and most waits are for one source: a leaf of a tree waits for datagrams, its root for lanes.
 *
 *          the last HWMC_DRY_AFTER polls that found something found nothing here
 *   WET ------------------------------------------------------------------------> DRY
 *       <------------------------------------------------------------------------
 *          a look found something
 *
 * WET: each poll looks at it. DRY: one poll in HWMC_DRY_TURNS does, so a message is found late by
 * that many polls at most, and the next ones at once. A source that this thread waits for nothing
 * of is looked at less and less often while nothing comes, down to one poll in HWMC_DRY_RARE.
 * Nothing is decided by time, as a poll takes as long as the others that share the processor let
 * it.
 *
 * Only polls that follow each other closely may leave a source out. One that follows a sleep looks
 * at the sources that ended it, and may leave out the others.
 */
#ifndef HWMC_CORE_WAIT_DRY_H_INCLUDED
#define HWMC_CORE_WAIT_DRY_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#define HWMC_DRY_AFTER 8u
#define HWMC_DRY_TURNS 4u
#define HWMC_DRY_RARE 16u

/* One source. All zeros: WET. */
struct hwmc_dry {
    uint8_t elsewhere; /* polls in a row that found something, but not here */
    uint8_t left_out;  /* polls since the last look */
    uint8_t turns;     /* DRY: of as many polls the next look is one; 0: HWMC_DRY_TURNS */
};

static inline bool hwmc_dry_is_wet(const struct hwmc_dry *d)
{
    return d->elsewhere < HWMC_DRY_AFTER;
}

/* A poll begins that may leave sources out: whether it looks at this one. A dry one has its look in
 * HWMC_DRY_TURNS polls, or, after looks that found nothing, in up to `most`. */
static inline bool hwmc_dry_is_due(struct hwmc_dry *d, unsigned most)
{
    const unsigned turns = d->turns ? d->turns : HWMC_DRY_TURNS;

    if (!hwmc_dry_is_wet(d) && ++d->left_out < turns)
        return false;
    d->turns = hwmc_dry_is_wet(d) ? 0 : (uint8_t) (2 * turns < most ? 2 * turns : most);
    d->left_out = 0;
    return true;
}

/* A poll is over. `here`: a look at this source found something; `any`: one at some source did. */
static inline void hwmc_dry_polled(struct hwmc_dry *d, bool here, bool any)
{
    if (here)
        d->elsewhere = d->turns = 0;
    else if (any && hwmc_dry_is_wet(d))
        d->elsewhere++;
}

#endif /* HWMC_CORE_WAIT_DRY_H_INCLUDED */
