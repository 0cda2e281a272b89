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

static bool gateway_is_over(const struct hwmc_bcast *b)
{
    return !hwmc_bcast_by_gateway(b) || b->gateway.state == HWMC_NET_OVER;
}

static bool host_is_over(const struct hwmc_bcast *b)
{
    return !hwmc_bcast_by_host(b) || b->host.over;
}

/* Inside a host the message lies in one piece, and where it is passed on: it is made so. */
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
    struct hwmc_net_cfg net = cfg->net, gateway = cfg->gateway;

    b->buffer = b->whole = cfg->buffer;
    b->is_root = cfg->is_root;
    b->stages = 0;
    hwmc_stage_init(&b->stage, &bcast_ops);
    b->stage.group = cfg->net.group;
    b->all = cfg->all;
    if ((cfg->host.group || gateway.group) && !b->buffer.memory)
        hwmc_stage_note(&b->stage, gather(b), false);
    if (b->stage.err != HWMC_OK)
        return;
    if (cfg->host.group)
        b->stages |= HWMC_BCAST_HOST;
    if (net.group)
        b->stages |= HWMC_BCAST_NET;
    if (gateway.group)
        b->stages |= HWMC_BCAST_GATEWAY;
    if (hwmc_bcast_by_host(b))
        hwmc_host_stage_begin(&b->host, &cfg->host, b->whole.memory, b->whole.bytes,
                              b->is_root ? b->whole.bytes : 0);
    net.buffer = gateway.buffer = &b->whole;
    if (hwmc_bcast_by_net(b))
        hwmc_net_stage_begin(&b->net, &net);
    if (hwmc_bcast_by_gateway(b))
        hwmc_net_stage_begin(&b->gateway, &gateway);
}

/* The stages in the network cannot go on. */
static void fail_net(struct hwmc_bcast *b, enum hwmc_err err)
{
    hwmc_lock();
    if (!net_is_over(b))
        hwmc_net_stage_fail(&b->net, err, hwmc_now());
    if (!gateway_is_over(b))
        hwmc_net_stage_fail(&b->gateway, err, hwmc_now());
    hwmc_unlock();
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
    fail_net(b, b->host.err);
}

static void step_net(struct hwmc_bcast *b, struct hwmc_net_stage *net)
{
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
    if (net->err == HWMC_OK || b->stage.err != HWMC_OK)
        return;
    hwmc_stage_note(&b->stage, net->err, false);
    b->stage.group = net->cfg.group;
    b->stage.theirs = net->theirs;
    b->stage.ours = net->ours;
}

/* It sends what the other stage has, as far as that has come. */
static void step_gateway(struct hwmc_bcast *b)
{
    if (b->net.err != HWMC_OK)
        fail_net(b, b->net.err);
    b->gateway.available = b->net.cfg.is_root ? b->net.available : b->net.here;
    step_net(b, &b->gateway);
}

/* A group that is broken breaks the others: their members may wait for this rank. */
static void share_loss(struct hwmc_bcast *b)
{
    struct hwmc_group *const groups[] = {b->all, hwmc_bcast_by_net(b) ? b->net.cfg.group : NULL,
                                         hwmc_bcast_by_gateway(b) ? b->gateway.cfg.group : NULL};
    const struct hwmc_group *broken = NULL;

    hwmc_lock();
    for (int i = 0; i < 3 && !broken; i++)
        broken = groups[i] && groups[i]->state == HWMC_GROUP_BROKEN ? groups[i] : NULL;
    for (int i = 0; i < 3 && broken; i++)
        if (groups[i] && groups[i] != broken)
            hwmc_group_lose_too(groups[i], broken);
    hwmc_unlock();
}

static bool names_lost(const struct hwmc_group *g)
{
    return g->state == HWMC_GROUP_BROKEN && g->loss.finder != g->loss.rank;
}

/* The error is that of a group which knows who is lost, not one that was given up because of it. */
static void choose_group(struct hwmc_bcast *b)
{
    hwmc_lock();
    if (!names_lost(b->stage.group) && names_lost(b->all))
        b->stage.group = b->all;
    hwmc_unlock();
}

static void end(struct hwmc_bcast *b)
{
    if (b->all && b->stage.err == HWMC_ERR_PEER)
        choose_group(b);
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

static bool starves(const struct hwmc_net_stage *net)
{
    return net->state == HWMC_NET_OVER || hwmc_net_stage_starves(net);
}

/* What it waits for now. A root waits for its host once it has sent all it has. A gateway waits for
 * the other stage then. */
static void show(struct hwmc_bcast *b)
{
    const struct hwmc_net_stage *net = NULL;

    if (hwmc_bcast_by_net(b) && !starves(&b->net))
        net = &b->net;
    else if (hwmc_bcast_by_gateway(b) && !starves(&b->gateway))
        net = &b->gateway;
    b->stage.waits = net ? HWMC_STAGE_FOR_NET : HWMC_STAGE_FOR_HOST;
    b->stage.behind =
        hwmc_bcast_by_host(b) && (hwmc_host_stage_behind(&b->host) ||
                                  (hwmc_bcast_by_net(b) && hwmc_net_stage_hungers(&b->net)));
    if (!net)
        return;
    b->stage.mark = net->at << 4 | ((uint64_t) net->state + net->retreat.state);
    if (b->stage.err == HWMC_OK)
        b->stage.group = net->cfg.group;
}

static bool bcast_step(struct hwmc_op_stage *s)
{
    struct hwmc_bcast *b = (struct hwmc_bcast *) s;
    const bool from_host = hwmc_bcast_by_net(b) && b->net.cfg.from_host && b->net.cfg.is_root;

    if (from_host && s->err == HWMC_OK)
        step_host(b);
    if (!net_is_over(b))
        step_net(b, &b->net);
    if (!gateway_is_over(b))
        step_gateway(b);
    if (b->all)
        share_loss(b);
    if (!from_host && hwmc_bcast_by_host(b) && s->err == HWMC_OK)
        step_host(b);
    if (net_is_over(b) && gateway_is_over(b) && (host_is_over(b) || s->err != HWMC_OK))
        end(b);
    else
        show(b);
    return s->over;
}

static void bcast_fail(struct hwmc_op_stage *s, enum hwmc_err err)
{
    struct hwmc_bcast *b = (struct hwmc_bcast *) s;

    hwmc_stage_note(s, err, hwmc_bcast_by_host(b));
    fail_net(b, err);
}
