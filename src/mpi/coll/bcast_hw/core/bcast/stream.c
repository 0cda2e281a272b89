/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * stream, what a rank calls and what goes: see stream.h.
 */
#include "../base/bitmap.h"
#include "stream_impl.h"

#include <assert.h>
#include <string.h>

static uint32_t max_frags(const struct hwmc_stream_cfg *cfg)
{
    return hwmc_frags_of(cfg->max_bytes, cfg->frag_bytes);
}

/* Of all channels: slots, then bitmaps, then what came early; then the rails' shares and the
 * segments' bitmap. */
static size_t slots_size(const struct hwmc_stream_cfg *cfg)
{
    return cfg->channels * sizeof(struct hwmc_two_stage);
}

static size_t maps_size(const struct hwmc_stream_cfg *cfg)
{
    return cfg->channels * hwmc_two_stage_words(max_frags(cfg)) * sizeof(uint64_t);
}

static size_t unexpected_size(const struct hwmc_stream_cfg *cfg)
{
    return cfg->trees > 0 ? (cfg->channels * sizeof(struct hwmc_multilane_unexpected) + 7) / 8 * 8
                          : 0;
}

static size_t shares_size(const struct hwmc_stream_cfg *cfg)
{
    return cfg->trees > 0 && cfg->weights.rails > 1
               ? (sizeof(struct hwmc_multilane_shares) + 7) / 8 * 8
               : 0;
}

size_t hwmc_stream_footprint(const struct hwmc_stream_cfg *cfg)
{
    return slots_size(cfg) + maps_size(cfg) + unexpected_size(cfg) + shares_size(cfg) +
           hwmc_multilane_words(cfg->max_segments) * sizeof(uint64_t);
}

static void init_epoch(struct hwmc_stream *s, const struct hwmc_stream_cfg *cfg)
{
    const struct hwmc_epoch_cfg epoch = {
        .size = cfg->size,
        .rank = cfg->rank,
        .fanout = cfg->fanout,
        .channels = cfg->channels,
        .frag_bytes = cfg->frag_bytes,
        .policy = cfg->policy,
        .by_lanes = cfg->trees > 0,
        .counts = cfg->counts,
    };

    hwmc_epoch_init(&s->epoch, &epoch);
}

static void init_multilane(struct hwmc_stream *s, const struct hwmc_stream_cfg *cfg,
                           unsigned char *memory)
{
    struct hwmc_multilane_cfg trees = {
        .size = cfg->size,
        .rank = cfg->rank,
        .t = cfg->trees,
        .window = cfg->window,
        .far_window = cfg->far_window,
        .near = cfg->near,
        .far = cfg->far,
        .max_segments = cfg->max_segments,
        .sites = cfg->sites,
        .counts = cfg->counts,
    };

    memory += slots_size(cfg) + maps_size(cfg);
    s->unexpected = (struct hwmc_multilane_unexpected *) memory;
    memset(s->unexpected, 0, unexpected_size(cfg));
    memory += unexpected_size(cfg);
    if (shares_size(cfg) > 0) {
        trees.shares = (struct hwmc_multilane_shares *) memory;
        trees.shares->lanes = cfg->lanes;
        trees.shares->far_lanes = cfg->far_lanes;
        hwmc_rail_weight_init(&trees.shares->weights, &cfg->weights, cfg->counts);
    }
    hwmc_multilane_init(&s->multilane, &trees, (uint64_t *) (memory + shares_size(cfg)));
}

void hwmc_stream_init(struct hwmc_stream *s, const struct hwmc_stream_cfg *cfg, void *memory)
{
    uint32_t words = hwmc_two_stage_words(max_frags(cfg));
    uint64_t *maps;

    assert(cfg->channels >= 1 && cfg->channels <= HWMC_CHANNELS_MAX);
    memset(s, 0, sizeof(*s));
    s->ring.size = cfg->size;
    s->ring.rank = cfg->rank;
    s->ring.push = cfg->policy.first.push;
    s->ring.frag_bytes = cfg->frag_bytes;
    s->ring.max_frags = max_frags(cfg);
    s->ring.counts = s->counts = cfg->counts;
    hwmc_rtt_init(&s->ring.rtt);
    hwmc_channel_init(&s->channel, cfg->size, cfg->rank, cfg->channels, cfg->fanout,
                      &cfg->policy.first, cfg->counts);
    init_epoch(s, cfg);
    s->delay.kind = cfg->delay;
    s->delay.seed = cfg->seed;
    s->delay.ns = cfg->delay == HWMC_DELAY_FIXED ? cfg->delay_ns : 0;
    s->slots = memory;
    maps = (uint64_t *) (s->slots + cfg->channels);
    for (uint32_t i = 0; i < cfg->channels; i++)
        hwmc_two_stage_init(&s->slots[i], i, maps + (size_t) i * words, &s->ring);
    if (cfg->trees > 0)
        init_multilane(s, cfg, memory);
}

