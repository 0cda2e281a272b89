// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
#include <gtest/gtest.h>

#include <set>
#include <string>

extern "C" {
#include "settings/keys.h"
#include "settings/old_names.h"
}

namespace {

struct Read {
    bool good;
    struct hwmc_settings set = {};
    std::string why;
};

Read read(const char *text, hwmc_key_string string = HWMC_KEYS_TUNE)
{
    Read r;
    char why[HWMC_KEY_WHY] = "";

    r.good = hwmc_keys_read(string, text, &r.set, why);
    r.why = why;
    return r;
}

} // namespace

TEST(Settings, DefaultsWhereNothingIsSaid)
{
    Read r = read("");

    EXPECT_TRUE(r.good);
    EXPECT_EQ(8192, r.set.tune.segment);
    EXPECT_EQ(1048576, r.set.tune.segment_max);
    EXPECT_EQ(-1, r.set.tune.setup_after);
    EXPECT_TRUE(r.set.tune.prepare);
    EXPECT_EQ(HWMC_SET_COPY_AUTO, r.set.tune.shm_copy);
    EXPECT_STREQ("auto", r.set.tune.apm_path);
    EXPECT_EQ(-1, read("", HWMC_KEYS_DEBUG).set.debug.near_rail);
}

TEST(Settings, TakesWhatIsSaid)
{
    Read r = read("segment=4096,prepare=0,shm_shape=kary,apm_path=[port=same,bits=3],window=7");

    EXPECT_TRUE(r.good) << r.why;
    EXPECT_EQ(4096, r.set.tune.segment);
    EXPECT_FALSE(r.set.tune.prepare);
    EXPECT_EQ(HWMC_SET_SHAPE_KARY, r.set.tune.shm_shape);
    EXPECT_STREQ("port=same,bits=3", r.set.tune.apm_path);
    EXPECT_EQ(7, r.set.tune.window);
    EXPECT_EQ(4, r.set.tune.fanout);
    EXPECT_EQ(2, read("window=1,window=2").set.tune.window) << "the last one";
    EXPECT_EQ(2, read("window=2,").set.tune.window) << "a comma at the end";
    EXPECT_STREQ("port=2", read("apm_path=port=2").set.tune.apm_path);
    r = read("near_rail=1,fault=[drop=1,delay=2:500],topology=l3:2 pu:2,group=", HWMC_KEYS_DEBUG);
    EXPECT_TRUE(r.good) << r.why;
    EXPECT_STREQ("drop=1,delay=2:500", r.set.debug.fault);
    EXPECT_STREQ("l3:2 pu:2", r.set.debug.topology);
    EXPECT_STREQ("", r.set.debug.group);
    EXPECT_EQ(1, r.set.debug.near_rail);
}

TEST(Settings, ReadAgainForgetsWhatWasSaid)
{
    struct hwmc_settings set = {};
    char why[HWMC_KEY_WHY];

    EXPECT_TRUE(hwmc_keys_read(HWMC_KEYS_TUNE, "segment=1,apm_path=port=1", &set, why));
    set.debug.near_rail = 3;
    EXPECT_TRUE(hwmc_keys_read(HWMC_KEYS_TUNE, "window=1", &set, why));
    EXPECT_EQ(8192, set.tune.segment);
    EXPECT_STREQ("auto", set.tune.apm_path);
    EXPECT_EQ(3, set.debug.near_rail) << "of another string";
}

TEST(Settings, RefusesAndLeavesAllAsItWas)
{
    struct hwmc_settings set = {};
    char why[HWMC_KEY_WHY];

    set.tune.segment = 5;
    EXPECT_FALSE(hwmc_keys_read(HWMC_KEYS_TUNE, "segment=9,window=x", &set, why));
    EXPECT_EQ(5, set.tune.segment);
}

TEST(Settings, SaysWhatIsWrong)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"segmnt=8", "MPIR_CVAR_HWMC_TUNE: there is no key segmnt (is it segment?); hwmc_info "
                     "--cvars lists them"},
        {"frobnicate=8",
         "MPIR_CVAR_HWMC_TUNE: there is no key frobnicate; hwmc_info --cvars lists them"},
        {"fanout=17", "MPIR_CVAR_HWMC_TUNE: fanout=17 is not allowed; it may be 1 to 16"},
        {"fanout=0", "MPIR_CVAR_HWMC_TUNE: fanout=0 is not allowed; it may be 1 to 16"},
        {"suspect_ms=9", "MPIR_CVAR_HWMC_TUNE: suspect_ms=9 is not allowed; it may be 10 or more"},
        {"prepare=yes", "MPIR_CVAR_HWMC_TUNE: prepare=yes is not allowed; it may be 0 or 1"},
        {"shm_copy=fast", "MPIR_CVAR_HWMC_TUNE: shm_copy=fast is not allowed; it may be auto, "
                          "none, xpmem, cma"},
        {"shm_shape", "MPIR_CVAR_HWMC_TUNE: no key=value, or no end of a bracket: shm_shape"},
        {"window=1,,segment=2",
         "MPIR_CVAR_HWMC_TUNE: no key=value, or no end of a bracket: ,segment=2"},
        {"apm_path=[port=1", "MPIR_CVAR_HWMC_TUNE: no key=value, or no end of a bracket: "
                             "apm_path=[port=1"},
    };

    for (const auto &row : rows) {
        Read r = read(row.text);

        EXPECT_FALSE(r.good) << row.text;
        EXPECT_EQ(row.why, r.why);
    }
}

