// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Lost connections, dead ports, and bytes of the exchange that nobody should send.
#include "lane_rc.h"

#include <algorithm>

extern "C" {
#include "lane/rc/rc_impl.h"
}

namespace {

// What goes each way while something happens; numbered, so that gaps and doubles show.
class LaneRcLoss : public LaneRc {
  protected:
    void send_some(int n)
    {
        for (int i = 0; i < n; i++, next++) {
            ASSERT_EQ(HWMC_OK, send(0, 1, std::to_string(next), std::string(20000, 'a')));
            ASSERT_EQ(HWMC_OK, send(1, 0, std::to_string(next), std::string(20, 'b')));
        }
    }

    void expect_all()
    {
        ASSERT_TRUE(poll_until([&] { return numbered(0) == next && numbered(1) == next; }))
            << numbered(0) << " and " << numbered(1) << " of " << next << "; lost "
            << ends[0]->lost.size() << " and " << ends[1]->lost.size() << "; migrated "
            << counts(0).migrated << " and " << counts(1).migrated << "; failed "
            << counts(0).failed << " and " << counts(1).failed;
    }

    // How many of the messages came, one after the other.
    int numbered(int rank)
    {
        int n = 0;

        for (auto &m : ends[rank]->came) {
            if (m.first == "arm")
                continue;
            if (m.first != std::to_string(n))
                return -1;
            n++;
        }
        return n;
    }

    // Makes the connection between 0 and 1 fail at both ends.
    void lose()
    {
        set_port(0, false);
        ASSERT_TRUE(poll_until([&] { return !ends[0]->lost.empty() && !ends[1]->lost.empty(); }));
        set_port(0, true);
    }

    void TearDown() override
    {
        LaneRc::TearDown();
        if (no_hca.empty()) {
            set_port(0, true);
            set_port(1, true);
        }
    }

