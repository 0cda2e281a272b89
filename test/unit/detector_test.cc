// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// The failure detector: who is asked when, which answers suffice, and who is gone when.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

extern "C" {
#include "core/failure/detector.h"
}

namespace {
constexpr uint64_t MS = 1000000;
constexpr uint64_t LIMIT = 8000 * MS;

// A group whose members answer by the rails that they have, unless those are cut.
class Roll {
  public:
    Roll(uint32_t size, uint32_t rank, uint32_t must, uint32_t rails = 1)
        : size_(size), rails_(rails)
    {
        const hwmc_detector_cfg cfg = {size, rank, must, LIMIT};

        hwmc_detector_init(&roll_, &cfg, now_);
    }

    void cut(uint32_t member, uint32_t rails)
    {
        cut_[member] |= rails;
    }
    void mend(uint32_t member)
    {
        cut_.erase(member);
    }
    void cannot_be_asked(uint32_t member)
    {
        mute_.insert(member);
    }
    // It has never answered by these rails.
    void unknown(uint32_t member, uint32_t rails)
    {
        unknown_[member] |= rails;
    }

    // Until a member is gone, or the time is over; whether one is.
    bool run(uint64_t ns)
    {
        for (const uint64_t end = now_ + ns; now_ <= end;) {
            if (step())
                return true;
            const uint64_t next = hwmc_detector_next_timer(&roll_);
            EXPECT_GT(next, now_) << "it would spin";
            now_ = next > now_ ? next : now_ + 1;
        }
        return false;
    }

    uint64_t now_ = 1000 * MS;
    uint32_t gone_ = UINT32_MAX, gone_rails_ = 0;
    std::map<uint32_t, int> asked_; // by member: how often

  private:
    bool step()
    {
        uint32_t place, rails;

        hwmc_detector_on_timer(&roll_, now_);
        if (hwmc_detector_failed(&roll_, now_, &gone_, &gone_rails_))
            return true;
        while (hwmc_detector_next_ask(&roll_, &place, &rails, now_)) {
            const uint32_t member = roll_.place[place].member;
            const uint32_t by = mute_.count(member) ? 0 : rails ? rails : rails_;

            EXPECT_LT(member, size_);
            EXPECT_EQ(by & ~rails_, 0u);
            asked_[member]++;
            hwmc_detector_asked(&roll_, place, by, by & ~unknown_[member], now_);
            if (roll_.place[place].asked != 0)
                hwmc_detector_on_answer(&roll_, place, by & ~cut_[member]);
            hwmc_detector_check(&roll_);
        }
        return false;
    }