void hwmc_stream_agreed(struct hwmc_stream *s, uint8_t rails)
{
    struct hwmc_epoch_cfg epoch = s->epoch.cfg;

    assert(s->posted == 0);
    hwmc_channel_cast(&s->channel, rails != 0);
    epoch.policy.first.rails = rails;
    hwmc_epoch_init(&s->epoch, &epoch);
}

/* The channel can go to another broadcast: all members are through with this one. */
static bool slot_is_over(const struct hwmc_stream *s, const struct hwmc_two_stage *m)
{
    return m->bid < s->channel.floor;
}

struct hwmc_two_stage *hwmc_stream_claim(struct hwmc_stream *s, uint64_t bid)
{
    struct hwmc_two_stage *m = hwmc_stream_slot(s, bid);

    if (m->bid != bid) {
        assert(slot_is_over(s, m));
        s->ring.push = hwmc_epoch_policy(&s->epoch, bid).push;
        s->ring.anew = hwmc_epoch_anew(&s->epoch, m->bid);
        hwmc_two_stage_reset(m, bid, &s->ring);
        if (s->unexpected)
            memset(hwmc_stream_unexpected(s, bid), 0, sizeof(*s->unexpected));
    }
    return m;
}

bool hwmc_stream_open(const struct hwmc_stream *s)
{
    return hwmc_channel_open(&s->channel, s->posted);
}

void hwmc_stream_stall(struct hwmc_stream *s, uint64_t now)
{
    hwmc_channel_stall(&s->channel, now + hwmc_rtt_wait(&s->ring.rtt));
}

/* A floor that moved says how the broadcasts below it went. */
static void stream_learn(struct hwmc_stream *s)
{
    uint64_t floor = s->channel.floor;

    if (floor == s->floor_seen)
        return;
    hwmc_delay_learn(&s->delay, s->channel.epoch_lost,
                     (floor - s->floor_seen) * (s->ring.size - 1));
    s->floor_seen = floor;
}

/* What was posted before is here. */
static bool has_all(const struct hwmc_stream *s)
{
    for (uint64_t b = s->channel.consumed; b < s->posted; b++)
        if (!hwmc_stream_has(s, b))
            return false;
    return true;
}

uint64_t hwmc_stream_post_root(struct hwmc_stream *s, uint32_t bytes, bool more, uint8_t rails,
                               uint64_t now)
{
    struct hwmc_two_stage *m = hwmc_stream_claim(s, s->posted);

    assert(!(rails & ~hwmc_stream_next_rails(s)) && !hwmc_stream_by_trees(s));
    stream_learn(s);
    hwmc_two_stage_post_root(m, bytes, more, rails, hwmc_delay_until(&s->delay, s->ring.size, now),
                             &s->ring, now);
    m->flags = has_all(s) ? 0 : HWMC_FLAG_APART;
    m->flags |=
        hwmc_direct_takes(&s->channel.direct, s->posted, s->channel.n) ? HWMC_FLAG_DIRECT : 0;
    hwmc_stream_attend(s, m);
    return s->posted++;
}

uint64_t hwmc_stream_post_member(struct hwmc_stream *s, uint32_t root, uint64_t now)
{
    struct hwmc_two_stage *m = hwmc_stream_claim(s, s->posted);
    bool chosen = hwmc_delay_is_chosen(&s->delay, s->posted, root, s->ring.rank, s->ring.size);

    assert(!hwmc_stream_by_trees(s));
    hwmc_two_stage_post_member(m, root, chosen, &s->ring, now);
    hwmc_stream_attend(s, m);
    return s->posted++;
}

uint64_t hwmc_stream_post_trees(struct hwmc_stream *s, uint32_t root, uint32_t bytes,
                                uint32_t seg_bytes)
{
    assert(s->posted == s->channel.consumed);
    hwmc_two_stage_post_bypassed(hwmc_stream_claim(s, s->posted), &s->ring);
    s->counts->without_cast += s->epoch.cfg.policy.first.rails && !hwmc_stream_next_rails(s);
    hwmc_multilane_post(&s->multilane, s->posted, root, bytes, seg_bytes,
                        hwmc_stream_unexpected(s, s->posted));
    return s->posted++;
}

