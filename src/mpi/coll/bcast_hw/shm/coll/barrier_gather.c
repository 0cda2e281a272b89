/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * barrier_gather: one rank, the root, waits for all and then tells all (Velamati et al. 2007,
 * section 3.2, "Gather/Broadcast").
 *
 *   OTA   the root, rank 0, looks at the word of each rank; each looks at the root's `down`
 *   SIG   each sets its bit in rank 0's `signal`, which rank 0 looks at; down as in OTA
 *   TREE  a rank looks at its children's words, then shows its own; down the same way back
 *
 * Example, TREE over 0 -> 1 2, 1 -> 3: 3 shows up; 1 sees it and shows up; 0 sees 1 and 2, and
 * stores down; 1 sees that and stores its down, 3 sees it; 2 has seen 0's meanwhile.
 */
#include "barrier_impl.h"

/* Phases: not shown yet; waiting to be told. */
enum { COME, RELEASE };

static void release_children(const struct hwmc_shm_barrier *b)
{
    hwmc_shm_store(&hwmc_shm_barrier_words(b, b->op.group->rank)->down, b->op.serial);
    b->op.group->told++;
}

static bool released_by(const struct hwmc_shm_barrier *b, uint32_t rank)
{
    return hwmc_shm_load(&hwmc_shm_barrier_words(b, rank)->down) >= b->op.serial;
}

static int end_if_released(struct hwmc_shm_barrier *b)
{
    return released_by(b, 0) ? hwmc_shm_barrier_end(b) : hwmc_shm_group_await(b->op.group, 0);
}

int hwmc_shm_barrier_ota(struct hwmc_shm_op *op)
{
    struct hwmc_shm_barrier *b = (struct hwmc_shm_barrier *) op;
    struct hwmc_shm_group *g = op->group;

    if (g->rank != 0) {
        if (b->phase == COME) {
            hwmc_shm_barrier_show(b, 0);
            b->phase = RELEASE;
        }
        return end_if_released(b);
    }
    for (; b->next < g->size - 1; b->next++)
        if (!hwmc_shm_barrier_seen(b, b->next + 1, 0))
            return hwmc_shm_group_await(g, b->next + 1);
    release_children(b);
    return hwmc_shm_barrier_end(b);
}

/* The bits of `word` that the others set. */
static uint64_t all_bits(const struct hwmc_shm_group *g, uint32_t word)
{
    uint32_t left = g->size - word * 64;
    uint64_t bits = left >= 64 ? UINT64_MAX : (UINT64_C(1) << left) - 1;

    return word == 0 ? bits & ~UINT64_C(1) : bits;
}

int hwmc_shm_barrier_sig(struct hwmc_shm_op *op)
{
    struct hwmc_shm_barrier *b = (struct hwmc_shm_barrier *) op;
    struct hwmc_shm_group *g = op->group;
    struct hwmc_shm_words *root = hwmc_shm_barrier_words(b, 0);
    uint32_t num_words = (g->size + 63) / 64;

    if (g->rank != 0) {
        if (b->phase == COME) {
            atomic_fetch_or_explicit(&root->signal[g->rank / 64], UINT64_C(1) << g->rank % 64,
                                     memory_order_release);
            b->phase = RELEASE;
            g->told++;
        }
        return end_if_released(b);
    }
    for (; b->next < num_words; b->next++)
        if (hwmc_shm_load(&root->signal[b->next]) != all_bits(g, b->next))
            return HWMC_AGAIN;
    for (uint32_t i = 0; i < num_words; i++)
        atomic_store_explicit(&root->signal[i], 0, memory_order_relaxed);
    release_children(b);
    return hwmc_shm_barrier_end(b);
}

int hwmc_shm_barrier_tree(struct hwmc_shm_op *op)
{
    struct hwmc_shm_barrier *b = (struct hwmc_shm_barrier *) op;
    bool is_root = b->tree.parent == op->group->rank;

    for (; b->next < b->tree.num_children; b->next++)
        if (!hwmc_shm_barrier_seen(b, b->tree.children[b->next], 0))
            return hwmc_shm_group_await(op->group, b->tree.children[b->next]);
    if (b->phase == COME && !is_root) {
        hwmc_shm_barrier_show(b, 0);
        b->phase = RELEASE;
    }
    if (!is_root && !released_by(b, b->tree.parent))
        return hwmc_shm_group_await(op->group, b->tree.parent);
    if (b->tree.num_children > 0)
        release_children(b);
    return hwmc_shm_barrier_end(b);
}
