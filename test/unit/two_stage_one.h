// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// One two_stage machine at one rank, with words for what goes in and out. Fragments have 10 bytes.
#ifndef HWMC_TEST_UNIT_TWO_STAGE_ONE_H_INCLUDED
#define HWMC_TEST_UNIT_TWO_STAGE_ONE_H_INCLUDED

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core.h"

constexpr uint64_t US = 1000;
constexpr uint64_t TAIL = HWMC_RTT_START_NS; // how long a rank waits at first

struct One {
    hwmc_counts counts = {};
    hwmc_ring ring = {};
    std::vector<uint64_t> words, bits;
    hwmc_two_stage m;
    uint64_t now = 1000 * US;
    hwmc_room room = {0xff, 0xff};

    One(uint32_t size, uint32_t rank, bool push = false, uint32_t max_frags = 8)
    {
        ring.size = size;
        ring.rank = rank;
        ring.push = push;
        ring.frag_bytes = 10;
        ring.max_frags = max_frags;
        ring.counts = &counts;
        hwmc_rtt_init(&ring.rtt);
        words.resize(hwmc_two_stage_words(max_frags));
        hwmc_two_stage_init(&m, 5, words.data(), &ring);
    }
    void check()
    {
        hwmc_two_stage_check(&m, &ring);
    }
    void root(uint32_t bytes, uint64_t until = 0)
    {
        hwmc_two_stage_post_root(&m, bytes, false, 1, until, &ring, now);
        check();
    }
    void member(uint32_t of, bool chosen = false)
    {
        hwmc_two_stage_post_member(&m, of, chosen, &ring, now);
        check();
    }
    // Fragment `index` of a broadcast of full fragments by rank `of`.
    hwmc_msg frag(uint32_t of, uint32_t frags, uint32_t index, bool lane = false)
    {
        hwmc_msg msg = {};

        msg.type = HWMC_MSG_DATA;
        msg.multicast = !lane;
        msg.data.rails = 1;
        msg.peer = lane ? hwmc_ring_prev(ring.rank, ring.size) : of;
        msg.bid = 5;
        msg.data.root = of;
        msg.data.frags = frags;
        msg.data.bytes = 10 * frags;
        msg.data.index = index;
        return msg;
    }
    hwmc_verdict data(const hwmc_msg &msg)
    {
        hwmc_verdict verdict = hwmc_two_stage_on_data(&m, &msg, &ring, now);
        check();
        return verdict;
    }
    hwmc_verdict cast(uint32_t of, uint32_t frags, uint32_t index)
    {
        return data(frag(of, frags, index));
    }
    hwmc_verdict lane(uint32_t of, uint32_t frags, uint32_t index, uint8_t flags = 0)
    {
        hwmc_msg msg = frag(of, frags, index, true);

        msg.flags = flags;
        return data(msg);
    }
    hwmc_verdict request(uint32_t frags, std::initializer_list<uint32_t> want)
    {
        hwmc_msg msg = {};

        msg.type = HWMC_MSG_NACK;
        msg.peer = hwmc_ring_next(ring.rank, ring.size);
        msg.bid = 5;
        msg.nack.frags = frags;
        bits.assign(hwmc_bitmap_words(frags), 0);
        for (uint32_t i : want)
            hwmc_bitmap_set(bits.data(), i);
        msg.nack.bits = frags ? bits.data() : nullptr;
        hwmc_verdict verdict = hwmc_two_stage_on_nack(&m, &msg, &ring, now);
        check();
        return verdict;
    }
    // Somebody tells this rank, the root, that it and its successor lack these; none: all.
    hwmc_verdict again(uint32_t frags, std::initializer_list<uint32_t> lack)
    {
        hwmc_msg msg = {};

        msg.type = HWMC_MSG_ROOT_NACK;
        msg.peer = hwmc_ring_next(ring.rank, ring.size);
        msg.bid = 5;
        msg.nack.root = ring.rank;
        msg.nack.frags = frags;
        bits.assign(hwmc_bitmap_words(frags), 0);
        for (uint32_t i : lack)
            hwmc_bitmap_set(bits.data(), i);
        msg.nack.bits = frags ? bits.data() : nullptr;
        hwmc_verdict verdict = hwmc_two_stage_on_root_nack(&m, &msg, &ring);
        check();
        return verdict;
    }
    void pass(uint64_t ns)
    {
        now += ns;
        hwmc_two_stage_on_timer(&m, &ring, now);
        check();
    }
    // A fragment of broadcast 5 + `ahead` comes by multicast on `rail`.
    void later(uint32_t ahead = 1, uint32_t rail = 0)
    {
        ring.rails |= (uint8_t) (1u << rail);
        ring.seen[rail] = (5 + (uint64_t) ahead) << 16 | 1;
        ring.heard[rail] = now;
        hwmc_two_stage_on_later(&m, &ring);
        check();
    }
    static bool take(const hwmc_msg &msg)
    {
        return msg.flags & HWMC_FLAG_AT_ONCE;
    }
    // All it sends now, in words; ! says that the flag AT_ONCE is set.
    std::string sends()
    {
        std::string text;
        hwmc_msg tx;

        while (hwmc_two_stage_next_send(&m, &ring, room, &tx, now)) {
            check();
            EXPECT_EQ(5u, tx.bid);
            text += text.empty() ? "" : ", ";
            if (tx.type == HWMC_MSG_READY) {
                text += "ready to " + std::to_string(tx.peer);
            } else if (tx.type == HWMC_MSG_OFFER) {
                text += "offer to " + std::to_string(tx.peer);
            } else if (tx.type != HWMC_MSG_DATA) {
                text += tx.type == HWMC_MSG_NACK        ? "ask"
                        : tx.type == HWMC_MSG_ROOT_NACK ? "tell"
                        : take(tx)                      ? "take"
                                                        : "seek";
                text += tx.nack.frags ? "" : " all";
                for (uint32_t i = 0; i < tx.nack.frags; i++)
                    if (hwmc_bitmap_test(tx.nack.bits, i))
                        text += " " + std::to_string(i);
                text += " of " + std::to_string(tx.peer);
            } else {
                text += (tx.multicast ? "cast " : "send ") + std::to_string(tx.data.index);
                if (!tx.multicast)
                    text += " to " + std::to_string(tx.peer);
                text += tx.flags & HWMC_FLAG_AT_ONCE ? "!" : "";
            }
        }
        return text;
    }
    bool done() const
    {
        return hwmc_two_stage_done(&m);
    }
    // When it asks its predecessor, or begins to multicast.
    uint64_t timer() const
    {
        return m.phase == HWMC_HOLD ? m.hold_until : m.tail_at;
    }
};

#endif // HWMC_TEST_UNIT_TWO_STAGE_ONE_H_INCLUDED
