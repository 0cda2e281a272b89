/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Which transitions of a queue pair ibv_modify_qp takes, with which attributes. The expectations
 * are written out from the specification's tables, apart from those of the code under test.
 */
#include "world.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <map>

namespace {

const int ALL_BITS[] = {IBV_QP_CUR_STATE,
                        IBV_QP_EN_SQD_ASYNC_NOTIFY,
                        IBV_QP_ACCESS_FLAGS,
                        IBV_QP_PKEY_INDEX,
                        IBV_QP_PORT,
                        IBV_QP_QKEY,
                        IBV_QP_AV,
                        IBV_QP_PATH_MTU,
                        IBV_QP_TIMEOUT,
                        IBV_QP_RETRY_CNT,
                        IBV_QP_RNR_RETRY,
                        IBV_QP_RQ_PSN,
                        IBV_QP_MAX_QP_RD_ATOMIC,
                        IBV_QP_ALT_PATH,
                        IBV_QP_MIN_RNR_TIMER,
                        IBV_QP_SQ_PSN,
                        IBV_QP_MAX_DEST_RD_ATOMIC,
                        IBV_QP_PATH_MIG_STATE,
                        IBV_QP_CAP,
                        IBV_QP_DEST_QPN,
                        IBV_QP_RATE_LIMIT};

struct Rule {
    std::vector<int> required, optional;
};

using Edge = std::pair<ibv_qp_state, ibv_qp_state>;

std::map<Edge, Rule> rules(ibv_qp_type type)
{
    const std::vector<int> base = {IBV_QP_PKEY_INDEX, IBV_QP_PORT,
                                   type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS};
    std::map<Edge, Rule> r;

    for (int s = IBV_QPS_RESET; s <= IBV_QPS_ERR; s++) {
        r[{(ibv_qp_state) s, IBV_QPS_RESET}] = {};
        if (s != IBV_QPS_RESET)
            r[{(ibv_qp_state) s, IBV_QPS_ERR}] = {};
    }
    r[{IBV_QPS_RESET, IBV_QPS_INIT}] = {base, {}};
    r[{IBV_QPS_INIT, IBV_QPS_INIT}] = {{}, base};
    r[{IBV_QPS_RTS, IBV_QPS_SQD}] = {{}, {IBV_QP_EN_SQD_ASYNC_NOTIFY}};
    if (type == IBV_QPT_UD) {
        r[{IBV_QPS_INIT, IBV_QPS_RTR}] = {{}, {IBV_QP_PKEY_INDEX, IBV_QP_QKEY}};
        r[{IBV_QPS_RTR, IBV_QPS_RTS}] = {{IBV_QP_SQ_PSN}, {IBV_QP_CUR_STATE, IBV_QP_QKEY}};
        for (auto s : {IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_SQE})
            r[{s, IBV_QPS_RTS}] = {{}, {IBV_QP_CUR_STATE, IBV_QP_QKEY}};
        r[{IBV_QPS_SQD, IBV_QPS_SQD}] = {{}, {IBV_QP_PKEY_INDEX, IBV_QP_QKEY}};
        return r;
    }
    r[{IBV_QPS_INIT, IBV_QPS_RTR}] = {{IBV_QP_AV, IBV_QP_PATH_MTU, IBV_QP_DEST_QPN, IBV_QP_RQ_PSN,
                                       IBV_QP_MAX_DEST_RD_ATOMIC, IBV_QP_MIN_RNR_TIMER},
                                      {IBV_QP_ALT_PATH, IBV_QP_ACCESS_FLAGS, IBV_QP_PKEY_INDEX}};
    r[{IBV_QPS_RTR, IBV_QPS_RTS}] = {{IBV_QP_TIMEOUT, IBV_QP_RETRY_CNT, IBV_QP_RNR_RETRY,
                                      IBV_QP_SQ_PSN, IBV_QP_MAX_QP_RD_ATOMIC},
                                     {IBV_QP_CUR_STATE, IBV_QP_ALT_PATH, IBV_QP_ACCESS_FLAGS,
                                      IBV_QP_MIN_RNR_TIMER, IBV_QP_PATH_MIG_STATE}};
    for (auto s : {IBV_QPS_RTS, IBV_QPS_SQD})
        r[{s, IBV_QPS_RTS}] = {{},
                               {IBV_QP_CUR_STATE, IBV_QP_ALT_PATH, IBV_QP_ACCESS_FLAGS,
                                IBV_QP_MIN_RNR_TIMER, IBV_QP_PATH_MIG_STATE}};
    r[{IBV_QPS_SQD, IBV_QPS_SQD}] = {
        {},
        {IBV_QP_PORT, IBV_QP_AV, IBV_QP_TIMEOUT, IBV_QP_RETRY_CNT, IBV_QP_RNR_RETRY,
         IBV_QP_MAX_QP_RD_ATOMIC, IBV_QP_MAX_DEST_RD_ATOMIC, IBV_QP_ALT_PATH, IBV_QP_ACCESS_FLAGS,
         IBV_QP_PKEY_INDEX, IBV_QP_MIN_RNR_TIMER, IBV_QP_PATH_MIG_STATE}};
    return r;
}

int mask_of(const std::vector<int> &bits)
{
    int mask = 0;

    for (int b : bits)
        mask |= b;
    return mask;
}

class Modify : public ::testing::TestWithParam<ibv_qp_type> {
  protected:
    World world;
    Side a{world, 0, GetParam()};
    Side b{world, 1, GetParam()};

