// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// hwmc_sim: runs what the command line says and prints what came of it.
#include <stdio.h>
#include <unistd.h>

#include <chrono>

#include "report.h"

using namespace sim;

namespace {

// Says how far a long run is: on a terminal every second in one line, otherwise every ten in one
// each.
class Meter {
  public:
    explicit Meter(const Options &o) : options_(o), terminal_(isatty(STDERR_FILENO))
    {
    }

    ~Meter()
    {
        if (terminal_ && told_)
            fputs("\r\033[K", stderr);
    }

    void tell(uint64_t events, uint64_t ns, uint32_t through)
    {
        auto now = std::chrono::steady_clock::now();

        if (now - last_ < std::chrono::seconds(terminal_ ? 1 : 10))
            return;
        last_ = now;
        told_ = true;
        fprintf(stderr, "%s%.1f M events, %.3f ms simulated, %u of %u ranks are through%s",
                terminal_ ? "\r" : "", (double) events / 1e6, (double) ns / 1e6, through,
                options_.ranks, terminal_ ? "\033[K" : "\n");
    }

  private:
    const Options &options_;
    const bool terminal_;
    bool told_ = false;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

} // namespace

int main(int argc, char **argv)
{
    Options o;
    std::string error;
    int status = 0;

    switch (parse(argc, argv, &o, &error)) {
        case Parsed::HELP:
            fputs(help().c_str(), stdout);
            return 0;
        case Parsed::WRONG:
            fprintf(stderr, "hwmc_sim: %s\nhwmc_sim --help says more\n", error.c_str());
            return 2;
        case Parsed::RUN:
            break;
    }
    if (o.csv)
        fputs(csv_head().c_str(), stdout);
    for (uint32_t i = 0; i < o.repeat; i++, o.seed++) {
        Result result;
        {
            Meter meter(o);

            result = run(o, [&](uint64_t events, uint64_t ns, uint32_t through) {
                meter.tell(events, ns, through);
            });
        }
        if (!result.error.empty()) {
            fprintf(stderr, "hwmc_sim: seed %llu: %s\n", (unsigned long long) o.seed,
                    result.error.c_str());
            status = 1;
            continue;
        }
        fputs((o.csv ? csv_line(o, result) : text(o, result)).c_str(), stdout);
        fflush(stdout);
    }
    return status;
}
