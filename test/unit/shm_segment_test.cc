// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// segment: making, opening by name, and what is not taken for it.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <vector>

extern "C" {
#include "shm/coll/allreduce.h"
#include "shm/coll/gather.h"
#include "shm/segment/wakeup.h"
#include "shm/segment/group.h"
#include "shm/segment/segment.h"
}

namespace {

const hwmc_shm_layout layout = {4, 8, 2, 4096};

class NodeSegment : public testing::TestWithParam<hwmc_shm_segment_kind> {
  protected:
    void SetUp() override
    {
        ASSERT_EQ(HWMC_OK, hwmc_shm_segment_create(&s, &layout, GetParam()));
    }
    void TearDown() override
    {
        hwmc_shm_segment_close(&s);
    }

    hwmc_shm_segment s, t;
};

} // namespace

TEST_P(NodeSegment, IsTheSameMemoryForWhoAttaches)
{
    ASSERT_EQ(HWMC_OK, hwmc_shm_segment_attach(&t, &layout, s.name));
    EXPECT_EQ(hwmc_shm_segment_bytes(&layout), s.bytes);
    EXPECT_EQ(s.bytes, t.bytes);
    for (size_t i = HWMC_SHM_HEADER; i < s.bytes; i++)
        ASSERT_EQ(0, s.base[i]);
    s.base[s.bytes - 1] = 7;
    EXPECT_EQ(7, t.base[t.bytes - 1]);
    hwmc_shm_segment_close(&t);
    EXPECT_EQ(7, s.base[s.bytes - 1]);
}

// Or every rank would wake the others at every collective.
TEST_P(NodeSegment, NobodySleepsAtFirst)
{
    hwmc_shm_params params = hwmc_shm_params_default(layout.chunk);
    hwmc_shm_group g;

    ASSERT_EQ(HWMC_OK, hwmc_shm_group_init(&g, &s, 0, 0, &params));
    for (uint32_t rank : {HWMC_SHM_ANYONE, 0u, layout.ranks - 1}) {
        g.awaits = rank;
        EXPECT_EQ(0u, hwmc_shm_wakeup_sleepers(&g, rank));
        hwmc_shm_wakeup_listen(&g);
        EXPECT_EQ(1u, hwmc_shm_wakeup_sleepers(&g, rank));
        EXPECT_FALSE(hwmc_shm_wakeup_elsewhere(&g));
        hwmc_shm_wakeup_leave(&g);
        EXPECT_EQ(0u, hwmc_shm_wakeup_sleepers(&g, rank));
    }
    hwmc_shm_group_fini(&g);
}

// Or each that comes would wake all that wait for others.
TEST_P(NodeSegment, WhoWantsWhatAllHaveAwaitsOneAtATime)
{
    const auto step = [](hwmc_shm_op *op) {
        do
            EXPECT_EQ(HWMC_AGAIN, hwmc_shm_op_step(op));
        while (op->moved);
    };
    const hwmc_shm_operation nothing = {[](void *, void *, const void *, const void *, size_t) {},
                                        nullptr, 8, true};
    const hwmc_shm_vector parts = {nullptr, 8, 8};
    hwmc_shm_params params = hwmc_shm_params_default(layout.chunk);
    std::vector<uint64_t> out(layout.ranks);
    const uint64_t in = 1;
    hwmc_shm_gather w;
    hwmc_shm_allreduce a;
    hwmc_shm_tree tree = {};
    hwmc_shm_group g;

    ASSERT_EQ(HWMC_OK, hwmc_shm_group_init(&g, &s, 0, 0, &params));
    hwmc_shm_gather_begin_to_all(&w, &g, &in, sizeof(in), out.data(), &parts);
    step(&w.op);
    EXPECT_EQ(1u, g.awaits);
    hwmc_shm_group_fini(&g);

    params.reduction = HWMC_SHM_REDUCTION_EACH;
    ASSERT_EQ(HWMC_OK, hwmc_shm_group_init(&g, &s, 1, 0, &params));
    ASSERT_EQ(HWMC_OK, hwmc_shm_allreduce_begin(&a, &g, &tree, &nothing, &in, out.data(), 1));
    step(&a.op);
    EXPECT_EQ(layout.ranks - 1, g.awaits);
    hwmc_shm_group_fini(&g);
}

