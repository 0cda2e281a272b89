// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// What no honest rank sends: messages that cannot be change nothing; those that could be but lie
// may keep a broadcast from ending, never make an assert or a write outside of its memory.
#include <stdlib.h>

#include <gtest/gtest.h>

#include "any_msg.h"
#include "sim_net.h"

namespace {

using sim::Config;
using sim::Net;
using sim::Rng;

uint64_t runs(uint64_t n)
{
    const char *many = getenv("HWMC_SIM_SEEDS");

    return many ? strtoull(many, nullptr, 0) / 2 : n;
}

// Small numbers, mostly; the borders of their types, at times.
uint64_t number(Rng &rng, uint64_t around)
{
    switch (rng.below(8)) {
        case 0:
            return rng.next();
        case 1:
            return UINT32_MAX - rng.below(3);
        case 2:
            return UINT64_MAX - rng.below(3);
        default:
            return rng.below(around + 2);
    }
}

struct Message {
    hwmc_msg msg = {};
    uint64_t bits[4];
    hwmc_parameters parameters;
    AnyFields f;

    // The same fields in a message of this type.
    void become(hwmc_msg_type type)
    {
        msg.type = type;
        set_fields(msg, f);
    }

    Message(Rng &rng, uint64_t bid, uint32_t size, uint32_t frags)
    {
        for (uint64_t &word : bits)
            word = rng.next() & rng.next();
        parameters = {(uint32_t) rng.below(8),
                      (uint32_t) (rng.below(4) ? 0 : number(rng, 10)),
                      (uint32_t) number(rng, 9),
                      (uint32_t) rng.below(4),
                      (uint32_t) number(rng, 9000),
                      (uint32_t) number(rng, 99),
                      (uint32_t) rng.next(),
                      (uint32_t) number(rng, 20),
                      rng.next(),
                      rng.next()};
        msg.type = (hwmc_msg_type) rng.below(HWMC_MSG_LIMIT + 2);
        msg.flags = (uint8_t) rng.below(32);
        f.tree = (uint8_t) rng.below(6);
        f.slot = (uint8_t) rng.below(4);
        msg.multicast = rng.below(2);
        msg.rail = (uint8_t) rng.next();
        f.rails = (uint8_t) rng.next();
        msg.peer = (uint32_t) number(rng, size);
        msg.bid = rng.below(4) ? bid + rng.below(10) - (bid > 4 ? 4 : bid) : number(rng, 20);
        f.root = (uint32_t) number(rng, size);
        f.frags = (uint32_t) number(rng, frags);
        f.bytes = (uint32_t) number(rng, 8 * frags);
        f.index = (uint32_t) number(rng, frags);
        if (rng.below(2) && f.frags > 0 && f.frags <= frags) { // well formed
            f.bytes = 8 * f.frags - (uint32_t) rng.below(8);
            f.index = (uint32_t) rng.below(f.frags);
            msg.peer = msg.multicast ? f.root : msg.peer;
            f.rails = (uint8_t) (1 + rng.below(255));
            msg.rail = (uint8_t) __builtin_ctz(f.rails);
        }
        if (rng.below(3) == 0) { // lies that fit together
            msg.type = HWMC_MSG_DATA;
            msg.flags = 0;
            msg.multicast = true;
            f.rails = 3;
            msg.rail = f.index & 1;
            f.root = msg.peer = (uint32_t) (msg.bid * 7 % size);
            f.frags = 1 + (uint32_t) (msg.bid % frags % 5);
            f.bytes = 8 * f.frags;
            f.index = (uint32_t) rng.below(f.frags);
        }
        f.bits = rng.below(9) ? bits : nullptr;
        f.parameters = rng.below(9) ? &parameters : nullptr;
        if (msg.type == HWMC_MSG_SYNC_UP) { // of its fields these are of other ranges
            f.frags = (uint32_t) (rng.next() & rng.next() & rng.next());
            f.bytes = (uint32_t) rng.below(3);
        }
        set_fields(msg, f);
    }
};

Config group(uint64_t seed)
{
    Rng rng(seed);
    Config c;

    c.seed = seed;
    c.ranks = (uint32_t) rng.between(2, 5);
    c.push = rng.below(2);
    c.channels = (uint32_t) rng.between(1, 4);
    c.period = (uint32_t) rng.between(1, c.channels);
    c.max_frags = rng.below(4) ? (uint32_t) rng.between(1, 5) : 130;
    c.delay = (hwmc_delay_kind) rng.below(4);
    c.loss = {200000};
    c.cast_max = 100 * sim::US;
    c.think_max = sim::MS;
    for (uint64_t i = rng.between(1, 10); i > 0; i--)
        c.script.push_back(
            {(uint32_t) rng.below(c.ranks), (uint32_t) rng.between(0, c.frag_bytes * c.max_frags)});
    return c;
}

// The sender was asked for something of that broadcast, or that is over; `serves`: or it is this
// rank's predecessor.
bool asked(Net &net, uint32_t r, const hwmc_msg &m, bool serves)
{
    const hwmc_two_stage &slot = net.stream(r).slots[m.bid % net.config().channels];
    uint32_t p = net.config().ranks;

    return m.bid < net.stream(r).channel.floor || (serves && m.peer == hwmc_ring_prev(r, p)) ||
           (slot.bid == m.bid && hwmc_seek_has_asked(&slot.seek, r, p, m.peer));
}

// The message cannot come from any honest rank, whatever has happened before.
bool impossible(Net &net, uint32_t r, const hwmc_msg &m)
{
    const hwmc_stream &s = net.stream(r);
    uint32_t p = net.config().ranks, k = net.config().fanout;
    bool parent = r > 0 && m.peer == hwmc_tree_parent(r, k);
    bool child = m.peer < p && m.peer > 0 && hwmc_tree_parent(m.peer, k) == r;
    bool ahead = m.bid >= s.channel.consumed + s.channel.n;

    switch (m.type) {
        case HWMC_MSG_DATA:
            return m.data.frags == 0 || m.data.frags > net.config().max_frags ||
                   m.data.index >= m.data.frags || m.data.root >= p ||
                   hwmc_frags_of(m.data.bytes, 8) != m.data.frags || ahead ||
                   (m.multicast ? m.peer != m.data.root : !asked(net, r, m, true)) ||
                   (m.multicast && !(m.rail < HWMC_RAIL_BITS && m.data.rails >> m.rail & 1)) ||
                   (m.data.root == r && m.bid >= s.posted);
        case HWMC_MSG_NACK:
            return m.multicast || m.peer != hwmc_ring_next(r, p) || ahead ||
                   m.nack.frags > net.config().max_frags || (m.nack.frags > 0 && !m.nack.bits);
        case HWMC_MSG_SEEK:
            return m.multicast || m.peer >= p || m.peer == r || m.peer == hwmc_ring_next(r, p) ||
                   ahead || m.nack.frags > net.config().max_frags ||
                   (m.nack.frags > 0 && !m.nack.bits);
        case HWMC_MSG_OFFER:
            return m.multicast || !asked(net, r, m, false) || m.offer.frags == 0 ||
                   m.offer.frags > net.config().max_frags;
        case HWMC_MSG_READY:
            return m.multicast || m.peer >= p || m.peer == r || ahead;
        case HWMC_MSG_ROOT_NACK:
            return m.multicast || m.peer >= p || m.peer == r || ahead || m.nack.root != r ||
                   m.nack.frags > net.config().max_frags || (m.nack.frags > 0 && !m.nack.bits);
        case HWMC_MSG_SYNC_UP:
            return m.multicast || !child || m.bid > s.channel.floor + 2 * s.channel.n;
        case HWMC_MSG_SYNC_ASK:
            return m.multicast || !child || m.bid > s.channel.consumed;
        case HWMC_MSG_SYNC_DOWN:
            return r == 0 || m.bid > s.channel.consumed || (m.multicast ? m.peer != 0 : !parent);
        case HWMC_MSG_PROBE:
            return !m.multicast || m.peer > 1 || m.peer == r || m.rail >= HWMC_RAIL_BITS ||
                   m.probe.number >= HWMC_TRAIN || m.probe.train == 0 ||
                   m.probe.bytes != s.epoch.cfg.frag_bytes;
        case HWMC_MSG_EPOCH:
            return m.multicast || (!parent && !child) ||
                   (child && m.epoch.number != s.epoch.number) ||
                   (parent && m.epoch.number != s.epoch.number &&
                    (m.epoch.number != s.epoch.number + 1 || m.epoch.culprit >= p ||
                     m.epoch.rails == 0 || m.bid > s.channel.consumed + s.channel.n ||
                     m.bid < s.posted || m.epoch.reason >= HWMC_RAIL_REASON_LIMIT));
        default:
            return true;
    }
}

void replay(const char *test, uint64_t seed)
{
    sim::replay_line("replay: HWMC_SIM_SEED=" + std::to_string(seed) +
                     " build/unit/core_test --gtest_filter=Hostile." + test);
}

uint64_t seed_of(uint64_t base, uint64_t i)
{
    const char *one = getenv("HWMC_SIM_SEED");

    return one ? strtoull(one, nullptr, 0) : hwmc_prng(base, i);
}

} // namespace

