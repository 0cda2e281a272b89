// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// value: what stands for a part of a vector where ranks combine: a number that is added, and a
// function x -> times x + plus, which is applied before what comes later. The sum says whether all
// are in, each once; the function whether they are in their order, as to add first and to multiply
// first are not the same. All modulo 2^64.
#ifndef HWMC_TEST_SIM_VALUE_H_INCLUDED
#define HWMC_TEST_SIM_VALUE_H_INCLUDED

#include "chance.h"

namespace sim {

struct Value {
    uint64_t sum = 0;
    uint64_t times = 1, plus = 0;

    // This one, then `later`.
    Value then(const Value &later) const
    {
        return {sum + later.sum, times * later.times, later.times * plus + later.plus};
    }

    bool operator==(const Value &other) const
    {
        return sum == other.sum && times == other.times && plus == other.plus;
    }
};

// Which call, and which part of its vector.
struct Spot {
    uint32_t call, part;
};

// What `rank` has there to begin with.
inline Value operand(uint64_t seed, uint32_t rank, Spot s)
{
    const uint64_t at = chance(seed, Matter::OPERAND, rank, (uint64_t) s.call << 32 | s.part);

    return {at, hwmc_prng(at, 1) | 1, hwmc_prng(at, 2)};
}

// Of ranks `first` to first + num - 1 of `ranks`, which follow cyclically.
inline Value operands(uint64_t seed, uint32_t first, uint32_t num, uint32_t ranks, Spot s)
{
    Value all;

    for (uint32_t i = 0; i < num; i++)
        all = all.then(operand(seed, (uint32_t) (((uint64_t) first + i) % ranks), s));
    return all;
}

} // namespace sim

#endif // HWMC_TEST_SIM_VALUE_H_INCLUDED
