// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
#include <gtest/gtest.h>

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <filesystem>
#include <string>

extern "C" {
#include "select/network_text.h"
}

TEST(NetworkText, ChangesWhatItNames)
{
    hwmc_network net = {50000, 50000, 1000, 2000, 0, 0, 0, 0, 0, 0};

    EXPECT_TRUE(hwmc_network_parse("", &net));
    EXPECT_TRUE(hwmc_network_parse("latency_us=12.5", &net));
    EXPECT_EQ(12500u, net.latency_ns);
    EXPECT_EQ(50000u, net.site_latency_ns);
    EXPECT_TRUE(
        hwmc_network_parse("mbit=100,loss_ppm=7,site_latency_us=10000,datagram_ns=500", &net));
    EXPECT_EQ(100u, net.mbit);
    EXPECT_EQ(200u, net.mbit_all); // still two rails
    EXPECT_EQ(7u, net.loss_ppm);
    EXPECT_EQ(500u, net.datagram_ns);
    EXPECT_EQ(10000000u, net.site_latency_ns);
    EXPECT_TRUE(hwmc_network_parse("latency_us=20000", &net));
    EXPECT_TRUE(hwmc_network_parse("message_ns=700,loaded_us=90,loaded_mbit=30,burst=32768", &net));
    EXPECT_EQ(700u, net.message_ns);
    EXPECT_EQ(90000u, net.loaded_ns);
    EXPECT_EQ(30u, net.loaded_mbit);
    EXPECT_EQ(32768u, net.burst_bytes);
    EXPECT_EQ(20000000u, net.site_latency_ns); // no site is nearer than a neighbour
}

TEST(NetworkText, RefusesWhatItDoesNotKnow)
{
    for (const char *text :
         {"latency", "latency_us", "latency_us=", "latency_us=x", "latency_us=1x", "latency_us=-1",
          "latency_us=nan", "mbit=0", "mbit=1e8", "loss_ppm=2e6", "speed=1", ",",
          "mbit=1;loss_ppm=1", "latency_us=1e10",
          // Nor where more follows.
          "mbit=0,loss_ppm=100", "mbit=1e8,latency_us=5", "loss_ppm=2e6,mbit=1",
          "latency_us=-1,mbit=1", "latency_us=1,mbit=0,mbit=1"}) {
        hwmc_network net = {50000, 50000, 1000, 2000, 0, 0, 0, 0, 0, 0};

        EXPECT_FALSE(hwmc_network_parse(text, &net)) << text;
    }
}

// As the C library's strtod reads them in the locale "C".
TEST(NetworkText, ReadsNumbersAsTheyAreWritten)
{
    for (const char *number : {"0", "7", "007", "12.5", ".5", "5.", "0.123", "1e3", "1.5E+2",
                               "12500e-3", "0.1", "999999999.9", "0.000001", "3e-400", "4.35"}) {
        const std::string written = std::string("x=") + number;
        const char *text = written.c_str();
        double value = -1;

        EXPECT_TRUE(hwmc_network_take(&text, "x", 0, 1e9, &value)) << number;
        EXPECT_EQ(strtod(number, nullptr), value) << number;
        EXPECT_STREQ("", text);
    }
    for (const char *number : {"", ".", "e3", ".e3", "1e", "1e+", "1e-", "1.5.5", "+1", " 1",
                               "0x10", "inf", "nan", "1e999999999999", "1e10", "1.5e"}) {
        const std::string written = std::string("x=") + number;
        const char *text = written.c_str();
        double value;

        EXPECT_FALSE(hwmc_network_take(&text, "x", 0, 1e9, &value)) << number;
        EXPECT_EQ(written, text);
    }
}

// A program may have set one before MPI_Init.
TEST(NetworkText, HasAPointWhereTheLocaleHasAComma)
{
    const std::string dir = testing::TempDir() + "hwmc-locale-" + std::to_string(getpid());
    const std::string make = "localedef -c -i de_DE -f UTF-8 " + dir + "/de_DE.UTF-8 2>/dev/null";
    hwmc_network net = {50000, 50000, 1000, 2000, 0, 0, 0, 0, 0, 0};

    std::filesystem::create_directory(dir);
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") == nullptr && system(make.c_str()) == 0) {
        setenv("LOCPATH", dir.c_str(), 1);
        setlocale(LC_NUMERIC, "de_DE.UTF-8");
        unsetenv("LOCPATH");
    }
    std::filesystem::remove_all(dir);
    if (strcmp(localeconv()->decimal_point, ",") != 0)
        GTEST_SKIP() << "no locale has a decimal comma, and localedef makes none";
    EXPECT_TRUE(hwmc_network_parse("latency_us=12.5,mbit=100", &net));
    EXPECT_EQ(12500u, net.latency_ns);
    EXPECT_FALSE(hwmc_network_parse("latency_us=12,5", &net));
    setlocale(LC_NUMERIC, "C");
}
