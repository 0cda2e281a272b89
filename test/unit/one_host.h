// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// The ranks of one host and their segment, in one process.
#ifndef HWMC_TEST_UNIT_ONE_HOST_H_INCLUDED
#define HWMC_TEST_UNIT_ONE_HOST_H_INCLUDED

#include <sys/mman.h>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "op/wait.h"
#include "shm/segment/params.h"
#include "shm/segment/segment.h"
}

class OneHost {
  public:
    explicit OneHost(uint32_t n) : ranks(n)
    {
        const hwmc_shm_layout layout = {n, 4, 2, 128};
        const hwmc_shm_params params = hwmc_shm_params_default(128);

        bytes_ = hwmc_shm_segment_bytes(&layout);
        memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        EXPECT_EQ(HWMC_OK, hwmc_shm_segment_over(&segment_, &layout, memory_));
        for (uint32_t r = 0; r < n; r++)
            EXPECT_EQ(HWMC_OK, hwmc_shm_group_init(&ranks[r].group, &segment_, r, 0, &params));
        for (int again = 1; again > 0;) {
            again = 0;
            for (hwmc_shm_host &h : ranks)
                again += hwmc_shm_group_join(&h.group) == HWMC_AGAIN;
        }
    }
    ~OneHost()
    {
        for (hwmc_shm_host &h : ranks)
            hwmc_shm_group_fini(&h.group);
        munmap(memory_, bytes_);
    }
    OneHost(const OneHost &) = delete;

    std::vector<hwmc_shm_host> ranks;

  private:
    hwmc_shm_segment segment_ = {};
    void *memory_;
    size_t bytes_;
};

#endif // HWMC_TEST_UNIT_ONE_HOST_H_INCLUDED
