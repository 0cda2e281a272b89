/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * group: the way of the data: what the program posts, has posted and takes, and what comes from
 * other members. See group.h.
 */
#include <string.h>

#include "engine.h"
#include "group_impl.h"
#include "group_setup.h"

#define SPREAD_FRAGS 8u /* from this many on a broadcast is spread over the rails */

uint32_t bcast_hw_group_run_len(const struct bcast_hw_group *g, const struct bcast_hw_msg *msg,
                                uint32_t n)
{
    uint32_t frag = g->stream.ring.frag_bytes;

    return (n - 1) * frag + bcast_hw_frag_len(msg->bytes, frag, msg->index + n - 1);
}

unsigned char *bcast_hw_group_segment_at(const struct bcast_hw_group *g,
                                         const struct bcast_hw_msg *msg, uint32_t *len)
{
    uint32_t at = bcast_hw_multilane_at(&g->stream.multilane, msg, len);

    return g->along_trees + at;
}

bool bcast_hw_group_open(const struct bcast_hw_group *g)
{
    return bcast_hw_stream_open(&g->stream) && bcast_hw_rails_idle(&g->engine->rails);
}

void bcast_hw_group_stall(struct bcast_hw_group *g, uint64_t now)
{
    if (!bcast_hw_stream_open(&g->stream)) {
        bcast_hw_stream_stall(&g->stream, now);
        bcast_hw_group_pump(g, now);
    }
}

void bcast_hw_group_lend(struct bcast_hw_group *g, void *memory, size_t bytes)
{
    bcast_hw_homes_lend(&g->homes, memory, bytes, bcast_hw_stream_next_bid(&g->stream));
}

bool bcast_hw_group_sent(const struct bcast_hw_group *g)
{
    return bcast_hw_rails_idle(&g->engine->rails);
}

void bcast_hw_group_return(struct bcast_hw_group *g)
{
    bcast_hw_rails_forget(&g->engine->rails, g->homes.user, g->homes.user_bytes);
    bcast_hw_homes_return(&g->homes, g->stream.channel.floor);
}

void *bcast_hw_group_next_bytes(struct bcast_hw_group *g, uint32_t bytes)
{
    return bcast_hw_homes_of(&g->homes, bcast_hw_stream_next_bid(&g->stream), bytes);
}

const void *bcast_hw_group_last_bytes(struct bcast_hw_group *g)
{
    return bcast_hw_homes_of(&g->homes, bcast_hw_stream_next_bid(&g->stream) - 1,
                             bcast_hw_stream_bytes(&g->stream));
}

uint32_t bcast_hw_group_prefix(const struct bcast_hw_group *g, uint32_t known)
{
    if (!bcast_hw_stream_by_trees(&g->stream) &&
        !bcast_hw_homes_is_user(&g->homes, bcast_hw_stream_next_bid(&g->stream) - 1))
        return 0;
    return bcast_hw_stream_prefix(&g->stream, known);
}

/* A broadcast of a few fragments takes the rail that has it out first: spread over several, its
 * losses would show later. */
static uint8_t rails_for(const struct bcast_hw_group *g, uint32_t bytes, uint64_t now)
{
    uint32_t rails = bcast_hw_stream_next_rails(&g->stream);

    if (bytes >= SPREAD_FRAGS * g->stream.ring.frag_bytes)
        return (uint8_t) rails;
    return bcast_hw_rails_best(&g->engine->rails, rails, now);
}

void bcast_hw_group_post_root(struct bcast_hw_group *g, uint32_t bytes, bool more, uint64_t now)
{
    bcast_hw_stream_post_root(&g->stream, bytes, more, rails_for(g, bytes, now), now);
    bcast_hw_group_pump(g, now);
}

void bcast_hw_group_post_member(struct bcast_hw_group *g, uint32_t root, uint64_t now)
{
    bcast_hw_stream_post_member(&g->stream, root, now);
    bcast_hw_group_pump(g, now);
}

/* Longer segments where there would be too many. */
static uint32_t seg_bytes(const struct bcast_hw_group *g, uint32_t bytes)
{
    uint32_t least = (bytes - 1) / BCAST_HW_GROUP_SEGMENTS_MAX + 1;

    return g->cfg.seg_bytes > least ? g->cfg.seg_bytes : least;
}

void bcast_hw_group_post_trees(struct bcast_hw_group *g, uint32_t root, void *memory,
                               uint32_t bytes, uint64_t now)
{
    g->along_trees = memory;
    bcast_hw_stream_post_trees(&g->stream, root, bytes, seg_bytes(g, bytes));
    bcast_hw_group_pump(g, now);
}

