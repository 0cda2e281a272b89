// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// net_stage: messages over a group of mem::Net, one stage a member, stepped in turn with the
// network.
#include "engine_groups.h"
#include "failing_memory.h"

extern "C" {
#include "op/net_stage.h"
}

namespace {

constexpr uint64_t MS = 1000000;
constexpr uint64_t PIN_MIN = 300;

mem::Net::Tweak ways(bool stays = true)
{
    return [=](hwmc_group_cfg &cfg) {
        cfg.trees = 2;
        cfg.window = cfg.far_window = 3;
        cfg.seg_bytes = 70;
        cfg.piece_bytes = 500;
        cfg.policy.stay = stays;
        cfg.policy.pause_ns = MS;
        cfg.policy.pause_max_ns = 100 * MS;
    };
}

// A message in memory: in one piece, or each byte followed by one that is not of it.
class Message {
  public:
    Message(const mem::Bytes &data, bool whole, bool filled)
        : bytes_(whole ? data.size() : 2 * data.size(), 0xee)
    {
        buffer.bytes = data.size();
        buffer.memory = whole ? reinterpret_cast<char *>(bytes_.data()) : nullptr;
        buffer.pack = pack;
        buffer.unpack = unpack;
        buffer.of = this;
        if (filled)
            hwmc_buffer_unpack(&buffer, 0, data.data(), data.size());
    }
    Message(const Message &) = delete;

    mem::Bytes packed()
    {
        mem::Bytes out(buffer.bytes);

        hwmc_buffer_pack(&buffer, 0, out.data(), out.size());
        return out;
    }
    // Nothing beside the message was touched.
    bool kept() const
    {
        for (size_t i = 1; buffer.memory == nullptr && i < bytes_.size(); i += 2)
            if (bytes_[i] != 0xee)
                return false;
        return true;
    }

    hwmc_buffer buffer = {};
    bool fails = false; // to be packed or unpacked

  private:
    static int pack(void *of, uint64_t at, void *to, uint64_t n)
    {
        auto *m = static_cast<Message *>(of);

        for (uint64_t i = 0; i < n; i++)
            static_cast<unsigned char *>(to)[i] = m->bytes_[2 * (at + i)];
        return m->fails ? HWMC_ERR_INVAL : HWMC_OK;
    }
    static int unpack(void *of, uint64_t at, const void *from, uint64_t n)
    {
        auto *m = static_cast<Message *>(of);

        for (uint64_t i = 0; i < n; i++)
            m->bytes_[2 * (at + i)] = static_cast<const unsigned char *>(from)[i];
        return m->fails ? HWMC_ERR_INVAL : HWMC_OK;
    }

    mem::Bytes bytes_;
};

// What all members do for one message.
struct Plan {
    uint32_t root = 0;
    bool along_trees = false;
    bool whole = true;         // the message lies in one piece
    uint64_t feed = 0;         // bytes that the root gets at a time; 0: it has all
    uint32_t odd = UINT32_MAX; // this member has room for `odd_bytes`
    uint32_t odd_bytes = 0;
};

class Stages {
  public:
    Stages(mem::Net &net, Groups &g, const Plan &plan, const mem::Bytes &data)
        : net_(net), plan_(plan), data_(data), stages_(g.size())
    {
        for (uint32_t r = 0; r < g.size(); r++) {
            const bool is_root = r == plan.root;
            hwmc_net_cfg cfg = {};
            mem::Bytes like = data;

            if (r == plan.odd)
                like.resize(plan.odd_bytes);
            messages_.push_back(std::make_unique<Message>(like, plan.whole, is_root));
            cfg.engine = net.engines[g[r]->world[r]];
            cfg.group = g[r];
            cfg.buffer = &messages_[r]->buffer;
            cfg.root = plan.root;
            cfg.is_root = is_root;
            cfg.along_trees = plan.along_trees;
            cfg.from_host = plan.feed > 0;
            cfg.pin_min = PIN_MIN;
            cfg.withdraw_ns = 10 * MS;
            hwmc_net_stage_begin(&stages_[r], &cfg);
        }
    }

