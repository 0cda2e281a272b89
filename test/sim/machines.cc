// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// machines: see machines.h.
#include "machines.h"

#include <algorithm>

namespace sim {

Machines::Machines(const Options &o, EventQueue *queue, Network *network, const uint64_t *now)
    : Actor(o.ranks, now), options_(o),
      streams_(o, {o.bytes, o.count, false}, queue, network, now, &error), timers_(o.ranks, queue),
      ranks_(o.ranks)
{
}

size_t Machines::rank_bytes() const
{
    return streams_.rank_bytes() + sizeof(Rank) + sizeof(uint64_t);
}

void Machines::fail(uint32_t rank, const std::string &what)
{
    if (error.empty())
        error = "rank " + std::to_string(rank) + ": " + what;
}

uint64_t Machines::repairs() const
{
    return streams_.counts().got_repair;
}

void Machines::prefetch(uint32_t rank, uint32_t ref)
{
    __builtin_prefetch(&ranks_[rank]);
    streams_.prefetch(rank, ref);
}

// Stands for a message.
uint64_t Machines::tag_of(uint32_t call) const
{
    return chance(options_.seed, Matter::CONTENT, call, 0);
}

void Machines::post(uint32_t rank)
{
    Rank &k = ranks_[rank];
    uint32_t bytes = (uint32_t) std::min(streams_.piece(), options_.bytes - k.at);

    streams_.post(rank, 0, bytes, k.at + bytes < options_.bytes, tag_of(k.calls));
    k.state = State::WAITING;
}

// A broadcast is done: the message goes on in the next, or is over.
void Machines::finish(uint32_t rank)
{
    Rank &k = ranks_[rank];

    k.at += streams_.bytes(rank);
    if (streams_.consume(rank, rank == 0) != tag_of(k.calls))
        fail(rank, "has another message than was sent");
    k.state = State::CALLING;
    if (k.at < options_.bytes)
        return;
    if (k.at > options_.bytes)
        fail(rank, "more came than was sent");
    k.at = 0;
    if (++k.calls < options_.count)
        return;
    k.state = State::OVER;
    over(rank);
}

// The program goes on as far as it can; whether it did.
bool Machines::program(uint32_t rank)
{
    Rank &k = ranks_[rank];

    if (k.state == State::WAITING && streams_.done(rank)) {
        finish(rank);
        return true;
    }
    if (k.state != State::CALLING)
        return false;
    if (streams_.open(rank)) {
        post(rank);
        return true;
    }
    streams_.stall(rank);
    return false;
}

void Machines::turn(uint32_t rank)
{
    do {
        streams_.pump(rank);
    } while (program(rank));
    timers_.arm(rank, streams_.next_timer(rank), *now_);
}

// Events.

void Machines::call(uint32_t rank)
{
    ranks_[rank].state = State::CALLING;
    turn(rank);
}

void Machines::deliver(uint32_t rank, uint32_t rail, uint32_t ref)
{
    (void) rail;
    streams_.deliver(rank, ref);
    turn(rank);
}

void Machines::sent(uint32_t rank, uint32_t rail, uint32_t token)
{
    (void) rail;
    streams_.sent(rank, token);
    turn(rank);
}

void Machines::release(uint32_t ref)
{
    streams_.release(ref);
}

void Machines::timer(uint32_t rank)
{
    if (!timers_.due(rank, *now_))
        return;
    streams_.timer(rank);
    turn(rank);
}

void Machines::room(uint32_t rank)
{
    streams_.room(rank);
    turn(rank);
}

} // namespace sim
