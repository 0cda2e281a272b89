// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// event_queue: what will happen, in the order of time; of the same time, in the order of push. A
// radix heap: bucket i holds what differs from the present first in bit i - 1, so a push is one
// append, an event moves to a lower bucket 64 times at most, in the order it has, and in fact about
// log(range) times. Nothing may be pushed for the past.
#ifndef HWMC_TEST_SIM_EVENT_QUEUE_H_INCLUDED
#define HWMC_TEST_SIM_EVENT_QUEUE_H_INCLUDED

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include <vector>

namespace sim {

enum class Kind : uint8_t {
    CALL,         // `rank` calls the next broadcast
    HEAD,         // the first byte of a message is at `rank`
    DELIVER,      // and the last one is with its program
    SENT,         // the link of `rank` is through with a message
    CAST_HEAD,    // the first byte of a multicast is at the hosts of site `rank`
    CAST_DELIVER, // and the last one with those of group `ref`
    CAST_ONE,     // or with `rank`, which was busy
    TIMER,        // of `rank`
    ROOM          // in the queue of `rank`
};

struct Event {
    uint64_t at; // ns
    uint32_t rank;
    uint32_t ref;   // what the kind says
    uint32_t bytes; // on the wire
    Kind kind;
    uint8_t rail;
};

static_assert(sizeof(Event) == 24, "events are many");

class EventQueue {
  public:
    bool empty() const
    {
        return size_ == 0;
    }

    size_t size() const
    {
        return size_;
    }

    void push(const Event &e)
    {
        assert(e.at >= last_);
        append(e);
        size_++;
    }

    // Not empty.
    Event pop()
    {
        if (head_ == bucket_[0].size())
            refill();
        size_--;
        return bucket_[0][head_++];
    }

    // The k-th event from here on, if it is as early as the one popped last; else nullptr.
    const Event *peek(size_t k) const
    {
        return head_ + k < bucket_[0].size() ? &bucket_[0][head_ + k] : nullptr;
    }

  private:
    void append(const Event &e)
    {
        uint32_t b = e.at == last_ ? 0 : 64 - (uint32_t) __builtin_clzll(e.at ^ last_);

        bucket_[b].push_back(e);
    }

    // The present moves to the earliest event.
    void refill()
    {
        uint32_t b = 1;

        bucket_[0].clear();
        head_ = 0;
        while (bucket_[b].empty())
            b++;
        last_ = bucket_[b][0].at;
        for (const Event &e : bucket_[b])
            last_ = e.at < last_ ? e.at : last_;
        for (const Event &e : bucket_[b])
            append(e);
        bucket_[b].clear();
    }

    uint64_t last_ = 0;
    size_t head_ = 0; // of bucket 0, which is the present
    size_t size_ = 0;
    std::vector<Event> bucket_[65];
};

} // namespace sim

#endif // HWMC_TEST_SIM_EVENT_QUEUE_H_INCLUDED
