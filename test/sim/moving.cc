// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// moving: see moving.h.
#include "moving.h"

#include <algorithm>

namespace sim {

Moving::Moving(const Options &o, Exchanges *exchanges)
    : options_(o), exchanges_(exchanges), pace_(pace_for(o)),
      parts_(hwmc_exchange_parts((uint32_t) o.bytes, pace_.part)), right_(o.ranks, 0),
      calls_(o.ranks, 0)
{
    for (uint32_t rank = 0; rank < o.ranks; rank++)
        exchanges_->add(rank, o.ranks - 1, o.ranks - 1);
    exchanges_->begin_all(this);
    if (o.collective == Collective::REDUCE_SCATTER)
        came_.resize(exchanges_->all_ins() * parts_);
}

size_t Moving::bytes() const
{
    return came_.size() * sizeof(Value) + right_.size() * (sizeof(uint64_t) + sizeof(uint32_t));
}

// Of an allgather all get the same.
uint64_t Moving::seed_to(uint32_t to) const
{
    return options_.collective == Collective::ALLGATHER ? options_.seed
                                                        : hwmc_prng(options_.seed, to);
}

void Moving::begin(uint32_t rank, uint32_t call)
{
    const uint32_t ranks = options_.ranks, bytes = (uint32_t) options_.bytes;
    hwmc_block_in *in = exchanges_->in(rank);
    hwmc_block_out *out = exchanges_->out(rank);

    calls_[rank] = call;
    right_[rank] = 0;
    for (uint32_t n = 1; n < ranks; n++) {
        in[n - 1] = block_in((rank + ranks - n) % ranks, bytes, pace_.ahead);
        out[n - 1] = block_out((rank + n) % ranks, bytes, parts_);
    }
    exchanges_->begin(rank, ranks - 1, ranks - 1, pace_.part, hwmc_pace_budget(&pace_));
}

Value Moving::part_of(uint32_t rank, uint32_t block, uint32_t part)
{
    return operand(seed_to(exchanges_->out(rank)[block].peer), rank, {calls_[rank], part});
}

// What has come is where it belongs, so it is used up.
void Moving::place(uint32_t rank, uint32_t block, uint32_t part, const Value &value)
{
    const hwmc_block_in *in = &exchanges_->in(rank)[block];

    right_[rank] += value == operand(seed_to(rank), in->peer, {calls_[rank], part});
    if (!came_.empty())
        *came(rank, block, part) = value;
    exchanges_->take(rank, block, in->have);
}

std::string Moving::verify(uint32_t rank, uint32_t call)
{
    const uint32_t ranks = options_.ranks;

    if (right_[rank] != (uint64_t) (ranks - 1) * parts_)
        return "not all parts of call " + std::to_string(call) + " came, or were what was sent";
    for (uint32_t part = 0; !came_.empty() && part < parts_; part++) {
        Value all;

        for (uint32_t from = ranks; from-- > 0;)
            all = (from == rank ? operand(seed_to(rank), rank, {call, part})
                                : *came(rank, (rank + ranks - from - 1) % ranks, part))
                      .then(all);
        if (!(all == operands(seed_to(rank), 0, ranks, ranks, {call, part})))
            return "part " + std::to_string(part) + " of call " + std::to_string(call) +
                   " is not what all ranks have, combined in their order";
    }
    return "";
}

} // namespace sim
