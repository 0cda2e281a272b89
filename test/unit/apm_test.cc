// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Path migration: every event in every state against tables, the policy, and storms.
#include <gtest/gtest.h>

#include "core.h"

namespace {

using Comm = hwmc_apm_comm;
using Path = hwmc_apm_path_state;

const Comm COMMS[] = {HWMC_APM_RESET, HWMC_APM_INIT, HWMC_APM_RTR, HWMC_APM_RTS,
                      HWMC_APM_SQD,   HWMC_APM_SQE,  HWMC_APM_ERR};

// A machine in that state, by what leads there; false where nothing does.
bool reach(hwmc_apm *m, Path path, Comm comm, bool specified)
{
    bool ok = true;
    auto to = [&](Comm c) { ok = ok && hwmc_apm_on_comm(m, c) == HWMC_APM_TAKEN; };
    auto on = [&](hwmc_apm_event e) { ok = ok && hwmc_apm_on_event(m, e) == HWMC_APM_TAKEN; };

    hwmc_apm_init(m, true);
    if (comm == HWMC_APM_ERR && path == HWMC_APM_MIGRATED && !specified) {
        to(HWMC_APM_ERR);
        return ok;
    }
    if (comm >= HWMC_APM_INIT)
        to(HWMC_APM_INIT);
    if (specified)
        on(HWMC_APM_ON_SPECIFY);
    if (comm >= HWMC_APM_RTR)
        to(HWMC_APM_RTR);
    if (path >= HWMC_APM_REARM)
        on(HWMC_APM_ON_LOAD);
    if (comm >= HWMC_APM_RTS)
        to(HWMC_APM_RTS);
    if (path == HWMC_APM_ARMED)
        on(HWMC_APM_ON_ARMED);
    if (comm >= HWMC_APM_SQD)
        to(comm);
    hwmc_apm_check(m);
    return ok;
}

TEST(Apm, EveryEventInEveryState)
{
    // T taken, I illegal, S stale, - no such state. Columns: RESET INIT RTR RTS SQD SQE ERR.
    const struct {
        Path path;
        bool specified;
        hwmc_apm_event event;
        const char *verdicts;
        Path then;
    } rows[] = {
        {HWMC_APM_MIGRATED, false, HWMC_APM_ON_SPECIFY, "ITTTTII", HWMC_APM_MIGRATED},
        {HWMC_APM_MIGRATED, true, HWMC_APM_ON_SPECIFY, "-TTTTII", HWMC_APM_MIGRATED},
        {HWMC_APM_REARM, true, HWMC_APM_ON_SPECIFY, "--TTTII", HWMC_APM_REARM},
        {HWMC_APM_ARMED, true, HWMC_APM_ON_SPECIFY, "---IIII", HWMC_APM_ARMED},
        {HWMC_APM_MIGRATED, false, HWMC_APM_ON_LOAD, "IIIIIII", HWMC_APM_MIGRATED},
        {HWMC_APM_MIGRATED, true, HWMC_APM_ON_LOAD, "-ITTTII", HWMC_APM_REARM},
        {HWMC_APM_REARM, true, HWMC_APM_ON_LOAD, "--TTTII", HWMC_APM_REARM},
        {HWMC_APM_ARMED, true, HWMC_APM_ON_LOAD, "---IIII", HWMC_APM_ARMED},
        {HWMC_APM_MIGRATED, true, HWMC_APM_ON_ARMED, "-SSSSSS", HWMC_APM_MIGRATED},
        {HWMC_APM_MIGRATED, false, HWMC_APM_ON_ARMED, "SSSSSSS", HWMC_APM_MIGRATED},
        {HWMC_APM_REARM, true, HWMC_APM_ON_ARMED, "--STTTS", HWMC_APM_ARMED},
        {HWMC_APM_ARMED, true, HWMC_APM_ON_ARMED, "---SSSS", HWMC_APM_ARMED},
        {HWMC_APM_MIGRATED, false, HWMC_APM_ON_MIGRATE, "IIIIIII", HWMC_APM_MIGRATED},
        {HWMC_APM_MIGRATED, true, HWMC_APM_ON_MIGRATE, "-IIIIII", HWMC_APM_MIGRATED},
        {HWMC_APM_REARM, true, HWMC_APM_ON_MIGRATE, "--IIIII", HWMC_APM_REARM},
        {HWMC_APM_ARMED, true, HWMC_APM_ON_MIGRATE, "---TIII", HWMC_APM_ARMED},
        {HWMC_APM_MIGRATED, false, HWMC_APM_ON_MIGRATED, "SSSSSSS", HWMC_APM_MIGRATED},
        {HWMC_APM_MIGRATED, true, HWMC_APM_ON_MIGRATED, "-SSSSSS", HWMC_APM_MIGRATED},
        {HWMC_APM_REARM, true, HWMC_APM_ON_MIGRATED, "--STTTS", HWMC_APM_MIGRATED},
        {HWMC_APM_ARMED, true, HWMC_APM_ON_MIGRATED, "---TTTS", HWMC_APM_MIGRATED},
        {HWMC_APM_MIGRATED, false, HWMC_APM_ON_MIG_FAILED, "SSSTTTS", HWMC_APM_MIGRATED},
        {HWMC_APM_MIGRATED, true, HWMC_APM_ON_MIG_FAILED, "-SSTTTS", HWMC_APM_MIGRATED},
        {HWMC_APM_REARM, true, HWMC_APM_ON_MIG_FAILED, "--STTTS", HWMC_APM_REARM},
        {HWMC_APM_ARMED, true, HWMC_APM_ON_MIG_FAILED, "---TTTS", HWMC_APM_ARMED},
    };
    const char letters[] = {'T', 'S', 'I'};

    for (const auto &r : rows) {
        for (size_t i = 0; i < std::size(COMMS); i++) {
            hwmc_apm m;

            SCOPED_TRACE(testing::Message()
                         << "path " << r.path << " comm " << COMMS[i] << " event " << r.event);
            if (!reach(&m, r.path, COMMS[i], r.specified)) {
                EXPECT_EQ('-', r.verdicts[i]);
                continue;
            }
            hwmc_apm before = m;
            hwmc_apm_verdict v = hwmc_apm_on_event(&m, r.event);
            hwmc_apm_check(&m);
            EXPECT_EQ(r.verdicts[i], letters[v]);
            if (v == HWMC_APM_TAKEN)
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

    for (Path path : {HWMC_APM_MIGRATED, HWMC_APM_REARM, HWMC_APM_ARMED}) {
        for (size_t from = 0; from < std::size(COMMS); from++) {
            for (size_t to = 0; to < std::size(COMMS); to++) {
                hwmc_apm m;

                SCOPED_TRACE(testing::Message() << path << ": " << from << " to " << to);
                if (!reach(&m, path, COMMS[from], path != HWMC_APM_MIGRATED))
                    continue;
                bool taken = hwmc_apm_on_comm(&m, COMMS[to]) == HWMC_APM_TAKEN;
                hwmc_apm_check(&m);
                EXPECT_EQ(follows[from][to] == 'x', taken);
                EXPECT_EQ(taken ? COMMS[to] : COMMS[from], m.comm);
                EXPECT_EQ(COMMS[to] == HWMC_APM_RESET ? HWMC_APM_MIGRATED : path, m.path);
            }
        }
    }
}

// The head of core/path/apm.h as a test.
TEST(Apm, KeepsAnAlternatePathLoaded)
{
    hwmc_apm m;

    hwmc_apm_init(&m, true);
    EXPECT_EQ(HWMC_APM_NOTHING, hwmc_apm_next(&m));
    hwmc_apm_on_comm(&m, HWMC_APM_INIT);
    EXPECT_EQ(HWMC_APM_SPECIFY, hwmc_apm_next(&m));
    hwmc_apm_on_event(&m, HWMC_APM_ON_SPECIFY);
    EXPECT_EQ(HWMC_APM_NOTHING, hwmc_apm_next(&m)) << "not before RTR";
    hwmc_apm_on_comm(&m, HWMC_APM_RTR);
    EXPECT_EQ(HWMC_APM_LOAD, hwmc_apm_next(&m));
    hwmc_apm_on_event(&m, HWMC_APM_ON_LOAD);
    hwmc_apm_on_comm(&m, HWMC_APM_RTS);
    EXPECT_EQ(HWMC_APM_NOTHING, hwmc_apm_next(&m));
    hwmc_apm_on_event(&m, HWMC_APM_ON_ARMED);
    EXPECT_EQ(HWMC_APM_NOTHING, hwmc_apm_next(&m));

    hwmc_apm_on_port(&m, 0, false);
    EXPECT_EQ(HWMC_APM_MIGRATE, hwmc_apm_next(&m));
    hwmc_apm_on_event(&m, HWMC_APM_ON_MIGRATE);
    EXPECT_EQ(HWMC_APM_NOTHING, hwmc_apm_next(&m));
    EXPECT_EQ(HWMC_APM_ILLEGAL, hwmc_apm_on_event(&m, HWMC_APM_ON_MIGRATE));
    hwmc_apm_on_event(&m, HWMC_APM_ON_MIGRATED);
    EXPECT_EQ(1, m.primary);
    EXPECT_EQ(HWMC_APM_BY_SOFTWARE, m.last_by);
    EXPECT_EQ(HWMC_APM_LATER, hwmc_apm_next(&m));

    hwmc_apm_on_port(&m, 0, true);
    EXPECT_EQ(HWMC_APM_SPECIFY, hwmc_apm_next(&m));
    hwmc_apm_on_event(&m, HWMC_APM_ON_SPECIFY);
    EXPECT_EQ(HWMC_APM_LOAD, hwmc_apm_next(&m));
}

TEST(Apm, AMigrationOfTheHardwares)
{
    hwmc_apm m;

    ASSERT_TRUE(reach(&m, HWMC_APM_ARMED, HWMC_APM_RTS, true));
    EXPECT_EQ(HWMC_APM_TAKEN, hwmc_apm_on_event(&m, HWMC_APM_ON_MIGRATED));
    EXPECT_EQ(HWMC_APM_BY_HARDWARE, m.last_by);
    EXPECT_EQ(HWMC_APM_LATER, hwmc_apm_next(&m)) << "its port is active, but is the path?";
    hwmc_apm copy = m;
    hwmc_apm_trust(&m);
    EXPECT_EQ(HWMC_APM_SPECIFY, hwmc_apm_next(&m));
    hwmc_apm_on_port(&copy, 0, false);
    EXPECT_EQ(HWMC_APM_LATER, hwmc_apm_next(&copy));
    hwmc_apm_on_port(&copy, 0, true);
    EXPECT_EQ(HWMC_APM_SPECIFY, hwmc_apm_next(&copy)) << "which was the reason";
    EXPECT_EQ(HWMC_APM_STALE, hwmc_apm_on_event(&m, HWMC_APM_ON_MIGRATED));
}

TEST(Apm, MovesWhatHardwareCannotSave)
{
    hwmc_apm m;

    ASSERT_TRUE(reach(&m, HWMC_APM_ARMED, HWMC_APM_RTS, true));
    hwmc_apm_on_event(&m, HWMC_APM_ON_MIG_FAILED);
    EXPECT_EQ(HWMC_APM_MOVE, hwmc_apm_next(&m));

    ASSERT_TRUE(reach(&m, HWMC_APM_ARMED, HWMC_APM_RTS, true));
    hwmc_apm_on_comm(&m, HWMC_APM_ERR);
    EXPECT_EQ(HWMC_APM_MOVE, hwmc_apm_next(&m));

    ASSERT_TRUE(reach(&m, HWMC_APM_ARMED, HWMC_APM_RTS, true));
    hwmc_apm_on_port(&m, 1, false);
    EXPECT_EQ(HWMC_APM_NOTHING, hwmc_apm_next(&m)) << "the primary path is well";
    hwmc_apm_on_port(&m, 0, false);
    EXPECT_EQ(HWMC_APM_MOVE, hwmc_apm_next(&m)) << "both ports are down";

    ASSERT_TRUE(reach(&m, HWMC_APM_REARM, HWMC_APM_RTS, true));
    hwmc_apm_on_port(&m, 0, false);
    EXPECT_EQ(HWMC_APM_MOVE, hwmc_apm_next(&m)) << "not armed yet";
    hwmc_apm_on_comm(&m, HWMC_APM_RESET);
    EXPECT_EQ(HWMC_APM_NOTHING, hwmc_apm_next(&m));
}

// A new connection while the other port is down, which re-arms when that is active again.
TEST(Apm, LoadsLater)
{
    hwmc_apm m;

    hwmc_apm_init(&m, true);
    hwmc_apm_on_port(&m, 1, false);
    hwmc_apm_on_comm(&m, HWMC_APM_INIT);
    EXPECT_EQ(HWMC_APM_LATER, hwmc_apm_next(&m));
    hwmc_apm_on_port(&m, 1, true);
    EXPECT_EQ(HWMC_APM_SPECIFY, hwmc_apm_next(&m));
}

TEST(Apm, WithoutAnAlternatePath)
{
    hwmc_apm m;

    hwmc_apm_init(&m, false);
    for (Comm c : {HWMC_APM_INIT, HWMC_APM_RTR, HWMC_APM_RTS}) {
        hwmc_apm_on_comm(&m, c);
        EXPECT_EQ(HWMC_APM_NOTHING, hwmc_apm_next(&m));
        EXPECT_EQ(HWMC_APM_ILLEGAL, hwmc_apm_on_event(&m, HWMC_APM_ON_SPECIFY));
    }
    hwmc_apm_on_port(&m, 0, false);
    EXPECT_EQ(HWMC_APM_MOVE, hwmc_apm_next(&m));
}

// What next says is always legal.
TEST(Apm, Storms)
{
    for (uint64_t seed = 0; seed < 2000; seed++) {
        hwmc_apm m;

        SCOPED_TRACE(testing::Message() << "seed " << seed);
        hwmc_apm_init(&m, seed % 8 != 0);
        for (uint64_t i = 0; i < 200; i++) {
            uint64_t r = hwmc_prng(seed, i);

            switch (r % 4) {
                case 0:
                    hwmc_apm_on_comm(&m, COMMS[r / 4 % std::size(COMMS)]);
                    break;
                case 1:
                    hwmc_apm_on_port(&m, r / 4 % 2, r / 8 % 4 != 0);
                    break;
                default:
                    hwmc_apm_on_event(&m, hwmc_apm_event(r / 4 % HWMC_APM_EVENTS));
            }
            hwmc_apm_check(&m);
            hwmc_apm after = m;
            switch (hwmc_apm_next(&after)) {
                case HWMC_APM_SPECIFY:
                    ASSERT_EQ(HWMC_APM_TAKEN, hwmc_apm_on_event(&after, HWMC_APM_ON_SPECIFY));
                    break;
                case HWMC_APM_LOAD:
                    ASSERT_EQ(HWMC_APM_TAKEN, hwmc_apm_on_event(&after, HWMC_APM_ON_LOAD));
                    ASSERT_EQ(HWMC_APM_NOTHING, hwmc_apm_next(&after));
                    break;
                case HWMC_APM_MIGRATE:
                    ASSERT_EQ(HWMC_APM_TAKEN, hwmc_apm_on_event(&after, HWMC_APM_ON_MIGRATE));
                    break;
                case HWMC_APM_MOVE:
                    hwmc_apm_on_comm(&after, HWMC_APM_RESET);
                    ASSERT_EQ(HWMC_APM_NOTHING, hwmc_apm_next(&after));
                    break;
                default:
                    break;
            }
            hwmc_apm_check(&after);
        }
    }
}

} // namespace
