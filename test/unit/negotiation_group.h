// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// What the tests of agree share: ranks in set-up on a network of their own, and programs that
// broadcast meanwhile.
#ifndef HWMC_TEST_UNIT_NEGOTIATION_GROUP_H_INCLUDED
#define HWMC_TEST_UNIT_NEGOTIATION_GROUP_H_INCLUDED

#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "core.h"
#include "sim_events.h"

namespace negotiation {

constexpr uint64_t US = 1000, MS = 1000 * US;
constexpr uint64_t KEY = 77;

// A small network for set-up alone; messages to a rank that has not started are lost.
struct Group {
    uint32_t p, k;
    std::vector<hwmc_parameters> offers;
    std::vector<uint64_t> start;
    std::vector<bool> joins;          // whether joining works
    std::vector<uint32_t> join_rails; // on which it does
    std::vector<bool> able;           // whether there is memory for broadcasts
    std::vector<bool> fits;           // ... and again where datagrams are shorter
    bool by_lanes = false;
    std::vector<bool> started;
    std::vector<hwmc_negotiation> ranks;
    uint64_t lane = 20 * US, cast = 10 * US, join = 5 * US, probe = 20 * MS;
    std::function<bool(uint32_t to, int nth)> lose = [](uint32_t, int) { return false; };
    std::function<bool(uint32_t to, uint8_t rail)> lose_rail = [](uint32_t, uint8_t) {
        return false;
    };
    // The longest payload that reaches a rank on a rail.
    std::function<uint32_t(uint32_t to, uint8_t rail)> passes = [](uint32_t, uint8_t) {
        return UINT32_MAX;
    };
    int probes = 0; // of full length
    int joined = 0, fitted = 0;
    uint64_t over_at = 0; // when the last rank knew the decision

    sim::Events<std::function<void()>> events{0};
    uint64_t now() const
    {
        return events.now();
    }

