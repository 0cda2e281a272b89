/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * group: the way of the data: what the program posts, has posted and takes, and what comes from
 * other members. See engine/group/group.h.
 */
#include <string.h>

#include "groups.h"
#include "group_impl.h"
#include "setup.h"

#define SPREAD_FRAGS 8u      /* from this many on a broadcast is spread over the rails */
#define SEGMENTS_A_LEVEL 16u /* of a tree: filling it takes a 16th of the time */

bool hwmc_group_open(const struct hwmc_group *g)
{
    return hwmc_stream_open(&g->stream) && hwmc_rails_idle(&g->wires->rails);
}

void hwmc_group_stall(struct hwmc_group *g, uint64_t now)
{
    if (!hwmc_stream_open(&g->stream)) {
        hwmc_stream_stall(&g->stream, now);
        hwmc_group_pump(g, now);
    }
}

void hwmc_group_pin(struct hwmc_group *g, void *memory, size_t bytes)
{
    hwmc_placement_pin(&g->placement, memory, bytes, hwmc_stream_next_bid(&g->stream));
    g->all->pinned = g;
}

void hwmc_group_lend(struct hwmc_group *g)
{
    g->wires->engine_counts->lent +=
        hwmc_rails_lend(&g->wires->rails, g->placement.user, g->placement.user_bytes);
    hwmc_group_direct_root(g);
}

void hwmc_group_receive(struct hwmc_group *g)
{
    hwmc_group_direct_begin(g);
}

bool hwmc_group_sent(struct hwmc_group *g)
{
    return hwmc_rails_idle(&g->wires->rails) &&
           hwmc_rails_returned(&g->wires->rails, g->placement.user);
}

bool hwmc_group_recall(struct hwmc_group *g)
{
    hwmc_rails_forget(&g->wires->rails, g->placement.user, g->placement.user_bytes);
    return hwmc_rails_returned(&g->wires->rails, g->placement.user);
}

void hwmc_group_unpin(struct hwmc_group *g)
{
    hwmc_group_recall(g);
    hwmc_group_direct_end(g, false);
    hwmc_placement_unpin(&g->placement, g->stream.channel.floor);
    if (g->all->pinned == g)
        g->all->pinned = NULL;
}

void *hwmc_group_next_bytes(struct hwmc_group *g, uint32_t bytes)
{
    return hwmc_placement_of(&g->placement, hwmc_stream_next_bid(&g->stream), bytes);
}

const void *hwmc_group_last_bytes(struct hwmc_group *g)
{
    return hwmc_placement_of(&g->placement, g->stream.channel.consumed,
                             hwmc_stream_bytes(&g->stream));
}

uint32_t hwmc_group_prefix(const struct hwmc_group *g, uint32_t known)
{
    if (!hwmc_stream_by_trees(&g->stream) &&
        !hwmc_placement_is_user(&g->placement, g->stream.channel.consumed))
        return 0;
    return hwmc_stream_prefix(&g->stream, known);
}

/* A broadcast of a few fragments takes the rail that has it out first: spread over several, its
 * losses would show later. */
static uint8_t rails_for(const struct hwmc_group *g, uint32_t bytes, uint64_t now)
{
    uint32_t rails = hwmc_stream_next_rails(&g->stream);

    if (bytes >= SPREAD_FRAGS * g->stream.ring.frag_bytes)
        return (uint8_t) rails;
    return hwmc_rails_best(&g->wires->rails, rails, now);
}

void hwmc_group_post_root(struct hwmc_group *g, uint32_t bytes, bool more, uint64_t now)
{
    hwmc_stream_post_root(&g->stream, bytes, more, rails_for(g, bytes, now), now);
    hwmc_group_pump(g, now);
}

void hwmc_group_post_member(struct hwmc_group *g, uint32_t root, uint64_t now)
{
    hwmc_stream_post_member(&g->stream, root, now);
    hwmc_group_pump(g, now);
}

/* Longer segments for a long message, and where there would be too many. */
static uint32_t seg_bytes(const struct hwmc_group *g, uint32_t bytes)
{
    const uint32_t levels = 32u - (uint32_t) __builtin_clz(g->cfg.size - 1);
    const uint32_t least = (bytes - 1) / HWMC_GROUP_SEGMENTS_MAX + 1;
    uint32_t seg = bytes / (SEGMENTS_A_LEVEL * levels);

    seg = seg < g->cfg.seg_max ? seg : g->cfg.seg_max;
    seg = seg > g->cfg.seg_bytes ? seg : g->cfg.seg_bytes;
    return seg > least ? seg : least;
}

void hwmc_group_begin_trees(struct hwmc_group *g, uint32_t root, void *memory, uint32_t bytes,
                            uint32_t here, uint64_t now)
{
    g->along_trees = memory;
    hwmc_stream_post_trees(&g->stream, root, bytes, seg_bytes(g, bytes));
    if (root == g->cfg.rank)
        hwmc_stream_here(&g->stream, here);
    hwmc_group_pump(g, now);
}

void hwmc_group_more_trees(struct hwmc_group *g, uint32_t here, uint64_t now)
{
    hwmc_stream_here(&g->stream, here);
    hwmc_group_pump(g, now);
}

void hwmc_group_post_trees(struct hwmc_group *g, uint32_t root, void *memory, uint32_t bytes,
                           uint64_t now)
{
    hwmc_group_begin_trees(g, root, memory, bytes, bytes, now);
}

void hwmc_group_consume(struct hwmc_group *g, uint64_t now)
{
    hwmc_group_direct_extend(g, g->stream.channel.consumed + 1);
    hwmc_stream_consume(&g->stream, now);
    hwmc_group_pump(g, now);
}

