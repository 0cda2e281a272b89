// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// scanning: see scanning.h.
#include "scanning.h"

#include <algorithm>

namespace sim {

namespace {

constexpr uint32_t ELEMENT = 8; // bytes

} // namespace

Scanning::Scanning(const Options &o, const hwmc_network &net, Exchanges *exchanges)
    : options_(o), exchanges_(exchanges),
      way_(hwmc_scan_way_of(&net, o.ranks, o.bytes, pace_for(o).part)),
      part_((std::max(way_.part, HWMC_PART_LEAST) + ELEMENT - 1) / ELEMENT * ELEMENT),
      parts_(hwmc_exchange_parts((uint32_t) o.bytes, part_)),
      window_(std::min(pace_for(o).combined, parts_)), combine_(o.ranks)
{
    for (uint32_t rank = 0; rank < o.ranks; rank++) {
        const hwmc_scan_plan plan = plan_at(rank);

        exchanges_->add(rank, hwmc_scan_plan_ins(&plan), hwmc_scan_plan_outs(&plan));
    }
    exchanges_->begin_all(this);
    sums_.resize((exchanges_->all_ins() + o.ranks) * parts_);
    came_.resize(exchanges_->all_ins() * window_);
}

size_t Scanning::bytes() const
{
    return combine_.size() * sizeof(hwmc_combine) + (sums_.size() + came_.size()) * sizeof(Value);
}

void Scanning::begin(uint32_t rank, uint32_t call)
{
    const hwmc_scan_plan plan = plan_at(rank);
    const uint32_t bytes = (uint32_t) options_.bytes, outs = hwmc_scan_plan_outs(&plan);
    hwmc_combine *c = &combine_[rank];

    hwmc_combine_init(c, hwmc_scan_plan_ins(&plan));
    c->own = parts_;
    for (uint32_t part = 0; part < parts_; part++)
        *sum(rank, 0, part) = operand(options_.seed, rank, {call, part});
    for (uint32_t i = 0; i < c->children; i++)
        exchanges_->in(rank)[i] = block_in(hwmc_scan_plan_in(&plan, i), bytes, window_);
    for (uint32_t i = 0; i < outs; i++)
        exchanges_->out(rank)[i] = block_out(hwmc_scan_plan_out(&plan, i), bytes, 0);
    exchanges_->begin(rank, c->children, outs, part_, UINT64_MAX);
}

// What a round brings stands before all that is combined so far.
void Scanning::work(uint32_t rank)
{
    const hwmc_scan_plan plan = plan_at(rank);
    hwmc_combine *c = &combine_[rank];

    if (!exchanges_->running(rank))
        return;
    for (uint32_t i = 0; i < c->children; i++) {
        for (; hwmc_combine_can(c, i, exchanges_->in(rank)[i].have); c->done[i]++)
            *sum(rank, i + 1, c->done[i]) =
                came(rank, i, c->done[i])->then(*sum(rank, i, c->done[i]));
        exchanges_->take(rank, i, c->done[i]);
    }
    for (uint32_t i = 0; i < exchanges_->outs(rank); i++)
        exchanges_->ready(rank, i, hwmc_combine_before(c, hwmc_scan_plan_before(&plan, i)));
}

Value Scanning::part_of(uint32_t rank, uint32_t block, uint32_t part)
{
    const hwmc_scan_plan plan = plan_at(rank);

    return *sum(rank, hwmc_scan_plan_before(&plan, block), part);
}

void Scanning::place(uint32_t rank, uint32_t block, uint32_t part, const Value &value)
{
    *came(rank, block, part) = value;
}

const Scanning::Right &Scanning::right_in(uint32_t call)
{
    Right &right = right_[call];

    if (!right.upto.empty())
        return right;
    right.upto.resize((size_t) options_.ranks * parts_);
    for (uint32_t rank = 0; rank < options_.ranks; rank++)
        for (uint32_t part = 0; part < parts_; part++) {
            Value *v = &right.upto[(size_t) rank * parts_ + part];

            *v = operand(options_.seed, rank, {call, part});
            if (rank > 0)
                *v = (v - parts_)->then(*v);
        }
    return right;
}

std::string Scanning::verify(uint32_t rank, uint32_t call)
{
    const Right &right = right_in(call);
    const uint32_t rounds = combine_[rank].children;
    std::string wrong;

    for (uint32_t part = 0; part < parts_ && wrong.empty(); part++)
        if (!(*sum(rank, rounds, part) == right.upto[(size_t) rank * parts_ + part]))
            wrong = "part " + std::to_string(part) + " of call " + std::to_string(call) +
                    " is not what the ranks up to this one have, combined in their order";
    if (++right_[call].looked == options_.ranks)
        right_.erase(call);
    return wrong;
}

} // namespace sim
