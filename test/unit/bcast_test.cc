// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// bcast: broadcasts over several hosts of several ranks each: a leader of each host over mem::Net,
// the ranks of a host over a segment of their own.
#include "engine_groups.h"
#include <numeric>
#include <set>

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

// Small pieces, segments and windows.
void small(hwmc_group_cfg &cfg)
{
    cfg.trees = 2;
    cfg.window = cfg.far_window = 3;
    cfg.seg_bytes = 70;
    cfg.piece_bytes = 500;
}

// A broadcast at each rank of a network.
class Running {
  public:
    explicit Running(uint32_t hosts) : net(hosts)
    {
    }

    // One step of each rank that is there, in an order that changes; true: all are over.
    bool step()
    {
        bool over = true;

        clock_ns = net.now;
        for (size_t i = 0; i < ops.size(); i++) {
            const size_t rank = (i + turn_) % ops.size();

            if (gone.count(rank) == 0)
                over = hwmc_stage_step(&ops[rank]->stage) && over;
        }
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
    std::vector<std::unique_ptr<hwmc_bcast>> ops;
    std::vector<std::unique_ptr<mem::Bytes>> memory;
    std::set<size_t> gone; // ranks that are not stepped

  private:
    size_t turn_ = 0;
};

// Hosts of so many ranks; rank 0 of each is its leader.
class Job : public Running {
  public:
    explicit Job(const std::vector<uint32_t> &ranks) : Running(static_cast<uint32_t>(ranks.size()))
    {
        for (uint32_t n : ranks)
            hosts.push_back(std::make_unique<OneHost>(n));
        leaders = net.group(first(net.hosts), small);
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

    std::vector<std::unique_ptr<OneHost>> hosts;
    Groups leaders;
};

// Sites of so many hosts, each a rank, between which no multicast passes: the groups of
// comm/site_groups.h.
class Sites : public Running {
  public:
    explicit Sites(const std::vector<uint32_t> &sizes)
        : Running(std::accumulate(sizes.begin(), sizes.end(), 0u)), sizes_(sizes)
    {
        std::vector<uint32_t> gateways[2];

        for (uint32_t s = 0, host = 0; s < sizes.size(); s++) {
            std::vector<uint32_t> members;

            for (uint32_t place = 0; place < sizes[s]; place++) {
                site.push_back(s);
                members.push_back(host++);
            }
            for (uint32_t which = 0; which < 2; which++)
                gateways[which].push_back(members[gateway(s, which)]);
            inside.push_back(sizes[s] > 1 ? group(members, false) : Groups{nullptr});
            first_.push_back(members[0]);
        }
        for (uint32_t which = 0; which < 2; which++)
            between[which] = group(gateways[which], true);
        all = group(first(net.hosts), true);
        net.passes = [this](uint32_t from, uint32_t to, const mem::Bytes &) {
            return site[from] == site[to] && random_() % 8 != 0;
        };
        net.settle(1000 * MS);
        for (hwmc_group *g : all)
            EXPECT_EQ(HWMC_GROUP_ON, g->state);
        for (const Groups &groups : inside)
            for (hwmc_group *g : groups)
                EXPECT_TRUE(g == nullptr || g->state == HWMC_GROUP_ON);
        for (const Groups &groups : between)
            for (hwmc_group *g : groups)
                EXPECT_EQ(HWMC_GROUP_ON, g->state);
    }

    uint32_t gateway(uint32_t s, uint32_t which) const
    {
        return std::min(which, sizes_[s] - 1);
    }
    uint32_t place(uint32_t host) const
    {
        return host - first_[site[host]];
    }

    void begin(const mem::Bytes &data, uint32_t root, uint32_t which, bool whole)
    {
        ops.clear();
        memory.clear();
        for (uint32_t h = 0; h < net.hosts; h++) {
            const uint32_t own = site[h], at = site[root];
            const bool is_gateway = place(h) == gateway(own, which);
            hwmc_bcast_cfg cfg = {};
            hwmc_net_cfg in = {}, out;

            memory.push_back(
                std::make_unique<mem::Bytes>(h == root ? data : mem::Bytes(data.size())));
            cfg.buffer = {whole ? reinterpret_cast<char *>(memory.back()->data()) : nullptr,
                          data.size(), copy_pack, copy_unpack, memory.back().get()};
            cfg.is_root = h == root;
            cfg.all = all[h];
            in.engine = net.engines[h];
            in.withdraw_ns = MS;
            in.pin_min = 300;
            out = in;
            in.group = inside[own][sizes_[own] > 1 ? place(h) : 0];
            in.root = own == at ? place(root) : gateway(own, which);
            in.is_root = own == at ? h == root : is_gateway;
            in.from_host = own != at;
            out.group = is_gateway ? between[which][own] : nullptr;
            out.root = at;
            out.is_root = own == at;
            out.from_host = place(root) != gateway(at, which);
            out.along_trees = true;
            cfg.net = own == at ? in : out;
            cfg.gateway = own == at ? out : in;
            if (cfg.net.group == nullptr) {
                cfg.net = cfg.gateway;
                cfg.gateway.group = nullptr;
            }
            ops.push_back(std::make_unique<hwmc_bcast>());
            hwmc_bcast_begin(ops.back().get(), &cfg);
        }
    }

