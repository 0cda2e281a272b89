// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// The fixture, and a main that starts the emulated HCA.
#include "lane_rc.h"

#include <chrono>

int main(int argc, char **argv)
{
    emulate_hca(argv);
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}

static void on_recv(void *ctx, const void *head, size_t head_len, const void *body, size_t body_len)
{
    LaneRc::End *e = static_cast<LaneRc::End *>(ctx);

    e->came.emplace_back(std::string(static_cast<const char *>(head), head_len),
                         std::string(static_cast<const char *>(body), body_len));
    if (e->on_recv)
        e->on_recv(e->came.back().first, e->came.back().second);
}

static void on_lost(void *ctx, uint32_t peer)
{
    static_cast<LaneRc::End *>(ctx)->lost.push_back(peer);
}

static void on_sent(void *ctx, uint64_t tag)
{
    static_cast<LaneRc::End *>(ctx)->sent.push_back(tag);
}

static int on_tell(void *ctx, uint32_t peer, const void *msg, size_t len)
{
    LaneRc::End *e = static_cast<LaneRc::End *>(ctx);
    LaneRc::Told t = {e->rank, peer, std::string(static_cast<const char *>(msg), len)};

    if (e->test->cannot_tell)
        return HWMC_ERR_PEER;
    if (!e->test->on_tell || e->test->on_tell(t))
        e->test->told.push_back(t);
    return HWMC_OK;
}

void LaneRc::SetUp()
{
    if (!no_hca.empty())
        GTEST_SKIP() << no_hca;
}

void LaneRc::TearDown()
{
    for (auto &e : ends)
        if (e->lane)
            e->lane->ops->close(e->lane);
}

void LaneRc::open(uint32_t n, bool apm, uint8_t timeout, uint32_t max_peers)
{
    for (uint32_t i = 0; i < n; i++) {
        hwmc_rail rail = {};
        hwmc_lane_rc_params p = {};

        ends.push_back(std::make_unique<End>());
        ends[i]->test = this;
        ends[i]->rank = i;
        rail.addr = hwmc_addr_ipv4(0x0a4d0001u);
        rail.prefix = 24;
        p.counts = &ends[i]->counts;
        p.lane.recv = ::on_recv;
        p.lane.lost = on_lost;
        p.lane.sent = on_sent;
        p.lane.ctx = ends[i].get();
        p.size = n;
        p.rank = i;
        p.max_peers = max_peers;
        p.rail = &rail;
        p.timeout = timeout;
        p.apm = apm;
        p.tell = ::on_tell;
        ASSERT_EQ(HWMC_OK, hwmc_lane_rc_open(&p, &ends[i]->lane));
    }
}

void LaneRc::poll()
{
    while (!told.empty()) {
        Told t = told.front();

        told.pop_front();
        hwmc_lane_rc_hear(ends[t.to]->lane, t.from, t.bytes.data(), t.bytes.size());
    }
    for (auto &e : ends)
        e->lane->ops->poll(e->lane);
}

bool LaneRc::poll_until(const std::function<bool()> &done)
{
    auto until = std::chrono::steady_clock::now() + std::chrono::seconds(SECONDS_MAX);

    while (!done() && std::chrono::steady_clock::now() < until) {
        poll();
        sched_yield();
    }
    return done();
}

bool LaneRc::flush()
{
    return poll_until([&] {
        bool all = true;
        for (auto &e : ends)
            all = e->lane->ops->flush(e->lane) == HWMC_OK && all;
        return all;
    });
}

int LaneRc::ready(uint32_t from, uint32_t to)
{
    return ends[from]->lane->ops->ready(ends[from]->lane, to);
}

bool LaneRc::connect(uint32_t from, uint32_t to)
{
    return poll_until([&] { return ready(from, to) == HWMC_OK; });
}

int LaneRc::send(uint32_t from, uint32_t to, const std::string &head, const std::string &body)
{
    hwmc_lane *l = ends[from]->lane;

    return l->ops->send(l, to, head.data(), head.size(), body.data(), body.size());
}

int LaneRc::send_from(uint32_t from, uint32_t to, const std::string &head, const std::string &body,
                      uint64_t tag)
{
    hwmc_lane *l = ends[from]->lane;

    return l->ops->send_from(l, to, head.data(), head.size(), body.data(), body.size(), tag);
}

const struct hwmc_lane_rc_counts &LaneRc::counts(uint32_t rank)
{
    return ends[rank]->counts;
}

ibv_mig_state LaneRc::path(uint32_t from, uint32_t to, uint8_t *port)
{
    ibv_mig_state state = IBV_MIG_MIGRATED;

    *port = 0;
    hwmc_lane_rc_path(ends[from]->lane, to, &state, port);
    return state;
}

// Messages pass both ways until both ends have their alternate path loaded.
bool LaneRc::armed(uint32_t a, uint32_t b)
{
    uint8_t port;

    return poll_until([&] {
        send(a, b, "arm");
        send(b, a, "arm");
        return path(a, b, &port) == IBV_MIG_ARMED && path(b, a, &port) == IBV_MIG_ARMED;
    });
}