TEST(Hostile, ImpossibleMessagesAreBadAndChangeNothing)
{
    uint64_t tried = 0;

    for (uint64_t i = 0; i < runs(300); i++) {
        uint64_t seed = seed_of(11, i);
        Rng rng(seed + 1);
        Config c = group(seed);

        c.hook = [&rng, &tried](Net &net, uint32_t r) {
            hwmc_stream &s = net.stream(r);
            Message m(rng, s.posted, net.config().ranks, net.config().max_frags);

            if (net.gone(r) || !impossible(net, r, m.msg))
                return;
            hwmc_stream before;
            std::vector<uint64_t> memory = net.memory(r);
            memcpy(&before, &s, sizeof(s));
            ASSERT_EQ(HWMC_BAD, net.inject(r, m.msg)) << "type " << m.msg.type;
            ASSERT_EQ(0, memcmp(&before, &s, sizeof(s))) << "type " << m.msg.type;
            ASSERT_EQ(memory, net.memory(r)) << "type " << m.msg.type;
            tried++;
        };
        replay("ImpossibleMessagesAreBadAndChangeNothing", seed);
        Net net(c);
        ASSERT_EQ("", net.run());
        ASSERT_FALSE(HasFailure()) << "HWMC_SIM_SEED=" << seed;
    }
    printf("%llu messages\n", (unsigned long long) tried);
    EXPECT_GT(tried, 1000u);
}

