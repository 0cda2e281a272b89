/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * net_scan: see net_scan.h.
 */

#include "net_scan.h"

#include <assert.h>
#include <stdlib.h>

_Static_assert(HWMC_SCAN_ROUNDS <= HWMC_COMBINE_CHILDREN, "a round is a child");

static uint32_t rank_of(const struct hwmc_net_scan *s)
{
    return s->cfg.group->cfg.rank;
}

/* Whole elements. */
static uint32_t part_of(const struct hwmc_net_scan_cfg *cfg)
{
    const uint32_t element = cfg->operation->element;
    const uint32_t wished = cfg->way.part > HWMC_PART_LEAST ? cfg->way.part : HWMC_PART_LEAST;

    return (wished + element - 1) / element * element;
}

static struct hwmc_scan_plan plan_of(const struct hwmc_net_scan *s)
{
    return (struct hwmc_scan_plan){s->cfg.group->cfg.size, rank_of(s), s->cfg.way.chain};
}

/* Its rounds. */
static void join(struct hwmc_net_scan *s)
{
    const struct hwmc_scan_plan plan = plan_of(s);
    const uint32_t parts = hwmc_exchange_parts(s->bytes, s->part);

    hwmc_combine_init(&s->combine, hwmc_scan_plan_ins(&plan));
    s->combine.own = parts;
    for (uint32_t i = 0; i < s->combine.children; i++)
        s->in[i] = (struct hwmc_block_in){
            .peer = hwmc_scan_plan_in(&plan, i),
            .bytes = s->bytes,
            .window = parts < s->cfg.window ? parts : s->cfg.window,
        };
    s->num_out = hwmc_scan_plan_outs(&plan);
    for (uint32_t i = 0; i < s->num_out; i++)
        s->out[i] =
            (struct hwmc_block_out){.peer = hwmc_scan_plan_out(&plan, i), .bytes = s->bytes};
}

/* Rounds that are over before block `i` can go. */
static uint32_t rounds_before(const struct hwmc_net_scan *s, uint32_t i)
{
    const struct hwmc_scan_plan plan = plan_of(s);

    return hwmc_scan_plan_before(&plan, i);
}

/* The program's memory that is written to is also sent from while others of it are combined. */
static bool copies_own(const struct hwmc_net_scan *s)
{
    return !s->cfg.way.chain && s->num_out > 0 && s->combine.children > 0 &&
           (s->cfg.in == s->cfg.before || s->cfg.in == s->cfg.sum);
}

static size_t whole(const struct hwmc_net_scan *s)
{
    return ((size_t) s->bytes + 15) / 16 * 16;
}

/* Memory that is made: false without it. */
static bool make_scratch(struct hwmc_net_scan *s)
{
    const size_t vectors = (s->num_out > 0 ? s->combine.children : 0) + (copies_own(s) ? 1 : 0);
    size_t bytes = vectors * whole(s);

    for (uint32_t i = 0; i < s->combine.children; i++)
        bytes += (size_t) s->in[i].window * s->slot;
    s->scratch = malloc(bytes + 1);
    return s->scratch != NULL;
}

static bool place_all(struct hwmc_net_scan *s)
{
    const uint32_t rounds = s->combine.children;
    unsigned char *memory, *sum = s->cfg.sum ? (unsigned char *) s->cfg.sum + s->at : NULL;

    if (!make_scratch(s))
        return false;
    memory = s->scratch;
    s->sums[0] = (unsigned char *) (uintptr_t) s->cfg.in + s->at;
    if (copies_own(s)) {
        s->sums[0] = memcpy(memory, s->sums[0], s->bytes);
        memory += whole(s);
    }
    for (uint32_t i = 1; i <= rounds; i++) {
        s->sums[i] = s->num_out > 0 ? memory : sum;
        memory += s->num_out > 0 ? whole(s) : 0;
    }
    for (uint32_t i = 0; i < rounds; i++, memory += (size_t) s->in[i].window * s->slot)
        s->in_place[i] = (struct hwmc_block_place){memory, s->slot, s->in[i].window};
    if (sum && rounds > 0)
        s->sums[rounds] = sum;
    else if (sum && sum != s->sums[0])
        memcpy(sum, s->sums[0], s->bytes);
    for (uint32_t i = 0; i < s->num_out; i++)
        s->out_place[i] =
            (struct hwmc_block_place){s->sums[rounds_before(s, i)], s->part, UINT32_MAX};
    return true;
}

