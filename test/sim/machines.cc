// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// machines: see machines.h.
#include "machines.h"

#include <algorithm>

#include "moving.h"
#include "reduction.h"
#include "scanning.h"

namespace sim {

Machines::Machines(const Options &o, EventQueue *queue, Network *network, const uint64_t *now)
    : Actor(o.ranks, now), options_(o), bytes_(o.collective == Collective::BARRIER ? 1 : o.bytes),
      timers_(o.ranks, queue), ranks_(o.ranks), results_(o.count, 0), called_(o.count, 0)
{
    if (o.collective != Collective::BCAST) {
        exchanges_ = std::make_unique<Exchanges>(o, network, now, &error);
        make_across(network_of(o));
    }
    if (o.collective == Collective::BCAST || of_all())
        streams_ = std::make_unique<Streams>(o, StreamsCfg{bytes_, o.count, false}, queue, network,
                                             now, &error);
}

void Machines::make_across(const hwmc_network &net)
{
    switch (options_.collective) {
        case Collective::SCAN:
            across_ = std::make_unique<Scanning>(options_, net, exchanges_.get());
            break;
        case Collective::ALLGATHER:
        case Collective::ALLTOALL:
        case Collective::REDUCE_SCATTER:
            across_ = std::make_unique<Moving>(options_, exchanges_.get());
            break;
        default:
            across_ = std::make_unique<Reduction>(options_, net, bytes_, exchanges_.get());
    }
}

// All ranks have a result of all.
bool Machines::of_all() const
{
    return options_.collective == Collective::BARRIER ||
           options_.collective == Collective::ALLREDUCE;
}

size_t Machines::rank_bytes() const
{
    size_t bytes = sizeof(Rank) + 2 * sizeof(uint64_t);

    bytes += streams_ ? streams_->rank_bytes() : 0;
    return bytes + (across_ ? (across_->bytes() + exchanges_->bytes()) / options_.ranks : 0);
}

void Machines::fail(uint32_t rank, const std::string &what)
{
    if (error.empty())
        error = "rank " + std::to_string(rank) + ": " + what;
}

uint64_t Machines::repairs() const
{
    return streams_ ? streams_->counts().got_repair : 0;
}

void Machines::prefetch(uint32_t rank, uint32_t ref)
{
    __builtin_prefetch(&ranks_[rank]);
    if (exchanges_ && (ref & OF_BLOCKS || !streams_))
        exchanges_->prefetch(rank, ref & ~OF_BLOCKS);
    else
        streams_->prefetch(rank, ref);
}

// Stands for a message: that of a broadcast, or a result.
uint64_t Machines::tag_of(uint32_t call) const
{
    return across_ ? results_[call] : chance(options_.seed, Matter::CONTENT, call, 0);
}

// The next call.
void Machines::begin(uint32_t rank)
{
    Rank &k = ranks_[rank];

    called_[k.calls]++;
    k.state = across_ ? State::ACROSS : State::CALLING;
    if (across_)
        across_->begin(rank, k.calls);
}

// The exchange is over.
void Machines::cross(uint32_t rank)
{
    Rank &k = ranks_[rank];
    const std::string wrong = across_->verify(rank, k.calls);

    exchanges_->check(rank);
    if (!wrong.empty())
        fail(rank, wrong);
    if (rank == 0)
        results_[k.calls] = across_->tag();
    if (streams_)
        k.state = State::CALLING;
    else
        end_call(rank);
}

void Machines::post(uint32_t rank)
{
    Rank &k = ranks_[rank];
    uint32_t bytes = (uint32_t) std::min(streams_->piece(), bytes_ - k.at);

    streams_->post(rank, 0, bytes, k.at + bytes < bytes_, tag_of(k.calls));
    k.state = State::WAITING;
}

// A broadcast is done: the message goes on in the next, or is over.
void Machines::finish(uint32_t rank)
{
    Rank &k = ranks_[rank];

    k.at += streams_->bytes(rank);
    if (streams_->consume(rank, rank == 0) != tag_of(k.calls))
        fail(rank, "has another message than was sent");
    k.state = State::CALLING;
    if (k.at < bytes_)
        return;
    if (k.at > bytes_)
        fail(rank, "more came than was sent");
    k.at = 0;
    end_call(rank);
}

void Machines::end_call(uint32_t rank)
{
    Rank &k = ranks_[rank];

    if (of_all() && called_[k.calls] != options_.ranks)
        fail(rank, "is through with call " + std::to_string(k.calls) + " before all have made it");
    if (++k.calls < options_.count) {
        begin(rank);
        return;
    }
    k.state = State::OVER;
    over(rank);
}

// The program goes on as far as it can; whether it did.
bool Machines::program(uint32_t rank)
{
    switch (ranks_[rank].state) {
        case State::ACROSS:
            if (exchanges_->running(rank))
                return false;
            cross(rank);
            return true;
        case State::WAITING:
            if (!streams_->done(rank))
                return false;
            finish(rank);
            return true;
        case State::CALLING:
            if (streams_->open(rank)) {
                post(rank);
                return true;
            }
            streams_->stall(rank);
            return false;
        default:
            return false;
    }
}

void Machines::turn(uint32_t rank)
{
    uint64_t next = HWMC_NEVER;

    do {
        if (across_) {
            across_->work(rank);
            exchanges_->pump(rank);
        }
        if (streams_)
            streams_->pump(rank);
    } while (program(rank));
    if (exchanges_)
        next = exchanges_->next_timer(rank);
    if (streams_)
        next = std::min(next, streams_->next_timer(rank));
    timers_.arm(rank, next, *now_);
}

// Events.

void Machines::call(uint32_t rank)
{
    begin(rank);
    turn(rank);
}

void Machines::deliver(uint32_t rank, uint32_t rail, uint32_t ref)
{
    (void) rail;
    if (ref & OF_BLOCKS)
        exchanges_->deliver(rank, ref & ~OF_BLOCKS);
    else
        streams_->deliver(rank, ref);
    turn(rank);
}

void Machines::sent(uint32_t rank, uint32_t rail, uint32_t token)
{
    (void) rail;
    if (token & OF_BLOCKS)
        exchanges_->sent(rank, token & ~OF_BLOCKS);
    else
        streams_->sent(rank, token);
    turn(rank);
}

void Machines::release(uint32_t ref)
{
    streams_->release(ref);
}

void Machines::timer(uint32_t rank)
{
    if (!timers_.due(rank, *now_))
        return;
    if (exchanges_)
        exchanges_->timer(rank);
    if (streams_)
        streams_->timer(rank);
    turn(rank);
}

void Machines::room(uint32_t rank)
{
    streams_->room(rank);
    turn(rank);
}

} // namespace sim
