// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// The randomness of all simulations: xoshiro256** seeded by splitmix64, so that a printed seed
// means the same run on every platform and in every year. sim_test.cc pins its output.
#ifndef HWMC_TEST_UNIT_SIM_RNG_H_INCLUDED
#define HWMC_TEST_UNIT_SIM_RNG_H_INCLUDED

#include <stdint.h>

namespace sim {

class Rng {
  public:
    explicit Rng(uint64_t seed)
    {
        for (uint64_t &word : s_) {
            seed += UINT64_C(0x9e3779b97f4a7c15);
            uint64_t z = seed;
            z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
            z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
            word = z ^ (z >> 31);
        }
    }

    uint64_t next()
    {
        uint64_t result = rotl(s_[1] * 5, 7) * 9;
        uint64_t t = s_[1] << 17;

        s_[2] ^= s_[0];
        s_[3] ^= s_[1];
        s_[1] ^= s_[2];
        s_[0] ^= s_[3];
        s_[2] ^= t;
        s_[3] = rotl(s_[3], 45);
        return result;
    }

    // 0 to n - 1; n is 1 or more. The bias of the remainder is of no matter here.
    uint64_t below(uint64_t n)
    {
        return next() % n;
    }

    // lo to hi, both included.
    uint64_t between(uint64_t lo, uint64_t hi)
    {
        return lo + below(hi - lo + 1);
    }

    // True this many times in a million.
    bool chance(uint32_t ppm)
    {
        return ppm > 0 && below(1000000) < ppm;
    }

  private:
    static uint64_t rotl(uint64_t x, int k)
    {
        return (x << k) | (x >> (64 - k));
    }

    uint64_t s_[4];
};

} // namespace sim

#endif // HWMC_TEST_UNIT_SIM_RNG_H_INCLUDED
