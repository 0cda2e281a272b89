// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// The queues of operations: order, interleaving, errors at each step, what the helper may do.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

extern "C" {
#include "op/queue.h"
}

namespace {

class Queues;

// An operation that is over after `left` steps.
struct Op {
    hwmc_op op = {};
    Queues *of = nullptr;
    int number = 0, left = 0;
    bool needs_mpich = false, in_memory = false, gone = false;
};

class Queues : public testing::Test {
  protected:
    ~Queues() override
    {
        EXPECT_EQ(hwmc_queues_pending(), 0u);
    }

    Op &start(hwmc_queue &q, int left, bool needs_mpich = false, bool in_memory = false)
    {
        auto op = std::make_unique<Op>();

        op->op.ops = &OPS;
        op->of = this;
        op->number = static_cast<int>(ops.size());
        op->left = left;
        op->needs_mpich = needs_mpich;
        op->in_memory = in_memory;
        ops.push_back(std::move(op));
        hwmc_queue_start(&q, &ops.back()->op);
        hwmc_queue_check(&q);
        return *ops.back();
    }

    std::vector<int> stepped, ended;
    std::vector<std::unique_ptr<Op>> ops;
    hwmc_queue *restarted = nullptr; // an operation that ends starts another one there

  private:
    static Op *of_op(const hwmc_op *op)
    {
        return reinterpret_cast<Op *>(reinterpret_cast<char *>(const_cast<hwmc_op *>(op)));
    }
    static bool step(hwmc_op *op, hwmc_stepper by)
    {
        Op *o = of_op(op);

        EXPECT_FALSE(o->gone);
        if (by == HWMC_STEP_BY_HELPER && o->needs_mpich)
            return false;
        o->of->stepped.push_back(o->number);
        return --o->left <= 0;
    }
    static void end(hwmc_op *op)
    {
        Op *o = of_op(op);
        hwmc_queue *q = o->of->restarted;

        EXPECT_FALSE(o->gone);
        o->gone = true;
        o->of->ended.push_back(o->number);
        if (q) {
            o->of->restarted = nullptr;
            o->of->start(*q, 2);
        }
    }
    static bool in_memory(const hwmc_op *op)
    {
        return of_op(op)->in_memory;
    }

