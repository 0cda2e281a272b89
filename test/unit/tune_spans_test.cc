// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// tune_spans: what hwmc_tune takes for the time of all ranks, whatever their clocks show.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

extern "C" {
#include "tools/tune_spans.h"
}

namespace {

struct Span {
    double begin, end;
};

// Two spans of three ranks, by a clock that nobody has. Sums of them and of `apart` are exact.
const std::vector<std::vector<Span>> times = {
    {{1.0, 1.5}, {3.0, 3.25}}, {{1.125, 2.0}, {3.0, 4.0}}, {{1.25, 1.75}, {3.5, 4.5}}};

// By the ranks' clocks, of which each shows so much more; the maximum is MPI_Allreduce's.
std::vector<double> lengths(const std::vector<double> &apart, bool one_clock)
{
    std::vector<double> most_begins(2, -1e300), most_ends(2, -1e300);

    for (size_t rank = 0; rank < times.size(); rank++) {
        std::vector<double> begins, ends;

        for (const Span &span : times[rank]) {
            begins.push_back(span.begin + apart[rank]);
            ends.push_back(span.end + apart[rank]);
        }
        tune_spans_give(begins.data(), ends.data(), 2, one_clock);
        for (int i = 0; i < 2; i++) {
            most_begins[i] = std::max(most_begins[i], begins[i]);
            most_ends[i] = std::max(most_ends[i], ends[i]);
        }
    }
    tune_spans_finish(most_begins.data(), most_ends.data(), 2);
    return most_ends;
}

} // namespace

TEST(TuneSpans, ByOneClockGoFromTheFirstBeginningToTheLastEnd)
{
    EXPECT_EQ((std::vector<double>{1.0, 1.5}), lengths({0, 0, 0}, true));
    EXPECT_EQ((std::vector<double>{1.0, 1.5}), lengths({4096, 4096, 4096}, true));
}

TEST(TuneSpans, ByClocksThatDifferAreTheLongestOfARank)
{
    for (const std::vector<double> &apart :
         {std::vector<double>{0, 0, 0}, {4096, 4096, 4096}, {0, 1024, -512}, {1, -2, 0.5}})
        EXPECT_EQ((std::vector<double>{0.875, 1.0}), lengths(apart, false));
}
