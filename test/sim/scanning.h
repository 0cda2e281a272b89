// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// scanning: each rank combines the vectors of the ranks before it and its own, as op/net_scan does:
// in rounds or along a chain, as core/model/scan_way chooses, by core/exchange/scan_plan, part by
// part in the order of core/exchange/combine.
//
// The outcome is right where each part is what the ranks up to this one have, in their order.
#ifndef HWMC_TEST_SIM_SCANNING_H_INCLUDED
#define HWMC_TEST_SIM_SCANNING_H_INCLUDED

#include <map>

#include "across.h"

extern "C" {
#include "core/exchange/combine.h"
#include "core/exchange/scan_plan.h"
#include "core/model/scan_way.h"
}

namespace sim {

class Scanning : public Across {
  public:
    Scanning(const Options &o, const hwmc_network &net, Exchanges *exchanges);

    void begin(uint32_t rank, uint32_t call) override;
    void work(uint32_t rank) override;
    std::string verify(uint32_t rank, uint32_t call) override;
    size_t bytes() const override;
    Value part_of(uint32_t rank, uint32_t block, uint32_t part) override;
    void place(uint32_t rank, uint32_t block, uint32_t part, const Value &value) override;

  private:
    // What is right in a call, by rank and part, until all ranks have been looked at.
    struct Right {
        std::vector<Value> upto;
        uint32_t looked = 0;
    };

    hwmc_scan_plan plan_at(uint32_t rank) const
    {
        return {options_.ranks, rank, way_.chain};
    }
    // What is combined after so many rounds.
    Value *sum(uint32_t rank, uint32_t rounds, uint32_t part)
    {
        return &sums_[(exchanges_->first_in(rank) + rank + rounds) * parts_ + part];
    }
    Value *came(uint32_t rank, uint32_t block, uint32_t part)
    {
        return &came_[(exchanges_->first_in(rank) + block) * window_ + part % window_];
    }
    const Right &right_in(uint32_t call);

    const Options options_;
    Exchanges *exchanges_;
    const hwmc_scan_way way_;
    uint32_t part_, parts_, window_;
    std::vector<hwmc_combine> combine_; // by rank: a round is a child
    std::vector<Value> sums_;           // by rank, rounds and part
    std::vector<Value> came_;           // by incoming block
    std::map<uint32_t, Right> right_;   // by call
};

} // namespace sim

#endif // HWMC_TEST_SIM_SCANNING_H_INCLUDED
