// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// An XPMEM for ranks that are threads of one process: memory is where it is, so a mapping has the
// owner's addresses. It keeps the rules of the kernel module, counts, and refuses what it is told
// to refuse.
#ifndef HWMC_TEST_UNIT_FAKE_XPMEM_H_INCLUDED
#define HWMC_TEST_UNIT_FAKE_XPMEM_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

#include <string>

namespace fake_xpmem {

// Addresses of a process end here.
constexpr uint64_t kEnd = (UINT64_C(1) << 47) - 4096;

struct Counts {
    unsigned names, permits, mappings; // there now
    unsigned made, got, attached;      // ever
    uint64_t bytes;                    // mapped now
};

struct Rules {
    bool no_names = false, no_permits = false;
    size_t longest = SIZE_MAX;  // mapping
    unsigned most = UINT32_MAX; // mappings at a time
};

// As at first, but for what is there; the counts of what was ever are 0.
void reset(const Rules &rules = {});

Counts counts();

// [from, from + bytes) is in a mapping that is there.
bool is_mapped(const void *from, size_t bytes);

// What somebody did against the rules: a permit or mapping that is not there.
std::string wrong();

} // namespace fake_xpmem

#endif // HWMC_TEST_UNIT_FAKE_XPMEM_H_INCLUDED
