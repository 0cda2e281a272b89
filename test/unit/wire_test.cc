// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// The wire format, byte by byte as PROTOCOL.md has it.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#ifdef __x86_64__
#include <cpuid.h>
#endif

extern "C" {
#include "engine/wire/crc32c.h"
#include "engine/wire/wire.h"
}

static const hwmc_wire_id id = {0x0102030405060708, 0x11121314, 0x21222324, 0x31323334, false};

static hwmc_msg data_msg()
{
    hwmc_msg m = {};

    m.type = HWMC_MSG_DATA;
    m.bid = 0x4142434445464748;
    m.data.root = 3;
    m.data.index = 1;
    m.data.frags = 2;
    m.data.bytes = 9;
    m.flags = HWMC_FLAG_MORE;
    return m;
}

struct Encoded {
    unsigned char head[HWMC_WIRE_HEAD];
    unsigned char body[HWMC_WIRE_CONTROL_MAX];
    uint32_t len;
};

static Encoded encode(const hwmc_msg &m, const std::string &payload = "")
{
    Encoded e = {};

    memcpy(e.body, payload.data(), payload.size());
    e.len = hwmc_wire_encode(e.head, &id, 5, &m, e.body, (uint32_t) payload.size());
    return e;
}

static hwmc_wire_result decode(const Encoded &e, hwmc_wire_in *in, uint64_t job = id.job)
{
    return hwmc_wire_decode(in, job, false, e.head, sizeof(e.head), e.body, e.len);
}

TEST(Crc32c, HasTheCheckValue)
{
    EXPECT_EQ(hwmc_crc32c("123456789", 9), 0xe3069283u);
    EXPECT_EQ(hwmc_crc32c_more(hwmc_crc32c("1234", 4), "56789", 5), 0xe3069283u);
    EXPECT_EQ(hwmc_crc32c("", 0), 0u);
    uint64_t words[8];
    for (int i = 0; i < 8; i++) {
        words[i] = 0x123456789abcdef0u * (uint64_t) (i + 1);
        EXPECT_EQ(hwmc_crc32c_words(words, i + 1), hwmc_crc32c(words, 8 * (i + 1)));
    }
}

#ifdef __x86_64__
// The processor says whether upper halves of vector registers are in use.
static bool tells_upper_halves()
{
    unsigned a = 0, b, c, d;

    return __builtin_cpu_supports("avx") && __get_cpuid_count(0xd, 1, &a, &b, &c, &d) &&
           (a & 1u << 2);
}

static bool upper_halves_in_use()
{
    unsigned low, high;

    __asm__ volatile(".byte 0x0f, 0x01, 0xd0" : "=a"(low), "=d"(high) : "c"(1)); // xgetbv
    return low & 1u << 2;
}

// What follows would be slow on some processors.
TEST(Crc32c, LeavesNoUpperHalvesInUse)
{
    const std::vector<unsigned char> bytes(1432, 7);

    if (!tells_upper_halves())
        GTEST_SKIP() << "this processor does not tell";
    __asm__ volatile("vpcmpeqb %%xmm0, %%xmm0, %%xmm0\n\tvinsertf128 $1, %%xmm0, %%ymm0, %%ymm0" ::
                         : "xmm0");
    ASSERT_TRUE(upper_halves_in_use());
    hwmc_crc32c_more(0, bytes.data(), bytes.size());
    EXPECT_FALSE(upper_halves_in_use());
}
#endif

// The header is `want`, which has zeros for the CRC, and the payload "xyz".
static void expect_xyz(Encoded e, const unsigned char *want, size_t head_len)
{
    std::vector<unsigned char> all(want, want + head_len);
    uint32_t crc;

    all.insert(all.end(), {'x', 'y', 'z'});
    crc = hwmc_crc32c(all.data(), all.size());
    for (int i = 0; i < 4; i++) {
        EXPECT_EQ(e.head[4 + i], (unsigned char) (crc >> (24 - 8 * i)));
        e.head[4 + i] = 0;
    }
    EXPECT_EQ(0, memcmp(e.head, want, head_len));
    EXPECT_EQ(e.len, 3u);
}

