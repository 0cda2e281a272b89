// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Tracing: which topics a text names, and that machines tell what they do if their topic is on.
#include <map>
#include <string>

#include <gtest/gtest.h>

extern "C" {
#include "core/base/trace.h"
}
#include "sim_net.h"

namespace {

std::map<std::string, int> told;

void note(const hwmc_trace_event *e)
{
    const std::string what = e->from ? std::string(e->from) + "->" + e->to : e->to;

    told[std::string(hwmc_trace_names[e->topic]) + " " + std::to_string(e->number) + " " + what]++;
}

// Four ranks, fragment 1 of one broadcast is lost on its way to rank 2.
std::map<std::string, int> run(uint32_t topics)
{
    sim::Config c;

    c.ranks = 4;
    c.script = {{0, 20}};
    c.lose = [](const hwmc_msg &msg, uint32_t to) {
        return msg.type == HWMC_MSG_DATA && msg.data.index == 1 && to == 2;
    };
    told.clear();
    hwmc_trace_sink = topics ? note : nullptr;
    hwmc_trace_topics = topics;
    EXPECT_EQ("", sim::Net(c).run());
    hwmc_trace_topics = 0;
    hwmc_trace_sink = nullptr;
    return told;
}

} // namespace

TEST(TraceTopics, NamesAndAll)
{
    uint32_t topics = 7;

    EXPECT_TRUE(hwmc_trace_parse("", &topics));
    EXPECT_EQ(0u, topics);
    EXPECT_TRUE(hwmc_trace_parse("bcast", &topics));
    EXPECT_EQ(1u << HWMC_TRACE_BCAST, topics);
    EXPECT_TRUE(hwmc_trace_parse("failure,epoch", &topics));
    EXPECT_EQ(1u << HWMC_TRACE_FAILURE | 1u << HWMC_TRACE_EPOCH, topics);
    EXPECT_TRUE(hwmc_trace_parse("all", &topics));
    EXPECT_EQ((1u << HWMC_TRACE_TOPICS) - 1, topics);
}

TEST(TraceTopics, OtherTextIsNotTaken)
{
    uint32_t topics;

    for (const char *text : {"bcas", "bcasts", "bcast,", ",", "bcast,,epoch", "bcast epoch", "ALL"})
        EXPECT_FALSE(hwmc_trace_parse(text, &topics)) << text;
}

TEST(TraceTopics, PhasesOfABroadcast)
{
    const std::map<std::string, int> all = run(1u << HWMC_TRACE_BCAST);

    EXPECT_EQ(1, all.at("bcast 0 EMPTY->HOLD")); // the root
    EXPECT_EQ(1, all.at("bcast 0 HOLD->CAST"));
    EXPECT_EQ(1, all.at("bcast 0 CAST->DONE"));
    for (const auto &[what, times] : all)
        EXPECT_EQ(0u, what.find("bcast ")) << what;
}

TEST(TraceTopics, NothingIsToldWhileOff)
{
    EXPECT_TRUE(run(0).empty());
    EXPECT_TRUE(run(1u << HWMC_TRACE_FAILURE).empty());
}