    Group(uint32_t size, uint32_t fanout)
        : p(size), k(fanout), offers(size), start(size, 0), joins(size, true),
          join_rails(size, ~0u), able(size, true), fits(size, true), started(size, false),
          ranks(size)
    {
        for (uint32_t r = 0; r < p; r++)
            offers[r] = {0, HWMC_REASON_NONE, r, 1, 1400 + r, 9000 - r, 5, 0, r ? 0 : 0xe1u, 42};
    }
    void all_offer(uint32_t rails)
    {
        for (hwmc_parameters &proposal : offers)
            proposal.rails = rails;
    }
    void at(uint64_t when, std::function<void()> what)
    {
        events.put(when, std::move(what));
    }
    void turn(uint32_t r)
    {
        hwmc_negotiation *a = &ranks[r];
        hwmc_msg tx;

        hwmc_negotiation_check(a);
        if (hwmc_negotiation_next_timer(a) <= now())
            hwmc_negotiation_on_timer(a, now());
        while (hwmc_negotiation_next_send(a, &tx, now())) {
            hwmc_negotiation_check(a);
            send(r, tx);
        }
        if (hwmc_negotiation_wants_join(a) && !joining[r]) {
            joining[r] = true;
            at(now() + join, [this, r] {
                joined++;
                if (hwmc_negotiation_wants_join(&ranks[r])) // it may have left
                    hwmc_negotiation_on_joined(&ranks[r], able[r], joins[r] ? join_rails[r] : 0,
                                               now());
                turn(r);
            });
        }
        if (hwmc_negotiation_wants_fit(a)) {
            fitted++;
            hwmc_negotiation_on_fitted(a, fits[r]);
            turn(r);
            return;
        }
        if (hwmc_negotiation_over(a) && !over[r]) {
            over[r] = true;
            over_at = now();
        }
        if (!programs.empty() && programs[r].waits && hwmc_negotiation_over(a))
            enter(r);
        uint64_t next = hwmc_negotiation_next_timer(a);
        if (next != HWMC_NEVER)
            at(next, [this, r, next] {
                if (hwmc_negotiation_next_timer(&ranks[r]) == next)
                    turn(r);
            });
    }
    // What the program of a rank does while set-up runs: broadcasts, one pause after the other, and
    // no more.
    struct Program {
        std::vector<uint64_t> pauses; // before each
        std::vector<bool> took;       // by the group, by number
        bool waits = false;
        bool left = false;
        int waited = 0;
    };
    std::vector<Program> programs; // empty: nobody has one
    void enter(uint32_t r)
    {
        Program &program = programs[r];
        auto number = (uint32_t) program.took.size();
        hwmc_negotiation_turn turn = hwmc_negotiation_enter(&ranks[r], number);

        program.waits = turn == HWMC_NEGOTIATION_AWAIT;
        program.waited += program.waits;
        if (program.waits)
            return;
        program.took.push_back(turn == HWMC_NEGOTIATION_TAKE &&
                               ranks[r].phase != HWMC_NEGOTIATION_NO);
        go_on(r);
    }
    void go_on(uint32_t r)
    {
        Program &program = programs[r];

        if (program.took.size() < program.pauses.size()) {
            at(now() + program.pauses[program.took.size()], [this, r] {
                enter(r);
                hwmc_negotiation_check(&ranks[r]);
            });
            return;
        }
        at(now(), [this, r] {
            programs[r].left = true;
            hwmc_negotiation_leave(&ranks[r]);
            turn(r);
        });
    }
    // All programs ended, and went the same ways.
    void expect_alike()
    {
        for (uint32_t r = 0; r < p; r++) {
            EXPECT_TRUE(programs[r].left) << "rank " << r;
            EXPECT_TRUE(hwmc_negotiation_settled(&ranks[r])) << "rank " << r;
            EXPECT_EQ(programs[0].took, programs[r].took) << "rank " << r;
        }
    }
    void send(uint32_t from, hwmc_msg tx)
    {
        bool has = tx.type == HWMC_MSG_REPORT || tx.type == HWMC_MSG_DECIDE;
        hwmc_parameters parameters = has ? *tx.parameters : hwmc_parameters{};
        uint32_t first = tx.multicast ? 0 : tx.peer, end = tx.multicast ? p : tx.peer + 1;

        EXPECT_EQ(KEY, tx.bid);
        probes += tx.multicast && tx.probe.bytes == ranks[0].agreed.frag_bytes;
        tx.peer = from;
        for (uint32_t to = first; to < end; to++) {
            if (to == from || (tx.multicast && (lose(to, probes) || lose_rail(to, tx.rail) ||
                                                tx.probe.bytes > passes(to, tx.rail))))
                continue;
            at(now() + (tx.multicast ? cast : lane), [this, to, tx, parameters, has]() mutable {
                if (!started[to])
                    return;
                if (has)
                    tx.parameters = &parameters;
                EXPECT_NE(HWMC_BAD, hwmc_negotiation_on_recv(&ranks[to], &tx, now()));
                turn(to);
            });
        }
    }
    void run()
    {
        joining.assign(p, false);
        over = joining;
        for (uint32_t r = 0; r < p; r++)
            if (start[r] != HWMC_NEVER)
                at(start[r], [this, r] {
                    started[r] = true;
                    hwmc_negotiation_start(&ranks[r], p, r, k, KEY, &offers[r], by_lanes, probe);
                    turn(r);
                    if (!programs.empty())
                        go_on(r);
                });
        while (!events.empty() && now() < 100000 * MS)
            events.take()();
        EXPECT_TRUE(events.empty());
    }
    // All came to the same end, with the same parameters, and nothing is left to do.
    void expect(uint32_t reason, uint32_t rank)
    {
        hwmc_msg tx;

        for (hwmc_negotiation &a : ranks) {
            EXPECT_EQ(!reason ? HWMC_NEGOTIATION_YES
                      : by_lanes && reason != HWMC_REASON_LANE && reason != HWMC_REASON_NOMEM
                          ? HWMC_NEGOTIATION_LANES
                          : HWMC_NEGOTIATION_NO,
                      a.phase);
            EXPECT_TRUE(hwmc_negotiation_settled(&a));
            EXPECT_EQ(reason, a.agreed.reason);
            EXPECT_EQ(0, memcmp(&a.agreed, &ranks[0].agreed, sizeof(a.agreed)));
            EXPECT_TRUE(reason == 0 || a.agreed.rank == rank);
            EXPECT_EQ(HWMC_NEVER, hwmc_negotiation_next_timer(&a));
            EXPECT_EQ(0, hwmc_negotiation_next_send(&a, &tx, now()));
        }
    }
    std::vector<bool> joining, over;
};

} // namespace negotiation

#endif // HWMC_TEST_UNIT_NEGOTIATION_GROUP_H_INCLUDED
