/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * net_stage: see net_stage.h.
 */

#include "net_stage.h"
#include "../core/base/minmax.h"

#include <assert.h>
#include <stdlib.h>

#define TREES_PIECE (UINT64_C(1) << 30) /* bytes of one broadcast along trees */

/* What a state did: nothing, until something comes; it has changed; or for the caller. */
enum turn { AGAIN = HWMC_STAGE_AGAIN, COPY = HWMC_STAGE_COPY, OVER = HWMC_STAGE_OVER, MOVED };

static uint64_t left(const struct hwmc_net_stage *s)
{
    const uint64_t bytes = s->cfg.buffer->bytes;

    return bytes > s->at ? bytes - s->at : 0;
}

static enum turn enter(struct hwmc_net_stage *s, enum hwmc_net_state state)
{
    s->state = state;
    return MOVED;
}

/* A piece is next, of at most `piece` bytes. */
static enum turn next(struct hwmc_net_stage *s, enum hwmc_net_state state, uint64_t piece)
{
    s->n = hwmc_min_u64(left(s), piece);
    return enter(s, state);
}

static bool is_own(const struct hwmc_net_stage *s)
{
    return s->lies == HWMC_WHOLE_OWN || s->lies == HWMC_WHOLE_COPIED;
}

static enum turn finish(struct hwmc_net_stage *s)
{
    if (s->pinned)
        hwmc_group_unpin(s->cfg.group);
    if (is_own(s))
        free(s->whole);
    s->pinned = false;
    s->lies = HWMC_WHOLE_PROGRAM;
    return enter(s, HWMC_NET_OVER);
}

static enum turn fail_with(struct hwmc_net_stage *s, enum hwmc_err err)
{
    if (s->err == HWMC_OK)
        s->err = err;
    return finish(s);
}

/* It ends in mid-message: others wait for this rank. */
static enum turn break_off(struct hwmc_net_stage *s)
{
    hwmc_group_give_up(s->cfg.group);
    return finish(s);
}

static enum turn mismatch(struct hwmc_net_stage *s, uint64_t theirs, uint64_t ours)
{
    s->theirs = theirs;
    s->ours = ours;
    return fail_with(s, HWMC_ERR_INVAL);
}

/* A long message that lies in one piece is sent from there and placed there. */
static void pin(struct hwmc_net_stage *s)
{
    const struct hwmc_buffer *b = s->cfg.buffer;

    if (s->at > 0 || s->pinned || !b->memory || b->bytes <= s->cfg.pin_min)
        return;
    hwmc_group_pin(s->cfg.group, b->memory, (size_t) b->bytes);
    if (s->cfg.is_root)
        hwmc_group_lend(s->cfg.group);
    else
        hwmc_group_receive(s->cfg.group);
    s->pinned = true;
}

static bool in_place(const struct hwmc_net_stage *s, const void *memory)
{
    return s->pinned && memory == s->cfg.buffer->memory + s->at;
}

/* The next broadcast can be posted. */
static bool is_open(struct hwmc_net_stage *s, uint64_t now)
{
    if (hwmc_group_open(s->cfg.group))
        return true;
    hwmc_group_stall(s->cfg.group, now);
    return false;
}

/* The message from `at` on, all of it. */
static enum turn begin_trees(struct hwmc_net_stage *s)
{
    s->from = s->at;
    s->lies = s->cfg.buffer->memory ? HWMC_WHOLE_PROGRAM : HWMC_WHOLE_OWN;
    s->whole = is_own(s) ? malloc((size_t) left(s)) : s->cfg.buffer->memory + s->at;
    if (!s->whole)
        return fail_with(s, HWMC_ERR_NOMEM);
    return next(s, HWMC_NET_TREES, TREES_PIECE);
}

/* The root has more to send along trees than this member knows of. It takes part, for nobody is to
 * wait for it. */
static enum turn refuse(struct hwmc_net_stage *s)
{
    s->lies = HWMC_WHOLE_EXCESS;
    s->from = s->at;
    s->whole = &s->byte;
    s->n = 1;
    return enter(s, HWMC_NET_TREES);
}

static enum turn step_send(struct hwmc_net_stage *s, uint64_t now)
{
    pin(s);
    if (s->available < s->at + s->n || !is_open(s, now))
        return AGAIN;
    if (!hwmc_group_casts_next(s->cfg.group))
        return enter(s, HWMC_NET_SENT);
    s->channel = hwmc_group_next_bytes(s->cfg.group, (uint32_t) s->n);
    return in_place(s, s->channel) ? enter(s, HWMC_NET_PACKED) : COPY;
}

static enum turn step_packed(struct hwmc_net_stage *s, uint64_t now)
{
    if (s->err != HWMC_OK)
        return break_off(s);
    hwmc_group_post_root(s->cfg.group, (uint32_t) s->n, left(s) > s->n, now);
    return enter(s, HWMC_NET_SENDING);
}