TEST(Settings, RefusesNumbersThatAreNone)
{
    for (const char *text :
         {"segment=", "segment= 8", "segment=8 ", "segment=8k", "segment=0x10", "segment=1.5",
          "segment=99999999999", "segment=9999999999999999999", "segment=-1", "segment=[8]x", "=8",
          "segment==8", "max_bytes=-2", "apm_path=1234567890123456789012345678901234567890"})
        EXPECT_FALSE(read(text).good) << text;
}

TEST(Settings, LongNamesAndValuesFitWhatIsSaid)
{
    std::string name(1000, 'x');

    EXPECT_LT(read((name + "=1").c_str()).why.size(), (size_t) HWMC_KEY_WHY);
    EXPECT_LT(read(("segment=" + name).c_str()).why.size(), (size_t) HWMC_KEY_WHY);
    EXPECT_LT(read(name.c_str()).why.size(), (size_t) HWMC_KEY_WHY);
}

/* Each default is printed as it is read, and is in its range. */
TEST(Settings, TablesAreSound)
{
    for (hwmc_key_string string : {HWMC_KEYS_ALGORITHMS, HWMC_KEYS_TUNE, HWMC_KEYS_DEBUG}) {
        const Read r = read("", string);
        std::set<std::string> names;
        std::set<size_t> fields;
        size_t num;
        const hwmc_key *keys = hwmc_keys(string, &num);

        for (size_t i = 0; i < num; i++) {
            char value[HWMC_KEY_VALUE], normal[HWMC_KEY_VALUE];
            Read again;

            hwmc_key_print(&keys[i], &r.set, value);
            hwmc_key_print_default(&keys[i], normal);
            EXPECT_STREQ(normal, value) << keys[i].name;
            again = read((std::string(keys[i].name) + "=" + value).c_str(), string);
            EXPECT_TRUE(again.good) << again.why;
            EXPECT_TRUE(names.insert(keys[i].name).second) << keys[i].name;
            EXPECT_TRUE(fields.insert(keys[i].at).second) << keys[i].name;
            EXPECT_NE('\0', *keys[i].meaning) << keys[i].name;
        }
    }
}

TEST(Settings, WhoRunsACollective)
{
    Read r = read("all=mpich,allreduce=trees,barrier=hw", HWMC_KEYS_ALGORITHMS);

    EXPECT_TRUE(r.good) << r.why;
    EXPECT_EQ(HWMC_SET_RUNNER_MPICH, r.set.runner[HWMC_COLL_LIMIT]);
    EXPECT_EQ(HWMC_SET_RUNNER_TREES, r.set.runner[HWMC_COLL_ALLREDUCE]);
    EXPECT_EQ(HWMC_SET_RUNNER_HW, r.set.runner[HWMC_COLL_BARRIER]);
    EXPECT_EQ(HWMC_SET_RUNNER_AUTO, r.set.runner[HWMC_COLL_REDUCE]);
    EXPECT_EQ(HWMC_SET_RUNNER_MPICH, hwmc_settings_runner(&r.set, HWMC_COLL_REDUCE));
    EXPECT_EQ("MPIR_CVAR_HWMC_ALGORITHMS: barrier=trees is not allowed; it may be auto, hw, mpich",
              read("barrier=trees", HWMC_KEYS_ALGORITHMS).why);
    EXPECT_EQ("MPIR_CVAR_HWMC_ALGORITHMS: there is no key alreduce (is it allreduce?); hwmc_info "
              "--cvars lists them",
              read("alreduce=hw", HWMC_KEYS_ALGORITHMS).why);
}

TEST(Settings, WhatGoesDirectly)
{
    const Read r = read("reduce=direct,gather=direct,scatter=direct,alltoall=direct,scan=direct",
                        HWMC_KEYS_ALGORITHMS);
    const auto way = [&r](hwmc_coll coll) {
        return hwmc_settings_way(coll, hwmc_settings_runner(&r.set, coll));
    };

    EXPECT_TRUE(r.good) << r.why;
    for (hwmc_coll coll : {HWMC_COLL_REDUCE, HWMC_COLL_GATHER, HWMC_COLL_SCATTER,
                           HWMC_COLL_ALLTOALL, HWMC_COLL_SCAN})
        EXPECT_EQ(HWMC_WAY_DIRECT, way(coll)) << coll;
    EXPECT_EQ(HWMC_WAY_MPICH, way(HWMC_COLL_ALLTOALLV));
    EXPECT_EQ(HWMC_WAY_MPICH, way(HWMC_COLL_ALLTOALLW));
    EXPECT_EQ(HWMC_WAY_HWMC, hwmc_settings_way(HWMC_COLL_ALLREDUCE, HWMC_SET_RUNNER_RANGES));
    EXPECT_EQ(HWMC_WAY_HWMC, hwmc_settings_way(HWMC_COLL_REDUCE, HWMC_SET_RUNNER_RANGES));
    EXPECT_FALSE(read("barrier=direct", HWMC_KEYS_ALGORITHMS).good);
    EXPECT_FALSE(read("allreduce=direct", HWMC_KEYS_ALGORITHMS).good);
}