TEST(Wire, DataHeaderIsAsSpecified)
{
    Encoded e = encode(data_msg(), "xyz");
    static const unsigned char want[HWMC_WIRE_HEAD] = {
        0x68, 0x6d, 7,    1,    0,    0,    0,    0,    1,    2,    3,    4,    5,
        6,    7,    8,    0x11, 0x12, 0x13, 0x14, 0x31, 0x32, 0x33, 0x34, 0x41, 0x42,
        0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0,    0,    0,    5,    0,    0,    0,
        3,    0,    0,    0,    1,    0,    0,    0,    2,    0,    0,    0,    9,
        0,    0,    0,    3,    0x21, 0x22, 0x23, 0x24, 0,    0,    0,    4};
    expect_xyz(e, want, sizeof(want));
}

TEST(Wire, DataComesBackAsItWent)
{
    Encoded e = encode(data_msg(), "xyz");
    hwmc_wire_in in;

    ASSERT_EQ(decode(e, &in), HWMC_WIRE_OK);
    EXPECT_EQ(in.id.context, id.context);
    EXPECT_EQ(in.id.leader, id.leader);
    EXPECT_EQ(in.id.generation, id.generation);
    EXPECT_EQ(in.msg.peer, 5u);
    EXPECT_EQ(in.msg.bid, data_msg().bid);
    EXPECT_EQ(in.msg.data.root, 3u);
    EXPECT_EQ(in.msg.data.index, 1u);
    EXPECT_EQ(in.msg.flags, (uint32_t) HWMC_FLAG_MORE);
    ASSERT_EQ(in.len, 3u);
    EXPECT_EQ(0, memcmp(in.payload, "xyz", 3));
}

static hwmc_msg cast_msg()
{
    hwmc_msg m = data_msg();

    m.multicast = true;
    m.data.rails = 6;
    return m;
}

static hwmc_wire_result decode_cast(const Encoded &e, hwmc_wire_in *in)
{
    return hwmc_wire_decode(in, id.job, false, e.head, HWMC_WIRE_CAST_HEAD, e.body, e.len);
}

TEST(Wire, CastHeaderIsAsSpecified)
{
    Encoded e = encode(cast_msg(), "xyz");
    static const unsigned char want[HWMC_WIRE_CAST_HEAD] = {
        0x68, 0x6d, 7,    32,   0,    0,    0,    0,    1,    2,    3,    4,    5,    6,
        7,    8,    0x21, 0x22, 0x23, 0x24, 0x31, 0x32, 0x33, 0x34, 0x45, 0x46, 0x47, 0x48,
        0,    0,    0,    3,    0,    0,    0,    9,    0,    1,    6,    4};
    expect_xyz(e, want, sizeof(want));
}

TEST(Wire, CastComesBackAsItWent)
{
    Encoded e = encode(cast_msg(), "xyz");
    hwmc_wire_in in;

    ASSERT_EQ(decode_cast(e, &in), HWMC_WIRE_OK);
    EXPECT_TRUE(in.cast);
    EXPECT_EQ(in.id.leader, id.leader);
    EXPECT_EQ(in.id.generation, id.generation);
    EXPECT_EQ(in.msg.type, HWMC_MSG_DATA);
    EXPECT_EQ(in.msg.peer, 3u); // the root sends
    EXPECT_EQ(in.msg.data.root, 3u);
    EXPECT_EQ(in.msg.bid, 0x45464748u);
    EXPECT_EQ(in.msg.data.index, 1u);
    EXPECT_EQ(in.msg.data.bytes, 9u);
    EXPECT_EQ(in.msg.data.rails, 6u);
    EXPECT_EQ(in.msg.flags, (uint32_t) HWMC_FLAG_MORE);
    ASSERT_EQ(in.len, 3u);
    EXPECT_EQ(0, memcmp(in.payload, "xyz", 3));
}

