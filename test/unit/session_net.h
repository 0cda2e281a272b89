// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Two sessions, 0 and 1, and the lanes between them, in simulated time. A lane keeps order; it may
// be cut, silently (what goes by it waits), and it may be lost: what is under way is gone, and both
// ends are told, not at the same time. A process may be busy: nothing is taken or sent there.
#ifndef HWMC_TEST_UNIT_SESSION_NET_H_INCLUDED
#define HWMC_TEST_UNIT_SESSION_NET_H_INCLUDED

#include <deque>
#include <vector>

#include "core.h"
#include "sim_rng.h"

extern "C" {
#include "core/path/session.h"
}

class SessionNet {
  public:
    static constexpr uint64_t kUs = 1000, kMs = 1000000;

    SessionNet(uint8_t lanes, uint8_t streams, uint16_t tells = 0, uint32_t usable = UINT32_MAX);

    void post(int end, uint32_t stream, uint32_t frames = 1);
    void cut(uint32_t lane, bool forward = true, bool back = true); // of 0's view
    void heal(uint32_t lane);
    void lose(uint32_t lane, uint64_t second_end_later); // told: end 0 now, end 1 later
    void usable(uint32_t lane);                          // at both ends where it is OFF
    void busy(int end, bool on);
    void suspect(int end, uint32_t lane);

    // Until nothing happens any more before `until`, or it is reached.
    void run(uint64_t until);
    void run_for(uint64_t ns)
    {
        run(now + ns);
    }

    hwmc_session_lane_state state(int end, uint32_t lane) const
    {
        return ends[end].session.lanes[lane].state;
    }
    bool clear() const
    {
        return hwmc_session_is_clear(&ends[0].session) && hwmc_session_is_clear(&ends[1].session);
    }

    struct Message {
        uint64_t at;
        hwmc_session_tx tx;
    };
    struct End {
        hwmc_session session;
        hwmc_session_counts counts = {};
        std::vector<uint32_t> taken; // by stream: how many frames, all in order
        std::vector<uint32_t> posted;
        std::vector<std::deque<Message>> out; // by lane: on their way to the other end
        std::vector<bool> cut;                // by lane: what is in `out` waits
        std::vector<uint64_t> sent_by;        // by lane: frames
        bool busy = false;
    };

    uint64_t now = 1;
    uint64_t latency = 20 * kUs;
    hwmc_session_cfg cfg = {};
    End ends[2];

  private:
    void pump(int end);
    void deliver(int from, uint32_t lane);
    bool step(uint64_t until);
    struct Later {
        uint64_t at;
        int end;
        uint32_t lane;
    };
    std::vector<Later> losses;
};

#endif // HWMC_TEST_UNIT_SESSION_NET_H_INCLUDED
