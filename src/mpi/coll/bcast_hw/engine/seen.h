/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * seen: how often a process has come across each of some names. All of them are kept: a process
 * that forgot one would count differently from the others.
 */
#ifndef HWMC_ENGINE_SEEN_H_INCLUDED
#define HWMC_ENGINE_SEEN_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hwmc_seen_one {
    uint64_t name; /* equally distributed */
    uint64_t times;
};

#define HWMC_SEEN_FIRST 64u

/* A hash table with linear probing, half full at most as long as there is memory. The first table
 * takes none. Zero to begin with; not to be copied. */
struct hwmc_seen {
    struct hwmc_seen_one first[HWMC_SEEN_FIRST];
    struct hwmc_seen_one *one; /* times 0: free; `first` or another; NULL: nothing was seen */
    size_t room;               /* a power of 2, or 0 */
    size_t names;
    uint64_t looks; /* at a place */
};

/* Once more. Sets *before to how often it was there before. False: no memory, nothing changed. */
bool hwmc_seen_again(struct hwmc_seen *s, uint64_t name, uint64_t *before);

void hwmc_seen_free(struct hwmc_seen *s);

#endif /* HWMC_ENGINE_SEEN_H_INCLUDED */
