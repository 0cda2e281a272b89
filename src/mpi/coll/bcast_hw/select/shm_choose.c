/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Algorithm and parameters of a collective inside a host: from control variables; else from the
 * selection for this number of ranks and bytes (shm_csel.c); else a default.
 */

#include "shm_csel.h"
#include "../stats/counters.h"
#include "../shm/segment/slot.h"
#include "../settings/settings.h"

/* Bytes that a rank combines of all, rather than wait for another that does. */
#define EACH_MOST 8192

/* Bytes of a message from another host that are worth a system call at each rank. */
#define PART_COPY (128u << 10)

/* What serves where nobody said or measured anything. */
static void by_default(const struct hwmc_shm_host *n, enum hwmc_shm_kind kind, MPI_Aint bytes,
                       struct hwmc_shm_choice *c)
{
    const uint32_t ranks = n->group.size;

    c->params = hwmc_shm_params_default(n->segment.layout.chunk);
    c->params.stream_min = n->stream_min;
    c->shape = HWMC_SHM_SHAPE_KARY;
    c->degree = MPL_MIN(ranks, 4);
    /* Ranks that share processors come one after the other: the fewer phases the better. */
    if (kind == HWMC_SHM_KIND_BARRIER && n->crowded)
        c->params.ways = ranks - 1;
    if (kind == HWMC_SHM_KIND_ALLREDUCE && bytes * ranks <= EACH_MOST)
        c->params.reduction = HWMC_SHM_REDUCTION_EACH;
    if (bytes <= c->params.inline_max)
        c->degree = MPL_MIN(ranks, 16);
}

static void by_selection(const struct hwmc_shm_host *n, enum hwmc_shm_kind kind, MPI_Aint bytes,
                         struct hwmc_shm_choice *c)
{
    const struct hwmc_shm_entry *e = hwmc_shm_csel_search(n, kind, bytes);
    struct hwmc_shm_params *p = &c->params;

    if (!e || (e->crowded >= 0 && (e->crowded == 1) != n->crowded))
        return;
    if (kind == HWMC_SHM_KIND_BARRIER && e->barrier >= 0)
        p->barrier = (enum hwmc_shm_barrier_algorithm) e->barrier;
    if (kind == HWMC_SHM_KIND_BCAST && e->bcast >= 0)
        p->bcast = (enum hwmc_shm_bcast_algorithm) e->bcast;
    if (hwmc_shm_reduces(kind) && e->reduction >= 0)
        p->reduction = (enum hwmc_shm_reduction_algorithm) e->reduction;
    if (e->shape >= 0)
        c->shape = (enum hwmc_shm_shape) e->shape;
    if (e->degree > 0)
        c->degree = p->ways = (uint32_t) e->degree;
    if (e->chunk > 0)
        p->chunk = MPL_MIN((uint32_t) e->chunk, n->segment.layout.chunk);
    if (e->inline_max >= 0)
        p->inline_max = (uint32_t) e->inline_max;
    if (e->copy_min >= 0)
        p->copy_min = (uint64_t) e->copy_min;
    if (e->piece_min > 0)
        p->piece_min = (uint32_t) e->piece_min;
    if (e->shift >= 0)
        p->shift = (uint32_t) e->shift;
}

/* The user's selection is for all. */
static bool is_said(void)
{
    return *hwmc_settings.shm.selection != '\0';
}

/* A message that comes from another host, and comes slowly: all take it from where it lies as it
 * does, since each rank that hands it on has to be woken first. Tuning runs, on one host, know
 * nothing of that. */
static void for_part(const struct hwmc_shm_host *n, struct hwmc_shm_choice *c)
{
    c->params.bcast = HWMC_SHM_BCAST_TREE;
    c->params.copy_min = PART_COPY;
    c->degree = MPL_MIN(n->group.size, 16);
}

/* Of allreduce, what is said of it goes before what is said of all reductions. */
static int said_reduction(enum hwmc_shm_kind kind)
{
    const struct hwmc_set_shm *s = &hwmc_settings.shm;

    return kind == HWMC_SHM_KIND_ALLREDUCE && s->allreduce >= 0 ? s->allreduce : s->reduce;
}

