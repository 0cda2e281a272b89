// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Broadcasts along trees in hosts whose rails have speeds that change: what is timed is the order
// of events, in us that are simulated. A host sends and takes one segment at a time on each rail; a
// rank that looks at its lanes takes all that has come, lane by lane.
#ifndef HWMC_TEST_UNIT_LANES_NET_H_INCLUDED
#define HWMC_TEST_UNIT_LANES_NET_H_INCLUDED

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "core.h"
#include "sim_events.h"
#include "sim_rng.h"

namespace lanes {

struct Config {
    uint32_t ranks = 4;
    uint32_t rails = 2;
    uint32_t segments = 512;
    uint32_t window = 8;
    std::vector<uint32_t> measured = {100, 100}; // Mbit/s when the job started
    bool follow = true;
    uint64_t seed = 1;
    uint64_t jitter = 0;   // us, the most that a segment takes longer
    uint64_t away = 0;     // us, the most that a rank does not look, now and then
    uint32_t away_ppm = 0; // how often it does not, by events
    uint64_t mismatch =
        0; // us, the most that a rail between two hosts brings nothing, now and then
    uint32_t stuck_ppm = 0;
};

class Net {
  public:
    explicit Net(const Config &cfg);

    // The rail at this host has so many Mbit/s from now on, both ways.
    void speed(uint32_t host, uint32_t rail, uint32_t mbit)
    {
        mbit_[host][rail] = mbit;
    }

    // us until all ranks have all of it; 0 if that never comes.
    uint64_t broadcast(uint32_t root);

    // The mean of so many, root by root if `rotate`, else of rank 0.
    double mean(int count, bool rotate = false);

    hwmc_counts total() const;

  private:
    struct Message {
        hwmc_msg msg;
        uint32_t to;
        uint32_t lane; // rails and control
    };
    struct Rank {
        hwmc_counts counts = {};
        hwmc_multilane m;
        hwmc_multilane_shares shares;
        std::vector<uint64_t> words;
        std::vector<std::deque<hwmc_msg>> inbox;
        std::vector<hwmc_msg> unexpected;
    };
    struct Event {
        Message message;
        bool look; // the rank looks at its lanes; else it comes
    };

    void pump(uint32_t r);
    void send(uint32_t from, const hwmc_msg &tx);
    void look(uint32_t r);
    void push(uint64_t at, const Message &message, bool look)
    {
        events_.put(at, {message, look});
    }

    Config cfg_;
    sim::Rng rng_;
    sim::Events<Event> events_{1};
    uint64_t bid_ = 0;
    std::vector<std::unique_ptr<Rank>> ranks_;
    std::vector<std::vector<uint32_t>> mbit_;     // by host and rail
    std::vector<std::vector<uint64_t>> out_, in_; // when they are free
    std::map<std::pair<std::pair<uint32_t, uint32_t>, uint32_t>, uint64_t>
        last_; // by pair and lane
    std::vector<uint64_t> away_until_;
};

} // namespace lanes

#endif // HWMC_TEST_UNIT_LANES_NET_H_INCLUDED
