// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Asking further: whom a member asks when its predecessor and the root are away, how often, and
// what comes of it.
#include <algorithm>
#include <set>

#include "sim_net.h"
#include "two_stage_one.h"

using sim::Config;
using sim::Net;

// Whom one rank asks, round by round.
struct Seeker {
    uint32_t rank, size;
    hwmc_seek s;
    uint64_t now = 0;
    std::vector<uint32_t> asked;

    Seeker(uint32_t rank, uint32_t size, uint64_t bid = 0) : rank(rank), size(size)
    {
        hwmc_seek_init(&s, bid, rank);
        hwmc_seek_wait(&s, TAIL, now);
    }
    // How many it asks in the round that begins next.
    uint32_t round(bool all = false)
    {
        uint32_t peer, n = 0;
        bool take;

        now = s.at;
        hwmc_seek_on_timer(&s, size, all, TAIL, now);
        while (hwmc_seek_next(&s, rank, size, &peer, &take)) {
            EXPECT_FALSE(take);
            EXPECT_TRUE(hwmc_seek_has_asked(&s, rank, size, peer));
            asked.push_back(peer);
            hwmc_seek_check(&s, rank, size);
            n++;
        }
        return n;
    }
};

TEST(Seek, AsksMoreAndMoreAndPausesLonger)
{
    Seeker r(5, 100);
    uint64_t pause = TAIL;

    EXPECT_GE(r.s.at, TAIL);
    EXPECT_LE(r.s.at, 3 * TAIL / 2);
    for (uint32_t n : {1, 2, 4, 8, 16, 32, 64, 98, 98}) {
        EXPECT_EQ(n, r.round());
        EXPECT_GE(r.s.at, r.now + pause);
        EXPECT_LE(r.s.at, r.now + pause + pause / 2);
        pause *= 2;
    }
}

TEST(Seek, EachLapAsksAllButItselfAndItsPredecessorOnce)
{
    for (uint32_t size : {3, 4, 5, 64})
        for (uint32_t rank = 0; rank < size; rank++) {
            Seeker r(rank, size, rank);

            while (r.asked.size() < size - 2)
                r.round();
            std::set<uint32_t> all(r.asked.begin(), r.asked.begin() + size - 2);
            EXPECT_EQ(size - 2, all.size());
            EXPECT_EQ(0u, all.count(rank));
            EXPECT_EQ(0u, all.count(hwmc_ring_prev(rank, size)));
            for (uint32_t peer = 0; peer <= size; peer++)
                EXPECT_EQ(all.count(peer) > 0, hwmc_seek_has_asked(&r.s, rank, size, peer));
        }
}

TEST(Seek, OnlyWhoWasAskedCountsAsAsked)
{
    Seeker r(1, 10);

    for (uint32_t peer = 0; peer < 10; peer++)
        EXPECT_FALSE(hwmc_seek_has_asked(&r.s, 1, 10, peer));
    r.round();
    for (uint32_t peer = 0; peer < 10; peer++)
        EXPECT_EQ(peer == r.asked[0], hwmc_seek_has_asked(&r.s, 1, 10, peer));
}

TEST(Seek, RanksBeginWithOthers)
{
    std::set<uint32_t> first;

    for (uint64_t bid = 0; bid < 50; bid++) {
        Seeker r(1, 40, bid);
        r.round();
        first.insert(r.asked[0]);
    }
    EXPECT_GT(first.size(), 10u);
}

// It may only be that the root is late.
TEST(Seek, AsksOneARoundWhileNothingIsKnown)
{
    Seeker r(5, 100);

    for (int i = 0; i < 20; i++)
        EXPECT_EQ(1u, r.round(true));
    EXPECT_GE(r.now, UINT64_C(8000000000)); // pauses double to a second
}

