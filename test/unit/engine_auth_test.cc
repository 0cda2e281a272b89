// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Jobs whose messages are authenticated: what a stranger sends who sees everything and knows all
// but the secret.
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "engine_groups.h"

static const auto *const secret =
    reinterpret_cast<const unsigned char *>("thirty-two bytes that are random");
static const auto *const other =
    reinterpret_cast<const unsigned char *>("thirty-two bytes that are guesse");

namespace {

struct Seal {
    hwmc_auth *s;

    explicit Seal(uint32_t rank = 3, const unsigned char *key = secret)
        : s(hwmc_auth_create(rank, key))
    {
    }
    ~Seal()
    {
        hwmc_auth_destroy(s);
    }
    mem::Bytes put(uint32_t to, uint32_t high, const std::string &head, const std::string &body)
    {
        mem::Bytes b(HWMC_AUTH);

        hwmc_auth_put(s, b.data(), to, high, head.data(), head.size(), body.data(), body.size());
        return b;
    }
    bool check(const mem::Bytes &auth, uint32_t to, const std::string &message)
    {
        return hwmc_auth_check(s, auth.data(), to, &high, message.data(), message.size(), nullptr,
                               0);
    }
    uint32_t high = 0;
};

void inject(mem::Net &net, uint32_t host, const mem::Bytes &b, uint32_t rail = 0)
{
    net.fabric(host, rail).in.push_back(b);
    hwmc_engine_progress(net.engines[host], net.now += 1000);
}

uint64_t forged(const mem::Net &net, uint32_t host)
{
    return net.engines[host]->wires.engine_counts->drop_forged;
}

} // namespace

// The one-time key is ChaCha20's, as in RFC 8439, section 2.6.2, and the code Poly1305's: computed
// elsewhere.
TEST(Seal, IsWhatTheFormatSays)
{
    static const unsigned char code[16] = {0x0b, 0xec, 0xf1, 0x36, 0xe4, 0xc8, 0x19, 0xc1,
                                           0x91, 0x30, 0x1c, 0xa3, 0xd3, 0xba, 0xc5, 0xc1};
    Seal a;
    mem::Bytes auth = a.put(7, 5, "head", "body");

    EXPECT_EQ((mem::Bytes{0, 0, 0, 3, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0}),
              mem::Bytes(auth.begin(), auth.begin() + 16));
    EXPECT_EQ(0, memcmp(code, &auth[16], 16));
    EXPECT_EQ(1, a.put(7, 5, "head", "body")[15]); // another nonce, hence another code
    EXPECT_NE(0, memcmp(code, &a.put(7, 5, "head", "body")[16], 16));
}

TEST(Seal, IsGoodForThisMessageThisWayAndThisSecret)
{
    Seal a, b(4), c(4, other);
    mem::Bytes auth = a.put(7, 0x01020304, "head", "body");

    EXPECT_TRUE(b.check(auth, 7, "headbody"));
    EXPECT_EQ(0x01020304u, b.high);
    EXPECT_FALSE(b.check(auth, 6, "headbody"));
    EXPECT_FALSE(b.check(auth, 7, "headbodx"));
    EXPECT_FALSE(b.check(auth, 7, "headbod"));
    EXPECT_FALSE(b.check(auth, 7, std::string("headbody\0", 9)));
    EXPECT_FALSE(c.check(auth, 7, "headbody"));
    for (size_t bit = 0; bit < 8 * HWMC_AUTH; bit++) {
        mem::Bytes bad = auth;

        bad[bit / 8] ^= (unsigned char) (1 << bit % 8);
        EXPECT_FALSE(b.check(bad, 7, "headbody")) << bit;
    }
}

// The kernel says of each mapping whether it goes into core dumps ("dd": it does not) and is wiped
// in children.
TEST(Seal, ItsMemoryIsInNoCoreDumpAndInNoChild)
{
    Seal a;
    std::ifstream maps("/proc/self/smaps");
    std::string line, flags;
    bool here = false;

    while (std::getline(maps, line)) {
        unsigned long from, to;

        if (sscanf(line.c_str(), "%lx-%lx ", &from, &to) == 2 && line.find(':') > 20)
            here = (unsigned long) a.s >= from && (unsigned long) a.s < to;
        if (here && line.rfind("VmFlags:", 0) == 0)
            flags = line + " ";
    }
    EXPECT_NE(std::string::npos, flags.find(" dd ")) << flags;
    EXPECT_NE(std::string::npos, flags.find(" wf ")) << flags;
}

