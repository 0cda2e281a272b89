// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// The verbs fabric sends from memory that is lent to it, and gives it back. Skipped where
// fabric_verbs_test.cc is.
#include "fabric_verbs.h"

#include <set>

namespace {

/* Memory of the program's that is lent to `a`, in parts that fill a datagram each. */
class VerbsLent : public Verbs {
  protected:
    void SetUp() override
    {
        Verbs::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        part = attr.max_datagram - 1;
        for (size_t i = 0; i < PARTS * part; i++)
            memory.push_back((char) (i / part * 31 + i * 7));
        ASSERT_EQ(HWMC_OK, join(a, group));
        ASSERT_EQ(HWMC_OK, join(b, group));
        if (!a->ops->lend(a, memory.data(), memory.size()))
            GTEST_SKIP() << "no registration cache of UCX 1.13 to 1.16";
    }

    std::string text_of(size_t i) const
    {
        return (char) i + std::string(&memory[i * part], part);
    }

    /* How many of the parts `a` takes, from the first on. */
    int post_parts(size_t first)
    {
        hwmc_out out[PARTS];
        char head[PARTS];

        for (size_t i = first; i < PARTS; i++) {
            head[i] = (char) i;
            out[i - first] = {&head[i], 1, &memory[i * part], part};
        }
        return a->ops->post(a, group, out, (int) (PARTS - first));
    }

    /* Multicasts all parts until each has come. */
    void carry()
    {
        std::set<std::string> missing;
        auto end = Clock::now() + PATIENCE;

        for (size_t i = 0; i < PARTS; i++)
            missing.insert(text_of(i));
        while (!missing.empty() && Clock::now() < end) {
            for (size_t first = 0; first < PARTS && Clock::now() < end;) {
                int taken = post_parts(first);

                ASSERT_GE(taken, 0);
                first += (size_t) taken;
                if (taken == 0)
                    wait(a, 100);
                for (auto &s : poll(b))
                    missing.erase(s);
            }
            wait(b, 50);
            for (auto &s : poll(b))
                missing.erase(s);
        }
        EXPECT_TRUE(missing.empty());
    }

    void get_back()
    {
        auto end = Clock::now() + PATIENCE;

        while (!a->ops->returned(a, memory.data()) && Clock::now() < end)
            wait(a, 1000);
        EXPECT_TRUE(a->ops->returned(a, memory.data()));
    }

    static constexpr size_t PARTS = 40;
    size_t part = 0;
    std::vector<char> memory;
};

TEST_F(VerbsLent, IsSentFromThere)
{
    const hwmc_verbs_sent *sent = hwmc_fabric_verbs_sent(a), before = *sent;

    carry();
    EXPECT_EQ(before.copied, sent->copied);
    EXPECT_EQ((sent->requests - before.requests) * part, sent->lent - before.lent);
    /* Requests go in batches, and few have a completion. */
    EXPECT_GE(sent->requests - before.requests, PARTS);
    EXPECT_LE(sent->doorbells - before.doorbells, sent->requests - before.requests);
    EXPECT_LE(sent->signaled - before.signaled,
              (sent->requests - before.requests) / HWMC_VERBS_SIGNAL +
                  (sent->doorbells - before.doorbells) + 1);
    get_back();
    carry();
    EXPECT_GE(sent->copied - before.copied, PARTS * part);
}

TEST_F(VerbsLent, ComesBackWhenWhatWasPostedHasLeft)
{
    auto *v = (hwmc_verbs *) a;

    ASSERT_GT(post_parts(0), 0);
    get_back();
    EXPECT_EQ(0u, v->send.loans.num);
    EXPECT_EQ(v->send.posted, v->send.done);
    EXPECT_TRUE(a->ops->returned(a, memory.data())) << "it is not lent";
}

/* What arms the descriptors may take the very completion that is waited for. */
TEST_F(VerbsLent, ComesBackToWhoIsAboutToSleep)
{
    auto *v = (hwmc_verbs *) a;
    auto end = Clock::now() + PATIENCE;
    int fds[8];

    ASSERT_GT(post_parts(0), 0);
    hwmc_verbs_loans_ask(&v->send.loans, memory.data(), 1);
    EXPECT_EQ(1u, v->send.loans.num);
    while (v->send.loans.num > 0 && Clock::now() < end)
        a->ops->fds(a, fds, 8);
    EXPECT_EQ(0u, v->send.loans.num);
    EXPECT_EQ(0u, a->ops->deadline(a));
    while (!poll(a).empty())
        ;
    EXPECT_NE(0u, a->ops->deadline(a));
}

TEST_F(VerbsLent, ComesBackThoughNobodyAsksAgain)
{
    auto *v = (hwmc_verbs *) a;
    auto end = Clock::now() + PATIENCE;

    ASSERT_GT(post_parts(0), 0);
    a->ops->returned(a, memory.data());
    while (v->send.loans.num > 0 && Clock::now() < end) {
        wait(a, 100);
        a->ops->queued(a);
    }
    EXPECT_EQ(0u, v->send.loans.num);
}

/* Half of it lies elsewhere. */
TEST_F(VerbsLent, WhatReachesBeyondItIsCopied)
{
    std::vector<char> larger = memory;
    hwmc_out out = {"h", 1, larger.data() + part / 2, part};
    const hwmc_verbs_sent *sent = hwmc_fabric_verbs_sent(a), before = *sent;

    ASSERT_TRUE(a->ops->lend(a, larger.data(), part));
    ASSERT_EQ(1, a->ops->post(a, group, &out, 1));
    EXPECT_EQ(before.copied + part, sent->copied);
    EXPECT_EQ(before.lent, sent->lent);
    EXPECT_TRUE(a->ops->returned(a, larger.data()));
}

TEST_F(VerbsLent, HasABound)
{
    std::vector<std::vector<char>> more(HWMC_VERBS_LOANS_MAX, std::vector<char>(part));
    size_t lent = 1;

    EXPECT_FALSE(a->ops->lend(a, memory.data(), part)) << "the same again";
    for (auto &m : more)
        lent += a->ops->lend(a, m.data(), m.size());
    EXPECT_EQ((size_t) HWMC_VERBS_LOANS_MAX, lent);
    for (auto &m : more)
        EXPECT_TRUE(a->ops->returned(a, m.data()));
    EXPECT_TRUE(a->ops->lend(a, more[0].data(), part));
}

/* As if the port sent one of them never: a program is not to wait for that. */
TEST_F(VerbsLent, OfAPortThatSendsNothingIsGivenUp)
{
    hwmc_verbs_send *s = &((hwmc_verbs *) a)->send;

    ASSERT_GT(post_parts(0), 0);
    s->loans.one[0].last = s->posted + 1;
    EXPECT_FALSE(hwmc_verbs_send_returned(s, memory.data(), 1));
    EXPECT_FALSE(hwmc_verbs_send_returned(s, memory.data(), HWMC_VERBS_RETURN_NS));
    EXPECT_FALSE(s->broken);
    EXPECT_FALSE(hwmc_verbs_send_returned(s, memory.data(), 1 + HWMC_VERBS_RETURN_NS));
    EXPECT_TRUE(s->broken);
    EXPECT_EQ(HWMC_ERR_DEVICE, post(a, group, "no more"));
    s->loans.one[0].last = s->posted;
    get_back();
}

} // namespace