TEST(Seek, TheFirstOfferIsTakenUntilTheNextRound)
{
    Seeker r(0, 10);
    uint32_t peer;
    uint64_t first;
    bool take;

    r.round();
    first = r.now;
    r.round();
    EXPECT_EQ(r.now + 5 - first, hwmc_seek_on_offer(&r.s, r.asked[1], r.now + 5));
    EXPECT_EQ(0u, hwmc_seek_on_offer(&r.s, r.asked[0], r.now + 6));
    ASSERT_TRUE(hwmc_seek_next(&r.s, 0, 10, &peer, &take));
    EXPECT_TRUE(take);
    EXPECT_EQ(r.asked[1], peer);
    EXPECT_FALSE(hwmc_seek_next(&r.s, 0, 10, &peer, &take));
    r.round();
    hwmc_seek_on_offer(&r.s, r.asked[0], r.now);
    ASSERT_TRUE(hwmc_seek_next(&r.s, 0, 10, &peer, &take));
    EXPECT_EQ(r.asked[0], peer);
    hwmc_seek_end(&r.s);
    hwmc_seek_on_offer(&r.s, r.asked[2], r.now); // too late
    EXPECT_FALSE(hwmc_seek_next(&r.s, 0, 10, &peer, &take));
}

// By hand. Rank 2 of 4 can ask ranks 3 and 0 further.

static hwmc_msg seek_from(One &r, uint32_t peer, uint32_t frags,
                          std::initializer_list<uint32_t> lack, bool take = false)
{
    hwmc_msg msg = {};

    msg.type = HWMC_MSG_SEEK;
    msg.peer = peer;
    msg.bid = 5;
    msg.nack.frags = frags;
    msg.flags = take ? HWMC_FLAG_AT_ONCE : 0;
    r.bits.assign(hwmc_bitmap_words(frags), 0);
    for (uint32_t i : lack)
        hwmc_bitmap_set(r.bits.data(), i);
    msg.nack.bits = frags ? r.bits.data() : nullptr;
    return msg;
}

static hwmc_verdict seek(One &r, uint32_t peer, uint32_t frags,
                         std::initializer_list<uint32_t> lack, bool take = false)
{
    hwmc_msg msg = seek_from(r, peer, frags, lack, take);
    hwmc_verdict verdict = hwmc_two_stage_on_seek(&r.m, &msg, &r.ring, r.now);

    r.check();
    return verdict;
}

static hwmc_verdict offer(One &r, uint32_t peer, uint32_t frags)
{
    hwmc_msg msg = {};

    msg.type = HWMC_MSG_OFFER;
    msg.peer = peer;
    msg.bid = 5;
    msg.offer.frags = frags;
    hwmc_verdict verdict = hwmc_two_stage_on_offer(&r.m, &msg, &r.ring, r.now);
    r.check();
    return verdict;
}

static hwmc_verdict gift(One &r, uint32_t from, uint32_t frags, uint32_t index)
{
    hwmc_msg msg = r.frag(0, frags, index, true);

    msg.peer = from;
    return r.data(msg);
}

TEST(TwoStageSeek, WhatNobodyAnswersOthersAreAskedFor)
{
    One r(4, 2);
    uint32_t peer;

    r.member(0);
    r.cast(0, 3, 0);
    r.cast(0, 3, 2);
    EXPECT_EQ("ask 1 of 1", r.sends());
    r.pass(2 * TAIL - 1);
    EXPECT_EQ("", r.sends());
    r.pass(TAIL + 1);
    std::string said = r.sends();
    ASSERT_TRUE(said == "seek 1 of 3" || said == "seek 1 of 0") << said;
    peer = said == "seek 1 of 3" ? 3 : 0;
    EXPECT_EQ(HWMC_BAD, offer(r, 3 - peer, 3)); // was not asked yet
    EXPECT_EQ(HWMC_BAD, offer(r, 1, 3));
    EXPECT_EQ(HWMC_BAD, offer(r, peer, 4));
    EXPECT_EQ(HWMC_BAD, gift(r, 3 - peer, 3, 1));
    EXPECT_EQ(HWMC_TAKEN, offer(r, peer, 3));
    EXPECT_EQ("take 1 of " + std::to_string(peer), r.sends());
    EXPECT_EQ(HWMC_PLACE, gift(r, peer, 3, 1));
    EXPECT_TRUE(r.done());
    EXPECT_EQ(1u, r.counts.sought);
    EXPECT_EQ(1u, r.counts.found);
    EXPECT_EQ(HWMC_NEVER, hwmc_two_stage_next_timer(&r.m));
    EXPECT_EQ(HWMC_TAKEN, offer(r, peer, 3));
    EXPECT_EQ("", r.sends());
    EXPECT_EQ(HWMC_DUP, gift(r, peer, 3, 1));
}

