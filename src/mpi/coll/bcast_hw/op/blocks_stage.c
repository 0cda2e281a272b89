/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * blocks_stage: see blocks_stage.h.
 */

#include "blocks_stage.h"

#include "../process/process.h"

static struct hwmc_exchange *exchange_of(const struct hwmc_blocks_stage *s)
{
    return &s->cfg.group->blocks.exchange;
}

/* Under the lock: what `work` did is told to the machine. True: there was something. */
static bool pass_on(struct hwmc_blocks_stage *s)
{
    struct hwmc_exchange *x = exchange_of(s);
    const struct hwmc_blocks_plan *p = &s->cfg.plan;
    bool any = false;

    if (!s->untold)
        return false;
    s->untold = false;
    for (uint32_t i = 0; i < p->num_in && x->running; i++)
        if (s->cfg.taken[i] != p->in[i].taken) {
            hwmc_exchange_take(x, i, s->cfg.taken[i]);
            any = true;
        }
    for (uint32_t i = 0; i < p->num_out && x->running; i++)
        if (s->cfg.ready[i] != p->out[i].ready) {
            hwmc_exchange_ready(x, i, s->cfg.ready[i]);
            any = true;
        }
    return any;
}

/* Under the lock: there is work. */
static bool look(struct hwmc_blocks_stage *s)
{
    const struct hwmc_blocks_plan *p = &s->cfg.plan;

    if (s->came == exchange_of(s)->came)
        return false;
    s->came = exchange_of(s)->came;
    for (uint32_t i = 0; i < p->num_in; i++)
        s->cfg.here[i] = p->in[i].have;
    return true;
}

static void enter(struct hwmc_blocks_stage *s, enum hwmc_blocks_state state)
{
    s->state = state;
    s->stage.over = state == HWMC_BLOCKS_OVER;
}

static void fail(struct hwmc_blocks_stage *s, enum hwmc_err err, uint64_t now)
{
    hwmc_stage_note(&s->stage, err, false);
    if (s->state != HWMC_BLOCKS_RUN)
        return;
    s->retreat = (struct hwmc_retreat){.engine = s->cfg.engine,
                                       .group = s->cfg.group,
                                       .withdraw_ns = s->cfg.withdraw_ns,
                                       .by_lanes = true};
    hwmc_retreat_begin(&s->retreat, now);
    enter(s, HWMC_BLOCKS_RETREAT);
}

/* Under the lock. True: there is work. */
static bool run(struct hwmc_blocks_stage *s)
{
    struct hwmc_group *g = s->cfg.group;
    struct hwmc_exchange *x = exchange_of(s);

    if (g->state == HWMC_GROUP_BROKEN) {
        fail(s, HWMC_ERR_PEER, hwmc_now());
        return false;
    }
    if (pass_on(s))
        hwmc_group_pump_blocks(g);
    if (x->running)
        return look(s);
    if (x->failed) {
        hwmc_stage_note(&s->stage, HWMC_ERR_INVAL, false);
        s->stage.theirs = x->theirs;
        s->stage.ours = x->ours;
    }
    enter(s, HWMC_BLOCKS_OVER);
    return false;
}

/* Under the lock. A broken group sends nothing any more, so its exchange does not end by itself,
 * and the rows are the caller's again. */
static void end_retreat(struct hwmc_blocks_stage *s)
{
    if (s->cfg.group->state == HWMC_GROUP_BROKEN)
        hwmc_exchange_drop(exchange_of(s));
    enter(s, HWMC_BLOCKS_OVER);
}

static bool blocks_step(struct hwmc_op_stage *stage)
{
    struct hwmc_blocks_stage *s = (struct hwmc_blocks_stage *) stage;
    bool works;

    do {
        hwmc_lock();
        stage->now = s->cfg.group->wires->now;
        works = s->state == HWMC_BLOCKS_RUN && run(s);
        if (s->state == HWMC_BLOCKS_RETREAT && hwmc_retreat_step(&s->retreat, hwmc_now()))
            end_retreat(s);
        hwmc_unlock();
        if (works)
            s->cfg.work(s->cfg.of);
        s->untold = s->untold || works;
    } while (works);
    stage->mark = (uint64_t) s->state + s->retreat.state;
    return stage->over;
}

static void blocks_fail(struct hwmc_op_stage *stage, enum hwmc_err err)
{
    hwmc_lock();
    fail((struct hwmc_blocks_stage *) stage, err, hwmc_now());
    hwmc_unlock();
}

static const struct hwmc_stage_ops blocks_ops = {.step = blocks_step, .fail = blocks_fail};

/* What needs nothing of others is ready before the exchange begins, and goes as it begins. */
static void work_first(const struct hwmc_blocks_cfg *cfg)
{
    const struct hwmc_blocks_plan *p = &cfg->plan;

    for (uint32_t i = 0; i < p->num_in; i++)
        cfg->here[i] = 0;
    cfg->work(cfg->of);
    for (uint32_t i = 0; i < p->num_out; i++)
        p->out[i].ready = cfg->ready[i];
}

void hwmc_blocks_stage_begin(struct hwmc_blocks_stage *s, const struct hwmc_blocks_cfg *cfg)
{
    hwmc_stage_init(&s->stage, &blocks_ops);
    s->stage.waits = HWMC_STAGE_FOR_NET;
    s->stage.group = cfg->group;
    s->cfg = *cfg;
    s->state = HWMC_BLOCKS_RUN;
    s->untold = false;
    s->retreat.state = HWMC_RETREAT_NONE;
    work_first(cfg);
    hwmc_lock();
    s->came = exchange_of(s)->came;
    if (cfg->group->state != HWMC_GROUP_BROKEN) {
        hwmc_group_exchange(s->cfg.group, &s->cfg.plan, hwmc_now());
    } else { /* what was under way when it broke may never be over */
        hwmc_stage_note(&s->stage, HWMC_ERR_PEER, false);
        enter(s, HWMC_BLOCKS_OVER);
    }
    hwmc_unlock();
}
