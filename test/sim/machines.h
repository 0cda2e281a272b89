// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// machines: the core's machines at every rank, one hwmc_stream each, driven as engine/group and
// engine/rails drive them. All that hwmc_sim knows of the core's streams is in this file and
// machines.cc.
//
// two_stage multicasts on rail 0, striped on all rails, each fragment on the one that core/stripe
// chooses; multilane goes along trees over a lane on each rail. A message longer than a channel
// goes as several broadcasts. Everything else goes over the lane on rail 0. A host makes progress
// while its program is elsewhere.
//
// No payload is carried. For each broadcast a rank adds a number for every fragment or segment that
// its machine says to place; the sum must be that of all of them, once each, when the machine says
// it is done.
#ifndef HWMC_TEST_SIM_MACHINES_H_INCLUDED
#define HWMC_TEST_SIM_MACHINES_H_INCLUDED

#include <memory>
#include <vector>

#include "chance.h"
#include "network.h"

extern "C" {
#include "core/path/stripe.h"
}

namespace sim {

class Machines : public Actor {
  public:
    Machines(const Options &o, EventQueue *queue, Network *network, const uint64_t *now);

    void call(uint32_t rank) override;
    void deliver(uint32_t rank, uint32_t rail, uint32_t ref) override;
    void sent(uint32_t rank, uint32_t rail, uint32_t token) override;
    void release(uint32_t ref) override;
    void timer(uint32_t rank) override;
    void room(uint32_t rank) override;
    void prefetch(uint32_t rank, uint32_t ref) override;
    uint64_t repairs() const override;
    size_t rank_bytes() const override;

    const hwmc_counts &counts() const
    {
        return counts_;
    }

  private:
    enum class State : uint8_t { AWAY, CALLING, WAITING, OVER };

    struct Rank {
        uint64_t at = 0;                // bytes of the message that were called
        uint64_t timer_at = HWMC_NEVER; // the earliest TIMER in the queue
        uint32_t calls = 0;             // messages that are over
        State state = State::AWAY;
        bool room_due = false; // ROOM is in the queue
    };

    // A message on its way. What msg.nack.bits names is in bits_.
    struct Flight {
        hwmc_msg msg;
        uint32_t bits; // which of bits_ a NACK or SEEK has; UINT32_MAX: none
    };

    hwmc_stream *stream(uint32_t rank)
    {
        return reinterpret_cast<hwmc_stream *>(memory_.get() + stride_ * rank);
    }
    uint64_t *sum(uint32_t rank, uint64_t bid)
    {
        return &sums_[(size_t) rank * cfg_.channels + bid % cfg_.channels];
    }

    void turn(uint32_t rank);
    bool program(uint32_t rank);
    void post(uint32_t rank);
    bool finish(uint32_t rank);
    void pump(uint32_t rank);
    void transmit(uint32_t rank, const hwmc_msg &tx);
    void arm(uint32_t rank);
    void place(uint32_t rank, const hwmc_msg &msg);
    void expect_all(uint32_t rank, uint64_t bid);
    uint32_t keep(const hwmc_msg &msg);
    void drop(uint32_t flight);
    void fail(uint32_t rank, const std::string &what);

    uint32_t frags(uint32_t bytes) const;
    uint32_t payload(uint32_t rank, const hwmc_msg &msg);
    uint32_t mask() const;
    uint8_t best(uint32_t rank, uint32_t rails);
    hwmc_room has_room(uint32_t rank);
    void wait_for_room(uint32_t rank);

    const Options options_;
    EventQueue *queue_;
    Network *network_;
    const uint64_t *now_;
    hwmc_stream_cfg cfg_ = {};
    uint32_t seg_bytes_ = 0;
    size_t stride_; // of a rank in memory_
    std::unique_ptr<unsigned char, void (*)(void *)> memory_;
    std::vector<Rank> ranks_;
    std::vector<uint64_t> sums_;   // by rank and channel, of what was placed
    std::vector<uint64_t> all_of_; // of the first n fragments or segments
    std::vector<uint32_t> sites_first_, sites_ranks_;
    hwmc_sites sites_ = {};
    hwmc_counts counts_ = {};
    hwmc_stripe stripe_ = {}; // the root's

    std::vector<Flight> flights_;
    std::vector<uint32_t> free_flights_;
    std::vector<std::vector<uint64_t>> bits_; // of requests
    std::vector<uint32_t> free_bits_;
};

} // namespace sim

#endif // HWMC_TEST_SIM_MACHINES_H_INCLUDED
