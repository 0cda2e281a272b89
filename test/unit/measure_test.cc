// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// measure over a line with a latency, a rate, and a bucket that lets some bytes through at once.
#include <algorithm>
#include <vector>
#include <gtest/gtest.h>

#include "core.h"

namespace {

constexpr uint64_t US = 1000;

struct Line {
    uint64_t latency; // ns
    uint64_t mbit;
    uint64_t bucket;      // bytes
    uint64_t message = 0; // ns: each after the first takes
    uint64_t late = 0;    // one of its trains, counted from 1: 5 ms late
};

// Runs the measurement of these lines; ns it took. A bucket is full at first and fills at the
// line's rate.
uint64_t run(hwmc_measure &m, const std::vector<Line> &lines, std::vector<uint64_t> *sent = nullptr,
             uint32_t brief = 0)
{
    uint64_t now = 1000;
    hwmc_msg tx = {}, answer = {};
    uint64_t bucket = 0, filled = 0, trains = 0;
    uint32_t lane = UINT32_MAX;

    hwmc_measure_start(&m, 3, (1u << lines.size()) - 1, brief);
    for (int guard = 0; !hwmc_measure_done(&m) && guard < 1000; guard++) {
        uint64_t bytes = 0, messages = 0;

        while (hwmc_measure_next_send(&m, &tx, now)) {
            EXPECT_EQ(HWMC_MSG_MEASURE, tx.type);
            EXPECT_EQ(3u, tx.peer);
            bytes += tx.measure.bytes;
            messages++;
        }
        EXPECT_TRUE(tx.flags & HWMC_FLAG_AT_ONCE);
        const Line &line = lines[tx.measure.lane];
        if (sent)
            sent->push_back(bytes);
        if (tx.measure.lane != lane)
            bucket = line.bucket;
        else
            bucket = std::min(line.bucket, bucket + (now - filled) * line.mbit / 8000);
        trains = tx.measure.lane != lane ? 0 : trains + (tx.measure.bytes == HWMC_MEASURE_BYTES);
        lane = tx.measure.lane;
        if (line.late > 0 && trains == line.late && tx.measure.bytes == HWMC_MEASURE_BYTES)
            now += 5000 * US;
        now += 2 * line.latency + (messages - 1) * line.message;
        if (bytes > bucket)
            now += (bytes - bucket) * 8000 / line.mbit;
        bucket -= std::min(bucket, bytes);
        filled = now - line.latency;
        answer = tx;
        answer.flags = 0;
        answer.measure.bytes = 0;
        EXPECT_EQ(HWMC_TAKEN, hwmc_measure_on_answer(&m, &answer, now));
    }
    EXPECT_TRUE(hwmc_measure_done(&m));
    return now;
}

} // namespace

TEST(Measure, FindsLatencyAndRateOfEachLane)
{
    hwmc_measure m;

    run(m, {{50 * US, 100, 0}, {20 * US, 1000, 0}, {1 * US, 100000, 0}});
    EXPECT_EQ(50 * US, m.of[0].latency_ns);
    EXPECT_EQ(20 * US, m.of[1].latency_ns);
    EXPECT_EQ(1 * US, m.of[2].latency_ns);
    EXPECT_NEAR(100, m.of[0].mbit, 1);
    EXPECT_NEAR(1000, m.of[1].mbit, 10);
    EXPECT_NEAR(100000, m.of[2].mbit, 1000);
}

TEST(Measure, WhatABucketLetsThroughIsNotTheRate)
{
    hwmc_measure m;

    run(m, {{50 * US, 100, 32768}});
    EXPECT_NEAR(100, m.of[0].mbit, 3);
    EXPECT_NEAR(32768, m.of[0].burst, 32768 / 10);
    run(m, {{50 * US, 100, 0}});
    EXPECT_EQ(0u, m.of[0].burst);
}

// A peer that shares its processor is late now and then, also for a train that is a burst.
TEST(Measure, ATrainThatIsLateOnceIsNoLongOne)
{
    for (uint64_t late = 1; late <= 5; late++) {
        hwmc_measure m;

        run(m, {{50 * US, 1000, 32768, 0, late}});
        EXPECT_NEAR(1000, m.of[0].mbit, 100) << late;
        EXPECT_NEAR(32768, m.of[0].burst, 32768 / 2) << late;
    }
}

