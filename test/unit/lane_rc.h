// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// The rc lane: several processes' lanes in one process, over the emulated HCA, in a network
// namespace of the test's own. What they tell each other goes through a queue of the test's.
#ifndef HWMC_TEST_UNIT_LANE_RC_H_INCLUDED
#define HWMC_TEST_UNIT_LANE_RC_H_INCLUDED

#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "emulated_hca.h"

extern "C" {
#include "base/addr.h"
#include "lane/rc/rc.h"
}

class LaneRc : public ::testing::Test {
  public:
    struct Told {
        uint32_t from, to;
        std::string bytes;
    };

    struct End {
        LaneRc *test;
        uint32_t rank;
        hwmc_lane *lane = nullptr;
        hwmc_lane_rc_counts counts = {};
        std::vector<std::pair<std::string, std::string>> came;
        std::vector<uint32_t> lost;
        std::vector<uint64_t> sent;
        std::function<void(const std::string &, const std::string &)> on_recv;
    };

    std::vector<std::unique_ptr<End>> ends;
    std::deque<Told> told;
    std::function<bool(Told &)> on_tell; // false: the message is kept back by the test
    bool cannot_tell = false;

  protected:
    static constexpr uint8_t PATIENT = 16;   // a timeout that a busy machine does not cause
    static constexpr uint8_t IMPATIENT = 13; // one to wait for
    static constexpr int SECONDS_MAX = 60;

    void SetUp() override;
    void TearDown() override;

    void open(uint32_t n, bool apm = false, uint8_t timeout = PATIENT, uint32_t max_peers = 16);
    void poll();
    bool poll_until(const std::function<bool()> &done);
    bool flush();
    int ready(uint32_t from, uint32_t to);
    bool connect(uint32_t from, uint32_t to);
    int send(uint32_t from, uint32_t to, const std::string &head, const std::string &body = "");
    int send_from(uint32_t from, uint32_t to, const std::string &head, const std::string &body,
                  uint64_t tag);
    const struct hwmc_lane_rc_counts &counts(uint32_t rank);
    ibv_mig_state path(uint32_t from, uint32_t to, uint8_t *port);
    bool armed(uint32_t a, uint32_t b);
};

#endif // HWMC_TEST_UNIT_LANE_RC_H_INCLUDED
