/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * multilane: see multilane.h.
 */
#include "multilane.h"

#include <assert.h>

#include "../base/bitmap.h"
#include "../base/minmax.h"
#include "../base/trace.h"

uint32_t hwmc_multilane_words(uint32_t max_segments)
{
    return hwmc_bitmap_words(max_segments);
}

void hwmc_multilane_init(struct hwmc_multilane *m, const struct hwmc_multilane_cfg *cfg,
                         uint64_t *words)
{
    assert(cfg->size >= 2 && cfg->t >= 1 && cfg->t < cfg->size);
    assert(cfg->window >= 1 && cfg->far_window >= 1 && cfg->near.n >= 1 && cfg->far.n >= 1);
    memset(m, 0, sizeof(*m));
    m->cfg = *cfg;
    m->got = words;
}

static struct hwmc_trees trees_from(const struct hwmc_multilane_cfg *cfg, uint32_t root)
{
    return (struct hwmc_trees){cfg->size, root, cfg->t, cfg->sites};
}

/* How many of the message's first `segments` tree r carries; of all of them. */
static uint32_t share_of(const struct hwmc_multilane *m, uint32_t segments, uint32_t r)
{
    return segments > r ? (segments - r - 1) / m->cfg.t + 1 : 0;
}

static uint32_t segments_of(const struct hwmc_multilane *m, uint32_t r)
{
    return share_of(m, m->segments, r);
}

static uint32_t window_of(const struct hwmc_multilane *m, bool far)
{
    return far ? m->cfg.far_window : m->cfg.window;
}

static uint32_t first_grant(const struct hwmc_multilane *m, uint32_t r, bool far)
{
    return hwmc_min_u32(window_of(m, far), segments_of(m, r));
}

static void list_children(struct hwmc_multilane *m,
                          const struct hwmc_multilane_unexpected *unexpected)
{
    struct hwmc_trees t = trees_from(&m->cfg, m->root);

    m->num_children = 0;
    for (uint32_t r = 0; r < m->cfg.t; r++) {
        uint32_t num = hwmc_trees_children(&t, r, m->cfg.rank);

        assert(num <= HWMC_MULTILANE_SLOTS && m->num_children + num <= HWMC_MULTILANE_CHILDREN);
        for (uint32_t slot = 0; slot < num; slot++) {
            uint32_t rank = hwmc_trees_child(&t, r, m->cfg.rank, slot);
            bool far = !hwmc_trees_near(&t, m->cfg.rank, rank);

            m->child[m->num_children++] = (struct hwmc_multilane_child){
                .rank = rank,
                .tree = (uint8_t) r,
                .slot = (uint8_t) slot,
                .far = far,
                .limit = (unexpected->granted[r] >> slot & 1) ? first_grant(m, r, far) : 0,
                .refused = unexpected->refused[r] >> slot & 1,
            };
        }
    }
}

/* The trees in which the parent is at another site, a bit each. */
static uint8_t far_parents(const struct hwmc_multilane *m)
{
    struct hwmc_trees t = trees_from(&m->cfg, m->root);
    uint8_t far = 0;

    for (uint32_t r = 0; r < m->cfg.t; r++)
        if (!hwmc_trees_near(&t, m->cfg.rank, hwmc_trees_parent(&t, r, m->cfg.rank).rank))
            far |= (uint8_t) (1u << r);
    return far;
}

static void begin_shares(struct hwmc_multilane *m)
{
    struct hwmc_multilane_shares *s = m->cfg.shares;
    struct hwmc_trees t = trees_from(&m->cfg, m->root);

    for (uint32_t r = 0; r < m->cfg.t && m->root != m->cfg.rank; r++)
        hwmc_rail_weight_expect(&s->weights, r, hwmc_trees_parent(&t, r, m->cfg.rank).rank);
    for (uint32_t i = 0; i < m->num_children; i++) {
        s->copies[i] = 0;
        s->due[i] = 0;
        hwmc_rail_weight_serve(&s->weights, m->child[i].rank);
    }
}

