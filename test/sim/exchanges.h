// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// exchanges: the core's exchange of blocks at every rank, one hwmc_exchange each, driven as
// engine/group/blocks and op/blocks_stage drive them: what comes of an exchange that a rank has not
// begun is kept, and given again once it has. What blocks there are, and what becomes of their
// parts, is a Plan's. All that hwmc_sim knows of the core's exchanges is in this file and
// exchanges.cc.
//
// Eager blocks and what the machines tell each other go over the lane on rail 0, parts of long
// blocks over the one that the machine says. A part is carried as a Value.
#ifndef HWMC_TEST_SIM_EXCHANGES_H_INCLUDED
#define HWMC_TEST_SIM_EXCHANGES_H_INCLUDED

#include <vector>

#include "network.h"
#include "value.h"

extern "C" {
#include "core/exchange/exchange.h"
#include "core/model/pace.h"
}

namespace sim {

// References of messages, and tokens, have this bit where they are of exchanges.
constexpr uint32_t OF_BLOCKS = 1u << 31;

// Bytes of a part, where several follow each other, as in entry/spread.
hwmc_pace pace_for(const Options &o);

// A block before its exchange.
inline hwmc_block_in block_in(uint32_t peer, uint32_t bytes, uint32_t window, uint8_t port = 0)
{
    hwmc_block_in b = {};

    b.peer = peer;
    b.bytes = bytes;
    b.window = window;
    b.port = port;
    return b;
}
inline hwmc_block_out block_out(uint32_t peer, uint32_t bytes, uint32_t ready, uint8_t port = 0)
{
    hwmc_block_out b = {};

    b.peer = peer;
    b.bytes = bytes;
    b.ready = ready;
    b.port = port;
    return b;
}

// Who has blocks.
class Plan {
  public:
    virtual ~Plan() = default;

    // Part `part` of outgoing block `block` of `rank`, which is ready.
    virtual Value part_of(uint32_t rank, uint32_t block, uint32_t part) = 0;
    // That part of incoming block `block` is here.
    virtual void place(uint32_t rank, uint32_t block, uint32_t part, const Value &value) = 0;
};

class Exchanges {
  public:
    // `error` gets what goes wrong.
    Exchanges(const Options &o, Network *network, const uint64_t *now, std::string *error);

    // Once, for each rank in turn: how many blocks it has in an exchange, at most. Then begin_all.
    void add(uint32_t rank, uint32_t ins, uint32_t outs);
    void begin_all(Plan *plan);

    // The blocks of a rank, to be filled in before it begins its next exchange: zero but for what
    // core/exchange/exchange.h says.
    hwmc_block_in *in(uint32_t rank)
    {
        return &ins_[ranks_[rank].first_in];
    }
    hwmc_block_out *out(uint32_t rank)
    {
        return &outs_[ranks_[rank].first_out];
    }
    // The number of its first incoming block among those of all ranks, and of all of them.
    uint64_t first_in(uint32_t rank) const
    {
        return ranks_[rank].first_in;
    }
    uint64_t all_ins() const
    {
        return ins_.size();
    }
    void begin(uint32_t rank, uint32_t num_in, uint32_t num_out, uint32_t part, uint64_t budget);
    bool running(uint32_t rank) const
    {
        return ranks_[rank].exchange.running;
    }
    // Outgoing blocks of the exchange of a rank.
    uint32_t outs(uint32_t rank) const
    {
        return ranks_[rank].exchange.num_out;
    }
    void ready(uint32_t rank, uint32_t block, uint32_t parts)
    {
        hwmc_exchange_ready(&ranks_[rank].exchange, block, parts);
    }
    void take(uint32_t rank, uint32_t block, uint32_t parts)
    {
        hwmc_exchange_take(&ranks_[rank].exchange, block, parts);
    }

    // Events, and what can be sent: `ref` and `token` without OF_BLOCKS.
    void deliver(uint32_t rank, uint32_t ref);
    void sent(uint32_t rank, uint32_t token)
    {
        hwmc_exchange_on_sent(&ranks_[rank].exchange, token);
    }
    void timer(uint32_t rank)
    {
        hwmc_exchange_on_timer(&ranks_[rank].exchange, *now_);
    }
    uint64_t next_timer(uint32_t rank) const
    {
        return hwmc_exchange_next_timer(&ranks_[rank].exchange);
    }
    void pump(uint32_t rank);
    void prefetch(uint32_t rank, uint32_t ref);

    // Asserts the invariants of a rank's machine.
    void check(uint32_t rank) const
    {
        hwmc_exchange_check(&ranks_[rank].exchange);
    }
    // Memory of all ranks, bytes.
    size_t bytes() const;

  private:
    static constexpr uint32_t NONE = UINT32_MAX;

    struct Rank {
        hwmc_exchange exchange;
        uint64_t first_in, first_out, first_link;
        uint32_t kept; // the first of the messages that are kept, in flights_; or NONE
    };

    // A message on its way, or kept.
    struct Flight {
        hwmc_msg msg;
        Value value;
        uint32_t next; // of the same rank that is kept
    };

    bool give(uint32_t rank, uint32_t flight, bool kept);
    void give_again(uint32_t rank);
    void keep(uint32_t rank, uint32_t flight);
    void transmit(uint32_t rank, const hwmc_msg &tx);

    const Options options_;
    Network *network_;
    const uint64_t *now_;
    std::string *error_;
    Plan *plan_ = nullptr;
    hwmc_counts counts_ = {};
    std::vector<Rank> ranks_;
    std::vector<hwmc_block_in> ins_;
    std::vector<hwmc_block_out> outs_;
    std::vector<hwmc_exchange_link> links_;
    uint64_t num_ins_ = 0, num_outs_ = 0, num_links_ = 0;
    std::vector<Flight> flights_;
    std::vector<uint32_t> free_;
};

} // namespace sim

#endif // HWMC_TEST_SIM_EXCHANGES_H_INCLUDED
