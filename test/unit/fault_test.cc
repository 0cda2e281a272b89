/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The fabric wrapper that spoils what comes, over a fabric that is a queue in memory.
 */
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <string>
#include <vector>

extern "C" {
#include "fabric/fault.h"
}

namespace {

uint64_t now;

uint64_t clock_of_test()
{
    return now;
}

/* What was put in comes out of poll, once. */
struct Queue {
    hwmc_fabric super;
    std::deque<std::string> waiting;
    std::vector<std::string> pinned;
    int closed = 0;
};

Queue *queue_of(hwmc_fabric *f)
{
    return reinterpret_cast<Queue *>(f);
}

void queue_query(hwmc_fabric *, hwmc_fabric_attr *attr)
{
    *attr = {64, 4096, 18};
}

int queue_draw(hwmc_fabric *, uint64_t *group)
{
    *group = 7;
    return HWMC_OK;
}

int queue_join(hwmc_fabric *, uint64_t)
{
    return HWMC_OK;
}

int queue_post(hwmc_fabric *f, uint64_t, const hwmc_out *out, int n)
{
    for (int i = 0; i < n; i++) {
        std::string s(static_cast<const char *>(out[i].head), out[i].head_len);
        s.append(static_cast<const char *>(out[i].body), out[i].body_len);
        queue_of(f)->waiting.push_back(s);
    }
    return n;
}

size_t queue_queued(hwmc_fabric *)
{
    return 77;
}

int queue_poll(hwmc_fabric *f, hwmc_in *in, int n)
{
    Queue *q = queue_of(f);
    int got = 0;

    q->pinned.clear();
    q->pinned.reserve(static_cast<size_t>(n));
    while (got < n && !q->waiting.empty()) {
        q->pinned.push_back(q->waiting.front());
        q->waiting.pop_front();
        in[got] = {q->pinned[got].data(), q->pinned[got].size(), nullptr, 0};
        got++;
    }
    return got;
}

int queue_fds(hwmc_fabric *, int *, int)
{
    return 0;
}

uint64_t queue_deadline(hwmc_fabric *)
{
    return UINT64_MAX;
}

void queue_close(hwmc_fabric *f)
{
    queue_of(f)->closed++;
}

const hwmc_fabric_ops queue_ops = {"queue",    queue_query,    queue_draw,  queue_join,
                                   queue_join, nullptr,        queue_post,  nullptr,
                                   nullptr,    queue_queued,   queue_poll,  nullptr,
                                   queue_fds,  queue_deadline, queue_close, nullptr};

class Fault : public ::testing::Test {
  protected:
    void SetUp() override
    {
        now = 1000000000;
        q.super.ops = &queue_ops;
    }

    void TearDown() override
    {
        if (f) {
            f->ops->close(f);
            EXPECT_EQ(1, q.closed);
        }
    }

    void open(const char *text, uint32_t rank = 0)
    {
        hwmc_fault_rules rules;
        const char *wrong;

        ASSERT_EQ(HWMC_OK, hwmc_fault_parse(text, &rules, &wrong)) << wrong;
        ASSERT_EQ(HWMC_OK, hwmc_fault_open(&q.super, &rules, rank, clock_of_test, &f));
    }

    void put(const std::string &s)
    {
        q.waiting.push_back(s);
    }

    std::vector<std::string> poll(int n = 32)
    {
        std::vector<hwmc_in> in(static_cast<size_t>(n));
        std::vector<std::string> came;
        int got = f->ops->poll(f, in.data(), n);

        EXPECT_LE(got, n);
        for (int i = 0; i < got; i++)
            came.emplace_back(static_cast<const char *>(in[i].data), in[i].len);
        return came;
    }

    /* Polls, n at a time, until all that was put in is taken and nothing comes. */
    std::vector<std::string> drain(int n)
    {
        std::vector<std::string> all;

        for (;;) {
            std::vector<std::string> some = poll(n);
            if (some.empty() && q.waiting.empty())
                return all;
            all.insert(all.end(), some.begin(), some.end());
        }
    }