TEST(Wire, EveryFlippedBitOfACastIsNoticed)
{
    Encoded good = encode(cast_msg(), "payload");

    for (uint32_t bit = 0; bit < 8 * (HWMC_WIRE_CAST_HEAD + good.len); bit++) {
        Encoded e = good;
        hwmc_wire_in in;
        uint32_t at = bit / 8;
        unsigned char *p =
            at < HWMC_WIRE_CAST_HEAD ? e.head + at : e.body + at - HWMC_WIRE_CAST_HEAD;

        *p ^= (unsigned char) (1u << bit % 8);
        EXPECT_NE(decode_cast(e, &in), HWMC_WIRE_OK) << "bit " << bit;
    }
}

// The type says which header there is.
TEST(Wire, HeadersAreNotTakenForEachOther)
{
    Encoded data = encode(data_msg(), "xyz"), cast = encode(cast_msg(), "xyz");
    hwmc_wire_in in;

    EXPECT_EQ(decode_cast(data, &in), HWMC_WIRE_FORMAT);
    EXPECT_EQ(decode(cast, &in), HWMC_WIRE_FORMAT);
    EXPECT_EQ(hwmc_wire_head_of(data.head, 64), 64u);
    EXPECT_EQ(hwmc_wire_head_of(data.head, 63), 0u);
    EXPECT_EQ(hwmc_wire_head_of(cast.head, 40), 40u);
    EXPECT_EQ(hwmc_wire_head_of(cast.head, 39), 0u);
    EXPECT_EQ(hwmc_wire_head_of(cast.head, 3), 0u);
}

TEST(Wire, GrantsSayWhichRailsWereLate)
{
    hwmc_msg m = {};
    hwmc_wire_in in;

    m.type = HWMC_MSG_GRANT;
    m.grant.bytes = 9;
    m.grant.rails = 7;
    m.grant.late_rails = 5;
    Encoded e = encode(m, "");
    EXPECT_EQ(e.head[47], 5);
    EXPECT_EQ(e.head[60], 7);
    ASSERT_EQ(decode(e, &in), HWMC_WIRE_OK);
    EXPECT_EQ(in.msg.grant.rails, 7);
    EXPECT_EQ(in.msg.grant.late_rails, 5);
    EXPECT_EQ(in.msg.grant.bytes, 9u);
}

TEST(Wire, SegmentsNameTheirTreeAndPlace)
{
    hwmc_msg m = {};
    hwmc_wire_in in;

    m.type = HWMC_MSG_SEGMENT;
    m.flags = HWMC_FLAG_MORE;
    m.segment.tree = 3;
    m.segment.slot = 17;
    Encoded e = encode(m, "xyz");
    EXPECT_EQ(e.head[60], 0);
    EXPECT_EQ(e.head[61], 3);
    EXPECT_EQ(e.head[62], 17);
    EXPECT_EQ(e.head[63], HWMC_FLAG_MORE);
    ASSERT_EQ(decode(e, &in), HWMC_WIRE_OK);
    EXPECT_EQ(in.msg.segment.tree, 3);
    EXPECT_EQ(in.msg.segment.slot, 17);
    EXPECT_EQ(in.msg.flags, (uint32_t) HWMC_FLAG_MORE);
    EXPECT_EQ(in.len, 3u);
}

TEST(Wire, RequestCarriesItsBitmapLowestBitFirst)
{
    uint64_t bits[2] = {0x8000000000000001, 0x2};
    hwmc_msg m = {};
    hwmc_wire_in in;

    m.type = HWMC_MSG_NACK;
    m.nack.frags = 70;
    m.nack.bits = bits;
    Encoded e = encode(m);
    ASSERT_EQ(e.len, 16u);
    EXPECT_EQ(e.body[0], 1);
    EXPECT_EQ(e.body[7], 0x80);
    EXPECT_EQ(e.body[8], 2);
    ASSERT_EQ(decode(e, &in), HWMC_WIRE_OK);
    EXPECT_EQ(in.msg.nack.bits[0], bits[0]);
    EXPECT_EQ(in.msg.nack.bits[1], bits[1]);
}

