// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
#include "lanes_net.h"

#include <algorithm>

namespace lanes {

static constexpr uint32_t SEGMENT = 8192, LATENCY = 50;

Net::Net(const Config &cfg)
    : cfg_(cfg), rng_(cfg.seed), mbit_(cfg.ranks, std::vector<uint32_t>(cfg.rails, 100)),
      out_(cfg.ranks, std::vector<uint64_t>(cfg.rails, 0)), in_(out_), away_until_(cfg.ranks, 0)
{
    for (uint32_t r = 0; r < cfg.ranks; r++) {
        hwmc_multilane_cfg c = {};
        hwmc_rail_weight_cfg weights = {};

        ranks_.push_back(std::make_unique<Rank>());
        Rank &rank = *ranks_.back();
        c.size = cfg.ranks;
        c.rank = r;
        c.t = hwmc_trees_count(cfg.ranks, 2);
        c.window = c.far_window = cfg.window;
        hwmc_wrr_init(&c.near, cfg.rails, cfg.measured.data());
        c.far = c.near;
        c.max_segments = cfg.segments;
        c.counts = &rank.counts;
        weights.rails = cfg.rails;
        std::copy(cfg.measured.begin(), cfg.measured.end(), weights.speed);
        if (cfg.follow && cfg.rails > 1) {
            hwmc_rail_weight_init(&rank.shares.weights, &weights, &rank.counts);
            rank.shares.lanes = rank.shares.far_lanes = cfg.rails;
            c.shares = &rank.shares;
        }
        rank.words.resize(hwmc_multilane_words(cfg.segments));
        rank.inbox.resize(cfg.rails + 1);
        hwmc_multilane_init(&rank.m, &c, rank.words.data());
    }
}

// Through the sender's port, the switch and the receiver's port; messages of a lane keep their
// order.
void Net::send(uint32_t from, const hwmc_msg &tx)
{
    Message message = {tx, tx.peer, cfg_.rails};
    uint64_t at = events_.now() + LATENCY;

    message.msg.peer = from;
    if (tx.type == HWMC_MSG_SEGMENT) {
        uint32_t rail = message.lane = tx.segment.lane;
        uint64_t &out = out_[from][rail], &in = in_[tx.peer][rail];

        out = std::max(out, events_.now()) + SEGMENT * 8 / mbit_[from][rail];
        in = std::max(out + LATENCY,
                      std::max(in, events_.now() + LATENCY) + SEGMENT * 8 / mbit_[tx.peer][rail]);
        at = in + (cfg_.jitter ? rng_.below(cfg_.jitter) : 0);
        if (rng_.chance(cfg_.stuck_ppm))
            at += rng_.below(cfg_.mismatch);
    }
    uint64_t &last = last_[{{from, tx.peer}, message.lane}];
    last = at = std::max(at, last);
    push(at, message, false);
}

void Net::pump(uint32_t r)
{
    Rank &rank = *ranks_[r];
    hwmc_msg tx;

    while (hwmc_multilane_next_send(&rank.m, &tx)) {
        bool segment = tx.type == HWMC_MSG_SEGMENT;

        send(r, tx);
        if (segment)
            hwmc_multilane_on_sent(&rank.m, tx.segment.token);
        hwmc_multilane_check(&rank.m);
    }
}

void Net::look(uint32_t r)
{
    Rank &rank = *ranks_[r];

    for (std::deque<hwmc_msg> &inbox : rank.inbox)
        for (; !inbox.empty(); inbox.pop_front()) {
            const hwmc_msg &msg = inbox.front();

            if (msg.bid != bid_ || rank.m.phase != HWMC_MULTILANE_RUN)
                continue; // stale
            if (msg.type == HWMC_MSG_GRANT)
                hwmc_multilane_on_grant(&rank.m, &msg);
            else
                hwmc_multilane_on_segment(&rank.m, &msg, events_.now());
            hwmc_multilane_check(&rank.m);
        }
    pump(r);
}

uint64_t Net::broadcast(uint32_t root)
{
    const hwmc_multilane_unexpected none = {};
    uint64_t from = events_.now();

    bid_++;
    for (std::unique_ptr<Rank> &rank : ranks_)
        hwmc_multilane_post(&rank->m, bid_, root, cfg_.segments * 10, 10, &none);
    for (uint32_t r = 0; r < cfg_.ranks; r++)
        pump(r);
    auto done = [](const std::unique_ptr<Rank> &rank) { return hwmc_multilane_done(&rank->m); };
    while (!std::all_of(ranks_.begin(), ranks_.end(), done)) {
        if (events_.empty())
            return 0;
        Event event = events_.take();
        uint32_t to = event.message.to;

        if (event.look) {
            look(to);
            continue;
        }
        ranks_[to]->inbox[event.message.lane].push_back(event.message.msg);
        if (away_until_[to] <= events_.now() && rng_.chance(cfg_.away_ppm))
            away_until_[to] = events_.now() + rng_.below(cfg_.away);
        push(std::max(events_.now(), away_until_[to]), event.message, true);
    }
    for (std::unique_ptr<Rank> &rank : ranks_)
        hwmc_multilane_reset(&rank->m);
    return events_.now() - from;
}

double Net::mean(int count, bool rotate)
{
    double sum = 0;

    for (int i = 0; i < count; i++) {
        uint64_t us = broadcast(rotate ? (uint32_t) i % cfg_.ranks : 0);

        if (us == 0)
            return 0;
        sum += (double) us;
    }
    return sum / count;
}

hwmc_counts Net::total() const
{
    hwmc_counts all = {};

    for (const std::unique_ptr<Rank> &rank : ranks_) {
#define X(field, text) all.field += rank->counts.field;
        HWMC_CORE_COUNTS(X)
#undef X
    }
    return all;
}

} // namespace lanes
