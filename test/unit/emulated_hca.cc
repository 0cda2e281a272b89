// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
#include "emulated_hca.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

std::string no_hca;

static bool run(const std::string &command)
{
    return system((command + " 2>/dev/null").c_str()) == 0;
}

static std::string device(int rail)
{
    return "d" + std::to_string(rail);
}

static std::string address(int rail)
{
    return "10.77." + std::to_string(rail) + ".1";
}

// The kernel takes a moment to see the carrier.
static bool is_up(int rail)
{
    for (int i = 0; i < 1000; i++)
        if (run("ip link show " + device(rail) + " | grep -q 'state UP'"))
            return true;
    return false;
}

void set_port(int rail, bool up)
{
    ASSERT_TRUE(run("ip link set " + device(rail) + (up ? " up" : " down")));
    ASSERT_TRUE(!up || is_up(rail));
}

void set_path(int rail, bool up)
{
    ASSERT_TRUE(run(std::string("ip addr ") + (up ? "add " : "del ") + address(rail) + "/24 dev " +
                    device(rail)));
}

static bool make_network()
{
    if (unshare(CLONE_NEWNET) != 0)
        return false;
    bool ok = run("ip link set lo up");
    for (int rail = 0; rail < 2; rail++)
        ok = ok && run("ip link add " + device(rail) + " type veth peer name p" + device(rail)) &&
             run("ip link set p" + device(rail) + " up") &&
             run("ip addr add " + address(rail) + "/24 dev " + device(rail)) &&
             run("ip link set " + device(rail) + " up") && is_up(rail);
    return ok;
}

bool emulate_hca(char **argv)
{
    const char *given = getenv("HWMC_IBEMU");
    std::string library = given ? given : IBEMU, path = getenv("LD_LIBRARY_PATH") ?: "";

    if (access((library + "/libibverbs.so.1").c_str(), R_OK) != 0)
        no_hca = "there is no emulated HCA in " + library;
    else if (path.rfind(library, 0) != 0) {
        setenv("LD_LIBRARY_PATH", (library + ":" + path).c_str(), 1);
        execv("/proc/self/exe", argv);
        no_hca = "cannot start this program again";
    } else if (!make_network())
        no_hca = "this machine allows no network namespaces";
    setenv("IBEMU_PORTS",
           (device(0) + "=" + address(0) + "," + device(1) + "=" + address(1)).c_str(), 1);
    return no_hca.empty();
}
