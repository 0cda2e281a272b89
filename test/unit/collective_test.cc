// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// net_reduce, net_scan and moves: collectives over mem::Net, one member a host, stepped in any
// order. What they need of the process is in bcast_test.cc.
#include "engine_groups.h"
#include "failing_memory.h"

extern "C" {
#include "op/chain.h"
#include "op/moves.h"
#include "op/net_reduce.h"
#include "op/net_scan.h"
}

namespace {

// 2 x 2 matrices: the product does not commute.
struct Matrix {
    uint32_t a, b, c, d;
};

void product(void *, void *out, const void *x, const void *y, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        Matrix m = static_cast<const Matrix *>(x)[i], n = static_cast<const Matrix *>(y)[i];

        static_cast<Matrix *>(out)[i] = {m.a * n.a + m.b * n.c, m.a * n.b + m.b * n.d,
                                         m.c * n.a + m.d * n.c, m.c * n.b + m.d * n.d};
    }
}

void sum(void *, void *out, const void *x, const void *y, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        Matrix m = static_cast<const Matrix *>(x)[i], n = static_cast<const Matrix *>(y)[i];

        static_cast<Matrix *>(out)[i] = {m.a + n.a, m.b + n.b, m.c + n.c, m.d + n.d};
    }
}

const hwmc_shm_operation products = {product, nullptr, sizeof(Matrix), false};
const hwmc_shm_operation sums = {sum, nullptr, sizeof(Matrix), true};

using Vector = std::vector<Matrix>;

Vector vector_of(uint32_t rank, uint32_t count)
{
    Vector v(count);
    std::minstd_rand r(rank + 1);

    for (auto &m : v)
        m = {(uint32_t) r(), (uint32_t) r(), (uint32_t) r(), (uint32_t) r()};
    return v;
}

Vector serial(const hwmc_shm_operation &o, uint32_t p, uint32_t count)
{
    Vector all = vector_of(0, count);

    for (uint32_t r = 1; r < p; r++) {
        const Vector next = vector_of(r, count);
        Vector out(count);

        o.combine(nullptr, out.data(), all.data(), next.data(), count);
        all = out;
    }
    return all;
}

bool same(const Vector &x, const Vector &y)
{
    return x.size() == y.size() &&
           (x.empty() || memcmp(x.data(), y.data(), x.size() * sizeof(Matrix)) == 0);
}

// Steps all stages in an order that is drawn, until they are over.
void run(mem::Net &net, std::vector<hwmc_op_stage *> stages, std::minstd_rand &r)
{
    for (int turns = 0; !stages.empty(); turns++) {
        const size_t i = r() % stages.size();

        ASSERT_LT(turns, 200000);
        if (hwmc_stage_step(stages[i]))
            stages.erase(stages.begin() + (long) i);
        if (r() % 8 == 0) {
            net.now += 1000000;
            net.step();
        }
    }
}

std::vector<hwmc_reduce_way> ways_of(uint32_t p, bool commutative)
{
    std::vector<hwmc_reduce_way> ways = {{1, p - 1, 1u << 30}, {1, 2, 1u << 30}, {1, 1, 5000}};

    if (commutative && p > 3)
        ways.push_back({2, 2, 4096});
    return ways;
}

hwmc_net_reduce_cfg config(mem::Net &net, Groups &g, uint32_t rank, uint32_t root,
                           const hwmc_shm_operation &o, const hwmc_reduce_way &way)
{
    hwmc_net_reduce_cfg cfg = {};

    cfg.engine = net.engines[rank];
    cfg.group = g[rank];
    cfg.withdraw_ns = 1000;
    cfg.root = root;
    cfg.operation = &o;
    cfg.way = way;
    cfg.window = 1 + rank % 8;
    return cfg;
}

