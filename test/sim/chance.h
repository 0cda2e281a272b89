// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// chance: pseudo-random numbers as a function of a seed and of what they are for, so that one does
// not depend on how many others were drawn.
#ifndef HWMC_TEST_SIM_CHANCE_H_INCLUDED
#define HWMC_TEST_SIM_CHANCE_H_INCLUDED

#include "../unit/core.h"

namespace sim {

enum class Matter : uint64_t { LOSS = 1, LATE = 2, PLACE = 3, CONTENT = 4, OPERAND = 5 };

inline uint64_t chance(uint64_t seed, Matter matter, uint64_t a, uint64_t b)
{
    return hwmc_prng(hwmc_prng(hwmc_prng(seed, (uint64_t) matter), a), b);
}

} // namespace sim

#endif // HWMC_TEST_SIM_CHANCE_H_INCLUDED
