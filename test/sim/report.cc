// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// report: see report.h.
#include "report.h"

#include <stdio.h>

#include <algorithm>

namespace sim {

namespace {

std::string rates(const Options &o, const char *between)
{
    std::string all;

    for (uint32_t mbit : o.mbit)
        all += (all.empty() ? "" : between) + std::to_string(mbit);
    return all;
}

template <class... Values> std::string print(const char *format, Values... values)
{
    char line[256];

    snprintf(line, sizeof(line), format, values...);
    return line;
}

double speed(const Result &r)
{
    return (double) r.events / std::max(r.seconds, 1e-9);
}

using ull = unsigned long long;

} // namespace

std::string text(const Options &o, const Result &r)
{
    std::string out =
        print("%s, %s, %u ranks, %llu bytes, %s Mbit/s, seed %llu\n", name_of(o.collective),
              name_of(o.algorithm), o.ranks, (ull) o.bytes, rates(o, " + ").c_str(), (ull) o.seed);

    if (o.count > 1)
        out += print("time of %u        %14.3f us\n", o.count, (double) r.ns / 1000);
    out += print("time             %14.3f us, of the slowest rank%s\n", r.us(o),
                 o.count > 1 ? ", a call" : "");
    out += print("median           %14.3f us%s\n", r.median_us(o), o.count > 1 ? ", a call" : "");
    if (r.ratio(o) > 0)
        out += print("ratio            %14.3f times M / (R b)\n", r.ratio(o));
    out += print("messages         %14llu by lane\n", (ull) r.traffic.messages);
    out += print("datagrams        %14llu by multicast, lost %llu times\n",
                 (ull) r.traffic.datagrams, (ull) r.traffic.lost);
    out += print("sent             %14llu bytes, with headers\n", (ull) r.traffic.bytes);
    if (o.sites > 1)
        out += print("between sites    %14llu bytes\n", (ull) r.traffic.site_bytes);
    out += print("repairs          %14llu fragments\n", (ull) r.repairs);
    out += print("memory           %14.1f MiB at most, %llu bytes a rank\n",
                 (double) r.memory / (1 << 20), (ull) r.rank_bytes);
    out += print("events           %14llu, %.2f M/s, %.2f s\n", (ull) r.events, speed(r) / 1e6,
                 r.seconds);
    return out;
}

std::string csv_head()
{
    return "algorithm,ranks,bytes,rates,sites,count,seed,us,ratio,messages,datagrams,lost,sent,"
           "site_bytes,repairs,memory,events,seconds,collective,median_us\n";
}

std::string csv_line(const Options &o, const Result &r)
{
    return print("%s,%u,%llu,%s,%u,%u,%llu,", name_of(o.algorithm), o.ranks, (ull) o.bytes,
                 rates(o, "+").c_str(), o.sites, o.count, (ull) o.seed) +
           print("%.3f,%.4f,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%.3f,", r.us(o), r.ratio(o),
                 (ull) r.traffic.messages, (ull) r.traffic.datagrams, (ull) r.traffic.lost,
                 (ull) r.traffic.bytes, (ull) r.traffic.site_bytes, (ull) r.repairs, (ull) r.memory,
                 (ull) r.events, r.seconds) +
           print("%s,%.3f\n", name_of(o.collective), r.median_us(o));
}

} // namespace sim