TEST(Measure, FindsTheTimeOfAMessage)
{
    hwmc_measure m;

    run(m, {{50 * US, 1000, 0, 3 * US}, {10 * US, 1000, 0, 500}});
    EXPECT_NEAR(3 * US, m.of[0].message_ns, 100);
    EXPECT_NEAR(500, m.of[1].message_ns, 100);
    EXPECT_EQ(50 * US, m.of[0].median_ns);
}

TEST(Measure, InBriefItSendsTrainsOfOneLength)
{
    std::vector<uint64_t> sent;
    hwmc_measure m;

    run(m, {{50 * US, 1000, 0}, {10 * US, 100, 0}}, &sent, 40);
    EXPECT_EQ(2 * (HWMC_MEASURE_PINGS + HWMC_MEASURE_TRAINS), sent.size());
    EXPECT_EQ(40 * HWMC_MEASURE_BYTES, sent[HWMC_MEASURE_PINGS]);
    EXPECT_EQ(50 * US, m.of[0].latency_ns);
    EXPECT_EQ(10 * US, m.of[1].median_ns);
    EXPECT_NEAR(1000, m.of[0].mbit, 10);
    EXPECT_NEAR(100, m.of[1].mbit, 1);
    EXPECT_EQ(HWMC_MEASURE_FIRST, hwmc_measure_train(1));
    EXPECT_EQ(45u, hwmc_measure_train(1000)); // 375,000 bytes
    EXPECT_EQ(HWMC_MEASURE_LAST, hwmc_measure_train(100000));
}

TEST(Measure, IsCheap)
{
    for (uint64_t mbit : {1, 10, 100, 1000, 10000, 400000}) {
        std::vector<uint64_t> sent;
        hwmc_measure m;
        uint64_t ns = run(m, {{10 * US, mbit, 0}}, &sent);
        uint64_t most = 0;

        for (uint64_t bytes : sent)
            most = std::max(most, bytes);
        EXPECT_LE(most, 1u << 20);
        EXPECT_LE(ns, 12 * HWMC_MEASURE_TRAIN_NS + 5 * 16384 * 8000 / mbit + 60 * 20 * US);
        EXPECT_NEAR((double) mbit, m.of[0].mbit, (double) mbit / 20 + 1);
    }
}

TEST(Measure, AFarLineThatIsFastIsFilled)
{
    hwmc_measure m;

    run(m, {{10000 * US, 10000, 0}});
    EXPECT_EQ(10000 * US, m.of[0].latency_ns);
    EXPECT_NEAR(10000, m.of[0].mbit, 100);
}

TEST(Measure, StrayAnswersChangeNothing)
{
    hwmc_measure m = {};
    hwmc_msg tx, answer = {};

    answer.type = HWMC_MSG_MEASURE;
    EXPECT_EQ(HWMC_BAD, hwmc_measure_on_answer(&m, &answer, 5)); // nobody asked
    hwmc_measure_start(&m, 3, 1, 0);
    answer.peer = 3;
    answer.bid = 1;
    EXPECT_EQ(HWMC_BAD, hwmc_measure_on_answer(&m, &answer, 5)); // before it was sent
    ASSERT_EQ(1, hwmc_measure_next_send(&m, &tx, 5));
    ASSERT_EQ(0, hwmc_measure_next_send(&m, &tx, 5));
    answer.bid = 2;
    EXPECT_EQ(HWMC_BAD, hwmc_measure_on_answer(&m, &answer, 9));
    answer.bid = 1;
    answer.peer = 4;
    EXPECT_EQ(HWMC_BAD, hwmc_measure_on_answer(&m, &answer, 9));
    answer.peer = 3;
    EXPECT_EQ(HWMC_TAKEN, hwmc_measure_on_answer(&m, &answer, 9));
    EXPECT_EQ(HWMC_STALE, hwmc_measure_on_answer(&m, &answer, 9)); // once more
    EXPECT_EQ(4u, m.rtt);
}
