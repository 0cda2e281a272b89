// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// The verbs fabric receives into memory that is posted for that, and gives it back. Skipped where
// fabric_verbs_test.cc is.
#include "fabric_verbs.h"

#include <set>

namespace {

constexpr unsigned char POISON = 0xd7;

/* `a` multicasts datagrams that carry the parts of `sent`, `b` expects them in `memory`. Those of
 * the twin begin with "D" and the number of the part, others with "O". */
class VerbsDirect : public Verbs {
  protected:
    void SetUp() override
    {
        Verbs::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        part = attr.max_datagram - HEAD - 8;
        bytes = PARTS * part - 100;
        for (size_t i = 0; i < bytes; i++)
            sent.push_back((unsigned char) (i / part * 31 + i * 7));
        memory.assign(bytes, POISON);
        for (auto *f : {a, b}) {
            ASSERT_EQ(HWMC_OK, join(f, group));
            ASSERT_EQ(HWMC_OK, join_twin(f, group, &twin));
        }
        if (!begin())
            GTEST_SKIP() << "no registration cache of UCX 1.13 to 1.16";
    }

    static int join_twin(hwmc_fabric *f, uint64_t of, uint64_t *to)
    {
        auto end = Clock::now() + PATIENCE;
        int err;

        while ((err = f->ops->direct->join(f, of, to)) == HWMC_AGAIN && Clock::now() < end)
            ::poll(nullptr, 0, 1);
        return err;
    }

    static bool is_next(const void *, const void *head, uint32_t i)
    {
        auto *h = (const unsigned char *) head;

        return h[0] == 'D' && h[1] == i;
    }

    bool begin()
    {
        hwmc_expected e = {HEAD, part, memory.data(), bytes, is_next, this};
        const uint64_t begun = b->ops->direct->begin(b, &e);

        run = begun ? begun : run;
        return begun != 0;
    }

    size_t len_of(size_t i) const
    {
        return std::min(part, bytes - i * part);
    }

    void send(uint64_t to, size_t i, char kind = 'D')
    {
        const char head[HEAD] = {kind, (char) i};
        hwmc_out out = {head, HEAD, &sent[i * part], len_of(i)};
        auto end = Clock::now() + PATIENCE;
        int n;

        while ((n = a->ops->post(a, to, &out, 1)) == 0 && Clock::now() < end)
            wait(a, 10);
        ASSERT_EQ(1, n);
    }

    /* What comes within `ms` after the last that came: each is right; parts that came elsewhere are
     * kept, by their number. */
    void receive(int ms = 100)
    {
        auto end = Clock::now() + std::chrono::milliseconds(ms);

        while (Clock::now() < end) {
            hwmc_in in[64];
            int n = b->ops->poll(b, in, 64);

            for (int k = 0; k < n; k++)
                take(in[k]);
            if (n > 0)
                end = Clock::now() + std::chrono::milliseconds(ms);
            else
                wait(b, 5);
        }
    }

    void take(const hwmc_in &in)
    {
        auto *head = (const unsigned char *) in.data;
        const size_t i = head[1];

        ASSERT_LT(i, PARTS);
        if (in.body != nullptr) {
            EXPECT_EQ(&memory[i * part], in.body);
            ASSERT_EQ(len_of(i), in.body_len);
            EXPECT_EQ(0, memcmp(in.body, &sent[i * part], in.body_len));
            EXPECT_TRUE(placed.insert(i).second);
        } else {
            ASSERT_EQ(HEAD + len_of(i), in.len);
            EXPECT_EQ(0, memcmp(head + HEAD, &sent[i * part], in.len - HEAD)) << i;
            elsewhere.insert(i);
        }
    }

    /* Nothing has been written there. */
    bool is_poison() const
    {
        return std::all_of(memory.begin(), memory.end(),
                           [](unsigned char c) { return c == POISON; });
    }

    /* The memory is the program's again: nothing is written there whatever comes. */
    void expect_returned()
    {
        std::fill(memory.begin(), memory.end(), POISON);
        for (size_t i = 0; i < PARTS; i++)
            send(twin, i);
        receive();
        EXPECT_TRUE(is_poison());
    }

    /* All of the message comes to its place. */
    void expect_all_placed()
    {
        for (size_t i = 0; i < PARTS; i++)
            send(twin, i);
        receive();
        EXPECT_EQ(PARTS, placed.size());
        EXPECT_EQ(sent, memory);
    }

    const hwmc_verbs_directs &count() const
    {
        return *hwmc_fabric_verbs_directs(b);
    }