TEST(NetReduce, IsWhatASerialOneIsInTheOrderOfMembers)
{
    for (uint32_t p : {2u, 3u, 4u, 7u, 9u}) {
        mem::Net net(p, 64 << 20, 40 + 100, 1 << 20, 2);
        std::minstd_rand r(p);
        Groups g;

        net.lanes_on({0, 1});
        g = net.group(first(p));
        net.settle();
        for (const hwmc_shm_operation *o : {&products, &sums})
            for (const hwmc_reduce_way &way : ways_of(p, o->commutative))
                for (uint32_t count : {1u, 7u, 300u, p < 5 ? 3000u : 600u}) {
                    const uint32_t root = (count + way.fanout) % p;
                    std::vector<hwmc_net_reduce> ops(p);
                    std::vector<Vector> in;
                    std::vector<hwmc_op_stage *> stages;
                    Vector out(count);
                    const bool in_place = count == 7;

                    for (uint32_t m = 0; m < p; m++) {
                        hwmc_net_reduce_cfg cfg = config(net, g, m, root, *o, way);

                        in.push_back(vector_of(m, count));
                        cfg.in = in[m].data();
                        cfg.out = m != root ? nullptr : in_place ? in[m].data() : out.data();
                        cfg.bytes = count * sizeof(Matrix);
                        hwmc_net_reduce_begin(&ops[m], &cfg);
                        stages.push_back(&ops[m].stage);
                    }
                    run(net, stages, r);
                    if (HasFatalFailure())
                        return;
                    for (auto &op : ops)
                        EXPECT_EQ(HWMC_OK, op.stage.err);
                    EXPECT_TRUE(same(serial(*o, p, count), in_place ? in[root] : out))
                        << p << " " << way.trees << " " << way.fanout << " " << count;
                }
        for (uint32_t m = 0; m < p; m++)
            EXPECT_EQ(0u, net.engines[m]->wires.counts->bad);
    }
}

// Member 1 has a shorter vector: who combines it, and the root, learn so; all end.
TEST(NetReduce, VectorsOfDifferentLengthsAreAnError)
{
    for (uint32_t count : {5u, 2000u}) {
        const uint32_t p = 4;
        mem::Net net(p);
        Groups g = net.group(first(p));
        std::minstd_rand r(count);
        std::vector<hwmc_net_reduce> ops(p);
        std::vector<Vector> in;
        std::vector<hwmc_op_stage *> stages;
        Vector out(count);

        net.settle();
        for (uint32_t m = 0; m < p; m++) {
            hwmc_net_reduce_cfg cfg = config(net, g, m, 0, sums, {1, 1, 4096});

            in.push_back(vector_of(m, count));
            cfg.in = in[m].data();
            cfg.out = out.data();
            cfg.bytes = (m == 1 ? count - 1 : count) * sizeof(Matrix);
            hwmc_net_reduce_begin(&ops[m], &cfg);
            stages.push_back(&ops[m].stage);
        }
        run(net, stages, r);
        EXPECT_EQ(HWMC_ERR_INVAL, ops[0].stage.err) << count;
        EXPECT_EQ(HWMC_ERR_INVAL, ops[1].stage.err) << count;
    }
}

// A member gives up while an exchange is under way there: the next one is an error at once.
TEST(NetReduce, BeginsNothingOnAGroupThatIsBroken)
{
    const uint32_t p = 3, count = 5000;
    mem::Net net(p);
    Groups g = net.group(first(p));
    std::minstd_rand r(3);
    const Vector in = vector_of(0, count);
    Vector out(count);

    net.settle();
    for (int times = 0; times < 2; times++) {
        std::vector<hwmc_net_reduce> ops(p);
        std::vector<hwmc_op_stage *> stages;

        for (uint32_t m = 0; m < p; m++) {
            hwmc_net_reduce_cfg cfg = config(net, g, m, 0, sums, {2, 2, 4096});

            cfg.in = in.data();
            cfg.out = out.data();
            cfg.bytes = count * sizeof(Matrix);
            hwmc_net_reduce_begin(&ops[m], &cfg);
            stages.push_back(&ops[m].stage);
        }
        hwmc_group_give_up(g[1]);
        run(net, stages, r);
        for (auto *s : stages)
            EXPECT_EQ(HWMC_ERR_PEER, s->err) << times;
    }
}

