// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// turns: see turns.h.
#include "turns.h"

#include <algorithm>

namespace sim {

Turns::Turns(const Options &o, EventQueue *queue, Network *network, const uint64_t *now)
    : Actor(o.ranks, now), options_(o),
      streams_(o, StreamsCfg{o.bytes, (uint64_t) o.count * o.ranks, true}, queue, network, now,
               &error),
      timers_(o.ranks, queue), ranks_(o.ranks)
{
}

size_t Turns::rank_bytes() const
{
    return streams_.rank_bytes() + sizeof(Rank) + 2 * sizeof(uint64_t);
}

void Turns::fail(uint32_t rank, const std::string &what)
{
    if (error.empty())
        error = "rank " + std::to_string(rank) + ": " + what;
}

uint64_t Turns::repairs() const
{
    return streams_.counts().got_repair;
}

void Turns::prefetch(uint32_t rank, uint32_t ref)
{
    __builtin_prefetch(&ranks_[rank]);
    streams_.prefetch(rank, ref);
}

// Stands for a block.
uint64_t Turns::tag_of(uint32_t call, uint32_t member) const
{
    return chance(options_.seed, Matter::CONTENT, call, member + UINT64_C(1));
}

uint32_t Turns::piece_at(const At &a) const
{
    return (uint32_t) std::min(streams_.piece(), options_.bytes - a.at);
}

void Turns::advance(At *a) const
{
    a->at += piece_at(*a);
    if (a->at < options_.bytes)
        return;
    a->member++;
    a->at = 0;
}

// This rank's next piece is one of the next `num`.
bool Turns::own_is_near(uint32_t rank, uint64_t num) const
{
    At a = ranks_[rank].next;

    for (; a.member < rank && num > 0; num--)
        advance(&a);
    return a.member == rank && num > 0;
}

bool Turns::is_postable(uint32_t rank)
{
    const Rank &k = ranks_[rank];
    const uint64_t num = streams_.under_way(rank), ahead = (options_.channels + 1) / 2;

    if (is_end(k.next))
        return false;
    if (k.next.member == rank && k.own > 0 && !streams_.has(rank, k.own - 1))
        return false;
    return num == 0 || (num < ahead && own_is_near(rank, ahead - num));
}

void Turns::post(uint32_t rank)
{
    Rank &k = ranks_[rank];
    const uint32_t bytes = piece_at(k.next);

    if (k.next.member == rank)
        k.own = streams_.next_bid(rank) + 1;
    streams_.post(rank, k.next.member, bytes, k.next.at + bytes < options_.bytes,
                  tag_of(k.calls, k.next.member));
    advance(&k.next);
}

void Turns::take(uint32_t rank)
{
    Rank &k = ranks_[rank];

    if (streams_.bytes(rank) != piece_at(k.taken))
        fail(rank, "gets a piece of another length");
    if (streams_.consume(rank, k.taken.member == rank) != tag_of(k.calls, k.taken.member))
        fail(rank,
             "has another block of rank " + std::to_string(k.taken.member) + " than was sent");
    advance(&k.taken);
    if (!is_end(k.taken))
        return;
    k.next = k.taken = {};
    k.called = ++k.calls < options_.count;
    if (!k.called)
        over(rank);
}

// One piece; false: there is nothing to do now.
bool Turns::move(uint32_t rank)
{
    if (!ranks_[rank].called)
        return false;
    if (streams_.done(rank)) {
        take(rank);
        return true;
    }
    if (!is_postable(rank))
        return false;
    if (!streams_.open(rank)) {
        streams_.stall(rank);
        return false;
    }
    post(rank);
    return true;
}

void Turns::turn(uint32_t rank)
{
    do {
        streams_.pump(rank);
    } while (move(rank));
    timers_.arm(rank, streams_.next_timer(rank), *now_);
}

// Events.

void Turns::call(uint32_t rank)
{
    ranks_[rank].called = true;
    turn(rank);
}

void Turns::deliver(uint32_t rank, uint32_t rail, uint32_t ref)
{
    (void) rail;
    streams_.deliver(rank, ref);
    turn(rank);
}

void Turns::sent(uint32_t rank, uint32_t rail, uint32_t token)
{
    (void) rail;
    streams_.sent(rank, token);
    turn(rank);
}

void Turns::release(uint32_t ref)
{
    streams_.release(ref);
}

void Turns::timer(uint32_t rank)
{
    if (!timers_.due(rank, *now_))
        return;
    streams_.timer(rank);
    turn(rank);
}

void Turns::room(uint32_t rank)
{
    streams_.room(rank);
    turn(rank);
}

} // namespace sim