    int next = 0;
};

TEST_F(LaneRcLoss, APortThatIsCutWithoutAlternatePath)
{
    open(2);
    ASSERT_TRUE(connect(0, 1));
    ASSERT_TRUE(connect(1, 0));
    std::string body(200000, 'x');
    for (uint64_t i = 0; i < 20; i++)
        ASSERT_EQ(HWMC_OK, send_from(0, 1, "h", body, i));
    set_port(0, false);
    ASSERT_TRUE(poll_until([&] { return !ends[0]->lost.empty() && !ends[1]->lost.empty(); }));
    EXPECT_EQ(std::vector<uint32_t>{1}, ends[0]->lost);
    EXPECT_EQ(std::vector<uint32_t>{0}, ends[1]->lost);
    EXPECT_EQ(20u, ends[0]->sent.size()) << "the caller has its memory back";
    EXPECT_EQ(HWMC_ERR_PEER, send(0, 1, "x"));
    EXPECT_EQ(HWMC_ERR_PEER, ready(0, 1));
    EXPECT_EQ(HWMC_ERR_PEER, ready(1, 0));
    EXPECT_TRUE(flush());
    for (auto &m : ends[1]->came)
        EXPECT_TRUE(m.second == body);

    set_port(0, true);
    ends[1]->came.clear();
    ASSERT_TRUE(connect(1, 0));
    ASSERT_TRUE(connect(0, 1));
    ASSERT_EQ(HWMC_OK, send(0, 1, "again", body));
    ASSERT_TRUE(poll_until([&] { return ends[1]->came.size() == 1; }));
    EXPECT_EQ("again", ends[1]->came[0].first);
    EXPECT_EQ(1u, counts(0).losts);
    EXPECT_EQ(2u, counts(0).connects);
}

// What a peer has no room for comes back when the lane is cut, and connections can be made again.
TEST_F(LaneRcLoss, CutGivesBackAtOnce)
{
    open(2);
    ASSERT_TRUE(connect(0, 1));
    ASSERT_TRUE(connect(1, 0));
    auto body = std::make_unique<std::string>(200000, 'x');
    for (uint64_t i = 0; i < 20; i++)
        ASSERT_EQ(HWMC_OK, send_from(0, 1, "h", *body, i));
    ASSERT_GT(20u, ends[0]->sent.size());
    ends[0]->lane->ops->cut(ends[0]->lane);
    EXPECT_EQ(20u, ends[0]->sent.size());
    EXPECT_EQ(std::vector<uint32_t>{1}, ends[0]->lost);
    body.reset();
    ASSERT_TRUE(poll_until([&] { return !ends[1]->lost.empty(); }));
    EXPECT_EQ(20u, ends[0]->sent.size());
    ends[1]->came.clear();
    ASSERT_TRUE(connect(0, 1));
    ASSERT_EQ(HWMC_OK, send(0, 1, "again"));
    ASSERT_TRUE(poll_until([&] { return ends[1]->came.size() == 1; }));
}

TEST_F(LaneRcLoss, ALostConnectionIsMadeAgainAndAgain)
{
    open(2);
    for (int i = 0; i < 10; i++) {
        ASSERT_TRUE(connect(i % 2, 1 - i % 2));
        ends[0]->lost.clear();
        ends[1]->lost.clear();
        ASSERT_TRUE(connect(1 - i % 2, i % 2));
        send_some(40);
        for (int k = 0; k < i; k++)
            poll();
        lose();
        next = 0;
        ends[0]->came.clear();
        ends[1]->came.clear();
    }
    ASSERT_TRUE(connect(0, 1));
    ASSERT_TRUE(connect(1, 0));
    send_some(100);
    expect_all();
    EXPECT_EQ(0u, counts(0).bad + counts(1).bad);
}

// What arrived before is delivered, what did not is not, and nothing is delivered in part.
// No event tells that the completion queue cannot be polled any more: connections end all the same,
// so that sessions go another way.
TEST_F(LaneRcLoss, ACompletionQueueThatFailsEndsConnections)
{
    open(2);
    ASSERT_TRUE(connect(0, 1));
    ASSERT_TRUE(connect(1, 0));
    send_some(1);
    expect_all();
    ibv_context *device = rc_lane(ends[0]->lane)->cq->context;
    auto *poll_cq = device->ops.poll_cq;
    device->ops.poll_cq = [](ibv_cq *, int, ibv_wc *) { return -1; };
    ends[0]->lane->ops->poll(ends[0]->lane);
    device->ops.poll_cq = poll_cq;
    EXPECT_TRUE(poll_until([&] { return !ends[0]->lost.empty(); }));
    EXPECT_NE(HWMC_OK, send(0, 1, "next"));
}

TEST_F(LaneRcLoss, ADeadPathIsNoticedWithoutAPortEvent)
{
    open(2, false, IMPATIENT);
    ASSERT_TRUE(connect(0, 1));
    ASSERT_TRUE(connect(1, 0));
    send_some(5);
    expect_all();
    set_path(0, false);
    send_some(5);
    EXPECT_TRUE(poll_until([&] { return !ends[0]->lost.empty() && !ends[1]->lost.empty(); }));
    set_path(0, true);
    EXPECT_EQ(5, numbered(0));
    EXPECT_EQ(5, numbered(1));
    next = 5;
    ASSERT_TRUE(connect(0, 1));
    ASSERT_TRUE(connect(1, 0));
    send_some(5);
    expect_all();
}

TEST_F(LaneRcLoss, ACutPortWithAlternatePathLosesNothing)
{
    const char *reason;
    uint8_t port = 0;

    open(2, true);
    ASSERT_EQ(HWMC_LANE_RC_APM_HARDWARE, hwmc_lane_rc_apm(ends[0]->lane, &reason)) << reason;
    ASSERT_TRUE(connect(0, 1));
    ASSERT_TRUE(connect(1, 0));
    for (int round = 0; round < 4; round++) {
        int rail = round % 2;

        ASSERT_TRUE(armed(0, 1)) << round;
        path(0, 1, &port);
        EXPECT_EQ(rail + 1, port);
        send_some(50);
        set_port(rail, false);
        send_some(50);
        expect_all();
        ASSERT_TRUE(ends[0]->lost.empty() && ends[1]->lost.empty()) << round;
        ASSERT_TRUE(poll_until([&] { return path(0, 1, &port) != IBV_MIG_ARMED; }));
        EXPECT_EQ(2 - rail, port);
        set_port(rail, true);
    }
    EXPECT_TRUE(ends[0]->lost.empty() && ends[1]->lost.empty());
    for (uint32_t i = 0; i < 2; i++)
        EXPECT_EQ(4u, counts(i).migrated + counts(i).moved) << i;
    EXPECT_GE(counts(0).rearms, 3u);
}

TEST_F(LaneRcLoss, HardwareMigratesFromADeadPath)
{
    uint8_t port = 0;

    open(2, true, IMPATIENT);
    ASSERT_TRUE(connect(0, 1));
    ASSERT_TRUE(connect(1, 0));
    ASSERT_TRUE(armed(0, 1));
    set_path(0, false);
    send_some(50);
    expect_all();
    EXPECT_TRUE(poll_until([&] { return counts(0).migrated == 1 && counts(1).migrated == 1; }));
    set_path(0, true);
    path(0, 1, &port);
    EXPECT_EQ(2, port);
    EXPECT_TRUE(ends[0]->lost.empty() && ends[1]->lost.empty());
}

// All of a host's connections migrate before it looks: more events than are kept.
TEST_F(LaneRcLoss, ManyConnectionsMigrateAtOnce)
{
    const uint32_t n = 10;
    uint8_t port = 0;
    auto each = [&](const std::function<void(uint32_t, uint32_t)> &f) {
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = 0; b < n; b++)
                if (a != b)
                    f(a, b);
    };

