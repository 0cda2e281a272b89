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

static void note(struct hwmc_bcast *b, enum hwmc_err err, bool in_host)
{
    if (b->err != HWMC_OK || err == HWMC_OK)
        return;
    b->err = err;
    b->in_host = in_host;
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

void hwmc_bcast_begin(struct hwmc_bcast *b, const struct hwmc_bcast_cfg *cfg)
{
    struct hwmc_net_cfg net = cfg->net;

    b->buffer = b->whole = cfg->buffer;
    b->is_root = cfg->is_root;
    b->stages = 0;
    b->in_host = b->over = false;
    b->err = HWMC_OK;
    b->now = 0;
    if (cfg->host.group && !b->buffer.memory)
        note(b, gather(b), false);
    if (b->err != HWMC_OK)
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
    note(b, b->host.err, true);
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
        b->now = net->cfg.group->wires->now;
        if (hwmc_net_stage_is_idle(net))
            now = b->now;
        else if (now == 0 || net->n > SHORT)
            now = hwmc_now();
        turn = hwmc_net_stage_step(net, now);
        hwmc_unlock();
        if (turn == HWMC_STAGE_COPY)
            hwmc_net_stage_copy(net);
    } while (turn == HWMC_STAGE_COPY);
    note(b, net->err, false);
}

static void end(struct hwmc_bcast *b)
{
    if (b->whole.memory != b->buffer.memory) {
        if (b->err == HWMC_OK && !b->is_root)
            note(
                b,
                (enum hwmc_err) hwmc_buffer_unpack(&b->buffer, 0, b->whole.memory, b->buffer.bytes),
                false);
        free(b->whole.memory);
        b->whole.memory = b->buffer.memory;
    }
    b->over = true;
}

bool hwmc_bcast_step(struct hwmc_bcast *b)
{
    const bool from_host = hwmc_bcast_by_net(b) && b->net.cfg.from_host && b->net.cfg.is_root;

    if (b->over)
        return true;
    if (from_host && b->err == HWMC_OK)
        step_host(b);
    if (!net_is_over(b))
        step_net(b);
    if (!from_host && hwmc_bcast_by_host(b) && b->err == HWMC_OK)
        step_host(b);
    if (net_is_over(b) && (host_is_over(b) || b->err != HWMC_OK))
        end(b);
    return b->over;
}

enum hwmc_bcast_wait hwmc_bcast_waits(const struct hwmc_bcast *b)
{
    return net_is_over(b) || hwmc_net_stage_starves(&b->net) ? HWMC_BCAST_FOR_HOST
                                                             : HWMC_BCAST_FOR_NET;
}

void hwmc_bcast_fail(struct hwmc_bcast *b, enum hwmc_err err)
{
    note(b, err, hwmc_bcast_by_host(b));
    if (net_is_over(b))
        return;
    hwmc_lock();
    hwmc_net_stage_fail(&b->net, err, hwmc_now());
    hwmc_unlock();
}
