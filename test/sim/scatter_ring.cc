// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// scatter_ring: see scatter_ring.h. What goes around the ring is numbered by how manyeth it is;
// what is scattered is SCATTER.
#include "scatter_ring.h"

#include <algorithm>

#include "shares.h"

namespace sim {

namespace {

constexpr uint32_t SCATTER = UINT32_MAX;

} // namespace

ScatterRing::ScatterRing(const Options &o, Network *network, const uint64_t *now)
    : Actor(o.ranks, now), options_(o), network_(network), flows_((size_t) o.ranks * o.rails()),
      called_(o.ranks, 0), ended_(o.ranks, 0)
{
    block_ = (o.bytes + o.ranks - 1) / o.ranks;
}

size_t ScatterRing::rank_bytes() const
{
    return options_.rails() * sizeof(Flow) + 2 * sizeof(uint32_t);
}

// Of blocks first to end - 1 together, the rail's share.
uint64_t ScatterRing::bytes_of(uint64_t first, uint64_t end, uint32_t rail) const
{
    return share(options_,
                 std::min(end * block_, options_.bytes) - std::min(first * block_, options_.bytes),
                 rail);
}

// Rank r has the blocks of itself and its subtree, and sends each child those of the child's.
void ScatterRing::scatter(uint32_t rank, uint32_t rail)
{
    uint64_t step = 1;

    while (step < options_.ranks && !(rank & step))
        step *= 2;
    for (step /= 2; step > 0; step /= 2) {
        uint64_t child = rank + step, end = std::min<uint64_t>(child + step, options_.ranks);

        if (child < options_.ranks)
            network_->send(*now_, rank, (uint32_t) child, rail, bytes_of(child, end, rail),
                           SCATTER);
    }
}

void ScatterRing::ring(uint32_t rank, uint32_t rail)
{
    uint32_t p = options_.ranks;
    Flow &f = flow(rank, rail);
    uint64_t begun = (uint64_t) f.passed * (p - 1); // sends that the scatter lets happen

    // The first of a broadcast is this rank's own; the others wait for those before them.
    while (f.gone < begun && (f.gone % (p - 1) == 0 || f.gone <= f.have)) {
        uint64_t block = (rank + p - f.gone % (p - 1)) % p;

        network_->send(*now_, rank, rank + 1 == p ? 0 : rank + 1, rail,
                       bytes_of(block, block + 1, rail), (uint32_t) f.gone);
        f.gone++;
    }
}

void ScatterRing::go_on(uint32_t rank, uint32_t rail)
{
    Flow &f = flow(rank, rail);

    if (rank == 0)
        f.scattered = called_[rank];
    for (; f.passed < f.scattered && f.passed < called_[rank]; f.passed++)
        scatter(rank, rail);
    ring(rank, rail);
}

void ScatterRing::end_calls(uint32_t rank)
{
    while (ended_[rank] < called_[rank]) {
        for (uint32_t rail = 0; rail < options_.rails(); rail++)
            if (flow(rank, rail).scattered < called_[rank] ||
                flow(rank, rail).have < (uint64_t) called_[rank] * (options_.ranks - 1))
                return;
        if (++ended_[rank] == options_.count)
            over(rank);
        else
            call(rank);
    }
}

void ScatterRing::call(uint32_t rank)
{
    called_[rank]++;
    for (uint32_t rail = 0; rail < options_.rails(); rail++)
        go_on(rank, rail);
}

void ScatterRing::deliver(uint32_t rank, uint32_t rail, uint32_t ref)
{
    Flow &f = flow(rank, rail);

    if (ref == SCATTER) {
        f.scattered++;
    } else {
        if (ref != f.have && error.empty())
            error = "rank " + std::to_string(rank) + " gets block " + std::to_string(ref) +
                    " of the ring and not " + std::to_string(f.have);
        f.have++;
    }
    go_on(rank, rail);
    end_calls(rank);
}

void ScatterRing::sent(uint32_t rank, uint32_t rail, uint32_t token)
{
    (void) rank;
    (void) rail;
    (void) token;
}

} // namespace sim