    open(n, true);
    each([&](uint32_t a, uint32_t b) { ASSERT_TRUE(connect(a, b)); });
    each([&](uint32_t a, uint32_t b) { ASSERT_TRUE(armed(a, b)); });
    for (auto &e : ends)
        e->came.clear();
    each([&](uint32_t a, uint32_t) { ASSERT_TRUE(flush()) << a; });
    for (auto &e : ends)
        e->came.clear();
    for (uint32_t b = 1; b < n; b++) // makes the others' hardware migrate when they are not looking
        ASSERT_EQ(HWMC_OK, hwmc_lane_rc_migrate(ends[0]->lane, b));
    set_port(0, false);
    each([&](uint32_t a, uint32_t b) { ASSERT_EQ(HWMC_OK, send(a, b, "after")); });
    for (uint32_t a = 0; a < n; a++)
        ASSERT_TRUE(poll_until([&] { return ends[a]->came.size() == n - 1; })) << a;
    ASSERT_TRUE(poll_until([&] {
        bool all = true;
        each([&](uint32_t a, uint32_t b) {
            path(a, b, &port);
            all = all && port == 2;
        });
        return all;
    }));
    set_port(0, true);
    for (auto &e : ends)
        EXPECT_TRUE(e->lost.empty());
    each([&](uint32_t a, uint32_t b) { ASSERT_TRUE(armed(a, b)); });
}

TEST_F(LaneRcLoss, MigratesByRequest)
{
    uint8_t port = 0;

    open(2, true);
    EXPECT_EQ(HWMC_ERR_PEER, hwmc_lane_rc_migrate(ends[0]->lane, 1));
    ASSERT_TRUE(connect(0, 1));
    ASSERT_TRUE(connect(1, 0));
    ASSERT_TRUE(armed(0, 1));
    EXPECT_EQ(HWMC_OK, hwmc_lane_rc_migrate(ends[0]->lane, 1));
    send_some(20);
    expect_all();
    EXPECT_TRUE(poll_until([&] { return counts(0).moved == 1 && counts(1).migrated == 1; }));
    path(1, 0, &port);
    EXPECT_EQ(2, port);
    ASSERT_TRUE(armed(0, 1)) << "the old path is the alternate one";
}

TEST_F(LaneRcLoss, BothPortsDead)
{
    open(2, true);
    ASSERT_TRUE(connect(0, 1));
    ASSERT_TRUE(connect(1, 0));
    ASSERT_TRUE(armed(0, 1));
    set_port(1, false);
    set_port(0, false);
    EXPECT_TRUE(poll_until([&] { return !ends[0]->lost.empty() && !ends[1]->lost.empty(); }));
}

// The exchange.

