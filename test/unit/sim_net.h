// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// The simulated network: ranks that each drive one hwmc_stream, unmodified, through a script
// of broadcasts, over a multicast that loses, delays, reorders, duplicates and corrupts, and over
// lanes that are reliable and ordered per pair. Events are ordered by (time, number), all chance
// comes from one seed, so a run is a function of its Config.
//
// The oracle watches every event: invariants of the machines, bytes, who may send what how often
// (Hoefler, Siebert, Rehm 2007, section 2: every fragment once by multicast, at most once over each
// ring edge, never over the edge into the root). run() says what it found.
#ifndef HWMC_TEST_UNIT_SIM_NET_H_INCLUDED
#define HWMC_TEST_UNIT_SIM_NET_H_INCLUDED

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core.h"
#include "sim_events.h"
#include "sim_rng.h"

namespace sim {

constexpr uint64_t US = 1000;
constexpr uint64_t MS = 1000 * US;
constexpr uint64_t S = 1000 * MS;

struct Bcast {
    uint32_t root;
    uint32_t bytes;
    bool more = false;  // the next one continues the message
    bool trees = false; // not by multicast
};

// Something that holds for these ranks (a bit each) for a while.
struct Outage {
    uint64_t from, until; // ns since the start
    uint64_t ranks;
};

// Multicast to these ranks on these rails (a bit each) is lost for a while, with a chance in a
// million.
struct Hole {
    uint64_t from, until; // ns since the start
    uint64_t ranks;
    uint8_t rails;
    uint32_t chance = 1000000;
};

class Net;

struct Config {
    uint64_t seed = 1;
    uint32_t ranks = 2; // at most 64
    bool push = false;
    bool adapt = false; // repair and period follow what is measured
    uint32_t channels = 4;
    uint32_t period = 2;
    uint32_t fanout = 2;
    uint32_t frag_bytes = 8;
    uint32_t max_frags = 4;
    hwmc_delay_kind delay = HWMC_DELAY_NONE;
    uint64_t delay_ns = 0;
    std::vector<Bcast> script; // the same on every rank
    uint32_t trees = 0;        // for those that go along trees
    uint32_t lanes = 1;        // to each rank, for those
    uint32_t far_lanes = 1;    // to each rank of another site
    std::vector<uint32_t>
        speed; // of the rails that these are on; shares follow them where there are several
    uint32_t window = 4; // segments
    uint32_t far_window = 4;
    uint32_t seg_bytes = 8;
    std::vector<uint64_t> site; // by rank; empty: all at one
    bool no_cast = false;       // there is no multicast
    bool leaves =
        false; // rails that do not work are left; with none left broadcasts go along trees
    uint64_t pause = 1 * MS; // to the first train of probes
    uint64_t pause_max = 100 * MS;
    uint32_t rails = 1; // a root uses some of them, and sends each fragment on any of those

    // The multicast: chances in a million for each datagram and receiver, and the range of delays.
    std::vector<uint32_t> loss; // by receiver; the last holds for all after it
    uint32_t dup = 0;
    uint32_t corrupt = 0; // found out by the CRC, hence dropped
    uint64_t cast_min = 10 * US, cast_max = 10 * US;
    uint64_t rail_skew = 0; // what each rail is slower than the one before, ns
    std::function<bool(const hwmc_msg &, uint32_t to)> lose; // asked for each datagram besides
    uint64_t lane_min = 20 * US, lane_max = 20 * US;

    // The ranks.
    std::vector<uint64_t> think;    // ns before each call, by rank; the last holds for all after it
    uint64_t think_max = 0;         // and up to this much more
    bool async = true;              // a rank makes progress while it thinks
    uint32_t stall = 0;             // chance in a million that an event finds the rank away...
    uint64_t stall_max = 0;         // ... for up to this long
    uint32_t rx_slots = 0;          // datagrams kept for a rank that is away; 0: any number
    uint32_t credits = 0;           // messages a rank can send at a time; 0: any number
    std::vector<Outage> stalls;     // these ranks do nothing
    std::vector<Outage> partitions; // between these and the others: multicast lost, lanes delayed
    std::vector<Hole> holes;

    uint64_t deadline = 100 * S;
    uint64_t max_events = 2000000;
    bool trace = false;
    bool strict = true; // run() fails on the first finding; false when the test itself lies
    std::function<void(Net &, uint32_t rank)> hook; // after each event of a rank
    // Along trees: the length that a rank calls a broadcast with; whoever disagrees with its
    // parents fails.
    std::function<uint32_t(uint32_t rank, const Bcast &)> own_bytes;
};

class Net {
  public:
    explicit Net(Config cfg);

    // Runs until every rank has closed. Empty when all is well, else what is wrong and the state.
    std::string run();

    // Gives a rank a message that nobody sent; PLACE writes zeros where the payload belongs.
    hwmc_verdict inject(uint32_t rank, const hwmc_msg &msg);

    hwmc_stream &stream(uint32_t rank)
    {
        return ranks_[rank].stream;
    }
    // The memory of the machines behind the stream.
    std::vector<uint64_t> &memory(uint32_t rank)
    {
        return ranks_[rank].memory;
    }
    const hwmc_counts &counts(uint32_t rank) const
    {
        return ranks_[rank].counts;
    }
    // A count summed over the ranks.
    uint64_t sum(uint64_t hwmc_counts::*field) const;
    uint64_t failed(uint32_t rank) const
    {
        return ranks_[rank].failed;
    }
    bool gone(uint32_t rank) const
    {
        return ranks_[rank].state == State::GONE;
    }
    uint64_t now() const
    {
        return events_.now();
    }
    // Whether a broadcast that was called went along trees.
    bool by_trees(uint64_t bid) const
    {
        return cfg_.script[bid].trees || (called_[bid] && rails_[bid] == 0);
    }
    const Config &config() const
    {
        return cfg_;
    }
    const std::string &trace() const
    {
        return trace_;
    }
    std::string state() const;

