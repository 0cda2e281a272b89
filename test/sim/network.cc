// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// network: see network.h.
#include "network.h"

#include <algorithm>

#include "chance.h"

namespace sim {

Network::Network(const Options &o, EventQueue *queue)
    : options_(o), rails_(o.rails()), queue_(queue), links_((size_t) o.ranks * o.rails())
{
}

// A place in `all` that is not in use.
template <class T> static uint32_t place_in(std::vector<T> *all, std::vector<uint32_t> *free)
{
    if (free->empty()) {
        all->emplace_back();
        return (uint32_t) all->size() - 1;
    }
    uint32_t i = free->back();

    free->pop_back();
    return i;
}

// When the sender's link is through.
uint64_t Network::transmit(uint64_t now, uint32_t from, uint32_t rail, uint32_t bytes)
{
    Link &l = link(from, rail);

    traffic_.bytes += bytes;
    l.tx_cpu = std::max(now, l.tx_cpu) + options_.host_ns;
    l.tx_free = std::max(l.tx_cpu, l.tx_free) + wire_ns(bytes, rail);
    return l.tx_free;
}

// When a bounded connection is through with what the link was through with at `at`.
uint64_t Network::through_connection(uint64_t at, uint32_t from, uint32_t to, uint32_t rail,
                                     uint32_t bytes)
{
    uint64_t ns = bytes * UINT64_C(8000) / options_.site_connection_mbit;
    uint64_t key = ((uint64_t) from * options_.ranks + to) * rails_ + rail;
    uint64_t &free = connections_[key];

    free = std::max(free, at - std::min(at, wire_ns(bytes, rail))) + ns;
    return free = std::max(free, at);
}

void Network::send(uint64_t now, uint32_t from, uint32_t to, uint32_t rail, uint64_t bytes,
                   uint32_t ref, bool tell, uint32_t token)
{
    uint32_t wire = wire_bytes(bytes);
    uint64_t through = transmit(now, from, rail, wire), latency = options_.latency_ns;

    traffic_.messages++;
    if (site_of(from) != site_of(to)) {
        traffic_.site_bytes += bytes;
        latency = options_.site_latency_ns;
        if (options_.site_connection_mbit > 0)
            through = through_connection(through, from, to, rail, wire);
    }
    queue_->push(
        {through - wire_ns(wire, rail) + latency, to, ref, wire, Kind::HEAD, (uint8_t) rail});
    if (tell)
        queue_->push({through, from, token, 0, Kind::SENT, (uint8_t) rail});
}

// A message's first byte is there at `at`: when the program has it.
uint64_t Network::receive(uint64_t at, uint32_t rank, uint32_t rail, uint64_t ns)
{
    Link &l = link(rank, rail);

    l.rx_free = std::max(at, l.rx_free) + ns;
    l.rx_cpu = std::max(l.rx_free, l.rx_cpu) + options_.host_ns;
    return l.rx_cpu;
}

void Network::on_head(const Event &e)
{
    uint64_t at = receive(e.at, e.rank, e.rail, wire_ns(e.bytes, e.rail));

    queue_->push({at, e.rank, e.ref, e.bytes, Kind::DELIVER, e.rail});
}

void Network::cast(uint64_t now, uint32_t from, uint32_t rail, uint32_t bytes, uint32_t ref)
{
    uint32_t wire = wire_bytes(bytes), i = place_in(&casts_, &free_casts_);
    uint64_t head = transmit(now, from, rail, wire) - wire_ns(wire, rail);

    casts_[i] = {num_casts_++, ref, from, options_.sites};
    traffic_.datagrams++;
    traffic_.site_bytes += (uint64_t) (options_.sites - 1) * bytes;
    for (uint32_t site = 0; site < options_.sites; site++)
        queue_->push(
            {head + (site == site_of(from) ? options_.latency_ns : options_.site_latency_ns), site,
             i, wire, Kind::CAST_HEAD, (uint8_t) rail});
}

bool Network::lost(uint64_t cast, uint32_t rank) const
{
    if (cast < 64 && options_.loss_mask >> cast & 1)
        return true;
    return options_.loss_ppm > 0 &&
           chance(options_.seed, Matter::LOSS, cast, rank) % 1000000 < options_.loss_ppm;
}

// The hosts whose links are as free as that of the first get it by one event, the others by one
// each.
void Network::on_cast_head(const Event &e)
{
    uint32_t first = site_first(e.rank), end = site_first(e.rank + 1), from = casts_[e.ref].from;
    uint64_t number = casts_[e.ref].number, ns = wire_ns(e.bytes, e.rail), together = 0;
    uint32_t g = place_in(&groups_, &free_groups_);
    Group &group = groups_[g];

    group.cast = e.ref;
    group.site = e.rank;
    group.bits.assign((end - first + 63) / 64, 0);
    for (uint32_t rank = first; rank < end; rank++) {
        if (rank == from)
            continue;
        if (lost(number, rank)) {
            traffic_.lost++;
            continue;
        }
        uint64_t at = receive(e.at, rank, e.rail, ns);

        if (together == 0)
            together = at;
        if (at == together) {
            group.bits[(rank - first) / 64] |= UINT64_C(1) << (rank - first) % 64;
        } else {
            casts_[e.ref].pending++;
            queue_->push({at, rank, e.ref, e.bytes, Kind::CAST_ONE, e.rail});
        }
    }
    /* Also where it is empty: it has the site's share of `pending`. */
    queue_->push({together > 0 ? together : e.at, e.rank, g, e.bytes, Kind::CAST_DELIVER, e.rail});
}

// One event that names a multicast is over.
void Network::drop(uint32_t cast, Actor *actor)
{
    if (--casts_[cast].pending > 0)
        return;
    actor->release(casts_[cast].ref);
    free_casts_.push_back(cast);
}

void Network::on_cast_deliver(const Event &e, Actor *actor)
{
    uint32_t first = site_first(groups_[e.ref].site), cast = groups_[e.ref].cast;
    uint32_t words = (uint32_t) groups_[e.ref].bits.size(), ref = casts_[cast].ref;

    for (uint32_t w = 0; w < words; w++)
        for (uint64_t bits = groups_[e.ref].bits[w]; bits; bits &= bits - 1) {
            uint32_t rank = first + w * 64 + (uint32_t) __builtin_ctzll(bits);

            actor->prefetch(std::min(rank + 4, options_.ranks - 1), ref);
            actor->deliver(rank, e.rail, ref);
            traffic_.received++;
        }
    free_groups_.push_back(e.ref);
    drop(cast, actor);
}

void Network::on_cast_one(const Event &e, Actor *actor)
{
    actor->deliver(e.rank, e.rail, casts_[e.ref].ref);
    traffic_.received++;
    drop(e.ref, actor);
}

} // namespace sim
