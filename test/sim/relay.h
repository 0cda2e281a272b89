// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// relay: chain, binary and binomial tree, pipelined: a message is cut into segments, and a rank
// that is in the call passes each on to all its children as soon as it is here. With segments as
// long as the message nothing is pipelined. Lanes and memory take everything; a rank is through
// when it has all, the root when its links are through with all.
//
// Costs with p ranks, latency l, b for all rails of a host together, segments of s bytes, M bytes,
// m = M/s:
//   chain     (p - 1)(l + s/b) + (m - 1) s/b
//   binary    at most d (l + 2 s/b) + 2 (m - 1) s/b, d the depth of the heap
//   binomial  whole message: ceil(log2 p) (l + M/b); pipelined its root sends as much
// Sites: shapes.h.
#ifndef HWMC_TEST_SIM_RELAY_H_INCLUDED
#define HWMC_TEST_SIM_RELAY_H_INCLUDED

#include <vector>

#include "network.h"
#include "shapes.h"

namespace sim {

class Relay : public Actor {
  public:
    Relay(const Options &o, Network *network, const uint64_t *now);

    void call(uint32_t rank) override;
    void deliver(uint32_t rank, uint32_t rail, uint32_t ref) override;
    void sent(uint32_t rank, uint32_t rail, uint32_t token) override;
    size_t rank_bytes() const override;

  private:
    // Of a rank on a rail. Segments are counted on from one broadcast to the next.
    struct Flow {
        uint32_t have = 0;   // segments below are here
        uint32_t passed = 0; // and passed on
    };

    Flow &flow(uint32_t rank, uint32_t rail)
    {
        return flows_[(size_t) rank * options_.rails() + rail];
    }
    uint64_t bytes_of(uint32_t segment, uint32_t rail) const;
    void send(uint32_t rank, uint32_t child, uint32_t rail, uint32_t segment, bool tell);
    void pass_on(uint32_t rank, uint32_t rail);
    void feed(uint32_t rail);
    void end_calls(uint32_t rank);

    const Options options_;
    Network *network_;
    uint32_t segments_; // of a broadcast
    uint64_t seg_bytes_;
    std::vector<Flow> flows_;
    std::vector<uint32_t> called_; // broadcasts, by rank
    std::vector<uint32_t> ended_;
    std::vector<uint32_t> first_child_; // of each rank, in children_; p + 1
    std::vector<uint32_t> children_;
    uint32_t ahead_ = 0;               // of the root's children
    std::vector<uint64_t> fed_, gone_; // by rail: sends of the root, begun and over
};

} // namespace sim

#endif // HWMC_TEST_SIM_RELAY_H_INCLUDED