// It has begun nothing, and the host's part has failed as well: a second error changes nothing.
TEST(NetReduce, WithoutMemoryItIsOverAndCanFail)
{
    mem::Net net(3);
    Groups g = net.group(first(3));
    const Vector in = vector_of(0, 5000);
    Vector out(5000);
    hwmc_net_reduce_cfg cfg = config(net, g, 0, 0, sums, {2, 2, 4096});
    hwmc_net_reduce op;

    net.settle();
    memset(&op, 0xa5, sizeof(op));
    cfg.in = in.data();
    cfg.out = out.data();
    cfg.bytes = in.size() * sizeof(Matrix);
    {
        failing_memory::Range none(0, 9);
        hwmc_net_reduce_begin(&op, &cfg);
    }
    EXPECT_TRUE(op.stage.over);
    hwmc_stage_fail(&op.stage, HWMC_ERR_INVAL);
    EXPECT_EQ(HWMC_ERR_NOMEM, op.stage.err);
    EXPECT_TRUE(hwmc_stage_step(&op.stage));
}

// A member is lost: the others end with an error, and nothing is the lanes'.
TEST(NetReduce, ALostMemberEndsIt)
{
    const uint32_t p = 4, count = 5000;
    mem::Net net(p);
    Groups g = net.group(first(p));
    std::minstd_rand r(3);
    std::vector<hwmc_net_reduce> ops(p);
    std::vector<Vector> in;
    std::vector<hwmc_op_stage *> stages;
    Vector out(count);

    net.settle();
    for (uint32_t m = 0; m + 1 < p; m++) {
        hwmc_net_reduce_cfg cfg = config(net, g, m, 0, sums, {2, 2, 4096});

        in.push_back(vector_of(m, count));
        cfg.in = in[m].data();
        cfg.out = out.data();
        cfg.bytes = count * sizeof(Matrix);
        hwmc_net_reduce_begin(&ops[m], &cfg);
        stages.push_back(&ops[m].stage);
    }
    for (int i = 0; i < 20; i++)
        net.step();
    for (uint32_t m = 0; m + 1 < p; m++)
        hwmc_engine_on_lost(net.engines[m], p - 1);
    run(net, stages, r);
    for (uint32_t m = 0; m + 1 < p; m++) {
        EXPECT_EQ(HWMC_ERR_PEER, ops[m].stage.err);
        EXPECT_FALSE(hwmc_group_pins(g[m]));
        EXPECT_FALSE(g[m]->blocks.exchange.running) << "its rows may be freed";
    }
}

TEST(NetReduce, APieceIsOfWholeElements)
{
    const uint64_t gib = UINT64_C(1) << 30;

    EXPECT_EQ(gib, hwmc_blocks_piece(8));
    EXPECT_EQ(gib / 3 * 3, hwmc_blocks_piece(3));
    EXPECT_EQ(gib + 8, hwmc_blocks_piece((uint32_t) gib + 8)) << "one at least";
}

enum class Wants { Before, Sum, Both, BeforeInPlace, SumInPlace };

// What one member has and gets.
struct Scanner {
    hwmc_net_scan op;
    Vector in, before, sum;
};

void begin(Scanner &s, mem::Net &net, Groups &g, uint32_t rank, const hwmc_shm_operation &o,
           hwmc_scan_way way, uint32_t count, Wants wants)
{
    hwmc_net_scan_cfg cfg = {};

    s.in = vector_of(rank, count);
    s.before = s.sum = Vector(count);
    cfg.engine = net.engines[rank];
    cfg.group = g[rank];
    cfg.withdraw_ns = 1000;
    cfg.operation = &o;
    cfg.way = way;
    cfg.window = 1 + rank % 8;
    cfg.in = s.in.data();
    cfg.bytes = count * sizeof(Matrix);
    if (wants == Wants::Before || wants == Wants::Both)
        cfg.before = s.before.data();
    if (wants == Wants::Sum || wants == Wants::Both)
        cfg.sum = s.sum.data();
    if (wants == Wants::BeforeInPlace)
        cfg.before = s.in.data();
    if (wants == Wants::SumInPlace)
        cfg.sum = s.in.data();
    hwmc_net_scan_begin(&s.op, &cfg);
}