TEST(Hostile, LiesToAStreamNeverAbort)
{
    for (uint64_t i = 0; i < runs(1500); i++) {
        uint64_t seed = seed_of(12, i);
        Rng rng(seed + 1);
        Config c = group(seed);
        uint32_t often = (uint32_t) rng.between(10000, 1000000);

        c.strict = false;
        c.max_events = 5000;
        c.hook = [&rng, often](Net &net, uint32_t r) {
            if (net.gone(r) || !rng.chance(often))
                return;
            Message m(rng, net.stream(r).posted, net.config().ranks, net.config().max_frags);
            net.inject(r, m.msg);
        };
        replay("LiesToAStreamNeverAbort", seed);
        Net net(c);
        net.run(); // it may end or not: liars can keep it from ending
    }
}

TEST(Hostile, LiesToTwoStageNeverAbort)
{
    for (uint64_t i = 0; i < runs(3000); i++) {
        uint64_t seed = seed_of(13, i);
        Rng rng(seed);
        hwmc_counts counts = {};
        hwmc_ring ring = {};
        hwmc_two_stage m;
        hwmc_msg tx;

        replay("LiesToTwoStageNeverAbort", seed);
        ring.size = (uint32_t) rng.between(2, 4);
        ring.rank = (uint32_t) rng.below(ring.size);
        ring.push = rng.below(2);
        ring.frag_bytes = 8;
        ring.max_frags = rng.below(4) ? 5 : 130;
        ring.counts = &counts;
        hwmc_rtt_init(&ring.rtt);
        std::vector<uint64_t> words(hwmc_two_stage_words(ring.max_frags));
        hwmc_two_stage_init(&m, 0, words.data(), &ring);
        for (uint64_t now = 1; now < 60 * sim::MS; now += rng.below(2 * sim::MS)) {
            Message lie(rng, 0, ring.size, ring.max_frags);
            bool before = m.phase <= HWMC_STORED;

            switch (rng.below(9)) {
                case 0:
                    hwmc_two_stage_on_timer(&m, &ring, now);
                    break;
                case 1:
                    hwmc_two_stage_on_later(&m, &ring);
                    break;
                case 2:
                    hwmc_two_stage_on_ready(&m);
                    break;
                case 3:
                    lie.become(HWMC_MSG_NACK);
                    hwmc_two_stage_on_nack(&m, &lie.msg, &ring, now);
                    break;
                case 4:
                    if (before && rng.below(4) == 0)
                        hwmc_two_stage_post_member(&m, (ring.rank + 1) % ring.size, rng.below(2),
                                                   &ring, now);
                    else if (before && rng.below(4) == 0)
                        hwmc_two_stage_post_root(&m, (uint32_t) rng.below(8 * ring.max_frags),
                                                 false, (uint8_t) rng.between(1, 255),
                                                 now + rng.below(sim::MS), &ring, now);
                    else if (hwmc_two_stage_done(&m))
                        hwmc_two_stage_reset(&m, 0, &ring);
                    break;
                case 5:
                    hwmc_two_stage_next_send(&m, &ring, {0xff, 0xff}, &tx, now);
                    break;
                default:
                    lie.become(HWMC_MSG_DATA);
                    hwmc_two_stage_on_data(&m, &lie.msg, &ring, now);
            }
            hwmc_two_stage_check(&m, &ring);
        }
    }
}

