// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Two verbs fabrics on one port, for tests.
#ifndef HWMC_TEST_FABRIC_VERBS_H_INCLUDED
#define HWMC_TEST_FABRIC_VERBS_H_INCLUDED

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <poll.h>
#include <string>
#include <vector>

#include "emulated_hca.h"

extern "C" {
#include "fabric/verbs.h"
#include "fabric/verbs_impl.h"
#include "rail/rail.h"
}

using Strings = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

const auto PATIENCE = std::chrono::seconds(60);

class Verbs : public ::testing::Test {
  protected:
    void SetUp() override
    {
        hwmc_rail all[HWMC_RAIL_PORTS_MAX];
        int num = hwmc_rail_discover(all, HWMC_RAIL_PORTS_MAX);

        params.key = 0x123456789abcdef0;
        params.port = 50000;
        params.groups = HWMC_RANDOM_GROUPS;
        params.window = 1 << 20;
        for (int i = 0; i < num; i++) {
            hwmc_fabric *f = nullptr;

            if (hwmc_fabric_verbs_open(&all[i], &params, &f) != HWMC_OK)
                continue;
            f->ops->close(f);
            rails.push_back(all[i]);
        }
        if (rails.empty())
            GTEST_SKIP() << "no RDMA port; " << no_hca;
        a = open(rails[0]);
        b = open(rails[0]);
        ASSERT_EQ(HWMC_OK, a->ops->draw(a, &group));
        a->ops->query(a, &attr);
    }

    void TearDown() override
    {
        for (auto *f : opened)
            f->ops->close(f);
    }

    hwmc_fabric *open(const hwmc_rail &rail)
    {
        hwmc_fabric *f = nullptr;

        EXPECT_EQ(HWMC_OK, hwmc_fabric_verbs_open(&rail, &params, &f));
        opened.push_back(f);
        return f;
    }

    void close(hwmc_fabric *f)
    {
        opened.erase(std::find(opened.begin(), opened.end(), f));
        f->ops->close(f);
    }

    /* Until a descriptor of `f` is readable or its deadline has passed; false: never in `ms`. */
    static bool wait(hwmc_fabric *f, int ms)
    {
        pollfd p[8];
        int fds[8], num = f->ops->fds(f, fds, 8);

        for (int i = 0; i < num; i++)
            p[i] = {fds[i], POLLIN, 0};
        return ::poll(p, (nfds_t) num, f->ops->deadline(f) == 0 ? 0 : ms) > 0 ||
               f->ops->deadline(f) == 0;
    }

    static int join(hwmc_fabric *f, uint64_t group)
    {
        auto end = Clock::now() + PATIENCE;
        int err;

        while ((err = f->ops->join(f, group)) == HWMC_AGAIN && Clock::now() < end)
            wait(f, 10);
        return err;
    }

    static int post(hwmc_fabric *f, uint64_t to, const std::string &head,
                    const std::string &body = "")
    {
        hwmc_out out = {head.data(), head.size(), body.data(), body.size()};

        return f->ops->post(f, to, &out, 1);
    }

    static Strings poll(hwmc_fabric *f, int n = 64)
    {
        std::vector<hwmc_in> in((size_t) n);
        Strings came;
        int got;

        while ((got = f->ops->poll(f, in.data(), n)) > 0)
            for (int i = 0; i < got; i++)
                came.emplace_back((const char *) in[i].data, in[i].len);
        return came;
    }

    /* Whether `text` comes to `to` when `from` multicasts it, often if need be. What else comes is
     * dropped. */
    static bool reaches(hwmc_fabric *from, hwmc_fabric *to, uint64_t group, const std::string &text)
    {
        auto end = Clock::now() + PATIENCE;

        do {
            if (post(from, group, text) < 0)
                return false;
            wait(to, 50);
            for (auto &s : poll(to))
                if (s == text)
                    return true;
        } while (Clock::now() < end);
        return false;
    }

    std::vector<hwmc_rail> rails; /* with an RDMA port */
    std::vector<hwmc_fabric *> opened;
    hwmc_verbs_params params = {};
    hwmc_fabric *a = nullptr, *b = nullptr; /* on the same port */
    hwmc_fabric_attr attr = {};             /* of both */
    uint64_t group = 0;
};

#endif // HWMC_TEST_FABRIC_VERBS_H_INCLUDED
