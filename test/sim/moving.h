// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// moving: a block from every rank straight to every other one, as op/moves does it for an
// allgather, an alltoall and a reduce_scatter: rank r asks r - 1 first, then r - 2 and so on, and
// sends to r + 1 first.
//
// The outcome is right where each part that came is what its sender has for this rank, all came,
// and, of a reduce_scatter, all of them with the rank's own, combined as entry/spread_scatter does,
// are what the ranks have in their order.
#ifndef HWMC_TEST_SIM_MOVING_H_INCLUDED
#define HWMC_TEST_SIM_MOVING_H_INCLUDED

#include "across.h"

namespace sim {

class Moving : public Across {
  public:
    Moving(const Options &o, Exchanges *exchanges);

    void begin(uint32_t rank, uint32_t call) override;
    std::string verify(uint32_t rank, uint32_t call) override;
    size_t bytes() const override;
    Value part_of(uint32_t rank, uint32_t block, uint32_t part) override;
    void place(uint32_t rank, uint32_t block, uint32_t part, const Value &value) override;

  private:
    uint64_t seed_to(uint32_t to) const;
    Value *came(uint32_t rank, uint32_t block, uint32_t part)
    {
        return &came_[(exchanges_->first_in(rank) + block) * parts_ + part];
    }

    const Options options_;
    Exchanges *exchanges_;
    hwmc_pace pace_;
    uint32_t parts_;              // of a block
    std::vector<Value> came_;     // of a reduce_scatter: by incoming block and part
    std::vector<uint64_t> right_; // by rank: parts of the call that came, and were right
    std::vector<uint32_t> calls_;
};

} // namespace sim

#endif // HWMC_TEST_SIM_MOVING_H_INCLUDED
