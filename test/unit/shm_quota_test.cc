// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// quota: trees of control groups as files, as Linux shows them.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

extern "C" {
#include "shm/topo/quota.h"
}

namespace {
namespace fs = std::filesystem;

class Quota : public ::testing::Test {
  protected:
    Quota()
    {
        std::string name = (fs::temp_directory_path() / "quotaXXXXXX").string();

        top_ = mkdtemp(name.data());
    }
    ~Quota() override
    {
        fs::remove_all(top_);
    }

    void put(const std::string &path, const std::string &text)
    {
        fs::create_directories((top_ / path).parent_path());
        std::ofstream(top_ / path) << text << "\n";
    }
    uint32_t get()
    {
        return hwmc_shm_quota((top_ / "membership").c_str(), (top_ / "fs").c_str());
    }

    fs::path top_;
};

TEST_F(Quota, NobodySaysAnything)
{
    EXPECT_EQ(get(), 0u);
    put("membership", "0::/user.slice/job");
    EXPECT_EQ(get(), 0u);
    put("fs/user.slice/job/cpu.max", "max 100000");
    EXPECT_EQ(get(), 0u);
}

TEST_F(Quota, OfItsOwnGroup)
{
    put("membership", "0::/user.slice/job");
    put("fs/user.slice/job/cpu.max", "150000 100000");
    EXPECT_EQ(get(), 1500u);
}

TEST_F(Quota, TheLeastOfAllGroupsUpToTheTopmost)
{
    put("membership", "0::/a/b/c");
    put("fs/a/b/c/cpu.max", "400000 100000");
    put("fs/a/cpu.max", "50000 20000");
    EXPECT_EQ(get(), 2500u);
    put("fs/cpu.max", "100000 100000");
    EXPECT_EQ(get(), 1000u) << "a container sees its own group as the topmost";
}

TEST_F(Quota, TopmostGroup)
{
    put("membership", "0::/");
    put("fs/cpu.max", "75000 100000");
    EXPECT_EQ(get(), 750u);
}

TEST_F(Quota, FirstVersion)
{
    put("membership", "5:cpuset:/x\n4:cpu,cpuacct:/slurm/job_1\n0::/");
    put("fs/cpu,cpuacct/slurm/job_1/cpu.cfs_quota_us", "-1");
    put("fs/cpu,cpuacct/slurm/job_1/cpu.cfs_period_us", "100000");
    EXPECT_EQ(get(), 0u);
    put("fs/cpu,cpuacct/slurm/cpu.cfs_quota_us", "300000");
    put("fs/cpu,cpuacct/slurm/cpu.cfs_period_us", "100000");
    EXPECT_EQ(get(), 3000u);
    put("fs/cpuset/cpu.cfs_quota_us", "1");
    EXPECT_EQ(get(), 3000u) << "another controller's folder says nothing";
}

TEST_F(Quota, NonsenseIsNoQuota)
{
    for (const char *text : {"", "-5 100000", "100000 0", "100000", "x y"}) {
        put("membership", "0::/a");
        put("fs/a/cpu.max", text);
        EXPECT_EQ(get(), 0u) << text;
    }
    put("membership", "no colon\n0:\n::");
    EXPECT_EQ(get(), 0u);
}
} // namespace