    /* Values that are right for a transition, as far as a value can be. */
    ibv_qp_attr values(ibv_qp_state from, ibv_qp_state to)
    {
        ibv_qp_attr v = {};

        v.qp_state = to;
        v.cur_qp_state = from;
        v.port_num = 1;
        v.ah_attr = a.path_to(b, 1);
        v.alt_ah_attr = a.path_to(b, 2);
        v.alt_port_num = 2;
        v.path_mtu = IBV_MTU_1024;
        v.path_mig_state = to == IBV_QPS_SQD ? IBV_MIG_MIGRATED : IBV_MIG_REARM;
        return v;
    }

    /* The QP in a state from which everything that the table allows is allowed. */
    em_qp *in_state(ibv_qp_state s)
    {
        em_qp *qp = reinterpret_cast<em_qp *>(a.qp);

        qp->attr.qp_state = s;
        qp->attr.port_num = 1;
        qp->attr.path_mig_state = s == IBV_QPS_SQD ? IBV_MIG_ARMED : IBV_MIG_MIGRATED;
        qp->alt_loaded = true;
        return qp;
    }

    bool ok(ibv_qp_state from, ibv_qp_state to, int mask)
    {
        ibv_qp_attr v = values(from, to);

        /* In SQD a migration is accepted only as MIGRATED, towards RTS both are by state. */
        em_qp *qp = in_state(from);
        if (from == IBV_QPS_SQD && to == IBV_QPS_RTS)
            qp->attr.path_mig_state = IBV_MIG_MIGRATED;
        return em_qp_modify_check(qp, &v, mask | IBV_QP_STATE) == 0;
    }