static uint32_t copies_to(const struct hwmc_multilane *m, const struct hwmc_multilane_child *c)
{
    return m->cfg.shares ? m->cfg.shares->copies[c - m->child] : 0;
}

/* How far this rank takes segments of tree r: as few messages as keep the parent sending. */
static uint32_t limit_of(const struct hwmc_multilane *m, uint32_t r)
{
    return hwmc_min_u32(m->have[r] + window_of(m, m->far >> r & 1), segments_of(m, r));
}

static void renew_grant(struct hwmc_multilane *m, uint32_t r)
{
    uint32_t limit = limit_of(m, r);

    if (limit > m->told[r] && m->told[r] - m->have[r] <= window_of(m, m->far >> r & 1) / 2)
        m->grant_due |= (uint8_t) (1u << r);
}

/* The rails by which the last segment goes to the child too. */
static uint8_t copies_due(const struct hwmc_multilane *m, const struct hwmc_multilane_child *c)
{
    return m->cfg.shares && !m->failed && !c->refused ? m->cfg.shares->due[c - m->child] : 0;
}

/* The child needs no more of this rank, and the lanes need none of its bytes. */
static bool child_is_served(const struct hwmc_multilane *m, const struct hwmc_multilane_child *c)
{
    bool all = m->failed || c->refused || c->next == segments_of(m, c->tree);

    return all && c->done == c->next + copies_to(m, c) && !copies_due(m, c);
}

static bool all_served(const struct hwmc_multilane *m)
{
    for (uint32_t i = 0; i < m->num_children; i++)
        if (!child_is_served(m, &m->child[i]))
            return false;
    return true;
}

static const char *const phase_names[] = {
    [HWMC_MULTILANE_IDLE] = "IDLE",
    [HWMC_MULTILANE_RUN] = "RUN",
    [HWMC_MULTILANE_DONE] = "DONE",
};

static void set_phase(struct hwmc_multilane *m, enum hwmc_multilane_phase to)
{
    hwmc_trace_change(HWMC_TRACE_BCAST, m->bid, phase_names, m->phase, to);
    m->phase = to;
}

static void multilane_finish(struct hwmc_multilane *m)
{
    if (m->left == 0 && m->grant_due == 0 && m->refuse_due == 0 && m->void_due == 0 &&
        all_served(m))
        set_phase(m, HWMC_MULTILANE_DONE);
}

/* The message has another length than this rank was told, a parent has failed, or it was given
 * up. */
static void multilane_fail(struct hwmc_multilane *m, uint32_t theirs)
{
    if (m->failed)
        return;
    m->failed = true;
    m->theirs = theirs;
    m->left = 0;
    m->grant_due = 0;
    m->refuse_due = m->root == m->cfg.rank ? 0 : (uint8_t) ((1u << m->cfg.t) - 1);
    m->void_due = m->num_children < 64 ? (UINT64_C(1) << m->num_children) - 1 : UINT64_MAX;
}

void hwmc_multilane_post(struct hwmc_multilane *m, uint64_t bid, uint32_t root, uint32_t bytes,
                         uint32_t seg_bytes, const struct hwmc_multilane_unexpected *unexpected)
{
    bool is_root = root == m->cfg.rank;

    assert(m->phase == HWMC_MULTILANE_IDLE && bytes > 0 && seg_bytes > 0);
    m->bid = bid;
    set_phase(m, HWMC_MULTILANE_RUN);
    m->root = root;
    m->bytes = bytes;
    m->seg_bytes = seg_bytes;
    m->segments = (bytes - 1) / seg_bytes + 1;
    assert(m->segments <= m->cfg.max_segments);
    m->left = is_root ? 0 : m->segments;
    m->grant_due = m->refuse_due = 0;
    m->void_due = 0;
    m->failed = false;
    m->turn = 0;
    hwmc_bitmap_clear(m->got, m->segments);
    list_children(m, unexpected);
    m->far = is_root ? 0 : far_parents(m);
    if (m->cfg.shares)
        begin_shares(m);
    for (uint32_t r = 0; r < m->cfg.t; r++) {
        m->have[r] = m->told[r] = is_root ? segments_of(m, r) : 0;
        renew_grant(m, r);
    }
    m->cfg.counts->multilane++;
    if (unexpected->voided && !is_root)
        multilane_fail(m, 0);
    multilane_finish(m);
}

