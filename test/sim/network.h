// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// network: what a message costs. The model:
//
//   hosts    One rank each, with a link on each of R rails, full duplex, b Mbit/s by rail. A link
//            carries one message at a time in each direction, first come, first served, at the
//            sender and, by when its first byte comes, at the receiver. The switches in between
//            have bandwidth for all.
//   bytes    A message of n bytes goes as packets of up to `packet` bytes, each with `overhead`
//            more: w bytes, w / b on a link. It is passed on as it comes: sent at 0 over idle
//            links, its last byte is there at latency + w / b, and with the program after 2 o:
//   o        ns of host time for a message, at the sender before its link is used, at the receiver
//            after its last byte. A host has a processor for each rail and direction, so o bounds
//            the rate of messages on a rail and nothing else.
//   sites    Ranks are dealt to sites in blocks. Latency l inside one, L between two. A connection
//            (two hosts, a rail) between sites may be bounded, as by a window of TCP: the link
//            takes a message as always, then it goes through the connection.
//   multicast  One message at the sender; the switch gives it to all other hosts at the same time,
//            to those of other sites L later. Each host loses it with a chance of loss_ppm in a
//            million; of the first 64 multicasts all lose those that are in loss_mask.
//   lanes    All other messages: never lost, in order on each rail between two hosts.
//   queue    What is sent waits at the sender, without bound; queued() says how much.
//
// Not in it: queues in switches, packet sizes inside a message, TCP's windows inside a site, other
// traffic. Chance is a function of the seed and of what it is for, not of the order of events.
//
// Example, b = 1000, overhead 66, packet 1472, o = 1000, l = 20000: 1472 bytes by lane are 1538 on
// the wire, 12304 ns; with the other program after 1000 + 12304 + 20000 + 1000 = 34304 ns.
#ifndef HWMC_TEST_SIM_NETWORK_H_INCLUDED
#define HWMC_TEST_SIM_NETWORK_H_INCLUDED

#include <unordered_map>
#include <vector>

#include "actor.h"

namespace sim {

// What was sent, all ranks together.
struct Traffic {
    uint64_t messages = 0;  // by lane
    uint64_t datagrams = 0; // by multicast
    uint64_t received = 0;  // datagrams, at receivers
    uint64_t bytes = 0;     // on the links of senders, with overhead
    uint64_t site_bytes =
        0;             // between sites, without overhead; of a multicast, once for each other site
    uint64_t lost = 0; // datagrams, at receivers
};

class Network {
  public:
    Network(const Options &o, EventQueue *queue);

    // By lane: DELIVER at `to` with `ref`; with `tell`, SENT at `from` with `token`.
    void send(uint64_t now, uint32_t from, uint32_t to, uint32_t rail, uint64_t bytes, uint32_t ref,
              bool tell = false, uint32_t token = 0);
    // To all other ranks: deliver() with `ref` at each that does not lose it, then release().
    void cast(uint64_t now, uint32_t from, uint32_t rail, uint32_t bytes, uint32_t ref);

    // Bytes, with overhead, that a host has given to a rail and that have not left.
    uint64_t queued(uint32_t rank, uint32_t rail, uint64_t now) const
    {
        uint64_t free = link(rank, rail).tx_free;

        return free > now ? (free - now) * options_.mbit[rail] / 8000 : 0;
    }
    // When no more than `bytes` of them are left.
    uint64_t drained(uint32_t rank, uint32_t rail, uint64_t bytes) const
    {
        uint64_t free = link(rank, rail).tx_free, ns = bytes * 8000 / options_.mbit[rail];

        return free > ns ? free - ns : 0;
    }
    uint32_t wire_bytes(uint64_t bytes) const
    {
        uint64_t packets = bytes == 0 ? 1 : (bytes - 1) / options_.packet + 1;

        return (uint32_t) (bytes + packets * options_.overhead);
    }

    // A message is about to be at `rank`.
    void prefetch(uint32_t rank, uint32_t rail)
    {
        __builtin_prefetch(&link(rank, rail), 1);
    }

    // Events HEAD, CAST_*.
    void on_head(const Event &e);
    void on_cast_head(const Event &e);
    void on_cast_deliver(const Event &e, Actor *actor);
    void on_cast_one(const Event &e, Actor *actor);

    const Traffic &traffic() const
    {
        return traffic_;
    }
    // The first rank of a site; of the number of sites, the number of ranks.
    uint32_t site_first(uint32_t site) const
    {
        return (uint32_t) ((uint64_t) options_.ranks * site / options_.sites);
    }
    uint32_t site_of(uint32_t rank) const
    {
        return options_.sites == 1
                   ? 0
                   : (uint32_t) ((((uint64_t) rank + 1) * options_.sites - 1) / options_.ranks);
    }
    // A host and one of its links, bytes.
    static size_t link_bytes()
    {
        return sizeof(Link);
    }

  private:
    // A host on a rail. Times at which something is free, ns.
    struct Link {
        uint64_t tx_cpu, tx_free, rx_free, rx_cpu;
    };

    // A multicast on its way.
    struct Cast {
        uint64_t number; // of all multicasts
        uint32_t ref;
        uint32_t from;
        uint32_t pending; // events that name it
    };

    // Those of a site that get a multicast at the same time: a bit each.
    struct Group {
        uint32_t cast;
        uint32_t site;
        std::vector<uint64_t> bits;
    };

    Link &link(uint32_t rank, uint32_t rail)
    {
        return links_[(size_t) rank * rails_ + rail];
    }
    const Link &link(uint32_t rank, uint32_t rail) const
    {
        return links_[(size_t) rank * rails_ + rail];
    }
    uint64_t wire_ns(uint64_t bytes, uint32_t rail) const
    {
        return (bytes * 8000 + options_.mbit[rail] - 1) / options_.mbit[rail];
    }
    uint64_t transmit(uint64_t now, uint32_t from, uint32_t rail, uint32_t bytes);
    uint64_t through_connection(uint64_t at, uint32_t from, uint32_t to, uint32_t rail,
                                uint32_t bytes);
    uint64_t receive(uint64_t at, uint32_t rank, uint32_t rail, uint64_t ns);
    bool lost(uint64_t cast, uint32_t rank) const;
    void drop(uint32_t cast, Actor *actor);

    const Options options_;
    const uint32_t rails_;
    EventQueue *queue_;
    std::vector<Link> links_;
    std::unordered_map<uint64_t, uint64_t> connections_; // between sites: when they are free
    std::vector<Cast> casts_;
    std::vector<uint32_t> free_casts_;
    std::vector<Group> groups_;
    std::vector<uint32_t> free_groups_;
    uint64_t num_casts_ = 0;
    Traffic traffic_;
};

} // namespace sim

#endif // HWMC_TEST_SIM_NETWORK_H_INCLUDED
