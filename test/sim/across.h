// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// across: what a collective does in an exchange of each rank (exchanges.h): which blocks there are,
// what is combined, and whether the outcome is right.
#ifndef HWMC_TEST_SIM_ACROSS_H_INCLUDED
#define HWMC_TEST_SIM_ACROSS_H_INCLUDED

#include "exchanges.h"

namespace sim {

class Across : public Plan {
  public:
    // `rank` begins its exchange of call number `call`; all earlier ones are over there.
    virtual void begin(uint32_t rank, uint32_t call) = 0;
    // Parts that have come are used up, and others ready, as far as they can be.
    virtual void work(uint32_t rank)
    {
        (void) rank;
    }
    // It is over: empty, or what is wrong with its outcome.
    virtual std::string verify(uint32_t rank, uint32_t call) = 0;
    // At who has verified it: stands for the outcome, if that is to be broadcast.
    virtual uint64_t tag() const
    {
        return 0;
    }
    // Memory of all ranks without that of exchanges, bytes.
    virtual size_t bytes() const = 0;
};

} // namespace sim

#endif // HWMC_TEST_SIM_ACROSS_H_INCLUDED
