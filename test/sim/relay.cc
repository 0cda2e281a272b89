// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// relay: see relay.h.
#include "relay.h"

#include <algorithm>

#include "shares.h"

namespace sim {

namespace {

constexpr uint32_t FED_AHEAD =
    2; // sends of the root that its link has; more would make no difference

} // namespace

Relay::Relay(const Options &o, Network *network, const uint64_t *now)
    : Actor(o.ranks, now), options_(o), network_(network), flows_((size_t) o.ranks * o.rails()),
      called_(o.ranks, 0), ended_(o.ranks, 0), fed_(o.rails(), 0), gone_(o.rails(), 0)
{
    auto list = o.algorithm == Algorithm::CHAIN    ? chain_children
                : o.algorithm == Algorithm::BINARY ? binary_children
                                                   : binomial_children;
    Shape shape = {o.ranks, {}};

    seg_bytes_ = o.segment > 0 && o.segment < o.bytes ? o.segment : std::max<uint64_t>(o.bytes, 1);
    segments_ = o.bytes > 0 ? (uint32_t) ((o.bytes - 1) / seg_bytes_ + 1) : 1;
    for (uint32_t i = 0; i <= o.sites; i++)
        shape.site_first.push_back(network->site_first(i));
    for (uint32_t rank = 0; rank < o.ranks; rank++) {
        Children c;

        list(shape, rank, &c);
        first_child_.push_back((uint32_t) children_.size());
        children_.insert(children_.end(), c.ranks.begin(), c.ranks.end());
        ahead_ = rank == 0 ? c.ahead : ahead_;
    }
    first_child_.push_back((uint32_t) children_.size());
}

size_t Relay::rank_bytes() const
{
    return options_.rails() * sizeof(Flow) + 4 * sizeof(uint32_t);
}

uint64_t Relay::bytes_of(uint32_t segment, uint32_t rail) const
{
    uint64_t at = segment % segments_ * seg_bytes_;

    return share(options_, std::min(seg_bytes_, options_.bytes - at), rail);
}

void Relay::send(uint32_t rank, uint32_t child, uint32_t rail, uint32_t segment, bool tell)
{
    network_->send(*now_, rank, children_[first_child_[rank] + child], rail,
                   bytes_of(segment, rail), segment, tell);
}

// A rank that is not in the call passes nothing on.
void Relay::pass_on(uint32_t rank, uint32_t rail)
{
    Flow &f = flow(rank, rail);
    uint64_t called = (uint64_t) called_[rank] * segments_;
    uint32_t children = first_child_[rank + 1] - first_child_[rank];

    for (; f.passed < f.have && f.passed < called; f.passed++)
        for (uint32_t i = 0; i < children; i++)
            send(rank, i, rail, f.passed, false);
}

// The root's next sends: all of the message to each child that is ahead, then segment by segment to
// the others.
void Relay::feed(uint32_t rail)
{
    uint64_t children = first_child_[1], all = children * segments_, ahead = ahead_ * segments_;

    while (fed_[rail] < called_[0] * all && fed_[rail] < gone_[rail] + FED_AHEAD) {
        uint64_t broadcast = fed_[rail] / all, i = fed_[rail] % all, others = children - ahead_;
        uint64_t child = i < ahead ? i / segments_ : ahead_ + (i - ahead) % others;
        uint64_t segment = i < ahead ? i % segments_ : (i - ahead) / others;

        fed_[rail]++;
        send(0, (uint32_t) child, rail, (uint32_t) (broadcast * segments_ + segment), true);
    }
}

// Through with one broadcast, a rank is in the next.
void Relay::end_calls(uint32_t rank)
{
    uint64_t have = UINT64_MAX;

    for (uint32_t rail = 0; rail < options_.rails(); rail++)
        have = std::min<uint64_t>(have, rank == 0 ? gone_[rail] / first_child_[1]
                                                  : flow(rank, rail).have);
    while (ended_[rank] < called_[rank] && have >= (uint64_t) called_[rank] * segments_) {
        if (++ended_[rank] == options_.count)
            over(rank);
        else
            call(rank);
    }
}

void Relay::call(uint32_t rank)
{
    called_[rank]++;
    for (uint32_t rail = 0; rail < options_.rails(); rail++) {
        if (rank == 0)
            feed(rail);
        else
            pass_on(rank, rail);
    }
    if (rank != 0)
        end_calls(rank);
}

void Relay::deliver(uint32_t rank, uint32_t rail, uint32_t ref)
{
    if (ref != flow(rank, rail).have && error.empty())
        error = "rank " + std::to_string(rank) + " gets segment " + std::to_string(ref) +
                " and not " + std::to_string(flow(rank, rail).have);
    flow(rank, rail).have++;
    pass_on(rank, rail);
    end_calls(rank);
}

void Relay::sent(uint32_t rank, uint32_t rail, uint32_t token)
{
    (void) token;
    gone_[rail]++;
    feed(rail);
    end_calls(rank);
}

} // namespace sim
