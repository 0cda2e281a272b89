// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// turns: allgathers by multicast over mem::Net, stepped in any order. What they need of the process
// is in bcast_test.cc.
#include "engine_groups.h"

extern "C" {
#include "core/model/turns_way.h"
#include "op/turns.h"
}

extern uint64_t clock_ns;

namespace {

// The blocks of all members, as each has them.
class Turns {
  public:
    // `lengths` by member; member `odd` takes block `of` for one of `odd_bytes`.
    struct Odd {
        uint32_t member = UINT32_MAX, of = 0, bytes = 0;
        uint32_t failed = UINT32_MAX; // member that has no block
    };

    Turns(mem::Net &net, Groups &g, const std::vector<uint32_t> &lengths, uint32_t ahead,
          uint32_t seed, const Odd &odd)
        : net_(net), lengths_(lengths), seed_(seed), ops_(g.size()), turns_(g.size()),
          blocks_(g.size())
    {
        for (uint32_t m = 0; m < g.size(); m++) {
            for (uint32_t of = 0; of < g.size(); of++) {
                const uint32_t n = m == odd.member && of == odd.of ? odd.bytes : lengths[of];

                blocks_[m].push_back(of == m ? pattern(n, seed + of) : mem::Bytes(n, 0xee));
                turns_[m].push_back({blocks_[m][of].data(), n});
            }
            const hwmc_turns_cfg cfg = {
                net.engines[g[m]->world[m]], g[m], turns_[m].data(), ahead, 1000, m == odd.failed};
            hwmc_turns_begin(&ops_[m], &cfg);
        }
    }
    Turns(mem::Net &net, Groups &g, const std::vector<uint32_t> &lengths, uint32_t ahead,
          uint32_t seed)
        : Turns(net, g, lengths, ahead, seed, Odd())
    {
    }
    Turns(const Turns &) = delete;

    // True: it is over there.
    bool step(uint32_t member)
    {
        hwmc_turns &t = ops_[member];
        bool over;

        clock_ns = net_.now;
        over = hwmc_stage_step(&t.stage);
        hwmc_turns_check(&t);
        hwmc_stream_check(&t.cfg.group->stream);
        return over;
    }

    // In an order that is drawn, until it is over at the first `members`; time moves when nothing
    // else does.
    void run(std::minstd_rand &r, uint32_t members = UINT32_MAX)
    {
        std::vector<uint32_t> left;

        for (uint32_t m = 0; m < ops_.size() && m < members; m++)
            left.push_back(m);
        for (int steps = 0; !left.empty(); steps++) {
            const size_t i = r() % left.size();

            ASSERT_LT(steps, 400000);
            if (step(left[i]))
                left.erase(left.begin() + (long) i);
            if (r() % 4 == 0 && !net_.step())
                net_.now += MS / 4;
        }
    }

    // All step, until member 0 has so many bytes of its block; then nothing is multicast any more.
    void lose_rails_after(uint64_t bytes)
    {
        for (int steps = 0; ops_[0].taken.at < bytes; steps++) {
            for (uint32_t m = 0; m < ops_.size(); m++)
                step(m);
            net_.step();
            ASSERT_LT(steps, 20000);
        }
        net_.passes = [](uint32_t, uint32_t, const mem::Bytes &) { return false; };
    }

    void expect_blocks()
    {
        for (uint32_t m = 0; m < ops_.size(); m++) {
            EXPECT_EQ(HWMC_OK, ops_[m].stage.err) << m;
            for (uint32_t of = 0; of < ops_.size(); of++)
                EXPECT_EQ(pattern(lengths_[of], seed_ + of), blocks_[m][of]) << m << " " << of;
        }
    }

    hwmc_turns &operator[](uint32_t member)
    {
        return ops_[member];
    }
    const mem::Bytes &block(uint32_t member, uint32_t of) const
    {
        return blocks_[member][of];
    }

