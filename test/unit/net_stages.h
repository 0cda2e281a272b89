// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// net_stage over a group of mem::Net: one stage a member, stepped in turn with the network.
#ifndef HWMC_TEST_UNIT_NET_STAGES_H_INCLUDED
#define HWMC_TEST_UNIT_NET_STAGES_H_INCLUDED

#include "engine_groups.h"

extern "C" {
#include "op/net_stage.h"
}

constexpr uint64_t PIN_MIN = 300;

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
            expect_returned(s);
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

    bool shares = false; // the adapters with others: they may have memory of theirs

  private:
    // No adapter has memory of a message that is over here.
    void expect_returned(const hwmc_net_stage &s) const
    {
        const hwmc_group *g = s.cfg.group;

        if (s.state != HWMC_NET_OVER || s.cfg.is_root)
            return;
        EXPECT_TRUE(g->direct.first == HWMC_NEVER);
        if (!shares) {
            EXPECT_TRUE(net_.fabric(g->world[g->cfg.rank]).direct.is_idle());
        }
    }

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

inline void bcast(mem::Net &net, Groups &g, const Plan &plan, const mem::Bytes &data)
{
    Stages stages(net, g, plan, data);

    stages.run();
    stages.expect_data();
}

inline void lose_some(mem::Net &net, uint32_t one_of)
{
    auto r = std::make_shared<std::minstd_rand>(3);

    net.passes = [=](uint32_t, uint32_t, const mem::Bytes &) { return (*r)() % one_of != 0; };
}

#endif // HWMC_TEST_UNIT_NET_STAGES_H_INCLUDED
