// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// simulator: one run. Takes the earliest event, moves the clock there, performs it, until all ranks
// are through with all broadcasts.
#ifndef HWMC_TEST_SIM_SIMULATOR_H_INCLUDED
#define HWMC_TEST_SIM_SIMULATOR_H_INCLUDED

#include <functional>
#include <string>

#include "network.h"
#include "options.h"

namespace sim {

struct Result {
    std::string error;      // empty: every rank has what it should of every call
    uint64_t ns = 0;        // from the first call to the end of the last
    uint64_t median_ns = 0; // to the end of the last call of the median rank
    Traffic traffic;        // until then
    uint64_t repairs = 0;   // fragments that came by lane
    uint64_t events = 0;    // performed, and receptions of multicasts
    double seconds = 0;     // that it took
    uint64_t memory = 0;    // bytes, at most; of the process
    size_t rank_bytes = 0;  // of them, for a rank

    // The time of a call in terms of M / (R b), the rates of all rails for R b; of a barrier 0.
    double ratio(const Options &o) const;
    double us(const Options &o) const;        // of one call, at the slowest rank
    double median_us(const Options &o) const; // ... and at the median rank
};

// Told at times how far it is: events, simulated ns, ranks that are through.
using Progress = std::function<void(uint64_t events, uint64_t ns, uint32_t through)>;

Result run(const Options &o, const Progress &progress = nullptr);

} // namespace sim

#endif // HWMC_TEST_SIM_SIMULATOR_H_INCLUDED