    // One step of each member in turn; true: all are over.
    bool step()
    {
        bool over = true;

        for (hwmc_net_stage &s : stages_) {
            const uint64_t here = s.here;

            if (plan_.feed > 0 && (hwmc_net_stage_starves(&s) || hwmc_net_stage_hungers(&s)))
                s.available = std::min<uint64_t>(s.available + plan_.feed, data_.size());
            while (hwmc_net_stage_step(&s, net_.now) == HWMC_STAGE_COPY)
                hwmc_net_stage_copy(&s);
            hwmc_net_stage_check(&s);
            EXPECT_LE(here, s.here);
            expect_here(s);
            over = over && s.state == HWMC_NET_OVER;
        }
        return over;
    }

    // So many steps of the members and the network.
    void go(int steps)
    {
        for (int i = 0; i < steps; i++) {
            step();
            net_.step();
        }
    }

    // Until `is_reached`, which steps the members; time moves when nothing else does.
    void run_until(const std::function<bool()> &is_reached)
    {
        for (int i = 0; !is_reached(); i++) {
            ASSERT_LT(i, 20000);
            if (!net_.step())
                net_.now += MS / 4;
        }
    }

    // Until all are over.
    void run()
    {
        run_until([this] { return step(); });
        for (const hwmc_net_stage &s : stages_)
            EXPECT_FALSE(hwmc_group_pins(s.cfg.group));
    }

    void expect_data()
    {
        for (uint32_t r = 0; r < stages_.size(); r++) {
            EXPECT_EQ(HWMC_OK, stages_[r].err) << r;
            EXPECT_EQ(data_, messages_[r]->packed()) << r;
            EXPECT_TRUE(messages_[r]->kept()) << r;
        }
    }

    hwmc_net_stage &operator[](uint32_t rank)
    {
        return stages_[rank];
    }
    Message &message(uint32_t rank)
    {
        return *messages_[rank];
    }

  private:
    // What is said to be here is.
    void expect_here(const hwmc_net_stage &s) const
    {
        const hwmc_buffer *b = s.cfg.buffer;

        if (b->memory != nullptr && !s.cfg.is_root) {
            EXPECT_EQ(0, memcmp(b->memory, data_.data(), std::min<size_t>(s.here, b->bytes)));
        }
    }

    mem::Net &net_;
    const Plan plan_;
    const mem::Bytes data_;
    std::vector<std::unique_ptr<Message>> messages_;
    std::vector<hwmc_net_stage> stages_;
};

void bcast(mem::Net &net, Groups &g, const Plan &plan, const mem::Bytes &data)
{
    Stages stages(net, g, plan, data);

    stages.run();
    stages.expect_data();
}

void lose_some(mem::Net &net, uint32_t one_of)
{
    auto r = std::make_shared<std::minstd_rand>(3);

    net.passes = [=](uint32_t, uint32_t, const mem::Bytes &) { return (*r)() % one_of != 0; };
}

} // namespace

// About the edges of fragments, of what is pinned and of pieces; in turn along trees, and in parts.
TEST(NetStage, MessagesOfAllLengthsByEachWay)
{
    for (uint32_t p : {2, 3, 8}) {
        mem::Net net(p);
        Groups g = net.group(first(p), ways());
        uint32_t i = 0;

        net.settle();
        lose_some(net, 6);
        for (uint32_t n : {1, 99, 100, 101, 300, 301, 499, 500, 501, 999, 1000, 1001, 2600})
            for (int way = 0; way < 8; way++, i++) {
                Plan plan;

                plan.root = i % p;
                plan.along_trees = way & 1;
                plan.whole = (way & 2) == 0;
                plan.feed = way & 4 ? 170 : 0;
                bcast(net, g, plan, pattern(n, i));
            }
        EXPECT_EQ(0u, net.engines[p - 1]->wires.counts->bad);
        EXPECT_LT(0u, net.engines[p - 1]->wires.counts->multilane);
    }
}

// What a long message has brought is here before all of it is, by each way.
TEST(NetStage, WhatHasComeIsHereAtOnce)
{
    for (bool along_trees : {false, true}) {
        mem::Net net(2);
        Groups g = net.group(first(2), ways());
        mem::Bytes data = pattern(400, 1);
        Plan plan;
        bool some = false;

        net.settle();
        plan.along_trees = along_trees;
        net.passes = [](uint32_t, uint32_t, const mem::Bytes &b) { return index_of(b) != 3; };
        Stages stages(net, g, plan, data);
        for (int i = 0; i < 200; i++) {
            stages.step();
            net.step();
            some = some || (stages[1].here > 0 && stages[1].here < data.size());
        }
        EXPECT_TRUE(some) << along_trees;
        stages.run();
        stages.expect_data();
    }
}

