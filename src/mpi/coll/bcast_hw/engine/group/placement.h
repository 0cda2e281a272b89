/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * placement: where the bytes of each broadcast of a group are: in the channel's own memory, or
 * pinned in the program's, during the call that the broadcast belongs to. A broadcast stays in one
 * place from its first byte on, until the program takes its memory back (unpin). Then what others
 * may still request is copied to the channel. So of a long message only that part is copied which
 * not all members have when the call returns: a window at most.
 */
#ifndef HWMC_ENGINE_GROUP_PLACEMENT_H_INCLUDED
#define HWMC_ENGINE_GROUP_PLACEMENT_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hwmc_placement_entry {
    uint64_t bid;
    unsigned char *at; /* NULL: none yet */
};

struct hwmc_placement {
    uint32_t n;           /* channels */
    uint32_t piece_bytes; /* the most that one broadcast carries */
    unsigned char *channels;
    struct hwmc_placement_entry *entry; /* by channel */
    /* The message that lies in the program's memory, from broadcast `first` on; NULL: none does. */
    unsigned char *user;
    size_t user_bytes;
    uint64_t first;
};

/* Takes the memory for n channels. OK or ERR_NOMEM. */
int hwmc_placement_open(struct hwmc_placement *h, uint32_t n, uint32_t piece_bytes);
void hwmc_placement_close(struct hwmc_placement *h);

/* A message of `bytes` at `user` begins with broadcast `first`, a full piece each but the last. */
void hwmc_placement_pin(struct hwmc_placement *h, void *user, size_t bytes, uint64_t first);

/* The program takes its memory back; broadcasts below `floor` are over. */
void hwmc_placement_unpin(struct hwmc_placement *h, uint64_t floor);

/* Where the bytes of broadcast `bid`, of which there are `bytes`, lie or are to be put. */
unsigned char *hwmc_placement_of(struct hwmc_placement *h, uint64_t bid, uint32_t bytes);

/* The part of the program's message from byte `at` of broadcast `bid` on: where it is, and how
 * long; NULL when that is not in it. */
unsigned char *hwmc_placement_rest(const struct hwmc_placement *h, uint64_t bid, size_t at,
                                   size_t *bytes);

/* The bytes of broadcast `bid` lie in the program's memory; false while none has come. */
bool hwmc_placement_is_user(const struct hwmc_placement *h, uint64_t bid);

#endif /* HWMC_ENGINE_GROUP_PLACEMENT_H_INCLUDED */
