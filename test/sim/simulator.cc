// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// simulator: see simulator.h.
#include "simulator.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>

#include "dissemination.h"
#include "machines.h"
#include "relay.h"
#include "scatter_ring.h"
#include "turns.h"

namespace sim {

namespace {

constexpr uint64_t SECOND = 1000000000;
constexpr uint64_t LOOK = 1 << 18; // events to a look at the clock

std::unique_ptr<Actor> make_actor(const Options &o, EventQueue *queue, Network *network,
                                  const uint64_t *now)
{
    if (o.collective == Collective::ALLGATHER && o.algorithm != Algorithm::EXCHANGE)
        return std::make_unique<Turns>(o, queue, network, now);
    switch (o.algorithm) {
        case Algorithm::CHAIN:
        case Algorithm::BINARY:
        case Algorithm::BINOMIAL:
            return std::make_unique<Relay>(o, network, now);
        case Algorithm::VANDEGEIJN:
            return std::make_unique<ScatterRing>(o, network, now);
        case Algorithm::DISSEMINATION:
            return std::make_unique<Dissemination>(o, network, now);
        default:
            return std::make_unique<Machines>(o, queue, network, now);
    }
}

void perform(const Event &e, Network *network, Actor *actor)
{
    switch (e.kind) {
        case Kind::CALL:
            actor->call(e.rank);
            break;
        case Kind::HEAD:
            network->on_head(e);
            break;
        case Kind::DELIVER:
            actor->deliver(e.rank, e.rail, e.ref);
            break;
        case Kind::SENT:
            actor->sent(e.rank, e.rail, e.ref);
            break;
        case Kind::CAST_HEAD:
            network->on_cast_head(e);
            break;
        case Kind::CAST_DELIVER:
            network->on_cast_deliver(e, actor);
            break;
        case Kind::CAST_ONE:
            network->on_cast_one(e, actor);
            break;
        case Kind::TIMER:
            actor->timer(e.rank);
            break;
        case Kind::ROOM:
            actor->room(e.rank);
            break;
    }
}

// What comes soon: with a million ranks each event is about memory that is not in the cache.
void prefetch(const EventQueue &queue, Network *network, Actor *actor)
{
    const Event *e = queue.peek(6);

    if (!e)
        return;
    if (e->kind == Kind::HEAD || e->kind == Kind::SENT)
        network->prefetch(e->rank, e->rail);
    if (e->kind == Kind::DELIVER || e->kind == Kind::SENT || e->kind == Kind::CALL)
        actor->prefetch(e->rank, e->kind == Kind::DELIVER ? e->ref : 0);
}

// The first calls.
void begin(const Options &o, EventQueue *queue)
{
    for (uint32_t rank = 0; rank < o.ranks; rank++) {
        uint64_t late = rank == 0 ? o.root_late_ns : o.late_ns, at = late;

        if (rank > 0 && late > 0)
            at = chance(o.seed, Matter::LATE, rank, 0) % late;
        queue->push({at, rank, 0, 0, Kind::CALL, 0});
    }
}

uint64_t peak_memory()
{
    struct rusage use;

    getrusage(RUSAGE_SELF, &use);
    return (uint64_t) use.ru_maxrss * 1024;
}

// Of the times at which ranks are over.
uint64_t median(std::vector<uint64_t> ends)
{
    const auto middle = ends.begin() + (ptrdiff_t) (ends.size() / 2);

    std::nth_element(ends.begin(), middle, ends.end());
    return *middle;
}

} // namespace

double Result::us(const Options &o) const
{
    return (double) ns / 1000 / o.count;
}

double Result::median_us(const Options &o) const
{
    return (double) median_ns / 1000 / o.count;
}

double Result::ratio(const Options &o) const
{
    uint64_t mbit = std::accumulate(o.mbit.begin(), o.mbit.end(), UINT64_C(0));

    if (o.collective == Collective::BARRIER || o.bytes == 0)
        return 0;
    return us(o) * (double) mbit / (8 * (double) o.bytes);
}

Result run(const Options &o, const Progress &progress)
{
    auto start = std::chrono::steady_clock::now();
    uint64_t now = 0, deadline = (o.deadline > 0 ? o.deadline : 3600) * SECOND;
    EventQueue queue;
    Network network(o, &queue);
    std::unique_ptr<Actor> actor = make_actor(o, &queue, &network, &now);
    Result result;

    begin(o, &queue);
    while (actor->error.empty() && actor->left > 0) {
        if (queue.empty()) {
            actor->error = "nothing more will happen, and " + std::to_string(actor->left) +
                           " ranks still wait";
            break;
        }
        Event e = queue.pop();

        now = e.at;
        prefetch(queue, &network, actor.get());
        if (now > deadline) {
            actor->error = "not over after " + std::to_string(deadline / SECOND) + " simulated s";
            break;
        }
        perform(e, &network, actor.get());
        if (++result.events % LOOK == 0 && progress)
            progress(result.events, now, o.ranks - actor->left);
    }
    result.error = actor->error;
    result.ns = now;
    result.median_ns = median(actor->ends());
    result.traffic = network.traffic();
    result.events += result.traffic.received;
    result.repairs = actor->repairs();
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    result.memory = peak_memory();
    result.rank_bytes = actor->rank_bytes() + o.rails() * Network::link_bytes();
    return result;
}

} // namespace sim
