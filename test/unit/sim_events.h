// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// The clock of a simulated network, and what is to happen in it: in order of time, and of what
// happens at the same time in the order in which it was put in. So a run depends on its seed alone.
#ifndef HWMC_TEST_UNIT_SIM_EVENTS_H_INCLUDED
#define HWMC_TEST_UNIT_SIM_EVENTS_H_INCLUDED

#include <stdint.h>

#include <queue>
#include <utility>

namespace sim {

template <class What> class Events {
  public:
    explicit Events(uint64_t from) : now_(from)
    {
    }

    // In the unit of the network.
    uint64_t now() const
    {
        return now_;
    }
    bool empty() const
    {
        return queue_.empty();
    }
    void put(uint64_t at, What what)
    {
        queue_.push({at, number_++, std::move(what)});
    }

    // Takes the next one out, and it is its time. Not empty.
    What take()
    {
        Event event = queue_.top();

        queue_.pop();
        now_ = event.at;
        return std::move(event.what);
    }

  private:
    struct Event {
        uint64_t at, number;
        What what;
        bool operator<(const Event &other) const
        {
            return at != other.at ? at > other.at : number > other.number;
        }
    };

    uint64_t now_;
    uint64_t number_ = 0;
    std::priority_queue<Event> queue_;
};

} // namespace sim

#endif // HWMC_TEST_UNIT_SIM_EVENTS_H_INCLUDED
