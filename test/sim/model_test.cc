// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// model: time is in order; a message costs what network.h says; chance is a function of the seed.
#include <algorithm>
#include <tuple>

#include "../unit/sim_rng.h"
#include "run_one.h"
#include "shares.h"

using namespace sim;

namespace {

// What comes when: by rank, rail, ref.
struct Listener : Actor {
    std::vector<std::tuple<uint64_t, uint32_t, uint32_t>> came; // at, rank, ref
    std::vector<std::tuple<uint64_t, uint32_t>> gone;           // at, token
    std::vector<uint32_t> released;
    uint64_t now = 0;

    Listener() : Actor(0, &now)
    {
    }
    void call(uint32_t) override
    {
    }
    void deliver(uint32_t rank, uint32_t, uint32_t ref) override
    {
        came.emplace_back(now, rank, ref);
    }
    void sent(uint32_t, uint32_t, uint32_t token) override
    {
        gone.emplace_back(now, token);
    }
    void release(uint32_t ref) override
    {
        released.push_back(ref);
    }
    size_t rank_bytes() const override
    {
        return 0;
    }
};

struct Model : testing::Test {
    Options o;
    EventQueue queue;
    Listener listener;

    // All that the events lead to.
    void play(Network *network)
    {
        while (!queue.empty()) {
            Event e = queue.pop();

            listener.now = e.at;
            if (e.kind == Kind::HEAD)
                network->on_head(e);
            else if (e.kind == Kind::DELIVER)
                listener.deliver(e.rank, e.rail, e.ref);
            else if (e.kind == Kind::SENT)
                listener.sent(e.rank, e.rail, e.ref);
            else if (e.kind == Kind::CAST_HEAD)
                network->on_cast_head(e);
            else if (e.kind == Kind::CAST_DELIVER)
                network->on_cast_deliver(e, &listener);
            else if (e.kind == Kind::CAST_ONE)
                network->on_cast_one(e, &listener);
        }
    }
};

using Came = std::tuple<uint64_t, uint32_t, uint32_t>;
using Gone = std::tuple<uint64_t, uint32_t>;

TEST(EventQueue, IsInTheOrderOfTimeThenOfPush)
{
    Rng rng(7);
    EventQueue queue;
    std::vector<std::pair<uint64_t, uint32_t>> waiting;
    uint64_t now = 0;

    for (uint32_t i = 0; i < 20000; i++) {
        for (uint64_t n = rng.below(3); n > 0; n--) {
            uint64_t at = now + (rng.chance(300000) ? 0 : rng.below(1u << rng.below(30)));

            queue.push({at, 0, i, 0, Kind::CALL, 0});
            waiting.emplace_back(at, i);
        }
        if (queue.empty())
            continue;
        auto first = std::min_element(waiting.begin(), waiting.end(),
                                      [](auto &a, auto &b) { return a.first < b.first; });
        Event e = queue.pop();

        ASSERT_EQ(std::make_pair(e.at, e.ref), *first);
        now = e.at;
        waiting.erase(first);
        ASSERT_EQ(queue.size(), waiting.size());
    }
}

TEST_F(Model, AMessageCostsAsInTheExample)
{
    Network network(o, &queue);

    network.send(0, 0, 1, 0, 1472, 5, true, 6);
    play(&network);
    EXPECT_EQ(listener.came, (std::vector<Came>{{34304, 1, 5}}));
    EXPECT_EQ(listener.gone, (std::vector<Gone>{{13304, 6}}));
    EXPECT_EQ(network.traffic().bytes, 1538u);
    EXPECT_EQ(network.wire_bytes(0), 66u);
    EXPECT_EQ(network.wire_bytes(1473), 1473u + 132);
}

TEST_F(Model, LinksCarryOneMessageAtATimeInEachDirection)
{
    o.overhead = 0;
    o.host_ns = 0;
    o.mbit = {1000, 1000};
    Network network(o, &queue);

    network.send(0, 1, 0, 0, 1000, 1); // 8 us on the wire
    network.send(0, 2, 0, 0, 1000, 2); // waits at the receiver
    network.send(0, 2, 0, 1, 1000, 3); // another rail
    network.send(0, 0, 2, 0, 1000, 4); // another direction
    network.send(0, 0, 3, 0, 1000, 5); // waits at the sender
    EXPECT_EQ(network.queued(0, 0, 0), 2000u);
    EXPECT_EQ(network.queued(0, 0, 9000), 875u);
    EXPECT_EQ(network.drained(0, 0, 500), 12000u);
    play(&network);
    std::sort(listener.came.begin(), listener.came.end());
    EXPECT_EQ(listener.came,
              (std::vector<Came>{
                  {28000, 0, 1}, {28000, 0, 3}, {28000, 2, 4}, {36000, 0, 2}, {36000, 3, 5}}));
}

TEST_F(Model, AMulticastIsSentOnceAndWaitsOnlyWhereALinkIsBusy)
{
    o.overhead = 0;
    o.host_ns = 0;
    o.ranks = 4;
    Network network(o, &queue);

    network.send(0, 1, 2, 0, 1000, 1);
    network.cast(0, 0, 0, 1000, 2);
    EXPECT_EQ(network.queued(0, 0, 0), 1000u);
    play(&network);
    std::sort(listener.came.begin(), listener.came.end());
    EXPECT_EQ(listener.came,
              (std::vector<Came>{{28000, 1, 2}, {28000, 2, 1}, {28000, 3, 2}, {36000, 2, 2}}));
    EXPECT_EQ(listener.released, std::vector<uint32_t>{2});
}

TEST_F(Model, SitesAreBlocksAndFarFromEachOther)
{
    o.overhead = 0;
    o.host_ns = 0;
    o.ranks = 7;
    o.sites = 3;
    o.site_latency_ns = 1000000;
    o.site_connection_mbit = 100;
    Network network(o, &queue);

    for (uint32_t site = 0; site < o.sites; site++)
        for (uint32_t r = network.site_first(site); r < network.site_first(site + 1); r++)
            EXPECT_EQ(network.site_of(r), site);
    EXPECT_EQ(network.site_first(3), 7u);

    network.send(0, 0, 1, 0, 1000, 1); // the same site
    network.send(0, 0, 6, 0, 1000, 2); // 80 us through the connection
    network.send(0, 0, 6, 0, 1000, 3); // after it
    network.send(0, 0, 5, 0, 1000, 4); // another connection: the link alone
    play(&network);
    EXPECT_EQ(
        listener.came,
        (std::vector<Came>{{28000, 1, 1}, {1088000, 6, 2}, {1104000, 5, 4}, {1168000, 6, 3}}));
    EXPECT_EQ(network.traffic().site_bytes, 3000u);

    listener.came.clear();
    network.cast(2000000, 0, 0, 1000, 9);
    play(&network);
    EXPECT_EQ(listener.came.size(), 6u);
    EXPECT_EQ(listener.came.front(), Came(2028000, 1, 9));
    EXPECT_EQ(std::get<0>(listener.came.back()), 3008000u);
}

TEST_F(Model, LosesAsManyAsItSaysTheSameForASeed)
{
    std::vector<Came> first;
    o.ranks = 1000;
    o.loss_ppm = 100000;
    for (uint64_t seed : {1, 1, 2}) {
        EventQueue again;
        o.seed = seed;
        queue = again;
        listener.came.clear();
        Network network(o, &queue);

        for (uint32_t i = 0; i < 100; i++)
            network.cast(0, 0, 0, 1000, i);
        play(&network);
        EXPECT_EQ(network.traffic().lost + listener.came.size(), 99900u);
        EXPECT_NEAR((double) network.traffic().lost, 9990, 300);
        if (first.empty())
            first = listener.came;
        EXPECT_EQ(first == listener.came, seed == 1);
    }
}

TEST(Shares, AddUpAndFollowTheRates)
{
    Options o;

    o.mbit = {100, 25, 1000};
    for (uint64_t bytes : {0, 1, 2, 1000, 8192, 123457}) {
        EXPECT_EQ(share(o, bytes, 0) + share(o, bytes, 1) + share(o, bytes, 2), bytes);
        EXPECT_NEAR((double) share(o, bytes, 0), (double) bytes * 100 / 1125, 1);
        EXPECT_NEAR((double) share(o, bytes, 1), (double) bytes * 25 / 1125, 1);
    }
}

} // namespace
