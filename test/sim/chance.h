// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// chance: pseudo-random numbers as a function of a seed and of what they are for, so that one does
// not depend on how many others were drawn.
#ifndef CHANCE_H_INCLUDED
#define CHANCE_H_INCLUDED

#include "../unit/core.h"

namespace sim {

enum class Matter : uint64_t { LOSS = 1, LATE = 2, PLACE = 3 };

inline uint64_t chance(uint64_t seed, Matter matter, uint64_t a, uint64_t b)
{
    return bcast_hw_prng(bcast_hw_prng(bcast_hw_prng(seed, (uint64_t) matter), a), b);
}

} // namespace sim

#endif // CHANCE_H_INCLUDED