// As a reduction.
TEST(NetScan, WithoutMemoryItIsOverAndCanFail)
{
    mem::Net net(3);
    Groups g = net.group(first(3));
    Scanner s;

    net.settle();
    memset(&s.op, 0xa5, sizeof(s.op));
    {
        failing_memory::Range none(0, 9);
        begin(s, net, g, 1, sums, {}, 5000, Wants::Sum);
    }
    EXPECT_TRUE(s.op.stage.over);
    hwmc_stage_fail(&s.op.stage, HWMC_ERR_INVAL);
    EXPECT_EQ(HWMC_ERR_NOMEM, s.op.stage.err);
    EXPECT_TRUE(hwmc_stage_step(&s.op.stage));
}

void expect_scanned(const Scanner &s, uint32_t rank, const hwmc_shm_operation &o, uint32_t count,
                    Wants wants)
{
    const Vector &before = wants == Wants::BeforeInPlace ? s.in : s.before;
    const Vector &all = wants == Wants::SumInPlace ? s.in : s.sum;

    EXPECT_EQ(HWMC_OK, s.op.stage.err);
    if (rank > 0 && wants != Wants::Sum && wants != Wants::SumInPlace) {
        EXPECT_TRUE(same(serial(o, rank, count), before)) << rank << " " << count;
    }
    if (wants != Wants::Before && wants != Wants::BeforeInPlace) {
        EXPECT_TRUE(same(serial(o, rank + 1, count), all)) << rank << " " << count;
    }
    if (wants != Wants::BeforeInPlace && wants != Wants::SumInPlace) {
        EXPECT_TRUE(same(vector_of(rank, count), s.in));
    }
}

TEST(NetScan, IsWhatASerialOneIsInTheOrderOfMembers)
{
    for (uint32_t p : {2u, 3u, 4u, 7u, 9u}) {
        mem::Net net(p, 64 << 20, 40 + 100, 1 << 20, 2);
        std::minstd_rand r(p);
        Groups g;

        net.lanes_on({0, 1});
        g = net.group(first(p));
        net.settle();
        for (Wants wants :
             {Wants::Before, Wants::Sum, Wants::Both, Wants::BeforeInPlace, Wants::SumInPlace})
            for (hwmc_scan_way way :
                 {hwmc_scan_way{false, 1u << 20}, {false, 5000}, {true, 4096}, {true, 1u << 20}})
                for (uint32_t count : {1u, 300u, 3000u}) {
                    std::vector<Scanner> scanners(p);
                    std::vector<hwmc_op_stage *> stages;

                    for (uint32_t m = 0; m < p; m++) {
                        begin(scanners[m], net, g, m, products, way, count, wants);
                        stages.push_back(&scanners[m].op.stage);
                    }
                    run(net, stages, r);
                    if (HasFatalFailure())
                        return;
                    for (uint32_t m = 0; m < p; m++)
                        expect_scanned(scanners[m], m, products, count, wants);
                }
        for (uint32_t m = 0; m < p; m++)
            EXPECT_EQ(0u, net.engines[m]->wires.counts->bad);
    }
}

// Member 1 has a shorter vector: it learns so, as does who combines it; all end.
TEST(NetScan, VectorsOfDifferentLengthsAreAnError)
{
    for (bool chain : {false, true})
        for (uint32_t count : {5u, 2000u}) {
            const uint32_t p = 4;
            mem::Net net(p);
            Groups g = net.group(first(p));
            std::minstd_rand r(count);
            std::vector<Scanner> scanners(p);
            std::vector<hwmc_op_stage *> stages;

            net.settle();
            for (uint32_t m = 0; m < p; m++) {
                begin(scanners[m], net, g, m, sums, {chain, 4096}, m == 1 ? count - 1 : count,
                      Wants::Sum);
                stages.push_back(&scanners[m].op.stage);
            }
            run(net, stages, r);
            EXPECT_EQ(HWMC_ERR_INVAL, scanners[1].op.stage.err) << count;
            EXPECT_EQ(HWMC_ERR_INVAL, scanners[2].op.stage.err) << count;
        }
}

