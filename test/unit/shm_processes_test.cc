// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Collectives by processes over a segment that one of them made: what MPI does with them.
#include <gtest/gtest.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm_ranks.h"

namespace {

using node::Config;
using node::Script;

constexpr uint32_t kRanks = 3;

// What all processes of a test have besides the segment: its name, once it is there.
struct Board {
    char name[HWMC_SHM_NAME_MAX];
    std::atomic<uint32_t> created, attached;
    std::atomic<uint64_t> begun[kRanks];
    const char *method[kRanks];
};

// One process. Says on standard error what is wrong; 0: nothing.
int live(Board *board, const Config &config, hwmc_shm_segment_kind kind, uint32_t rank,
         const Script &script)
{
    hwmc_shm_segment segment;
    int err;

    if (rank == 0) {
        err = hwmc_shm_segment_create(&segment, &config.layout, kind);
        memcpy(board->name, segment.name, sizeof(board->name));
        board->created = 1;
        while (board->attached < kRanks - 1)
            sched_yield();
        hwmc_shm_segment_seal(&segment);
    } else {
        while (!board->created)
            sched_yield();
        err = hwmc_shm_segment_attach(&segment, &config.layout, board->name);
        board->attached++;
    }
    if (err != HWMC_OK) {
        fprintf(stderr, "rank %u: %s\n", rank, hwmc_err_text(err));
        return 1;
    }
    node::Rank r(config, segment, rank, script, board->begun, 1);
    while (r.step())
        sched_yield();
    board->method[rank] = r.group.copy ? r.group.copy->name : "none";
    hwmc_shm_segment_close(&segment);
    if (!r.wrong.empty())
        fprintf(stderr, "%s\n", r.wrong.c_str());
    return r.wrong.empty() ? 0 : 1;
}

// All ranks in processes of their own; true: all are through and right. Where one fails the others
// are killed, since they would wait for it.
bool run_processes(Board *board, const Config &config, hwmc_shm_segment_kind kind,
                   const Script &script)
{
    pid_t pids[kRanks];
    bool right = true;

    for (uint32_t rank = 0; rank < kRanks; rank++) {
        pids[rank] = fork();
        if (pids[rank] == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0)
            _exit(live(board, config, kind, rank, script));
    }
    for (uint32_t left = kRanks; left > 0; left--) {
        int status;
        pid_t pid = wait(&status);

        for (uint32_t rank = 0; rank < kRanks; rank++)
            if (pids[rank] == pid)
                pids[rank] = 0;
        if (status == 0)
            continue;
        right = false;
        for (pid_t p : pids)
            if (p > 0)
                kill(p, SIGKILL);
    }
    return right;
}

class NodeProcesses : public testing::TestWithParam<hwmc_shm_segment_kind> {
  protected:
    void SetUp() override
    {
        void *at =
            mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

        ASSERT_NE(MAP_FAILED, at);
        board = new (at) Board();
    }
    void TearDown() override
    {
        munmap(board, sizeof(*board));
    }
    Script script(const Config &config)
    {
        sim::Rng rng(7);
        Script s;

        for (int i = 0; i < 300; i++)
            s.push_back(any_item(config, rng));
        return s;
    }
    Config make(uint64_t methods)
    {
        Config s;

        s.layout = {kRanks, 4, 2, 4096};
        s.methods = methods;
        s.params = hwmc_shm_params_default(4096);
        s.params.copy_min = 8192;
        s.params.copy_step = 9000;
        s.params.shift = 1024;
        return s;
    }

    Board *board;
};

} // namespace

TEST_P(NodeProcesses, ThroughTheSegment)
{
    EXPECT_TRUE(run_processes(board, make(0), GetParam(), script(make(0))));
    for (const char *method : board->method)
        EXPECT_STREQ("none", method);
}

TEST_P(NodeProcesses, ByCrossMemoryAttach)
{
    EXPECT_TRUE(run_processes(board, make(node::kCma), GetParam(), script(make(node::kCma))));
    for (const char *method : board->method)
        if (strcmp(method, "none") == 0)
            GTEST_SKIP() << "processes may not read each other's memory here";
}

INSTANTIATE_TEST_SUITE_P(Kinds, NodeProcesses,
                         testing::Values(HWMC_SHM_SEGMENT_MEMFD, HWMC_SHM_SEGMENT_SHM));