  private:
    Groups group(const std::vector<uint32_t> &members, bool apart)
    {
        return net.group(members, [&](hwmc_group_cfg &cfg) {
            small(cfg);
            cfg.apart = apart;
            cfg.key = ++key_;
        });
    }

    const std::vector<uint32_t> sizes_;
    std::vector<uint32_t> first_;
    std::minstd_rand random_{3};
    uint64_t key_ = 0;

  public:
    std::vector<uint32_t> site; // of each host
    std::vector<Groups> inside;
    Groups between[2], all;
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
                        hwmc_stage_fail(&job.ops[2]->stage, HWMC_ERR_PEER);
                    job.step();
                }
                EXPECT_TRUE(job.ops[2]->stage.over) << after;
                EXPECT_TRUE(job.ops[2]->stage.err == HWMC_ERR_PEER || *job.memory[2] == data)
                    << after;
                EXPECT_FALSE(hwmc_group_pins(job.leaders[1]));
                EXPECT_FALSE(job.ops[2]->net.pinned);
            }
}

TEST(BcastOfSites, FromEachHostByEachGateway)
{
    Sites job({3, 1, 2});
    uint32_t seed = 0;

    for (uint32_t n : {1, 100, 301, 500, 501, 2600})
        for (uint32_t root = 0; root < job.net.hosts; root++)
            for (uint32_t way = 0; way < 4; way++) {
                const mem::Bytes data = pattern(n, seed++);

                job.begin(data, root, way & 1, way & 2);
                job.run();
                job.expect(data);
            }
    EXPECT_TRUE(job.inside[0][0]->casts);
    EXPECT_GT(job.net.counts[0]->machines.two_stage, 0u);
    EXPECT_FALSE(job.between[0][0]->casts);
}

// A gateway gives on what has come while the rest is on its way: by trees to another site, and by
// multicast there.
TEST(BcastOfSites, AGatewaySendsTheBeginningBeforeTheEndHasCome)
{
    Sites job({2, 2});
    const mem::Bytes data = pattern(2600, 1);
    bool between = false, inside = false;

    job.begin(data, 0, 1, true);
    for (int i = 0; i < 20000 && !job.step(); i++) {
        between = between || (job.ops[3]->net.here > 0 && job.ops[1]->net.here < data.size());
        inside = inside || (job.ops[2]->net.here > 0 && job.ops[3]->net.here < data.size());
    }
    EXPECT_TRUE(between);
    EXPECT_TRUE(inside);
    EXPECT_EQ(data, *job.memory[2]);
}

// After so many steps a host is gone, and one other finds that out: all others end, with an error
// or with the message, and none has anything of its memory in use.
TEST(BcastOfSites, AHostThatIsGoneEndsItAtAllSites)
{
    for (uint32_t gone = 0; gone < 5; gone++)
        for (int after = 0; after < 40; after += 3) {
            Sites job({2, 3});
            const mem::Bytes data = pattern(1700, 1);
            bool some = false;

            job.begin(data, 0, after & 1, true);
            for (int i = 0; i < after; i++)
                job.step();
            job.net.away.insert(gone);
            job.gone.insert(gone);
            hwmc_engine_on_lost(job.net.engines[gone == 4 ? 3 : gone + 1], gone);
            for (int i = 0; i < 5000; i++)
                job.step();
            for (uint32_t h = 0; h < job.net.hosts; h++) {
                if (h == gone)
                    continue;
                EXPECT_TRUE(job.ops[h]->stage.over) << gone << " " << after << " " << h;
                EXPECT_TRUE(job.ops[h]->stage.err == HWMC_ERR_PEER || *job.memory[h] == data);
                EXPECT_EQ(HWMC_GROUP_BROKEN, job.all[h]->state);
                EXPECT_FALSE(job.ops[h]->net.pinned || job.ops[h]->gateway.pinned);
                if (job.ops[h]->stage.err == HWMC_OK)
                    continue;
                const hwmc_group *broken = job.ops[h]->stage.group;
                EXPECT_EQ(gone, broken->world[broken->loss.rank]) << after << " " << h;
                some = true;
            }
            EXPECT_TRUE(some || after > 12) << gone << " " << after;
        }
}