// An all-to-all with less alike follows the one with more, where nothing is said of it.
TEST(Settings, WhoRunsAnAllToAll)
{
    const hwmc_coll all[] = {HWMC_COLL_ALLTOALL, HWMC_COLL_ALLTOALLV, HWMC_COLL_ALLTOALLW};
    const struct {
        const char *text;
        hwmc_set_runner runner[3];
    } cases[] = {
        {"", {HWMC_SET_RUNNER_AUTO, HWMC_SET_RUNNER_AUTO, HWMC_SET_RUNNER_AUTO}},
        {"all=mpich,alltoall=hw", {HWMC_SET_RUNNER_HW, HWMC_SET_RUNNER_HW, HWMC_SET_RUNNER_HW}},
        {"alltoallv=hw", {HWMC_SET_RUNNER_AUTO, HWMC_SET_RUNNER_HW, HWMC_SET_RUNNER_HW}},
        {"alltoallw=hw", {HWMC_SET_RUNNER_AUTO, HWMC_SET_RUNNER_AUTO, HWMC_SET_RUNNER_HW}},
        {"all=hw,alltoallv=mpich",
         {HWMC_SET_RUNNER_HW, HWMC_SET_RUNNER_MPICH, HWMC_SET_RUNNER_MPICH}},
    };

    for (const auto &c : cases) {
        const Read r = read(c.text, HWMC_KEYS_ALGORITHMS);

        for (int i = 0; i < 3; i++)
            EXPECT_EQ(c.runner[i], hwmc_settings_runner(&r.set, all[i])) << c.text << i;
    }
}

TEST(Settings, PrintsWhatCanBeReadAgain)
{
    Read r = read("apm_path=[port=same,bits=3],shm_copy=cma,rail_weight=0");
    size_t num;
    const hwmc_key *keys = hwmc_keys(HWMC_KEYS_TUNE, &num);
    std::string all;
    Read again;

    for (size_t i = 0; i < num; i++) {
        char value[HWMC_KEY_VALUE];

        hwmc_key_print(&keys[i], &r.set, value);
        all += std::string(keys[i].name) + "=" + value + ",";
    }
    EXPECT_NE(std::string::npos, all.find("apm_path=[port=same,bits=3],"));
    again = read(all.c_str());
    EXPECT_TRUE(again.good) << again.why;
    EXPECT_EQ(HWMC_SET_COPY_CMA, again.set.tune.shm_copy);
    EXPECT_FALSE(again.set.tune.rail_weight);
    EXPECT_STREQ("port=same,bits=3", again.set.tune.apm_path);
}

TEST(OldNames, AreKnownUnderEachPrefix)
{
    char why[HWMC_OLD_WHY] = "";

    EXPECT_TRUE(hwmc_old_name("MPIR_CVAR_BCAST_HW_SEGMENT_BYTES=8", why));
    EXPECT_STREQ("MPIR_CVAR_BCAST_HW_SEGMENT_BYTES is MPIR_CVAR_HWMC_TUNE=segment=... now", why);
    EXPECT_TRUE(hwmc_old_name("MPICH_HWMC_FAULT=drop=1", why));
    EXPECT_STREQ("MPIR_CVAR_HWMC_FAULT is MPIR_CVAR_HWMC_DEBUG=fault=... now", why);
    EXPECT_TRUE(hwmc_old_name("MPIR_PARAM_BCAST_HW_NODE=", why));
    EXPECT_STREQ("MPIR_CVAR_BCAST_HW_NODE is MPIR_CVAR_HWMC_SHM now", why);
    EXPECT_TRUE(hwmc_old_name("MPIR_CVAR_BCAST_HW_FEED_BYTES=1", why));
    EXPECT_STREQ("MPIR_CVAR_BCAST_HW_FEED_BYTES is gone, and nothing takes its place", why);
}

TEST(OldNames, NoOthers)
{
    char why[HWMC_OLD_WHY];

    for (const char *item : {"MPIR_CVAR_HWMC_RAILS=lo", "MPIR_CVAR_HWMC_TUNE=segment=1",
                             "BCAST_HW_NODE=1", "PATH=/bin", "MPIR_CVAR_BCAST_HW_NODES=1",
                             "MPIR_CVAR_", "", "MPIR_CVAR_HWMC_FAULTS", "="})
        EXPECT_FALSE(hwmc_old_name(item, why)) << item;
}
