// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// shapes: see shapes.h.
#include "shapes.h"

#include <algorithm>

namespace sim {

namespace {

uint32_t site_of(const Shape &shape, uint32_t rank)
{
    return (uint32_t) (std::upper_bound(shape.site_first.begin(), shape.site_first.end(), rank) -
                       shape.site_first.begin() - 1);
}

void representatives(const Shape &shape, uint32_t rank, Children *out)
{
    if (rank != 0)
        return;
    for (size_t site = 1; site + 1 < shape.site_first.size(); site++)
        out->ranks.push_back(shape.site_first[site]);
    out->ahead = (uint32_t) out->ranks.size();
}

} // namespace

void chain_children(const Shape &shape, uint32_t rank, Children *out)
{
    if (rank + 1 < shape.ranks)
        out->ranks.push_back(rank + 1);
}

void binary_children(const Shape &shape, uint32_t rank, Children *out)
{
    uint32_t site = site_of(shape, rank), first = shape.site_first[site];
    uint64_t size = shape.site_first[site + 1] - first, child = 2 * (uint64_t) (rank - first) + 1;

    representatives(shape, rank, out);
    for (uint64_t end = std::min(child + 2, size); child < end; child++)
        out->ranks.push_back((uint32_t) (first + child));
}

void binomial_children(const Shape &shape, uint32_t rank, Children *out)
{
    uint32_t site = site_of(shape, rank), first = shape.site_first[site], i = rank - first;
    uint64_t size = shape.site_first[site + 1] - first, step = 1;

    representatives(shape, rank, out);
    while (step < size && !(i & step))
        step *= 2;
    for (step /= 2; step > 0; step /= 2)
        if (i + step < size)
            out->ranks.push_back((uint32_t) (rank + step));
}

} // namespace sim
