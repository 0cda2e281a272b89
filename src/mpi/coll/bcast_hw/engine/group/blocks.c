/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * blocks: see blocks.h.
 */
#include "blocks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "group.h"
#include "groups.h"
#include "group_impl.h"

/* A message that is given again once its exchange has begun. */
struct hwmc_blocks_kept {
    struct hwmc_blocks_kept *next;
    struct hwmc_msg msg;
    uint32_t len;
    unsigned char payload[];
};

static uint32_t links_for(uint32_t size)
{
    uint32_t links = 4;

    while (links < 2 * size)
        links *= 2;
    return links;
}

bool hwmc_blocks_open(struct hwmc_group *g)
{
    struct hwmc_exchange_cfg cfg = {
        .size = g->cfg.size,
        .rank = g->cfg.rank,
        .eager = hwmc_eager_bytes(g->cfg.size),
        .spread = hwmc_exchange_spread(g->wires->cfg.num_rails),
        .links = links_for(g->cfg.size),
        .counts = g->wires->counts,
    };

    hwmc_blocks_close(g);
    g->blocks.links = malloc(cfg.links * sizeof(*g->blocks.links));
    if (!g->blocks.links)
        return false;
    hwmc_wires_shares(g->wires, g->cfg.rails, g->wires->cfg.num_lanes, &cfg.wrr);
    hwmc_exchange_init(&g->blocks.exchange, &cfg, g->blocks.links);
    return true;
}

void hwmc_blocks_close(struct hwmc_group *g)
{
    struct hwmc_blocks *b = &g->blocks;

    for (struct hwmc_blocks_kept *k = b->kept, *next; k; k = next) {
        next = k->next;
        free(k);
    }
    free(b->links);
    b->links = NULL;
    b->kept = NULL;
}

static unsigned char *part_at(const struct hwmc_block_place *p, uint32_t index)
{
    return p->bytes + (size_t) (index % p->ring) * p->stride;
}

/* A rank without memory for what a peer sends cannot go on: as if the peer were lost. */
static void keep_message(struct hwmc_group *g, const struct hwmc_msg *msg, const void *payload,
                         uint32_t len)
{
    struct hwmc_blocks_kept *k = malloc(sizeof(*k) + len), **end = &g->blocks.kept;

    if (!k) {
        hwmc_group_on_lost(g, g->world[msg->peer]);
        return;
    }
    k->next = NULL;
    k->msg = *msg;
    k->len = len;
    if (len > 0)
        memcpy(k->payload, payload, len);
    while (*end)
        end = &(*end)->next;
    *end = k;
}

/* The payload has the length that the block's gives the part. */
static bool is_right_length(const struct hwmc_exchange *x, const struct hwmc_msg *msg, uint32_t len)
{
    const uint32_t bytes = msg->block.bytes;

    if (!hwmc_block_has_payload(msg))
        return len == 0;
    if (hwmc_exchange_is_unasked(x, msg))
        return msg->block.index == 0 && len == bytes;
    return !x->running || msg->bid != x->next ||
           (msg->block.index < hwmc_exchange_parts(bytes, x->part) &&
            len == hwmc_exchange_part_len(bytes, x->part, msg->block.index));
}

/* True: it is to be kept. */
static bool on_message(struct hwmc_group *g, const struct hwmc_msg *msg, const void *payload,
                       uint32_t len, bool kept)
{
    struct hwmc_exchange *x = &g->blocks.exchange;
    enum hwmc_verdict verdict = HWMC_BAD;
    uint32_t i;

    if (msg->type == HWMC_MSG_BLOCK && is_right_length(x, msg, len)) {
        verdict = hwmc_exchange_on_block(x, msg, kept, &i);
        if (verdict == HWMC_PLACE && len > 0)
            memcpy(part_at(&g->blocks.in_place[i], msg->block.index), payload, len);
    } else if (msg->type == HWMC_MSG_BLOCK_GRANT) {
        verdict = hwmc_exchange_on_grant(x, msg, kept);
    } else if (msg->type == HWMC_MSG_BLOCK_CREDIT) {
        verdict = hwmc_exchange_on_credit(x, msg);
    }
    if (x->astray)
        hwmc_group_give_up(g);
    g->wires->counts->bad += verdict == HWMC_BAD;
    g->wires->counts->stale += verdict == HWMC_STALE;
    g->wires->counts->dup += verdict == HWMC_DUP;
    return verdict == HWMC_KEEP;
}

void hwmc_blocks_on_recv(struct hwmc_group *g, const struct hwmc_wire_in *in)
{
    if (!g->blocks.links)
        g->wires->counts->bad++;
    else if (on_message(g, &in->msg, in->payload, in->len, false))
        keep_message(g, &in->msg, in->payload, in->msg.type == HWMC_MSG_BLOCK ? in->len : 0);
}

/* What was kept of the exchange that has begun. */
static void give_again(struct hwmc_group *g)
{
    struct hwmc_blocks_kept **at = &g->blocks.kept;

    while (*at) {
        struct hwmc_blocks_kept *k = *at;

        if (on_message(g, &k->msg, k->payload, k->len, true)) {
            at = &k->next;
            continue;
        }
        *at = k->next;
        free(k);
    }
}

void hwmc_blocks_begin(struct hwmc_group *g, const struct hwmc_blocks_plan *plan, uint64_t now)
{
    struct hwmc_blocks *b = &g->blocks;

    assert(b->links && plan->part >= HWMC_PART_LEAST);
    b->in_place = plan->in_place;
    b->out_place = plan->out_place;
    hwmc_exchange_begin(&b->exchange, plan->in, plan->num_in, plan->out, plan->num_out, plan->part,
                        plan->budget, now);
    if (b->kept)
        give_again(g);
}

static void send_part(struct hwmc_group *g, const struct hwmc_msg *msg)
{
    const struct hwmc_exchange *x = &g->blocks.exchange;
    const unsigned char *body = part_at(&g->blocks.out_place[msg->block.token], msg->block.index);
    const uint32_t bytes = msg->block.bytes;
    const uint32_t len = hwmc_exchange_part_len(bytes, x->part, msg->block.index);

    if (hwmc_exchange_by_lanes(x, bytes))
        hwmc_group_send_pinned(g, msg, msg->block.lane, msg->block.token | HWMC_BLOCKS_TOKEN, body,
                               len);
    else
        hwmc_wires_send(g->wires, g->world[msg->peer], &g->id, g->cfg.rank, msg, body, len);
}

void hwmc_blocks_pump(struct hwmc_group *g)
{
    struct hwmc_msg tx;

    while (g->blocks.links && hwmc_exchange_next_send(&g->blocks.exchange, &tx))
        if (hwmc_block_has_payload(&tx))
            send_part(g, &tx);
        else
            hwmc_wires_send(g->wires, g->world[tx.peer], &g->id, g->cfg.rank, &tx, NULL, 0);
}
