/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * homes: see homes.h.
 */
#include "homes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../port/err.h"

int bcast_hw_homes_open(struct bcast_hw_homes *h, uint32_t n, uint32_t piece_bytes)
{
    *h = (struct bcast_hw_homes){
        .n = n,
        .piece_bytes = piece_bytes,
        .channels = malloc((size_t) n * piece_bytes),
        .home = calloc(n, sizeof(*h->home)),
    };
    if (h->channels && h->home)
        return BCAST_HW_OK;
    bcast_hw_homes_close(h);
    return BCAST_HW_ERR_NOMEM;
}

void bcast_hw_homes_close(struct bcast_hw_homes *h)
{
    free(h->channels);
    free(h->home);
    *h = (struct bcast_hw_homes){0};
}

static unsigned char *channel_of(const struct bcast_hw_homes *h, uint64_t bid)
{
    return h->channels + bid % h->n * h->piece_bytes;
}

/* The part of the program's message that is broadcast `bid`; NULL when it is not in it. */
static unsigned char *lent(const struct bcast_hw_homes *h, uint64_t bid, size_t bytes)
{
    uint64_t piece = bid - h->first;

    if (!h->user || bid < h->first || piece > h->user_bytes / h->piece_bytes ||
        piece * h->piece_bytes + bytes > h->user_bytes)
        return NULL;
    return h->user + piece * h->piece_bytes;
}

void bcast_hw_homes_lend(struct bcast_hw_homes *h, void *user, size_t bytes, uint64_t first)
{
    h->user = user;
    h->user_bytes = bytes;
    h->first = first;
}

void bcast_hw_homes_return(struct bcast_hw_homes *h, uint64_t floor)
{
    for (uint32_t i = 0; h->user && i < h->n; i++) {
        struct bcast_hw_home *home = &h->home[i];
        size_t left;

        if (!home->at || home->at != lent(h, home->bid, 0))
            continue;
        left = (size_t) (h->user + h->user_bytes - home->at);
        if (home->bid >= floor)
            memcpy(channel_of(h, home->bid), home->at,
                   left < h->piece_bytes ? left : h->piece_bytes);
        home->at = channel_of(h, home->bid);
    }
    h->user = NULL;
}

unsigned char *bcast_hw_homes_of(struct bcast_hw_homes *h, uint64_t bid, uint32_t bytes)
{
    struct bcast_hw_home *home = &h->home[bid % h->n];

    if (!home->at || home->bid != bid) {
        unsigned char *in_user = lent(h, bid, bytes);

        home->bid = bid;
        home->at = in_user ? in_user : channel_of(h, bid);
    }
    return home->at;
}

bool bcast_hw_homes_is_user(const struct bcast_hw_homes *h, uint64_t bid)
{
    const struct bcast_hw_home *home = &h->home[bid % h->n];

    return home->at && home->bid == bid && home->at != channel_of(h, bid);
}
