/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Automatic Path Migration: the state machine by every request and packet, and what becomes of
 * traffic.
 */
#include "world.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace {

/* Two sides, connected by port 1, with port 2 as the alternate path. */
class Path : public ::testing::Test {
  protected:
    void SetUp() override
    {
        connect(a, b, 10, 2);
    }

    void load()
    {
        ASSERT_EQ(0, a.load_alternate(b, 2));
        ASSERT_EQ(0, b.load_alternate(a, 2));
    }

    /* A message each way. */
    void traffic()
    {
        ASSERT_EQ(0, a.recv(100));
        ASSERT_EQ(0, b.recv(100));
        ASSERT_EQ(0, a.send(100));
        ASSERT_EQ(0, b.send(100));
        world.run();
        ASSERT_EQ(2u, a.poll().size());
        ASSERT_EQ(2u, b.poll().size());
    }

    void arm()
    {
        load();
        ASSERT_EQ(0, a.mig(IBV_MIG_REARM));
        ASSERT_EQ(0, b.mig(IBV_MIG_REARM));
        traffic();
        ASSERT_EQ(IBV_MIG_ARMED, a.mig_state());
        ASSERT_EQ(IBV_MIG_ARMED, b.mig_state());
    }

    void cut(int port)
    {
        world.fate = [port](const em_packet &, const Frame &f) {
            return f.port == port ? Fate::Lose : Fate::Deliver;
        };
    }

    int port_of(const Side &s)
    {
        return reinterpret_cast<em_qp *>(s.qp)->attr.port_num;
    }

    World world;
    Side a{world, 0}, b{world, 1};
};

struct Request {
    ibv_mig_state from, to;
    bool loaded;
    int result;
    ibv_mig_state then;
};

TEST_F(Path, Requests)
{
    const Request table[] = {
        {IBV_MIG_MIGRATED, IBV_MIG_MIGRATED, true, EINVAL, IBV_MIG_MIGRATED},
        {IBV_MIG_MIGRATED, IBV_MIG_REARM, false, EINVAL, IBV_MIG_MIGRATED},
        {IBV_MIG_MIGRATED, IBV_MIG_REARM, true, 0, IBV_MIG_REARM},
        {IBV_MIG_MIGRATED, IBV_MIG_ARMED, true, EINVAL, IBV_MIG_MIGRATED},
        {IBV_MIG_REARM, IBV_MIG_MIGRATED, true, EINVAL, IBV_MIG_REARM},
        {IBV_MIG_REARM, IBV_MIG_REARM, true, 0, IBV_MIG_REARM},
        {IBV_MIG_REARM, IBV_MIG_ARMED, true, EINVAL, IBV_MIG_REARM},
        {IBV_MIG_ARMED, IBV_MIG_MIGRATED, true, 0, IBV_MIG_MIGRATED},
        {IBV_MIG_ARMED, IBV_MIG_REARM, true, EINVAL, IBV_MIG_ARMED},
        {IBV_MIG_ARMED, IBV_MIG_ARMED, true, EINVAL, IBV_MIG_ARMED},
    };

    load();
    for (const auto &r : table) {
        em_qp *qp = reinterpret_cast<em_qp *>(a.qp);

        SCOPED_TRACE(testing::Message() << "from " << r.from << " to " << r.to);
        qp->attr.path_mig_state = r.from;
        qp->alt_loaded = r.loaded;
        EXPECT_EQ(r.result, a.mig(r.to));
        EXPECT_EQ(r.then, a.mig_state());
    }
}

TEST_F(Path, RearmInOneCallWithTheAlternatePath)
{
    ibv_qp_attr v = {};

    v.alt_ah_attr = a.path_to(b, 2);
    v.alt_port_num = 2;
    v.path_mig_state = IBV_MIG_REARM;
    EXPECT_EQ(0, ibv_modify_qp(a.qp, &v, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE));
    EXPECT_EQ(IBV_MIG_REARM, a.mig_state());
}

TEST_F(Path, OneSideAloneIsNotArmed)
{
    load();
    ASSERT_EQ(0, a.mig(IBV_MIG_REARM));
    traffic();
    EXPECT_EQ(IBV_MIG_REARM, a.mig_state()); /* the other still says MigReq */
    EXPECT_EQ(IBV_MIG_MIGRATED, b.mig_state());
    ASSERT_EQ(0, b.mig(IBV_MIG_REARM));
    traffic();
    EXPECT_EQ(IBV_MIG_ARMED, a.mig_state());
    EXPECT_EQ(IBV_MIG_ARMED, b.mig_state());
}

TEST_F(Path, MigReqIsSentInStateMigratedOnly)
{
    std::vector<bool> seen;

    world.fate = [&](const em_packet &p, const Frame &) {
        seen.push_back(p.mig_req);
        return Fate::Deliver;
    };
    traffic();
    EXPECT_EQ(std::vector<bool>(seen.size(), true), seen);
    load();
    ASSERT_EQ(0, a.mig(IBV_MIG_REARM));
    ASSERT_EQ(0, b.mig(IBV_MIG_REARM));
    seen.clear();
    traffic();
    traffic();
    EXPECT_EQ(std::vector<bool>(seen.size(), false), seen);
}