  private:
    mem::Net &net_;
    const std::vector<uint32_t> lengths_;
    const uint32_t seed_;
    std::vector<hwmc_turns> ops_;
    std::vector<std::vector<hwmc_turn>> turns_;
    std::vector<std::vector<mem::Bytes>> blocks_;
};

// All begin at once, and the network brings everything before a timer goes off.
void gather_at_once(mem::Net &net, Groups &g, const std::vector<uint32_t> &lengths, uint32_t ahead,
                    uint32_t seed)
{
    Turns turns(net, g, lengths, ahead, seed);
    uint32_t over = 0;

    for (int steps = 0; over < g.size(); steps++) {
        ASSERT_LT(steps, 1000);
        over = 0;
        for (uint32_t m = 0; m < g.size(); m++)
            over += turns.step(m);
        net.step();
    }
    turns.expect_blocks();
}

void gather(mem::Net &net, Groups &g, const std::vector<uint32_t> &lengths, uint32_t ahead,
            uint32_t seed, std::minstd_rand &r)
{
    Turns turns(net, g, lengths, ahead, seed);

    turns.run(r);
    turns.expect_blocks();
}

std::vector<uint32_t> equal(uint32_t p, uint32_t bytes)
{
    return std::vector<uint32_t>(p, bytes);
}

void lose_some(mem::Net &net, uint32_t one_of)
{
    auto r = std::make_shared<std::minstd_rand>(3);

    net.passes = [=](uint32_t, uint32_t, const mem::Bytes &) { return (*r)() % one_of != 0; };
}

uint64_t sum_of(const mem::Net &net, uint64_t hwmc_counts::*field)
{
    uint64_t sum = 0;

    for (const hwmc_engine *e : net.engines)
        sum += e->wires.counts->*field;
    return sum;
}

} // namespace

// About the edges of fragments and pieces, blocks of no bytes and of several lengths; a few at a
// time, or all; with loss.
TEST(Turns, BringAllBlocksToAll)
{
    for (uint32_t p : {2u, 3u, 8u, 20u}) {
        mem::Net net(p, 64 << 20, 40 + 100, 1 << 20, 2);
        Groups g = net.group(first(p), small_pieces());
        std::minstd_rand r(p);
        uint32_t seed = 0;

        net.settle();
        for (uint32_t one_of : {0u, 20u, 4u}) {
            if (one_of > 0)
                lose_some(net, one_of);
            for (uint32_t ahead : {1u, 3u, 64u})
                for (uint32_t n : {0u, 1u, 100u, 101u, 500u, 501u, 2600u})
                    gather(net, g, equal(p, p > 8 && n > 600 ? 600 : n), ahead, seed += p, r);
            std::vector<uint32_t> lengths;
            for (uint32_t m = 0; m < p; m++)
                lengths.push_back((m * 7 + one_of) % 5 * 333);
            gather(net, g, lengths, 8, seed += p, r);
            if (HasFatalFailure())
                return;
        }
        EXPECT_EQ(0u, sum_of(net, &hwmc_counts::bad)) << p;
    }
}

// Each block is multicast once, and nothing goes by a lane, however the network interleaves them.
TEST(Turns, MulticastEachFragmentOnceWithoutLoss)
{
    const uint32_t p = 8;
    mem::Net net(p);
    Groups g = net.group(first(p), small_pieces());

    net.settle();
    for (uint32_t i = 0; i < 20; i++)
        gather_at_once(net, g, equal(p, i % 2 ? 80 : 700), i % 3 ? 64 : 4, i);
    EXPECT_EQ(10u * p * (1 + 7), sum_of(net, &hwmc_counts::cast_frags));
    EXPECT_EQ(0u, sum_of(net, &hwmc_counts::cast_again));
    EXPECT_EQ(0u, sum_of(net, &hwmc_counts::forwarded));
}

// What one root sent overtakes what another one did before: that is no loss.
TEST(Turns, BlocksThatOvertakeEachOtherAreNotAskedFor)
{
    const uint32_t p = 4;
    mem::Net net(p);
    Groups g = net.group(first(p), small_pieces());
    std::minstd_rand r(1);

    net.settle();
    Turns turns(net, g, equal(p, 80), 64, 7);
    net.away = {0}; // the first root's comes last
    for (int i = 0; i < 40; i++) {
        for (uint32_t m = 1; m < p; m++)
            turns.step(m);
        net.step();
    }
    EXPECT_EQ(0u, sum_of(net, &hwmc_counts::nacks_sent));
    net.away = {};
    turns.run(r);
    turns.expect_blocks();
    EXPECT_EQ(0u, sum_of(net, &hwmc_counts::forwarded));
}