TEST_F(LaneRcLoss, HostileBytesDoNothing)
{
    std::vector<std::string> heard;

    open(2);
    on_tell = [&](Told &t) {
        heard.push_back(t.bytes);
        return true;
    };
    ASSERT_TRUE(connect(0, 1));
    ASSERT_TRUE(connect(1, 0));
    ASSERT_EQ(3u, heard.size()) << "CONNECT, ACCEPT, READY";
    uint64_t bad = counts(1).bad;
    auto hear = [&](uint32_t from, const std::string &bytes) {
        hwmc_lane_rc_hear(ends[1]->lane, from, bytes.data(), bytes.size());
        poll();
        return counts(1).bad - bad;
    };
    const std::string connect_bytes = heard[0];

    EXPECT_EQ(1u, hear(0, ""));
    EXPECT_EQ(2u, hear(0, connect_bytes)) << "an epoch that has been";
    EXPECT_EQ(3u, hear(7, connect_bytes)) << "no such peer";
    EXPECT_EQ(4u, hear(1, connect_bytes)) << "from itself";
    bad += 4;
    for (size_t len = 0; len < connect_bytes.size(); len++, bad++) // cut, with a new epoch
        EXPECT_EQ(1u, hear(0, connect_bytes.substr(0, len))) << len;
    for (size_t at : {0, 1, 2, 3}) { // not the magic, version or type
        std::string wrong = connect_bytes;

        wrong[at] = static_cast<char>(wrong[at] ^ 0x40);
        EXPECT_EQ(1u, hear(0, wrong)) << at;
        bad++;
    }
    EXPECT_EQ(HWMC_OK, ready(1, 0)) << "the connection is as it was";
    EXPECT_TRUE(ends[1]->lost.empty());
    send_some(10);
    expect_all();
}

// What was told was not heard: as when the other process is not ready for that yet.
TEST_F(LaneRcLoss, AsksAgain)
{
    int keep_back = 2;

    open(3);
    on_tell = [&](Told &) { return --keep_back < 0; };
    EXPECT_EQ(HWMC_AGAIN, ready(0, 1)) << "CONNECT";
    EXPECT_EQ(HWMC_AGAIN, ready(2, 1)) << "WANT";
    poll();
    EXPECT_EQ(HWMC_AGAIN, ready(0, 1));
    EXPECT_NE(UINT64_MAX, ends[0]->lane->ops->deadline(ends[0]->lane));
    EXPECT_NE(UINT64_MAX, ends[2]->lane->ops->deadline(ends[2]->lane));
    ASSERT_TRUE(connect(0, 1));
    ASSERT_TRUE(connect(2, 1));
    EXPECT_TRUE(ends[0]->lost.empty()) << "nothing could be sent before";
    EXPECT_EQ(1u, counts(2).connects);
}

TEST_F(LaneRcLoss, APeerThatCannotBeTold)
{
    open(2);
    cannot_tell = true;
    EXPECT_EQ(HWMC_ERR_PEER, ready(1, 0));
    EXPECT_EQ(HWMC_ERR_PEER, ready(0, 1));
    cannot_tell = false;
    ASSERT_TRUE(connect(1, 0));
    ASSERT_TRUE(connect(0, 1));
}

// Any bit of CONNECT wrong: refused or lost, but never a crash, and the next connection works.
TEST_F(LaneRcLoss, SurvivesEveryBitOfTheExchange)
{
    open(2, false, IMPATIENT);
    for (size_t bit = 0; bit < 68 * 8; bit += 7) {
        size_t flips = 1;

        on_tell = [&](Told &t) {
            if (flips > 0 && bit / 8 < t.bytes.size()) {
                t.bytes[bit / 8] = static_cast<char>(t.bytes[bit / 8] ^ 1 << bit % 8);
                flips--;
            }
            return true;
        };
        ready(0, 1);
        for (int i = 0; i < 20; i++) {
            poll();
            if (ready(0, 1) == HWMC_OK)
                send(0, 1, "x", std::string(100, 'x'));
        }
        for (auto &m : ends[1]->came)
            ASSERT_EQ("x", m.first);
    }
}

TEST_F(LaneRcLoss, ClosingWhileEverythingIsUnderWay)
{
    open(3, true);
    ASSERT_TRUE(connect(0, 1));
    ASSERT_TRUE(connect(0, 2));
    std::string body(100000, 'x');
    for (uint64_t i = 0; i < 20; i++) {
        ASSERT_EQ(HWMC_OK, send_from(0, 1, "h", body, i));
        ASSERT_EQ(HWMC_OK, send(0, 2, "h", body));
    }
    ready(1, 2);
    poll();
    ready(2, 1);
    size_t sent = ends[0]->sent.size();
    ends[0]->lane->ops->close(ends[0]->lane);
    ends[0]->lane = nullptr;
    EXPECT_EQ(sent, ends[0]->sent.size()) << "nobody is told any more";
}

} // namespace