void hwmc_group_exchange(struct hwmc_group *g, const struct hwmc_blocks_plan *plan, uint64_t now)
{
    hwmc_blocks_begin(g, plan, now);
    hwmc_group_pump_blocks(g);
}

/* How many fragments DATA carries, one by multicast and one or more in a row by lane; 0 if not
 * every field agrees with what all members agreed on. */
static uint32_t run_of(const struct hwmc_group *g, const struct hwmc_msg *m, uint32_t len)
{
    uint32_t frag = g->stream.ring.frag_bytes;
    uint32_t n = m->multicast ? 1 : hwmc_frags_of(len, frag);

    return m->data.bytes <= g->piece_bytes && m->data.frags == hwmc_frags_of(m->data.bytes, frag) &&
                   m->data.index < m->data.frags && n <= m->data.frags - m->data.index &&
                   len == hwmc_group_run_len(g, m, n)
               ? n
               : 0;
}

/* What the short header leaves out: the number of fragments, and, where that did not come, the
 * upper half of the bid, which is the one nearest to the broadcasts under way. */
static void complete_cast(const struct hwmc_group *g, struct hwmc_msg *m, bool whole)
{
    uint64_t near = g->stream.channel.consumed;

    if (!whole)
        m->bid = near + (uint64_t) (int64_t) (int32_t) ((uint32_t) m->bid - (uint32_t) near);
    m->data.frags = hwmc_frags_of(m->data.bytes, g->stream.ring.frag_bytes);
}

/* Puts a fragment where it belongs, unless it came there. If it was to come there and did not, what
 * an adapter has of that memory is taken back before. */
static void place_fragment(struct hwmc_group *g, const struct hwmc_msg *m,
                           const unsigned char *payload)
{
    const uint32_t frag = g->stream.ring.frag_bytes;
    unsigned char *at =
        hwmc_placement_of(&g->placement, m->bid, m->data.bytes) + (size_t) m->data.index * frag;

    if (at != payload) {
        if (m->bid >= g->direct.first)
            hwmc_group_direct_end(g, true);
        memmove(at, payload, hwmc_frag_len(m->data.bytes, frag, m->data.index));
        return;
    }
    g->wires->engine_counts->in_place++;
    g->wires->engine_counts->direct += (m->flags & HWMC_FLAG_DIRECT) != 0;
}

/* The message is completed, and goes through its fragments, where it is: written in parts a moment
 * ago, it would be slow to copy. */
static void on_data(struct hwmc_group *g, struct hwmc_wire_in *in, uint64_t now)
{
    struct hwmc_msg *m = &in->msg;
    uint32_t frag = g->stream.ring.frag_bytes;
    const unsigned char *payload = in->payload;
    uint32_t n;

    if (in->cast)
        complete_cast(g, m, in->whole);
    n = run_of(g, m, in->len);
    if (n == 0)
        g->wires->counts->bad++;
    for (uint32_t end = m->data.index + n; m->data.index < end; m->data.index++, payload += frag)
        if (hwmc_stream_on_recv(&g->stream, m, now) == HWMC_PLACE)
            place_fragment(g, m, payload);
}

static void on_segment(struct hwmc_group *g, const struct hwmc_wire_in *in, uint64_t now)
{
    const struct hwmc_multilane *m = &g->stream.multilane;
    bool fails = in->msg.segment.bytes != m->bytes || (in->msg.flags & HWMC_FLAG_VOID);
    uint32_t len = 0;

    if (m->phase != HWMC_MULTILANE_RUN || in->msg.bid != m->bid || fails) {
        hwmc_stream_on_recv(&g->stream, &in->msg, now); /* there is nothing to place */
        return;
    }
    /* Its length is checked first: what is taken is placed. */
    if (in->msg.segment.tree < m->cfg.t && in->msg.segment.index < m->segments)
        hwmc_group_segment_at(g, &in->msg, &len);
    if (len == 0 || len != in->len)
        g->wires->counts->bad++;
    else if (hwmc_stream_on_recv(&g->stream, &in->msg, now) == HWMC_PLACE)
        memcpy(hwmc_group_segment_at(g, &in->msg, &len), in->payload, len);
}

void hwmc_group_on_recv(struct hwmc_group *g, struct hwmc_wire_in *in, uint64_t now)
{
    if (in->msg.peer >= g->cfg.size) {
        g->wires->counts->bad++;
        return;
    }
    if (in->msg.type == HWMC_MSG_LOST) {
        hwmc_group_on_told(g, &in->msg);
        return;
    }
    if (g->state == HWMC_GROUP_BROKEN) {
        hwmc_group_tell_again(g, &in->msg);
        return;
    }
    switch (in->msg.type) {
        case HWMC_MSG_PROBE:
            if (in->msg.probe.train > 0)
                hwmc_stream_on_recv(&g->stream, &in->msg, now);
            else
                hwmc_negotiation_on_recv(&g->negotiation, &in->msg, now);
            break;
        case HWMC_MSG_INVITE:
        case HWMC_MSG_REPORT:
        case HWMC_MSG_DECIDE:
            hwmc_negotiation_on_recv(&g->negotiation, &in->msg, now);
            break;
        case HWMC_MSG_DATA:
            on_data(g, in, now);
            break;
        case HWMC_MSG_SEGMENT:
            on_segment(g, in, now);
            break;
        case HWMC_MSG_BLOCK:
        case HWMC_MSG_BLOCK_GRANT:
        case HWMC_MSG_BLOCK_CREDIT:
            hwmc_blocks_on_recv(g, in);
            break;
        default:
            hwmc_stream_on_recv(&g->stream, &in->msg, now);
            break;
    }
    hwmc_agenda_touch(&g->all->agenda, g);
}