    static constexpr hwmc_op_ops OPS = {.step = step, .end = end, .in_memory = in_memory};
};

using Numbers = std::vector<int>;

TEST_F(Queues, WhatIsOverAtOnceHasEndedWhenItWasStarted)
{
    hwmc_queue q = {};

    start(q, 1);
    EXPECT_EQ(ended, Numbers({0}));
    EXPECT_TRUE(hwmc_queue_is_empty(&q));
}

TEST_F(Queues, OnlyTheFirstRunsAndTheyEndInOrder)
{
    hwmc_queue q = {};

    start(q, 3);
    start(q, 1);
    start(q, 2);
    EXPECT_EQ(stepped, Numbers({0}));
    EXPECT_EQ(hwmc_queues_step(HWMC_STEP_BY_PROGRAM), 0u);
    EXPECT_EQ(hwmc_queues_pending(), 3u);
    EXPECT_EQ(hwmc_queues_step(HWMC_STEP_BY_PROGRAM), 2u); // the second needs one step only
    EXPECT_EQ(stepped, Numbers({0, 0, 0, 1, 2}));
    EXPECT_EQ(hwmc_queues_step(HWMC_STEP_BY_PROGRAM), 1u);
    EXPECT_EQ(ended, Numbers({0, 1, 2}));
}

TEST_F(Queues, CommunicatorsDoNotWaitForEachOther)
{
    hwmc_queue a = {}, b = {};

    start(a, 100);
    start(b, 2);
    start(b, 2);
    for (int i = 0; i < 3; i++)
        hwmc_queues_step(HWMC_STEP_BY_PROGRAM);
    EXPECT_EQ(ended, Numbers({1, 2}));
    EXPECT_TRUE(hwmc_queue_is_empty(&b));
    while (hwmc_queues_pending() > 0)
        hwmc_queues_step(HWMC_STEP_BY_PROGRAM);
}

TEST_F(Queues, AQueueMayGoWhenItIsEmpty)
{
    auto q = std::make_unique<hwmc_queue>();
    hwmc_queue other = {};

    start(*q, 2);
    start(other, 3);
    hwmc_queues_step(HWMC_STEP_BY_PROGRAM);
    q.reset();
    while (hwmc_queues_pending() > 0)
        hwmc_queues_step(HWMC_STEP_BY_PROGRAM);
    EXPECT_EQ(ended, Numbers({0, 1}));
}

TEST_F(Queues, TheHelperEndsNothingAndLeavesWhatNeedsMpich)
{
    hwmc_queue q = {};

    start(q, 2);
    start(q, 1);
    start(q, 1, true);
    EXPECT_EQ(hwmc_queues_step(HWMC_STEP_BY_HELPER), 0u);
    EXPECT_EQ(stepped, Numbers({0, 0, 1}));
    EXPECT_TRUE(ended.empty());
    EXPECT_EQ(hwmc_queues_pending(), 3u);
    EXPECT_EQ(hwmc_queues_step(HWMC_STEP_BY_PROGRAM), 3u);
    EXPECT_EQ(ended, Numbers({0, 1, 2}));
}

TEST_F(Queues, AnOperationThatEndsMayStartAnother)
{
    hwmc_queue q = {};

    restarted = &q;
    start(q, 1);
    EXPECT_EQ(ended, Numbers({0}));
    EXPECT_EQ(hwmc_queues_step(HWMC_STEP_BY_PROGRAM), 1u);
    EXPECT_EQ(ended, Numbers({0, 1}));
}

TEST_F(Queues, WhoWaitsKnowsOfMemory)
{
    hwmc_queue q = {};

    start(q, 2, false, true);
    start(q, 2);
    EXPECT_TRUE(hwmc_queues_in_memory());
    hwmc_queues_step(HWMC_STEP_BY_PROGRAM); // the first is over, the second waits for messages
    EXPECT_FALSE(hwmc_queues_in_memory());
    hwmc_queues_step(HWMC_STEP_BY_PROGRAM);
}

// Threads that start, step and help at the same time.
TEST_F(Queues, ThreadsTakeTurns)
{
    constexpr int EACH = 2000;
    hwmc_queue q[2] = {};
    std::atomic<bool> done = false;
    std::vector<std::unique_ptr<Op>> mine[2];
    static std::atomic<int> over;
    static const hwmc_op_ops ops = {.step = [](hwmc_op *, hwmc_stepper) { return true; },
                                    .end = [](hwmc_op *) { over++; },
                                    .in_memory = nullptr};
    auto starts = [&](int i) {
        for (int k = 0; k < EACH; k++) {
            mine[i].push_back(std::make_unique<Op>());
            mine[i].back()->op.ops = &ops;
            hwmc_queue_start(&q[i], &mine[i].back()->op);
        }
    };
    auto steps = [&](hwmc_stepper by) {
        while (!done)
            hwmc_queues_step(by);
    };

    over = 0;
    std::thread a(starts, 0), b(starts, 1), helper(steps, HWMC_STEP_BY_HELPER),
        program(steps, HWMC_STEP_BY_PROGRAM);
    a.join();
    b.join();
    while (hwmc_queues_pending() > 0)
        hwmc_queues_step(HWMC_STEP_BY_PROGRAM);
    done = true;
    helper.join();
    program.join();
    EXPECT_EQ(over, 2 * EACH);
}

// A step may wait for a lock that the thread which starts an operation holds.
TEST_F(Queues, WhoStartsNeverWaitsForAStep)
{
    static std::atomic<bool> inside, may_go;
    static std::atomic<int> over;
    static const hwmc_op_ops ops = {.step =
                                        [](hwmc_op *, hwmc_stepper) {
                                            inside = true;
                                            while (!may_go)
                                                std::this_thread::yield();
                                            return true;
                                        },
                                    .end = [](hwmc_op *) { over++; },
                                    .in_memory = nullptr};
    hwmc_queue q[2] = {};
    Op held, same, other;

    held.op.ops = same.op.ops = other.op.ops = &ops;
    inside = may_go = false;
    over = 0;
    std::thread stepper([&] { hwmc_queue_start(&q[0], &held.op); });
    while (!inside)
        std::this_thread::yield();
    hwmc_queue_start(&q[0], &same.op);
    hwmc_queue_start(&q[1], &other.op);
    EXPECT_EQ(over, 0);
    may_go = true;
    stepper.join();
    while (hwmc_queues_pending() > 0)
        hwmc_queues_step(HWMC_STEP_BY_PROGRAM);
    EXPECT_EQ(over, 3);
}

} // namespace
