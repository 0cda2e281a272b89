// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// actor: an algorithm at all ranks. It sends through a Network and is told what happens. One object
// for all ranks, so that a rank is a few numbers in an array.
//
// `over` ends a rank: at that time it is through with all calls.
#ifndef HWMC_TEST_SIM_ACTOR_H_INCLUDED
#define HWMC_TEST_SIM_ACTOR_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <vector>

#include "event_queue.h"
#include "options.h"

namespace sim {

class Actor {
  public:
    Actor(uint32_t ranks, const uint64_t *now) : left(ranks), now_(now), ends_(ranks, 0)
    {
    }
    virtual ~Actor() = default;

    // `rank` makes its first call.
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

    // When each rank was over, ns.
    const std::vector<uint64_t> &ends() const
    {
        return ends_;
    }

    // Ranks that are not through with all calls; their algorithm may have more to do for others.
    uint32_t left;
    // What went wrong, once it has.
    std::string error;

  protected:
    void over(uint32_t rank)
    {
        ends_[rank] = *now_;
        left--;
    }

    const uint64_t *const now_;

  private:
    std::vector<uint64_t> ends_;
};

} // namespace sim

#endif // HWMC_TEST_SIM_ACTOR_H_INCLUDED
