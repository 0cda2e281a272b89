/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * exchange: what goes; see exchange.h.
 */
#include "exchange_impl.h"

#include <assert.h>

/* About the block of `bytes` at `port`, to the peer. */
static void fill_msg(const struct hwmc_exchange *x, struct hwmc_msg *tx, enum hwmc_msg_type type,
                     uint32_t peer, uint8_t port, uint32_t bytes)
{
    *tx = (struct hwmc_msg){
        .type = type, .peer = peer, .bid = x->next, .block = {.bytes = bytes, .port = port}};
}

static void send_credit(struct hwmc_exchange *x, struct hwmc_msg *tx)
{
    struct hwmc_exchange_link *l = x->links;

    while (!l->credit_due)
        l++;
    l->credit_due = false;
    x->credits_due--;
    l->told = l->taken + HWMC_EXCHANGE_CREDIT;
    fill_msg(x, tx, HWMC_MSG_BLOCK_CREDIT, l->peer - 1, 0, 0);
    tx->block.index = l->told;
}

static void send_grant(struct hwmc_exchange *x, struct hwmc_msg *tx)
{
    struct hwmc_block_in *b = x->in;

    while (!b->grant_due)
        b++;
    b->grant_due = false;
    x->grants_due--;
    b->told = hwmc_exchange_limit(x, b);
    fill_msg(x, tx, HWMC_MSG_BLOCK_GRANT, b->peer, b->port, b->bytes);
    tx->block.index = b->told;
}

/* Of a failed exchange: to all peers, whatever they have. */
static bool send_void(struct hwmc_exchange *x, struct hwmc_msg *tx)
{
    if (x->voids_in < x->num_in) {
        const struct hwmc_block_in *b = &x->in[x->voids_in++];

        fill_msg(x, tx, HWMC_MSG_BLOCK_GRANT, b->peer, b->port, b->bytes);
    } else if (x->voids_out < x->num_out) {
        const struct hwmc_block_out *b = &x->out[x->voids_out++];

        fill_msg(x, tx, HWMC_MSG_BLOCK, b->peer, b->port, b->bytes);
    } else {
        return false;
    }
    tx->flags = HWMC_FLAG_VOID;
    hwmc_exchange_finish(x);
    return true;
}

/* An outgoing block of which nothing was granted. */
static bool send_announcement(struct hwmc_exchange *x, struct hwmc_msg *tx)
{
    while (x->announced < x->num_out) {
        const struct hwmc_block_out *b = &x->out[x->announced++];

        if (hwmc_exchange_is_eager(x, b->bytes) || b->limit > 0 || b->refused)
            continue;
        fill_msg(x, tx, HWMC_MSG_BLOCK, b->peer, b->port, b->bytes);
        tx->flags = HWMC_FLAG_AT_ONCE;
        return true;
    }
    return false;
}

void hwmc_exchange_on_timer(struct hwmc_exchange *x, uint64_t now)
{
    if (!x->running || now < x->announce_at)
        return;
    x->announce_at = HWMC_NEVER;
    x->announced = 0;
}

static bool may_send(struct hwmc_exchange *x, const struct hwmc_block_out *b)
{
    const struct hwmc_exchange_link *l;

    if (b->next >= b->ready || b->refused)
        return false;
    if (!hwmc_exchange_is_eager(x, b->bytes))
        return b->next < b->limit;
    l = hwmc_exchange_link(x, b->peer);
    return l->sent != l->credit;
}

/* Block number `at` has one part, or is one of several that follow each other. */
static uint32_t lane_of(const struct hwmc_exchange *x, const struct hwmc_msg *tx, uint32_t at)
{
    const bool eager = hwmc_exchange_is_eager(x, tx->block.bytes);

    return hwmc_wrr_of(&x->cfg.wrr, eager ? x->cfg.rank + tx->peer : tx->block.index + at);
}

static void note_eager(struct hwmc_exchange *x, const struct hwmc_block_out *b)
{
    struct hwmc_exchange_link *l = hwmc_exchange_link(x, b->peer);

    l->sent++;
    hwmc_exchange_trace(&l->out, x->next, b->port);
}

static bool send_part(struct hwmc_exchange *x, struct hwmc_msg *tx)
{
    for (uint32_t n = 0; n < x->num_out; n++) {
        const uint32_t at = (x->turn + n) % x->num_out;
        struct hwmc_block_out *b = &x->out[at];

        if (!may_send(x, b))
            continue;
        x->turn = at + 1;
        fill_msg(x, tx, HWMC_MSG_BLOCK, b->peer, b->port, b->bytes);
        tx->block.index = b->next++;
        tx->block.token = at;
        x->cfg.counts->sent_parts++;
        if (hwmc_exchange_is_eager(x, b->bytes))
            note_eager(x, b);
        else
            tx->flags = HWMC_FLAG_GRANTED;
        if (hwmc_exchange_by_lanes(x, b->bytes))
            tx->block.lane = lane_of(x, tx, at);
        else
            hwmc_exchange_on_sent(x, at);
        return true;
    }
    return false;
}

bool hwmc_exchange_next_send(struct hwmc_exchange *x, struct hwmc_msg *tx)
{
    if (x->credits_due > 0) {
        send_credit(x, tx);
        return true;
    }
    if (!x->running)
        return false;
    if (x->failed)
        return send_void(x, tx);
    if (x->grants_due > 0) {
        send_grant(x, tx);
        return true;
    }
    return send_announcement(x, tx) || send_part(x, tx);
}

void hwmc_exchange_on_sent(struct hwmc_exchange *x, uint32_t token)
{
    struct hwmc_block_out *b = &x->out[token];

    assert(x->running && token < x->num_out && b->done < b->next);
    b->done++;
    x->left_out -= hwmc_exchange_out_is_over(x, b);
    hwmc_exchange_finish(x);
}
