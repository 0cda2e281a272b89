// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// machines: collectives by the core's machines, one call after the other. A call is an exchange of
// blocks, or a broadcast of rank 0, or the one and then the other:
//
//   bcast                     a broadcast (streams.h)
//   barrier, allreduce        vectors combined at rank 0 (reduction.h), and the result broadcast
//   reduce                    all vectors combined at a root
//   scan                      scanning.h
//   allgather, alltoall, reduce_scatter
//                             blocks of all for all (moving.h)
//
//   AWAY -> ACROSS -> CALLING <-> WAITING -> ACROSS ... -> OVER
//
// Checks: what across.h and streams.h say of an outcome; each rank has the result that rank 0 had;
// no rank leaves a barrier, or has a result of all, before all ranks have called.
#ifndef HWMC_TEST_SIM_MACHINES_H_INCLUDED
#define HWMC_TEST_SIM_MACHINES_H_INCLUDED

#include <memory>

#include "across.h"
#include "streams.h"
#include "timers.h"

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

  private:
    enum class State : uint8_t { AWAY, ACROSS, CALLING, WAITING, OVER };

    struct Rank {
        uint64_t at = 0;    // bytes of the message that were called
        uint32_t calls = 0; // that are over
        State state = State::AWAY;
    };

    void make_across(const hwmc_network &net);
    void turn(uint32_t rank);
    bool program(uint32_t rank);
    void begin(uint32_t rank);
    void cross(uint32_t rank);
    void post(uint32_t rank);
    void finish(uint32_t rank);
    void end_call(uint32_t rank);
    void fail(uint32_t rank, const std::string &what);
    uint64_t tag_of(uint32_t call) const;
    bool of_all() const;

    const Options options_;
    const uint64_t bytes_; // of a vector
    std::unique_ptr<Exchanges> exchanges_;
    std::unique_ptr<Across> across_;
    std::unique_ptr<Streams> streams_;
    Timers timers_;
    std::vector<Rank> ranks_;
    std::vector<uint64_t> results_; // by call: the tag of rank 0's
    std::vector<uint32_t> called_;  // by call: ranks
};

} // namespace sim

#endif // HWMC_TEST_SIM_MACHINES_H_INCLUDED