  private:
    enum class State { THINK, CALL, WAIT, CLOSING, GONE };

    struct Packet {
        hwmc_msg msg;
        std::vector<uint8_t> payload;
        std::vector<uint64_t> bits;
    };
    using PacketPtr = std::shared_ptr<const Packet>;

    struct Event {
        uint32_t rank;
        PacketPtr packet; // none: the rank's turn
        int64_t token;    // not negative: a lane is through with what was sent with it
    };

    struct Rank {
        hwmc_stream stream;
        hwmc_counts counts = {};
        std::vector<uint64_t> memory;
        std::vector<std::vector<uint8_t>> channels;
        std::vector<uint8_t> user; // of a broadcast along trees
        std::deque<PacketPtr> inbox;
        State state = State::THINK;
        size_t next = 0; // in the script
        uint64_t call_at = 0;
        uint64_t busy_until = 0;
        uint64_t turn_at = HWMC_NEVER;
        bool stalled = false;
        uint64_t injected_bad = 0; // messages of nobody that were called bad
        uint64_t failed = 0;       // broadcasts whose length is another than its own
        uint64_t prefix_bid =
            0; // of the broadcast under way: how much was here from its first byte on
        uint32_t prefix = 0;
        std::vector<uint64_t>
            lane_free; // to each rank, by each lane: when the last message arrives
    };

    void look_at_prefix(uint32_t r);
    uint64_t think(uint32_t r);
    uint8_t some_rails(uint8_t of);
    hwmc_room some_room();
    uint8_t pattern(uint64_t bid, uint32_t offset) const;
    size_t slot(uint64_t bid, uint32_t index) const
    {
        return bid * cfg_.max_frags + index;
    }

    void at(uint64_t when, uint32_t rank, PacketPtr packet, int64_t token = -1);
    uint64_t by_lane(uint32_t r, uint32_t to, uint32_t lane, const PacketPtr &packet);
    void turn_at(uint32_t r, uint64_t when);
    void turn(uint32_t r);
    void arrive(uint32_t r, PacketPtr packet);
    bool away(uint32_t r);
    void receive(uint32_t r, const Packet &packet);
    void timers(uint32_t r);
    bool program(uint32_t r);
    bool post(uint32_t r);
    bool finish(uint32_t r);
    bool sends(uint32_t r);
    void transmit(uint32_t r, const hwmc_msg &tx);
    void multicast(uint32_t r, const PacketPtr &packet);
    bool crosses(uint32_t a, uint32_t b, uint64_t *until) const;
    bool falls_in_hole(const hwmc_msg &msg, uint32_t to);
    void after_event(uint32_t r);

    // sim_oracle.cc
    void watch(uint32_t r, const hwmc_msg &tx);
    void watch_data(uint32_t r, const hwmc_msg &tx);
    bool pushes(uint32_t r, uint64_t bid) const;
    void watch_request(uint32_t r, const hwmc_msg &tx);
    void watch_seek(uint32_t r, const hwmc_msg &tx);
    void watch_sync(uint32_t r, const hwmc_msg &tx);
    void watch_rails(uint32_t r, uint64_t bid);
    void watch_trees(uint32_t r, const hwmc_msg &tx);
    void watch_end(uint32_t r);
    void watch_all();
    void fail(const std::string &what);
    void log(uint32_t r, const std::string &what);
    std::string said(const hwmc_msg &msg) const;

    Config cfg_;
    hwmc_sites sites_ = {};
    std::vector<uint32_t> site_memory_;
    Rng rng_;
    Events<Event> events_{S};
    uint64_t happened_ = 0; // of them
    std::vector<Rank> ranks_;
    std::string error_;
    std::string trace_;

    // What the oracle remembers: by (bid, index), and by rank before that.
    std::vector<uint8_t> cast_;
    std::vector<std::vector<uint8_t>> forwarded_;
    std::vector<std::vector<uint8_t>> asked_; // by name, or with all
    // Of whom a rank sought something of a broadcast, and of whom it took it: rank, peer, bid.
    std::set<std::tuple<uint32_t, uint32_t, uint64_t>> sought_, taken_;
    std::map<std::pair<uint32_t, uint64_t>, uint64_t> seeks_, called_at_; // by rank and bid
    std::vector<std::vector<uint8_t>> named_;
    std::vector<std::vector<uint32_t>> requests_;                   // by rank, bid
    std::vector<std::set<std::pair<uint64_t, uint32_t>>> segments_; // by receiver: bid and number
    std::vector<uint32_t> readies_;                                 // by bid
    std::vector<uint64_t> ups_, last_up_;                           // by rank
    uint64_t downs_ = 0;
    std::vector<uint8_t> called_, rails_; // by bid: somebody has called it, with those rails
};

// This line is printed if the process aborts (an assert of the core, a sanitizer) from here on.
void replay_line(const std::string &line);

} // namespace sim

#endif // HWMC_TEST_UNIT_SIM_NET_H_INCLUDED
