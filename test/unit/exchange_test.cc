// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// exchange: blocks between members that begin and take them at any time.
#include <stdlib.h>

#include "any_msg.h"
#include "exchange_net.h"

extern "C" {
#include "core/model/reduce_way.h"
}

namespace {

using exchange::Bytes;
using exchange::Net;
using exchange::Place;

uint64_t seeds(uint64_t n)
{
    const char *many = getenv("HWMC_SIM_SEEDS");

    return many ? strtoull(many, nullptr, 0) : n;
}

// A block of one exchange, as all know it.
struct Block {
    uint32_t from, to, port, bytes;
};

struct Plan {
    uint32_t part;
    uint32_t budget;
    std::vector<Block> blocks;
};

Plan draw_plan(sim::Rng &rng, uint32_t p)
{
    // Parts of fewer bytes than eager blocks may have, too.
    Plan plan = {(uint32_t) (3 + rng.below(45)), (uint32_t) rng.below(1000), {}};

    for (uint32_t from = 0; from < p; from++)
        for (uint32_t to = 0; to < p; to++)
            for (uint32_t port = 0; port < 2; port++)
                if (from != to && rng.below(3) == 0)
                    plan.blocks.push_back(
                        {from, to, port,
                         (uint32_t) (rng.below(2) ? rng.below(9) : rng.below(30) * plan.part)});
    return plan;
}

unsigned char byte_of(uint64_t exchange, const Block &b, uint32_t at)
{
    return (unsigned char) (exchange * 31 + b.from * 7 + b.to * 3 + b.port + at);
}

// One member's way through a row of exchanges.
struct Walker {
    uint32_t next = 0; // exchange to begin
    bool running = false;
    std::vector<Bytes> in, out;
    std::vector<Block> in_blocks;
    std::vector<uint32_t> checked; // parts of each incoming block

    void begin(Net &net, uint32_t r, const Plan &plan)
    {
        exchange::Member &m = net.members[r];

        m.in.clear();
        m.out.clear();
        m.in_place.clear();
        m.out_place.clear();
        in.clear();
        out.clear();
        in_blocks.clear();
        checked.clear();
        for (const Block &b : plan.blocks) {
            const uint32_t parts = hwmc_exchange_parts(b.bytes, plan.part);

            if (b.to == r) {
                hwmc_block_in x = {};
                // Memory for a few parts, or for all.
                const uint32_t ring = net.rng.below(2) ? 1 + (uint32_t) net.rng.below(5) : parts;

                x.peer = b.from;
                x.port = (uint8_t) b.port;
                x.bytes = b.bytes;
                x.window = std::min(ring, HWMC_EXCHANGE_WINDOW);
                m.in.push_back(x);
                in.emplace_back(std::max(ring * plan.part, b.bytes) + 1);
                in_blocks.push_back(b);
                checked.push_back(0);
                m.in_place.push_back({in.back().data(), plan.part, ring});
            }
            if (b.from == r) {
                hwmc_block_out x = {};

                x.peer = b.to;
                x.port = (uint8_t) b.port;
                x.bytes = b.bytes;
                m.out.push_back(x);
                out.emplace_back(b.bytes + 1);
                for (uint32_t i = 0; i < b.bytes; i++)
                    out.back()[i] = byte_of(next, b, i);
                m.out_place.push_back({out.back().data(), plan.part, UINT32_MAX});
            }
        }
        running = true;
        net.begin(r, plan.part, plan.budget);
    }

