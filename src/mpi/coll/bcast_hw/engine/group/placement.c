/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * placement: see placement.h.
 */
#include "placement.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../port/err.h"

int hwmc_placement_open(struct hwmc_placement *h, uint32_t n, uint32_t piece_bytes)
{
    *h = (struct hwmc_placement){
        .n = n,
        .piece_bytes = piece_bytes,
        .channels = malloc((size_t) n * piece_bytes),
        .entry = calloc(n, sizeof(*h->entry)),
    };
    if (h->channels && h->entry)
        return HWMC_OK;
    hwmc_placement_close(h);
    return HWMC_ERR_NOMEM;
}

void hwmc_placement_close(struct hwmc_placement *h)
{
    free(h->channels);
    free(h->entry);
    *h = (struct hwmc_placement){0};
}

static unsigned char *channel_of(const struct hwmc_placement *h, uint64_t bid)
{
    return h->channels + bid % h->n * h->piece_bytes;
}

/* The part of the program's message that is broadcast `bid`; NULL when it is not in it. */
static unsigned char *pinned_part(const struct hwmc_placement *h, uint64_t bid, size_t bytes)
{
    uint64_t piece = bid - h->first;

    if (!h->user || bid < h->first || piece > h->user_bytes / h->piece_bytes ||
        piece * h->piece_bytes + bytes > h->user_bytes)
        return NULL;
    return h->user + piece * h->piece_bytes;
}

void hwmc_placement_pin(struct hwmc_placement *h, void *user, size_t bytes, uint64_t first)
{
    h->user = user;
    h->user_bytes = bytes;
    h->first = first;
}

void hwmc_placement_unpin(struct hwmc_placement *h, uint64_t floor)
{
    for (uint32_t i = 0; h->user && i < h->n; i++) {
        struct hwmc_placement_entry *entry = &h->entry[i];
        size_t left;

        if (!entry->at || entry->at != pinned_part(h, entry->bid, 0))
            continue;
        left = (size_t) (h->user + h->user_bytes - entry->at);
        if (entry->bid >= floor)
            memcpy(channel_of(h, entry->bid), entry->at,
                   left < h->piece_bytes ? left : h->piece_bytes);
        entry->at = channel_of(h, entry->bid);
    }
    h->user = NULL;
}

unsigned char *hwmc_placement_of(struct hwmc_placement *h, uint64_t bid, uint32_t bytes)
{
    struct hwmc_placement_entry *entry = &h->entry[bid % h->n];

    if (!entry->at || entry->bid != bid) {
        unsigned char *in_user = pinned_part(h, bid, bytes);

        entry->bid = bid;
        entry->at = in_user ? in_user : channel_of(h, bid);
    }
    return entry->at;
}

unsigned char *hwmc_placement_rest(const struct hwmc_placement *h, uint64_t bid, size_t at,
                                   size_t *bytes)
{
    unsigned char *part = pinned_part(h, bid, at + 1);

    if (!part)
        return NULL;
    *bytes = (size_t) (h->user + h->user_bytes - (part + at));
    return part + at;
}

bool hwmc_placement_is_user(const struct hwmc_placement *h, uint64_t bid)
{
    const struct hwmc_placement_entry *entry = &h->entry[bid % h->n];

    return entry->at && entry->bid == bid && entry->at != channel_of(h, bid);
}