void hwmc_multilane_here(struct hwmc_multilane *m, uint32_t bytes)
{
    const uint32_t segments = bytes < m->bytes ? bytes / m->seg_bytes : m->segments;

    assert(m->phase != HWMC_MULTILANE_IDLE && m->root == m->cfg.rank);
    for (uint32_t r = 0; r < m->cfg.t; r++)
        m->have[r] = share_of(m, segments, r);
}

void hwmc_multilane_give_up(struct hwmc_multilane *m)
{
    if (m->phase != HWMC_MULTILANE_RUN)
        return;
    multilane_fail(m, 0);
    multilane_finish(m);
}

bool hwmc_multilane_formed(const struct hwmc_msg *msg, const struct hwmc_multilane_cfg *cfg)
{
    const bool grant = msg->type == HWMC_MSG_GRANT;
    const uint32_t tree = grant ? msg->grant.tree : msg->segment.tree;
    const uint32_t slot = grant ? msg->grant.slot : msg->segment.slot;
    const uint32_t root = grant ? msg->grant.root : msg->segment.root;

    return !msg->multicast && msg->peer < cfg->size && msg->peer != cfg->rank && tree < cfg->t &&
           slot < HWMC_MULTILANE_SLOTS && root < cfg->size;
}

enum hwmc_verdict hwmc_multilane_on_grant(struct hwmc_multilane *m, const struct hwmc_msg *msg)
{
    struct hwmc_multilane_child *c = m->child, *end = m->child + m->num_children;

    while (c < end && (c->tree != msg->grant.tree || c->slot != msg->grant.slot))
        c++;
    if (c == end || c->rank != msg->peer || msg->grant.root != m->root)
        return HWMC_BAD;
    /* Who takes the message for longer learns from what comes that it is not. */
    if (msg->grant.limit > c->limit)
        c->limit = hwmc_min_u32(msg->grant.limit, segments_of(m, c->tree));
    if (msg->flags & HWMC_FLAG_VOID) {
        c->refused = true;
        multilane_finish(m);
    }
    if (m->cfg.shares)
        hwmc_rail_weight_on_told(&m->cfg.shares->weights, msg->peer, msg->grant.rails,
                                 msg->grant.late_rails);
    return HWMC_TAKEN;
}

/* Which segment of the message `msg` brings. */
static uint32_t segment_number(const struct hwmc_multilane *m, const struct hwmc_msg *msg)
{
    return msg->segment.index * m->cfg.t + msg->segment.tree;
}

enum hwmc_verdict hwmc_multilane_on_segment(struct hwmc_multilane *m, const struct hwmc_msg *msg,
                                            uint64_t now)
{
    struct hwmc_trees t = trees_from(&m->cfg, m->root);
    uint32_t r = msg->segment.tree;

    if (m->root == m->cfg.rank || msg->segment.root != m->root ||
        hwmc_trees_parent(&t, r, m->cfg.rank).rank != msg->peer)
        return HWMC_BAD;
    if (msg->segment.bytes != m->bytes || (msg->flags & HWMC_FLAG_VOID)) {
        multilane_fail(m, msg->segment.bytes);
        return HWMC_TAKEN;
    }
    if (m->failed)
        return HWMC_DUP;
    if (msg->segment.index >= m->told[r])
        return HWMC_BAD;
    if (m->cfg.shares)
        hwmc_rail_weight_came(&m->cfg.shares->weights, r, msg->segment.index, msg->segment.rails,
                              window_of(m, m->far >> r & 1), now);
    if (hwmc_bitmap_test(m->got, segment_number(m, msg)))
        return HWMC_DUP;
    hwmc_bitmap_set(m->got, segment_number(m, msg));
    m->left--;
    while (m->have[r] < segments_of(m, r) && hwmc_bitmap_test(m->got, m->have[r] * m->cfg.t + r))
        m->have[r]++;
    renew_grant(m, r);
    m->cfg.counts->got_segments++;
    multilane_finish(m);
    return HWMC_PLACE;
}

