/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * homes: where the bytes of each broadcast of a group lie: in the channel's own memory, or in the
 * program's, while it is in the call that the broadcast belongs to. A broadcast has one home from
 * its first byte on, until the program takes its memory back: then what others may still ask for
 * moves to the channel. So a long message is copied only as far as not all members have it when the
 * call returns, which is a window at most.
 */
#ifndef BCAST_HW_HOMES_H_INCLUDED
#define BCAST_HW_HOMES_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bcast_hw_home {
    uint64_t bid;
    unsigned char *at; /* NULL: none yet */
};

struct bcast_hw_homes {
    uint32_t n;           /* channels */
    uint32_t piece_bytes; /* the most that one broadcast carries */
    unsigned char *channels;
    struct bcast_hw_home *home; /* by channel */
    /* The message that lies in the program's memory, from broadcast `first` on; NULL: none does. */
    unsigned char *user;
    size_t user_bytes;
    uint64_t first;
};

/* Takes the memory for n channels. OK or ERR_NOMEM. */
int bcast_hw_homes_open(struct bcast_hw_homes *h, uint32_t n, uint32_t piece_bytes);
void bcast_hw_homes_close(struct bcast_hw_homes *h);

/* A message of `bytes` at `user` begins with broadcast `first`, a full piece each but the last. */
void bcast_hw_homes_lend(struct bcast_hw_homes *h, void *user, size_t bytes, uint64_t first);

/* The program takes its memory back; broadcasts below `floor` are over. */
void bcast_hw_homes_return(struct bcast_hw_homes *h, uint64_t floor);

/* Where the bytes of broadcast `bid`, of which there are `bytes`, lie or are to be put. */
unsigned char *bcast_hw_homes_of(struct bcast_hw_homes *h, uint64_t bid, uint32_t bytes);

/* The bytes of broadcast `bid` lie in the program's memory; false while none has come. */
bool bcast_hw_homes_is_user(const struct bcast_hw_homes *h, uint64_t bid);

#endif /* BCAST_HW_HOMES_H_INCLUDED */
