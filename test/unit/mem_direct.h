// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// mem::Direct: direct reception (port/fabric.h) of a fabric of mem::Net, as an adapter does it:
// what comes goes at once to what was posted first. It stops the test if anybody else writes to
// memory that is posted.
#ifndef HWMC_TEST_UNIT_MEM_DIRECT_H_INCLUDED
#define HWMC_TEST_UNIT_MEM_DIRECT_H_INCLUDED

#include <cstdint>
#include <deque>
#include <set>
#include <vector>

extern "C" {
#include "port/fabric.h"
}

namespace mem {

using Bytes = std::vector<unsigned char>;

// A datagram that came. `at`: its body went there; `number`: as that body of the run.
struct Came {
    Came(Bytes bytes_ = {}) : bytes(std::move(bytes_))
    {
    }
    Bytes bytes;
    unsigned char *at = nullptr;
    size_t len = 0; // bytes there, of those that the body has or may have
    uint32_t number = 0;
};

class Direct {
  public:
    static constexpr uint64_t TWIN = UINT64_C(1) << 63; // of a group's number

    uint64_t begin(const hwmc_expected &e);
    size_t extend(uint64_t run, size_t bytes);
    void end(uint64_t run, bool goes_on, std::deque<Came> &queue);

    // A datagram to the twin came, behind those of `queue`.
    void arrive(const Bytes &bytes, std::deque<Came> &queue);

    // `came`, the first of those that wait, is handed over. What is not in its place is moved out
    // of the way before, and so are all of `queue`, which follow.
    hwmc_in take(Came &came, std::deque<Came> &queue);

    // Memory is posted, or a run is under way.
    bool is_idle() const
    {
        return !run_ && posted_.empty();
    }

    bool works = true;              // else no run begins
    size_t room = SIZE_MAX;         // bodies that may be posted
    std::multiset<uint64_t> joined; // twins
    uint64_t placed = 0, aside = 0, dropped = 0, runs = 0, flushes = 0;

  private:
    size_t len_of(uint32_t number) const;
    void move_aside(Came &came);
    void take_back(bool goes_on, std::deque<Came> &queue);

    bool run_ = false, slots_ = false; // what finds nothing posted is kept
    hwmc_expected e_ = {};
    std::deque<uint32_t> posted_; // numbers of bodies
    uint32_t next_ = 0;           // the number that is posted next
    uint32_t due_ = 0;            // the number that is handed over next
};

} // namespace mem

#endif // HWMC_TEST_UNIT_MEM_DIRECT_H_INCLUDED
