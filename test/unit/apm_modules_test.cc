// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// The modules of path migration, on ibv_modify_qp and ibv_query_qp of the test.
#include <cerrno>
#include <cstring>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>

extern "C" {
#include "apm/load.h"
#include "apm/migrate.h"
#include "apm/specify.h"
#include "apm/preference.h"
}

namespace {

// What a device knows of a queue pair's paths.
struct Device {
    ibv_mig_state state = IBV_MIG_MIGRATED;
    uint8_t port = 1;
    uint16_t alt_dlid = 0; // 0: none
    uint8_t alt_port = 0;
    int refuses = 0; // mask of attributes
    int modified = 0;
} device;

hwmc_apm_port make_port(uint8_t number, uint16_t lid, uint8_t lmc, uint8_t subnet)
{
    hwmc_apm_port p = {};

    p.number = number;
    p.lid = lid;
    p.lmc = lmc;
    p.gid.raw[0] = 0xfe;
    p.gid.raw[7] = subnet;
    p.gid.raw[15] = (uint8_t) lid;
    return p;
}

class Modules : public ::testing::Test {
  protected:
    Modules()
    {
        hwmc_apm_port mine[] = {make_port(1, 10, 0, 0), make_port(2, 11, 0, 0)};
        hwmc_apm_port theirs[] = {make_port(1, 20, 0, 0), make_port(2, 21, 0, 0)};
        hwmc_apm_path primary, alternate;

        device = Device();
        hwmc_apm_path_between(&mine[0], 0, &theirs[0], 0, 12, &primary);
        EXPECT_EQ(HWMC_APM_OTHER_PORT, hwmc_apm_choose(mine, 2, theirs, 2, 12, &alternate));
        hwmc_apm_conn_init(&conn, &qp, &primary, &alternate);
    }

    void connect()
    {
        ibv_qp_attr attr = {};

        hwmc_apm_conn_comm(&conn, IBV_QPS_INIT);
        int mask = hwmc_apm_specify_with(&conn, &attr);
        ASSERT_EQ(0, ibv_modify_qp(&qp, &attr, mask));
        hwmc_apm_specified(&conn, mask);
        hwmc_apm_conn_comm(&conn, IBV_QPS_RTR);
        mask = hwmc_apm_load_with(&conn, &attr);
        ASSERT_EQ(0, ibv_modify_qp(&qp, &attr, mask));
        hwmc_apm_loaded(&conn, mask);
        hwmc_apm_conn_comm(&conn, IBV_QPS_RTS);
    }