// A member's own length is another one: it and nobody else gets an error that says so, and the next
// message goes well.
TEST(NetStage, LengthsThatDisagreeAreAnErrorAndAllStayInStep)
{
    for (bool along_trees : {false, true})
        for (uint32_t odd_bytes : {1, 499, 500, 700, 1000, 1500, 2600}) {
            mem::Net net(3);
            Groups g = net.group(first(3), ways());
            mem::Bytes data = pattern(1001, 1);
            Plan plan;

            net.settle();
            plan.odd = 2;
            plan.odd_bytes = odd_bytes;
            plan.along_trees = along_trees;
            Stages stages(net, g, plan, data);
            stages.run();
            EXPECT_EQ(HWMC_ERR_INVAL, stages[2].err) << along_trees << " " << odd_bytes;
            EXPECT_EQ(1001u, stages[2].theirs);
            EXPECT_EQ(odd_bytes, stages[2].ours);
            if (!along_trees) {
                EXPECT_EQ(HWMC_OK, stages[0].err);
                EXPECT_EQ(HWMC_OK, stages[1].err);
                bcast(net, g, Plan(), pattern(1200, 2));
            }
        }
}

// Rails stop working in mid-message: the rest goes along trees. A member that knows of no rest
// takes part in it.
TEST(NetStage, AMessageGoesOnAlongTrees)
{
    for (bool whole : {true, false})
        for (uint32_t odd : {UINT32_MAX, 2u}) {
            mem::Net net(3);
            Groups g = net.group(first(3), ways(false));
            mem::Bytes data = pattern(60000, 1);
            Plan plan;
            int steps = 0;

            net.settle();
            plan.whole = whole;
            plan.odd = odd;
            plan.odd_bytes = 3000;
            Stages stages(net, g, plan, data);
            for (; stages[0].at < 2500; steps++) {
                stages.step();
                net.step();
                ASSERT_LT(steps, 20000);
            }
            net.passes = [](uint32_t, uint32_t, const mem::Bytes &) { return false; };
            stages.run();
            EXPECT_LT(0u, net.engines[1]->wires.counts->multilane);
            if (odd == UINT32_MAX)
                stages.expect_data();
            else
                EXPECT_EQ(HWMC_ERR_INVAL, stages[2].err);
        }
}

// A member is lost after so many steps: the others get an error, and nothing of their memory is in
// use.
TEST(NetStage, EndsWhereverAMemberIsLost)
{
    for (bool along_trees : {false, true})
        for (uint32_t lost : {0u, 2u})
            for (int after = 0; after < 60; after += along_trees ? 1 : 3) {
                mem::Net net(4);
                Groups g = net.group(first(4), ways());
                Plan plan;

                net.settle();
                plan.along_trees = along_trees;
                Stages stages(net, g, plan, pattern(1700, 1));
                stages.go(after);
                for (uint32_t r = 0; r < 4; r++)
                    if (r != lost)
                        hwmc_engine_on_lost(net.engines[r], lost);
                hwmc_engine_on_lost(net.engines[lost], (lost + 1) % 4);
                stages.run();
                for (uint32_t r = 0; r < 4; r++)
                    EXPECT_TRUE(stages[r].err == HWMC_ERR_PEER || stages[r].err == HWMC_OK);
                if (after == 0) {
                    EXPECT_EQ(HWMC_ERR_PEER, stages[1].err);
                }
            }
}