TEST_P(NodeSegment, HasNoNameOnceSealed)
{
    std::string object = std::string(s.name).substr(std::string(s.name).find(':') + 1);

    hwmc_shm_segment_seal(&s);
    EXPECT_EQ(HWMC_ERR_PEER, hwmc_shm_segment_attach(&t, &layout, s.name));
    EXPECT_NE(0, access(("/dev/shm" + object).c_str(), F_OK));
    s.base[s.bytes - 1] = 7; // it is still there
}

TEST_P(NodeSegment, OfAnotherLayoutIsNotTaken)
{
    hwmc_shm_layout other = layout;

    other.ranks = 5;
    EXPECT_EQ(HWMC_ERR_PEER, hwmc_shm_segment_attach(&t, &other, s.name));
    other = layout; // as many bytes
    other.buffers = 1;
    other.chunk = 2 * 4096;
    ASSERT_EQ(s.bytes, hwmc_shm_segment_bytes(&other));
    EXPECT_EQ(HWMC_ERR_PEER, hwmc_shm_segment_attach(&t, &other, s.name));
    EXPECT_EQ(nullptr, t.base);
}

INSTANTIATE_TEST_SUITE_P(Kinds, NodeSegment,
                         testing::Values(HWMC_SHM_SEGMENT_MEMFD, HWMC_SHM_SEGMENT_SHM));

TEST(NodeSegments, AnotherFileByThatNumberIsNotTaken)
{
    hwmc_shm_segment s, t;
    std::string name;

    ASSERT_EQ(HWMC_OK, hwmc_shm_segment_create(&s, &layout, HWMC_SHM_SEGMENT_MEMFD));
    name = s.name;
    name.back() = name.back() == '0' ? '1' : '0'; // the key
    EXPECT_EQ(HWMC_ERR_PEER, hwmc_shm_segment_attach(&t, &layout, name.c_str()));
    EXPECT_EQ(nullptr, t.base); // or who closes it would unmap what has been mapped there since
    name = "memfd:" + std::to_string(getpid()) + ":0:0123456789abcdef";
    EXPECT_EQ(HWMC_ERR_PEER, hwmc_shm_segment_attach(&t, &layout, name.c_str()));
    EXPECT_EQ(HWMC_ERR_INVAL, hwmc_shm_segment_attach(&t, &layout, ""));
    EXPECT_EQ(HWMC_ERR_INVAL, hwmc_shm_segment_attach(&t, &layout, "/etc/passwd"));
    EXPECT_EQ(HWMC_ERR_INVAL, hwmc_shm_segment_attach(&t, &layout, std::string(200, 'm').c_str()));
    hwmc_shm_segment_close(&s);
}

// Whoever has it open cannot make it shorter: a page that is not there would be a fault for the
// others.
TEST(NodeSegments, CannotBeMadeShorter)
{
    hwmc_shm_segment s;

    ASSERT_EQ(HWMC_OK, hwmc_shm_segment_create(&s, &layout, HWMC_SHM_SEGMENT_MEMFD));
    EXPECT_NE(0, ftruncate(s.fd, 4096));
    hwmc_shm_segment_close(&s);
}

TEST(NodeSegments, LayoutsHaveBounds)
{
    auto bytes = [](uint32_t ranks, uint32_t slots, uint32_t buffers, uint32_t chunk) {
        hwmc_shm_layout l = {ranks, slots, buffers, chunk};

        return hwmc_shm_segment_bytes(&l);
    };
    EXPECT_GT(bytes(1, 1, 1, 64), 0u);
    EXPECT_EQ(0u, bytes(0, 1, 1, 64));
    EXPECT_EQ(0u, bytes(4097, 1, 1, 64));
    EXPECT_EQ(0u, bytes(1, 0, 1, 64));
    EXPECT_EQ(0u, bytes(1, 3, 1, 64));
    EXPECT_EQ(0u, bytes(1, 128, 1, 64));
    EXPECT_EQ(0u, bytes(1, 1, 6, 64));
    EXPECT_EQ(0u, bytes(1, 1, 32, 64));
    EXPECT_EQ(0u, bytes(1, 1, 1, 63));
    EXPECT_EQ(0u, bytes(1, 1, 1, 65));
    EXPECT_EQ(0u, bytes(1, 1, 1, 1u << 25));
    // 4 buffers of 32 KiB, words and slots in less than 12 KiB.
    EXPECT_EQ(4096u + 256u * (4 * 32768 + 12288), bytes(256, 8, 4, 32768));
}
