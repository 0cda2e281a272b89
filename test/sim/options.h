// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// options: what a run of hwmc_sim is a function of, and the command line that says it.
#ifndef HWMC_TEST_SIM_OPTIONS_H_INCLUDED
#define HWMC_TEST_SIM_OPTIONS_H_INCLUDED

#include <stdint.h>

#include <string>
#include <vector>

namespace sim {

enum class Collective {
    BCAST,
    BARRIER,
    REDUCE,
    ALLREDUCE,
    SCAN,
    ALLGATHER,
    ALLTOALL,
    REDUCE_SCATTER
};

enum class Algorithm {
    CHAIN,
    BINARY,
    BINOMIAL,
    VANDEGEIJN,
    DISSEMINATION,
    MULTILANE,
    TWO_STAGE,
    STRIPED,
    EXCHANGE
};

const char *name_of(Collective c);
const char *name_of(Algorithm a);

struct Options {
    Collective collective = Collective::BCAST;
    Algorithm algorithm = Algorithm::STRIPED;
    uint32_t ranks = 32;   // p, 2 or more, one a host; rank 0 broadcasts
    uint64_t bytes = 8;    // M of one broadcast, vector or block
    uint32_t count = 1;    // calls in a row
    uint64_t seed = 1;     // of all chance
    uint32_t repeat = 1;   // runs, with seeds from `seed` on
    bool csv = false;      // output
    uint32_t deadline = 0; // simulated s after which a run has failed; 0: 3600

    // The network; network.h says what they mean.
    std::vector<uint32_t> mbit = {1000}; // of each rail, Mbit/s
    uint64_t latency_ns = 20000;
    uint32_t sites = 1;
    uint64_t site_latency_ns = 10000000;
    uint32_t site_connection_mbit = 0; // 0: as fast as the rail
    uint32_t overhead = 66;            // bytes a packet
    uint32_t packet = 1472;            // bytes that one carries
    uint64_t host_ns = 1000;
    uint32_t loss_ppm = 0;
    uint64_t loss_mask = 0;    // of the first 64 multicasts, by bit: no other rank gets it
    uint64_t late_ns = 0;      // members
    uint64_t root_late_ns = 0; // the root

    // The algorithms.
    uint64_t segment = 8192; // of those along trees; 0: not cut
    uint32_t window = 0;     // segments of a tree that a rank takes ahead; 0: by the network
    uint32_t frag = 1432;    // payload of a multicast datagram
    bool push = false;       // repair
    uint32_t channels = 16;
    uint32_t piece = 0;       // bytes of a channel; 0: by the network
    uint32_t fanout = 4;      // of synchronization
    uint32_t trees = 0;       // of multilane; 0: as many as rails, 2 at least
    uint32_t queue = 1 << 16; // bytes that wait at a root on a rail, at most
    uint32_t degree = 0;      // of the tree that combines; 0: by the network
    bool ordered = false;     // what combines does not commute
    uint32_t root = 0;        // of a reduce

    uint32_t rails() const
    {
        return (uint32_t) mbit.size();
    }
};

enum class Parsed { RUN, HELP, WRONG };

// RUN: `o` is complete and consistent. WRONG: `error` says what is.
Parsed parse(int argc, const char *const *argv, Options *o, std::string *error);
// Consistent; empty, or what is wrong.
std::string check(const Options &o);
std::string help();

} // namespace sim

#endif // HWMC_TEST_SIM_OPTIONS_H_INCLUDED
