/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * bcast: the root's message to all ranks of the group (Velamati et al. 2007, section 3.3). The
 * paper's algorithms define from whom a rank takes bytes. On a machine with caches there are three
 * ways to move them, chosen by the message's length alone, so alike on all ranks:
 *
 *   inline  in the slot, with the metadata          up to inline_max             bcast_inline.c
 *   chunks  through buffers of the segment          above                        bcast_chunks.c
 *   direct  from memory to memory, by single copy   from copy_min on, if it can  bcast_direct.c
 *                                                                      bcast_g.c, bcast_ag.c
 *
 *             inline, chunks                          direct
 *   TREEMM    a tree; a rank has the whole message before it gives any of it on
 *   TREE      a tree; a rank gives on each chunk as it comes (inline: as TREEMM)
 *   OTA       all take it from the root, each from a place of its own on (shift; inline: as TREE)
 *   G         as OTA                                  the root writes to all, chunk by chunk
 *   AG        as OTA                                  each takes a piece and writes it to all
 *
 * Buffers take the place of the paper's local store: they stay in the cache, and memory passes
 * through it once. Its DMA lists and queues have no counterpart. A message that the root does not
 * have whole yet, as it comes from another host, is passed on as far as it is there:
 * hwmc_shm_bcast_more.
 *
 * No rank waits for all at the end. A rank whose memory others read or write waits for those.
 *
 * A rank whose length differs from the root's does as the root does as soon as it sees its parent's
 * line. What its memory has no room for it passes on, from buffer to buffer, or by telling its
 * children the address of its parent's memory.
 *
 * Cost for M bytes, p ranks, a chunk or message c, l as in barrier.h, b the bandwidth of a copy:
 * TREE of degree k (M / c + log_k p) (l + c / b) as long as the children of a rank read from a
 * shared cache; TREEMM log_k p (l + M / b); OTA l + M / b; G p M / b; AG 3 l + M / b.
 */
#ifndef HWMC_SHM_COLL_BCAST_H_INCLUDED
#define HWMC_SHM_COLL_BCAST_H_INCLUDED

#include "../segment/group.h"
#include "../segment/op.h"

/* Through the segment. Chunks are counted; a count c means that those below c are. */
struct hwmc_shm_bcast_chunks {
    uint64_t num;   /* of the message */
    uint64_t first; /* chunk i is in this rank's buffer (first + i) mod their number */
    uint64_t taken; /* from the parent; the root: 0 */
    uint64_t put;   /* into this rank's buffers; without children: 0 */
    uint64_t acked; /* taken by all children, as far as is known; <= put */
    uint32_t scan;  /* the children before this one have taken at least scan_low */
    uint64_t scan_low;
};

/* From the parent's memory: bytes from `start` to the end, and from 0 to `start`. */
struct hwmc_shm_bcast_direct {
    uint32_t owner; /* rank in whose memory the children read: this one; or, with cut, another */
    uint64_t addr;  /* of the message there */
    uint64_t start; /* <= length; length: all in order, as all but OTA have it */
    uint64_t high;  /* bytes from start to high are here */
    uint64_t shown; /* bytes that the children may take; <= here */
    uint32_t next;  /* the children before this one have taken all */
};

/* The root writes. */
struct hwmc_shm_bcast_g {
    bool gathered; /* all have told their addresses */
    uint32_t next; /* the children before this one have told theirs, or have the chunk */
    uint64_t at;   /* bytes that all ranks have; a multiple of chunks, or length */
};

/* Each takes and writes its piece. */
struct hwmc_shm_bcast_ag {
    uint32_t phase; /* gather, move, rest: in this order */
    /* gather, rest: ranks seen, counted from the root; move: ranks that have the chunk, counted
     * from this one, itself first. */
    uint32_t next;
    uint64_t at;    /* move: the bytes of the piece below this are with all */
    uint64_t end;   /* of the piece */
    uint64_t shown; /* the root: bytes that others may take; <= here */
};

struct hwmc_shm_bcast {
    struct hwmc_shm_op op;
    enum hwmc_shm_bcast_algorithm algorithm;
    void (*choose_steps)(struct hwmc_shm_bcast *b); /* by length and algorithm: bcast.c */
    uint32_t root;
    struct hwmc_shm_tree tree; /* of TREEMM and TREE as given; else all are the root's children */
    unsigned char *buf;        /* the caller's until it is done */
    uint64_t length;           /* bytes; with cut, the root's */
    uint64_t room;             /* bytes of buf; length, but with cut */
    bool cut;                  /* this rank was called with another length than the root's */
    uint64_t here; /* the first so many bytes are in buf, or have no room; <= length, grows */
    union {
        bool seen; /* inline: the parent's line was */
        struct hwmc_shm_bcast_chunks chunks;
        struct hwmc_shm_bcast_direct direct;
        struct hwmc_shm_bcast_g g;
        struct hwmc_shm_bcast_ag ag;
    } way;
};

/* Begins the group's next collective, a broadcast of `length` bytes, alike on all ranks, by the
 * algorithm of its parameters. At the root the first `ready` bytes of `buf` are there; elsewhere
 * `ready` is 0. `tree` is what TREEMM and TREE go along, its children the caller's until the
 * broadcast is done; others do not look at it. The last step answers ERR_INVAL where a rank has
 * another length than the root, and at a root that saw it; then the group is in step, at each rank
 * the bytes that it has room for are the root's, or untouched, and nothing beyond is touched. */
void hwmc_shm_bcast_begin(struct hwmc_shm_bcast *b, struct hwmc_shm_group *g,
                          const struct hwmc_shm_tree *tree, uint32_t root, void *buf,
                          uint64_t length, uint64_t ready);

/* At the root: now the first `ready` bytes are there, no less than before. */
void hwmc_shm_bcast_more(struct hwmc_shm_bcast *b, uint64_t ready);

/* At the root: of what is there, perhaps not all is where others can take it yet. */
bool hwmc_shm_bcast_behind(const struct hwmc_shm_bcast *b);

#endif /* HWMC_SHM_COLL_BCAST_H_INCLUDED */
