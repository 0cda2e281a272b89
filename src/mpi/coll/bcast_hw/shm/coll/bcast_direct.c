/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * bcast_direct: from memory to memory by single copy: TREE, TREEMM and OTA (Velamati et al. 2007,
 * section 3.3). A rank with children shows where its message is and how many bytes of it are there;
 * a child takes from there what it does not have, and in the end shows that it has taken all. What
 * a rank has not shown before it has all, it shows then (TREEMM); or as it comes (TREE).
 *
 * With OTA, rank i takes the bytes from i * shift on first, and then those before, so that not all
 * are at the same place at the same time. Where the message is not whole at the root, it takes of
 * both parts what is there.
 *
 * Others read the program's memory, so a rank leaves only when its children have taken all. A rank
 * that has not room for all shows what its parent shows, whose memory it is in too, and shows that
 * it has taken all when its children have.
 */
#include <string.h>

#include "bcast_impl.h"

void hwmc_shm_bcast_direct_init(struct hwmc_shm_bcast *b)
{
    const struct hwmc_shm_group *g = b->op.group;
    struct hwmc_shm_bcast_direct *d = &b->way.direct;

    d->start = b->algorithm == HWMC_SHM_BCAST_OTA && g->rank != b->root
                   ? (uint64_t) g->rank * g->params.shift % b->length
                   : 0;
    if (d->start == 0)
        d->start = b->length;
    d->high = d->start;
    d->owner = g->rank;
    d->addr = (uintptr_t) b->buf;
    if (b->cut) {
        const struct hwmc_shm_out *out = &hwmc_shm_lines(&b->op, b->tree.parent)->out;

        d->addr = out->addr;
        memcpy(&d->owner, out->body, sizeof(d->owner));
    }
}

/* Opens both lines of this rank, once that may be. True: they are open. */
static bool open_lines(struct hwmc_shm_bcast *b)
{
    const struct hwmc_shm_bcast_direct *d = &b->way.direct;
    struct hwmc_shm_group *g = b->op.group;

    if (b->op.opened)
        return true;
    if (!hwmc_shm_group_may_open(g))
        return false;
    memcpy(hwmc_shm_lines(&b->op, g->rank)->out.body, &d->owner, sizeof(d->owner));
    return hwmc_shm_lines_open(&b->op, b->length, d->addr, 0);
}

static bool is_whole(const struct hwmc_shm_bcast *b)
{
    return b->here == b->length;
}

/* The range to take next of those that are there: its first byte; *n: how many, 0: none. */
static uint64_t next_range(const struct hwmc_shm_bcast *b, uint64_t ready, uint64_t *n)
{
    const struct hwmc_shm_bcast_direct *d = &b->way.direct;
    uint64_t low_end = hwmc_shm_min(ready, d->start);

    *n = 0;
    if (d->high < ready) {
        *n = ready - d->high;
        return d->high;
    }
    if (b->here < low_end)
        *n = low_end - b->here;
    return b->here;
}

/* Takes some of what is there from the parent. OK, AGAIN where it has not all yet, or as
 * shm/copy/copy.h. */
static int take_range(struct hwmc_shm_bcast *b)
{
    const struct hwmc_shm_group *g = b->op.group;
    const struct hwmc_shm_out *out = &hwmc_shm_lines(&b->op, b->tree.parent)->out;
    struct hwmc_shm_bcast_direct *d = &b->way.direct;
    bool relays = b->tree.num_children > 0 && b->algorithm == HWMC_SHM_BCAST_TREE;
    uint64_t from, n;
    uint32_t owner;
    int err;

    memcpy(&owner, out->body, sizeof(owner));
    if (out->addr == 0 || owner >= g->size) /* a rank of another length may go another way */
        return HWMC_ERR_INVAL;
    from = next_range(b, hwmc_shm_load(&out->ready), &n);
    if (n == 0)
        return HWMC_AGAIN;
    n = hwmc_shm_min(n, relays ? g->params.chunk : g->params.copy_step);
    if (from < b->room) {
        err = hwmc_shm_group_get(g, owner, b->buf + from, out->addr + from,
                                 hwmc_shm_bcast_fit(b->room, from, n));
        if (err != HWMC_OK)
            return err;
    }
    b->op.moved = true;
    if (from >= d->start)
        d->high += n;
    else
        b->here += n;
    if (b->here < d->start || d->high < b->length)
        return HWMC_AGAIN;
    b->here = b->length;
    if (!b->cut)
        hwmc_shm_lines_ack(&b->op, 1);
    return HWMC_OK;
}

static void show_more(struct hwmc_shm_bcast *b)
{
    struct hwmc_shm_bcast_direct *d = &b->way.direct;
    bool all_or_none =
        b->algorithm == HWMC_SHM_BCAST_TREEMM && !hwmc_shm_bcast_is_root(b) && !b->cut;
    uint64_t there = b->here;

    if (b->cut)
        there = hwmc_shm_load(&hwmc_shm_lines(&b->op, b->tree.parent)->out.ready);
    if (b->tree.num_children == 0 || d->shown == there || (all_or_none && !is_whole(b)))
        return;
    d->shown = there;
    hwmc_shm_lines_show(&b->op, d->shown);
}

/* Nobody reads this rank's memory any more. */
static bool is_given(struct hwmc_shm_bcast *b)
{
    struct hwmc_shm_bcast_direct *d = &b->way.direct;

    for (; d->next < b->tree.num_children; d->next++)
        if (hwmc_shm_lines_taken(&b->op, b->tree.children[d->next]) == 0)
            return false;
    return true;
}

int hwmc_shm_bcast_direct(struct hwmc_shm_op *op)
{
    struct hwmc_shm_bcast *b = (struct hwmc_shm_bcast *) op;

    if (!open_lines(b))
        return HWMC_AGAIN;
    if (!is_whole(b) && !hwmc_shm_bcast_is_root(b)) {
        int err = hwmc_shm_bcast_look(b);

        if (err != HWMC_OK)
            return err;
        err = take_range(b);
        if (err < 0)
            return err;
    }
    show_more(b);
    if (!is_whole(b) || !is_given(b))
        return HWMC_AGAIN;
    if (b->cut)
        hwmc_shm_lines_ack(&b->op, 1);
    return hwmc_shm_op_end(op);
}
