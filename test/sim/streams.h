// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// streams: the core's broadcasts at every rank, one hwmc_stream each, driven as engine/group and
// engine/rails drive them. What calls them is a program's (machines.h, and others); all that
// hwmc_sim knows of the core's streams is in this file and streams.cc.
//
// two_stage multicasts on rail 0, striped on all rails, each fragment on the one that core/stripe
// chooses; multilane goes along trees over a lane on each rail. A message longer than piece() goes
// as several broadcasts. Everything else goes over the lane on rail 0. A host makes progress while
// its program is elsewhere.
//
// No payload is carried, but a tag: a number that stands for the message, and goes with each part
// of it from who has the part. For each broadcast a rank adds a number for every fragment or
// segment that its machine says to place; the sum must be that of all of them, once each, when the
// machine says it is done, and all must have come with one tag.
#ifndef HWMC_TEST_SIM_STREAMS_H_INCLUDED
#define HWMC_TEST_SIM_STREAMS_H_INCLUDED

#include <memory>
#include <vector>

#include "chance.h"
#include "network.h"

extern "C" {
#include "core/model/model.h"
#include "core/path/stripe.h"
}

namespace sim {

// What a run broadcasts.
struct StreamsCfg {
    uint64_t bytes;    // of the longest message
    uint64_t messages; // in all
    bool any_root;     // else rank 0 is the root of all
};

// The network as a job would have measured it.
hwmc_network network_of(const Options &o);

class Streams {
  public:
    // `error` gets what goes wrong.
    Streams(const Options &o, const StreamsCfg &cfg, EventQueue *queue, Network *network,
            const uint64_t *now, std::string *error);

    // For a program; core/bcast/stream.h says when what may be called.
    bool open(uint32_t rank)
    {
        return hwmc_stream_open(stream(rank));
    }
    void stall(uint32_t rank)
    {
        hwmc_stream_stall(stream(rank), *now_);
    }
    // `bytes` of the broadcast, piece() at most. `more`: its message goes on in the next.
    void post(uint32_t rank, uint32_t root, uint32_t bytes, bool more, uint64_t tag);
    // Posted and not consumed.
    uint64_t under_way(uint32_t rank)
    {
        return stream(rank)->posted - stream(rank)->channel.consumed;
    }
    // The number of the next broadcast; whether all of one that was posted is here, or sent.
    uint64_t next_bid(uint32_t rank)
    {
        return hwmc_stream_next_bid(stream(rank));
    }
    bool has(uint32_t rank, uint64_t bid)
    {
        return bid < stream(rank)->channel.consumed || hwmc_stream_has(stream(rank), bid);
    }
    // The first one that is not consumed can be; how long it is; and its tag. `own`: `rank` is its
    // root.
    bool done(uint32_t rank)
    {
        return under_way(rank) > 0 && hwmc_stream_done(stream(rank));
    }
    uint32_t bytes(uint32_t rank)
    {
        return hwmc_stream_bytes(stream(rank));
    }
    uint64_t consume(uint32_t rank, bool own);
    // Bytes of a broadcast, at most.
    uint64_t piece() const
    {
        return piece_;
    }
    // Broadcasts that may be under way at a time.
    uint32_t channels() const
    {
        return cfg_.channels;
    }

    // Events, and what follows: what can be sent is sent.
    void deliver(uint32_t rank, uint32_t ref);
    void sent(uint32_t rank, uint32_t token)
    {
        hwmc_stream_on_sent(stream(rank), token);
    }
    void release(uint32_t ref)
    {
        drop(ref);
    }
    void room(uint32_t rank)
    {
        room_due_[rank] = false;
    }
    void timer(uint32_t rank)
    {
        hwmc_stream_on_timer(stream(rank), *now_);
    }
    uint64_t next_timer(uint32_t rank)
    {
        return hwmc_stream_next_timer(stream(rank));
    }
    void pump(uint32_t rank);
    void prefetch(uint32_t rank, uint32_t ref);

    const hwmc_counts &counts() const
    {
        return counts_;
    }
    size_t rank_bytes() const
    {
        return stride_ + cfg_.channels * sizeof(Placed) + sizeof(bool);
    }

  private:
    // A message on its way. What msg.nack.bits names is in bits_.
    struct Flight {
        hwmc_msg msg;
        uint64_t tag;
        uint32_t bits; // which of bits_ a NACK or SEEK has; UINT32_MAX: none
    };

    // What is here of a broadcast.
    struct Placed {
        uint64_t sum, tag;
    };

    hwmc_stream *stream(uint32_t rank)
    {
        return reinterpret_cast<hwmc_stream *>(memory_.get() + stride_ * rank);
    }
    Placed *placed(uint32_t rank, uint64_t bid)
    {
        return &placed_[(size_t) rank * cfg_.channels + bid % cfg_.channels];
    }

    void cut(const hwmc_network &net, uint64_t longest);
    void deal_sites();
    void make();
    void transmit(uint32_t rank, const hwmc_msg &tx);
    void place(uint32_t rank, const hwmc_msg &msg, uint64_t tag);
    uint32_t keep(const hwmc_msg &msg, uint64_t tag);
    void drop(uint32_t flight);
    void fail(uint32_t rank, const std::string &what);

    uint32_t frags(uint32_t bytes) const;
    uint32_t payload(uint32_t rank, const hwmc_msg &msg);
    uint32_t mask() const;
    hwmc_stripe *stripe(uint32_t rank)
    {
        return &stripes_[cast_by_all_ ? rank : 0];
    }
    bool casts(uint32_t rank) const
    {
        return cast_by_all_ || rank == 0;
    }
    uint8_t best(uint32_t rank, uint32_t rails);
    hwmc_room has_room(uint32_t rank);
    void wait_for_room(uint32_t rank);

    const Options options_;
    EventQueue *queue_;
    Network *network_;
    const uint64_t *now_;
    std::string *error_;
    const bool cast_by_all_;
    uint64_t piece_ = 0;
    hwmc_stream_cfg cfg_ = {};
    uint32_t seg_bytes_ = 0; // 0: it multicasts
    size_t stride_ = 0;      // of a rank in memory_
    std::unique_ptr<unsigned char, void (*)(void *)> memory_;
    std::vector<Placed> placed_;   // by rank and channel
    std::vector<bool> room_due_;   // by rank: ROOM is in the queue
    std::vector<uint64_t> all_of_; // of the first n fragments or segments
    std::vector<uint32_t> sites_first_, sites_ranks_;
    hwmc_sites sites_ = {};
    hwmc_counts counts_ = {};
    std::vector<hwmc_stripe> stripes_; // of who multicasts

    std::vector<Flight> flights_;
    std::vector<uint32_t> free_flights_;
    std::vector<std::vector<uint64_t>> bits_; // of requests
    std::vector<uint32_t> free_bits_;
};

} // namespace sim

#endif // HWMC_TEST_SIM_STREAMS_H_INCLUDED
