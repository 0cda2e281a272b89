/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * net_reduce: see net_reduce.h.
 */

#include "net_reduce.h"
#include "../core/base/minmax.h"

#include <assert.h>
#include <stdlib.h>

#define RELAY_PORT 7u

static bool is_root(const struct hwmc_net_reduce *r)
{
    return r->cfg.group->cfg.rank == r->cfg.root;
}

/* Whole elements. */
static uint32_t part_of(const struct hwmc_net_reduce_cfg *cfg)
{
    const uint32_t element = cfg->operation->element;
    const uint32_t wished = hwmc_max_u32(cfg->way.part, HWMC_PART_LEAST);

    return (wished + element - 1) / element * element;
}

static void add_in(struct hwmc_net_reduce *r, uint32_t peer, uint32_t port, uint32_t bytes,
                   uint32_t window)
{
    assert(r->num_in < HWMC_REDUCE_IN);
    r->in[r->num_in++] = (struct hwmc_block_in){
        .peer = peer, .port = (uint8_t) port, .bytes = bytes, .window = window};
}

static void add_out(struct hwmc_net_reduce *r, uint32_t peer, uint32_t port, uint32_t bytes)
{
    assert(r->num_out < HWMC_REDUCE_OUT);
    r->out[r->num_out++] =
        (struct hwmc_block_out){.peer = peer, .port = (uint8_t) port, .bytes = bytes};
}

/* Children and parent in tree `n`. */
static void join_tree(struct hwmc_net_reduce *r, uint32_t n)
{
    struct hwmc_reduce_tree *t = &r->tree[n];
    uint32_t bytes, parent;

    t->parts = hwmc_reduce_plan_parts(&r->plan, n);
    t->first_in = r->num_in;
    t->out = r->num_out;
    hwmc_combine_init(&t->combine, hwmc_reduce_plan_children(&r->plan, n));
    bytes = t->parts > 0 ? hwmc_reduce_plan_bytes(&r->plan, n) : 0;
    for (uint32_t i = 0; i < t->combine.children; i++)
        add_in(r, hwmc_reduce_plan_child(&r->plan, n, i), n, bytes,
               hwmc_min_u32(r->cfg.window, t->parts));
    if (hwmc_reduce_plan_parent(&r->plan, n, &parent))
        add_out(r, parent, n, bytes);
    t->num_out = r->num_out - t->out;
}

/* What the trees need of memory: a sum, unless it is the root's result; and what children send. */
static bool sums_in_scratch(const struct hwmc_net_reduce *r)
{
    return !is_root(r) || hwmc_reduce_plan_is_relayed(&r->plan);
}

static size_t sum_bytes(const struct hwmc_net_reduce *r)
{
    bool combines = false;

    for (uint32_t n = 0; n < r->trees; n++)
        combines = combines || r->tree[n].combine.children > 0;
    return combines && sums_in_scratch(r) ? ((size_t) r->bytes + 15) / 16 * 16 : 0;
}

/* False without memory. */
static bool find_scratch(struct hwmc_net_reduce *r, unsigned char **memory)
{
    size_t bytes = sum_bytes(r);

    for (uint32_t i = 0; i < r->num_in; i++)
        bytes += i == r->relay ? 0 : (size_t) r->in[i].window * r->slot;
    r->scratch = bytes > sizeof(r->few) ? malloc(bytes) : NULL;
    *memory = bytes > sizeof(r->few) ? r->scratch : r->few;
    return *memory != NULL;
}

static const unsigned char *own_vector(const struct hwmc_net_reduce *r)
{
    return (const unsigned char *) r->cfg.in + r->at;
}

static unsigned char *result(const struct hwmc_net_reduce *r)
{
    return (unsigned char *) r->cfg.out + r->at;
}

/* A sum that is the result in place has this member's vector already. */
static void place_tree(struct hwmc_net_reduce *r, uint32_t n, unsigned char *sum)
{
    struct hwmc_reduce_tree *t = &r->tree[n];

    t->own = own_vector(r) + (size_t) n * r->part;
    t->sum = t->combine.children > 0 ? sum + (size_t) n * r->part : NULL;
    t->combine.own = t->parts;
    for (uint32_t i = 0; i < t->num_out; i++)
        r->out_place[t->out] = (struct hwmc_block_place){
            .bytes = t->sum ? t->sum : (unsigned char *) (uintptr_t) t->own,
            .stride = r->trees * r->part,
            .ring = UINT32_MAX,
        };
}

static bool place_all(struct hwmc_net_reduce *r)
{
    unsigned char *memory, *sum;

    if (!find_scratch(r, &memory))
        return false;
    sum = sums_in_scratch(r) ? memory : result(r);
    memory += sum_bytes(r);
    for (uint32_t i = 0; i < r->num_in; i++) {
        if (i == r->relay) {
            r->in_place[i] = (struct hwmc_block_place){result(r), r->part, UINT32_MAX};
            continue;
        }
        r->in_place[i] = (struct hwmc_block_place){memory, r->slot, r->in[i].window};
        memory += (size_t) r->in[i].window * r->slot;
    }
    for (uint32_t n = 0; n < r->trees; n++)
        place_tree(r, n, sum);
    return true;
}

