// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// The exchange in any order: both ends want, fail and are told things late, at random. At the end
// they connect, and what is sent comes.
#include "lane_rc.h"

extern "C" {
#include "lane/rc/rc_impl.h"
}

namespace {

class LaneRcStorm : public LaneRc {
  protected:
    void deliver()
    {
        if (told.empty())
            return;
        Told t = told.front();

        told.pop_front();
        hwmc_lane_rc_hear(ends[t.to]->lane, t.from, t.bytes.data(), t.bytes.size());
    }

    void break_connection(uint32_t at)
    {
        hwmc_lane_rc *l = rc_lane(ends[at]->lane);

        if (l->peers[1 - at].conn)
            rc_peer_fail(l, l->peers[1 - at].conn, true);
    }

    void step(uint64_t r)
    {
        uint32_t at = r >> 8 & 1;

        switch (r % 8) {
            case 0:
                break_connection(at);
                break;
            case 1:
            case 2:
                if (ready(at, 1 - at) == HWMC_OK) {
                    EXPECT_EQ(HWMC_OK, send(at, 1 - at, "storm", std::string(r >> 40, 's')));
                }
                break;
            case 3:
            case 4:
            case 5:
                deliver();
                break;
            default:
                ends[at]->lane->ops->poll(ends[at]->lane);
        }
    }
};

uint64_t random_of(uint64_t seed, uint64_t i)
{
    uint64_t z = seed * 1000003 + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

// It may wait for answers to what it sent, and would never send again.
TEST_F(LaneRcStorm, TheOtherEndIsToldOfALoss)
{
    open(2);
    for (uint32_t at = 0; at < 2; at++) {
        ASSERT_TRUE(connect(0, 1));
        ASSERT_TRUE(connect(1, 0));
        ends[0]->lost.clear();
        ends[1]->lost.clear();
        break_connection(at);
        EXPECT_TRUE(ends[0]->lost.empty() && ends[1]->lost.empty()) << "only poll says so";
        EXPECT_TRUE(
            poll_until([&] { return ends[0]->lost.size() == 1 && ends[1]->lost.size() == 1; }));
    }
}

TEST_F(LaneRcStorm, TheyConnectInTheEnd)
{
    open(2);
    for (uint64_t seed = 0; seed < 100; seed++) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        for (uint64_t i = 0; i < 80; i++)
            step(random_of(seed, i) & 0xffffffffffff);
        ASSERT_TRUE(poll_until(
            [&] { return ready(0, 1) == HWMC_OK && ready(1, 0) == HWMC_OK && told.empty(); }));
        for (auto &e : ends)
            e->came.clear();
        ASSERT_EQ(HWMC_OK, send(0, 1, "end"));
        ASSERT_EQ(HWMC_OK, send(1, 0, "end"));
        for (int i = 0; i < 2; i++)
            ASSERT_TRUE(poll_until(
                [&] { return !ends[i]->came.empty() && ends[i]->came.back().first == "end"; }));
    }
    EXPECT_EQ(0u, counts(0).bad + counts(1).bad);
    EXPECT_GT(counts(0).losts, 50u);
}

} // namespace
