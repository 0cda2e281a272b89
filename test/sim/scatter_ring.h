// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// scatter_ring: van de Geijn's broadcast as MPICH has it for long messages: the message is cut into
// p blocks, which are scattered along a binomial tree by halving; then each rank sends its block,
// and every one that comes, around the ring. A rank sends its j-th block of the ring when j have
// come. The root, and a rank that the scatter brought more than its block, take part like all
// others. Ranks as they are, sites or not: the ring goes through every border between two, and back
// to the root.
//
// Cost: ceil(log2 p) l + (p - 1) l + about 2 (p - 1)/p M/b. (The paper's, by recursive doubling:
// 2 log p l + 2 p/(p - 1) M/b.)
#ifndef HWMC_TEST_SIM_SCATTER_RING_H_INCLUDED
#define HWMC_TEST_SIM_SCATTER_RING_H_INCLUDED

#include <vector>

#include "network.h"

namespace sim {

class ScatterRing : public Actor {
  public:
    ScatterRing(const Options &o, Network *network, const uint64_t *now);

    void call(uint32_t rank) override;
    void deliver(uint32_t rank, uint32_t rail, uint32_t ref) override;
    void sent(uint32_t rank, uint32_t rail, uint32_t token) override;
    size_t rank_bytes() const override;

  private:
    // Of a rank on a rail, counted on from one broadcast to the next.
    struct Flow {
        uint32_t scattered = 0; // parts that the scatter brought, one a broadcast
        uint32_t passed = 0;    // and that were passed on
        uint64_t have = 0;      // blocks that the ring brought, p - 1 a broadcast
        uint64_t gone = 0;      // and that were sent to it
    };

    Flow &flow(uint32_t rank, uint32_t rail)
    {
        return flows_[(size_t) rank * options_.rails() + rail];
    }
    uint64_t bytes_of(uint64_t first, uint64_t end, uint32_t rail) const;
    void scatter(uint32_t rank, uint32_t rail);
    void ring(uint32_t rank, uint32_t rail);
    void go_on(uint32_t rank, uint32_t rail);
    void end_calls(uint32_t rank);

    const Options options_;
    Network *network_;
    uint64_t block_; // bytes
    std::vector<Flow> flows_;
    std::vector<uint32_t> called_, ended_; // broadcasts, by rank
};

} // namespace sim

#endif // HWMC_TEST_SIM_SCATTER_RING_H_INCLUDED