    static constexpr size_t PARTS = 40, HEAD = 40;
    size_t part = 0, bytes = 0;
    std::vector<unsigned char> sent, memory;
    std::set<size_t> placed, elsewhere;
    uint64_t twin = 0, run = 0;
};

TEST_F(VerbsDirect, ComesToItsPlace)
{
    ASSERT_EQ(bytes, b->ops->direct->extend(b, run, bytes));
    expect_all_placed();
    EXPECT_EQ(PARTS, count().placed);
    EXPECT_EQ(0u, count().aside);
    b->ops->direct->end(b, run, false);
    EXPECT_EQ(0u, count().flushes);
    expect_returned();
    EXPECT_TRUE(elsewhere.empty()) << "nothing is posted";
}

/* Memory is posted step by step; runs follow each other. */
TEST_F(VerbsDirect, OneRunAfterTheOther)
{
    for (uint64_t run = 1; run <= 5; run++) {
        for (size_t i = 0; i < PARTS; i++) {
            ASSERT_EQ(std::min(bytes, (i + 1) * part),
                      b->ops->direct->extend(b, run, (i + 1) * part));
            send(twin, i);
            if (i % 7 == 0)
                receive(20);
        }
        receive();
        EXPECT_EQ(run * PARTS, count().placed);
        EXPECT_EQ(sent, memory);
        b->ops->direct->end(b, run, false);
        std::fill(memory.begin(), memory.end(), POISON);
        placed.clear();
        ASSERT_TRUE(begin());
    }
    EXPECT_EQ(0u, count().flushes);
}

/* Each part is lost in turn, in a run of its own. */
TEST_F(VerbsDirect, AfterALossTheRestComesElsewhere)
{
    for (size_t lost : {0u, 1u, 17u, 38u}) {
        placed.clear();
        elsewhere.clear();
        std::fill(memory.begin(), memory.end(), POISON);
        ASSERT_EQ(bytes, b->ops->direct->extend(b, run, bytes));
        for (size_t i = 0; i < PARTS; i++)
            if (i != lost)
                send(twin, i);
        receive();
        EXPECT_EQ(lost, placed.size());
        EXPECT_GE(PARTS - 1 - lost, elsewhere.size()) << "what came meanwhile is lost too";
        EXPECT_EQ(0, memcmp(memory.data(), sent.data(), lost * part));
        EXPECT_EQ(0u, b->ops->direct->extend(b, run, bytes)) << "the run is over";
        expect_returned();
        EXPECT_EQ(PARTS, elsewhere.size()) << "but more of it comes elsewhere";
        b->ops->direct->end(b, run, false);
        ASSERT_TRUE(begin());
    }
    EXPECT_LE(4u, count().flushes);
}

/* Duplicates, what was not expected at all, and what is too short or too long for its place. */
TEST_F(VerbsDirect, WhatIsNotExpectedIsWhole)
{
    const std::string longest(part + 8, 'x');

    ASSERT_EQ(bytes, b->ops->direct->extend(b, run, bytes));
    send(twin, 0);
    send(twin, 0);
    send(twin, 1, 'X');
    receive();
    EXPECT_EQ(std::set<size_t>{0}, placed);
    EXPECT_EQ((std::set<size_t>{0, 1}), elsewhere);
    b->ops->direct->end(b, run, false);
    for (const std::string &text : {std::string("D"), std::string(HEAD, 'y') + longest}) {
        ASSERT_TRUE(begin());
        ASSERT_EQ(bytes, b->ops->direct->extend(b, run, bytes));
        EXPECT_TRUE(reaches(a, b, twin, text)) << text.size();
        b->ops->direct->end(b, run, false);
    }
    expect_returned();
}

/* What had come before the end and was not handed over is not lost. */
TEST_F(VerbsDirect, EndTakesMemoryBackAtOnce)
{
    ASSERT_EQ(bytes, b->ops->direct->extend(b, run, bytes));
    for (size_t i = 0; i < 5; i++)
        send(twin, i);
    wait(b, 1000);
    b->ops->direct->end(b, run, true);
    std::fill(memory.begin(), memory.end(), POISON);
    for (size_t i = 5; i < PARTS; i++)
        send(twin, i);
    receive();
    EXPECT_TRUE(is_poison());
    EXPECT_TRUE(placed.empty());
    EXPECT_LE(PARTS - 5, elsewhere.size())
        << "what came meanwhile may be lost, not what came after";
    expect_returned();
}

TEST_F(VerbsDirect, WhatIsPostedForWholeDatagramsIsTakenBackForTheNextRun)
{
    ASSERT_EQ(bytes, b->ops->direct->extend(b, run, bytes));
    send(twin, 3);
    receive();
    EXPECT_EQ(std::set<size_t>{3}, elsewhere);
    b->ops->direct->end(b, run, false);
    ASSERT_TRUE(begin());
    ASSERT_EQ(bytes, b->ops->direct->extend(b, run, bytes));
    expect_all_placed();
}

TEST_F(VerbsDirect, OtherDatagramsComeMeanwhile)
{
    ASSERT_EQ(bytes, b->ops->direct->extend(b, run, bytes));
    for (size_t i = 0; i < PARTS; i++) {
        send(group, i, 'O');
        send(twin, i);
    }
    receive();
    EXPECT_EQ(PARTS, placed.size());
    EXPECT_EQ(PARTS, elsewhere.size());
    EXPECT_EQ(sent, memory);
}

TEST_F(VerbsDirect, HasOneRunAtATime)
{
    EXPECT_FALSE(begin());
    b->ops->direct->end(b, run, false);
    EXPECT_TRUE(begin());
    b->ops->direct->end(b, run, false);
    b->ops->direct->end(b, run, false);
    EXPECT_EQ(0u, b->ops->direct->extend(b, run, bytes));
}

// The fabric ended the run of one group, and another one's has begun.
TEST_F(VerbsDirect, WhoseRunIsOverHasNothingToDoWithTheNext)
{
    const uint64_t before = run;

    ASSERT_EQ(bytes, b->ops->direct->extend(b, run, bytes));
    send(twin, 3);
    receive();
    ASSERT_TRUE(begin());
    EXPECT_NE(before, run);
    EXPECT_EQ(0u, b->ops->direct->extend(b, before, bytes));
    b->ops->direct->end(b, before, true);
    ASSERT_EQ(bytes, b->ops->direct->extend(b, run, bytes));
    expect_all_placed();
}

TEST_F(VerbsDirect, PostsNoMoreThanItHasSlotsFor)
{
    const size_t slots = ((hwmc_verbs *) b)->directs;

    b->ops->direct->end(b, run, false);
    bytes = (slots + 10) * part;
    memory.assign(bytes, POISON);
    ASSERT_TRUE(begin());
    EXPECT_EQ(slots * part, b->ops->direct->extend(b, run, bytes));
    b->ops->direct->end(b, run, false);
    EXPECT_EQ(0u, ((hwmc_verbs *) b)->direct.lists);
    bytes = sent.size();
    memory.assign(bytes, POISON);
    expect_returned();
}

/* What is posted does not complete: the queue pair is destroyed, and nothing is written. */
TEST_F(VerbsDirect, OfADeviceThatFailsNothingIsWritten)
{
    auto *v = (hwmc_verbs *) b;
    ibv_qp_attr attr = {};

    ASSERT_EQ(bytes, b->ops->direct->extend(b, run, bytes));
    attr.qp_state = IBV_QPS_RESET;
    ASSERT_EQ(0, ibv_modify_qp(v->direct.qp, &attr, IBV_QP_STATE));
    b->ops->direct->end(b, run, true);
    EXPECT_EQ(0u, v->direct.lists);
    EXPECT_EQ(nullptr, v->direct.qp);
    EXPECT_EQ(nullptr, v->direct.port.id->qp);
    EXPECT_EQ(HWMC_ERR_DEVICE, join_twin(b, group, &twin));
    expect_returned();
    EXPECT_EQ(1, post(b, twin, "sent all the same"));
    close(b);
    EXPECT_TRUE(is_poison());
}

/* Slots for whole datagrams cannot be taken back: the next run does not begin, and its memory is
 * registered once. */
TEST_F(VerbsDirect, ARunThatCannotBeginLeavesNothingRegistered)
{
    auto *v = (hwmc_verbs *) b;
    ibv_qp_attr attr = {};

    ASSERT_EQ(bytes, b->ops->direct->extend(b, run, bytes));
    send(twin, 3);
    receive();
    ASSERT_LT(0u, v->direct.wholes);
    attr.qp_state = IBV_QPS_RESET;
    ASSERT_EQ(0, ibv_modify_qp(v->direct.qp, &attr, IBV_QP_STATE));
    EXPECT_FALSE(begin());
    EXPECT_EQ(nullptr, v->direct.qp);
    EXPECT_EQ(nullptr, v->direct.registered);
    close(b);
}

/* The device goes while memory is posted: a run does not begin again, and memory is not written. */
TEST_F(VerbsDirect, AfterRemovalNoRunBegins)
{
    auto *v = (hwmc_verbs *) b;

    ASSERT_EQ(bytes, b->ops->direct->extend(b, run, bytes));
    v->members.gone = true;
    b->ops->direct->end(b, run, true);
    EXPECT_EQ(0u, v->direct.lists);
    EXPECT_FALSE(begin());
    expect_returned();
}

TEST_F(VerbsDirect, CloseWithMemoryPosted)
{
    ASSERT_EQ(bytes, b->ops->direct->extend(b, run, bytes));
    close(b);
    std::fill(memory.begin(), memory.end(), POISON);
    for (size_t i = 0; i < PARTS; i++)
        send(twin, i);
    ::poll(nullptr, 0, 50);
    EXPECT_TRUE(is_poison());
}

} // namespace
