// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Exchanges of a few members over lanes: messages of a lane between two members keep their order,
// those of different lanes do not. What happens next, a delivery or a step of a member, is drawn.
// Payload is carried, so that what was placed can be compared.
#ifndef HWMC_TEST_UNIT_EXCHANGE_NET_H_INCLUDED
#define HWMC_TEST_UNIT_EXCHANGE_NET_H_INCLUDED

#include <deque>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "core.h"
#include "sim_rng.h"

namespace exchange {

using Bytes = std::vector<unsigned char>;

struct Message {
    hwmc_msg msg;
    Bytes payload;
    uint32_t from;
    bool pinned;
};

struct Place {
    unsigned char *bytes = nullptr;
    uint32_t stride = 0, ring = 1;
};

struct Member {
    hwmc_exchange x;
    std::vector<hwmc_exchange_link> links;
    hwmc_counts counts = {};
    std::vector<hwmc_block_in> in;
    std::vector<hwmc_block_out> out;
    std::vector<Place> in_place, out_place;
    std::deque<Message> kept;
    std::size_t most_kept = 0;
};

class Net {
  public:
    const uint32_t size, lanes;
    sim::Rng rng;
    std::vector<Member> members;
    uint64_t now = 0;     // ns; moves when a test moves it
    uint64_t credits = 0; // messages that have come

    Net(uint32_t p, uint32_t eager, uint64_t seed, uint32_t num_lanes = 2,
        uint32_t spread = UINT32_MAX)
        : size(p), lanes(num_lanes), rng(seed), members(p)
    {
        for (uint32_t r = 0; r < p; r++) {
            hwmc_exchange_cfg cfg = {};
            Member &m = members[r];

            cfg.size = p;
            cfg.rank = r;
            cfg.eager = eager;
            cfg.spread = spread;
            cfg.links = 4;
            while (cfg.links < 2 * p)
                cfg.links *= 2;
            m.links.resize(cfg.links);
            hwmc_wrr_init(&cfg.wrr, lanes, nullptr);
            cfg.counts = &m.counts;
            hwmc_exchange_init(&m.x, &cfg, m.links.data());
        }
    }

    // One member has a block for another, all of it ready: both ends of it, and where it lies.
    void lay_block(uint32_t from, uint32_t to, uint8_t port, Bytes &out, Bytes &in, uint32_t part)
    {
        const uint32_t parts = hwmc_exchange_parts((uint32_t) out.size(), part);
        hwmc_block_in i = {};
        hwmc_block_out o = {};

        i.peer = from;
        o.peer = to;
        i.port = o.port = port;
        i.bytes = o.bytes = (uint32_t) out.size();
        i.window = o.ready = parts;
        members[to].in = {i};
        members[to].in_place = {{in.data(), part, parts}};
        members[from].out = {o};
        members[from].out_place = {{out.data(), part, parts}};
    }

    // The blocks and places of the member are set.
    void begin(uint32_t r, uint32_t part, uint64_t budget)
    {
        Member &m = members[r];
        std::deque<Message> kept;

        hwmc_exchange_begin(&m.x, m.in.data(), (uint32_t) m.in.size(), m.out.data(),
                            (uint32_t) m.out.size(), part, budget, now);
        kept.swap(m.kept);
        for (auto &k : kept)
            take(r, k, true);
        pump(r);
    }

    // Delivers one message of some lane. False: none is on the way.
    bool deliver()
    {
        std::vector<std::deque<Message> *> some;
        std::vector<uint32_t> to;

        for (auto &q : ways_)
            if (!q.second.empty()) {
                some.push_back(&q.second);
                to.push_back(std::get<1>(q.first));
            }
        if (some.empty())
            return false;
        const uint32_t which = (uint32_t) rng.below(some.size());
        Message msg = some[which]->front();

        some[which]->pop_front();
        if (msg.pinned) {
            hwmc_exchange_on_sent(&members[msg.from].x, msg.msg.block.token);
            pump(msg.from);
        }
        msg.msg.peer = msg.from;
        take(to[which], msg, false);
        pump(to[which]);
        return true;
    }

    void pump(uint32_t r)
    {
        Member &m = members[r];
        hwmc_msg tx;

        while (hwmc_exchange_next_send(&m.x, &tx)) {
            const bool part = hwmc_block_has_payload(&tx);
            const bool pinned = part && hwmc_exchange_by_lanes(&m.x, tx.block.bytes);
            Message msg = {tx, {}, r, pinned};

            if (part) {
                const uint32_t len =
                    hwmc_exchange_part_len(tx.block.bytes, m.x.part, tx.block.index);
                const Place &p = m.out_place[tx.block.token];
                const unsigned char *at = p.bytes + tx.block.index % p.ring * p.stride;

                msg.payload.assign(at, at + len);
            }
            ASSERT_LT(tx.block.lane, lanes);
            ways_[{r, tx.peer, pinned ? 1 + tx.block.lane : 0}].push_back(msg);
            hwmc_exchange_check(&m.x);
        }
        hwmc_exchange_check(&m.x);
    }

    uint64_t bad() const
    {
        return bad_;
    }

    bool idle() const
    {
        for (auto &q : ways_)
            if (!q.second.empty())
                return false;
        return true;
    }

  private:
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::deque<Message>> ways_;
    uint64_t bad_ = 0;

    void take(uint32_t r, const Message &msg, bool kept)
    {
        Member &m = members[r];
        hwmc_verdict verdict;
        uint32_t i = 0;

        switch (msg.msg.type) {
            case HWMC_MSG_BLOCK:
                verdict = hwmc_exchange_on_block(&m.x, &msg.msg, kept, &i);
                break;
            case HWMC_MSG_BLOCK_GRANT:
                verdict = hwmc_exchange_on_grant(&m.x, &msg.msg, kept);
                break;
            default:
                credits++;
                verdict = hwmc_exchange_on_credit(&m.x, &msg.msg);
                break;
        }
        if (verdict == HWMC_KEEP)
            m.kept.push_back(msg);
        if (verdict == HWMC_PLACE && !msg.payload.empty()) {
            const Place &p = m.in_place[i];

            memcpy(p.bytes + msg.msg.block.index % p.ring * p.stride, msg.payload.data(),
                   msg.payload.size());
        }
        bad_ += verdict == HWMC_BAD;
        m.most_kept = std::max(m.most_kept, m.kept.size());
        hwmc_exchange_check(&m.x);
    }
};

} // namespace exchange

#endif // HWMC_TEST_UNIT_EXCHANGE_NET_H_INCLUDED
