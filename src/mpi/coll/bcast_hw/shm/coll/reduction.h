/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * reduction: combines the vectors of all ranks of the group, element by element, at the root
 * (Velamati et al. 2007, section 3.4). Four algorithms move data in three ways, chosen by the
 * message's length alone, so alike on all ranks:
 *
 *   inline  in the slots, along the tree           up to inline_max             reduction_inline.c
 *   chunks  through buffers, along the tree        above                        reduction_chunks.c
 *   direct  from memory to memory, by single copy  from copy_min on, if it can  reduction_direct.c
 *
 *   TREE    inline or chunks, of any length: a rank combines each chunk with its children's and
 *           gives it on; a chain, degree 1, is the paper's pipeline
 *   AG      direct: each rank combines a piece of all ranks and writes it to the root
 *   TREEMM  direct: along the tree, the whole message at a time; for comparison, as in the paper
 *   EACH    inline or chunks, and only to all: each rank shows what it has, and combines what all
 *           show; the result is alike on all, for they do so in one order (reduction_each.c)
 *
 * AG and TREEMM act as TREE where direct is not possible, and EACH does where not all ranks get the
 * result. A reduction adds to a bcast's cost per chunk that of combining it, once for each child:
 * TREE of degree k (M / c + log_k p) (l + k c / b) with b the bandwidth of the combining; AG 3 l +
 * M / b; TREEMM log_k p (l + k M / b); EACH l + (p - 1) M / b, and nobody waits for a rank that has
 * to wait itself.
 *
 * Order. An operation that is not commutative is applied strictly in the order of ranks. A tree in
 * which that can be done has the ranks below each rank without a gap; the caller's need not be one,
 * so then another is taken, of degree 2, in which a rank stands between the ranks below its two
 * children. AG goes through the ranks from the last to the first.
 *
 * No rank waits for all at the end, except in AG, where all read the memory of all.
 */
#ifndef HWMC_SHM_COLL_REDUCTION_H_INCLUDED
#define HWMC_SHM_COLL_REDUCTION_H_INCLUDED

#include "../segment/group.h"
#include "../segment/op.h"
#include "operation.h"

struct hwmc_shm_reduction {
    struct hwmc_shm_op op;
    struct hwmc_shm_operation operation;
    struct hwmc_shm_tree tree; /* as given; or, for an order, what is in `ordered` */
    uint16_t ordered[2];
    uint32_t before; /* so many of the children, from the last on, are combined before this rank */
    uint32_t root;
    bool to_all;             /* all get the result: AG and EACH only */
    bool apart;              /* each keeps its piece: AG only */
    const unsigned char *in; /* the caller's until it is done, as is `out` */
    unsigned char *out;      /* of the result, from byte `base` on; may be `in` */
    uint64_t base;           /* 0, but where each keeps its piece */
    uint64_t length;         /* bytes, of all elements */
    uint32_t chunk;          /* bytes that are combined at a time; whole elements */
    uint64_t at;             /* what is below this is combined; grows to `end` */
    uint64_t end;            /* of what this rank combines; <= length */
    uint32_t turn;           /* of the chunk at `at`: operands that are combined, then deliveries */
    union {
        struct hwmc_shm_reduction_chunks {
            uint64_t first; /* chunk i is in this rank's buffer (first + i) mod their number */
            uint64_t put;   /* into this rank's buffers and shown; but for EACH, the root: 0 */
            uint64_t acked; /* EACH: all have combined the chunks below this */
            uint32_t next;  /* EACH: the ranks before this one have combined one more */
        } chunks;
        struct {
            uint32_t phase; /* gather, work, rest: in this order */
            uint32_t next;  /* gather, rest: ranks that were seen */
        } direct;
    } way;
};

/* Begins the group's next collective, a reduction of `count` elements to `root`, alike on all
 * ranks, by the algorithm of its parameters. `in`: what this rank adds. `out`: of the result at the
 * root, `in` itself for in place; at others of TREEMM it is memory of the same length that is
 * written to, else it is not looked at. `tree`: rooted at `root`, its children the caller's until
 * it is done. `r` does not move until it is done. ERR_LIMIT: an element is too long, and nothing
 * has begun. Steps answer ERR_INVAL where a rank has another length than one that it takes from. */
int hwmc_shm_reduction_begin(struct hwmc_shm_reduction *r, struct hwmc_shm_group *g,
                             const struct hwmc_shm_tree *tree, uint32_t root,
                             const struct hwmc_shm_operation *operation, const void *in, void *out,
                             uint64_t count);

/* Whether a message of so many bytes goes direct. */
bool hwmc_shm_reduction_is_direct(const struct hwmc_shm_group *g, uint64_t length);

/* Whether the algorithm of its parameters brings so many bytes to all ranks by itself. */
bool hwmc_shm_reduction_is_to_all(const struct hwmc_shm_group *g, uint64_t length);

/* As begin, with the result at all ranks, where that is so. */
int hwmc_shm_reduction_begin_to_all(struct hwmc_shm_reduction *r, struct hwmc_shm_group *g,
                                    const struct hwmc_shm_operation *operation, const void *in,
                                    void *out, uint64_t count);

/* As begin, and each rank keeps a piece of the result: the `bytes` from `at` on, whole elements, at
 * `out`, which does not overlap `in`. AG, and only where it goes direct. */
int hwmc_shm_reduction_begin_apart(struct hwmc_shm_reduction *r, struct hwmc_shm_group *g,
                                   const struct hwmc_shm_operation *operation, const void *in,
                                   void *out, uint64_t count, uint64_t at, uint64_t bytes);

#endif /* HWMC_SHM_COLL_REDUCTION_H_INCLUDED */
