// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// streams: see streams.h.
#include "streams.h"

#include <stdlib.h>

#include <algorithm>

extern "C" {
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

} // namespace

hwmc_network network_of(const Options &o)
{
    hwmc_network net = {};

    net.latency_ns = o.latency_ns + o.host_ns;
    net.site_latency_ns = std::max(o.latency_ns, o.site_latency_ns) + o.host_ns;
    for (uint32_t mbit : o.mbit) {
        net.mbit = std::max(net.mbit, mbit);
        net.mbit_all += mbit;
    }
    net.datagram_ns = net.message_ns = (uint32_t) o.host_ns;
    net.loss_ppm = o.loss_ppm;
    return net;
}

Streams::Streams(const Options &o, const StreamsCfg &cfg, EventQueue *queue, Network *network,
                 const uint64_t *now, std::string *error)
    : options_(o), queue_(queue), network_(network), now_(now), error_(error),
      cast_by_all_(cfg.any_root), memory_(nullptr, free), room_due_(o.ranks, false)
{
    const bool trees = o.algorithm == Algorithm::MULTILANE;
    const hwmc_network net = network_of(o);
    uint32_t wished = o.piece > 0 ? o.piece : hwmc_model_piece(&net, o.sites > 1, o.channels);
    uint64_t pieces;

    piece_ = trees ? TREES_PIECE : std::max<uint64_t>(wished / o.frag * o.frag, o.frag);
    pieces = std::max<uint64_t>(1, (cfg.bytes + piece_ - 1) / piece_) * cfg.messages;
    cfg_.size = o.ranks;
    cfg_.policy.first.push = o.push;
    // Channels that would not be used are not made: there may be a million ranks.
    cfg_.channels = (uint32_t) std::min<uint64_t>(o.channels, pieces + 1);
    cfg_.policy.first.period = cfg_.channels < o.channels ? cfg_.channels : (cfg_.channels + 1) / 2;
    cfg_.fanout = o.fanout;
    cfg_.policy.first.rails = (uint8_t) ((1u << o.rails()) - 1);
    cfg_.policy.stay = true;
    cfg_.frag_bytes = o.frag;
    cfg_.max_bytes =
        trees ? o.frag : (uint32_t) std::min<uint64_t>(piece_, std::max<uint64_t>(cfg.bytes, 1));
    cfg_.seed = o.seed;
    hwmc_wrr_init(&cfg_.near, o.rails(), o.mbit.data());
    cfg_.far = cfg_.near;
    cfg_.counts = &counts_;
    cut(net, cfg.bytes);
    deal_sites();
    make();
}

// Fragments, or segments of trees.
void Streams::cut(const hwmc_network &net, uint64_t longest)
{
    uint32_t parts = frags(cfg_.max_bytes);

    if (options_.algorithm == Algorithm::MULTILANE) {
        uint32_t bytes = (uint32_t) std::min(longest, TREES_PIECE);
        uint64_t wish = options_.segment > 0 ? options_.segment : bytes;

        seg_bytes_ = (uint32_t) std::max<uint64_t>(std::min<uint64_t>(wish, bytes),
                                                   (bytes - 1) / SEGMENTS_MAX + 1);
        cfg_.trees = hwmc_trees_count(
            options_.ranks, options_.trees > 0 ? options_.trees : std::max(options_.rails(), 2u));
        cfg_.window = cfg_.far_window = options_.window;
        if (options_.window == 0) {
            cfg_.window = hwmc_model_segments(&net, false, cfg_.trees, seg_bytes_);
            cfg_.far_window = hwmc_model_segments(&net, true, cfg_.trees, seg_bytes_);
        }
        cfg_.max_segments = parts = (bytes - 1) / seg_bytes_ + 1;
    }
    all_of_.assign(1, 0);
    for (uint32_t i = 0; i < parts; i++)
        all_of_.push_back(all_of_.back() + number(i));
}

void Streams::deal_sites()
{
    if (options_.sites == 1)
        return;
    for (uint32_t i = 0; i <= options_.sites; i++)
        sites_first_.push_back(network_->site_first(i));
    for (uint32_t i = 0; i < options_.ranks; i++)
        sites_ranks_.push_back(i);
    sites_ = {options_.sites, sites_first_.data(), sites_ranks_.data(), sites_ranks_.data()};
    cfg_.sites = &sites_;
}