TEST(Hostile, LiesToAChannelNeverAbort)
{
    for (uint64_t i = 0; i < runs(3000); i++) {
        uint64_t seed = seed_of(14, i);
        Rng rng(seed);
        hwmc_counts counts = {};
        hwmc_channel c;
        hwmc_msg tx;
        uint32_t n = (uint32_t) rng.between(1, 6);

        replay("LiesToAChannelNeverAbort", seed);
        const hwmc_policy first = {
            .rails = (uint8_t) rng.below(2), .push = false, .period = (uint32_t) rng.between(1, n)};
        hwmc_channel_init(&c, 9, (uint32_t) rng.below(9), n, (uint32_t) rng.between(1, 4), &first,
                          &counts);
        for (uint64_t now = 1; now < 200; now++) {
            Message lie(rng, c.consumed, 9, 5);

            switch (rng.below(7)) {
                case 0:
                    hwmc_channel_on_timer(&c, now);
                    break;
                case 1:
                    hwmc_channel_hear(&c, lie.msg.bid);
                    break;
                case 2:
                    if (c.end == HWMC_CHANNEL_IN_USE && hwmc_channel_open(&c, c.consumed))
                        hwmc_channel_consume(&c, rng.below(2), false);
                    else if (c.end == HWMC_CHANNEL_IN_USE)
                        hwmc_channel_stall(&c, now + 5);
                    break;
                case 3:
                    hwmc_channel_next_send(&c, 1, &tx);
                    break;
                case 4:
                    if (now > 150 && c.end == HWMC_CHANNEL_IN_USE)
                        hwmc_channel_close(&c);
                    break;
                default:
                    lie.become((hwmc_msg_type) rng.between(HWMC_MSG_SYNC_UP, HWMC_MSG_SYNC_ASK));
                    hwmc_channel_on_recv(&c, &lie.msg);
            }
            hwmc_channel_check(&c);
        }
    }
}

TEST(Hostile, LiesToAgreeNeverAbort)
{
    for (uint64_t i = 0; i < runs(3000); i++) {
        uint64_t seed = seed_of(15, i);
        Rng rng(seed);
        hwmc_parameters offer = {};
        hwmc_negotiation a;
        hwmc_msg tx;

        replay("LiesToAgreeNeverAbort", seed);
        hwmc_negotiation_start(&a, 7, (uint32_t) rng.below(7), (uint32_t) rng.between(1, 4), 1,
                               &offer, rng.below(2), 5);
        for (uint64_t now = 1; now < 100; now++) {
            Message lie(rng, 1, 7, 5);

            if (hwmc_negotiation_wants_join(&a) && rng.below(3) == 0)
                hwmc_negotiation_on_joined(&a, rng.below(5), rng.below(4), now);
            hwmc_negotiation_check(&a);
            hwmc_negotiation_on_recv(&a, &lie.msg, now);
            hwmc_negotiation_check(&a);
            hwmc_negotiation_on_timer(&a, now);
            hwmc_negotiation_check(&a);
            while (rng.below(4) && hwmc_negotiation_next_send(&a, &tx, now))
                hwmc_negotiation_check(&a);
        }
    }
}
