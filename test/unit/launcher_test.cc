// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// What the environment says of the launcher: B/process/launcher.

#include <map>
#include <string>

#include <gtest/gtest.h>

extern "C" {
#include "process/launcher.h"
}

namespace {

std::map<std::string, std::string> environment;

char *get(const char *name)
{
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.data();
}

struct Launcher : testing::Test {
    Launcher()
    {
        environment.clear();
    }

    // What is said of others; "": there are none.
    std::string others()
    {
        char text[256] = "unchanged";
        const bool has = hwmc_launcher_has_others(get, text, sizeof(text));

        EXPECT_EQ(has, std::string(text) != "unchanged");
        return has ? text : "";
    }
};

TEST_F(Launcher, IsFoundByWhatItSpeaks)
{
    EXPECT_EQ(HWMC_LAUNCHER_NONE, hwmc_launcher_find(get));
    environment["PMIX_NAMESPACE"] = "slurm.pmix.5.0";
    EXPECT_EQ(HWMC_LAUNCHER_PMIX, hwmc_launcher_find(get));
    environment["PMI_FD"] = "8"; // mpiexec, its helper started by srun
    EXPECT_EQ(HWMC_LAUNCHER_PMI, hwmc_launcher_find(get));
    environment = {{"PMI_PORT", "h0:4711"}};
    EXPECT_EQ(HWMC_LAUNCHER_PMI, hwmc_launcher_find(get));
}

TEST_F(Launcher, OfOneProcessIsRight)
{
    EXPECT_EQ("", others());
    environment = {{"SLURM_STEP_NUM_TASKS", "1"}, {"PMIX_RANK", "0"}, {"PMI_SIZE", "1"}};
    EXPECT_EQ("", others());
    environment = {{"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "7"}}; // a script of sbatch, no step
    EXPECT_EQ("", others());
    environment = {{"SLURM_STEP_NUM_TASKS", "4"}, {"PMI_FD", "8"}}; // mpiexec -n 1 over 4 hosts
    EXPECT_EQ("", others());
}

TEST_F(Launcher, OfSeveralThatTalksToNone)
{
    environment = {{"SLURM_STEP_NUM_TASKS", "4"}};
    EXPECT_EQ("SLURM_STEP_NUM_TASKS=4: start it with srun --mpi=pmi2, or with mpiexec", others());
    environment = {{"PMI_SIZE", "3"}};
    EXPECT_EQ("PMI_SIZE=3: start it with mpiexec", others());
    environment = {{"OMPI_COMM_WORLD_SIZE", "2"}, {"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "1234"}};
    EXPECT_NE(std::string::npos, others().find("OMPI_COMM_WORLD_SIZE=2: that is Open MPI's"));
}

TEST_F(Launcher, OfPmixSaysWhatPmixNeeds)
{
    environment = {{"PMIX_NAMESPACE", "1234"}, {"PMIX_RANK", "1"}};
    EXPECT_EQ("PMIX_RANK=1: start it with mpiexec, or by PMI-2; PMIx needs MPICH 4.2 or later, "
              "configured as in docs/slurm.md",
              others());
    environment["SLURM_STEP_NUM_TASKS"] = "2";
    EXPECT_EQ("SLURM_STEP_NUM_TASKS=2: start it with srun --mpi=pmi2, or with mpiexec; PMIx needs "
              "MPICH 4.2 or later, configured as in docs/slurm.md",
              others());
}

TEST_F(Launcher, WhatIsNoNumberSaysNothing)
{
    environment = {{"SLURM_STEP_NUM_TASKS", "4x"}, {"PMIX_RANK", ""}, {"PMI_SIZE", "many"}};
    EXPECT_EQ("", others());
}

} // namespace
