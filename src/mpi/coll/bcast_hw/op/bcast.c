/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * bcast: see bcast.h.
 */

#include "bcast.h"
#include "../process/process.h"

#include <stdlib.h>

#define SHORT 4096u /* bytes that take less time to copy than the clock is to be read for */

static bool net_is_over(const struct hwmc_bcast *b)
{
    return !hwmc_bcast_by_net(b) || b->net.state == HWMC_NET_OVER;
}

static bool host_is_over(const struct hwmc_bcast *b)
{
    return !hwmc_bcast_by_host(b) || b->host.over;
}

/* Inside a host the message lies in one piece: it is made so. */
static enum hwmc_err gather(struct hwmc_bcast *b)
{
    b->whole.memory = malloc((size_t) b->buffer.bytes);
    if (!b->whole.memory)
        return HWMC_ERR_NOMEM;
    return b->is_root
               ? (enum hwmc_err) hwmc_buffer_pack(&b->buffer, 0, b->whole.memory, b->buffer.bytes)
               : HWMC_OK;
}

static bool bcast_step(struct hwmc_op_stage *s);
static void bcast_fail(struct hwmc_op_stage *s, enum hwmc_err err);

static const struct hwmc_stage_ops bcast_ops = {.step = bcast_step, .fail = bcast_fail};

void hwmc_bcast_begin(struct hwmc_bcast *b, const struct hwmc_bcast_cfg *cfg)
{
    struct hwmc_net_cfg net = cfg->net;

    b->buffer = b->whole = cfg->buffer;
    b->is_root = cfg->is_root;
    b->stages = 0;
    hwmc_stage_init(&b->stage, &bcast_ops);
    b->stage.group = cfg->net.group;
    if (cfg->host.group && !b->buffer.memory)
        hwmc_stage_note(&b->stage, gather(b), false);
    if (b->stage.err != HWMC_OK)
        return;
    if (cfg->host.group)
        b->stages |= HWMC_BCAST_HOST;
    if (net.group)
        b->stages |= HWMC_BCAST_NET;
    if (hwmc_bcast_by_host(b))
        hwmc_host_stage_begin(&b->host, &cfg->host, b->whole.memory, b->whole.bytes,
                              b->is_root ? b->whole.bytes : 0);
    net.buffer = &b->whole;
    if (hwmc_bcast_by_net(b))
        hwmc_net_stage_begin(&b->net, &net);
}

/* What one stage has of the message, the other gets. */
static void step_host(struct hwmc_bcast *b)
{
    if (hwmc_bcast_by_net(b) && !b->net.cfg.is_root)
        hwmc_host_stage_more(&b->host, b->net.here);
    hwmc_host_stage_step(&b->host);
    if (hwmc_bcast_by_net(b) && b->net.cfg.is_root)
        b->net.available = hwmc_host_stage_here(&b->host);
    if (b->host.err == HWMC_OK)
        return;
    hwmc_stage_note(&b->stage, b->host.err, true);
    if (!net_is_over(b)) {
        hwmc_lock();
        hwmc_net_stage_fail(&b->net, b->host.err, hwmc_now());
        hwmc_unlock();
    }
}

static void step_net(struct hwmc_bcast *b)
{
    struct hwmc_net_stage *net = &b->net;
    enum hwmc_stage_turn turn;
    uint64_t now = 0;

    do {
        hwmc_lock();
        b->stage.now = net->cfg.group->wires->now;
        if (hwmc_net_stage_is_idle(net))
            now = b->stage.now;
        else if (now == 0 || net->n > SHORT)
            now = hwmc_now();
        turn = hwmc_net_stage_step(net, now);
        hwmc_unlock();
        if (turn == HWMC_STAGE_COPY)
            hwmc_net_stage_copy(net);
    } while (turn == HWMC_STAGE_COPY);
    hwmc_stage_note(&b->stage, net->err, false);
    b->stage.theirs = net->theirs;
    b->stage.ours = net->ours;
}

static void end(struct hwmc_bcast *b)
{
    if (b->whole.memory != b->buffer.memory) {
        if (b->stage.err == HWMC_OK && !b->is_root)
            hwmc_stage_note(
                &b->stage,
                (enum hwmc_err) hwmc_buffer_unpack(&b->buffer, 0, b->whole.memory, b->buffer.bytes),
                false);
        free(b->whole.memory);
        b->whole.memory = b->buffer.memory;
    }
    b->stage.over = true;
}

/* What it waits for now. A root that has sent all it has waits for its host. */
static void show(struct hwmc_bcast *b)
{
    const bool starves = net_is_over(b) || hwmc_net_stage_starves(&b->net);

    b->stage.waits = starves ? HWMC_STAGE_FOR_HOST : HWMC_STAGE_FOR_NET;
    b->stage.behind =
        hwmc_bcast_by_host(b) && (hwmc_host_stage_behind(&b->host) ||
                                  (hwmc_bcast_by_net(b) && hwmc_net_stage_hungers(&b->net)));
    if (!starves)
        b->stage.mark = b->net.at << 4 | ((uint64_t) b->net.state + b->net.retreat.state);
}

static bool bcast_step(struct hwmc_op_stage *s)
{
    struct hwmc_bcast *b = (struct hwmc_bcast *) s;
    const bool from_host = hwmc_bcast_by_net(b) && b->net.cfg.from_host && b->net.cfg.is_root;

    if (from_host && s->err == HWMC_OK)
        step_host(b);
    if (!net_is_over(b))
        step_net(b);
    if (!from_host && hwmc_bcast_by_host(b) && s->err == HWMC_OK)
        step_host(b);
    if (net_is_over(b) && (host_is_over(b) || s->err != HWMC_OK))
        end(b);
    else
        show(b);
    return s->over;
}

static void bcast_fail(struct hwmc_op_stage *s, enum hwmc_err err)
{
    struct hwmc_bcast *b = (struct hwmc_bcast *) s;

    hwmc_stage_note(s, err, hwmc_bcast_by_host(b));
    if (net_is_over(b))
        return;
    hwmc_lock();
    hwmc_net_stage_fail(&b->net, err, hwmc_now());
    hwmc_unlock();
}
