// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// exchanges: see exchanges.h.
#include "exchanges.h"

#include <algorithm>
#include <numeric>

extern "C" {
#include "engine/wire/wire.h"
}

namespace sim {

hwmc_pace pace_for(const Options &o)
{
    hwmc_network net = {};

    net.mbit = *std::max_element(o.mbit.begin(), o.mbit.end());
    net.mbit_all = std::accumulate(o.mbit.begin(), o.mbit.end(), 0u);
    return hwmc_pace_of(&net);
}

Exchanges::Exchanges(const Options &o, Network *network, const uint64_t *now, std::string *error)
    : options_(o), network_(network), now_(now), error_(error), ranks_(o.ranks)
{
}

void Exchanges::add(uint32_t rank, uint32_t ins, uint32_t outs)
{
    hwmc_exchange_cfg cfg = {};

    cfg.size = options_.ranks;
    cfg.rank = rank;
    cfg.eager = hwmc_eager_bytes(options_.ranks);
    cfg.spread = hwmc_exchange_spread(options_.rails());
    cfg.counts = &counts_;
    for (cfg.links = 2; cfg.links <= ins + outs;)
        cfg.links *= 2;
    hwmc_wrr_init(&cfg.wrr, options_.rails(), options_.mbit.data());
    ranks_[rank].exchange.cfg = cfg;
    ranks_[rank].first_in = num_ins_;
    ranks_[rank].first_out = num_outs_;
    ranks_[rank].first_link = num_links_;
    ranks_[rank].kept = NONE;
    num_ins_ += ins;
    num_outs_ += outs;
    num_links_ += cfg.links;
}

void Exchanges::begin_all(Plan *plan)
{
    plan_ = plan;
    ins_.resize(num_ins_ + 1);
    outs_.resize(num_outs_ + 1);
    links_.resize(num_links_);
    for (Rank &r : ranks_) {
        const hwmc_exchange_cfg cfg = r.exchange.cfg;

        hwmc_exchange_init(&r.exchange, &cfg, &links_[r.first_link]);
    }
}

size_t Exchanges::bytes() const
{
    return ranks_.size() * sizeof(Rank) + ins_.size() * sizeof(hwmc_block_in) +
           outs_.size() * sizeof(hwmc_block_out) + links_.size() * sizeof(hwmc_exchange_link);
}

void Exchanges::begin(uint32_t rank, uint32_t num_in, uint32_t num_out, uint32_t part,
                      uint64_t budget)
{
    hwmc_exchange_begin(&ranks_[rank].exchange, in(rank), num_in, out(rank), num_out, part, budget,
                        *now_);
    give_again(rank);
}

// What was kept of the exchange that has begun; the rest stays, in its order.
void Exchanges::give_again(uint32_t rank)
{
    uint32_t at = ranks_[rank].kept;

    ranks_[rank].kept = NONE;
    while (at != NONE) {
        const uint32_t next = flights_[at].next;

        if (give(rank, at, true))
            keep(rank, at);
        else
            free_.push_back(at);
        at = next;
    }
}

void Exchanges::keep(uint32_t rank, uint32_t flight)
{
    uint32_t *end = &ranks_[rank].kept;

    while (*end != NONE)
        end = &flights_[*end].next;
    *end = flight;
    flights_[flight].next = NONE;
}

// True: it is to be kept.
bool Exchanges::give(uint32_t rank, uint32_t flight, bool kept)
{
    hwmc_exchange *x = &ranks_[rank].exchange;
    const hwmc_msg msg = flights_[flight].msg;
    const Value value = flights_[flight].value;
    hwmc_verdict verdict;
    uint32_t i = 0;

    if (msg.type == HWMC_MSG_BLOCK)
        verdict = hwmc_exchange_on_block(x, &msg, kept, &i);
    else if (msg.type == HWMC_MSG_BLOCK_GRANT)
        verdict = hwmc_exchange_on_grant(x, &msg, kept);
    else
        verdict = hwmc_exchange_on_credit(x, &msg);
    if (verdict == HWMC_PLACE)
        plan_->place(rank, i, msg.block.index, value);
    else if (verdict != HWMC_TAKEN && verdict != HWMC_KEEP && error_->empty())
        *error_ = "rank " + std::to_string(rank) + ": message of type " + std::to_string(msg.type) +
                  " gets verdict " + std::to_string(verdict);
    return verdict == HWMC_KEEP;
}

void Exchanges::deliver(uint32_t rank, uint32_t ref)
{
    if (give(rank, ref, false))
        keep(rank, ref);
    else
        free_.push_back(ref);
}

void Exchanges::transmit(uint32_t rank, const hwmc_msg &tx)
{
    const hwmc_exchange *x = &ranks_[rank].exchange;
    const bool full = hwmc_block_has_payload(&tx);
    const bool pinned = full && hwmc_exchange_by_lanes(x, tx.block.bytes);
    uint32_t bytes = HWMC_WIRE_HEAD, flight = (uint32_t) flights_.size();

    if (free_.empty()) {
        flights_.emplace_back();
    } else {
        flight = free_.back();
        free_.pop_back();
    }
    flights_[flight].msg = tx;
    flights_[flight].msg.peer = rank;
    flights_[flight].next = NONE;
    if (full) {
        bytes += hwmc_exchange_part_len(tx.block.bytes, x->part, tx.block.index);
        flights_[flight].value = plan_->part_of(rank, tx.block.token, tx.block.index);
    }
    network_->send(*now_, rank, tx.peer, pinned ? tx.block.lane : 0, bytes, flight | OF_BLOCKS,
                   pinned, tx.block.token | OF_BLOCKS);
}

void Exchanges::pump(uint32_t rank)
{
    hwmc_msg tx;

    while (hwmc_exchange_next_send(&ranks_[rank].exchange, &tx))
        transmit(rank, tx);
}

void Exchanges::prefetch(uint32_t rank, uint32_t ref)
{
    const Rank &r = ranks_[rank];

    for (size_t line = 0; line < sizeof(Rank); line += 64)
        __builtin_prefetch((const char *) &r + line);
    __builtin_prefetch(flights_.data() + ref);
}

} // namespace sim