TEST(EngineSeal, SetsUpAndBroadcastsWithLossByMulticastLanesAndTrees)
{
    for (int push = 0; push < 2; push++) {
        mem::Net net(4, 64 << 20, 200, 1 << 20, 2);
        std::minstd_rand r(7);
        Groups g;

        net.auth(secret);
        net.passes = [&](uint32_t, uint32_t, const mem::Bytes &) { return r() % 100 >= 20; };
        g = net.group(first(4), [&](hwmc_group_cfg &cfg) { cfg.policy.first.push = push; });
        net.settle(300000000);
        expect_all(g, HWMC_GROUP_ON);
        for (uint32_t i = 0; i < 40; i++)
            broadcast(net, g, i % 4, pattern(i * 23 % 800, i));
        for (const mem::Bytes &b : net.wire)
            EXPECT_LE(b.size(), 200u);
        for (uint32_t h = 0; h < 4; h++)
            EXPECT_EQ(0u, forged(net, h));
    }
}

TEST(EngineSeal, WhatIsChangedOrOfAnotherSecretIsDroppedBeforeItIsLookedAt)
{
    mem::Net net(3);
    Groups g;
    mem::Bytes sent;

    net.auth(secret);
    g = net.group(first(3));
    net.settle();
    net.wire.clear();
    broadcast(net, g, 0, pattern(50, 1));
    sent = net.wire.front();
    for (size_t bit = 0; bit < 8 * sent.size(); bit++) {
        mem::Bytes bad = sent;

        bad[bit / 8] ^= (unsigned char) (1 << bit % 8);
        inject(net, 1, bad);
    }
    inject(net, 1, mem::Bytes(HWMC_AUTH - 1));
    inject(net, 1, mem::Bytes(sent.begin() + HWMC_AUTH, sent.end())); // without a seal
    Seal stranger(0, other);
    mem::Bytes resealed = sent;
    hwmc_auth_put(stranger.s, resealed.data(), HWMC_AUTH_TO_RAIL(0), 0, &sent[HWMC_AUTH],
                  sent.size() - HWMC_AUTH, nullptr, 0);
    inject(net, 1, resealed);
    const auto &c = *net.engines[1]->wires.engine_counts;
    EXPECT_EQ(8 * sent.size() + 2, c.drop_forged);
    EXPECT_EQ(1u, c.drop_format);
    EXPECT_EQ(0u, c.drop_foreign + c.drop_crc + net.engines[1]->wires.counts->bad);
    broadcast(net, g, 2, pattern(500, 2));
}

// Again on the same rail it is a copy; on another one, and by lane to another rank, it is not
// genuine.
TEST(EngineSeal, AMessageIsGoodOnlyTheWayItWent)
{
    mem::Net net(3, 64 << 20, 200, 1 << 20, 2);
    Groups g;

    net.auth(secret);
    std::vector<mem::Bytes> on[2];
    net.on_post = [&](const mem::Fabric &f, const mem::Bytes &b) { on[f.rail].push_back(b); };
    g = net.group(first(3));
    net.settle();
    for (uint32_t i = 0; i < 12; i++)
        broadcast(net, g, i % 3, pattern(800, i));
    for (uint32_t rail = 0; rail < 2; rail++) {
        ASSERT_FALSE(on[rail].empty());
        uint64_t before = forged(net, 1);
        for (const mem::Bytes &b : on[rail])
            inject(net, 1, b, rail);
        EXPECT_EQ(before, forged(net, 1));
        for (const mem::Bytes &b : on[rail])
            inject(net, 1, b, 1 - rail);
        EXPECT_EQ(before + on[rail].size(), forged(net, 1));
    }
    broadcast(net, g, 0, pattern(700, 99));
}

// The short header has the lower half of the number: with the upper one a datagram of 2^32
// broadcasts ago is old.
TEST(EngineSeal, ADatagramOfFourBillionBroadcastsAgoIsOld)
{
    mem::Net net(2);
    Groups g;

    net.auth(secret);
    g = net.group(first(2));
    net.settle();
    net.wire.clear();
    broadcast(net, g, 0, pattern(50, 1));
    mem::Bytes sent = net.wire.front();
    const uint64_t later = UINT64_C(1) << 32;
    for (auto *x : g) { // as if so many had been
        x->stream.posted += later;
        x->stream.channel.consumed += later;
        x->stream.channel.floor += later;
        x->stream.channel.up += later;
        for (auto &child : x->stream.channel.child)
            child += later;
        for (uint32_t i = 0; i < x->stream.channel.n; i++)
            x->stream.slots[i].bid += later;
    }
    uint64_t stale = net.engines[1]->wires.counts->stale;
    inject(net, 1, sent);
    EXPECT_EQ(stale + 1, net.engines[1]->wires.counts->stale);
    EXPECT_EQ(0u, net.engines[1]->wires.counts->dup);
}