TEST(TwoStageSeek, AHolderThatIsSilentIsLeft)
{
    One r(3, 2);

    r.member(0);
    r.cast(0, 2, 1);
    EXPECT_EQ("ask 0 of 1", r.sends());
    r.pass(3 * TAIL);
    EXPECT_EQ("seek 0 of 0", r.sends());
    EXPECT_EQ(HWMC_TAKEN, offer(r, 0, 2));
    EXPECT_EQ("take 0 of 0", r.sends());
    r.pass(3 * TAIL);
    EXPECT_EQ("seek 0 of 0", r.sends());
}

// A predecessor that was away is not far away: the next broadcasts are asked for as soon as before.
TEST(TwoStageSeek, AnAbsenceIsNoRoundTrip)
{
    One r(3, 2);

    for (int i = 0; i < 40; i++) {
        r.member(0);
        r.cast(0, 2, 1);
        EXPECT_EQ("ask 0 of 1", r.sends());
        r.pass(3 * TAIL);
        EXPECT_EQ("seek 0 of 0", r.sends());
        r.pass(TAIL / 10);
        EXPECT_EQ(HWMC_TAKEN, offer(r, 0, 2));
        r.pass(300 * TAIL);
        r.lane(0, 2, 0, HWMC_FLAG_AT_ONCE);
        ASSERT_TRUE(r.done());
        EXPECT_EQ(TAIL, hwmc_rtt_wait(&r.ring.rtt));
        hwmc_two_stage_reset(&r.m, 5, &r.ring);
    }
}

TEST(TwoStageSeek, OnlyWhoWaitsAsksFurther)
{
    One two(2, 1), unexpected(4, 2);

    two.member(0); // there is nobody else
    two.cast(0, 2, 1);
    two.sends();
    two.pass(1000 * TAIL);
    EXPECT_EQ("", two.sends());
    unexpected.cast(0, 2, 1); // the program has not called
    unexpected.sends();
    unexpected.pass(1000 * TAIL);
    EXPECT_EQ("", unexpected.sends());
    EXPECT_EQ(HWMC_NEVER, hwmc_two_stage_next_timer(&unexpected.m));
}

TEST(TwoStageSeek, WithPushAllThatIsMissingIsSought)
{
    One r(3, 2, true);

    r.member(0);
    r.cast(0, 4, 1);
    r.sends();
    r.pass(3 * TAIL);
    EXPECT_EQ("seek 0 2 3 of 0", r.sends());
}

// The root may be late: who knows nothing waits longer.
TEST(TwoStageSeek, WhoKnowsNothingAsksForAll)
{
    One r(3, 2);

    r.member(0);
    r.pass(TAIL);
    r.pass(2 * TAIL);
    r.pass(4 * TAIL);
    EXPECT_EQ("ask all of 1", r.sends());
    EXPECT_EQ(0u, r.counts.sought);
    r.pass(5 * TAIL);
    EXPECT_EQ("seek all of 0", r.sends());
    EXPECT_EQ(HWMC_TAKEN, offer(r, 0, 2));
    EXPECT_EQ("take all of 0", r.sends());
    EXPECT_EQ(HWMC_PLACE, gift(r, 0, 2, 0));
    EXPECT_EQ(HWMC_PLACE, gift(r, 0, 2, 1));
    EXPECT_TRUE(r.done());
}

TEST(TwoStageSeek, WhatIsHereIsOfferedAndThenGiven)
{
    One r(9, 4);

    EXPECT_EQ(HWMC_TAKEN, seek(r, 7, 0, {}));
    EXPECT_EQ("", r.sends()); // nothing is known: it is not passed on, nor remembered
    r.member(0);
    r.cast(0, 3, 0);
    r.cast(0, 3, 1);
    EXPECT_EQ(HWMC_TAKEN, seek(r, 7, 3, {2}));
    EXPECT_EQ("", r.sends());
    EXPECT_EQ(HWMC_TAKEN, seek(r, 7, 3, {1, 2}));
    EXPECT_EQ(HWMC_TAKEN, seek(r, 7, 3, {1, 2}));
    EXPECT_EQ(HWMC_TAKEN, seek(r, 8, 0, {}));
    EXPECT_EQ("offer to 8, offer to 7", r.sends());
    EXPECT_EQ(HWMC_TAKEN, seek(r, 7, 3, {1, 2}, true));
    EXPECT_EQ("send 1 to 7", r.sends());
    EXPECT_EQ(HWMC_TAKEN, seek(r, 8, 0, {}, true));
    EXPECT_EQ("send 0 to 8, send 1 to 8", r.sends());
    EXPECT_EQ(3u, r.counts.given);
}

