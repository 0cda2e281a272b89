// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// reduction: vectors of all ranks are combined at one of them, as op/net_reduce does: along the
// trees that core/model/reduce_way chooses, by core/exchange/reduce_plan, part by part in the order
// of core/exchange/combine. With --degree it is one tree of ranges of that degree.
//
// The outcome is right where every part has the sum of all ranks; along one tree also what the
// ranks are in their order, from the root on cyclically, or from rank 0 on with --ordered.
#ifndef HWMC_TEST_SIM_REDUCTION_H_INCLUDED
#define HWMC_TEST_SIM_REDUCTION_H_INCLUDED

#include "across.h"

extern "C" {
#include "core/exchange/combine.h"
#include "core/exchange/reduce_plan.h"
#include "core/model/model.h"
}

namespace sim {

class Reduction : public Across {
  public:
    // Vectors of `bytes`.
    Reduction(const Options &o, const hwmc_network &net, uint64_t bytes, Exchanges *exchanges);

    void begin(uint32_t rank, uint32_t call) override;
    void work(uint32_t rank) override;
    std::string verify(uint32_t rank, uint32_t call) override;
    uint64_t tag() const override
    {
        return tag_;
    }
    size_t bytes() const override;
    Value part_of(uint32_t rank, uint32_t block, uint32_t part) override;
    void place(uint32_t rank, uint32_t block, uint32_t part, const Value &value) override;

    uint32_t root() const
    {
        return options_.root;
    }

  private:
    hwmc_reduce_plan plan_at(uint32_t rank) const;
    uint32_t parts() const
    {
        return hwmc_exchange_parts(bytes_, part_);
    }
    hwmc_combine *tree(uint32_t rank, uint32_t t)
    {
        return &trees_[(size_t) rank * way_.trees + t];
    }
    Value *sum(uint32_t rank, uint32_t part)
    {
        return &sums_[(size_t) rank * parts() + part];
    }
    Value *came(uint32_t rank, uint32_t block, uint32_t part)
    {
        return &came_[(exchanges_->first_in(rank) + block) * window_ + part % window_];
    }
    bool has_relay(uint32_t rank) const
    {
        return rank == options_.root && options_.ordered && options_.root != 0;
    }
    uint32_t combine(uint32_t rank, uint32_t t, uint32_t first_in);

    const Options options_;
    const uint32_t bytes_;
    Exchanges *exchanges_;
    hwmc_reduce_way way_;
    uint32_t part_;   // bytes
    uint32_t window_; // parts of a child that wait to be combined
    std::vector<hwmc_combine> trees_;
    std::vector<Value> sums_; // by rank and part of the vector
    std::vector<Value> came_; // by incoming block
    std::vector<Value> result_;
    std::vector<uint32_t> calls_; // that each rank is in
    uint64_t tag_ = 0;
};

} // namespace sim

#endif // HWMC_TEST_SIM_REDUCTION_H_INCLUDED