void bcast_hw_group_consume(struct bcast_hw_group *g, uint64_t now)
{
    bcast_hw_stream_consume(&g->stream, now);
    bcast_hw_group_pump(g, now);
}

/* How many fragments DATA carries, one by multicast and one or more in a row by lane; 0 if not
 * every field agrees with what all members agreed on. */
static uint32_t run_of(const struct bcast_hw_group *g, const struct bcast_hw_msg *m, uint32_t len)
{
    uint32_t frag = g->stream.ring.frag_bytes;
    uint32_t n = m->multicast ? 1 : bcast_hw_frags_of(len, frag);

    return m->bytes <= g->piece_bytes && m->frags == bcast_hw_frags_of(m->bytes, frag) &&
                   m->index < m->frags && n <= m->frags - m->index &&
                   len == bcast_hw_group_run_len(g, m, n)
               ? n
               : 0;
}

/* What the short header leaves out: the number of fragments, and, where that did not come, the
 * upper half of the bid, which is the one nearest to the broadcasts under way. */
static void complete(const struct bcast_hw_group *g, struct bcast_hw_msg *m, bool whole)
{
    uint64_t near = g->stream.channel.consumed;

    if (!whole)
        m->bid = near + (uint64_t) (int64_t) (int32_t) ((uint32_t) m->bid - (uint32_t) near);
    m->frags = bcast_hw_frags_of(m->bytes, g->stream.ring.frag_bytes);
}

static void on_data(struct bcast_hw_group *g, const struct bcast_hw_wire_in *in, uint64_t now)
{
    struct bcast_hw_msg m = in->msg;
    uint32_t frag = g->stream.ring.frag_bytes;
    const unsigned char *payload = in->payload;
    uint32_t n;

    if (in->cast)
        complete(g, &m, in->whole);
    n = run_of(g, &m, in->len);
    if (n == 0)
        g->engine->counts->bad++;
    for (uint32_t end = m.index + n; m.index < end; m.index++, payload += frag)
        if (bcast_hw_stream_on_recv(&g->stream, &m, now) == BCAST_HW_PLACE)
            memcpy(bcast_hw_homes_of(&g->homes, m.bid, m.bytes) + (size_t) m.index * frag, payload,
                   bcast_hw_frag_len(m.bytes, frag, m.index));
}

static void on_segment(struct bcast_hw_group *g, const struct bcast_hw_wire_in *in, uint64_t now)
{
    const struct bcast_hw_multilane *m = &g->stream.multilane;
    bool fails = in->msg.bytes != m->bytes || (in->msg.flags & BCAST_HW_FLAG_VOID);
    uint32_t len = 0;

    if (m->phase != BCAST_HW_MULTILANE_RUN || in->msg.bid != m->bid || fails) {
        bcast_hw_stream_on_recv(&g->stream, &in->msg, now); /* there is nothing to place */
        return;
    }
    /* Its length is checked first: what is taken is placed. */
    if (in->msg.tree < m->cfg.t && in->msg.index < m->segments)
        bcast_hw_group_segment_at(g, &in->msg, &len);
    if (len == 0 || len != in->len)
        g->engine->counts->bad++;
    else if (bcast_hw_stream_on_recv(&g->stream, &in->msg, now) == BCAST_HW_PLACE)
        memcpy(bcast_hw_group_segment_at(g, &in->msg, &len), in->payload, len);
}

void bcast_hw_group_on_recv(struct bcast_hw_group *g, const struct bcast_hw_wire_in *in,
                            uint64_t now)
{
    if (in->msg.peer >= g->cfg.size) {
        g->engine->counts->bad++;
        return;
    }
    if (in->msg.type == BCAST_HW_MSG_LOST) {
        bcast_hw_group_on_told(g, &in->msg);
        return;
    }
    if (g->state == BCAST_HW_GROUP_BROKEN) {
        bcast_hw_group_tell_again(g, &in->msg);
        return;
    }
    switch (in->msg.type) {
        case BCAST_HW_MSG_PROBE:
            if (in->msg.index > 0)
                bcast_hw_stream_on_recv(&g->stream, &in->msg, now);
            else
                bcast_hw_agree_on_recv(&g->agree, &in->msg, now);
            break;
        case BCAST_HW_MSG_INVITE:
        case BCAST_HW_MSG_REPORT:
        case BCAST_HW_MSG_DECIDE:
            bcast_hw_agree_on_recv(&g->agree, &in->msg, now);
            break;
        case BCAST_HW_MSG_DATA:
            on_data(g, in, now);
            break;
        case BCAST_HW_MSG_SEGMENT:
            on_segment(g, in, now);
            break;
        default:
            bcast_hw_stream_on_recv(&g->stream, &in->msg, now);
            break;
    }
    bcast_hw_agenda_touch(&g->engine->agenda, g);
}
