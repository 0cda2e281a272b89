// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// machines: broadcasts of rank 0 by the core's machines (streams.h), one after the other.
#ifndef HWMC_TEST_SIM_MACHINES_H_INCLUDED
#define HWMC_TEST_SIM_MACHINES_H_INCLUDED

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
    enum class State : uint8_t { AWAY, CALLING, WAITING, OVER };

    struct Rank {
        uint64_t at = 0;    // bytes of the message that were called
        uint32_t calls = 0; // messages that are over
        State state = State::AWAY;
    };

    void turn(uint32_t rank);
    bool program(uint32_t rank);
    void post(uint32_t rank);
    void finish(uint32_t rank);
    void fail(uint32_t rank, const std::string &what);
    uint64_t tag_of(uint32_t call) const;

    const Options options_;
    Streams streams_;
    Timers timers_;
    std::vector<Rank> ranks_;
};

} // namespace sim

#endif // HWMC_TEST_SIM_MACHINES_H_INCLUDED
