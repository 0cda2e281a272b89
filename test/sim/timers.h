// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// timers: the next event TIMER of each rank. Of several that were wished for the earliest counts;
// its rank says then what is next.
#ifndef HWMC_TEST_SIM_TIMERS_H_INCLUDED
#define HWMC_TEST_SIM_TIMERS_H_INCLUDED

#include <algorithm>
#include <vector>

#include "event_queue.h"

namespace sim {

class Timers {
  public:
    Timers(uint32_t ranks, EventQueue *queue) : queue_(queue), at_(ranks, UINT64_MAX)
    {
    }

    // At `at`, or earlier; never: UINT64_MAX.
    void arm(uint32_t rank, uint64_t at, uint64_t now)
    {
        if (at >= at_[rank])
            return;
        at_[rank] = at;
        queue_->push({std::max(at, now), rank, 0, 0, Kind::TIMER, 0});
    }

    // TIMER: false: an earlier one was for that.
    bool due(uint32_t rank, uint64_t now)
    {
        if (at_[rank] > now)
            return false;
        at_[rank] = UINT64_MAX;
        return true;
    }

  private:
    EventQueue *queue_;
    std::vector<uint64_t> at_; // of the earliest TIMER in the queue
};

} // namespace sim

#endif // HWMC_TEST_SIM_TIMERS_H_INCLUDED
