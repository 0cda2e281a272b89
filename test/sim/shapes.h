// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// shapes: who feeds whom in the trees of the reference algorithms (Chiba, Endo, Matsuoka 2007,
// sections 2.2, 4.1 and 6). Rank 0 is the root. Sites are blocks of ranks; the first rank of each
// represents it.
#ifndef HWMC_TEST_SIM_SHAPES_H_INCLUDED
#define HWMC_TEST_SIM_SHAPES_H_INCLUDED

#include <stdint.h>

#include <vector>

namespace sim {

struct Shape {
    uint32_t ranks;
    std::vector<uint32_t> site_first; // of each site its first rank; then `ranks`
};

struct Children {
    std::vector<uint32_t> ranks;
    // So many of them, in order, get all of the message before the others begin; only the root's.
    uint32_t ahead = 0;
};

// Rank r feeds r + 1, over the sites' borders too.
void chain_children(const Shape &shape, uint32_t rank, Children *out);

// In each site the binary heap: the i-th rank feeds 2i + 1 and 2i + 2. The root feeds the
// representatives of the other sites first, one after the other.
void binary_children(const Shape &shape, uint32_t rank, Children *out);

// In each site the binomial tree: the i-th rank feeds i + 2^k for those k below i's lowest bit, the
// largest first. Representatives as above.
void binomial_children(const Shape &shape, uint32_t rank, Children *out);

} // namespace sim

#endif // HWMC_TEST_SIM_SHAPES_H_INCLUDED