TEST(TwoStageSeek, OffersAndGiftsAreFewAtATime)
{
    One r(20, 4);

    r.member(0);
    r.cast(0, 1, 0);
    for (uint32_t peer = 6; peer < 18; peer++)
        EXPECT_EQ(HWMC_TAKEN, seek(r, peer, 1, {0}));
    EXPECT_EQ("offer to 9, offer to 8, offer to 7, offer to 6", r.sends());
    EXPECT_EQ(HWMC_TAKEN, seek(r, 6, 1, {0}, true));
    EXPECT_EQ(HWMC_TAKEN, seek(r, 7, 1, {0}, true));
    EXPECT_EQ("send 0 to 6", r.sends());
}

TEST(TwoStageSeek, StrangersAndContradictionsAreBad)
{
    One r(9, 4);
    hwmc_msg msg;

    r.member(0);
    r.cast(0, 3, 0);
    EXPECT_EQ(HWMC_BAD, seek(r, 4, 3, {0}));  // itself
    EXPECT_EQ(HWMC_BAD, seek(r, 5, 3, {0}));  // its successor has NACK for that
    EXPECT_EQ(HWMC_BAD, seek(r, 9, 3, {0}));  // nobody
    EXPECT_EQ(HWMC_BAD, seek(r, 7, 4, {0}));  // another number of fragments
    EXPECT_EQ(HWMC_BAD, seek(r, 7, 99, {0})); // more than there can be
    msg = seek_from(r, 7, 3, {0});
    msg.multicast = true;
    EXPECT_EQ(HWMC_BAD, hwmc_two_stage_on_seek(&r.m, &msg, &r.ring, r.now));
    msg = seek_from(r, 7, 3, {0});
    msg.nack.bits = nullptr;
    EXPECT_EQ(HWMC_BAD, hwmc_two_stage_on_seek(&r.m, &msg, &r.ring, r.now));
    EXPECT_EQ("", r.sends());
}

TEST(TwoStageSeek, ARootForgetsWhoAskedBeforeIt)
{
    One r(9, 1);

    r.cast(0, 2, 0); // false, as the program says
    EXPECT_EQ(HWMC_TAKEN, seek(r, 7, 2, {0}));
    EXPECT_EQ(HWMC_TAKEN, seek(r, 7, 2, {0}, true));
    r.root(20);
    EXPECT_EQ("cast 0, cast 1", r.sends());
}

// Over the simulated network.

// Ranks in `away` get no events between `from` and `until`.
static Config with_away(uint32_t ranks, uint64_t away, uint64_t from, uint64_t until)
{
    Config c;

    c.ranks = ranks;
    c.script = {{0, 32}};
    c.stalls = {{from, until, away}};
    return c;
}

// When each rank had the first broadcast, in ns.
static std::vector<uint64_t> run(Config c, std::function<void(Net &)> after = {})
{
    std::vector<uint64_t> had(c.ranks, 0);

    c.hook = [&had](Net &net, uint32_t r) {
        if (had[r] == 0 && !net.gone(r) && net.stream(r).channel.consumed > 0)
            had[r] = net.now() - sim::S;
    };
    Net net(c);
    EXPECT_EQ("", net.run());
    if (after)
        after(net);
    return had;
}

TEST(SeekNet, WhoWaitsIsFoundWhilePredecessorAndRootAreAway)
{
    for (bool push : {false, true}) {
        Config c = with_away(4, 3, 5 * sim::US, 10 * sim::S); // before rank 1 has it to push

        c.push = push;
        c.lose = [](const hwmc_msg &msg, uint32_t to) {
            return msg.type == HWMC_MSG_DATA && msg.data.index == 1 && to == 2;
        };
        std::vector<uint64_t> had = run(c, [](Net &net) {
            EXPECT_EQ(1u, net.counts(2).found);
            EXPECT_EQ(1u, net.counts(3).given);
            EXPECT_LE(net.sum(&hwmc_counts::given), 1u);
        });
        EXPECT_LE(had[2], 12 * sim::MS);
    }
}