// A piece is lost, and its root goes on: that alone says so, without a timer.
TEST(Turns, APieceThatIsLostIsAskedForWhenItsRootGoesOn)
{
    const uint32_t p = 3;
    mem::Net net(p);
    Groups g = net.group(first(p), small_pieces());
    uint32_t lost = 0;

    net.settle();
    // Members 1 and 2 have begun before member 0 has sent anything.
    Turns turns(net, g, {100, 1500, 100}, 8, 7);
    net.passes = [&](uint32_t from, uint32_t to, const mem::Bytes &b) {
        const bool first = from == 1 && to == 2 && index_of(b) == 4 && lost == 0;

        lost += first;
        return !first;
    };
    for (int i = 0; i < 60; i++) {
        for (uint32_t m = 1; m < p; m++)
            turns.step(m);
        net.step();
    }
    EXPECT_EQ(1u, lost);
    EXPECT_LE(1u, net.engines[2]->wires.counts->nacks_sent);
    EXPECT_EQ(0u, net.engines[2]->wires.counts->lost_tail);
    std::minstd_rand r(2);
    turns.run(r);
    turns.expect_blocks();
}

// Rails stop working in mid-collective: what is left goes along trees.
TEST(Turns, GoOnAlongTrees)
{
    const uint32_t p = 3;
    mem::Net net(p);
    Groups g = net.group(first(p), small_pieces(false));
    std::minstd_rand r(5);

    net.settle();
    Turns turns(net, g, {30000, 0, 30000}, 8, 7);
    turns.lose_rails_after(2500);
    turns.run(r);
    turns.expect_blocks();
    EXPECT_LT(0u, sum_of(net, &hwmc_counts::multilane));
    for (auto *x : g)
        EXPECT_FALSE(hwmc_group_pins(x));
}

// So it is for a member that has no block.
TEST(Turns, AMemberWithoutABlockIsAnErrorAlongTreesToo)
{
    const uint32_t p = 3;
    mem::Net net(p);
    Groups g = net.group(first(p), small_pieces(false));
    std::minstd_rand r(5);
    Turns::Odd odd;

    net.settle();
    odd.failed = 2;
    Turns turns(net, g, {30000, 0, 30000}, 8, 7, odd);
    turns.lose_rails_after(2500);
    turns.run(r);
    for (uint32_t m = 0; m < p; m++) {
        EXPECT_EQ(m == 2 ? HWMC_OK : HWMC_ERR_INVAL, turns[m].stage.err) << m;
        EXPECT_EQ(pattern(30000, 7), turns.block(m, 0)) << m;
        EXPECT_FALSE(hwmc_group_pins(g[m]));
    }
}

// A member takes a block for shorter or longer, in the same number of pieces: it gets an error, the
// others do not, and the next collective goes well.
TEST(Turns, LengthsThatDisagreeAreAnErrorAndAllStayInStep)
{
    for (uint32_t bytes : {0u, 79u, 90u, 500u}) {
        const uint32_t p = 4;
        mem::Net net(p);
        Groups g = net.group(first(p), small_pieces());
        std::minstd_rand r(bytes);

        net.settle();
        Turns turns(net, g, equal(p, 80), 64, 7, {2, 1, bytes});
        turns.run(r);
        for (uint32_t m = 0; m < p; m++)
            EXPECT_EQ(m == 2 ? HWMC_ERR_INVAL : HWMC_OK, turns[m].stage.err) << bytes;
        EXPECT_EQ(80u, turns[2].stage.theirs);
        EXPECT_EQ(bytes, turns[2].stage.ours);
        gather(net, g, equal(p, 90), 64, 8, r);
    }
}