    void TearDown() override
    {
        reinterpret_cast<em_qp *>(a.qp)->attr.qp_state = IBV_QPS_RESET;
    }
};

TEST_P(Modify, TakesWhatTheTableSaysAndNothingElse)
{
    const auto table = rules(GetParam());

    for (int f = IBV_QPS_RESET; f <= IBV_QPS_ERR; f++)
        for (int t = IBV_QPS_RESET; t <= IBV_QPS_ERR; t++) {
            const auto from = (ibv_qp_state) f, to = (ibv_qp_state) t;
            const auto rule = table.find({from, to});
            const bool valid = rule != table.end();
            const int required = valid ? mask_of(rule->second.required) : 0;
            const int optional = valid ? mask_of(rule->second.optional) : 0;

            SCOPED_TRACE(testing::Message() << "from " << f << " to " << t);
            EXPECT_EQ(valid, ok(from, to, required));
            EXPECT_EQ(valid, ok(from, to, required | optional));
            for (int bit : ALL_BITS) {
                SCOPED_TRACE(testing::Message() << "attribute " << bit);
                if (required & bit)
                    EXPECT_FALSE(ok(from, to, required & ~bit));
                else
                    EXPECT_EQ(valid && (optional & bit) != 0, ok(from, to, required | bit));
            }
        }
}

INSTANTIATE_TEST_SUITE_P(Types, Modify, ::testing::Values(IBV_QPT_RC, IBV_QPT_UD));

struct Value {
    const char *name;
    int bit;
    std::function<void(ibv_qp_attr &)> set;
};

TEST(ModifyValues, OutOfRangeIsRefused)
{
    World world(2);
    Side a(world, 0), b(world, 1);
    const std::vector<Value> wrong = {
        {"port 0", IBV_QP_PORT, [](ibv_qp_attr &v) { v.port_num = 0; }},
        {"port 3", IBV_QP_PORT, [](ibv_qp_attr &v) { v.port_num = 3; }},
        {"pkey", IBV_QP_PKEY_INDEX, [](ibv_qp_attr &v) { v.pkey_index = 1; }},
        {"rnr timer", IBV_QP_MIN_RNR_TIMER, [](ibv_qp_attr &v) { v.min_rnr_timer = 32; }},
        {"timeout", IBV_QP_TIMEOUT, [](ibv_qp_attr &v) { v.timeout = 32; }},
        {"retries", IBV_QP_RETRY_CNT, [](ibv_qp_attr &v) { v.retry_cnt = 8; }},
        {"rnr retries", IBV_QP_RNR_RETRY, [](ibv_qp_attr &v) { v.rnr_retry = 8; }},
        {"reads", IBV_QP_MAX_QP_RD_ATOMIC, [](ibv_qp_attr &v) { v.max_rd_atomic = 17; }},
        {"reads there", IBV_QP_MAX_DEST_RD_ATOMIC,
         [](ibv_qp_attr &v) { v.max_dest_rd_atomic = 17; }},
        {"no LID", IBV_QP_AV, [](ibv_qp_attr &v) { v.ah_attr.dlid = 0; }},
        {"multicast LID", IBV_QP_AV, [](ibv_qp_attr &v) { v.ah_attr.dlid = 0xc000; }},
        {"path bits", IBV_QP_AV, [](ibv_qp_attr &v) { v.ah_attr.src_path_bits = 4; }},
        {"path's port", IBV_QP_AV, [](ibv_qp_attr &v) { v.ah_attr.port_num = 0; }},
        {"GID", IBV_QP_AV,
         [](ibv_qp_attr &v) {
             v.ah_attr.is_global = 1;
             v.ah_attr.grh.sgid_index = 1;
         }},
        {"alternate LID", IBV_QP_ALT_PATH, [](ibv_qp_attr &v) { v.alt_ah_attr.dlid = 0; }},
        {"alternate port", IBV_QP_ALT_PATH, [](ibv_qp_attr &v) { v.alt_port_num = 3; }},
        {"alternate timeout", IBV_QP_ALT_PATH, [](ibv_qp_attr &v) { v.alt_timeout = 32; }},
        {"alternate pkey", IBV_QP_ALT_PATH, [](ibv_qp_attr &v) { v.alt_pkey_index = 1; }},
    };

    connect(a, b);
    em_qp *qp = reinterpret_cast<em_qp *>(a.qp);
    qp->attr.qp_state = IBV_QPS_SQD; /* where all these may be set */
    for (const auto &w : wrong) {
        ibv_qp_attr v = {};

        SCOPED_TRACE(w.name);
        v.port_num = 1;
        v.ah_attr = a.path_to(b, 1, 3);
        v.alt_ah_attr = a.path_to(b, 2, 3);
        v.alt_port_num = 2;
        EXPECT_EQ(0, em_qp_modify_check(qp, &v, w.bit));
        w.set(v);
        EXPECT_EQ(EINVAL, em_qp_modify_check(qp, &v, w.bit));
    }
}

TEST(ModifyValues, CurrentStateMustBeTheOneItIs)
{
    World world;
    Side a(world, 0), b(world, 1);
    ibv_qp_attr v = {};

    connect(a, b);
    v.qp_state = IBV_QPS_RTS;
    v.cur_qp_state = IBV_QPS_SQD;
    EXPECT_EQ(EINVAL, ibv_modify_qp(a.qp, &v, IBV_QP_STATE | IBV_QP_CUR_STATE));
    v.cur_qp_state = IBV_QPS_RTS;
    EXPECT_EQ(0, ibv_modify_qp(a.qp, &v, IBV_QP_STATE | IBV_QP_CUR_STATE));
}

TEST(ModifyValues, MtuAboveThePortsIsRefused)
{
    World world(0, IBV_MTU_1024);
    Side a(world, 0), b(world, 1);

    ASSERT_EQ(0, a.init());
    world.hca(0).ports[0].mtu = IBV_MTU_2048;
    EXPECT_EQ(0, a.rtr(b));
    ibv_qp_attr v = {};
    v.qp_state = IBV_QPS_RESET;
    EXPECT_EQ(0, ibv_modify_qp(a.qp, &v, IBV_QP_STATE));
    ASSERT_EQ(0, a.init());
    v.path_mtu = IBV_MTU_4096;
    v.qp_state = IBV_QPS_RTR;
    v.ah_attr = a.path_to(b, 1);
    EXPECT_EQ(EINVAL,
              ibv_modify_qp(a.qp, &v,
                            IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
}

TEST(ModifyValues, DrainedSendQueueTellsAndMayTakeAnotherPath)
{
    World world;
    Side a(world, 0), b(world, 1);
    ibv_qp_attr v = {};

    connect(a, b);
    ASSERT_EQ(0, b.recv(1000));
    ASSERT_EQ(0, a.send(1000)); /* on its way */
    v.qp_state = IBV_QPS_SQD;
    v.en_sqd_async_notify = 1;
    ASSERT_EQ(0, ibv_modify_qp(a.qp, &v, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
    ASSERT_EQ(0, a.send(1000)); /* waits */
    v.ah_attr = a.path_to(b, 2);
    EXPECT_EQ(EINVAL, ibv_modify_qp(a.qp, &v, IBV_QP_AV));
    world.deliver();
    EXPECT_EQ(IBV_EVENT_SQ_DRAINED, world.event(0));
    EXPECT_EQ(1u, a.poll().size());
    EXPECT_EQ(0, ibv_modify_qp(a.qp, &v, IBV_QP_AV));
    /* The other side follows, and the message that waited goes by the new path. */
    v.en_sqd_async_notify = 0;
    ASSERT_EQ(0, ibv_modify_qp(b.qp, &v, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
    v.ah_attr = b.path_to(a, 2);
    ASSERT_EQ(0, ibv_modify_qp(b.qp, &v, IBV_QP_AV));
    v.qp_state = IBV_QPS_RTS;
    ASSERT_EQ(0, ibv_modify_qp(b.qp, &v, IBV_QP_STATE));
    ASSERT_EQ(0, b.recv(1000));
    ASSERT_EQ(0, ibv_modify_qp(a.qp, &v, IBV_QP_STATE));
    world.fate = [](const em_packet &, const Frame &f) {
        return f.port == 2 ? Fate::Deliver : Fate::Lose;
    };
    world.run();
    EXPECT_EQ(1u, a.poll().size());
}

TEST(ModifyValues, ResetForgetsCompletionsAndRequests)
{
    World world;
    Side a(world, 0), b(world, 1);
    ibv_qp_attr v = {};

    connect(a, b);
    ASSERT_EQ(0, b.recv(100));
    ASSERT_EQ(0, b.recv(100));
    ASSERT_EQ(0, a.send(100));
    world.run();
    v.qp_state = IBV_QPS_RESET;
    ASSERT_EQ(0, ibv_modify_qp(b.qp, &v, IBV_QP_STATE));
    EXPECT_EQ(0u, b.poll().size());
    EXPECT_EQ(EINVAL, b.recv(100));
}

} // namespace
