// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Path migration: every event in every state against tables, the policy, and storms.
#include <gtest/gtest.h>

#include "core.h"

namespace {

using Comm = bcast_hw_apm_comm;
using Path = bcast_hw_apm_path;

const Comm COMMS[] = {BCAST_HW_APM_RESET, BCAST_HW_APM_INIT, BCAST_HW_APM_RTR, BCAST_HW_APM_RTS,
                      BCAST_HW_APM_SQD,   BCAST_HW_APM_SQE,  BCAST_HW_APM_ERR};

// A machine in that state, by what leads there; false where nothing does.
bool reach(bcast_hw_apm *m, Path path, Comm comm, bool specified)
{
    bool ok = true;
    auto to = [&](Comm c) { ok = ok && bcast_hw_apm_on_comm(m, c) == BCAST_HW_APM_TAKEN; };
    auto on = [&](bcast_hw_apm_event e) {
        ok = ok && bcast_hw_apm_on_event(m, e) == BCAST_HW_APM_TAKEN;
    };

    bcast_hw_apm_init(m, true);
    if (comm == BCAST_HW_APM_ERR && path == BCAST_HW_APM_MIGRATED && !specified) {
        to(BCAST_HW_APM_ERR);
        return ok;
    }
    if (comm >= BCAST_HW_APM_INIT)
        to(BCAST_HW_APM_INIT);
    if (specified)
        on(BCAST_HW_APM_ON_SPECIFY);
    if (comm >= BCAST_HW_APM_RTR)
        to(BCAST_HW_APM_RTR);
    if (path >= BCAST_HW_APM_REARM)
        on(BCAST_HW_APM_ON_LOAD);
    if (comm >= BCAST_HW_APM_RTS)
        to(BCAST_HW_APM_RTS);
    if (path == BCAST_HW_APM_ARMED)
        on(BCAST_HW_APM_ON_ARMED);
    if (comm >= BCAST_HW_APM_SQD)
        to(comm);
    bcast_hw_apm_check(m);
    return ok;
}

TEST(Apm, EveryEventInEveryState)
{
    // T taken, I illegal, S stale, - no such state. Columns: RESET INIT RTR RTS SQD SQE ERR.
    const struct {
        Path path;
        bool specified;
        bcast_hw_apm_event event;
        const char *verdicts;
        Path then;
    } rows[] = {
        {BCAST_HW_APM_MIGRATED, false, BCAST_HW_APM_ON_SPECIFY, "ITTTTII", BCAST_HW_APM_MIGRATED},
        {BCAST_HW_APM_MIGRATED, true, BCAST_HW_APM_ON_SPECIFY, "-TTTTII", BCAST_HW_APM_MIGRATED},
        {BCAST_HW_APM_REARM, true, BCAST_HW_APM_ON_SPECIFY, "--TTTII", BCAST_HW_APM_REARM},
        {BCAST_HW_APM_ARMED, true, BCAST_HW_APM_ON_SPECIFY, "---IIII", BCAST_HW_APM_ARMED},
        {BCAST_HW_APM_MIGRATED, false, BCAST_HW_APM_ON_LOAD, "IIIIIII", BCAST_HW_APM_MIGRATED},
        {BCAST_HW_APM_MIGRATED, true, BCAST_HW_APM_ON_LOAD, "-ITTTII", BCAST_HW_APM_REARM},
        {BCAST_HW_APM_REARM, true, BCAST_HW_APM_ON_LOAD, "--TTTII", BCAST_HW_APM_REARM},
        {BCAST_HW_APM_ARMED, true, BCAST_HW_APM_ON_LOAD, "---IIII", BCAST_HW_APM_ARMED},
        {BCAST_HW_APM_MIGRATED, true, BCAST_HW_APM_ON_ARMED, "-SSSSSS", BCAST_HW_APM_MIGRATED},
        {BCAST_HW_APM_MIGRATED, false, BCAST_HW_APM_ON_ARMED, "SSSSSSS", BCAST_HW_APM_MIGRATED},
        {BCAST_HW_APM_REARM, true, BCAST_HW_APM_ON_ARMED, "--STTTS", BCAST_HW_APM_ARMED},
        {BCAST_HW_APM_ARMED, true, BCAST_HW_APM_ON_ARMED, "---SSSS", BCAST_HW_APM_ARMED},
        {BCAST_HW_APM_MIGRATED, false, BCAST_HW_APM_ON_MIGRATE, "IIIIIII", BCAST_HW_APM_MIGRATED},
        {BCAST_HW_APM_MIGRATED, true, BCAST_HW_APM_ON_MIGRATE, "-IIIIII", BCAST_HW_APM_MIGRATED},
        {BCAST_HW_APM_REARM, true, BCAST_HW_APM_ON_MIGRATE, "--IIIII", BCAST_HW_APM_REARM},
        {BCAST_HW_APM_ARMED, true, BCAST_HW_APM_ON_MIGRATE, "---TIII", BCAST_HW_APM_ARMED},
        {BCAST_HW_APM_MIGRATED, false, BCAST_HW_APM_ON_MIGRATED, "SSSSSSS", BCAST_HW_APM_MIGRATED},
        {BCAST_HW_APM_MIGRATED, true, BCAST_HW_APM_ON_MIGRATED, "-SSSSSS", BCAST_HW_APM_MIGRATED},
        {BCAST_HW_APM_REARM, true, BCAST_HW_APM_ON_MIGRATED, "--STTTS", BCAST_HW_APM_MIGRATED},
        {BCAST_HW_APM_ARMED, true, BCAST_HW_APM_ON_MIGRATED, "---TTTS", BCAST_HW_APM_MIGRATED},
        {BCAST_HW_APM_MIGRATED, false, BCAST_HW_APM_ON_MIG_FAILED, "SSSTTTS",
         BCAST_HW_APM_MIGRATED},
        {BCAST_HW_APM_MIGRATED, true, BCAST_HW_APM_ON_MIG_FAILED, "-SSTTTS", BCAST_HW_APM_MIGRATED},
        {BCAST_HW_APM_REARM, true, BCAST_HW_APM_ON_MIG_FAILED, "--STTTS", BCAST_HW_APM_REARM},
        {BCAST_HW_APM_ARMED, true, BCAST_HW_APM_ON_MIG_FAILED, "---TTTS", BCAST_HW_APM_ARMED},
    };
    const char letters[] = {'T', 'S', 'I'};

    for (const auto &r : rows) {
        for (size_t i = 0; i < std::size(COMMS); i++) {
            bcast_hw_apm m;

            SCOPED_TRACE(testing::Message()
                         << "path " << r.path << " comm " << COMMS[i] << " event " << r.event);
            if (!reach(&m, r.path, COMMS[i], r.specified)) {
                EXPECT_EQ('-', r.verdicts[i]);
                continue;
            }
            bcast_hw_apm before = m;
            bcast_hw_apm_verdict v = bcast_hw_apm_on_event(&m, r.event);
            bcast_hw_apm_check(&m);
            EXPECT_EQ(r.verdicts[i], letters[v]);
            if (v == BCAST_HW_APM_TAKEN)
                EXPECT_EQ(r.then, m.path);
            else
                EXPECT_EQ(0, memcmp(&before, &m, sizeof(m)));
        }
    }
}

TEST(Apm, EveryCommunicationStateAfterEveryOther)
{
    // x: may follow. Rows from, columns to: RESET INIT RTR RTS SQD SQE ERR.
    const char *const follows[] = {
        "xx....x", "xxx...x", "x..x..x", "x..xxxx", "x..xxxx", "x..x..x", "x.....x",
    };

    for (Path path : {BCAST_HW_APM_MIGRATED, BCAST_HW_APM_REARM, BCAST_HW_APM_ARMED}) {
        for (size_t from = 0; from < std::size(COMMS); from++) {
            for (size_t to = 0; to < std::size(COMMS); to++) {
                bcast_hw_apm m;

                SCOPED_TRACE(testing::Message() << path << ": " << from << " to " << to);
                if (!reach(&m, path, COMMS[from], path != BCAST_HW_APM_MIGRATED))
                    continue;
                bool taken = bcast_hw_apm_on_comm(&m, COMMS[to]) == BCAST_HW_APM_TAKEN;
                bcast_hw_apm_check(&m);
                EXPECT_EQ(follows[from][to] == 'x', taken);
                EXPECT_EQ(taken ? COMMS[to] : COMMS[from], m.comm);
                EXPECT_EQ(COMMS[to] == BCAST_HW_APM_RESET ? BCAST_HW_APM_MIGRATED : path, m.path);
            }
        }
    }
}

// The head of apm.h as a test.
TEST(Apm, KeepsAnAlternatePathLoaded)
{
    bcast_hw_apm m;

    bcast_hw_apm_init(&m, true);
    EXPECT_EQ(BCAST_HW_APM_NOTHING, bcast_hw_apm_next(&m));
    bcast_hw_apm_on_comm(&m, BCAST_HW_APM_INIT);
    EXPECT_EQ(BCAST_HW_APM_SPECIFY, bcast_hw_apm_next(&m));
    bcast_hw_apm_on_event(&m, BCAST_HW_APM_ON_SPECIFY);
    EXPECT_EQ(BCAST_HW_APM_NOTHING, bcast_hw_apm_next(&m)) << "not before RTR";
    bcast_hw_apm_on_comm(&m, BCAST_HW_APM_RTR);
    EXPECT_EQ(BCAST_HW_APM_LOAD, bcast_hw_apm_next(&m));
    bcast_hw_apm_on_event(&m, BCAST_HW_APM_ON_LOAD);
    bcast_hw_apm_on_comm(&m, BCAST_HW_APM_RTS);
    EXPECT_EQ(BCAST_HW_APM_NOTHING, bcast_hw_apm_next(&m));
    bcast_hw_apm_on_event(&m, BCAST_HW_APM_ON_ARMED);
    EXPECT_EQ(BCAST_HW_APM_NOTHING, bcast_hw_apm_next(&m));

    bcast_hw_apm_on_port(&m, 0, false);
    EXPECT_EQ(BCAST_HW_APM_MIGRATE, bcast_hw_apm_next(&m));
    bcast_hw_apm_on_event(&m, BCAST_HW_APM_ON_MIGRATE);
    EXPECT_EQ(BCAST_HW_APM_NOTHING, bcast_hw_apm_next(&m));
    EXPECT_EQ(BCAST_HW_APM_ILLEGAL, bcast_hw_apm_on_event(&m, BCAST_HW_APM_ON_MIGRATE));
    bcast_hw_apm_on_event(&m, BCAST_HW_APM_ON_MIGRATED);
    EXPECT_EQ(1, m.primary);
    EXPECT_TRUE(m.asked_for_last);
    EXPECT_EQ(BCAST_HW_APM_LATER, bcast_hw_apm_next(&m));

    bcast_hw_apm_on_port(&m, 0, true);
    EXPECT_EQ(BCAST_HW_APM_SPECIFY, bcast_hw_apm_next(&m));
    bcast_hw_apm_on_event(&m, BCAST_HW_APM_ON_SPECIFY);
    EXPECT_EQ(BCAST_HW_APM_LOAD, bcast_hw_apm_next(&m));
}

TEST(Apm, AMigrationOfTheHardwares)
{
    bcast_hw_apm m;

    ASSERT_TRUE(reach(&m, BCAST_HW_APM_ARMED, BCAST_HW_APM_RTS, true));
    EXPECT_EQ(BCAST_HW_APM_TAKEN, bcast_hw_apm_on_event(&m, BCAST_HW_APM_ON_MIGRATED));
    EXPECT_FALSE(m.asked_for_last);
    EXPECT_EQ(BCAST_HW_APM_LATER, bcast_hw_apm_next(&m)) << "its port is active, but is the path?";
    bcast_hw_apm copy = m;
    bcast_hw_apm_trust(&m);
    EXPECT_EQ(BCAST_HW_APM_SPECIFY, bcast_hw_apm_next(&m));
    bcast_hw_apm_on_port(&copy, 0, false);
    EXPECT_EQ(BCAST_HW_APM_LATER, bcast_hw_apm_next(&copy));
    bcast_hw_apm_on_port(&copy, 0, true);
    EXPECT_EQ(BCAST_HW_APM_SPECIFY, bcast_hw_apm_next(&copy)) << "which was the reason";
    EXPECT_EQ(BCAST_HW_APM_STALE, bcast_hw_apm_on_event(&m, BCAST_HW_APM_ON_MIGRATED));
}

TEST(Apm, MovesWhatHardwareCannotSave)
{
    bcast_hw_apm m;

    ASSERT_TRUE(reach(&m, BCAST_HW_APM_ARMED, BCAST_HW_APM_RTS, true));
    bcast_hw_apm_on_event(&m, BCAST_HW_APM_ON_MIG_FAILED);
    EXPECT_EQ(BCAST_HW_APM_MOVE, bcast_hw_apm_next(&m));

    ASSERT_TRUE(reach(&m, BCAST_HW_APM_ARMED, BCAST_HW_APM_RTS, true));
    bcast_hw_apm_on_comm(&m, BCAST_HW_APM_ERR);
    EXPECT_EQ(BCAST_HW_APM_MOVE, bcast_hw_apm_next(&m));

    ASSERT_TRUE(reach(&m, BCAST_HW_APM_ARMED, BCAST_HW_APM_RTS, true));
    bcast_hw_apm_on_port(&m, 1, false);
    EXPECT_EQ(BCAST_HW_APM_NOTHING, bcast_hw_apm_next(&m)) << "the primary path is well";
    bcast_hw_apm_on_port(&m, 0, false);
    EXPECT_EQ(BCAST_HW_APM_MOVE, bcast_hw_apm_next(&m)) << "both ports are down";

    ASSERT_TRUE(reach(&m, BCAST_HW_APM_REARM, BCAST_HW_APM_RTS, true));
    bcast_hw_apm_on_port(&m, 0, false);
    EXPECT_EQ(BCAST_HW_APM_MOVE, bcast_hw_apm_next(&m)) << "not armed yet";
    bcast_hw_apm_on_comm(&m, BCAST_HW_APM_RESET);
    EXPECT_EQ(BCAST_HW_APM_NOTHING, bcast_hw_apm_next(&m));
}

// A new connection while the other port is down, which re-arms when that is active again.
TEST(Apm, LoadsLater)
{
    bcast_hw_apm m;

    bcast_hw_apm_init(&m, true);
    bcast_hw_apm_on_port(&m, 1, false);
    bcast_hw_apm_on_comm(&m, BCAST_HW_APM_INIT);
    EXPECT_EQ(BCAST_HW_APM_LATER, bcast_hw_apm_next(&m));
    bcast_hw_apm_on_port(&m, 1, true);
    EXPECT_EQ(BCAST_HW_APM_SPECIFY, bcast_hw_apm_next(&m));
}

TEST(Apm, WithoutAnAlternatePath)
{
    bcast_hw_apm m;

    bcast_hw_apm_init(&m, false);
    for (Comm c : {BCAST_HW_APM_INIT, BCAST_HW_APM_RTR, BCAST_HW_APM_RTS}) {
        bcast_hw_apm_on_comm(&m, c);
        EXPECT_EQ(BCAST_HW_APM_NOTHING, bcast_hw_apm_next(&m));
        EXPECT_EQ(BCAST_HW_APM_ILLEGAL, bcast_hw_apm_on_event(&m, BCAST_HW_APM_ON_SPECIFY));
    }
    bcast_hw_apm_on_port(&m, 0, false);
    EXPECT_EQ(BCAST_HW_APM_MOVE, bcast_hw_apm_next(&m));
}

// What next says is always legal.
TEST(Apm, Storms)
{
    for (uint64_t seed = 0; seed < 2000; seed++) {
        bcast_hw_apm m;

        SCOPED_TRACE(testing::Message() << "seed " << seed);
        bcast_hw_apm_init(&m, seed % 8 != 0);
        for (uint64_t i = 0; i < 200; i++) {
            uint64_t r = bcast_hw_prng(seed, i);

            switch (r % 4) {
                case 0:
                    bcast_hw_apm_on_comm(&m, COMMS[r / 4 % std::size(COMMS)]);
                    break;
                case 1:
                    bcast_hw_apm_on_port(&m, r / 4 % 2, r / 8 % 4 != 0);
                    break;
                default:
                    bcast_hw_apm_on_event(&m, bcast_hw_apm_event(r / 4 % BCAST_HW_APM_EVENTS));
            }
            bcast_hw_apm_check(&m);
            bcast_hw_apm after = m;
            switch (bcast_hw_apm_next(&after)) {
                case BCAST_HW_APM_SPECIFY:
                    ASSERT_EQ(BCAST_HW_APM_TAKEN,
                              bcast_hw_apm_on_event(&after, BCAST_HW_APM_ON_SPECIFY));
                    break;
                case BCAST_HW_APM_LOAD:
                    ASSERT_EQ(BCAST_HW_APM_TAKEN,
                              bcast_hw_apm_on_event(&after, BCAST_HW_APM_ON_LOAD));
                    ASSERT_EQ(BCAST_HW_APM_NOTHING, bcast_hw_apm_next(&after));
                    break;
                case BCAST_HW_APM_MIGRATE:
                    ASSERT_EQ(BCAST_HW_APM_TAKEN,
                              bcast_hw_apm_on_event(&after, BCAST_HW_APM_ON_MIGRATE));
                    break;
                case BCAST_HW_APM_MOVE:
                    bcast_hw_apm_on_comm(&after, BCAST_HW_APM_RESET);
                    ASSERT_EQ(BCAST_HW_APM_NOTHING, bcast_hw_apm_next(&after));
                    break;
                default:
                    break;
            }
            bcast_hw_apm_check(&after);
        }
    }
}

} // namespace