// A member has no block, whatever the number of pieces: the others get an error, it gets their
// blocks, and the next collective goes well.
TEST(Turns, AMemberWithoutABlockIsAnErrorToTheOthers)
{
    for (uint32_t bytes : {1u, 80u, 500u, 1700u})
        for (uint32_t failed : {0u, 2u, 3u}) {
            const uint32_t p = 4;
            mem::Net net(p);
            Groups g = net.group(first(p), small_pieces());
            std::minstd_rand r(bytes + failed);
            Turns::Odd odd;

            net.settle();
            odd.failed = failed;
            Turns turns(net, g, equal(p, bytes), 64, 7, odd);
            turns.run(r);
            for (uint32_t m = 0; m < p; m++) {
                EXPECT_EQ(HWMC_ERR_INVAL, turns[m].stage.err) << bytes << " " << m;
                EXPECT_EQ(pattern(bytes, 7 + 1), turns.block(m, 1)) << bytes << " " << m;
            }
            gather(net, g, equal(p, 90), 64, 8, r);
        }
}

// In another number of pieces: no member can go on, and none waits for ever.
TEST(Turns, MembersOutOfStepEndTheGroup)
{
    for (uint32_t odd : {0u, 2u, 3u})
        for (uint32_t bytes : {400u, 1700u}) {
            const uint32_t p = 4;
            mem::Net net(p);
            Groups g = net.group(first(p), small_pieces());
            std::minstd_rand r(odd);

            net.settle();
            Turns turns(net, g, equal(p, 900), 8, 7, {odd, 2, bytes});
            turns.run(r);
            for (uint32_t m = 0; m < p; m++)
                EXPECT_NE(HWMC_OK, turns[m].stage.err) << odd << " " << bytes << " " << m;
        }
}

// A member is lost: the others end with an error.
TEST(Turns, ALostMemberEndsIt)
{
    const uint32_t p = 4;
    mem::Net net(p);
    Groups g = net.group(first(p), small_pieces());
    std::minstd_rand r(3);

    net.settle();
    Turns turns(net, g, equal(p, 5000), 8, 7);
    for (int i = 0; i < 20; i++) {
        for (uint32_t m = 0; m + 1 < p; m++)
            turns.step(m);
        net.step();
    }
    for (uint32_t m = 0; m + 1 < p; m++)
        hwmc_engine_on_lost(net.engines[m], p - 1);
    turns.run(r, p - 1);
    for (uint32_t m = 0; m + 1 < p; m++)
        EXPECT_EQ(HWMC_ERR_PEER, turns[m].stage.err);
}

// Where there is multicast, and little is lost or hosts are slow.
TEST(TurnsWay, FollowsMulticastAndLoss)
{
    hwmc_network net = {};
    hwmc_shape shape = {};

    net.latency_ns = 10000;
    net.mbit = net.mbit_all = 1000;
    net.datagram_ns = 1000;
    shape.ranks = shape.hosts = 8;
    shape.sites = 1;
    EXPECT_FALSE(hwmc_turns_win(&net, &shape, 100000)); // no multicast
    shape.frag_bytes = 1400;
    const auto win = [&](uint64_t bytes) { return hwmc_turns_win(&net, &shape, bytes); };
    for (uint64_t bytes : {0u, 1u, 1000u})
        EXPECT_TRUE(win(bytes)) << bytes;
    // A line brings nothing while it sends; but where bytes burden hosts, each is sent once.
    const std::vector<uint64_t> many = {100000, UINT64_C(1) << 30, UINT64_MAX};
    for (uint64_t bytes : many)
        EXPECT_FALSE(win(bytes)) << bytes;
    net.loaded_mbit = 200;
    for (uint64_t bytes : many)
        EXPECT_TRUE(win(bytes)) << bytes;
    net.loss_ppm = 1000;
    EXPECT_TRUE(win(10000));
    net.loss_ppm = 200000;
    EXPECT_FALSE(win(100000));
    net.loaded_mbit = 0;
    net.loss_ppm = 100000;
    net.datagram_ns = 20000; // hosts are slower than the wire: they send it seven times otherwise
    EXPECT_TRUE(hwmc_turns_win(&net, &shape, 100000));
    net = {};
    EXPECT_FALSE(hwmc_turns_win(&net, &shape, 0)); // nothing is known
}
