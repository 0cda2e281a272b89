// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// actor: an algorithm at all ranks. It sends through a Network and is told what happens. One object
// for all ranks, so that a rank is a few numbers in an array.
#ifndef HWMC_TEST_SIM_ACTOR_H_INCLUDED
#define HWMC_TEST_SIM_ACTOR_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

#include <string>

#include "event_queue.h"
#include "options.h"

namespace sim {

class Actor {
  public:
    virtual ~Actor() = default;

    // `rank` calls its next broadcast.
    virtual void call(uint32_t rank) = 0;
    // What was sent with `ref` is at `rank`.
    virtual void deliver(uint32_t rank, uint32_t rail, uint32_t ref) = 0;
    // The link of `rank` is through with what was sent with `token`.
    virtual void sent(uint32_t rank, uint32_t rail, uint32_t token) = 0;
    // A multicast sent with `ref` has been delivered to all that get it.
    virtual void release(uint32_t ref)
    {
        (void) ref;
    }
    virtual void timer(uint32_t rank)
    {
        (void) rank;
    }
    virtual void room(uint32_t rank)
    {
        (void) rank;
    }
    // `rank` is about to be told something, of a message with `ref`: may bring what is read to the
    // cache.
    virtual void prefetch(uint32_t rank, uint32_t ref)
    {
        (void) rank;
        (void) ref;
    }

    // Fragments that did not come by multicast.
    virtual uint64_t repairs() const
    {
        return 0;
    }
    // Memory of one rank, bytes.
    virtual size_t rank_bytes() const = 0;

    // Ranks that are not through with all broadcasts; their algorithm may have more to do for
    // others.
    uint32_t left = 0;
    // What went wrong, once it has.
    std::string error;
};

} // namespace sim

#endif // HWMC_TEST_SIM_ACTOR_H_INCLUDED
