// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// mem::Net: p engines in one process over rails and lanes made of queues. Datagrams can be lost by
// a filter; lanes are reliable. Time is a number the test moves.
#ifndef HWMC_TEST_UNIT_MEM_NET_H_INCLUDED
#define HWMC_TEST_UNIT_MEM_NET_H_INCLUDED

#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <vector>

extern "C" {
#include "lane/auth_lane.h"
#include "engine/engine.h"
}

#include "mem_direct.h"

namespace mem {

// The same with one bit changed, for each bit.
std::vector<Bytes> with_a_bit_changed(const Bytes &bytes);

struct Counts {
    hwmc_counts machines;
    hwmc_engine_counts engine;
    hwmc_auth_lane_counts auth_lane;
};

class Net;

struct Fabric {
    hwmc_fabric base; // first: operations get a pointer to it
    Net *net;
    uint32_t host, rail;
    std::multiset<uint64_t> joined;
    std::deque<Came> in;
    std::vector<Came> held; // what the last poll gave out
    Direct direct;
    bool refuses_join = false;
    bool forgotten = false; // the network does not bring anything, until it is told again
    uint64_t refreshed = 0; // when it was told last
    int slow_joins = 0;     // that many calls of join answer AGAIN; -1: all
    std::multiset<uint64_t> under_way; // groups that they were for
    int hiccups = 0;                   // that many calls of post take nothing
    int credits = -1;                  // datagrams that post takes before it would block; -1: any
    size_t queued = 0;                 // what it says that waits
    int longest = 0;                   // datagrams that post was given at a time, at most
    bool fails = false;                // to post
    bool blocked = false;              // the last call of post took less than it was given
    bool tells = true;                 // ... and when another one is worth it
    bool keeps = false;                // what is lent to it
    std::set<const void *> lent;       // to it, and not returned
};

struct Lane {
    hwmc_lane base;       // first, as above
    hwmc_lane *auth_lane; // over it; NULL: messages have no seals
    Net *net;
    uint32_t host, index; // of the host's lanes: 0 serves repair, the others trees
    int segments = 0;     // sent
    int polls = 0;
    int handshake = 0; // a segment leaves when its receiver has polled the lane so often since
    std::deque<Bytes> in;
    std::set<uint32_t> dead; // peers that cannot be reached
    std::set<uint32_t> met;  // asked for whether they can be sent to
    struct Later {
        std::function<void()> leave;
        uint64_t tag;
        uint32_t peer;
        int after; // polls of the peer's lane, in all
    };
    std::vector<Later> later; // what the next poll does
    bool mismatch = false;    // ... it does not
    bool silent = false;      // nothing that is sent arrives
};

class Net {
  public:
    explicit Net(uint32_t hosts, size_t memory = 64 << 20, size_t datagram = 40 + 100,
                 size_t window = 1 << 20, uint32_t rails = 1);
    ~Net();

    // Begins a group of hosts `members` on each of them. Rails that stop working are not left,
    // unless `tweak` says so.
    using Tweak = std::function<void(hwmc_group_cfg &)>;
    std::vector<hwmc_group *> group(const std::vector<uint32_t> &members, const Tweak &tweak = {});

    // What the members of such a group have in common. begin: begins it on one of them; NULL: it is
    // declined there.
    hwmc_group_cfg group_cfg(const std::vector<uint32_t> &members, const Tweak &tweak = {});
    hwmc_group *begin(hwmc_group_cfg cfg, uint32_t rank);

    // One progress of every engine; true if anything happened.
    bool step();
    // Until nothing happens, moving time to the next deadline up to `until` ns ahead.
    void settle(uint64_t until = 0);

    // Whether a datagram from host `from` reaches host `to`; default: all.
    std::function<bool(uint32_t from, uint32_t to, const Bytes &)> passes;

    // Before a group is made: all messages are authenticated, under this secret.
    void auth(const unsigned char *secret);

    // Before a group is made: this host has no such rail.
    void lose_rail(uint32_t host, uint32_t rail);

    // Before a group is made: lanes for broadcasts along trees, one of each of these rails.
    void lanes_on(const std::vector<uint8_t> &rails);

    // Told of every datagram sent.
    std::function<void(const Fabric &from, const Bytes &)> on_post;
    size_t lane_head = HWMC_WIRE_HEAD; // bytes of a lane message that are its head
    uint32_t posting_rail = 0;         // during a call of `passes`

    uint64_t now = 1000;
    size_t datagram, window;
    uint64_t next_group = 1;
    Fabric &fabric(uint32_t host, uint32_t rail = 0)
    {
        return *fabrics[rail * hosts + host];
    }
    Lane &lane(uint32_t host, uint32_t index)
    {
        return *lanes[index * hosts + host];
    }

    std::set<uint32_t> away; // hosts that make no progress

    uint32_t hosts;
    std::vector<std::unique_ptr<Fabric>> fabrics; // those of rail 0 by host, then those of rail 1
    std::vector<std::unique_ptr<Lane>> lanes;     // those of index 0 by host, then those of index 1
    std::vector<std::unique_ptr<Counts>> counts;  // of the engines
    std::vector<hwmc_engine *> engines;
    std::vector<Bytes> wire; // every datagram sent

  private:
    void add_lane(uint32_t host, uint32_t index);
    hwmc_lane *auth_lane(Lane &lane);

    std::vector<hwmc_auth *> seals; // by host; none: messages have no seals
};

} // namespace mem

#endif // HWMC_TEST_UNIT_MEM_NET_H_INCLUDED