    ibv_qp qp = {};
    hwmc_apm_conn conn;
    hwmc_apm_conn *list[1] = {&conn};
};

TEST_F(Modules, LoadsWhileConnectingAndMigratesByHand)
{
    connect();
    EXPECT_EQ(IBV_MIG_REARM, device.state);
    EXPECT_EQ(21, device.alt_dlid);
    EXPECT_EQ(2, device.alt_port);
    EXPECT_EQ(0, hwmc_apm_migrate(list, 1));
    EXPECT_EQ(EAGAIN, conn.error);
    EXPECT_EQ(1, hwmc_apm_load_poll(list, 1));
    device.state = IBV_MIG_ARMED;
    EXPECT_EQ(0, hwmc_apm_load_poll(list, 1));
    EXPECT_EQ(1, hwmc_apm_migrate(list, 1));
    EXPECT_EQ(IBV_MIG_MIGRATED, device.state);
    EXPECT_EQ(0, hwmc_apm_migrate(list, 1)) << "the event has not come yet";
    EXPECT_EQ(EINVAL, conn.error);
    EXPECT_EQ(HWMC_APM_TAKEN, hwmc_apm_conn_event(&conn, IBV_EVENT_PATH_MIG));

    // The old primary path becomes the alternate one.
    EXPECT_EQ(HWMC_APM_NOTHING, hwmc_apm_conn_step(&conn));
    EXPECT_EQ(IBV_MIG_REARM, device.state);
    EXPECT_EQ(20, device.alt_dlid);
    EXPECT_EQ(1, device.alt_port);
    EXPECT_EQ(2, device.port);
}

TEST_F(Modules, LeavesAPortThatIsDownAndComesBack)
{
    connect();
    device.state = IBV_MIG_ARMED; // which nobody has asked for yet
    hwmc_apm_conn_port(&conn, 1, false);
    EXPECT_EQ(HWMC_APM_NOTHING, hwmc_apm_conn_step(&conn));
    EXPECT_EQ(IBV_MIG_MIGRATED, device.state);
    EXPECT_EQ(2, device.port);
    hwmc_apm_conn_event(&conn, IBV_EVENT_PATH_MIG);
    EXPECT_EQ(HWMC_APM_LATER, hwmc_apm_conn_step(&conn));
    hwmc_apm_conn_port(&conn, 1, true);
    EXPECT_EQ(HWMC_APM_NOTHING, hwmc_apm_conn_step(&conn));
    EXPECT_EQ(IBV_MIG_REARM, device.state);
}

TEST_F(Modules, TakesNoEventTwice)
{
    connect();
    device.state = IBV_MIG_MIGRATED; // by way of ARMED, unseen
    device.alt_dlid = 0;
    EXPECT_EQ(HWMC_APM_TAKEN, hwmc_apm_conn_event(&conn, IBV_EVENT_PATH_MIG));
    EXPECT_EQ(1, conn.state.primary);
    EXPECT_EQ(HWMC_APM_LATER, hwmc_apm_conn_step(&conn));
    hwmc_apm_conn_trust(&conn);
    EXPECT_EQ(HWMC_APM_NOTHING, hwmc_apm_conn_step(&conn));
    EXPECT_EQ(HWMC_APM_REARM, conn.state.path);
    EXPECT_EQ(HWMC_APM_STALE, hwmc_apm_conn_event(&conn, IBV_EVENT_PATH_MIG));
    EXPECT_EQ(1, conn.state.primary);
}

// The peer migrated when its port went down; here both is told of later.
TEST_F(Modules, HardwareWasFirst)
{
    for (bool known : {false, true}) {
        hwmc_apm_conn_comm(&conn, IBV_QPS_RESET);
        hwmc_apm_conn_port(&conn, 1, true);
        device = Device();
        connect();
        device.state = IBV_MIG_ARMED;
        if (known)
            hwmc_apm_load_poll(list, 1);
        device.state = IBV_MIG_MIGRATED;
        hwmc_apm_conn_port(&conn, 1, false);
        EXPECT_EQ(HWMC_APM_NOTHING, hwmc_apm_conn_step(&conn)) << known;
        EXPECT_EQ(HWMC_APM_TAKEN, hwmc_apm_conn_event(&conn, IBV_EVENT_PATH_MIG));
        EXPECT_EQ(HWMC_APM_BY_HARDWARE, conn.state.last_by);
        EXPECT_EQ(HWMC_APM_LATER, hwmc_apm_conn_step(&conn));
    }
}

TEST_F(Modules, GivesUpWhatIsNotArmed)
{
    connect();
    hwmc_apm_conn_port(&conn, 1, false);
    EXPECT_EQ(HWMC_APM_MOVE, hwmc_apm_conn_step(&conn));
}

TEST_F(Modules, GivesUpAfterErrors)
{
    for (ibv_event_type type : {IBV_EVENT_PATH_MIG_ERR, IBV_EVENT_QP_FATAL, IBV_EVENT_QP_REQ_ERR}) {
        hwmc_apm_conn_comm(&conn, IBV_QPS_RESET);
        device = Device();
        connect();
        EXPECT_EQ(HWMC_APM_TAKEN, hwmc_apm_conn_event(&conn, type));
        EXPECT_EQ(HWMC_APM_MOVE, hwmc_apm_conn_step(&conn));
    }
    EXPECT_EQ(HWMC_APM_STALE, hwmc_apm_conn_event(&conn, IBV_EVENT_COMM_EST));
}

TEST_F(Modules, SayWhatTheDeviceRefuses)
{
    connect();
    device.state = IBV_MIG_ARMED;
    hwmc_apm_load_poll(list, 1);
    device.refuses = IBV_QP_PATH_MIG_STATE;
    EXPECT_EQ(0, hwmc_apm_migrate(list, 1));
    EXPECT_EQ(EINVAL, conn.error);
    EXPECT_EQ(HWMC_APM_ARMED, conn.state.path);
    device.state = IBV_MIG_MIGRATED; // by itself
    EXPECT_EQ(HWMC_APM_TAKEN, hwmc_apm_conn_event(&conn, IBV_EVENT_PATH_MIG));
    hwmc_apm_conn_trust(&conn);
    EXPECT_EQ(HWMC_APM_LOAD, hwmc_apm_conn_step(&conn));
    device.refuses = IBV_QP_ALT_PATH;
    EXPECT_EQ(EINVAL, hwmc_apm_specify(&conn));
}

TEST_F(Modules, DoNotAskTheDeviceForWhatIsIllegal)
{
    EXPECT_EQ(EINVAL, hwmc_apm_specify(&conn));
    EXPECT_EQ(0, hwmc_apm_load(list, 1));
    EXPECT_EQ(0, hwmc_apm_migrate(list, 1));
    EXPECT_EQ(0, device.modified);
}

// Both ends see the same path, each from its side.
TEST(Choose, IsSymmetric)
{
    const int n = 3;

    for (int subnets = 0; subnets < 1 << (2 * n); subnets++) {
        for (int lmc = 0; lmc < 4; lmc++) {
            hwmc_apm_port a[n], b[n];
            hwmc_apm_path from_a = {}, from_b = {};

            for (int i = 0; i < n; i++) {
                a[i] = make_port((uint8_t) (i + 1), (uint16_t) (16 * i + 16), lmc & 1,
                                 subnets >> i & 1);
                b[i] = make_port((uint8_t) (i + 1), (uint16_t) (16 * i + 128), lmc >> 1,
                                 subnets >> (i + n) & 1);
            }
            hwmc_apm_choice c = hwmc_apm_choose(a, n, b, n, 12, &from_a);
            ASSERT_EQ(c, hwmc_apm_choose(b, n, a, n, 12, &from_b));
            if (c == HWMC_APM_NO_ALTERNATE)
                continue;
            EXPECT_EQ(from_a.dlid, b[from_b.port - 1].lid + from_b.src_path_bits);
            EXPECT_EQ(from_b.dlid, a[from_a.port - 1].lid + from_a.src_path_bits);
            if (c == HWMC_APM_OTHER_PORT)
                EXPECT_EQ(a[from_a.port - 1].gid.raw[7], b[from_b.port - 1].gid.raw[7]);
            else
                EXPECT_TRUE(from_a.port == 1 && from_b.port == 1);
        }
    }
}

TEST(Choose, OtherLidsOfTheSamePort)
{
    hwmc_apm_port mine = make_port(1, 16, 2, 0), theirs = make_port(1, 32, 0, 0);
    hwmc_apm_path path;

    ASSERT_EQ(HWMC_APM_OTHER_LID, hwmc_apm_choose(&mine, 1, &theirs, 1, 12, &path));
    EXPECT_EQ(1, path.src_path_bits);
    EXPECT_EQ(32, path.dlid) << "the peer has one LID only";
    EXPECT_FALSE(path.grh);
    mine.lmc = 0;
    EXPECT_EQ(HWMC_APM_NO_ALTERNATE, hwmc_apm_choose(&mine, 1, &theirs, 1, 12, &path));
}

// Which LIDs is each end's own wish, and the other end's DLID.
TEST(Choose, TheLidsThatPortsSay)
{
    hwmc_apm_port mine = make_port(1, 16, 2, 0), theirs = make_port(1, 32, 3, 0);
    hwmc_apm_path here, there;

    mine.bits = 3;
    theirs.bits = 6;
    ASSERT_EQ(HWMC_APM_OTHER_LID, hwmc_apm_choose(&mine, 1, &theirs, 1, 12, &here));
    ASSERT_EQ(HWMC_APM_OTHER_LID, hwmc_apm_choose(&theirs, 1, &mine, 1, 12, &there));
    EXPECT_EQ(3, here.src_path_bits);
    EXPECT_EQ(38, here.dlid);
    EXPECT_EQ(6, there.src_path_bits);
    EXPECT_EQ(19, there.dlid);
    mine.bits = 4; // beyond its LMC: nothing is left of it
    theirs.lmc = 0;
    EXPECT_EQ(HWMC_APM_NO_ALTERNATE, hwmc_apm_choose(&mine, 1, &theirs, 1, 12, &here));
}

TEST(Choose, TheLidsThatPortsSayOfOtherPorts)
{
    hwmc_apm_port mine[] = {make_port(1, 16, 2, 0), make_port(2, 20, 2, 0)};
    hwmc_apm_port theirs[] = {make_port(1, 32, 2, 0), make_port(2, 36, 2, 0)};
    hwmc_apm_path path;

    ASSERT_EQ(HWMC_APM_OTHER_PORT, hwmc_apm_choose(mine, 2, theirs, 2, 12, &path));
    EXPECT_EQ(0, path.src_path_bits);
    EXPECT_EQ(36, path.dlid);
    mine[1].bits = 1;
    theirs[1].bits = 2;
    ASSERT_EQ(HWMC_APM_OTHER_PORT, hwmc_apm_choose(mine, 2, theirs, 2, 12, &path));
    EXPECT_EQ(1, path.src_path_bits);
    EXPECT_EQ(38, path.dlid);
}

TEST(Wish, InWords)
{
    const struct {
        const char *words;
        bool ok;
        hwmc_apm_preference preference;
    } cases[] = {
        {"auto", true, {0, false, 0}},
        {"port=2", true, {2, false, 0}},
        {"port=same", true, {0, true, 0}},
        {"bits=127", true, {0, false, 127}},
        {"port=same,bits=3", true, {0, true, 3}},
        {"bits=3,port=1", true, {1, false, 3}},
        {"", false, {}},
        {"port", false, {}},
        {"port=", false, {}},
        {"port=0", false, {}},
        {"port=255", false, {}},
        {"port=-1", false, {}},
        {"port=2x", false, {}},
        {"port=samex", false, {}},
        {"bits=128", false, {}},
        {"bits= 1", false, {}},
        {"auto,bits=1", false, {}},
        {"port=2,", false, {}},
        {",port=2", false, {}},
        {"bits=99999999999999999999", false, {}},
    };

    for (const auto &c : cases) {
        hwmc_apm_preference preference;

        ASSERT_EQ(c.ok, hwmc_apm_preference_parse(c.words, &preference)) << c.words;
        if (!c.ok)
            continue;
        EXPECT_EQ(c.preference.port, preference.port) << c.words;
        EXPECT_EQ(c.preference.same, preference.same) << c.words;
        EXPECT_EQ(c.preference.bits, preference.bits) << c.words;
    }
}

TEST(Wish, AllowsPorts)
{
    const hwmc_apm_preference any{}, second{2, false, 0}, same{0, true, 0};

    EXPECT_TRUE(hwmc_apm_preference_allows(&any, 2));
    EXPECT_TRUE(hwmc_apm_preference_allows(&second, 2));
    EXPECT_FALSE(hwmc_apm_preference_allows(&second, 1));
    EXPECT_FALSE(hwmc_apm_preference_allows(&same, 2));
}

TEST(Choose, NamesGidsOnlyWhereNeeded)
{
    hwmc_apm_port mine = make_port(1, 16, 0, 0), near = make_port(1, 32, 0, 0),
                  far = make_port(1, 32, 0, 1);
    hwmc_apm_path path;
    ibv_ah_attr ah;

    hwmc_apm_path_between(&mine, 0, &near, 0, 12, &path);
    hwmc_apm_path_address(&path, &ah);
    EXPECT_EQ(0, ah.is_global);
    hwmc_apm_path_between(&mine, 0, &far, 0, 12, &path);
    hwmc_apm_path_address(&path, &ah);
    EXPECT_EQ(1, ah.is_global);
    EXPECT_EQ(0, memcmp(&ah.grh.dgid, &far.gid, sizeof(far.gid)));
    mine.grh = true;
    hwmc_apm_path_between(&mine, 0, &near, 0, 12, &path);
    EXPECT_TRUE(path.grh);
}

} // namespace

