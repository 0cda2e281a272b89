/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Sealed lanes, and sessions over them, beside a stranger who sees and repeats everything that goes
 * over the lanes below.
 */
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

extern "C" {
#include "session/sessions.h"
#include "lane/auth_lane.h"
}

namespace {

constexpr uint32_t kHosts = 2, kLanes = 2, kKept = 32;

const auto *const secret =
    reinterpret_cast<const unsigned char *>("thirty-two bytes that are random");

struct Message {
    uint32_t to;
    std::string head, body;
};

// A lane below: what is sent waits in `out`.
struct Below {
    hwmc_lane base;
    std::deque<Message> out;
    std::vector<uint64_t> pinned;
    bool open = true;
};

Below *below(hwmc_lane *l)
{
    return reinterpret_cast<Below *>(l);
}

int send(hwmc_lane *l, uint32_t peer, const void *head, size_t head_len, const void *body,
         size_t body_len)
{
    below(l)->out.push_back({peer, std::string((const char *) head, head_len),
                             std::string((const char *) body, body_len)});
    return HWMC_OK;
}

int send_from(hwmc_lane *l, uint32_t peer, const void *head, size_t head_len, const void *body,
              size_t body_len, uint64_t tag)
{
    below(l)->pinned.push_back(tag);
    return send(l, peer, head, head_len, body, body_len);
}

int nothing(hwmc_lane *)
{
    return 0;
}

int ready(hwmc_lane *, uint32_t)
{
    return HWMC_OK;
}

int no_fd(hwmc_lane *)
{
    return -1;
}

uint64_t never(hwmc_lane *)
{
    return UINT64_MAX;
}

void no_address(hwmc_lane *, const void **addr, size_t *len)
{
    *addr = nullptr;
    *len = 0;
}

void close_lane(hwmc_lane *l)
{
    below(l)->open = false;
}

const hwmc_lane_ops ops = {"below", no_address, ready, send,    send_from,  nothing,
                           no_fd,   nothing,    never, nothing, close_lane, close_lane};

// A process with sealed lanes, and what came by them.
struct Process {
    Process(uint32_t rank, const hwmc_lane_params *up = nullptr, uint32_t size = kHosts)
        : auth(hwmc_auth_create(rank, secret))
    {
        for (uint32_t i = 0; i < kLanes; i++) {
            hwmc_auth_lane_params params = {};

            lanes[i].base.ops = &ops;
            params.up = up ? up[i] : hwmc_lane_params{on_recv, on_lost, nullptr, on_sent, this};
            params.auth = auth;
            params.counts = &counts;
            params.size = size;
            params.rank = rank;
            params.number = (uint16_t) i;
            auth_lane[i] = hwmc_auth_lane_open(&params, &lanes[i].base);
        }
    }

    // `closes`: who has the lanes does it.
    void end(bool closes = true)
    {
        for (uint32_t i = 0; i < kLanes; i++) {
            if (closes)
                auth_lane[i]->ops->close(auth_lane[i]);
            EXPECT_FALSE(lanes[i].open);
        }
        hwmc_auth_destroy(auth);
    }

    static void on_recv(void *ctx, const void *head, size_t head_len, const void *body,
                        size_t body_len)
    {
        static_cast<Process *>(ctx)->came.push_back(std::string((const char *) head, head_len) +
                                                    "|" +
                                                    std::string((const char *) body, body_len));
    }

    static void on_lost(void *ctx, uint32_t peer)
    {
        static_cast<Process *>(ctx)->lost.push_back(peer);
    }

    static void on_sent(void *ctx, uint64_t tag)
    {
        static_cast<Process *>(ctx)->sent.push_back(tag);
    }

    void say(uint32_t to, const std::string &head, const std::string &body, uint32_t lane = 0)
    {
        EXPECT_EQ(HWMC_OK, auth_lane[lane]->ops->send(auth_lane[lane], to, head.data(), head.size(),
                                                      body.data(), body.size()));
    }

    // The next that waits on the lane.
    Message next(uint32_t lane = 0)
    {
        Message m = lanes[lane].out.front();

        lanes[lane].out.pop_front();
        return m;
    }

    void hear(const Message &m, uint32_t lane = 0)
    {
        hwmc_auth_lane_on_recv(auth_lane[lane], m.head.data(), m.head.size(), m.body.data(),
                               m.body.size());
    }

    hwmc_auth *auth;
    hwmc_auth_lane_counts counts = {};
    Below lanes[kLanes];
    hwmc_lane *auth_lane[kLanes];
    std::vector<std::string> came;
    std::vector<uint32_t> lost;
    std::vector<uint64_t> sent;
};

class Sealed : public ::testing::Test {
  protected:
    void TearDown() override
    {
        a.end();
        b.end();
    }

    Process a{0}, b{1};
};

} // namespace