void hwmc_stream_on_sent(struct hwmc_stream *s, uint32_t token)
{
    hwmc_multilane_on_sent(&s->multilane, token);
}

bool hwmc_stream_done(const struct hwmc_stream *s)
{
    return hwmc_stream_by_trees(s) ? hwmc_multilane_done(&s->multilane)
                                   : hwmc_two_stage_done(hwmc_stream_slot(s, s->channel.consumed));
}

bool hwmc_stream_has(const struct hwmc_stream *s, uint64_t bid)
{
    return hwmc_two_stage_done(hwmc_stream_slot(s, bid));
}

bool hwmc_stream_is_unknown(const struct hwmc_stream *s, uint64_t bid)
{
    const struct hwmc_two_stage *m = hwmc_stream_slot(s, bid);

    return m->bid != bid || m->frags == 0;
}

bool hwmc_stream_failed(const struct hwmc_stream *s, uint32_t *theirs)
{
    *theirs = s->multilane.theirs;
    return hwmc_stream_by_trees(s) && s->multilane.failed;
}

uint32_t hwmc_stream_bytes(const struct hwmc_stream *s)
{
    return hwmc_stream_by_trees(s) ? s->multilane.bytes
                                   : hwmc_stream_slot(s, s->channel.consumed)->bytes;
}

bool hwmc_stream_more(const struct hwmc_stream *s)
{
    return hwmc_stream_slot(s, s->channel.consumed)->more;
}

uint32_t hwmc_stream_prefix(const struct hwmc_stream *s, uint32_t known)
{
    const struct hwmc_two_stage *m = hwmc_stream_slot(s, s->channel.consumed);
    uint32_t frag = s->ring.frag_bytes, frags;

    if (hwmc_stream_by_trees(s))
        return hwmc_multilane_prefix(&s->multilane);
    if (m->frags == 0)
        return 0;
    frags = hwmc_bitmap_clear_from(m->got, m->frags, known / frag);
    return frags < m->frags ? frags * frag : m->bytes;
}

void hwmc_stream_follow(struct hwmc_stream *s)
{
    const struct hwmc_epoch *e = &s->epoch;
    uint8_t rails = e->now.rails;

    hwmc_loss_estimate_forget(&s->ring.watch, rails & (uint8_t) ~e->before.rails);
    if (!(s->ring.rails & rails))
        s->ring.rails = rails;
    hwmc_channel_cast(&s->channel, rails != 0);
    hwmc_channel_pace(&s->channel, e->from, e->now.period);
}

/* The leader's own count is worth a synchronization: how long will that take? */
static void time_sync(struct hwmc_stream *s, uint64_t now)
{
    if (s->channel.rank == 0 && s->sync_at == 0 &&
        hwmc_channel_due(&s->channel, s->channel.consumed)) {
        s->sync_of = s->channel.consumed;
        s->sync_at = now;
    }
}

void hwmc_stream_judge(struct hwmc_stream *s, uint64_t floor_before, uint64_t now)
{
    struct hwmc_adapt_sample sample = {
        .now = now,
        .floor = s->channel.floor,
        .repaired = s->channel.epoch_lost,
        .frags = s->frags,
    };

    if (s->channel.rank != 0 || s->channel.end != HWMC_CHANNEL_IN_USE ||
        s->channel.floor == floor_before)
        return;
    if (s->sync_at > 0 && s->sync_of <= sample.floor) {
        sample.sync_ns = now - s->sync_at + 1;
        s->sync_at = 0;
    }
    s->frags = 0;
    if (hwmc_epoch_judge(&s->epoch, &s->ring.watch, &sample)) {
        hwmc_stream_follow(s);
        hwmc_channel_limit(&s->channel, hwmc_epoch_limit(&s->epoch));
    }
}

/* `m` has no timer, perhaps: then it is not asked for one until something happens to it. */
static void stream_forget_timer(struct hwmc_stream *s, const struct hwmc_two_stage *m)
{
    if (hwmc_two_stage_next_timer(m) == HWMC_NEVER)
        s->timed &= ~(UINT64_C(1) << (m - s->slots));
}

void hwmc_stream_consume(struct hwmc_stream *s, uint64_t now)
{
    struct hwmc_two_stage *m = hwmc_stream_slot(s, s->channel.consumed);
    uint64_t floor = s->channel.floor;

    assert(s->posted > s->channel.consumed && hwmc_stream_done(s));
    if (hwmc_stream_by_trees(s))
        hwmc_multilane_reset(&s->multilane);
    else
        hwmc_two_stage_consumed(m, &s->ring);
    stream_forget_timer(s, m);
    s->frags += m->frags;
    hwmc_channel_consume(&s->channel, m->repaired, m->more);
    time_sync(s, now);
    hwmc_stream_judge(s, floor, now);
}

