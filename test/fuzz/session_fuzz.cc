// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// lane/sessions with link_wire and frame: any bytes by any lane, among messages of this process's
// own and lanes that fail and come back. What goes out by a lane is forgotten; pinned bodies come
// back at the lanes' leisure. Afterwards every body that was pinned is the upper layer's again,
// once.
#include <cstdio>
#include <cstdlib>
#include <deque>

#include <time.h>

#include "reader.h"

extern "C" {
#include "session/session_wire.h"
#include "session/sessions.h"
}

namespace {

constexpr uint32_t kSelf = 1, kProcesses = 3, kLanes = 2, kStreams = 3;
constexpr uint16_t kTells = 2; // lane 1 reports its failures, and gives back what it was pinned
constexpr size_t kBorrowed = 9000;

uint64_t clock_ns;

struct Lane {
    hwmc_lane base;
    bool broken = false;
    std::deque<uint64_t> lent;
};

Lane *lane_of(hwmc_lane *l)
{
    return reinterpret_cast<Lane *>(l);
}

// Reads it, so that the sanitizer sees what may not be read.
void touch(const void *data, size_t len)
{
    auto *p = static_cast<const volatile unsigned char *>(data);

    for (size_t i = 0; i < len; i++)
        (void) p[i];
}

int ready(hwmc_lane *l, uint32_t)
{
    return lane_of(l)->broken ? HWMC_ERR_PEER : HWMC_OK;
}

int send(hwmc_lane *l, uint32_t, const void *head, size_t head_len, const void *body,
         size_t body_len)
{
    if (lane_of(l)->broken)
        return HWMC_ERR_PEER;
    touch(head, head_len);
    touch(body, body_len);
    return HWMC_OK;
}

int send_from(hwmc_lane *l, uint32_t peer, const void *head, size_t head_len, const void *body,
              size_t body_len, uint64_t tag)
{
    int err = send(l, peer, head, head_len, body, body_len);

    if (err == HWMC_OK)
        lane_of(l)->lent.push_back(tag);
    return err;
}

int nothing(hwmc_lane *)
{
    return 0;
}

int no_fd(hwmc_lane *)
{
    return -1;
}

uint64_t never(hwmc_lane *)
{
    return UINT64_MAX;
}

void no_address(hwmc_lane *, const void **addr, size_t *len)
{
    *addr = nullptr;
    *len = 0;
}

void close_lane(hwmc_lane *)
{
}

const hwmc_lane_ops ops = {"fuzz", no_address, ready, send,    send_from,  nothing,
                           no_fd,  nothing,    never, nothing, close_lane, close_lane};

class Process {
  public:
    Process()
    {
        hwmc_session_cfg cfg = {};
        hwmc_lane *open[kLanes];

        cfg.lanes = kLanes;
        cfg.streams = kStreams;
        cfg.tells = kTells;
        cfg.suspect_ns = cfg.grace_ns = 50000000;
        for (auto &prefers : cfg.prefers)
            for (uint8_t k = 0; k < HWMC_SESSION_LANES_MAX; k++)
                prefers[k] = k < kLanes ? k : HWMC_SESSION_NO_LANE;
        sessions = hwmc_sessions_create(kSelf, kProcesses, &counts);
        for (uint32_t i = 0; i < kLanes; i++) {
            lanes[i].base.ops = &ops;
            open[i] = &lanes[i].base;
        }
        hwmc_sessions_open(sessions, &cfg, open);
        const hwmc_sessions_upper upper = {on_recv, on_sent, this};
        for (uint32_t s = 0; s < kStreams - 1; s++) // of the last one nothing is wanted
            hwmc_sessions_use(sessions, s, &upper);
    }

    ~Process()
    {
        for (uint32_t i = 0; i < kLanes; i++)
            give_back(i, SIZE_MAX);
        hwmc_sessions_close(sessions);
    }

