// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
#include <gtest/gtest.h>

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
