// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Memory of another process, read from where it lies: from a child, and from one that is not who it
// says.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <vector>

extern "C" {
#include "am/cma.h"
}

namespace {

// A child that tells where its bytes lie and lives until it is let go.
class Child {
  public:
    explicit Child(const std::vector<unsigned char> &bytes)
    {
        int told[2];

        EXPECT_EQ(pipe(told), 0);
        EXPECT_EQ(pipe(hold_), 0);
        pid_ = fork();
        if (pid_ == 0) {
            std::vector<unsigned char> own(bytes);
            hwmc_cma r{};
            char c;
            bool ok = hwmc_cma_describe(&r, own.data());

            close(hold_[1]);
            ok = ok && write(told[1], &r, sizeof(r)) == sizeof(r);
            _exit(ok && read(hold_[0], &c, 1) == 0 ? 0 : 1);
        }
        close(told[1]);
        close(hold_[0]);
        EXPECT_EQ(read(told[0], &reach, sizeof(reach)), static_cast<ssize_t>(sizeof(reach)));
        close(told[0]);
    }

    ~Child()
    {
        end();
    }

    void end()
    {
        if (pid_ <= 0)
            return;
        close(hold_[1]);
        waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }

    hwmc_cma reach{};

  private:
    pid_t pid_;
    int hold_[2];
};

std::vector<unsigned char> some_bytes(size_t len)
{
    std::vector<unsigned char> bytes(len);

    for (size_t i = 0; i < len; i++)
        bytes[i] = static_cast<unsigned char>(i * 7 + (i >> 8));
    return bytes;
}

// A machine may forbid a parent to read its child's memory; then nothing can be tested here.
#define NEEDS_REACH(child)                                                                         \
    if (!hwmc_cma_check(&(child).reach))                                                           \
    GTEST_SKIP() << "this machine lets no process read another's memory"

TEST(Reach, ReadsWhatLiesThere)
{
    const auto bytes = some_bytes(3 << 20);
    std::vector<unsigned char> got(bytes.size());
    Child child(bytes);

    NEEDS_REACH(child);
    ASSERT_TRUE(hwmc_cma_read(&child.reach, 0, got.data(), got.size()));
    EXPECT_EQ(got, bytes);
}

TEST(Reach, ReadsAPart)
{
    const auto bytes = some_bytes(70000);
    std::vector<unsigned char> got(4097);
    Child child(bytes);

    NEEDS_REACH(child);
    ASSERT_TRUE(hwmc_cma_read(&child.reach, 60001, got.data(), got.size()));
    EXPECT_EQ(memcmp(got.data(), bytes.data() + 60001, got.size()), 0);
}

TEST(Reach, BelievesNobodyWithoutTheKey)
{
    Child child(some_bytes(64)), other(some_bytes(64));
    hwmc_cma forged = child.reach;

    NEEDS_REACH(child);
    forged.owner.pid = other.reach.owner.pid; // as if the number meant somebody else here
    EXPECT_FALSE(hwmc_cma_check(&forged));
}

TEST(Reach, FailsWhereNothingIs)
{
    unsigned char to[16];
    Child child(some_bytes(64));

    NEEDS_REACH(child);
    child.reach.at = 8;
    EXPECT_FALSE(hwmc_cma_read(&child.reach, 0, to, sizeof(to)));
    child.end();
    EXPECT_FALSE(hwmc_cma_check(&child.reach));
}

TEST(Reach, AChildIsNotItsParent)
{
    hwmc_cma mine{};
    const auto bytes = some_bytes(64);

    ASSERT_TRUE(hwmc_cma_describe(&mine, bytes.data()));
    Child child(bytes);
    EXPECT_NE(mine.owner.pid, child.reach.owner.pid);
    EXPECT_NE(mine.owner.key, child.reach.owner.key);
}

} // namespace