    hwmc_detector roll_;
    uint32_t size_, rails_;
    std::map<uint32_t, uint32_t> cut_, unknown_;
    std::set<uint32_t> mute_;
};

TEST(Roll, AsksAllOthersAndNobodyIsGoneWhoAnswers)
{
    Roll detector(100, 7, 0);

    EXPECT_FALSE(detector.run(100 * LIMIT));
    EXPECT_EQ(detector.asked_.size(), 99u);
    EXPECT_EQ(detector.asked_.count(7), 0u);
    for (const auto &[member, times] : detector.asked_) {
        EXPECT_GE(times, 700) << member;
        EXPECT_LE(times, 801) << member;
    }
}

TEST(Roll, WhoIsSilentIsGoneAtTheLimit)
{
    Roll detector(4, 0, 2, 3);
    const uint64_t start = detector.now_;

    detector.cut(2, 3);
    ASSERT_TRUE(detector.run(10 * LIMIT));
    EXPECT_EQ(detector.gone_, 2u);
    EXPECT_EQ(detector.gone_rails_, 2u);
    EXPECT_EQ(detector.now_ - start, LIMIT);
    EXPECT_GE(detector.asked_[2], 7);
}

TEST(Roll, OneRailIsEnoughWhereNoneMustAnswer)
{
    Roll detector(3, 1, 0, 3);

    detector.cut(2, 1);
    EXPECT_FALSE(detector.run(10 * LIMIT));
    detector.cut(2, 2);
    ASSERT_TRUE(detector.run(2 * LIMIT));
    EXPECT_EQ(detector.gone_, 2u);
    EXPECT_EQ(detector.gone_rails_, 3u);
}

TEST(Roll, ARailThatNeedNotAnswerMayBeSilent)
{
    Roll detector(3, 1, 1, 3);

    detector.cut(0, 2);
    EXPECT_FALSE(detector.run(10 * LIMIT));
}

TEST(Roll, AnAnswerBeforeTheLimitBeginsItAnew)
{
    Roll detector(2, 0, 1);

    for (int i = 0; i < 20; i++) {
        detector.cut(1, 1);
        EXPECT_FALSE(detector.run(LIMIT / 2));
        detector.mend(1);
        EXPECT_FALSE(detector.run(LIMIT / 4));
    }
    detector.cut(1, 1);
    EXPECT_TRUE(detector.run(2 * LIMIT));
}

TEST(Roll, WhoCannotBeAskedIsNotGone)
{
    Roll detector(4, 0, 0);

    detector.cannot_be_asked(1);
    detector.cut(3, 1);
    ASSERT_TRUE(detector.run(2 * LIMIT));
    EXPECT_EQ(detector.gone_, 3u);
}

TEST(Roll, ARailThatMustAnswerAndTheMemberLacksSaysNothing)
{
    Roll detector(3, 0, 4, 3);

    detector.cut(1, 3);
    EXPECT_FALSE(detector.run(10 * LIMIT));
}

// A filter drops the questions to one host, and another one is gone: one is passed over, the other
// found.
TEST(Roll, SilenceOfWhoHasNeverAnsweredSaysNothing)
{
    for (const uint32_t must : {0u, 2u}) {
        Roll detector(4, 0, must, 3);

        detector.unknown(2, 3);
        detector.cut(2, 3);
        EXPECT_FALSE(detector.run(20 * LIMIT));
        EXPECT_GE(detector.asked_[2], 60) << "an answer may come yet";
        EXPECT_GE(detector.asked_[1], 60) << "it keeps nobody from being asked";
        detector.cut(3, 3);
        ASSERT_TRUE(detector.run(2 * LIMIT));
        EXPECT_EQ(detector.gone_, 3u);
    }
}

TEST(Roll, ARailByWhichTheMemberHasNeverAnsweredSaysNothing)
{
    Roll both(3, 0, 3, 3), any(3, 0, 0, 3);

    both.unknown(1, 1);
    both.cut(1, 1);
    EXPECT_FALSE(both.run(10 * LIMIT));
    both.cut(1, 2);
    ASSERT_TRUE(both.run(2 * LIMIT));
    EXPECT_EQ(both.gone_, 1u);
    EXPECT_EQ(both.gone_rails_, 2u);
    any.unknown(1, 1);
    any.cut(1, 3);
    EXPECT_FALSE(any.run(10 * LIMIT)) << "the first rail alone may be there";
}

// All of a job filter them but the last one, which is gone.
TEST(Roll, ManyWhoNeverAnswerDelayTheOthersButLittle)
{
    Roll detector(100, 0, 1);
    const uint64_t start = detector.now_;

    for (uint32_t i = 1; i < 100; i++)
        detector.cut(i, 1);
    for (uint32_t i = 1; i < 99; i++)
        detector.unknown(i, 1);
    ASSERT_TRUE(detector.run(10 * LIMIT));
    EXPECT_EQ(detector.gone_, 99u);
    EXPECT_LE(detector.now_ - start, LIMIT + 4 * (LIMIT / 8 + 1));
}

// Ranks are dealt to hosts in turn, or by blocks, and some are not of the group.
TEST(Roll, OneMemberStandsForAHost)
{
    const uint32_t in_turn[] = {0, 1, 2, 0, 1, 2, 0}, blocks[] = {5, 5, 5, 1, 1, 3};
    uint32_t member[7];
    bool seen[6] = {}, seen_too[6] = {}, alone[6] = {};

    ASSERT_EQ(hwmc_detector_members(in_turn, 7, seen, member), 3u);
    EXPECT_EQ(std::vector<uint32_t>(member, member + 3), (std::vector<uint32_t>{0, 1, 2}));
    ASSERT_EQ(hwmc_detector_members(blocks, 6, seen_too, member), 3u);
    EXPECT_EQ(std::vector<uint32_t>(member, member + 3), (std::vector<uint32_t>{0, 3, 5}));
    EXPECT_EQ(hwmc_detector_members(blocks, 1, alone, member), 1u);
}

// More are silent than there are places: the first of them are gone at the limit all the same.
TEST(Roll, ManySilentOnesDoNotDelayTheFirst)
{
    Roll detector(1000, 0, 0);
    const uint64_t start = detector.now_;

    for (uint32_t i = 500; i < 1000; i++)
        detector.cut(i, 1);
    ASSERT_TRUE(detector.run(10 * LIMIT));
    EXPECT_EQ(detector.gone_, 500u);
    EXPECT_LE(detector.now_ - start, LIMIT + LIMIT / 8);
}
} // namespace
