// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// run_one: runs for tests: a network without overhead and host time, where formulas hold.
#ifndef HWMC_TEST_SIM_RUN_ONE_H_INCLUDED
#define HWMC_TEST_SIM_RUN_ONE_H_INCLUDED

#include <gtest/gtest.h>

#include "simulator.h"

namespace sim {

constexpr uint64_t KIB = 1024, MIB = 1024 * KIB;

constexpr Algorithm ALL[] = {Algorithm::CHAIN,      Algorithm::BINARY,    Algorithm::BINOMIAL,
                             Algorithm::VANDEGEIJN, Algorithm::MULTILANE, Algorithm::TWO_STAGE,
                             Algorithm::STRIPED};

inline Options plain(Algorithm a, uint32_t ranks, uint64_t bytes, std::vector<uint32_t> mbit)
{
    Options o;

    o.algorithm = a;
    o.ranks = ranks;
    o.bytes = bytes;
    o.mbit = mbit;
    o.overhead = 0;
    o.host_ns = 0;
    o.deadline = 100;
    return o;
}

inline std::string said(const Options &o)
{
    return std::string(name_of(o.collective)) + ", " + name_of(o.algorithm) + ", " +
           std::to_string(o.ranks) + " ranks, " + std::to_string(o.bytes) + " bytes, " +
           std::to_string(o.rails()) + " rails, " + std::to_string(o.sites) + " sites, seed " +
           std::to_string(o.seed) + ", mask " + std::to_string(o.loss_mask);
}

// A run in which every rank gets what it should.
inline Result good(const Options &o)
{
    EXPECT_EQ(check(o), "") << said(o);

    Result r = run(o);

    EXPECT_EQ(r.error, "") << said(o);
    return r;
}

// M / (R b), in us.
inline double least_us(const Options &o)
{
    double mbit = 0;

    for (uint32_t rate : o.mbit)
        mbit += rate;
    return (double) o.bytes * 8 / mbit;
}

} // namespace sim

#endif // HWMC_TEST_SIM_RUN_ONE_H_INCLUDED