// As strict as a device may be.
extern "C" int ibv_modify_qp(ibv_qp *, ibv_qp_attr *attr, int mask)
{
    Device next = device;

    device.modified++;
    if (mask == 0 || (mask & device.refuses) != 0)
        return EINVAL;
    if (mask & IBV_QP_ALT_PATH) {
        next.alt_dlid = attr->alt_ah_attr.dlid;
        next.alt_port = attr->alt_port_num;
        if (device.state == IBV_MIG_ARMED || next.alt_port != attr->alt_ah_attr.port_num)
            return EINVAL;
    }
    if (mask & IBV_QP_PATH_MIG_STATE) {
        if (attr->path_mig_state == IBV_MIG_ARMED ||
            (attr->path_mig_state == IBV_MIG_REARM) != (device.state != IBV_MIG_ARMED) ||
            (attr->path_mig_state == IBV_MIG_REARM && next.alt_dlid == 0))
            return EINVAL;
        next.state = attr->path_mig_state;
        if (next.state == IBV_MIG_MIGRATED) {
            next.port = next.alt_port;
            next.alt_dlid = 0;
        }
    }
    device = next;
    device.modified = next.modified;
    return 0;
}

extern "C" int ibv_query_qp(ibv_qp *, ibv_qp_attr *attr, int, ibv_qp_init_attr *)
{
    attr->path_mig_state = device.state;
    return 0;
}