    Queue q;
    hwmc_fabric *f = nullptr;
};

using Strings = std::vector<std::string>;

TEST(FaultRules, TakesEveryPart)
{
    hwmc_fault_rules r;
    const char *wrong;

    ASSERT_EQ(HWMC_OK, hwmc_fault_parse("drop=5,dup=0.25,reorder=100,corrupt=1.0001,"
                                        "delay=2.5:300,seed=9,after=3,until=17,rank=4",
                                        &r, &wrong));
    EXPECT_EQ(50000u, r.drop);
    EXPECT_EQ(2500u, r.dup);
    EXPECT_EQ(1000000u, r.reorder);
    EXPECT_EQ(10001u, r.corrupt);
    EXPECT_EQ(25000u, r.delay);
    EXPECT_EQ(300u, r.delay_us);
    EXPECT_EQ(9u, r.seed);
    EXPECT_EQ(3u, r.after);
    EXPECT_EQ(17u, r.until);
    EXPECT_EQ(4, r.rank);
}

TEST(FaultRules, PointsAtWhatIsWrong)
{
    const struct {
        const char *text;
        size_t at;
    } cases[] = {{"drop", 0},
                 {"drop=", 0},
                 {"drop=101", 0},
                 {"drop=-1", 0},
                 {"drop=5x", 0},
                 {"drop=5,what=1", 7},
                 {"seed=1,delay=5", 7},
                 {"delay=5:", 0},
                 {"drop=100.5", 0},
                 {"dr=1", 0},
                 {"rank=x", 0},
                 {"=1", 0},
                 {"seed=99999999999999999999", 0},
                 {"drop=1,,dup=1", 7}};

    for (const auto &c : cases) {
        hwmc_fault_rules r = {};
        const char *wrong = nullptr;

        EXPECT_EQ(HWMC_ERR_INVAL, hwmc_fault_parse(c.text, &r, &wrong)) << c.text;
        EXPECT_EQ(c.text + c.at, wrong) << c.text;
    }
}

TEST_F(Fault, WithoutRulesPassesAllInOrder)
{
    Strings sent;

    open("");
    for (int i = 0; i < 200; i++) {
        sent.push_back(std::to_string(i));
        put(sent.back());
    }
    EXPECT_EQ(sent, drain(3));
}

TEST_F(Fault, AfterAndUntilPickOneDatagram)
{
    open("drop=100,after=5,until=6");
    for (int i = 0; i < 8; i++)
        put(std::to_string(i));
    EXPECT_EQ((Strings{"0", "1", "2", "3", "4", "6", "7"}), drain(32));
}

TEST_F(Fault, OtherRanksAreSpared)
{
    open("drop=100,rank=3", 2);
    put("a");
    EXPECT_EQ(Strings{"a"}, poll());
}

TEST_F(Fault, DuplicatesEvenWhenTheCallerHasNoRoom)
{
    open("dup=100");
    put("a");
    put("b");
    EXPECT_EQ(Strings{"a"}, poll(1));
    EXPECT_LE(f->ops->deadline(f), now);
    EXPECT_EQ(Strings{"a"}, poll(1));
    EXPECT_EQ((Strings{"b", "b"}), drain(1));
}

TEST_F(Fault, ReordersNeighbours)
{
    open("reorder=100,until=1");
    put("a");
    put("b");
    put("c");
    EXPECT_EQ((Strings{"b", "a", "c"}), poll());
}

TEST_F(Fault, ReorderedLastOneComesLate)
{
    open("reorder=100");
    put("a");
    EXPECT_EQ(Strings{}, poll());
    ASSERT_NE(UINT64_MAX, f->ops->deadline(f));
    now = f->ops->deadline(f);
    EXPECT_EQ(Strings{"a"}, poll());
    EXPECT_EQ(UINT64_MAX, f->ops->deadline(f));
}

TEST_F(Fault, DelaysByTheTimeGiven)
{
    open("delay=100:250,until=1");
    put("a");
    put("b");
    EXPECT_EQ(Strings{"b"}, poll());
    EXPECT_EQ(now + 250000, f->ops->deadline(f));
    now += 249999;
    EXPECT_EQ(Strings{}, poll());
    now += 1;
    EXPECT_EQ(Strings{"a"}, poll());
}

TEST_F(Fault, CorruptsOneBitOfACopy)
{
    std::string sent(40, 'x');

    open("corrupt=100");
    put(sent);
    Strings came = poll();
    ASSERT_EQ(1u, came.size());
    ASSERT_EQ(sent.size(), came[0].size());
    int bits = 0;
    for (size_t i = 0; i < sent.size(); i++)
        bits += __builtin_popcount(static_cast<unsigned char>(sent[i] ^ came[0][i]));
    EXPECT_EQ(1, bits);
}

TEST_F(Fault, NothingIsLostWhenNoSlotIsFree)
{
    open("delay=100:1000");
    for (int i = 0; i < 300; i++)
        put(std::to_string(i));
    size_t came = drain(32).size();
    now += 1000000;
    came += drain(32).size();
    EXPECT_EQ(300u, came);
}

TEST_F(Fault, ManyDropsComeNearTheRate)
{
    open("drop=20,seed=5");
    for (int i = 0; i < 10000; i++)
        put("x");
    size_t came = drain(16).size();
    EXPECT_NEAR(8000.0, static_cast<double>(came), 200.0);
}

/* What becomes of a datagram depends on seed, rank and number, not on how polls fall. */
TEST_F(Fault, IsAFunctionOfSeedRankAndNumber)
{
    auto run = [&](const char *rules, uint32_t rank, int n) {
        Strings came;

        open(rules, rank);
        for (int i = 0; i < 500; i++)
            put(std::to_string(i));
        came = drain(n);
        f->ops->close(f);
        f = nullptr;
        return came;
    };
    Strings once = run("drop=30,seed=1", 1, 16);
    EXPECT_EQ(once, run("drop=30,seed=1", 1, 3));
    EXPECT_NE(once, run("drop=30,seed=2", 1, 16));
    EXPECT_NE(once, run("drop=30,seed=1", 2, 16));
}

TEST_F(Fault, HandsOnTheRest)
{
    uint64_t group = 0;
    hwmc_fabric_attr attr;
    hwmc_out out = {"he", 2, "llo", 3};

    open("");
    f->ops->query(f, &attr);
    EXPECT_EQ(64u, attr.max_datagram);
    EXPECT_EQ(HWMC_OK, f->ops->draw(f, &group));
    EXPECT_EQ(7u, group);
    EXPECT_EQ(HWMC_OK, f->ops->join(f, group));
    EXPECT_EQ(1, f->ops->post(f, group, &out, 1));
    EXPECT_EQ(Strings{"hello"}, poll());
    EXPECT_EQ(HWMC_OK, f->ops->leave(f, group));
    EXPECT_EQ(0, f->ops->fds(f, nullptr, 0));
}

} // namespace