    // Takes a part, or lets some be sent, or goes on to the next exchange.
    void step(Net &net, uint32_t r, const Plan &plan)
    {
        exchange::Member &m = net.members[r];

        for (uint32_t i = 0; i < m.out.size(); i++) {
            const uint32_t parts = hwmc_exchange_parts(m.out[i].bytes, plan.part);

            if (m.out[i].ready < parts && net.rng.below(2))
                hwmc_exchange_ready(&m.x, i, m.out[i].ready + 1);
        }
        for (uint32_t i = 0; i < m.in.size(); i++) {
            const Place &p = m.in_place[i];

            if (checked[i] == m.in[i].have || net.rng.below(2))
                continue;
            const uint32_t len = hwmc_exchange_part_len(m.in[i].bytes, plan.part, checked[i]);

            for (uint32_t at = 0; at < len; at++)
                ASSERT_EQ(byte_of(next, in_blocks[i], checked[i] * plan.part + at),
                          p.bytes[checked[i] % p.ring * p.stride + at]);
            hwmc_exchange_take(&m.x, i, ++checked[i]);
        }
        net.now += HWMC_EXCHANGE_ANNOUNCE_NS / 20;
        hwmc_exchange_on_timer(&m.x, net.now);
        net.pump(r);
        if (hwmc_exchange_over(&m.x)) {
            running = false;
            next++;
        }
    }
};

void walk(uint64_t seed, uint32_t eager, uint32_t spread = UINT32_MAX)
{
    sim::Rng rng(seed);
    const uint32_t p = 2 + (uint32_t) rng.below(6);
    Net net(p, eager, seed + 1, 2, spread);
    std::vector<Plan> plans;
    std::vector<Walker> walkers(p);
    uint32_t done = 0;

    for (int i = 0; i < 25; i++)
        plans.push_back(draw_plan(rng, p));
    for (int step = 0; done < p; step++) {
        const uint32_t r = (uint32_t) rng.below(p);
        Walker &w = walkers[r];

        ASSERT_LT(step, 1000000) << "seed " << seed;
        if (rng.below(2)) {
            net.deliver();
            continue;
        }
        if (w.next == plans.size())
            continue;
        if (w.running)
            w.step(net, r, plans[w.next]);
        else
            w.begin(net, r, plans[w.next]);
        if (::testing::Test::HasFatalFailure())
            return;
        done += w.next == plans.size();
    }
    while (net.deliver())
        ;
    EXPECT_EQ(0u, net.bad()) << "seed " << seed;
    for (auto &m : net.members) {
        EXPECT_TRUE(m.kept.empty()) << "seed " << seed;
        EXPECT_FALSE(m.x.failed || m.x.astray) << "seed " << seed;
        EXPECT_LE(m.most_kept, (p - 1) * (HWMC_EXCHANGE_CREDIT + HWMC_EXCHANGE_KEPT));
    }
}

TEST(Exchange, BlocksComeWhoeverIsAheadOrBehind)
{
    for (uint64_t seed = 0; seed < seeds(100); seed++) {
        walk(seed, 8);
        if (HasFatalFailure())
            return;
    }
}

TEST(Exchange, EagerBlocksMayComeByAnyLane)
{
    for (uint64_t seed = 0; seed < seeds(50); seed++) {
        walk(seed + 2000000, 8, 4);
        if (HasFatalFailure())
            return;
    }
}

// Of eager blocks from all to all, and from all to one, each lane has half, at either end.
TEST(Exchange, EagerBlocksGoByAllLanes)
{
    for (const bool to_one : {false, true}) {
        const uint32_t p = 8;
        Net net(p, 8, 1, 2, 4);
        std::vector<std::vector<uint32_t>> sent(p, {0, 0}), got(p, {0, 0});
        unsigned char byte = 0;

        for (uint32_t r = 0; r < p; r++) {
            auto &m = net.members[r];
            hwmc_msg tx;

            for (uint32_t n = 1; n < p; n++) {
                const uint32_t peer = (r + n) % p;

                if (to_one && (r == 0 || peer != 0))
                    continue;
                m.out.push_back({});
                m.out.back().peer = peer;
                m.out.back().bytes = 6;
                m.out.back().ready = 1;
                m.out_place.push_back({&byte, 0, 1});
            }
            hwmc_exchange_begin(&m.x, nullptr, 0, m.out.data(), (uint32_t) m.out.size(), 8, 8, 0);
            while (hwmc_exchange_next_send(&m.x, &tx)) {
                sent[r][tx.block.lane]++;
                got[tx.peer][tx.block.lane]++;
                EXPECT_FALSE(hwmc_exchange_over(&m.x)); // it lies there until a lane is through
                hwmc_exchange_on_sent(&m.x, tx.block.token);
            }
            EXPECT_TRUE(hwmc_exchange_over(&m.x));
        }
        for (uint32_t r = 0; r < p; r++) {
            const uint32_t all = to_one ? r == 0 ? 7 : 0 : 7;

            EXPECT_EQ(all, got[r][0] + got[r][1]);
            EXPECT_EQ(all / 2, std::min(got[r][0], got[r][1]));
            EXPECT_EQ(to_one ? 0u : 3u, std::min(sent[r][0], sent[r][1]));
        }
    }
}

TEST(Exchange, WithoutEagerBlocksNothingIsKeptButGrants)
{
    for (uint64_t seed = 0; seed < seeds(50); seed++) {
        walk(seed + 1000000, 0);
        if (HasFatalFailure())
            return;
    }
}

// Of more members that send to one at once each may send less.
TEST(Exchange, AnEagerBlockIsShorterWhereMoreMaySendOne)
{
    EXPECT_EQ(32768u, hwmc_eager_bytes(2));
    EXPECT_EQ(32768u, hwmc_eager_bytes(8));
    EXPECT_EQ(16384u, hwmc_eager_bytes(9));
    EXPECT_EQ(16384u, hwmc_eager_bytes(16));
    EXPECT_EQ(8192u, hwmc_eager_bytes(17));
    EXPECT_EQ(4096u, hwmc_eager_bytes(64));
    EXPECT_EQ(4096u, hwmc_eager_bytes(UINT32_MAX));
}

// One that comes again when its exchange is over counts for nothing. Without what says that it was
// asked for it would be an eager one, that the peer had credit for.
TEST(Exchange, APartOfALongBlockIsNotTakenForAnEagerOne)
{
    const uint32_t part = 3, bytes = 6; // fewer than 8: two parts, so it is long
    Net net(2, 8, 1);
    Bytes out(bytes, 1), in(bytes);
    hwmc_msg again = {};
    uint32_t at;

    net.lay_block(1, 0, 0, out, in, part);
    net.begin(1, part, 1);
    EXPECT_TRUE(net.idle()) << "it waits for a grant";
    net.begin(0, part, 1);
    while (net.deliver())
        ;
    hwmc_exchange_take(&net.members[0].x, 0, 2);
    net.pump(0);
    ASSERT_TRUE(hwmc_exchange_over(&net.members[0].x) && hwmc_exchange_over(&net.members[1].x));
    EXPECT_EQ(out, in);

    hwmc_exchange *x = &net.members[0].x;
    const auto came = [&] {
        uint32_t n = 0;

        for (uint32_t l = 0; l < x->cfg.links; l++)
            n += x->links[l].peer != 0 ? x->links[l].came : 0;
        return n;
    };
    again.type = HWMC_MSG_BLOCK;
    again.peer = 1;
    again.block.bytes = bytes;
    again.flags = HWMC_FLAG_GRANTED;
    EXPECT_EQ(HWMC_STALE, hwmc_exchange_on_block(x, &again, false, &at));
    EXPECT_EQ(0u, came());
    again.flags = 0;
    EXPECT_EQ(HWMC_STALE, hwmc_exchange_on_block(x, &again, false, &at));
    EXPECT_EQ(1u, came());
    // Of an exchange to come: nobody has asked for it.
    again.bid = 1;
    again.flags = HWMC_FLAG_GRANTED;
    EXPECT_EQ(HWMC_BAD, hwmc_exchange_on_block(x, &again, false, &at));
    // What neither says so nor is short enough.
    again.flags = 0;
    again.block.bytes = 9;
    EXPECT_EQ(HWMC_BAD, hwmc_exchange_on_block(x, &again, false, &at));
}

// A short block from each of the others to member 0, again and again. Returns how many credits
// were sent. `settles`: after each exchange all know that it is over.
uint64_t star(uint32_t exchanges, bool settles)
{
    const uint32_t p = 4;
    Net net(p, 8, 1);
    Bytes out(8, 1), in(8 * p);

    for (uint32_t n = 0; n < exchanges; n++) {
        for (uint32_t r = 1; r < p; r++) {
            hwmc_block_in i = {};
            hwmc_block_out o = {};

            i.peer = r;
            o.peer = 0;
            i.bytes = o.bytes = 8;
            i.window = o.ready = 1;
            net.members[r].out = {o};
            net.members[r].out_place = {{out.data(), 8, 1}};
            net.members[0].in.resize(r);
            net.members[0].in[r - 1] = i;
            net.members[0].in_place.resize(r);
            net.members[0].in_place[r - 1] = {in.data() + 8 * r, 8, 1};
        }
        for (uint32_t r = 0; r < p; r++)
            net.begin(r, 8, 1);
        while (net.deliver())
            ;
        for (uint32_t i = 0; i + 1 < p; i++)
            hwmc_exchange_take(&net.members[0].x, i, 1);
        net.pump(0);
        for (auto &m : net.members) {
            EXPECT_TRUE(hwmc_exchange_over(&m.x)) << n;
            if (settles)
                hwmc_exchange_settle(&m.x);
            hwmc_exchange_check(&m.x);
        }
    }
    EXPECT_EQ(0u, net.bad());
    return net.credits;
}

TEST(Exchange, NeedsNoCreditWhereAllLearnThatItIsOver)
{
    EXPECT_EQ(0u, star(100, true));
    EXPECT_EQ(3u * 100 / (HWMC_EXCHANGE_CREDIT / 2), star(100, false));
}

// It was sent before the receiver settled.
TEST(Exchange, ACreditThatIsLateTakesNothingBack)
{
    Net net(2, 8, 1);
    hwmc_msg msg = {};
    auto credit = [&](uint32_t index) {
        msg.type = HWMC_MSG_BLOCK_CREDIT;
        msg.peer = 1;
        msg.block.index = index;
        return hwmc_exchange_on_credit(&net.members[0].x, &msg);
    };

    EXPECT_EQ(HWMC_TAKEN, credit(0));
    for (auto &l : net.members[0].links) {
        if (l.peer != 2)
            continue;
        l.sent = 20;
        l.credit = 25;
        for (uint32_t index : {12u, 22u, 25u, 20 + HWMC_EXCHANGE_CREDIT}) {
            EXPECT_EQ(HWMC_TAKEN, credit(index));
            EXPECT_EQ(std::max(25u, index), l.credit);
        }
    }
    EXPECT_EQ(HWMC_BAD, credit(20 + HWMC_EXCHANGE_CREDIT + 1));
}

// One sends to the other as often as it may; that one has not begun.
TEST(Exchange, ASenderThatRunsAheadIsHeldByCredit)
{
    Net net(2, 8, 1);
    Bytes out(8, 1), in(8);
    uint32_t sent = 0;

    auto send = [&] {
        hwmc_block_out b = {};

        b.peer = 1;
        b.bytes = 8;
        b.ready = 1;
        net.members[0].out = {b};
        net.members[0].out_place = {{out.data(), 8, 1}};
        net.begin(0, 8, 1);
    };
    for (; sent < 100 && hwmc_exchange_over(&net.members[0].x); sent++)
        send();
    EXPECT_EQ(HWMC_EXCHANGE_CREDIT + 1, sent);
    while (net.deliver())
        ;
    EXPECT_EQ(HWMC_EXCHANGE_CREDIT, net.members[1].kept.size());
    for (uint32_t i = 0; i < 3 * HWMC_EXCHANGE_CREDIT; i++) {
        hwmc_block_in b = {};

        b.bytes = 8;
        b.window = 1;
        net.members[1].in = {b};
        net.members[1].in_place = {{in.data(), 8, 1}};
        net.begin(1, 8, 1);
        hwmc_exchange_take(&net.members[1].x, 0, 1);
        net.pump(1);
        ASSERT_TRUE(hwmc_exchange_over(&net.members[1].x)) << i;
        while (net.deliver())
            ;
        if (hwmc_exchange_over(&net.members[0].x))
            send();
        while (net.deliver())
            ;
    }
    EXPECT_EQ(0u, net.bad());
}

// Of `p` blocks of 40 bytes to one member only so many are on the way at a time.
TEST(Exchange, TheReceiverPaces)
{
    const uint32_t p = 6, parts = 4;

    for (uint32_t active : {1u, 2u, 5u}) {
        Net net(p, 0, active);
        const uint64_t budget = 40 * active + 39;
        std::vector<Bytes> out(p, Bytes(parts * 10)), in(p, Bytes(parts * 10));

        for (uint32_t r = 1; r < p; r++) {
            hwmc_block_out o = {};
            hwmc_block_in i = {};

            o.bytes = i.bytes = parts * 10;
            o.ready = parts;
            i.peer = r;
            i.window = parts;
            net.members[0].in.push_back(i);
            net.members[0].in_place.push_back({in[r].data(), 10, parts});
            net.members[r].out = {o};
            net.members[r].out_place = {{out[r].data(), 10, parts}};
            net.begin(r, 10, 1);
        }
        net.begin(0, 10, budget);
        while (!hwmc_exchange_over(&net.members[0].x)) {
            uint32_t busy = 0;

            for (auto &b : net.members[0].in)
                busy += b.told > b.have;
            ASSERT_LE(busy, active);
            ASSERT_TRUE(net.deliver() || busy == 0);
            for (uint32_t i = 0; i < p - 1; i++)
                hwmc_exchange_take(&net.members[0].x, i, net.members[0].in[i].have);
            net.pump(0);
        }
    }
}

// The blocks of a reduction up a binary tree to member 0, or of all to all in another plan, of so
// many bytes.
Plan tree_plan(uint32_t p, uint32_t bytes)
{
    Plan plan = {8, 20, {}};

    for (uint32_t r = 1; r < p; r++)
        plan.blocks.push_back({r, (r - 1) / 2, 0, bytes});
    return plan;
}

Plan all_plan(uint32_t p, uint32_t bytes)
{
    Plan plan = {8, 20, {}};

    for (uint32_t from = 0; from < p; from++)
        for (uint32_t to = 0; to < p; to++)
            if (from != to)
                plan.blocks.push_back({from, to, HWMC_EXCHANGE_PORTS, bytes});
    return plan;
}

// Each member of `plans` goes by its own. Until nothing moves any more; returns how many are
// astray.
uint32_t astray(const std::vector<Plan> &plans, uint64_t seed)
{
    const uint32_t p = (uint32_t) plans.size();
    Net net(p, 8, seed);
    std::vector<Walker> walkers(p);
    uint32_t num = 0;

    for (int still = 0; still < 200; still++) {
        const uint32_t r = (uint32_t) net.rng.below(p);

        if (net.deliver())
            still = 0;
        if (walkers[r].running)
            walkers[r].step(net, r, plans[r]);
        else if (walkers[r].next == 0)
            walkers[r].begin(net, r, plans[r]);
    }
    for (auto &m : net.members)
        num += m.x.astray;
    return num;
}

// Some member learns that not all go about it in the same way, whoever they are, whatever the
// lengths; where all do none says so.
TEST(Exchange, WhoGoesByAnotherPlanIsNoticed)
{
    for (uint64_t seed = 0; seed < seeds(20); seed++)
        for (uint32_t which = 0; which < 16; which++) {
            sim::Rng rng(seed);
            std::vector<Plan> plans;
            const uint32_t lengths[] = {8, 8, 40, 200};

            for (uint32_t r = 0; r < 4; r++) {
                const bool same = which == 0 || which == 15;
                const uint32_t bytes = same ? 40 : lengths[rng.below(4)];

                plans.push_back(which >> r & 1 ? tree_plan(4, bytes) : all_plan(4, bytes));
            }
            EXPECT_EQ(which != 0 && which != 15, astray(plans, seed) > 0) << seed << " " << which;
        }
}

// Member 1 thinks that the block to 2 is shorter, or that there is none of that length: both learn
// so, and whoever depends on them; later exchanges go as if nothing had been.
TEST(Exchange, LengthsThatDisagreeEndTheExchangeForAllThatDepend)
{
    for (uint64_t seed = 0; seed < seeds(200); seed++) {
        const uint32_t p = 4;
        Net net(p, 8, seed);
        Bytes buffer(400);
        std::vector<uint32_t> rounds(p, 0), failed(p, 0);
        const uint32_t bytes = seed % 2 ? 5 : 100, other = seed % 4 < 2 ? 6 : 90;

        // 3 -> 2 -> 1 -> 0; who has failed from above fails.
        auto begin = [&](uint32_t r) {
            exchange::Member &m = net.members[r];
            hwmc_block_in in = {};
            hwmc_block_out out = {};

            m.in.clear();
            m.out.clear();
            in.peer = r + 1;
            out.peer = r - 1;
            in.window = 16;
            in.bytes = rounds[r] == 1 && r == 1 ? other : bytes;
            out.bytes = bytes;
            if (r < p - 1)
                m.in = {in};
            if (r > 0)
                m.out = {out};
            m.in_place = m.out_place = {{buffer.data(), 10, 40}};
            net.begin(r, 10, 1);
        };
        for (int steps = 0; std::count(rounds.begin(), rounds.end(), 4u) < p; steps++) {
            const uint32_t r = (uint32_t) net.rng.below(p);
            exchange::Member &m = net.members[r];

            ASSERT_LT(steps, 100000) << "seed " << seed;
            if (!net.deliver())
                net.now += HWMC_EXCHANGE_ANNOUNCE_NS / 10;
            if (rounds[r] == 4)
                continue;
            hwmc_exchange_on_timer(&m.x, net.now);
            if (hwmc_exchange_over(&m.x) && m.x.next == rounds[r])
                begin(r);
            if (m.x.running && !m.out.empty() && (m.in.empty() || m.in[0].have > 0))
                hwmc_exchange_ready(&m.x, 0,
                                    m.in.empty() ? hwmc_exchange_parts(bytes, 10) : m.in[0].have);
            if (m.x.running && !m.in.empty())
                hwmc_exchange_take(&m.x, 0, m.in[0].have);
            net.pump(r);
            if (hwmc_exchange_over(&m.x) && m.x.next == rounds[r] + 1) {
                failed[r] += m.x.failed;
                rounds[r]++;
            }
        }
        EXPECT_EQ(1u, failed[0]) << "seed " << seed;
        EXPECT_EQ(1u, failed[1]) << "seed " << seed;
        EXPECT_EQ(0u, net.members[0].kept.size());
    }
}

TEST(Exchange, GivenUpItEndsOnceTheLanesAreThrough)
{
    Net net(2, 0, 1);
    Bytes out(40), in(40);
    hwmc_block_out o = {};
    hwmc_block_in i = {};

    o.peer = 1;
    o.bytes = i.bytes = 40;
    o.ready = 4;
    i.window = 2;
    net.members[0].out = {o};
    net.members[0].out_place = {{out.data(), 10, 4}};
    net.members[1].in = {i};
    net.members[1].in_place = {{in.data(), 10, 4}};
    net.begin(0, 10, 1);
    net.begin(1, 10, 1);
    ASSERT_TRUE(net.deliver()); // the grant: two parts are with the lanes
    hwmc_exchange_give_up(&net.members[0].x);
    net.pump(0);
    EXPECT_FALSE(hwmc_exchange_over(&net.members[0].x));
    while (net.deliver())
        ;
    EXPECT_TRUE(hwmc_exchange_over(&net.members[0].x));
    EXPECT_TRUE(hwmc_exchange_over(&net.members[1].x));
    EXPECT_TRUE(net.members[1].x.failed);
}

// What no honest rank sends changes nothing that it may not.
TEST(Exchange, HostileMessages)
{
    for (uint64_t seed = 0; seed < seeds(100); seed++) {
        Net net(3, 8, seed);
        sim::Rng rng(seed);
        Bytes bytes(1000);
        exchange::Member &m = net.members[0];

        for (uint32_t port = 0; port < 3; port++) {
            hwmc_block_out o = {};
            hwmc_block_in i = {};

            o.peer = i.peer = 1 + port % 2;
            o.port = i.port = (uint8_t) port;
            o.bytes = i.bytes = 20 * port;
            o.ready = 1;
            i.window = 2;
            m.out.push_back(o);
            m.in.push_back(i);
            m.in_place.push_back({bytes.data(), 10, 4});
            m.out_place.push_back({bytes.data(), 10, 4});
        }
        net.begin(0, 10, 2);
        for (int n = 0; n < 200; n++) {
            hwmc_msg msg = {};
            uint32_t i = UINT32_MAX;
            const uint32_t type = (uint32_t) rng.below(3);

            msg.type = (hwmc_msg_type) (HWMC_MSG_BLOCK + type);
            msg.peer = (uint32_t) (rng.below(20) ? rng.below(4) : rng.next());
            msg.multicast = rng.below(20) == 0;
            msg.flags = rng.below(4) ? 0 : (uint8_t) rng.next();
            msg.bid = rng.below(5) ? rng.below(3) : rng.next();
            msg.block.index = (uint32_t) (rng.below(10) ? rng.below(10) : rng.next());
            msg.block.bytes = (uint32_t) (rng.below(10) ? 20 * rng.below(3) : rng.next());
            msg.block.port = (uint8_t) (rng.below(10) ? rng.below(3) : rng.next());
            if (type == 0 && hwmc_exchange_on_block(&m.x, &msg, false, &i) == HWMC_PLACE) {
                ASSERT_LT(i, m.in.size());
                ASSERT_EQ(m.in[i].bytes, msg.block.bytes);
                ASSERT_LT(msg.block.index, hwmc_exchange_parts(msg.block.bytes, 10));
            } else if (type == 1) {
                hwmc_exchange_on_grant(&m.x, &msg, false);
            } else if (type == 2) {
                hwmc_exchange_on_credit(&m.x, &msg);
            }
            net.pump(0);
            if (hwmc_exchange_over(&m.x))
                break;
        }
    }
}

} // namespace