/* Part `index` of round `i`, which stands before all that is combined so far. `before` is written
 * to last: it may lie where this member's vector does. */
static void combine_part(struct hwmc_net_scan *s, uint32_t i, uint32_t index)
{
    const struct hwmc_shm_operation *o = s->cfg.operation;
    const struct hwmc_block_place *p = &s->in_place[i];
    const unsigned char *from = p->bytes + (size_t) (index % p->ring) * p->stride;
    const size_t at = (size_t) index * s->part;
    const uint32_t len = hwmc_exchange_part_len(s->bytes, s->part, index);
    unsigned char *next = s->sums[i + 1];
    unsigned char *before = (unsigned char *) s->cfg.before;

    if (next)
        hwmc_shm_operation_combine(o, next + at, from, s->sums[i] + at, len);
    if (!before)
        return;
    before += s->at + at;
    if (i == 0)
        memcpy(before, from, len);
    else
        hwmc_shm_operation_combine(o, before, from, before, len);
}

/* Combines what can be: a round's part is used up then. */
static void work(void *of)
{
    struct hwmc_net_scan *s = of;

    for (uint32_t i = 0; i < s->combine.children; i++)
        while (hwmc_combine_can(&s->combine, i, s->here[i])) {
            combine_part(s, i, s->combine.done[i]);
            s->taken[i] = ++s->combine.done[i];
        }
    for (uint32_t i = 0; i < s->num_out; i++)
        s->ready[i] = hwmc_combine_before(&s->combine, rounds_before(s, i));
}

static void begin_piece(struct hwmc_net_scan *s)
{
    const uint32_t element = s->cfg.operation->element;
    const uint64_t left = s->cfg.bytes - s->at, piece = hwmc_blocks_piece(element);
    struct hwmc_blocks_cfg cfg = {
        .engine = s->cfg.engine,
        .group = s->cfg.group,
        .withdraw_ns = s->cfg.withdraw_ns,
        .work = work,
        .of = s,
        .here = s->here,
        .taken = s->taken,
        .ready = s->ready,
    };

    s->bytes = (uint32_t) (left < piece ? left : piece);
    join(s);
    if (!place_all(s)) {
        hwmc_stage_note(&s->stage, HWMC_ERR_NOMEM, false);
        s->stage.over = true;
        return;
    }
    memset(s->taken, 0, sizeof(s->taken));
    memset(s->ready, 0, sizeof(s->ready));
    cfg.plan = (struct hwmc_blocks_plan){
        .in = s->in,
        .in_place = s->in_place,
        .num_in = s->combine.children,
        .out = s->out,
        .out_place = s->out_place,
        .num_out = s->num_out,
        .part = s->part,
        .budget = UINT64_MAX, /* a few rounds */
    };
    hwmc_blocks_stage_begin(&s->blocks, &cfg);
}

static bool scan_step(struct hwmc_op_stage *stage)
{
    struct hwmc_net_scan *s = (struct hwmc_net_scan *) stage;

    while (!stage->over) {
        if (!hwmc_stage_step(&s->blocks.stage)) {
            hwmc_stage_follow(stage, &s->blocks.stage);
            stage->mark += s->at;
            return false;
        }
        free(s->scratch);
        s->scratch = NULL;
        hwmc_stage_inherit(stage, &s->blocks.stage);
        s->at += s->bytes;
        stage->over = stage->err != HWMC_OK || s->at == s->cfg.bytes;
        if (!stage->over)
            begin_piece(s);
    }
    return true;
}

static void scan_fail(struct hwmc_op_stage *stage, enum hwmc_err err)
{
    struct hwmc_net_scan *s = (struct hwmc_net_scan *) stage;

    hwmc_stage_note(stage, err, false);
    hwmc_stage_fail(&s->blocks.stage, err);
}

static const struct hwmc_stage_ops scan_ops = {.step = scan_step, .fail = scan_fail};

void hwmc_net_scan_begin(struct hwmc_net_scan *s, const struct hwmc_net_scan_cfg *cfg)
{
    hwmc_stage_init(&s->stage, &scan_ops);
    s->stage.group = cfg->group;
    s->cfg = *cfg;
    s->at = 0;
    s->scratch = NULL;
    s->part = part_of(cfg);
    s->slot = s->part < cfg->bytes ? s->part : (uint32_t) cfg->bytes;
    s->slot = (s->slot + 15) / 16 * 16;
    begin_piece(s);
}