TEST(SeekNet, WhoGotNothingFindsOneThatHasAll)
{
    Config c = with_away(4, 3, 15 * sim::US, 10 * sim::S);

    c.lose = [](const hwmc_msg &msg, uint32_t to) { return msg.type == HWMC_MSG_DATA && to == 2; };
    std::vector<uint64_t> had = run(c, [](Net &net) { EXPECT_EQ(4u, net.counts(2).found); });
    EXPECT_LE(had[2], 40 * sim::MS);
}

// All that are there have lost the same but the last one, and half of the others are away.
TEST(SeekNet, OneHolderServesManyAndNobodyIsFlooded)
{
    const uint32_t p = 64, holder = 63;
    Config c =
        with_away(p, UINT64_C(1) << 0 | UINT64_C(0x7fffffff) << 32, 15 * sim::US, 10 * sim::S);

    c.lose = [holder](const hwmc_msg &msg, uint32_t to) {
        return msg.type == HWMC_MSG_DATA && msg.data.index == 1 && to < 32 && to != holder;
    };
    c.max_events = 10000000;
    std::vector<uint64_t> had = run(c, [](Net &net) {
        for (uint32_t r = 1; r < 32; r++) {
            // Rounds until all have been asked: 1 + 2 + ... + 32, once more all at most.
            EXPECT_LE(net.counts(r).sought, 63u + 62u) << r;
            EXPECT_LE(net.counts(r).found, 1u) << r;
        }
        EXPECT_LE(net.counts(holder).given, 31u);
    });
    for (uint32_t r = 1; r < 32; r++)
        EXPECT_LE(had[r], 400 * sim::MS) << r;
}

// Nobody has it but the root, which is away for ten seconds: all go on asking, less and less often.
TEST(SeekNet, WhatNobodyHasIsAskedForLessAndLessOften)
{
    const uint32_t p = 16;
    Config c = with_away(p, 1, 15 * sim::US, 10 * sim::S);

    c.lose = [](const hwmc_msg &msg, uint32_t) {
        return msg.type == HWMC_MSG_DATA && msg.data.index == 1;
    };
    c.max_events = 10000000;
    run(c, [](Net &net) {
        for (uint32_t r = 1; r < p; r++) {
            EXPECT_LE(net.counts(r).sought, 1u + 2 + 4 + 8 + (6 + 10) * (p - 2)) << r;
            EXPECT_LE(net.counts(r).found, 1u) << r;
        }
        EXPECT_EQ(0u, net.sum(&hwmc_counts::bad));
    });
}

// A root that is only late costs a question a round.
TEST(SeekNet, ALateRootIsAskedForAFewTimes)
{
    Config c;

    c.ranks = 16;
    c.script = {{0, 32}};
    c.think = {10 * sim::S, 0};
    c.async = false;
    run(c, [](Net &net) {
        for (uint32_t r = 1; r < 16; r++)
            EXPECT_LE(net.counts(r).sought, 20u) << r;
        EXPECT_EQ(0u, net.sum(&hwmc_counts::given));
    });
}

// Everybody is away again and again, for long, while a lot is lost.
TEST(SeekNet, StormsWithLongAbsences)
{
    uint64_t found = 0;

    for (uint64_t seed = 1; seed <= 300; seed++) {
        sim::Rng rng(seed);
        Config c;

        sim::replay_line("absences " + std::to_string(seed));
        c.seed = seed;
        c.ranks = (uint32_t) rng.between(3, 10);
        c.push = rng.below(2);
        c.max_frags = 8;
        c.channels = (uint32_t) rng.between(1, 6);
        c.period = (uint32_t) rng.between(1, c.channels);
        c.rails = (uint32_t) rng.between(1, 3);
        c.loss = {(uint32_t) rng.below(400000)};
        c.lane_max = c.lane_min + rng.below(2 * sim::MS);
        c.async = rng.below(2);
        for (uint32_t i = 0; i < 12; i++)
            c.script.push_back({(uint32_t) rng.below(c.ranks), (uint32_t) rng.below(65)});
        for (uint32_t r = 0; r < c.ranks; r++)
            for (uint64_t t = rng.below(20 * sim::MS); t < sim::S; t += rng.below(200 * sim::MS)) {
                uint64_t until = t + rng.below(300 * sim::MS);
                c.stalls.push_back({t, until, UINT64_C(1) << r});
                t = until;
            }
        Net net(c);
        ASSERT_EQ("", net.run()) << "seed " << seed;
        found += net.sum(&hwmc_counts::found);
    }
    sim::replay_line("");
    EXPECT_GT(found, 100u);
}