TEST(Wire, TermsComeBackAsTheyWent)
{
    hwmc_parameters t = {1, 2, 3, 4, 5, 6, 7, 8, 0x0708090a0b0c0d0e, 0x1112131415161718};
    hwmc_msg m = {};
    hwmc_wire_in in;

    m.type = HWMC_MSG_DECIDE;
    m.parameters = &t;
    Encoded e = encode(m);
    ASSERT_EQ(e.len, HWMC_WIRE_PARAMETERS);
    ASSERT_EQ(decode(e, &in), HWMC_WIRE_OK);
    EXPECT_EQ(in.msg.parameters->stage, t.stage);
    EXPECT_EQ(in.msg.parameters->reason, t.reason);
    EXPECT_EQ(in.msg.parameters->rank, t.rank);
    EXPECT_EQ(in.msg.parameters->rails, t.rails);
    EXPECT_EQ(in.msg.parameters->frag_bytes, t.frag_bytes);
    EXPECT_EQ(in.msg.parameters->window, t.window);
    EXPECT_EQ(in.msg.parameters->generation, t.generation);
    EXPECT_EQ(in.msg.parameters->from, t.from);
    EXPECT_EQ(in.msg.parameters->group, t.group);
    EXPECT_EQ(in.msg.parameters->seed, t.seed);
}

TEST(Wire, EveryFlippedBitIsNoticed)
{
    Encoded good = encode(data_msg(), "payload");

    for (uint32_t bit = 0; bit < 8 * (HWMC_WIRE_HEAD + good.len); bit++) {
        Encoded e = good;
        hwmc_wire_in in;
        unsigned char *p =
            bit / 8 < HWMC_WIRE_HEAD ? e.head + bit / 8 : e.body + bit / 8 - HWMC_WIRE_HEAD;

        *p ^= (unsigned char) (1u << bit % 8);
        EXPECT_NE(decode(e, &in), HWMC_WIRE_OK) << "bit " << bit;
    }
}

TEST(Wire, OtherJobsAreTurnedAwayBeforeTheCrc)
{
    Encoded e = encode(data_msg(), "xyz");
    hwmc_wire_in in;

    e.head[4] ^= 1;
    EXPECT_EQ(decode(e, &in, 1), HWMC_WIRE_FOREIGN);
    EXPECT_EQ(decode(e, &in), HWMC_WIRE_CORRUPT);
}

TEST(Wire, LengthsThatContradictAreRefused)
{
    hwmc_wire_in in;
    Encoded e = encode(data_msg(), "xyz");

    EXPECT_EQ(hwmc_wire_decode(&in, id.job, false, e.head, 64, e.body, 2), HWMC_WIRE_FORMAT);
    EXPECT_EQ(hwmc_wire_decode(&in, id.job, false, e.head, 63, e.body, 3), HWMC_WIRE_FORMAT);

    hwmc_msg m = {};

    m.type = HWMC_MSG_READY;
    e = encode(m);
    EXPECT_EQ(e.len, 0u);
    EXPECT_EQ(decode(e, &in), HWMC_WIRE_OK);
    EXPECT_EQ(hwmc_wire_decode(&in, id.job, false, e.head, 64, e.body, 8), HWMC_WIRE_FORMAT);
}

TEST(Wire, RandomBytesNeverPass)
{
    uint64_t state = 1;

    for (int n = 0; n < 200000; n++) {
        Encoded e = {};
        hwmc_wire_in in;

        for (size_t i = 0; i < sizeof(e.head); i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            e.head[i] = (unsigned char) (state >> 56);
        }
        if (n % 2 == 0) // past the cheap checks
            memcpy(e.head, "\x68\x6d\x03", 3), memcpy(e.head + 8, "\1\2\3\4\5\6\7\10", 8);
        e.len = (uint32_t) (state >> 40) % sizeof(e.body);
        EXPECT_NE(decode(e, &in), HWMC_WIRE_OK);
    }
}
