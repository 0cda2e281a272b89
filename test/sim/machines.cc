// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// machines: see machines.h.
#include "machines.h"

#include <stdlib.h>

#include <algorithm>

extern "C" {
#include "core/model/model.h"
#include "engine/wire/wire.h"
}

namespace sim {

namespace {

constexpr uint32_t SEGMENTS_MAX = 16384; // as in engine/group
constexpr uint32_t SPREAD_FRAGS = 8;
constexpr uint64_t TREES_PIECE = UINT64_C(1) << 30; // bytes of one broadcast along trees

uint64_t number(uint32_t i)
{
    return chance(0, Matter::PLACE, i, 0);
}

// As a job would have measured it.
hwmc_network network_of(const Options &o)
{
    hwmc_network net = {};

    net.latency_ns = o.latency_ns + o.host_ns;
    net.site_latency_ns = std::max(o.latency_ns, o.site_latency_ns) + o.host_ns;
    for (uint32_t mbit : o.mbit) {
        net.mbit = std::max(net.mbit, mbit);
        net.mbit_all += mbit;
    }
    return net;
}

} // namespace

Machines::Machines(const Options &o, EventQueue *queue, Network *network, const uint64_t *now)
    : options_(o), queue_(queue), network_(network), now_(now), memory_(nullptr, free),
      ranks_(o.ranks)
{
    bool trees = o.algorithm == Algorithm::MULTILANE;
    const hwmc_network net = network_of(o);
    uint32_t wished = o.piece > 0 ? o.piece : hwmc_model_piece(&net, o.sites > 1, o.channels);
    uint64_t piece = std::max(wished / o.frag * o.frag, o.frag);
    uint64_t pieces = trees ? (o.bytes - 1) / TREES_PIECE + 1
                            : std::max<uint64_t>(1, (o.bytes + piece - 1) / piece);
    uint32_t parts;

    left = o.ranks;
    cfg_.size = o.ranks;
    cfg_.policy.first.push = o.push;
    // Channels that would not be used are not made: there may be a million ranks.
    cfg_.channels = (uint32_t) std::min<uint64_t>(o.channels, pieces * o.count + 1);
    cfg_.policy.first.period = cfg_.channels < o.channels ? cfg_.channels : (cfg_.channels + 1) / 2;
    cfg_.fanout = o.fanout;
    cfg_.policy.first.rails = (uint8_t) ((1u << o.rails()) - 1);
    cfg_.policy.stay = true;
    cfg_.frag_bytes = o.frag;
    cfg_.max_bytes =
        trees ? o.frag : (uint32_t) std::min<uint64_t>(piece, std::max<uint64_t>(o.bytes, 1));
    cfg_.seed = o.seed;
    hwmc_wrr_init(&cfg_.near, o.rails(), o.mbit.data());
    cfg_.far = cfg_.near;
    cfg_.counts = &counts_;
    parts = frags(cfg_.max_bytes);
    if (trees) {
        uint32_t bytes = (uint32_t) std::min(o.bytes, TREES_PIECE);
        uint64_t wish = o.segment > 0 ? o.segment : bytes;

        seg_bytes_ = (uint32_t) std::max<uint64_t>(std::min<uint64_t>(wish, bytes),
                                                   (bytes - 1) / SEGMENTS_MAX + 1);
        cfg_.trees = hwmc_trees_count(o.ranks, o.trees > 0 ? o.trees : std::max(o.rails(), 2u));
        cfg_.window = cfg_.far_window = o.window;
        if (o.window == 0) {
            cfg_.window = hwmc_model_segments(&net, false, cfg_.trees, seg_bytes_);
            cfg_.far_window = hwmc_model_segments(&net, true, cfg_.trees, seg_bytes_);
        }
        cfg_.max_segments = parts = (bytes - 1) / seg_bytes_ + 1;
    }
    if (o.sites > 1) {
        for (uint32_t i = 0; i <= o.sites; i++)
            sites_first_.push_back(network->site_first(i));
        for (uint32_t i = 0; i < o.ranks; i++)
            sites_ranks_.push_back(i);
        sites_ = {o.sites, sites_first_.data(), sites_ranks_.data(), sites_ranks_.data()};
        cfg_.sites = &sites_;
    }
    all_of_.assign(1, 0);
    for (uint32_t i = 0; i < parts; i++)
        all_of_.push_back(all_of_.back() + number(i));
    sums_.assign((size_t) o.ranks * cfg_.channels, 0);
    for (uint32_t r = 0; r < o.rails(); r++)
        hwmc_stripe_init(&stripe_.rail[r], o.mbit[r]);

    stride_ = (sizeof(hwmc_stream) + hwmc_stream_footprint(&cfg_) + 63) / 64 * 64;
    memory_.reset((unsigned char *) aligned_alloc(64, stride_ * o.ranks));
    if (!memory_) {
        error = "no memory for " + std::to_string(o.ranks) + " ranks";
        return;
    }
    for (uint32_t rank = 0; rank < o.ranks; rank++) {
        cfg_.rank = rank;
        hwmc_stream_init(stream(rank), &cfg_, stream(rank) + 1);
    }
}

size_t Machines::rank_bytes() const
{
    return stride_ + sizeof(Rank) + cfg_.channels * sizeof(uint64_t);
}

void Machines::fail(uint32_t rank, const std::string &what)
{
    if (error.empty())
        error = "rank " + std::to_string(rank) + ": " + what;
}

uint64_t Machines::repairs() const
{
    return counts_.got_repair;
}

uint32_t Machines::frags(uint32_t bytes) const
{
    return hwmc_frags_of(bytes, options_.frag);
}

void Machines::prefetch(uint32_t rank, uint32_t ref)
{
    const char *s = (const char *) stream(rank), *trees = (const char *) &stream(rank)->multilane;

    __builtin_prefetch(&ranks_[rank]);
    __builtin_prefetch(flights_.data() + ref);
    for (size_t line = 0; line < offsetof(hwmc_stream, multilane); line += 64)
        __builtin_prefetch(s + line);
    for (size_t line = 0; line < 384; line += 64) // the channels, where there are few
        __builtin_prefetch((const char *) (stream(rank) + 1) + line);
    __builtin_prefetch(sum(rank, 0));
    if (seg_bytes_ > 0)
        for (size_t line = 0; line <= offsetof(hwmc_multilane, child); line += 64)
            __builtin_prefetch(trees + line);
}

// Messages on their way.

uint32_t Machines::keep(const hwmc_msg &msg)
{
    uint32_t i, b;

    if (free_flights_.empty()) {
        i = (uint32_t) flights_.size();
        flights_.emplace_back();
    } else {
        i = free_flights_.back();
        free_flights_.pop_back();
    }
    flights_[i].msg = msg;
    flights_[i].bits = UINT32_MAX;
    if ((msg.type != HWMC_MSG_NACK && msg.type != HWMC_MSG_SEEK) || msg.nack.frags == 0)
        return i;
    if (free_bits_.empty()) {
        b = (uint32_t) bits_.size();
        bits_.emplace_back();
    } else {
        b = free_bits_.back();
        free_bits_.pop_back();
    }
    bits_[b].assign(msg.nack.bits, msg.nack.bits + hwmc_bitmap_words(msg.nack.frags));
    flights_[i].bits = b;
    return i;
}

void Machines::drop(uint32_t flight)
{
    if (flights_[flight].bits != UINT32_MAX)
        free_bits_.push_back(flights_[flight].bits);
    free_flights_.push_back(flight);
}

void Machines::release(uint32_t ref)
{
    drop(ref);
}

// Rails, as engine/rails has them.

uint32_t Machines::mask() const
{
    return options_.algorithm == Algorithm::STRIPED ? (1u << options_.rails()) - 1 : 1;
}

uint8_t Machines::best(uint32_t rank, uint32_t rails)
{
    uint64_t more[HWMC_RAIL_BITS] = {};
    uint32_t datagram = network_->wire_bytes(options_.frag + HWMC_WIRE_CAST_HEAD);

    if ((rails & (rails - 1)) == 0)
        return (uint8_t) rails;
    for (uint32_t r = 0; r < options_.rails(); r++) {
        if (stripe_.rail[r].at != *now_)
            hwmc_stripe_on_queue(&stripe_.rail[r], network_->queued(rank, r, *now_), *now_);
        more[r] = datagram;
    }
    return (uint8_t) hwmc_stripe_best(&stripe_, rails, more, *now_);
}

hwmc_room Machines::has_room(uint32_t rank)
{
    uint32_t datagram = network_->wire_bytes(options_.frag + HWMC_WIRE_CAST_HEAD);
    hwmc_room room = {};

    if (rank != 0) // which alone multicasts
        return room;
    for (uint32_t r = 0; r < options_.rails(); r++)
        if (mask() >> r & 1 && network_->queued(rank, r, *now_) + datagram <= options_.queue)
            room.each |= (uint8_t) (1u << r);
    room.best = best(rank, mask()) & room.each;
    return room;
}

// There is room when the first of the rails that are full takes a datagram.
void Machines::wait_for_room(uint32_t rank)
{
    uint32_t datagram = network_->wire_bytes(options_.frag + HWMC_WIRE_CAST_HEAD);
    uint64_t at = HWMC_NEVER;

    if (ranks_[rank].room_due || !hwmc_stream_casts(stream(rank), {0xff, 0xff}))
        return;
    for (uint32_t r = 0; r < options_.rails(); r++) {
        uint64_t when = network_->drained(rank, r, options_.queue - datagram);

        if (mask() >> r & 1 && when > *now_)
            at = std::min(at, when);
    }
    ranks_[rank].room_due = true;
    // The next ns at least: what is rounded down does not go round and round.
    queue_->push({at == HWMC_NEVER ? *now_ + 1 : at + 1, rank, 0, 0, Kind::ROOM, 0});
}

// Sending.

// Bytes of the message with its header.
uint32_t Machines::payload(uint32_t rank, const hwmc_msg &msg)
{
    uint32_t len = 0;

    switch (msg.type) {
        case HWMC_MSG_DATA:
            return hwmc_frag_len(msg.data.bytes, options_.frag, msg.data.index) +
                   (msg.multicast ? HWMC_WIRE_CAST_HEAD : HWMC_WIRE_HEAD);
        case HWMC_MSG_SEGMENT:
            hwmc_multilane_at(&stream(rank)->multilane, &msg, &len);
            return len + HWMC_WIRE_HEAD;
        case HWMC_MSG_NACK:
        case HWMC_MSG_SEEK:
            return hwmc_bitmap_words(msg.nack.frags) * 8 + HWMC_WIRE_HEAD;
        default:
            return HWMC_WIRE_HEAD;
    }
}

void Machines::transmit(uint32_t rank, const hwmc_msg &tx)
{
    uint32_t bytes = payload(rank, tx), flight = keep(tx);
    bool segment = tx.type == HWMC_MSG_SEGMENT;

    flights_[flight].msg.peer = rank;
    if (!tx.multicast) {
        network_->send(*now_, rank, tx.peer, segment ? tx.segment.lane : 0, bytes, flight, segment,
                       segment ? tx.segment.token : 0);
        return;
    }
    network_->cast(*now_, rank, tx.rail, bytes, flight);
    if (mask() & (mask() - 1))
        hwmc_stripe_on_post(&stripe_.rail[tx.rail], network_->queued(rank, tx.rail, *now_), *now_);
}

void Machines::pump(uint32_t rank)
{
    hwmc_msg tx;

    while (hwmc_stream_next_send(stream(rank), has_room(rank), &tx, *now_))
        transmit(rank, tx);
    if (rank == 0)
        wait_for_room(rank);
}

void Machines::arm(uint32_t rank)
{
    uint64_t at = hwmc_stream_next_timer(stream(rank));

    if (at >= ranks_[rank].timer_at)
        return;
    ranks_[rank].timer_at = at;
    queue_->push({std::max(at, *now_), rank, 0, 0, Kind::TIMER, 0});
}

// The program of a rank.

void Machines::place(uint32_t rank, const hwmc_msg &msg)
{
    uint32_t i = msg.type == HWMC_MSG_SEGMENT ? msg.segment.index * cfg_.trees + msg.segment.tree
                                              : msg.data.index;

    *sum(rank, msg.bid) += number(i);
}

void Machines::expect_all(uint32_t rank, uint64_t bid)
{
    uint32_t bytes = hwmc_stream_bytes(stream(rank));
    uint32_t parts = seg_bytes_ > 0 ? (bytes - 1) / seg_bytes_ + 1 : frags(bytes);

    if (rank != 0 && *sum(rank, bid) != all_of_[parts])
        fail(rank,
             "broadcast " + std::to_string(bid) + " is over, and not all of it was placed once");
    *sum(rank, bid) = 0;
}

void Machines::post(uint32_t rank)
{
    Rank &k = ranks_[rank];
    uint64_t most = seg_bytes_ > 0 ? TREES_PIECE : cfg_.max_bytes;
    uint32_t bytes = (uint32_t) std::min(most, options_.bytes - k.at);

    if (seg_bytes_ > 0) {
        hwmc_stream_post_trees(stream(rank), 0, bytes, seg_bytes_);
    } else if (rank == 0) {
        uint32_t rails = bytes >= SPREAD_FRAGS * options_.frag ? mask() : best(rank, mask());

        hwmc_stream_post_root(stream(rank), bytes, k.at + bytes < options_.bytes, (uint8_t) rails,
                              *now_);
    } else {
        hwmc_stream_post_member(stream(rank), 0, *now_);
    }
    k.state = State::WAITING;
}

// A broadcast is done: the message goes on in the next, or is over.
bool Machines::finish(uint32_t rank)
{
    Rank &k = ranks_[rank];
    uint64_t bid = hwmc_stream_next_bid(stream(rank)) - 1;

    expect_all(rank, bid);
    k.at += hwmc_stream_bytes(stream(rank));
    hwmc_stream_consume(stream(rank), *now_);
    k.state = State::CALLING;
    if (k.at < options_.bytes)
        return true;
    if (k.at > options_.bytes)
        fail(rank, "more came than was sent");
    k.at = 0;
    k.calls++;
    if (k.calls == options_.count) {
        k.state = State::OVER;
        left--;
    }
    return true;
}

// The program goes on as far as it can; whether it did.
bool Machines::program(uint32_t rank)
{
    Rank &k = ranks_[rank];

    if (k.state == State::WAITING && hwmc_stream_done(stream(rank)))
        return finish(rank);
    if (k.state != State::CALLING)
        return false;
    if (hwmc_stream_open(stream(rank))) {
        post(rank);
        return true;
    }
    hwmc_stream_stall(stream(rank), *now_);
    return false;
}

void Machines::turn(uint32_t rank)
{
    do {
        pump(rank);
    } while (program(rank));
    arm(rank);
}

// Events.

void Machines::call(uint32_t rank)
{
    ranks_[rank].state = State::CALLING;
    turn(rank);
}

void Machines::deliver(uint32_t rank, uint32_t rail, uint32_t ref)
{
    hwmc_msg msg = flights_[ref].msg;
    uint32_t b = flights_[ref].bits;
    hwmc_verdict verdict;

    (void) rail;
    if (!msg.multicast)
        drop(ref);
    if (b != UINT32_MAX)
        msg.nack.bits = bits_[b].data();
    verdict = hwmc_stream_on_recv(stream(rank), &msg, *now_);
    if (verdict == HWMC_PLACE)
        place(rank, msg);
    if (verdict == HWMC_BAD)
        fail(rank, "says that a message of type " + std::to_string(msg.type) + " is bad");
    turn(rank);
}

void Machines::sent(uint32_t rank, uint32_t rail, uint32_t token)
{
    (void) rail;
    hwmc_stream_on_sent(stream(rank), token);
    turn(rank);
}

void Machines::timer(uint32_t rank)
{
    if (ranks_[rank].timer_at > *now_)
        return; // an earlier one was for that
    ranks_[rank].timer_at = HWMC_NEVER;
    hwmc_stream_on_timer(stream(rank), *now_);
    turn(rank);
}

void Machines::room(uint32_t rank)
{
    ranks_[rank].room_due = false;
    turn(rank);
}

} // namespace sim