TEST_F(Path, ArmedMigratesWhenRetriesAreUsedUp)
{
    void *object = nullptr;

    arm();
    while (world.event(0) >= 0 || world.event(1) >= 0)
        continue;
    cut(1);
    ASSERT_EQ(0, b.recv(100));
    ASSERT_EQ(0, a.send(100));
    world.run();
    EXPECT_EQ(1u, a.poll().size());
    EXPECT_EQ(IBV_WC_SUCCESS, b.poll().at(0).status);
    EXPECT_EQ(2, port_of(a));
    EXPECT_EQ(2, port_of(b));
    EXPECT_EQ(IBV_MIG_MIGRATED, a.mig_state());
    EXPECT_EQ(IBV_MIG_MIGRATED, b.mig_state());
    EXPECT_EQ(IBV_EVENT_PATH_MIG, world.event(0, &object));
    EXPECT_EQ(a.qp, object);
    EXPECT_EQ(IBV_EVENT_PATH_MIG, world.event(1, &object));
    EXPECT_EQ(b.qp, object);
    EXPECT_EQ(-1, world.event(0));
    EXPECT_EQ(-1, world.event(1));
    EXPECT_EQ(1u, world.hca(0).count.migrations);
}

TEST_F(Path, WithoutArmingTheSameIsAnError)
{
    load();
    cut(1);
    ASSERT_EQ(0, a.send(100));
    world.run();
    EXPECT_EQ(IBV_WC_RETRY_EXC_ERR, a.poll().at(0).status);
    EXPECT_EQ(IBV_QPS_ERR, a.state());
}

/* The peer goes first while the last retry of this side is out: the new path has retries of its
 * own, and what was lost is sent again at once. */
TEST(PathPeerFirst, NewPathHasAllRetries)
{
    World world;
    Side a(world, 0), b(world, 1);

    for (Side *s : {&a, &b})
        ASSERT_EQ(0, s->init());
    ASSERT_EQ(0, a.rtr(b));
    ASSERT_EQ(0, b.rtr(a));
    ASSERT_EQ(0, a.rts(12, 0));
    ASSERT_EQ(0, b.rts(11, 0)); /* half the time */
    for (auto [s, peer] : {std::pair(&a, &b), std::pair(&b, &a)}) {
        ASSERT_EQ(0, s->load_alternate(*peer, 2));
        ASSERT_EQ(0, s->mig(IBV_MIG_REARM));
        ASSERT_EQ(0, s->recv(100));
        ASSERT_EQ(0, s->recv(100));
    }
    ASSERT_EQ(0, a.send(100));
    world.run();
    ASSERT_EQ(IBV_MIG_ARMED, a.mig_state());
    world.fate = [](const em_packet &, const Frame &f) {
        return f.port == 1 ? Fate::Lose : Fate::Deliver;
    };
    ASSERT_EQ(0, a.send(100));
    ASSERT_EQ(0, b.send(100));
    world.run();
    EXPECT_EQ(IBV_QPS_RTS, a.state());
    EXPECT_EQ(IBV_QPS_RTS, b.state());
    EXPECT_EQ(3u, a.poll().size());
    EXPECT_EQ(3u, b.poll().size());
}

TEST_F(Path, ManualMigrationTakesThePeerAlong)
{
    arm();
    ASSERT_EQ(0, a.mig(IBV_MIG_MIGRATED));
    EXPECT_EQ(2, port_of(a));
    EXPECT_EQ(IBV_EVENT_PATH_MIG, world.event(0));
    EXPECT_EQ(1, port_of(b)); /* until a packet comes */
    ASSERT_EQ(0, b.recv(100));
    ASSERT_EQ(0, a.send(100));
    world.run();
    EXPECT_EQ(2, port_of(b));
    EXPECT_EQ(IBV_EVENT_PATH_MIG, world.event(1));
    EXPECT_EQ(1u, a.poll().size());
    EXPECT_EQ(1u, b.poll().size());
    traffic();
}

TEST_F(Path, PacketsOnTheOldPathAreDropped)
{
    arm();
    ASSERT_EQ(0, a.mig(IBV_MIG_MIGRATED));
    ASSERT_EQ(0, a.recv(100));
    ASSERT_EQ(0, b.send(100)); /* b knows nothing yet, and goes there by its retries */
    world.deliver();
    EXPECT_EQ(0u, a.poll().size());
    EXPECT_LT(0u, world.hca(0).count.dropped_header);
    world.run();
    EXPECT_EQ(1u, a.poll().size());
    EXPECT_EQ(2, port_of(b));
}