void Streams::make()
{
    const uint32_t ranks = options_.ranks;

    placed_.assign((size_t) ranks * cfg_.channels, {0, 0});
    stripes_.resize(cast_by_all_ ? ranks : 1);
    for (hwmc_stripe &stripe : stripes_)
        for (uint32_t r = 0; r < options_.rails(); r++)
            hwmc_stripe_init(&stripe.rail[r], options_.mbit[r]);
    stride_ = (sizeof(hwmc_stream) + hwmc_stream_footprint(&cfg_) + 63) / 64 * 64;
    memory_.reset((unsigned char *) aligned_alloc(64, stride_ * ranks));
    if (!memory_) {
        *error_ = "no memory for " + std::to_string(ranks) + " ranks";
        return;
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        cfg_.rank = rank;
        hwmc_stream_init(stream(rank), &cfg_, stream(rank) + 1);
    }
}

void Streams::fail(uint32_t rank, const std::string &what)
{
    if (error_->empty())
        *error_ = "rank " + std::to_string(rank) + ": " + what;
}

uint32_t Streams::frags(uint32_t bytes) const
{
    return hwmc_frags_of(bytes, options_.frag);
}

void Streams::prefetch(uint32_t rank, uint32_t ref)
{
    const char *s = (const char *) stream(rank), *trees = (const char *) &stream(rank)->multilane;

    __builtin_prefetch(flights_.data() + ref);
    for (size_t line = 0; line < offsetof(hwmc_stream, multilane); line += 64)
        __builtin_prefetch(s + line);
    for (size_t line = 0; line < 384; line += 64) // the channels, where there are few
        __builtin_prefetch((const char *) (stream(rank) + 1) + line);
    __builtin_prefetch(placed(rank, 0));
    if (seg_bytes_ > 0)
        for (size_t line = 0; line <= offsetof(hwmc_multilane, child); line += 64)
            __builtin_prefetch(trees + line);
}

// Messages on their way.

uint32_t Streams::keep(const hwmc_msg &msg, uint64_t tag)
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
    flights_[i].tag = tag;
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

void Streams::drop(uint32_t flight)
{
    if (flights_[flight].bits != UINT32_MAX)
        free_bits_.push_back(flights_[flight].bits);
    free_flights_.push_back(flight);
}

// Rails, as engine/rails has them.

uint32_t Streams::mask() const
{
    return options_.algorithm == Algorithm::STRIPED ? (1u << options_.rails()) - 1 : 1;
}

uint8_t Streams::best(uint32_t rank, uint32_t rails)
{
    hwmc_stripe *s = stripe(rank);
    uint64_t more[HWMC_RAIL_BITS] = {};
    uint32_t datagram = network_->wire_bytes(options_.frag + HWMC_WIRE_CAST_HEAD);

    if ((rails & (rails - 1)) == 0)
        return (uint8_t) rails;
    for (uint32_t r = 0; r < options_.rails(); r++) {
        if (s->rail[r].at != *now_)
            hwmc_stripe_on_queue(&s->rail[r], network_->queued(rank, r, *now_), *now_);
        more[r] = datagram;
    }
    return (uint8_t) hwmc_stripe_best(s, rails, more, *now_);
}

hwmc_room Streams::has_room(uint32_t rank)
{
    uint32_t datagram = network_->wire_bytes(options_.frag + HWMC_WIRE_CAST_HEAD);
    hwmc_room room = {};

    if (!casts(rank))
        return room;
    for (uint32_t r = 0; r < options_.rails(); r++)
        if (mask() >> r & 1 && network_->queued(rank, r, *now_) + datagram <= options_.queue)
            room.each |= (uint8_t) (1u << r);
    room.best = best(rank, mask()) & room.each;
    return room;
}