TEST_F(Sealed, BringsMessagesAndWhatTheLaneBelowSays)
{
    std::string pinned = "pinned";

    a.say(1, "head", "body");
    a.say(1, "", "", 1);
    EXPECT_EQ(HWMC_OK, a.auth_lane[1]->ops->send_from(a.auth_lane[1], 1, "h", 1, pinned.data(),
                                                      pinned.size(), 77));
    b.hear(a.next());
    b.hear(a.next(1), 1);
    b.hear(a.next(1), 1);
    EXPECT_EQ((std::vector<std::string>{"head|body", "|", "h|pinned"}), b.came);
    EXPECT_EQ(0u, b.counts.forged + b.counts.replayed);
    hwmc_auth_lane_on_sent(a.auth_lane[1], a.lanes[1].pinned.at(0));
    hwmc_auth_lane_on_lost(a.auth_lane[0], 1);
    EXPECT_EQ(std::vector<uint64_t>{77}, a.sent);
    EXPECT_EQ(std::vector<uint32_t>{1}, a.lost);
    EXPECT_STREQ("below", a.auth_lane[0]->ops->name);
}

TEST_F(Sealed, WhatIsChangedCutOrMovedIsDropped)
{
    uint64_t tries = 0;

    a.say(1, "head", "body");
    Message m = a.next();
    for (std::string Message::*part : {&Message::head, &Message::body})
        for (size_t bit = 0; bit < 8 * (m.*part).size(); bit++, tries++) {
            Message bad = m;

            (bad.*part)[bit / 8] = (char) ((bad.*part)[bit / 8] ^ 1 << bit % 8);
            b.hear(bad);
        }
    for (size_t len = 0; len < m.head.size(); len++, tries++)
        b.hear({1, m.head.substr(0, len), m.body});
    for (size_t len = 0; len < m.body.size(); len++, tries++)
        b.hear({1, m.head, m.body.substr(0, len)});
    for (size_t n = 1; n <= 4; n++, tries += 2) { // the same bytes, but the head ends elsewhere
        b.hear({1, m.head + m.body.substr(0, n), m.body.substr(n)});
        b.hear({1, m.head.substr(0, m.head.size() - n), m.head.substr(m.head.size() - n) + m.body});
    }
    b.hear({1, m.head + std::string(1000, 'x'), m.body});
    EXPECT_EQ(tries + 1, b.counts.forged);
    EXPECT_TRUE(b.came.empty());
    b.hear(m);
    EXPECT_EQ(1u, b.came.size());
}

TEST_F(Sealed, AMessageIsGoodOnItsLaneAndForItsReceiverAlone)
{
    a.say(1, "head", "body");
    Message m = a.next();
    b.hear(m, 1);
    a.hear(m);
    EXPECT_EQ(1u, b.counts.forged);
    EXPECT_EQ(1u, a.counts.forged);
    b.hear(m);
    EXPECT_EQ(1u, b.came.size());
}

TEST_F(Sealed, WhoIsNotOfTheJobIsNobody)
{
    Process outside(kHosts, nullptr, kHosts + 1);

    outside.say(1, "head", "body");
    b.hear(outside.next());
    EXPECT_EQ(1u, b.counts.forged);
    outside.end();
}

TEST_F(Sealed, WhatCameBeforeDoesNotComeAgain)
{
    std::vector<Message> all;

    for (int i = 0; i < 100; i++) {
        a.say(1, "", std::to_string(i));
        all.push_back(a.next());
        b.hear(all.back());
        for (const Message &m : all)
            b.hear(m);
    }
    EXPECT_EQ(100u, b.came.size());
    EXPECT_EQ(100u * 101 / 2, b.counts.replayed);
}

TEST_F(Sealed, ALateMessageIsTakenIfFewOvertookIt)
{
    std::vector<Message> all;

    for (uint32_t i = 0; i <= kKept + 1; i++) {
        a.say(1, "", std::to_string(i));
        all.push_back(a.next());
        a.say(0, "", "another's"); // numbers go by process, not by lane
        a.next();
    }
    for (uint32_t i = 2; i <= kKept; i++)
        b.hear(all[i]);
    b.hear(all[1]);
    EXPECT_EQ("|1", b.came.back());
    b.hear(all[0]); // as many as are kept came behind it
    EXPECT_EQ(1u, b.counts.replayed);
    b.hear(all[kKept + 1]);
    EXPECT_EQ(kKept + 1, b.came.size());
}