TEST(Moves, BringEachWhatItIsToHave)
{
    for (uint32_t p : {2u, 3u, 8u}) {
        mem::Net net(p, 64 << 20, 40 + 100, 1 << 20, 2);
        std::minstd_rand r(p);
        Groups g;

        net.lanes_on({0, 1});
        g = net.group(first(p));
        net.settle();
        for (uint32_t round = 0; round < 10; round++) {
            std::vector<hwmc_moves> ops(p);
            std::vector<std::vector<mem::Bytes>> sent(p), got(p);
            std::vector<hwmc_op_stage *> stages;
            auto bytes = [&](uint32_t from, uint32_t to) {
                return (from * 7 + to * 3 + round) % 5 * (round % 2 ? 3000 : 50000) + round % 3;
            };

            for (uint32_t m = 0; m < p; m++) {
                std::vector<hwmc_move> in, out;
                hwmc_moves_cfg cfg = {};

                for (uint32_t peer = 0; peer < p; peer++) {
                    sent[m].push_back(pattern(bytes(m, peer), m * p + peer));
                    got[m].push_back(mem::Bytes(bytes(peer, m)));
                }
                for (uint32_t n = 1; n < p; n++) {
                    const uint32_t before = (m + p - n) % p, after = (m + n) % p;

                    in.push_back({before, got[m][before].data(), got[m][before].size()});
                    out.push_back({after, sent[m][after].data(), sent[m][after].size()});
                }
                cfg = {net.engines[m],
                       g[m],
                       1000,
                       in.data(),
                       out.data(),
                       (uint32_t) in.size(),
                       (uint32_t) out.size(),
                       0,
                       {8192, 1 + round % 16, 2}};
                hwmc_moves_begin(&ops[m], &cfg);
                stages.push_back(&ops[m].stage);
            }
            run(net, stages, r);
            if (HasFatalFailure())
                return;
            for (uint32_t m = 0; m < p; m++) {
                EXPECT_EQ(HWMC_OK, ops[m].stage.err);
                for (uint32_t peer = 0; peer < p; peer++)
                    EXPECT_TRUE(peer == m || got[m][peer] == sent[peer][m]) << m << " " << peer;
            }
        }
    }
}

hwmc_reduce_way way_of(const hwmc_network &net, uint32_t members, bool commutative, uint64_t bytes,
                       uint32_t part, hwmc_reduce_kind kind, bool awaited = false)
{
    const hwmc_reduce_case c = {members, commutative, awaited, bytes, part, kind, 0};

    return hwmc_reduce_way_of(&net, &c);
}

// Which way is taken: what the table in its head says.
TEST(ReduceWay, FollowsLengthMembersAndOrder)
{
    hwmc_network net = {};
    hwmc_reduce_way way;

    net.latency_ns = 10000;
    net.message_ns = 1000;
    net.mbit = net.mbit_all = 1000;
    way = way_of(net, 8, true, 8, 65536, HWMC_REDUCE_ANY);
    EXPECT_EQ(1u, way.trees);
    EXPECT_LT(2u, way.fanout);
    way = way_of(net, 8, true, 4 << 20, 65536, HWMC_REDUCE_ANY);
    EXPECT_EQ(2u, way.trees);
    way = way_of(net, 8, false, 4 << 20, 65536, HWMC_REDUCE_ANY);
    EXPECT_EQ(1u, way.trees);
    EXPECT_EQ(1u, way.fanout);
    EXPECT_EQ(1u, way_of(net, 2, true, 8, 65536, HWMC_REDUCE_ANY).fanout);
}

TEST(ScanWay, DoublesShortVectorsAndChainsLongOnes)
{
    hwmc_network net = {};
    hwmc_scan_way way;

    net.latency_ns = 10000;
    net.mbit = net.mbit_all = 1000;
    EXPECT_FALSE(hwmc_scan_way_of(&net, 8, 8, 65536).chain);
    way = hwmc_scan_way_of(&net, 8, 1 << 20, 65536);
    EXPECT_TRUE(way.chain);
    EXPECT_LE(way.part, 65536u);
    EXPECT_TRUE(hwmc_scan_way_of(&net, 1000, HWMC_SCAN_DOUBLING_MAX + 1, 65536).chain);
}

} // namespace
