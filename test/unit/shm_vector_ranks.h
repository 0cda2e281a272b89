// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// What a rank of shm_ranks.h does in a collective in which each rank has a part of its own: its
// memory, with gaps between the parts, and what must be there in the end.
#ifndef HWMC_TEST_UNIT_SHM_VECTOR_RANKS_H_INCLUDED
#define HWMC_TEST_UNIT_SHM_VECTOR_RANKS_H_INCLUDED

#include <memory>
#include <string>
#include <vector>

#include "shm_item.h"

extern "C" {
#include "shm/coll/gather.h"
#include "shm/coll/scatter.h"
}

namespace node {

class Parts {
  public:
    // Begins collective `number`.
    hwmc_shm_op *begin(hwmc_shm_group *g, const Item &item, size_t number);
    // After its end; what is wrong, or nothing.
    std::string check();
    // Lengths disagree in what this rank reads.
    bool must_be_told() const;

  private:
    // A memory with a part for each of some ranks.
    struct Memory {
        std::vector<hwmc_shm_range> each;
        hwmc_shm_vector vector = {};
        std::unique_ptr<unsigned char[]> bytes; // of exactly so many
        uint64_t size = 0;
    };

    bool is_one_to_each() const;
    bool gives() const;
    bool takes() const;
    bool in_place() const;
    uint64_t expected(uint32_t from, uint32_t to) const;
    uint64_t given(uint32_t from, uint32_t to) const;
    void lay(Memory &m, const std::vector<uint64_t> &lengths, bool stride);
    void lay_all();
    void write(unsigned char *at, uint32_t from, uint32_t to, uint64_t bytes) const;

    hwmc_shm_group *group_ = nullptr;
    Item item_;
    size_t number_ = 0;
    Memory in_, out_;
    hwmc_shm_gather gather_;
    hwmc_shm_scatter scatter_;
};

} // namespace node

#endif // HWMC_TEST_UNIT_SHM_VECTOR_RANKS_H_INCLUDED