// Each of the messages that a stranger repeats and a lane brings out of order is taken once.
TEST_F(Sealed, OutOfOrderAndRepeatedEachIsTakenOnce)
{
    std::minstd_rand r(1);
    std::vector<Message> window;
    uint32_t said = 0;
    uint64_t repeated = 0;

    while (said < 5000 || !window.empty()) {
        if (said < 5000 && window.size() < kKept / 2) {
            a.say(1, "", std::to_string(said++));
            window.push_back(a.next());
            continue;
        }
        size_t at = r() % 4 == 0 ? r() % window.size() : 0;
        b.hear(window[at]);
        if (r() % 3 == 0) {
            b.hear(window[at]);
            repeated++;
        }
        window.erase(window.begin() + (std::ptrdiff_t) at);
        if (r() % 8 == 0) // none is overtaken by more than are kept
            while (!window.empty()) {
                b.hear(window.back());
                window.pop_back();
            }
    }
    EXPECT_EQ(5000u, b.came.size());
    EXPECT_EQ(repeated, b.counts.replayed);
}

// Sessions.

namespace {

struct Linked {
    explicit Linked(uint32_t rank)
        : sessions(hwmc_sessions_create(rank, kHosts, &counts)),
          process(rank, ports(sessions).data())
    {
        const hwmc_sessions_upper upper = {on_recv, nullptr, this};
        hwmc_session_cfg cfg = {};

        cfg.lanes = kLanes;
        cfg.streams = 2;
        cfg.suspect_ns = cfg.grace_ns = UINT64_C(1000000000000);
        for (uint8_t s = 0; s < 2; s++)
            for (uint8_t k = 0; k < HWMC_SESSION_LANES_MAX; k++)
                cfg.prefers[s][k] =
                    k < kLanes ? (uint8_t) ((s + k) % kLanes) : HWMC_SESSION_NO_LANE;
        hwmc_sessions_open(sessions, &cfg, process.auth_lane);
        hwmc_sessions_use(sessions, 0, &upper);
        hwmc_sessions_use(sessions, 1, &upper);
    }

    static std::vector<hwmc_lane_params> ports(hwmc_sessions *sessions)
    {
        std::vector<hwmc_lane_params> up;

        for (uint32_t i = 0; i < kLanes; i++)
            up.push_back(hwmc_sessions_params(hwmc_sessions_port(sessions, i)));
        return up;
    }

    static void on_recv(void *ctx, uint32_t, const void *head, size_t head_len, const void *body,
                        size_t body_len)
    {
        static_cast<Linked *>(ctx)->came.push_back(std::string((const char *) head, head_len) +
                                                   std::string((const char *) body, body_len));
    }

    hwmc_session_counts counts = {};
    hwmc_sessions *sessions;
    Process process;
    std::vector<std::string> came;
};

} // namespace

TEST(SealedLinks, AStrangerWhoRepeatsAndChangesEverythingChangesNothing)
{
    std::unique_ptr<Linked> hosts[kHosts] = {std::make_unique<Linked>(0),
                                             std::make_unique<Linked>(1)};
    std::vector<Message> seen;
    std::minstd_rand r(3);
    uint64_t changed = 0;
    bool quiet = false;

    for (int i = 0; i < 300 || !quiet; i++) {
        if (i < 300)
            for (uint32_t h = 0; h < kHosts; h++) {
                std::string text = std::to_string(i);

                ASSERT_EQ(HWMC_OK, hwmc_sessions_send(hosts[h]->sessions, 0, 1 - h, "", 0,
                                                      text.data(), text.size(), nullptr));
            }
        quiet = true;
        for (uint32_t h = 0; h < kHosts; h++) {
            for (uint32_t lane = 0; lane < kLanes; lane++)
                while (!hosts[h]->process.lanes[lane].out.empty()) {
                    Message m = hosts[h]->process.next(lane), bad = m;

                    quiet = false;
                    seen.push_back(m);
                    bad.head[r() % bad.head.size()] ^= 1;
                    changed++;
                    hosts[m.to]->process.hear(bad, lane);
                    hosts[m.to]->process.hear(m, lane);
                }
            hwmc_sessions_poll(hosts[h]->sessions);
            quiet = quiet && hwmc_sessions_flush(hosts[h]->sessions) == HWMC_OK;
        }
        for (int k = 0; !seen.empty() && k < 5; k++)
            for (auto &host : hosts)
                for (uint32_t lane = 0; lane < kLanes; lane++)
                    host->process.hear(seen[r() % seen.size()], lane);
    }
    for (auto &host : hosts) {
        ASSERT_EQ(300u, host->came.size());
        for (int i = 0; i < 300; i++)
            EXPECT_EQ(std::to_string(i), host->came[(size_t) i]);
        EXPECT_EQ(0u, host->counts.repeats + host->counts.gaps + host->counts.moves);
        EXPECT_GT(host->process.counts.replayed, 300u);
        EXPECT_GT(host->process.counts.forged, changed / 2);
    }
    for (auto &host : hosts) {
        hwmc_sessions_close(host->sessions);
        host->process.end(false);
    }
}
