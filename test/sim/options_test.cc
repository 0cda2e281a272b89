// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// options: what is written is what is meant; what is wrong is named.
#include "report.h"
#include "run_one.h"

using namespace sim;

namespace {

Parsed parse_words(std::vector<const char *> words, Options *o, std::string *error)
{
    words.insert(words.begin(), "hwmc_sim");
    return parse((int) words.size(), words.data(), o, error);
}

TEST(Options, AreRead)
{
    Options o;
    std::string error;

    ASSERT_EQ(parse_words({"--algorithm",
                           "multilane",
                           "--ranks=100",
                           "--bytes",
                           "64K",
                           "--rates",
                           "100,25",
                           "--latency-us",
                           "1.5",
                           "--sites",
                           "2",
                           "--site-latency-us",
                           "10",
                           "--loss-ppm",
                           "7",
                           "--late-us",
                           "3",
                           "--segment",
                           "4K",
                           "--repair",
                           "push",
                           "--seed",
                           "18446744073709551615",
                           "--csv"},
                          &o, &error),
              Parsed::RUN)
        << error;
    EXPECT_EQ(o.algorithm, Algorithm::MULTILANE);
    EXPECT_EQ(o.ranks, 100u);
    EXPECT_EQ(o.bytes, 65536u);
    EXPECT_EQ(o.mbit, (std::vector<uint32_t>{100, 25}));
    EXPECT_EQ(o.latency_ns, 1500u);
    EXPECT_EQ(o.site_latency_ns, 10000u);
    EXPECT_EQ(o.late_ns, 3000u);
    EXPECT_EQ(o.loss_ppm, 7u);
    EXPECT_EQ(o.segment, 4096u);
    EXPECT_EQ(o.seed, UINT64_MAX);
    EXPECT_TRUE(o.push);
    EXPECT_TRUE(o.csv);
}

TEST(Options, OneRateIsForAllRails)
{
    Options o;
    std::string error;

    ASSERT_EQ(parse_words({"--rails", "3", "--rates", "100"}, &o, &error), Parsed::RUN);
    EXPECT_EQ(o.mbit, (std::vector<uint32_t>{100, 100, 100}));
}

TEST(Options, WhatIsWrongIsNamed)
{
    const std::vector<std::pair<std::vector<const char *>, const char *>> wrong = {
        {{"--rank", "2"}, "--rank"},
        {{"-x"}, "-x"},
        {{"--ranks"}, "--ranks"},
        {{"--ranks", "1"}, "--ranks"},
        {{"--ranks", "-2"}, "--ranks"},
        {{"--ranks", "99999999999999999999"}, "--ranks"},
        {{"--bytes", "4x"}, "--bytes"},
        {{"--bytes", "18014398509481984K"}, "--bytes"},
        {{"--algorithm", "ring"}, "--algorithm"},
        {{"--rates", "100,,25"}, "--rates"},
        {{"--rates", "100,0"}, "--rates"},
        {{"--rates", "1,2,3,4,5,6,7,8,9"}, "8 rails"},
        {{"--rails", "3", "--rates", "1,2"}, "--rates"},
        {{"--rails", "0"}, "--rails"},
        {{"--latency-us", "soon"}, "--latency-us"},
        {{"--latency-us", "nan"}, "--latency-us"},
        {{"--sites", "33"}, "--sites"},
        {{"--loss-ppm", "1000001"}, "--loss-ppm"},
        {{"--repair", "no"}, "--repair"},
        {{"--channels", "65"}, "--channels"},
        {{"--queue", "100"}, "--queue"},
        {{"--loss-mask", "-1"}, "--loss-mask"},
        {{"--collective", "broadcast"}, "--collective"},
        {{"--collective", "reduce", "--algorithm", "striped"}, "striped of reduce"},
        {{"--algorithm", "exchange"}, "exchange of bcast"},
        {{"--collective", "allreduce", "--bytes", "0"}, "--bytes of allreduce"},
        {{"--collective", "allreduce", "--root", "1"}, "--root"},
        {{"--collective", "reduce", "--root", "32"}, "--root"},
        {{"--collective", "scan", "--degree", "2"}, "--degree"},
        {{"--collective", "barrier", "--degree", "33"}, "--degree"},
        {{"--collective", "barrier", "--operation", "xor"}, "--operation"},
        {{"--collective", "alltoall", "--ranks", "40000"}, "--ranks"},
        {{"--algorithm", "multilane", "--bytes", "0"}, "multilane"},
        {{"--algorithm", "chain", "--bytes", "8G", "--segment", "1"}, "--segment"},
        {{"--algorithm", "vandegeijn", "--ranks", "1000000", "--count", "10000"}, "--ranks"},
    };

    for (const auto &[words, named] : wrong) {
        Options o;
        std::string error;

        EXPECT_EQ(parse_words(words, &o, &error), Parsed::WRONG) << words[0];
        EXPECT_NE(error.find(named), std::string::npos) << error;
    }
}

TEST(Options, ACollectiveHasAnAlgorithmOfItsOwn)
{
    const std::pair<const char *, Algorithm> all[] = {{"bcast", Algorithm::STRIPED},
                                                      {"barrier", Algorithm::STRIPED},
                                                      {"reduce", Algorithm::EXCHANGE},
                                                      {"allgather", Algorithm::STRIPED},
                                                      {"alltoall", Algorithm::EXCHANGE}};

    for (const auto &[name, algorithm] : all) {
        Options o;
        std::string error;

        ASSERT_EQ(parse_words({"--collective", name}, &o, &error), Parsed::RUN) << error;
        EXPECT_EQ(o.algorithm, algorithm) << name;
        EXPECT_STREQ(name_of(o.collective), name);
    }
}

TEST(Options, HelpHasThemAll)
{
    Options o;
    std::string error, text = help();

    EXPECT_EQ(parse_words({"--help"}, &o, &error), Parsed::HELP);
    for (const char *name :
         {"--collective", "--algorithm", "--ranks", "--rates", "--site-connection-mbit",
          "--loss-ppm", "--deadline-s", "--csv", "--help"})
        EXPECT_NE(text.find(name), std::string::npos) << name;
}

TEST(Report, HasAValueForEveryName)
{
    Options o = plain(Algorithm::STRIPED, 4, 100000, {100, 25});
    Result r = good(o);
    std::string head = csv_head(), line = csv_line(o, r);

    EXPECT_EQ(std::count(head.begin(), head.end(), ','), std::count(line.begin(), line.end(), ','));
    EXPECT_NE(line.find("striped,4,100000,100+25,"), std::string::npos);
    EXPECT_NE(text(o, r).find("times M / (R b)"), std::string::npos);
}

} // namespace