uint32_t hwmc_multilane_at(const struct hwmc_multilane *m, const struct hwmc_msg *msg,
                           uint32_t *len)
{
    uint32_t at = segment_number(m, msg) * m->seg_bytes;

    *len = m->bytes - at < m->seg_bytes ? m->bytes - at : m->seg_bytes;
    return at;
}

/* The lanes of a rail take turns. */
static uint8_t lane_on(const struct hwmc_multilane *m, const struct hwmc_multilane_child *c,
                       uint32_t rail)
{
    const struct hwmc_multilane_shares *s = m->cfg.shares;
    uint32_t lanes = c->far ? s->far_lanes : s->lanes;
    uint32_t turns = (lanes - rail - 1) / s->weights.rails + 1;

    return (uint8_t) (rail + s->weights.rails * (c->next / s->weights.rails % turns));
}

static uint8_t lane_to(const struct hwmc_multilane *m, const struct hwmc_multilane_child *c)
{
    struct hwmc_multilane_shares *s = m->cfg.shares;
    uint32_t rail;

    if (s && hwmc_rail_weight_next(&s->weights, c->rank, &rail, &s->due[c - m->child]))
        return lane_on(m, c, rail);
    return hwmc_wrr_of(c->far ? &m->cfg.far : &m->cfg.near, c->tree + c->slot + c->next);
}

static bool child_is_ready(const struct hwmc_multilane *m, const struct hwmc_multilane_child *c)
{
    return !m->failed && !c->refused && c->next < c->limit && c->next < m->have[c->tree];
}

/* To the parent in the lowest of these trees, which is taken out. */
static void next_grant(struct hwmc_multilane *m, uint8_t *due, uint8_t flags, struct hwmc_msg *tx)
{
    struct hwmc_trees t = trees_from(&m->cfg, m->root);
    uint32_t r = (uint32_t) __builtin_ctz(*due);
    struct hwmc_edge up = hwmc_trees_parent(&t, r, m->cfg.rank);

    *due &= (uint8_t) (*due - 1);
    if (flags == 0)
        m->told[r] = limit_of(m, r);
    *tx = (struct hwmc_msg){
        .type = HWMC_MSG_GRANT,
        .flags = flags,
        .peer = up.rank,
        .bid = m->bid,
        .grant = {.root = m->root,
                  .limit = m->told[r],
                  .bytes = m->bytes,
                  .tree = (uint8_t) r,
                  .slot = (uint8_t) up.slot},
    };
    if (m->cfg.shares)
        tx->grant.rails = hwmc_rail_weight_tell(&m->cfg.shares->weights, r, &tx->grant.late_rails);
}

static void next_void(struct hwmc_multilane *m, struct hwmc_msg *tx)
{
    const struct hwmc_multilane_child *c = &m->child[__builtin_ctzll(m->void_due)];

    m->void_due &= m->void_due - 1;
    *tx = (struct hwmc_msg){
        .type = HWMC_MSG_SEGMENT,
        .flags = HWMC_FLAG_VOID,
        .peer = c->rank,
        .bid = m->bid,
        .segment = {.root = m->root, .bytes = m->theirs, .tree = c->tree, .slot = c->slot},
    };
}

/* Segment `index` of the child's tree by this lane. */
static void send_segment(struct hwmc_multilane *m, const struct hwmc_multilane_child *c,
                         uint32_t index, uint8_t lane, struct hwmc_msg *tx)
{
    *tx = (struct hwmc_msg){
        .type = HWMC_MSG_SEGMENT,
        .peer = c->rank,
        .bid = m->bid,
        .segment = {.root = m->root,
                    .index = index,
                    .bytes = m->bytes,
                    .token = (uint32_t) (c - m->child),
                    .tree = c->tree,
                    .slot = c->slot,
                    .lane = lane},
    };
    if (m->cfg.shares)
        tx->segment.rails = (uint8_t) (1u << lane % m->cfg.shares->weights.rails);
    m->cfg.counts->sent_segments++;
}

