/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * moves: see moves.h.
 */

#include "moves.h"

#include <stdlib.h>

static uint32_t blocks_of(const struct hwmc_move *v, uint32_t num)
{
    uint32_t blocks = 0;

    for (uint32_t i = 0; i < num; i++)
        blocks += v[i].bytes > 0 ? (uint32_t) ((v[i].bytes - 1) / HWMC_MOVE_BLOCK) + 1 : 1;
    return blocks;
}

/* One piece of memory for all rows, the widest first. False without memory. */
static bool make_rows(struct hwmc_moves *m)
{
    const size_t in = m->num_in, out = m->num_out;
    char *at = malloc(in * (sizeof(*m->in_place) + sizeof(*m->in) + 2 * sizeof(uint32_t)) +
                      out * (sizeof(*m->out_place) + sizeof(*m->out) + sizeof(uint32_t)) + 1);

    m->memory = at;
    if (!at)
        return false;
    m->in = (struct hwmc_block_in *) (void *) at;
    at += in * sizeof(*m->in);
    m->in_place = (struct hwmc_block_place *) (void *) at;
    at += in * sizeof(*m->in_place);
    m->out_place = (struct hwmc_block_place *) (void *) at;
    at += out * sizeof(*m->out_place);
    m->out = (struct hwmc_block_out *) (void *) at;
    at += out * sizeof(*m->out);
    m->here = (uint32_t *) (void *) at;
    m->taken = m->here + in;
    m->ready = m->taken + in;
    return true;
}

/* The blocks of a move, by port; its bytes. */
static uint32_t place_block(const struct hwmc_move *v, uint32_t port,
                            struct hwmc_block_place *place, uint32_t part)
{
    const uint64_t at = port * HWMC_MOVE_BLOCK, left = v->bytes - at;

    *place = (struct hwmc_block_place){
        .bytes = v->bytes > 0 ? (unsigned char *) v->memory + at : (unsigned char *) v->memory,
        .stride = part,
        .ring = UINT32_MAX,
    };
    return (uint32_t) (left < HWMC_MOVE_BLOCK ? left : HWMC_MOVE_BLOCK);
}

static uint8_t port_of(const struct hwmc_moves *m, uint32_t port)
{
    return (uint8_t) (m->plan * HWMC_EXCHANGE_PORTS + port);
}

static void fill_in(struct hwmc_moves *m, const struct hwmc_move *v, uint32_t num)
{
    for (uint32_t i = 0, n = 0; i < num; i++)
        for (uint32_t port = 0; port < blocks_of(&v[i], 1); port++, n++) {
            m->in[n] = (struct hwmc_block_in){.peer = v[i].peer, .port = port_of(m, port)};
            m->in[n].bytes = place_block(&v[i], port, &m->in_place[n], m->pace.part);
            m->in[n].window = hwmc_pace_ahead(&m->pace, m->stage.group->cfg.size);
            m->taken[n] = 0;
        }
}

static void fill_out(struct hwmc_moves *m, const struct hwmc_move *v, uint32_t num)
{
    for (uint32_t i = 0, n = 0; i < num; i++)
        for (uint32_t port = 0; port < blocks_of(&v[i], 1); port++, n++) {
            m->out[n] = (struct hwmc_block_out){.peer = v[i].peer, .port = port_of(m, port)};
            m->out[n].bytes = place_block(&v[i], port, &m->out_place[n], m->pace.part);
            m->ready[n] = hwmc_exchange_parts(m->out[n].bytes, m->pace.part);
        }
}

/* What has come is where it belongs. */
static void work(void *of)
{
    struct hwmc_moves *m = of;

    memcpy(m->taken, m->here, m->num_in * sizeof(*m->taken));
}

static bool moves_step(struct hwmc_op_stage *s)
{
    struct hwmc_moves *m = (struct hwmc_moves *) s;

    if (!hwmc_stage_step(&m->blocks.stage)) {
        hwmc_stage_follow(s, &m->blocks.stage);
        return false;
    }
    free(m->memory);
    hwmc_stage_inherit(s, &m->blocks.stage);
    s->over = true;
    return true;
}

static void moves_fail(struct hwmc_op_stage *s, enum hwmc_err err)
{
    struct hwmc_moves *m = (struct hwmc_moves *) s;

    hwmc_stage_note(s, err, false);
    hwmc_stage_fail(&m->blocks.stage, err);
}

static const struct hwmc_stage_ops moves_ops = {.step = moves_step, .fail = moves_fail};

void hwmc_moves_begin(struct hwmc_moves *m, const struct hwmc_moves_cfg *cfg)
{
    struct hwmc_blocks_cfg blocks = {
        .engine = cfg->engine,
        .group = cfg->group,
        .withdraw_ns = cfg->withdraw_ns,
        .work = work,
        .of = m,
    };

    hwmc_stage_init(&m->stage, &moves_ops);
    m->stage.group = cfg->group;
    m->num_in = blocks_of(cfg->in, cfg->num_in);
    m->num_out = blocks_of(cfg->out, cfg->num_out);
    m->plan = cfg->plan;
    m->pace = cfg->pace;
    if (!make_rows(m)) {
        hwmc_stage_note(&m->stage, HWMC_ERR_NOMEM, false);
        m->stage.over = true;
        return;
    }
    fill_in(m, cfg->in, cfg->num_in);
    fill_out(m, cfg->out, cfg->num_out);
    blocks.here = m->here;
    blocks.taken = m->taken;
    blocks.ready = m->ready;
    blocks.plan = (struct hwmc_blocks_plan){
        .in = m->in,
        .in_place = m->in_place,
        .num_in = m->num_in,
        .out = m->out,
        .out_place = m->out_place,
        .num_out = m->num_out,
        .part = m->pace.part,
        .budget = hwmc_pace_budget(&m->pace),
    };
    hwmc_blocks_stage_begin(&m->blocks, &blocks);
}