TEST_F(Path, BackAndForthWithNewAlternatePaths)
{
    for (int round = 0; round < 4; round++) {
        int from = 1 + round % 2, to = 3 - from;

        world.fate = nullptr;
        ASSERT_EQ(0, a.load_alternate(b, to));
        ASSERT_EQ(0, b.load_alternate(a, to));
        ASSERT_EQ(0, a.mig(IBV_MIG_REARM));
        ASSERT_EQ(0, b.mig(IBV_MIG_REARM));
        traffic();
        ASSERT_EQ(IBV_MIG_ARMED, a.mig_state());
        cut(from);
        traffic();
        ASSERT_EQ(to, port_of(a));
        ASSERT_EQ(to, port_of(b));
        EXPECT_EQ(EINVAL, a.mig(IBV_MIG_REARM)); /* the alternate path is used up */
    }
}

TEST_F(Path, DeadAlternatePortIsAnErrorEventAndThenTheQpsEnd)
{
    arm();
    world.hca(0).ports[1].up = false;
    EXPECT_EQ(0, a.mig(IBV_MIG_MIGRATED));
    EXPECT_EQ(IBV_EVENT_PATH_MIG_ERR, world.event(0));
    EXPECT_EQ(IBV_MIG_ARMED, a.mig_state());
    cut(1);
    ASSERT_EQ(0, a.send(100));
    world.run();
    EXPECT_EQ(IBV_WC_RETRY_EXC_ERR, a.poll().at(0).status);
    EXPECT_EQ(IBV_QPS_ERR, a.state());
    EXPECT_EQ(-1, world.event(0)); /* said once for this alternate path */
}

TEST_F(Path, MigReqFromElsewhereThanTheAlternatePathIsAnErrorEvent)
{
    ASSERT_EQ(0, a.load_alternate(b, 2));
    ASSERT_EQ(0, b.load_alternate(a, 2));
    ASSERT_EQ(0, a.mig(IBV_MIG_REARM));
    ASSERT_EQ(0, b.mig(IBV_MIG_REARM));
    traffic();
    /* b goes elsewhere than a expects. */
    reinterpret_cast<em_qp *>(a.qp)->attr.alt_ah_attr.dlid = 99;
    ASSERT_EQ(0, b.mig(IBV_MIG_MIGRATED));
    ASSERT_EQ(0, b.send(100));
    world.deliver();
    EXPECT_EQ(IBV_EVENT_PATH_MIG_ERR, world.event(0));
    EXPECT_EQ(-1, world.event(0));
    EXPECT_EQ(IBV_MIG_ARMED, a.mig_state());
    EXPECT_EQ(1, port_of(a));
}

TEST_F(Path, AlternateTimeoutApplies)
{
    ibv_qp_attr v = {};
    ibv_qp_init_attr init;

    arm();
    v.alt_ah_attr = a.path_to(b, 2);
    v.alt_port_num = 2;
    v.alt_timeout = 9;
    ASSERT_EQ(0, ibv_modify_qp(a.qp, &v, IBV_QP_ALT_PATH));
    ASSERT_EQ(0, a.mig(IBV_MIG_MIGRATED));
    ASSERT_EQ(0, ibv_query_qp(a.qp, &v, IBV_QP_TIMEOUT, &init));
    EXPECT_EQ(9, v.timeout);
    EXPECT_EQ(2, v.port_num);
    EXPECT_EQ(v.ah_attr.dlid, world.hca(1).ports[1].lid);
}

/* With LMC the two paths may share a port. */
TEST(PathLmc, OtherLidOfTheSamePort)
{
    World world(2);
    Side a(world, 0), b(world, 1);

    connect(a, b, 10, 2);
    ASSERT_EQ(0, a.load_alternate(b, 1, 3));
    ASSERT_EQ(0, b.load_alternate(a, 1, 3));
    ASSERT_EQ(0, a.mig(IBV_MIG_REARM));
    ASSERT_EQ(0, b.mig(IBV_MIG_REARM));
    ASSERT_EQ(0, b.recv(100));
    ASSERT_EQ(0, a.send(100));
    world.run();
    ASSERT_EQ(IBV_MIG_ARMED, a.mig_state());
    ASSERT_EQ(IBV_MIG_ARMED, b.mig_state());
    /* The first LID of b's port leads nowhere now, as with a broken route in a switch. */
    ASSERT_EQ(0, em_faults_cut_lid(&world.hca(0).faults, world.hca(1).ports[0].lid, true));
    ASSERT_EQ(0, b.recv(100));
    ASSERT_EQ(0, a.send(100));
    world.run();
    EXPECT_EQ(2u, a.poll().size());
    EXPECT_EQ(2u, b.poll().size());
    EXPECT_EQ(IBV_MIG_MIGRATED, a.mig_state());
    EXPECT_EQ(IBV_MIG_MIGRATED, b.mig_state());
    EXPECT_EQ(world.hca(1).ports[0].lid + 3, reinterpret_cast<em_qp *>(a.qp)->attr.ah_attr.dlid);
}

} // namespace