/* The last segment once more, by the lowest rail that is due. */
static void send_copy(struct hwmc_multilane *m, const struct hwmc_multilane_child *c,
                      struct hwmc_msg *tx)
{
    struct hwmc_multilane_shares *s = m->cfg.shares;
    uint8_t *due = &s->due[c - m->child];

    send_segment(m, c, c->next - 1, lane_on(m, c, (uint32_t) __builtin_ctz(*due)), tx);
    *due &= (uint8_t) (*due - 1);
    s->copies[c - m->child]++;
    m->cfg.counts->lane_copies++;
}

int hwmc_multilane_next_send(struct hwmc_multilane *m, struct hwmc_msg *tx)
{
    if (m->phase != HWMC_MULTILANE_RUN)
        return 0;
    if (m->grant_due) {
        next_grant(m, &m->grant_due, 0, tx);
        return 1;
    }
    if (m->refuse_due) {
        next_grant(m, &m->refuse_due, HWMC_FLAG_VOID, tx);
        multilane_finish(m);
        return 1;
    }
    if (m->void_due) {
        next_void(m, tx);
        multilane_finish(m);
        return 1;
    }
    for (uint32_t i = 0; i < m->num_children; i++) {
        uint32_t token = (m->turn + i) % m->num_children;
        struct hwmc_multilane_child *c = &m->child[token];

        if (copies_due(m, c)) {
            send_copy(m, c, tx);
            return 1;
        }
        if (!child_is_ready(m, c))
            continue;
        send_segment(m, c, c->next, lane_to(m, c), tx);
        c->next++;
        m->turn = token + 1;
        return 1;
    }
    return 0;
}

void hwmc_multilane_on_sent(struct hwmc_multilane *m, uint32_t token)
{
    struct hwmc_multilane_child *c = &m->child[token];

    assert(m->phase == HWMC_MULTILANE_RUN && token < m->num_children &&
           c->done < c->next + copies_to(m, c));
    c->done++;
    multilane_finish(m);
}

uint32_t hwmc_multilane_prefix(const struct hwmc_multilane *m)
{
    uint32_t segments = m->segments;

    for (uint32_t r = 0; r < m->cfg.t; r++)
        if (m->have[r] * m->cfg.t + r < segments)
            segments = m->have[r] * m->cfg.t + r;
    return segments < m->segments ? segments * m->seg_bytes : m->bytes;
}

void hwmc_multilane_reset(struct hwmc_multilane *m)
{
    assert(m->phase == HWMC_MULTILANE_DONE);
    set_phase(m, HWMC_MULTILANE_IDLE);
}

void hwmc_multilane_check(const struct hwmc_multilane *m)
{
    uint32_t here = 0;

    if (m->phase == HWMC_MULTILANE_IDLE)
        return;
    for (uint32_t r = 0; r < m->cfg.t; r++) {
        assert(m->have[r] <= m->told[r] && m->told[r] <= segments_of(m, r));
        assert(m->root == m->cfg.rank || m->told[r] <= limit_of(m, r));
        here += m->have[r];
    }
    assert(m->left <= m->segments - here || m->root == m->cfg.rank);
    if (m->root != m->cfg.rank && !m->failed)
        assert(m->left == m->segments - hwmc_bitmap_count(m->got, m->segments));
    for (uint32_t i = 0; i < m->num_children; i++) {
        const struct hwmc_multilane_child *c = &m->child[i];

        assert(c->done <= c->next + copies_to(m, c) && c->next <= m->have[c->tree]);
        assert(c->next <= c->limit);
    }
    if (m->cfg.shares)
        hwmc_rail_weight_check(&m->cfg.shares->weights);
    assert(m->phase != HWMC_MULTILANE_DONE || (m->left == 0 && all_served(m)));
    (void) here;
}