static enum turn step_sending(struct hwmc_net_stage *s, uint64_t now)
{
    if (!hwmc_group_done(s->cfg.group))
        return AGAIN;
    hwmc_group_consume(s->cfg.group, now);
    s->at += s->n;
    return left(s) > 0 ? next(s, HWMC_NET_SEND, s->cfg.group->piece_bytes)
                       : enter(s, HWMC_NET_SENT);
}

static enum turn step_sent(struct hwmc_net_stage *s)
{
    if (s->pinned) {
        if (!hwmc_group_sent(s->cfg.group))
            return AGAIN;
        /* Before anything of it can be multicast again. */
        hwmc_group_unpin(s->cfg.group);
        s->pinned = false;
    }
    return left(s) > 0 ? begin_trees(s) : finish(s);
}

static enum turn step_recv(struct hwmc_net_stage *s, uint64_t now)
{
    pin(s);
    if (!is_open(s, now))
        return AGAIN;
    if (!hwmc_group_casts_next(s->cfg.group)) {
        if (s->pinned)
            hwmc_group_unpin(s->cfg.group);
        s->pinned = false;
        return left(s) > 0 ? begin_trees(s) : refuse(s);
    }
    hwmc_group_post_member(s->cfg.group, s->cfg.root, now);
    s->prefix = 0;
    return enter(s, HWMC_NET_RECEIVING);
}

/* The piece's first `n` bytes are where the program wants them, as far as it has room. */
static void has_come(struct hwmc_net_stage *s, uint64_t n)
{
    s->here = hwmc_max_u64(s->here, hwmc_min_u64(s->at + n, s->cfg.buffer->bytes));
}

/* What the broadcast under way has brought there. */
static enum turn listen(struct hwmc_net_stage *s)
{
    s->prefix = hwmc_group_prefix(s->cfg.group, s->prefix);
    has_come(s, s->prefix);
    return AGAIN;
}

static enum turn step_receiving(struct hwmc_net_stage *s)
{
    struct hwmc_group *g = s->cfg.group;

    if (!hwmc_group_done(g))
        return listen(s);
    s->got = hwmc_stream_bytes(&g->stream);
    s->more = hwmc_stream_more(&g->stream);
    s->n = hwmc_min_u64(s->got, s->n);
    /* The bytes stay where they are until this rank has consumed the broadcast. */
    s->channel = (void *) hwmc_group_last_bytes(g);
    return s->n == 0 || in_place(s, s->channel) ? enter(s, HWMC_NET_UNPACKED) : COPY;
}

static enum turn step_unpacked(struct hwmc_net_stage *s, uint64_t now)
{
    hwmc_group_consume(s->cfg.group, now);
    if (s->err != HWMC_OK)
        return s->more ? break_off(s) : finish(s);
    has_come(s, s->n);
    s->at += s->got;
    if (s->more)
        return next(s, HWMC_NET_RECV, s->cfg.group->piece_bytes);
    if (s->at != s->cfg.buffer->bytes)
        return mismatch(s, s->at, s->cfg.buffer->bytes);
    return finish(s);
}

static enum turn step_trees(struct hwmc_net_stage *s, uint64_t now)
{
    const bool whole = s->at == s->cfg.buffer->bytes && s->lies != HWMC_WHOLE_EXCESS;

    if (s->err != HWMC_OK)
        return whole ? finish(s) : break_off(s);
    if (s->lies == HWMC_WHOLE_OWN && s->cfg.is_root != whole)
        return COPY;
    if (whole)
        return finish(s);
    if (hwmc_net_stage_starves(s) || !is_open(s, now))
        return AGAIN;
    s->given = s->cfg.is_root ? (uint32_t) hwmc_min_u64(s->available - s->at, s->n) : 0;
    hwmc_group_begin_trees(s->cfg.group, s->cfg.root, s->whole + (s->at - s->from), (uint32_t) s->n,
                           s->given, now);
    s->prefix = 0;
    return enter(s, HWMC_NET_BY_TREES);
}

/* More of the broadcast under way has come here, where it is sent from. */
static void give_more(struct hwmc_net_stage *s, uint64_t now)
{
    const uint32_t given = (uint32_t) hwmc_min_u64(s->available - s->at, s->n);

    if (given == s->given)
        return;
    s->given = given;
    hwmc_group_more_trees(s->cfg.group, given, now);
}

static enum turn step_by_trees(struct hwmc_net_stage *s, uint64_t now)
{
    struct hwmc_group *g = s->cfg.group;
    const uint64_t bytes = s->cfg.buffer->bytes;
    uint32_t theirs;
    bool failed;

