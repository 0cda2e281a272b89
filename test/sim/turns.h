// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// turns: an allgather in which each rank broadcasts its block in turn (streams.h), as op/turns does
// it: blocks are taken in the order of ranks; a rank begins a piece of its own when fewer than half
// of the channels' broadcasts before it are not there.
//
// The outcome is right where each rank has the block of every other one, in that order.
#ifndef HWMC_TEST_SIM_TURNS_H_INCLUDED
#define HWMC_TEST_SIM_TURNS_H_INCLUDED

#include "streams.h"
#include "timers.h"

namespace sim {

class Turns : public Actor {
  public:
    Turns(const Options &o, EventQueue *queue, Network *network, const uint64_t *now);

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
    // A piece: whose, and where it begins in the block.
    struct At {
        uint32_t member = 0;
        uint64_t at = 0;
    };

    struct Rank {
        At next, taken;     // to be posted; to be taken
        uint64_t own = 0;   // the broadcast of this rank's last piece that is posted, plus 1
        uint32_t calls = 0; // that are over
        bool called = false;
    };

    uint32_t piece_at(const At &a) const;
    void advance(At *a) const;
    bool is_end(const At &a) const
    {
        return a.member == options_.ranks;
    }
    bool own_is_near(uint32_t rank, uint64_t num) const;
    bool is_postable(uint32_t rank);
    void post(uint32_t rank);
    void take(uint32_t rank);
    bool move(uint32_t rank);
    void turn(uint32_t rank);
    uint64_t tag_of(uint32_t call, uint32_t member) const;
    void fail(uint32_t rank, const std::string &what);

    const Options options_;
    Streams streams_;
    Timers timers_;
    std::vector<Rank> ranks_;
};

} // namespace sim

#endif // HWMC_TEST_SIM_TURNS_H_INCLUDED