// There is room when the first of the rails that are full takes a datagram.
void Streams::wait_for_room(uint32_t rank)
{
    uint32_t datagram = network_->wire_bytes(options_.frag + HWMC_WIRE_CAST_HEAD);
    uint64_t at = HWMC_NEVER;

    if (room_due_[rank] || !hwmc_stream_casts(stream(rank), {0xff, 0xff}))
        return;
    for (uint32_t r = 0; r < options_.rails(); r++) {
        uint64_t when = network_->drained(rank, r, options_.queue - datagram);

        if (mask() >> r & 1 && when > *now_)
            at = std::min(at, when);
    }
    room_due_[rank] = true;
    // The next ns at least: what is rounded down does not go round and round.
    queue_->push({at == HWMC_NEVER ? *now_ + 1 : at + 1, rank, 0, 0, Kind::ROOM, 0});
}

// Sending.

// Bytes of the message with its header.
uint32_t Streams::payload(uint32_t rank, const hwmc_msg &msg)
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

void Streams::transmit(uint32_t rank, const hwmc_msg &tx)
{
    uint32_t bytes = payload(rank, tx), flight;
    bool segment = tx.type == HWMC_MSG_SEGMENT;

    flight = keep(tx, segment || tx.type == HWMC_MSG_DATA ? placed(rank, tx.bid)->tag : 0);
    flights_[flight].msg.peer = rank;
    if (!tx.multicast) {
        network_->send(*now_, rank, tx.peer, segment ? tx.segment.lane : 0, bytes, flight, segment,
                       segment ? tx.segment.token : 0);
        return;
    }
    network_->cast(*now_, rank, tx.rail, bytes, flight);
    if (mask() & (mask() - 1))
        hwmc_stripe_on_post(&stripe(rank)->rail[tx.rail], network_->queued(rank, tx.rail, *now_),
                            *now_);
}

void Streams::pump(uint32_t rank)
{
    hwmc_msg tx;

    while (hwmc_stream_next_send(stream(rank), has_room(rank), &tx, *now_))
        transmit(rank, tx);
    if (casts(rank))
        wait_for_room(rank);
}

// The program of a rank.

void Streams::place(uint32_t rank, const hwmc_msg &msg, uint64_t tag)
{
    uint32_t i = msg.type == HWMC_MSG_SEGMENT ? msg.segment.index * cfg_.trees + msg.segment.tree
                                              : msg.data.index;
    Placed *p = placed(rank, msg.bid);

    if (p->sum == 0)
        p->tag = tag;
    else if (p->tag != tag)
        fail(rank, "gets parts of different messages in broadcast " + std::to_string(msg.bid));
    p->sum += number(i);
}

void Streams::post(uint32_t rank, uint32_t root, uint32_t bytes, bool more, uint64_t tag)
{
    if (rank == root)
        placed(rank, next_bid(rank))->tag = tag;
    if (seg_bytes_ > 0) {
        hwmc_stream_post_trees(stream(rank), root, bytes, seg_bytes_);
    } else if (rank == root) {
        uint32_t rails = bytes >= SPREAD_FRAGS * options_.frag ? mask() : best(rank, mask());

        hwmc_stream_post_root(stream(rank), bytes, more, (uint8_t) rails, *now_);
    } else {
        hwmc_stream_post_member(stream(rank), root, *now_);
    }
}

uint64_t Streams::consume(uint32_t rank, bool own)
{
    uint64_t bid = stream(rank)->channel.consumed;
    uint32_t bytes = hwmc_stream_bytes(stream(rank));
    uint32_t parts = seg_bytes_ > 0 ? (bytes - 1) / seg_bytes_ + 1 : frags(bytes);
    Placed *p = placed(rank, bid);

    if (!own && p->sum != all_of_[parts])
        fail(rank,
             "broadcast " + std::to_string(bid) + " is over, and not all of it was placed once");
    p->sum = 0;
    hwmc_stream_consume(stream(rank), *now_);
    return p->tag;
}

void Streams::deliver(uint32_t rank, uint32_t ref)
{
    hwmc_msg msg = flights_[ref].msg;
    uint32_t b = flights_[ref].bits;
    uint64_t tag = flights_[ref].tag;
    hwmc_verdict verdict;

    if (!msg.multicast)
        drop(ref);
    if (b != UINT32_MAX)
        msg.nack.bits = bits_[b].data();
    verdict = hwmc_stream_on_recv(stream(rank), &msg, *now_);
    if (verdict == HWMC_PLACE)
        place(rank, msg, tag);
    if (verdict == HWMC_BAD)
        fail(rank, "says that a message of type " + std::to_string(msg.type) + " is bad");
}

} // namespace sim