    if (s->cfg.is_root)
        give_more(s, now);
    if (!hwmc_group_done(g))
        return s->cfg.is_root || s->lies != HWMC_WHOLE_PROGRAM ? AGAIN : listen(s);
    failed = hwmc_stream_failed(&g->stream, &theirs);
    hwmc_group_consume(g, now);
    if (failed)
        return mismatch(s, theirs, s->n);
    if (s->lies == HWMC_WHOLE_EXCESS)
        return mismatch(s, bytes + 1, bytes);
    if (!s->cfg.is_root && s->lies == HWMC_WHOLE_PROGRAM)
        has_come(s, s->n);
    s->at += s->n;
    return next(s, HWMC_NET_TREES, TREES_PIECE);
}

static enum turn step(struct hwmc_net_stage *s, uint64_t now)
{
    switch (s->state) {
        case HWMC_NET_SEND:
            return step_send(s, now);
        case HWMC_NET_PACKED:
            return step_packed(s, now);
        case HWMC_NET_SENDING:
            return step_sending(s, now);
        case HWMC_NET_SENT:
            return step_sent(s);
        case HWMC_NET_RECV:
            return step_recv(s, now);
        case HWMC_NET_RECEIVING:
            return step_receiving(s);
        case HWMC_NET_UNPACKED:
            return step_unpacked(s, now);
        case HWMC_NET_TREES:
            return step_trees(s, now);
        case HWMC_NET_BY_TREES:
            return step_by_trees(s, now);
        case HWMC_NET_RETREAT:
            return hwmc_retreat_step(&s->retreat, now) ? finish(s) : AGAIN;
        default:
            return OVER;
    }
}

void hwmc_net_stage_begin(struct hwmc_net_stage *s, const struct hwmc_net_cfg *cfg)
{
    const enum hwmc_net_state first = cfg->is_root ? HWMC_NET_SEND : HWMC_NET_RECV;

    memset(s, 0, sizeof(*s));
    s->cfg = *cfg;
    s->available = cfg->from_host ? 0 : cfg->buffer->bytes;
    if (cfg->along_trees)
        begin_trees(s);
    else
        next(s, first, cfg->group->piece_bytes);
}

enum hwmc_stage_turn hwmc_net_stage_step(struct hwmc_net_stage *s, uint64_t now)
{
    enum turn turn;

    if (s->cfg.group->state == HWMC_GROUP_BROKEN)
        hwmc_net_stage_fail(s, HWMC_ERR_PEER, now);
    do
        turn = step(s, now);
    while (turn == MOVED);
    return (enum hwmc_stage_turn) turn;
}

void hwmc_net_stage_copy(struct hwmc_net_stage *s)
{
    const struct hwmc_buffer *b = s->cfg.buffer;
    int err;

    if (s->state == HWMC_NET_SEND) {
        err = hwmc_buffer_pack(b, s->at, s->channel, s->n);
        s->state = HWMC_NET_PACKED;
    } else if (s->state == HWMC_NET_RECEIVING) {
        err = hwmc_buffer_unpack(b, s->at, s->channel, s->n);
        s->state = HWMC_NET_UNPACKED;
    } else {
        assert(s->state == HWMC_NET_TREES && s->lies == HWMC_WHOLE_OWN);
        err = s->cfg.is_root ? hwmc_buffer_pack(b, s->from, s->whole, b->bytes - s->from)
                             : hwmc_buffer_unpack(b, s->from, s->whole, b->bytes - s->from);
        s->lies = HWMC_WHOLE_COPIED;
    }
    if (s->err == HWMC_OK)
        s->err = (enum hwmc_err) err;
}

void hwmc_net_stage_fail(struct hwmc_net_stage *s, enum hwmc_err err, uint64_t now)
{
    if (s->state >= HWMC_NET_RETREAT)
        return;
    if (s->err == HWMC_OK)
        s->err = err;
    hwmc_group_give_up(s->cfg.group);
    if (s->state != HWMC_NET_BY_TREES && is_own(s))
        free(s->whole);
    if (s->state != HWMC_NET_BY_TREES) {
        s->lies = HWMC_WHOLE_PROGRAM;
        s->whole = NULL;
    }
    s->retreat = (struct hwmc_retreat){.engine = s->cfg.engine,
                                       .group = s->cfg.group,
                                       .withdraw_ns = s->cfg.withdraw_ns,
                                       .by_lanes = s->whole != NULL};
    hwmc_retreat_begin(&s->retreat, now);
    if (s->retreat.state == HWMC_RETREAT_OVER)
        finish(s);
    else
        s->state = HWMC_NET_RETREAT;
}

void hwmc_net_stage_check(const struct hwmc_net_stage *s)
{
    assert(s->state != HWMC_NET_OVER || (!s->pinned && !is_own(s)));
    assert(s->here <= s->cfg.buffer->bytes || s->err != HWMC_OK);
    assert(s->state == HWMC_NET_OVER || s->err == HWMC_OK || s->state >= HWMC_NET_RETREAT ||
           s->state == HWMC_NET_PACKED || s->state == HWMC_NET_UNPACKED ||
           s->state == HWMC_NET_TREES);
}
