// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// The udp fabric: datagrams that are expected, of which bodies come to where they belong.
#include "udp_fixture.h"

#include <algorithm>
#include <numeric>

namespace {

/* What is expected: datagrams of 4 bytes, "h00:" and so on, and 500 more each. */
struct Expected {
    hwmc_expected e = {};
    std::string memory, sent;
    int first = 0;

    explicit Expected(size_t num, size_t last = 500)
    {
        sent.resize((num - 1) * 500 + last);
        for (size_t i = 0; i < sent.size(); i++)
            sent[i] = static_cast<char>('a' + i / 500 * 7 % 26 + i % 3);
        memory.assign(sent.size(), '.');
        e.head = 4;
        e.body = 500;
        e.at = reinterpret_cast<unsigned char *>(&memory[0]);
        e.bytes = memory.size();
        e.is_next = [](const void *ctx, const void *h, uint32_t i) {
            const auto *x = static_cast<const Expected *>(ctx);
            return head(x->first + static_cast<int>(i))
                       .compare(0, 4, static_cast<const char *>(h), 4) == 0;
        };
        e.ctx = this;
    }
    Expected(const Expected &) = delete;
    static std::string head(int i)
    {
        return {'h', static_cast<char>('0' + i / 10), static_cast<char>('0' + i % 10), ':'};
    }
    std::string body(int i) const
    {
        return sent.substr(static_cast<size_t>(i) * 500, 500);
    }
    /* From number `from` on it is expected, the first `from` are there. */
    void expect_from(int from)
    {
        first = from;
        e.at = reinterpret_cast<unsigned char *>(&memory[0]) + from * 500;
        e.bytes = memory.size() - static_cast<size_t>(from) * 500;
    }
};

class UdpExpects : public Udp {
  protected:
    void SetUp() override
    {
        Udp::SetUp();
        if (!IsSkipped()) {
            ASSERT_EQ(HWMC_OK, b->ops->join(b, group));
        }
    }

    /* Posts these in one call. */
    void post(const Expected &x, const std::vector<int> &numbers)
    {
        std::vector<std::string> heads, bodies;
        std::vector<hwmc_out> out;

        for (int i : numbers) {
            heads.push_back(Expected::head(i));
            bodies.push_back(x.body(i));
        }
        for (size_t i = 0; i < numbers.size(); i++)
            out.push_back({heads[i].data(), heads[i].size(), bodies[i].data(), bodies[i].size()});
        ASSERT_EQ(static_cast<int>(out.size()),
                  a->ops->post(a, group, out.data(), static_cast<int>(out.size())));
    }

    /* What one poll brings; those read apart are counted. */
    Strings poll_into(const Expected &x, int *apart)
    {
        hwmc_in in[HWMC_BURST];
        Strings came;
        int got = b->ops->poll_into(b, &x.e, in, HWMC_BURST);

        *apart = 0;
        for (int i = 0; i < got; i++) {
            came.emplace_back(static_cast<const char *>(in[i].data), in[i].len);
            if (in[i].body == nullptr)
                continue;
            EXPECT_EQ(x.e.at + 500 * *apart, in[i].body);
            came.back().append(static_cast<const char *>(in[i].body), in[i].body_len);
            ++*apart;
        }
        return came;
    }