    void step(fuzz::Reader &r)
    {
        uint8_t what = r.u8();
        uint32_t lane = what >> 4 & 1;

        switch (what & 7) {
            case 0:
                deliver(lane, r.bytes(r.u8()));
                break;
            case 1:
            case 2:
                deliver(lane, message(r));
                break;
            case 3:
                say(r.u8() % kProcesses, r.u8() % (kStreams - 1), what >> 5 & 1);
                break;
            case 4:
                give_back(lane, r.u8());
                break;
            case 5:
                lanes[lane].broken = what >> 5 & 1;
                if (lanes[lane].broken)
                    hwmc_sessions_on_lost(hwmc_sessions_port(sessions, lane), r.u8() % kProcesses);
                break;
            default:
                clock_ns += (uint64_t) r.u16() * 10000;
                hwmc_sessions_poll(sessions);
        }
    }

  private:
    static void on_recv(void *, uint32_t peer, const void *head, size_t head_len, const void *body,
                        size_t body_len)
    {
        FUZZ_CHECK(peer < kProcesses);
        touch(head, head_len);
        touch(body, body_len);
    }

    static void on_sent(void *ctx, uint64_t tag)
    {
        auto *p = static_cast<Process *>(ctx);

        FUZZ_CHECK(tag < p->borrowed.size() && p->borrowed[tag]);
        p->borrowed[tag].reset();
    }

    // One in the right format.
    static fuzz::Bytes message(fuzz::Reader &r)
    {
        uint8_t what = r.u8();
        fuzz::Bytes b(HWMC_SESSION_WIRE_HEAD);
        hwmc_session_tx tx = {};

        tx.kind = (hwmc_session_kind) (what % HWMC_SESSION_KINDS);
        tx.stream = (what >> 3) % kStreams;
        tx.number = what & 0x80 ? r.u32() : r.u8();
        tx.ack = tx.doubts = what & 0x40 ? r.u32() : r.u8();
        hwmc_session_wire_encode(b.data(), r.u8() % kProcesses, &tx);
        return b;
    }

    void deliver(uint32_t lane, const fuzz::Bytes &b)
    {
        size_t head_len = std::min<size_t>(b.size(), HWMC_SESSION_WIRE_HEAD);
        fuzz::Exact head(b.data(), head_len), body(b.data() + head_len, b.size() - head_len);

        hwmc_sessions_on_recv(hwmc_sessions_port(sessions, lane), head.data(), head.size(),
                              body.data(), body.size());
    }

    void say(uint32_t to, uint32_t stream, bool lend)
    {
        uint64_t tag = borrowed.size();

        if (!lend) {
            hwmc_sessions_send(sessions, stream, to, "head", 4, "body", 4, nullptr);
            return;
        }
        borrowed.push_back(std::make_unique<char[]>(kBorrowed));
        if (hwmc_sessions_send(sessions, stream, to, "head", 4, borrowed[tag].get(), kBorrowed,
                               &tag) != HWMC_OK)
            borrowed[tag].reset();
    }

    void give_back(uint32_t lane, size_t n)
    {
        for (auto &lent = lanes[lane].lent; n > 0 && !lent.empty(); n--) {
            uint64_t tag = lent.front();

            lent.pop_front();
            hwmc_sessions_on_sent(hwmc_sessions_port(sessions, lane), tag);
        }
    }

    hwmc_sessions *sessions;
    hwmc_session_counts counts = {};
    Lane lanes[kLanes];
    std::vector<std::unique_ptr<char[]>> borrowed; // NULL: given back
};

} // namespace

// The files of sessions are compiled with this for the clock.
extern "C" int fuzz_clock(clockid_t, struct timespec *t)
{
    t->tv_sec = (time_t) (clock_ns / 1000000000);
    t->tv_nsec = (long) (clock_ns % 1000000000);
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz::Reader r(data, size);

    clock_ns = 1000;
    Process p;
    while (!r.empty())
        p.step(r);
    return 0;
}
