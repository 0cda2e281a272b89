// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Allocations that fail: a binary that is linked with --wrap for malloc, calloc and realloc gets
// its memory here. What C++ allocates does not come this way.
#ifndef HWMC_TEST_UNIT_FAILING_MEMORY_H_INCLUDED
#define HWMC_TEST_UNIT_FAILING_MEMORY_H_INCLUDED

#include <cstdint>

namespace failing_memory {

// While one exists allocations `first` to `last` from its beginning on, counted from 0, fail.
class Range {
  public:
    explicit Range(int64_t first, int64_t last);
    explicit Range(int64_t one) : Range(one, one)
    {
    }
    ~Range();
    Range(const Range &) = delete;
    Range &operator=(const Range &) = delete;

    static int64_t allocations(); // since then
};

} // namespace failing_memory

#endif // HWMC_TEST_UNIT_FAILING_MEMORY_H_INCLUDED