static void by_settings(const struct hwmc_shm_host *n, enum hwmc_shm_kind kind,
                        struct hwmc_shm_choice *c)
{
    struct hwmc_shm_params *p = &c->params;

    if (hwmc_settings.shm.barrier >= 0)
        p->barrier = (enum hwmc_shm_barrier_algorithm) hwmc_settings.shm.barrier;
    if (hwmc_settings.shm.bcast >= 0)
        p->bcast = (enum hwmc_shm_bcast_algorithm) hwmc_settings.shm.bcast;
    if (said_reduction(kind) >= 0)
        p->reduction = (enum hwmc_shm_reduction_algorithm) said_reduction(kind);
    if (hwmc_settings.tune.shm_shape != HWMC_SET_SHAPE_AUTO)
        c->shape = hwmc_settings.tune.shm_shape == HWMC_SET_SHAPE_KNOMIAL ? HWMC_SHM_SHAPE_KNOMIAL
                                                                          : HWMC_SHM_SHAPE_KARY;
    if (hwmc_settings.tune.shm_degree > 0)
        c->degree = p->ways = (uint32_t) hwmc_settings.tune.shm_degree;
    if (hwmc_settings.tune.shm_chunk > 0)
        p->chunk = MPL_MIN((uint32_t) hwmc_settings.tune.shm_chunk, n->segment.layout.chunk);
    if (hwmc_settings.tune.shm_inline >= 0)
        p->inline_max = MPL_MIN((uint32_t) hwmc_settings.tune.shm_inline, HWMC_SHM_INLINE);
    if (hwmc_settings.tune.shm_copy_min >= 0)
        p->copy_min = (uint64_t) hwmc_settings.tune.shm_copy_min;
    if (hwmc_settings.tune.shm_nontemporal >= 0)
        p->stream_min = (uint64_t) hwmc_settings.tune.shm_nontemporal;
    if (hwmc_settings.tune.shm_piece > 0)
        p->piece_min = (uint32_t) hwmc_settings.tune.shm_piece;
    if (hwmc_settings.tune.shm_shift > 0)
        p->shift = (uint32_t) hwmc_settings.tune.shm_shift;
}

void hwmc_shm_choose_begin(struct hwmc_shm_host *n)
{
    for (int i = 0; i < HWMC_SHM_KIND_NUM; i++)
        n->last_bytes[i] = -1;
}

void hwmc_shm_choose_end(struct hwmc_shm_host *n)
{
    for (int i = 0; i < HWMC_SHM_TREES; i++)
        MPL_free(n->kept[i].children);
    hwmc_shm_csel_end(n);
}

const struct hwmc_shm_choice *hwmc_shm_choose(struct hwmc_shm_host *n, enum hwmc_shm_kind kind,
                                              MPI_Aint bytes)
{
    struct hwmc_shm_choice *c = &n->last[kind];

    if (n->last_bytes[kind] != bytes) {
        by_default(n, kind, bytes, c);
        if (n->part && kind == HWMC_SHM_KIND_BCAST && !is_said())
            for_part(n, c);
        else
            by_selection(n, kind, bytes, c);
        by_settings(n, kind, c);
        hwmc_shm_note_choice(kind, &c->params);
        n->last_bytes[kind] = bytes;
        n->applied = NULL;
    }
    if (n->applied != c) {
        int err = hwmc_shm_group_set(&n->group, &c->params);

        MPIR_Assert(err == HWMC_OK);
        n->applied = c;
    }
    return c;
}

struct hwmc_shm_tree hwmc_shm_comm_tree(struct hwmc_shm_host *n,
                                        const struct hwmc_shm_choice *choice, uint32_t root)
{
    struct hwmc_shm_kept *k = &n->kept[(root ^ choice->degree) & (HWMC_SHM_TREES - 1)];

    if (k->degree != choice->degree || k->shape != choice->shape || k->root != root) {
        if (!k->children)
            k->children = MPL_malloc(n->group.size * sizeof(*k->children), MPL_MEM_COMM);
        MPIR_Assert(k->children);
        k->degree = choice->degree;
        k->shape = choice->shape;
        k->root = root;
        k->tree = hwmc_shm_shape_tree(&n->levels, choice->shape, choice->degree, root,
                                      n->group.rank, k->children);
    }
    return k->tree;
}
