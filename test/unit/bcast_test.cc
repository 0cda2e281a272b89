// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// bcast: broadcasts over several hosts of several ranks each: a leader of each host over mem::Net,
// the ranks of a host over a segment of their own.
#include "engine_groups.h"
#include "one_host.h"

extern "C" {
#include "op/bcast.h"
#include "process/process.h"
}

uint64_t clock_ns; // what hwmc_now answers
static int locked;

extern "C" void hwmc_lock(void)
{
    ASSERT_EQ(0, locked++);
}

extern "C" void hwmc_unlock(void)
{
    ASSERT_EQ(0, --locked);
}

extern "C" uint64_t hwmc_now(void)
{
    return clock_ns;
}

namespace {

constexpr uint64_t MS = 1000000;

int copy_pack(void *of, uint64_t at, void *to, uint64_t n)
{
    memcpy(to, static_cast<mem::Bytes *>(of)->data() + at, n);
    return HWMC_OK;
}

int copy_unpack(void *of, uint64_t at, const void *from, uint64_t n)
{
    memcpy(static_cast<mem::Bytes *>(of)->data() + at, from, n);
    return HWMC_OK;
}

// Hosts of so many ranks; rank 0 of each is its leader.
class Job {
  public:
    explicit Job(const std::vector<uint32_t> &ranks) : net(static_cast<uint32_t>(ranks.size()))
    {
        for (uint32_t n : ranks)
            hosts.push_back(std::make_unique<OneHost>(n));
        leaders = net.group(first(net.hosts), [](hwmc_group_cfg &cfg) {
            cfg.trees = 2;
            cfg.window = cfg.far_window = 3;
            cfg.seg_bytes = 70;
            cfg.piece_bytes = 500;
        });
        net.settle();
    }

    // From rank `root` of host `at`.
    void begin(const mem::Bytes &data, uint32_t at, uint32_t root, bool along_trees, bool whole)
    {
        ops.clear();
        memory.clear();
        for (uint32_t h = 0; h < hosts.size(); h++)
            for (uint32_t r = 0; r < hosts[h]->ranks.size(); r++) {
                hwmc_bcast_cfg cfg = {};
                const bool is_root = h == at && r == root;

                memory.push_back(
                    std::make_unique<mem::Bytes>(is_root ? data : mem::Bytes(data.size())));
                cfg.buffer = {whole ? reinterpret_cast<char *>(memory.back()->data()) : nullptr,
                              data.size(), copy_pack, copy_unpack, memory.back().get()};
                cfg.is_root = is_root;
                cfg.host.group = &hosts[h]->ranks[r].group;
                cfg.host.from = h == at ? root : 0;
                cfg.host.tree = hwmc_shm_group_star(cfg.host.group, cfg.host.from);
                if (r == 0) {
                    cfg.net.engine = net.engines[h];
                    cfg.net.group = leaders[h];
                    cfg.net.root = at;
                    cfg.net.is_root = h == at;
                    cfg.net.withdraw_ns = MS;
                }
                cfg.net.along_trees = along_trees;
                cfg.net.from_host = root != 0;
                cfg.net.pin_min = 300;
                ops.push_back(std::make_unique<hwmc_bcast>());
                hwmc_bcast_begin(ops.back().get(), &cfg);
            }
    }

    // One step of each rank in an order that changes; true: all are over.
    bool step()
    {
        bool over = true;

        clock_ns = net.now;
        for (size_t i = 0; i < ops.size(); i++)
            over = hwmc_stage_step(&ops[(i + turn_) % ops.size()]->stage) && over;
        turn_ = turn_ * 5 + 1;
        if (!net.step())
            net.now += MS / 4;
        return over;
    }

    void run()
    {
        for (int i = 0; !step(); i++)
            ASSERT_LT(i, 20000);
    }

