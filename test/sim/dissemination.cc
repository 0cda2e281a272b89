// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// dissemination: see dissemination.h.
#include "dissemination.h"

#include <algorithm>

#include "shares.h"

namespace sim {

namespace {

// A message's reference: what its sender knows, the round, and whether the call is an odd one.
constexpr uint32_t ROUND_SHIFT = 25, CALL_SHIFT = 30;

uint32_t ref_of(uint32_t known, uint32_t round, uint32_t call)
{
    return known | round << ROUND_SHIFT | call % 2 << CALL_SHIFT;
}

} // namespace

Dissemination::Dissemination(const Options &o, Network *network, const uint64_t *now)
    : Actor(o.ranks, now), options_(o), network_(network), ranks_(o.ranks)
{
    while (UINT64_C(1) << rounds_ < o.ranks)
        rounds_++;
    came_.resize((size_t) o.ranks * 2 * rounds_);
}

size_t Dissemination::rank_bytes() const
{
    return sizeof(Rank) + 2 * rounds_ * sizeof(Came) + sizeof(uint64_t);
}

void Dissemination::send(uint32_t rank)
{
    const Rank &k = ranks_[rank];
    const uint32_t to = (uint32_t) ((rank + (UINT64_C(1) << k.round)) % options_.ranks);

    for (uint32_t rail = 0; rail < options_.rails(); rail++)
        network_->send(*now_, rank, to, rail, share(options_, options_.bytes, rail),
                       ref_of(k.known, k.round, k.calls));
}

void Dissemination::call(uint32_t rank)
{
    ranks_[rank].known = 1;
    ranks_[rank].round = 0;
    send(rank);
    go_on(rank);
}

void Dissemination::go_on(uint32_t rank)
{
    Rank &k = ranks_[rank];

    while (k.known > 0 && came(rank, k.calls, k.round).rails == options_.rails()) {
        Came &c = came(rank, k.calls, k.round);

        k.known = std::min(options_.ranks, k.known + c.known);
        c = {};
        if (++k.round < rounds_) {
            send(rank);
            continue;
        }
        if (k.known < options_.ranks && error.empty())
            error = "rank " + std::to_string(rank) + " knows of " + std::to_string(k.known) +
                    " ranks only";
        k.known = 0;
        if (++k.calls == options_.count)
            over(rank);
        else
            call(rank);
        return;
    }
}

void Dissemination::deliver(uint32_t rank, uint32_t rail, uint32_t ref)
{
    Came &c = came(rank, ref >> CALL_SHIFT, ref >> ROUND_SHIFT & 31);

    (void) rail;
    c.rails++;
    c.known = ref & ((1u << ROUND_SHIFT) - 1);
    if (c.rails > options_.rails() && error.empty())
        error = "rank " + std::to_string(rank) + " hears a round twice";
    go_on(rank);
}

void Dissemination::sent(uint32_t rank, uint32_t rail, uint32_t token)
{
    (void) rank;
    (void) rail;
    (void) token;
}

} // namespace sim