static void join_trees(struct hwmc_net_reduce *r)
{
    const struct hwmc_reduce_plan_cfg cfg = {
        .size = r->cfg.group->cfg.size,
        .rank = r->cfg.group->cfg.rank,
        .root = r->cfg.root,
        .commutative = r->cfg.operation->commutative,
        .way = r->cfg.way,
        .bytes = r->bytes,
        .part = r->part,
    };

    hwmc_reduce_plan_init(&r->plan, &cfg);
    r->num_in = r->num_out = 0;
    for (uint32_t n = 0; n < r->trees; n++)
        join_tree(r, n);
    r->relay = r->num_in;
    if (!hwmc_reduce_plan_is_relayed(&r->plan))
        return;
    if (is_root(r))
        add_in(r, 0, RELAY_PORT, r->bytes,
               hwmc_min_u32(hwmc_exchange_parts(r->bytes, r->part), HWMC_EXCHANGE_WINDOW));
    if (cfg.rank == 0) {
        add_out(r, r->cfg.root, RELAY_PORT, r->bytes);
        r->tree[0].num_out++;
    }
}

/* out = a op b, in the members' order: `sum` has those before `from`. The operation may write to
 * its second operand only. */
static void combine_part(struct hwmc_net_reduce *r, const struct hwmc_reduce_tree *t, uint32_t i,
                         uint32_t index)
{
    const struct hwmc_shm_operation *o = r->cfg.operation;
    const struct hwmc_block_place *p = &r->in_place[t->first_in + i];
    unsigned char *from = p->bytes + (size_t) (index % p->ring) * p->stride;
    const size_t at = (size_t) index * r->trees * r->part;
    const unsigned char *before = (i == 0 ? t->own : t->sum) + at;
    const uint32_t len = hwmc_exchange_part_len(r->in[t->first_in + i].bytes, r->part, index);

    if (o->commutative) {
        hwmc_shm_operation_combine(o, t->sum + at, from, before, len);
    } else if (i == 0 && t->own != t->sum) {
        hwmc_shm_operation_combine(o, t->sum + at, before, from, len);
    } else {
        hwmc_shm_operation_combine(o, from, before, from, len);
        memcpy(t->sum + at, from, len);
    }
}

/* Combines what can be. A child's part is used up then, and what is whole is ready to go on. */
static void work_on(struct hwmc_net_reduce *r, struct hwmc_reduce_tree *t)
{
    for (uint32_t i = 0; i < t->combine.children; i++)
        while (hwmc_combine_can(&t->combine, i, r->here[t->first_in + i])) {
            combine_part(r, t, i, t->combine.done[i]);
            r->taken[t->first_in + i] = ++t->combine.done[i];
        }
    for (uint32_t i = 0; i < t->num_out; i++)
        r->ready[t->out + i] = hwmc_combine_ready(&t->combine);
}

static void work(void *of)
{
    struct hwmc_net_reduce *r = of;

    for (uint32_t n = 0; n < r->trees; n++)
        work_on(r, &r->tree[n]);
    if (r->relay < r->num_in)
        r->taken[r->relay] = r->here[r->relay];
}

static void begin_piece(struct hwmc_net_reduce *r)
{
    const uint32_t element = r->cfg.operation->element;
    const uint64_t left = r->cfg.bytes - r->at, piece = hwmc_blocks_piece(element);
    struct hwmc_blocks_cfg cfg = {
        .engine = r->cfg.engine,
        .group = r->cfg.group,
        .withdraw_ns = r->cfg.withdraw_ns,
        .work = work,
        .of = r,
        .here = r->here,
        .taken = r->taken,
        .ready = r->ready,
    };

    r->bytes = (uint32_t) (left < piece ? left : piece);
    join_trees(r);
    if (!place_all(r)) {
        hwmc_stage_note(&r->stage, HWMC_ERR_NOMEM, false);
        r->stage.over = true;
        return;
    }
    memset(r->taken, 0, r->num_in * sizeof(*r->taken));
    memset(r->ready, 0, r->num_out * sizeof(*r->ready));
    cfg.plan = (struct hwmc_blocks_plan){
        .in = r->in,
        .in_place = r->in_place,
        .num_in = r->num_in,
        .out = r->out,
        .out_place = r->out_place,
        .num_out = r->num_out,
        .part = r->part,
        .budget = UINT64_MAX, /* a few children */
    };
    hwmc_blocks_stage_begin(&r->blocks, &cfg);
}

static bool reduce_step(struct hwmc_op_stage *s)
{
    struct hwmc_net_reduce *r = (struct hwmc_net_reduce *) s;

    while (!s->over) {
        if (!hwmc_stage_step(&r->blocks.stage)) {
            hwmc_stage_follow(s, &r->blocks.stage);
            s->mark += r->at;
            return false;
        }
        free(r->scratch);
        r->scratch = NULL;
        hwmc_stage_inherit(s, &r->blocks.stage);
        r->at += r->bytes;
        s->over = s->err != HWMC_OK || r->at == r->cfg.bytes;
        if (!s->over)
            begin_piece(r);
    }
    return true;
}

static void reduce_fail(struct hwmc_op_stage *s, enum hwmc_err err)
{
    struct hwmc_net_reduce *r = (struct hwmc_net_reduce *) s;

    hwmc_stage_note(s, err, false);
    hwmc_stage_fail(&r->blocks.stage, err);
}

static const struct hwmc_stage_ops reduce_ops = {.step = reduce_step, .fail = reduce_fail};

void hwmc_net_reduce_begin(struct hwmc_net_reduce *r, const struct hwmc_net_reduce_cfg *cfg)
{
    hwmc_stage_init(&r->stage, &reduce_ops);
    r->stage.group = cfg->group;
    r->cfg = *cfg;
    r->at = 0;
    r->scratch = NULL;
    r->part = part_of(cfg);
    r->slot = r->part < cfg->bytes ? r->part : (uint32_t) cfg->bytes;
    r->slot = (r->slot + 15) / 16 * 16;
    r->trees = cfg->way.trees;
    begin_piece(r);
}
