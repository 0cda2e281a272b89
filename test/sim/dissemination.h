// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// dissemination: a barrier, or an allreduce of short vectors, without multicast, for comparison
// (Hensgen, Finkel, Manber 1988): in round k each rank sends to the one 2^k after it what it knows
// of itself and those before it, and has the same of the one 2^k before it; it goes on when that is
// here. Recursive doubling, which MPICH uses for a short allreduce, takes as many rounds where p is
// a power of 2, and one or two more elsewhere.
//
// All rails are one link. Cost with p ranks, latency l, b for all rails: log2 p (l + M / b).
//
// Checks: rounds bring what they should, and at the end a rank knows of all ranks.
#ifndef HWMC_TEST_SIM_DISSEMINATION_H_INCLUDED
#define HWMC_TEST_SIM_DISSEMINATION_H_INCLUDED

#include "network.h"

namespace sim {

class Dissemination : public Actor {
  public:
    Dissemination(const Options &o, Network *network, const uint64_t *now);

    void call(uint32_t rank) override;
    void deliver(uint32_t rank, uint32_t rail, uint32_t ref) override;
    void sent(uint32_t rank, uint32_t rail, uint32_t token) override;
    size_t rank_bytes() const override;

  private:
    struct Rank {
        uint32_t calls = 0; // that are over
        uint32_t round = 0; // of the call under way
        uint32_t known = 0; // ranks; 0: no call is under way
    };

    // What has come of a round: over so many rails, from who knows of so many ranks.
    struct Came {
        uint32_t rails = 0;
        uint32_t known = 0;
    };

    // A rank may be a call ahead of who hears it.
    Came &came(uint32_t rank, uint32_t call, uint32_t round)
    {
        return came_[((size_t) rank * 2 + call % 2) * rounds_ + round];
    }
    void send(uint32_t rank);
    void go_on(uint32_t rank);

    const Options options_;
    Network *network_;
    uint32_t rounds_ = 0; // of a call
    std::vector<Rank> ranks_;
    std::vector<Came> came_;
};

} // namespace sim

#endif // HWMC_TEST_SIM_DISSEMINATION_H_INCLUDED
