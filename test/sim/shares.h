// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// shares: the rails of a host as one link, for the reference algorithms (the paper aggregates its
// two NICs): every part of a message goes over all rails, on each in proportion to its rate, and is
// passed on rail by rail.
#ifndef HWMC_TEST_SIM_SHARES_H_INCLUDED
#define HWMC_TEST_SIM_SHARES_H_INCLUDED

#include "options.h"

namespace sim {

// Of `bytes`, those that go on `rail`; together they are all.
inline uint64_t share(const Options &o, uint64_t bytes, uint32_t rail)
{
    uint64_t sum = 0, below = 0;

    for (uint32_t r = 0; r < o.rails(); r++) {
        below += r < rail ? o.mbit[r] : 0;
        sum += o.mbit[r];
    }
    return bytes * (below + o.mbit[rail]) / sum - bytes * below / sum;
}

} // namespace sim

#endif // HWMC_TEST_SIM_SHARES_H_INCLUDED