    static Strings texts(const Expected &x, const std::vector<int> &numbers)
    {
        Strings t;

        for (int i : numbers)
            t.push_back(Expected::head(i) + x.body(i));
        return t;
    }
};

TEST_P(UdpExpects, BodiesComeToWhereTheyBelong)
{
    Expected x(8, 100); /* the last one is short */
    int apart;

    post(x, {0, 1, 2});
    EXPECT_EQ(texts(x, {0, 1, 2}),
              poll_into(x, &apart)); /* how many come at once is not known yet */
    EXPECT_EQ(1, apart);
    x.expect_from(3);
    post(x, {3, 4, 5, 6, 7});
    EXPECT_EQ(texts(x, {3, 4, 5, 6, 7}), poll_into(x, &apart));
    EXPECT_EQ(3, apart);
    EXPECT_EQ(x.sent.substr(1500, 1500), x.memory.substr(1500, 1500));
    x.expect_from(3);
    post(x, {3, 4, 5, 6, 7});
    EXPECT_EQ(texts(x, {3, 4, 5, 6, 7}), poll_into(x, &apart));
    EXPECT_EQ(5, apart);
    EXPECT_EQ(x.sent.substr(1500), x.memory.substr(1500));
    EXPECT_EQ(Strings{}, poll_into(x, &apart));
}

TEST_P(UdpExpects, SeveralMessagesInOneCall)
{
    Expected x(9);
    int apart;

    post(x, {0, 1, 2});
    poll_into(x, &apart);
    x.expect_from(3);
    post(x, {3, 4, 5});
    post(x, {6, 7, 8});
    EXPECT_EQ(texts(x, {3, 4, 5, 6, 7, 8}), poll_into(x, &apart));
    EXPECT_EQ(6, apart);
    EXPECT_EQ(x.sent.substr(1500), x.memory.substr(1500));
}

/* A datagram of another kind between them does not change what is expected. What does not fit into
 * a call as a whole is left to the next one. */
TEST_P(UdpExpects, LongMessagesComeAsAWholeWhateverIsBetween)
{
    Expected x(90);
    std::vector<int> first(40), second(40);
    int apart;

    std::iota(first.begin(), first.end(), 0);
    std::iota(second.begin(), second.end(), 40);
    post(x, first);
    poll_into(x, &apart);
    x.expect_from(40);
    send(a, group, "h");
    EXPECT_EQ(Strings{"h"}, poll_into(x, &apart));
    post(x, second);
    post(x, {80, 81});
    EXPECT_EQ(texts(x, second), poll_into(x, &apart));
    EXPECT_EQ(40, apart);
    x.expect_from(80);
    EXPECT_EQ(texts(x, {80, 81}), poll_into(x, &apart));
    EXPECT_EQ(2, apart);
}

/* A gap, another order, more than expected, other lengths: all is handed over whole. */
TEST_P(UdpExpects, WhatIsNotExpectedIsPutTogether)
{
    Expected x(6);
    int apart;

    post(x, {0, 1});
    poll_into(x, &apart);
    x.expect_from(2);
    for (const std::vector<int> &other : {std::vector<int>{3, 4}, {2, 4}, {3, 2}, {1}, {0, 1, 2}}) {
        post(x, other);
        EXPECT_EQ(texts(x, other), poll_into(x, &apart));
        EXPECT_EQ(0, apart);
    }
    send(a, group, "h02:" + std::string(501, 'x'));
    send(a, group, "h");
    EXPECT_EQ((Strings{"h02:" + std::string(501, 'x'), "h"}), poll_into(x, &apart));
    EXPECT_EQ(0, apart);
    post(x, {2});
    EXPECT_EQ(texts(x, {2}), poll_into(x, &apart));
    EXPECT_EQ(1, apart);
}

/* More of them than there is room for: the rest is in the fabric's buffer. */
TEST_P(UdpExpects, WhatFollowsTheEndIsHandedOverWhole)
{
    Expected x(8);
    int apart;

    post(x, {0, 1, 2, 3});
    poll_into(x, &apart);
    x.expect_from(4);
    x.e.bytes = 1000;
    post(x, {4, 5, 6, 7});
    EXPECT_EQ(texts(x, {4, 5, 6, 7}), poll_into(x, &apart));
    EXPECT_EQ(2, apart);
    EXPECT_EQ(x.sent.substr(2000, 1000) + std::string(1000, '.'), x.memory.substr(2000));
    /* What was read before it was expected comes first, as it is. */
    post(x, {0, 1});
    hwmc_in one;
    ASSERT_EQ(1, b->ops->poll(b, &one, 1));
    x.expect_from(2);
    EXPECT_EQ(texts(x, {1}), poll_into(x, &apart));
    EXPECT_EQ(0, apart);
}

/* Another sender's burst comes between, and fills the call. What is left of messages that were read
 * apart lies in the fabric's memory, as the program's may be gone before the next poll. */
TEST_P(UdpExpects, WhatIsLeftToTheNextPollIsNotInTheProgramsMemory)
{
    Expected x(10);
    hwmc_in in[HWMC_BURST];
    int apart;

    for (int i = 0; i < 2; i++) { /* they come one by one */
        post(x, {0});
        poll_into(x, &apart);
    }
    post(x, {0});
    post(x, std::vector<int>(HWMC_BURST - 2, 9));
    for (int i : {2, 3, 4})
        post(x, {i});
    ASSERT_EQ((int) HWMC_BURST, b->ops->poll_into(b, &x.e, in, HWMC_BURST));
    ASSERT_EQ(x.e.at + 2 * 500, in[HWMC_BURST - 1].body);
    std::fill(x.memory.begin(), x.memory.end(), '!');
    EXPECT_EQ(texts(x, {3, 4}), poll(b));
}

INSTANTIATE_TEST_SUITE_P(Family, UdpExpects, testing::Values(HWMC_IPV4, HWMC_IPV6), name_of);

} // namespace