    void expect(const mem::Bytes &data)
    {
        for (size_t i = 0; i < ops.size(); i++) {
            EXPECT_EQ(HWMC_OK, ops[i]->stage.err) << i;
            EXPECT_EQ(data, *memory[i]) << i;
        }
    }

    mem::Net net;
    std::vector<std::unique_ptr<OneHost>> hosts;
    Groups leaders;
    std::vector<std::unique_ptr<hwmc_bcast>> ops;
    std::vector<std::unique_ptr<mem::Bytes>> memory;

  private:
    size_t turn_ = 0;
};

} // namespace

TEST(Bcast, FromEachRankByEachWay)
{
    const std::vector<uint32_t> ranks = {3, 1, 2, 4};
    Job job(ranks);
    std::minstd_rand r(3);
    uint32_t seed = 0;

    job.net.passes = [&](uint32_t, uint32_t, const mem::Bytes &) { return r() % 8 != 0; };
    for (uint32_t n : {1, 100, 301, 500, 501, 2600})
        for (uint32_t at = 0; at < ranks.size(); at++)
            for (uint32_t root = 0; root < ranks[at]; root++)
                for (int way = 0; way < 4; way++) {
                    const mem::Bytes data = pattern(n, seed++);

                    job.begin(data, at, root, way & 1, way & 2);
                    job.run();
                    job.expect(data);
                }
    EXPECT_EQ(0u, job.net.engines[0]->wires.counts->bad);
}

// A leader of another host gives on what has come while the rest is on its way.
TEST(Bcast, AHostHasTheBeginningBeforeTheEndHasCome)
{
    Job job({1, 2});
    const mem::Bytes data = pattern(2600, 1);
    bool some = false;

    job.net.passes = [](uint32_t, uint32_t, const mem::Bytes &b) { return index_of(b) != 3; };
    job.begin(data, 0, 0, false, true);
    for (int i = 0; i < 20000 && !job.step(); i++) {
        const uint64_t here = hwmc_host_stage_here(&job.ops[2]->host);

        EXPECT_EQ(0, memcmp(job.memory[2]->data(), data.data(), here));
        some = some || (here > 0 && here < data.size());
    }
    EXPECT_TRUE(some);
    job.expect(data);
}

// What a rank waits for decides how its caller waits.
TEST(Bcast, ALeaderThatHasNothingToSendWaitsForItsHost)
{
    Job job({2, 1});

    job.begin(pattern(400, 1), 0, 1, false, true);
    hwmc_stage_step(&job.ops[0]->stage);
    EXPECT_EQ(HWMC_STAGE_FOR_HOST, job.ops[0]->stage.waits);
    hwmc_stage_step(&job.ops[2]->stage);
    EXPECT_EQ(HWMC_STAGE_FOR_NET, job.ops[2]->stage.waits);
    job.run();
}

// After so many steps the network loses a host, or a host its segment: each rank there ends, with
// an error or with the message, and nothing of its memory is in use.
TEST(Bcast, AStageThatFailsEndsTheOther)
{
    for (bool in_host : {false, true})
        for (bool along_trees : {false, true})
            for (int after = 0; after < 40; after++) {
                Job job({2, 2});
                const mem::Bytes data = pattern(1700, 1);

                job.begin(data, 0, 1, along_trees, true);
                for (int i = 0; i < after; i++)
                    job.step();
                if (!in_host)
                    hwmc_engine_on_lost(job.net.engines[1], 0);
                for (int i = 0; i < 200; i++) {
                    if (in_host)
                        job.ops[2]->stage.ops->fail(&job.ops[2]->stage, HWMC_ERR_PEER);
                    job.step();
                }
                EXPECT_TRUE(job.ops[2]->stage.over) << after;
                EXPECT_TRUE(job.ops[2]->stage.err == HWMC_ERR_PEER || *job.memory[2] == data)
                    << after;
                EXPECT_FALSE(hwmc_group_pins(job.leaders[1]));
                EXPECT_FALSE(job.ops[2]->net.pinned);
            }
}
