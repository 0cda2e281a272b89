// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// reduction: see reduction.h.
#include "reduction.h"

#include <algorithm>

namespace sim {

namespace {

constexpr uint8_t RELAY_PORT = 7; // as in op/net_reduce
constexpr uint32_t ELEMENT = 8;   // bytes

hwmc_reduce_way way_for(const Options &o, const hwmc_network &net, uint64_t bytes)
{
    if (o.degree > 0)
        return {1, o.degree, o.degree > 1 ? (uint32_t) bytes : pace_for(o).part};
    const hwmc_reduce_case c = {o.ranks,          !o.ordered,      false, bytes,
                                pace_for(o).part, HWMC_REDUCE_ANY, 0};

    return hwmc_reduce_way_of(&net, &c);
}

} // namespace

Reduction::Reduction(const Options &o, const hwmc_network &net, uint64_t bytes,
                     Exchanges *exchanges)
    : options_(o), bytes_((uint32_t) bytes), exchanges_(exchanges), way_(way_for(o, net, bytes)),
      part_((std::max(way_.part, HWMC_PART_LEAST) + ELEMENT - 1) / ELEMENT * ELEMENT),
      window_(std::min(pace_for(o).combined, parts())), calls_(o.ranks, 0)
{
    trees_.resize((size_t) o.ranks * way_.trees);
    sums_.resize((size_t) o.ranks * parts());
    result_.resize(parts());
    for (uint32_t rank = 0; rank < o.ranks; rank++) {
        const hwmc_reduce_plan plan = plan_at(rank);
        uint32_t ins = has_relay(rank), outs = way_.trees;

        for (uint32_t t = 0; t < way_.trees; t++)
            ins += hwmc_reduce_plan_children(&plan, t);
        exchanges_->add(rank, ins, outs);
    }
    exchanges_->begin_all(this);
    came_.resize(exchanges_->all_ins() * window_);
}

size_t Reduction::bytes() const
{
    return trees_.size() * sizeof(hwmc_combine) + (sums_.size() + came_.size()) * sizeof(Value) +
           calls_.size() * sizeof(uint32_t);
}

hwmc_reduce_plan Reduction::plan_at(uint32_t rank) const
{
    const hwmc_reduce_plan_cfg cfg = {options_.ranks, rank,   options_.root, !options_.ordered,
                                      way_,           bytes_, part_};
    hwmc_reduce_plan plan;

    hwmc_reduce_plan_init(&plan, &cfg);
    return plan;
}

void Reduction::begin(uint32_t rank, uint32_t call)
{
    const hwmc_reduce_plan plan = plan_at(rank);
    hwmc_block_in *in = exchanges_->in(rank);
    hwmc_block_out *out = exchanges_->out(rank);
    uint32_t num_in = 0, num_out = 0, peer;

    calls_[rank] = call;
    for (uint32_t t = 0; t < way_.trees; t++) {
        const uint32_t parts = hwmc_reduce_plan_parts(&plan, t);
        const uint32_t bytes = parts > 0 ? hwmc_reduce_plan_bytes(&plan, t) : 0;

        hwmc_combine_init(tree(rank, t), hwmc_reduce_plan_children(&plan, t));
        tree(rank, t)->own = parts;
        for (uint32_t i = 0; i < tree(rank, t)->children; i++)
            in[num_in++] = block_in(hwmc_reduce_plan_child(&plan, t, i), bytes,
                                    std::min(window_, parts), (uint8_t) t);
        if (hwmc_reduce_plan_parent(&plan, t, &peer))
            out[num_out++] = block_out(peer, bytes, 0, (uint8_t) t);
    }
    if (hwmc_reduce_plan_is_relayed(&plan) && rank == options_.root)
        in[num_in++] = block_in(0, bytes_, std::min(parts(), HWMC_EXCHANGE_WINDOW), RELAY_PORT);
    if (hwmc_reduce_plan_is_relayed(&plan) && rank == 0)
        out[num_out++] = block_out(options_.root, bytes_, 0, RELAY_PORT);
    exchanges_->begin(rank, num_in, num_out, part_, UINT64_MAX);
}

// What can be, in tree `t`, whose blocks are from `first_in` on. Returns the parts that have all.
uint32_t Reduction::combine(uint32_t rank, uint32_t t, uint32_t first_in)
{
    hwmc_combine *c = tree(rank, t);

    for (uint32_t i = 0; i < c->children; i++) {
        while (hwmc_combine_can(c, i, exchanges_->in(rank)[first_in + i].have)) {
            const uint32_t index = c->done[i], part = index * way_.trees + t;
            const Value before =
                i > 0 ? *sum(rank, part) : operand(options_.seed, rank, {calls_[rank], part});

            *sum(rank, part) = before.then(*came(rank, first_in + i, index));
            c->done[i]++;
        }
        exchanges_->take(rank, first_in + i, c->done[i]);
    }
    return hwmc_combine_ready(c);
}

void Reduction::work(uint32_t rank)
{
    uint32_t first_in = 0;

    if (!exchanges_->running(rank))
        return;
    for (uint32_t t = 0; t < way_.trees; t++) {
        const uint32_t ready = combine(rank, t, first_in), children = tree(rank, t)->children;

        first_in += children;
        if (exchanges_->outs(rank) > t)
            exchanges_->ready(rank, t, ready);
    }
    if (has_relay(rank))
        exchanges_->take(rank, first_in, exchanges_->in(rank)[first_in].have);
}

Value Reduction::part_of(uint32_t rank, uint32_t block, uint32_t part)
{
    const uint32_t at = part * way_.trees + block;

    return tree(rank, block)->children > 0 ? *sum(rank, at)
                                           : operand(options_.seed, rank, {calls_[rank], at});
}

void Reduction::place(uint32_t rank, uint32_t block, uint32_t part, const Value &value)
{
    if (has_relay(rank) && exchanges_->in(rank)[block].port == RELAY_PORT)
        result_[part] = value;
    else
        *came(rank, block, part) = value;
}

std::string Reduction::verify(uint32_t rank, uint32_t call)
{
    const uint32_t first = options_.ordered ? 0 : options_.root, ranks = options_.ranks;

    if (rank != options_.root)
        return "";
    tag_ = 0;
    for (uint32_t part = 0; part < parts(); part++) {
        const Value got = has_relay(rank) ? result_[part] : *sum(rank, part);
        const Value all = operands(options_.seed, first, ranks, ranks, {call, part});

        if (way_.trees == 1 ? !(got == all) : got.sum != all.sum)
            return "part " + std::to_string(part) + " of call " + std::to_string(call) +
                   " is not what all ranks have, combined in their order";
        tag_ = hwmc_prng(tag_, got.sum);
    }
    return "";
}

} // namespace sim