void hwmc_stream_on_timer(struct hwmc_stream *s, uint64_t now)
{
    hwmc_channel_on_timer(&s->channel, now);
    hwmc_epoch_on_timer(&s->epoch, now);
    for (uint64_t bits = s->timed; bits; bits &= bits - 1) {
        struct hwmc_two_stage *m = &s->slots[__builtin_ctzll(bits)];

        if (hwmc_two_stage_next_timer(m) <= now) {
            hwmc_two_stage_on_timer(m, &s->ring, now);
            hwmc_stream_attend(s, m);
        }
        stream_forget_timer(s, m);
    }
}

uint64_t hwmc_stream_next_timer(const struct hwmc_stream *s)
{
    uint64_t probe = hwmc_epoch_next_timer(&s->epoch);
    uint64_t next = s->channel.ask_at < probe ? s->channel.ask_at : probe;

    for (uint64_t bits = s->timed; bits; bits &= bits - 1) {
        uint64_t at = hwmc_two_stage_next_timer(&s->slots[__builtin_ctzll(bits)]);

        next = at < next ? at : next;
    }
    return next;
}

int hwmc_stream_next_send(struct hwmc_stream *s, struct hwmc_room room, struct hwmc_msg *tx,
                          uint64_t now)
{
    for (uint64_t bits = s->attention; bits; bits &= bits - 1) {
        struct hwmc_two_stage *m = &s->slots[__builtin_ctzll(bits)];

        s->timed |= bits & -bits; /* what it sends may be waited for */
        if (!slot_is_over(s, m) && hwmc_two_stage_next_send(m, &s->ring, room, tx, now))
            return 1;
        if (!hwmc_two_stage_casts(m)) /* else it waits for room */
            s->attention &= ~(bits & -bits);
    }
    if (hwmc_epoch_next_send(&s->epoch, room.each, tx, now))
        return 1;
    if (hwmc_channel_next_send(&s->channel, room.each & s->epoch.now.rails, tx)) {
        if (tx->type == HWMC_MSG_SYNC_UP)
            hwmc_epoch_report(&s->epoch, &s->ring.watch, tx);
        return 1;
    }
    return s->unexpected && hwmc_multilane_next_send(&s->multilane, tx);
}

uint8_t hwmc_stream_casting(const struct hwmc_stream *s)
{
    uint8_t rails = 0;

    for (uint64_t bits = s->attention; bits; bits &= bits - 1) {
        const struct hwmc_two_stage *m = &s->slots[__builtin_ctzll(bits)];

        rails |= !slot_is_over(s, m) && hwmc_two_stage_casts(m) ? m->rails : 0;
    }
    return rails;
}

bool hwmc_stream_casts(const struct hwmc_stream *s, struct hwmc_room room)
{
    for (uint64_t bits = s->attention; bits; bits &= bits - 1) {
        const struct hwmc_two_stage *m = &s->slots[__builtin_ctzll(bits)];

        if (!slot_is_over(s, m) && hwmc_two_stage_casts(m) && hwmc_two_stage_room(m, room))
            return true;
    }
    return (s->channel.way_down == HWMC_CHANNEL_CAST_DUE && (room.each & s->epoch.now.rails)) ||
           (hwmc_epoch_casting(&s->epoch) & room.each);
}

void hwmc_stream_close(struct hwmc_stream *s)
{
    assert(s->posted == s->channel.consumed);
    hwmc_epoch_close(&s->epoch);
    hwmc_channel_close(&s->channel);
}

bool hwmc_stream_closed(const struct hwmc_stream *s)
{
    return hwmc_channel_closed(&s->channel);
}

void hwmc_stream_check(const struct hwmc_stream *s)
{
    hwmc_channel_check(&s->channel);
    hwmc_epoch_check(&s->epoch);
    if (s->unexpected)
        hwmc_multilane_check(&s->multilane);
    assert(s->channel.consumed <= s->posted && s->posted <= s->channel.consumed + s->channel.n);
    for (uint32_t i = 0; i < s->channel.n; i++) {
        hwmc_two_stage_check(&s->slots[i], &s->ring);
        assert((s->timed >> i & 1) || hwmc_two_stage_next_timer(&s->slots[i]) == HWMC_NEVER);
        assert(s->slots[i].bid % s->channel.n == i);
        assert(s->slots[i].bid < s->channel.consumed + s->channel.n);
    }
}