// A rail sends from a root's memory, and the broadcast fails: it is over when the rail has returned
// the memory, or when it has had its time.
TEST(NetStage, AfterAnErrorRailsReturnTheMemoryOfARoot)
{
    for (bool returns : {false, true}) {
        mem::Net net(3);
        Groups g = net.group(first(3), ways());
        Plan plan;

        net.settle();
        net.fabric(0).keeps = true;
        Stages stages(net, g, plan, pattern(1700, 1));
        stages.go(2);
        ASSERT_EQ(1u, net.fabric(0).lent.size());
        for (uint32_t r = 0; r < 3; r++)
            hwmc_engine_on_lost(net.engines[r], (r + 1) % 3);
        stages.run_until([&] {
            stages.step();
            return stages[0].retreat.state == HWMC_RETREAT_WITHDRAWN;
        });
        EXPECT_EQ(HWMC_NET_RETREAT, stages[0].state);
        net.now += MS;
        stages.step();
        EXPECT_EQ(HWMC_NET_RETREAT, stages[0].state);
        net.fabric(0).keeps = !returns;
        net.now += returns ? 0 : 10 * MS;
        stages.step();
        EXPECT_EQ(HWMC_NET_OVER, stages[0].state);
        net.fabric(0).keeps = false;
        stages.run();
    }
}

// Whoever waits gives up, in any state; it is over when nothing of the memory is in use.
TEST(NetStage, CanBeGivenUpInAnyState)
{
    for (bool along_trees : {false, true})
        for (int after = 0; after < 60; after += along_trees ? 1 : 3) {
            mem::Net net(3);
            Groups g = net.group(first(3), ways());
            Plan plan;

            net.settle();
            plan.along_trees = along_trees;
            plan.whole = after % 2;
            Stages stages(net, g, plan, pattern(1700, 1));
            stages.go(after);
            for (uint32_t r = 0; r < 3; r++) {
                const bool over = stages[r].state == HWMC_NET_OVER;

                hwmc_net_stage_fail(&stages[r], HWMC_ERR_PEER, net.now);
                EXPECT_EQ(over, stages[r].err == HWMC_OK);
            }
            stages.run();
        }
}

// One member gives up, whatever the broadcast is at: the others end too, now or in the next one,
// and all can close the group.
TEST(NetStage, NobodyWaitsForAMemberThatGivesUp)
{
    for (bool along_trees : {false, true})
        for (uint32_t leaves = 0; leaves < 3; leaves++)
            for (int after = 0; after < 30; after += along_trees ? 1 : 3) {
                mem::Net net(3);
                Groups g = net.group(first(3), ways());
                Plan plan;

                net.settle();
                plan.along_trees = along_trees;
                Stages stages(net, g, plan, pattern(1700, 1));
                stages.go(after);
                if (stages[leaves].state == HWMC_NET_OVER)
                    continue;
                hwmc_net_stage_fail(&stages[leaves], HWMC_ERR_INVAL, net.now);
                stages.run();
                EXPECT_EQ(HWMC_ERR_INVAL, stages[leaves].err);
                Stages next(net, g, plan, pattern(1700, 2));
                next.run();
                for (uint32_t r = 0; r < 3; r++) {
                    EXPECT_EQ(HWMC_ERR_PEER, next[r].err) << along_trees << after << r;
                    EXPECT_EQ(leaves, g[r]->loss.rank);
                    hwmc_group_close(g[r], net.now);
                }
            }
}

TEST(NetStage, WithoutMemoryForAMessageInPiecesItFails)
{
    mem::Net net(2);
    Groups g = net.group(first(2), ways());
    Plan plan;

    net.settle();
    plan.along_trees = true;
    plan.whole = false;
    failing_memory::Range none(0, 1);
    Stages stages(net, g, plan, pattern(1700, 1));
    EXPECT_EQ(HWMC_ERR_NOMEM, stages[0].err);
    EXPECT_EQ(HWMC_NET_OVER, stages[0].state);
}

// Unpacking fails at one member: that is its error, and the broadcast is consumed.
TEST(NetStage, AnErrorOfUnpackingIsThatMembers)
{
    for (bool along_trees : {false, true}) {
        mem::Net net(3);
        Groups g = net.group(first(3), ways());
        Plan plan;

        net.settle();
        plan.along_trees = along_trees;
        plan.whole = false;
        Stages stages(net, g, plan, pattern(400, 1));
        stages.message(2).fails = true;
        stages.run();
        EXPECT_EQ(HWMC_OK, stages[0].err);
        EXPECT_EQ(HWMC_OK, stages[1].err);
        EXPECT_EQ(HWMC_ERR_INVAL, stages[2].err);
        bcast(net, g, Plan(), pattern(400, 2));
    }
}
