// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// What a rank of shm_ranks.h does in a collective whose result is another one at each rank: scan,
// exscan and reduce_scatter.
#ifndef HWMC_TEST_UNIT_SHM_SCAN_RANKS_H_INCLUDED
#define HWMC_TEST_UNIT_SHM_SCAN_RANKS_H_INCLUDED

#include <memory>
#include <string>
#include <vector>

#include "shm_item.h"

extern "C" {
#include "shm/coll/reduce_scatter.h"
#include "shm/coll/scan.h"
}

namespace node {

class Scans {
  public:
    // Begins collective `number`; not if that is refused: null.
    hwmc_shm_op *begin(hwmc_shm_group *g, const Item &item, size_t number,
                       const hwmc_shm_tree &tree);
    // After its end; what is wrong, or nothing.
    std::string check();

  private:
    bool in_place() const;
    void lay_blocks();
    std::vector<unsigned char> result(uint32_t ranks) const;

    hwmc_shm_group *group_ = nullptr;
    Item item_;
    size_t number_ = 0;
    uint64_t length_ = 0; // bytes, of all that a rank adds
    std::vector<hwmc_shm_range> each_;
    hwmc_shm_vector blocks_ = {};
    // Of exactly so many bytes as they have; in_: none, if in place.
    std::unique_ptr<unsigned char[]> in_, out_, work_;
    uint64_t room_ = 0; // bytes of out_
    hwmc_shm_scan scan_;
    hwmc_shm_reduce_scatter reduce_scatter_;
};

} // namespace node

#endif // HWMC_TEST_UNIT_SHM_SCAN_RANKS_H_INCLUDED
