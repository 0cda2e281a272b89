// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// engine and group: three ranks broadcast while datagrams and messages of three kinds come between
// theirs.
//
//   any bytes       what the parser refuses changes nothing but a counter
//   old messages    anything that was sent before, once more, to where it went: all broadcasts
//                   still arrive
//   lies            well formed, of this job, and untrue: no assertion, no byte outside of what
//                   there is
//
// In jobs whose messages are authenticated lies are any bytes, for who sends them does not know the
// secret.
//
// After each event every machine's invariants are checked; at the end, without lies, every
// broadcast is driven to its end, and its bytes compared.
#include <cstdio>
#include <cstdlib>
#include <map>

#include "reader.h"
#include "../unit/any_msg.h"
#include "../unit/mem_net.h"

extern "C" size_t __sanitizer_get_allocated_size(const volatile void *);

namespace {

constexpr uint32_t kRanks = 3, kPiece = 1000, kHistory = 256;
constexpr uint64_t kBroadcasts = 24; // of an input

uint32_t root_of(uint64_t bid)
{
    return (uint32_t) (bid % kRanks);
}

fuzz::Bytes bytes_of(uint64_t bid)
{
    fuzz::Bytes b((bid * 211 + 1) % kPiece);

    for (size_t i = 0; i < b.size(); i++)
        b[i] = (unsigned char) (bid * 31 + i);
    return b;
}

// All that an engine knows of its group.
fuzz::Bytes snapshot(const hwmc_group *g)
{
    auto *whole = reinterpret_cast<const unsigned char *>(g);
    fuzz::Bytes b(whole, whole + sizeof(*g));

    if (g->stream_mem) {
        auto *m = static_cast<const unsigned char *>(g->stream_mem);
        b.insert(b.end(), m, m + __sanitizer_get_allocated_size(m));
    }
    return b;
}

struct Sent {
    uint32_t host; // to which it went by lane
    bool cast;
    fuzz::Bytes bytes;
};

class Job {
  public:
    explicit Job(uint8_t how) : net(kRanks), trees(how & 2), keyed(how & 128)
    {
        static const unsigned char secret[HWMC_AUTH_SECRET] = {1, 2, 3};
        std::vector<uint32_t> all = {0, 1, 2};

        if (keyed)
            net.auth(secret);

        net.on_post = [this](const mem::Fabric &, const mem::Bytes &b) { note({0, true, b}); };
        g = net.group(all, [how](hwmc_group_cfg &cfg) {
            cfg.policy.first.push = how & 1;
            cfg.trees = how & 2 ? 2 : 0;
            cfg.window = cfg.far_window = 3;
            cfg.seg_bytes = 70;
            cfg.channels = 1 + (how >> 2 & 3);
            cfg.policy.first.period = 1 + (cfg.channels > 1);
            cfg.delay = (hwmc_delay_kind) (how >> 4 & 3);
            cfg.delay_ns = 1000;
            cfg.piece_bytes = kPiece;
        });
        if (how & 64)
            settle();
    }

    void step(fuzz::Reader &r)
    {
        uint8_t what = r.u8();
        uint32_t host = (what >> 4) % kRanks;

        switch (what & 15) {
            case 0:
                deliver(host, r.u8() & 1, r.bytes(r.u16() % 512));
                break;
            case 1:
            case 2:
            case 3:
                lie(host, r);
                break;
            case 4:
            case 5:
                replay(r);
                break;
            case 6:
            case 7:
            case 8:
            case 9:
                call(host);
                break;
            case 10:
                for (uint32_t h = 0; h < kRanks; h++)
                    call(h);
                break;
            case 11:
                settle((uint64_t) r.u16() * 1000);
                break;
            case 12:
                loses = r.u8();
                net.passes = [this](uint32_t, uint32_t to, const mem::Bytes &) {
                    return ++datagrams % 8 >= loses % 8 || to == 0;
                };
                break;
            default:
                net.now += 1000;
                progress(host);
        }
        check();
    }

    // Nobody lied: whatever else came, what was begun ends.
    void finish()
    {
        uint64_t last = 0;

        net.passes = nullptr;
        for (uint32_t h = 0; h < kRanks; h++)
            last = std::max(last, posted[h]);
        for (int tries = 0; !lied; tries++) {
            bool all = true;

            for (uint32_t h = 0; h < kRanks; h++) {
                if (consumed[h] < last)
                    call(h);
                all = all && consumed[h] >= last;
            }
            if (all)
                break;
            FUZZ_CHECK(tries < 1000);
            settle(20000000);
        }
        check();
    }

  private:
    void note(Sent s)
    {
        if (history.size() < kHistory)
            history.push_back(std::move(s));
    }

    // What came to the host by lane is noted first.
    void progress(uint32_t host)
    {
        for (auto &b : net.lanes[host]->in)
            note({host, false, b});
        hwmc_engine_progress(net.engines[host], net.now);
    }

    // As net.settle, with notes.
    void settle(uint64_t ns = 0)
    {
        uint64_t end = net.now + ns;

        for (int rounds = 0; rounds < 400; rounds++) {
            uint64_t next = HWMC_NEVER;

            for (uint32_t h = 0; h < kRanks; h++)
                progress(h);
            for (auto *e : net.engines)
                next = std::min(next, hwmc_engine_deadline(e));
            if (next > end)
                break;
            net.now = std::max(net.now, next);
        }
        net.now = std::max(net.now, end);
    }

    uint64_t refused(uint32_t host) const
    {
        const auto &c = *net.engines[host]->wires.engine_counts;
        const auto &auth_lane = net.counts[host]->auth_lane;

        return c.drop_format + c.drop_foreign + c.drop_crc + c.drop_forged + auth_lane.forged +
               auth_lane.replayed;
    }

    // Whether the parser takes it is found out beforehand.
    bool taken(bool cast, const fuzz::Bytes &b)
    {
        if (keyed)
            return false; // but a copy of what was sent, of which there are others
        uint32_t head = cast ? hwmc_wire_head_of(b.data(), b.size()) : HWMC_WIRE_HEAD;

        return head > 0 && b.size() >= head &&
               hwmc_wire_decode(&in, net.engines[0]->wires.cfg.job, false, b.data(), head,
                                b.data() + head, b.size() - head) == HWMC_WIRE_OK &&
               (in.msg.type != HWMC_MSG_DATA || in.cast == cast);
    }

    // Nothing waits for the host's engine, so that what it does next is the answer to what comes
    // next.
    bool idle(uint32_t host)
    {
        return net.fabric(host).in.empty() && net.lanes[host]->in.empty() &&
               hwmc_engine_progress(net.engines[host], net.now) == 0;
    }

    void deliver(uint32_t host, bool cast, const fuzz::Bytes &b)
    {
        if (!cast && b.size() < net.lane_head)
            return; // a lane says how long the head is
        bool ok = taken(cast, b), alone = idle(host);
        fuzz::Bytes before = snapshot(g[host]);
        uint64_t count = refused(host);

        if (cast)
            net.fabric(host).in.push_back(b);
        else
            net.lanes[host]->in.push_back(b);
        lied = lied || ok;
        progress(host);
        if (alone && !ok)
            FUZZ_CHECK(refused(host) == count + 1 && before == snapshot(g[host]));
    }

    void replay(fuzz::Reader &r)
    {
        uint8_t which = r.u8(), host = r.u8() % kRanks;

        if (history.empty())
            return;
        const Sent &s = history[which % history.size()];
        if (s.cast)
            net.fabric(host).in.push_back(s.bytes);
        else
            net.lanes[s.host]->in.push_back(s.bytes);
    }

    void lie(uint32_t host, fuzz::Reader &r)
    {
        uint8_t how = r.u8(), type = r.u8();
        hwmc_parameters parameters = {};
        uint64_t bits[HWMC_WIRE_BITS_MAX / 64];
        unsigned char head[HWMC_WIRE_HEAD], control[HWMC_WIRE_CONTROL_MAX];
        hwmc_wire_id id = g[host]->id;
        hwmc_msg m = {};
        AnyFields f;

        m.type = (hwmc_msg_type) (1 + type % (HWMC_MSG_LIMIT - 1));
        m.multicast = how & 1;
        m.flags = r.u8();
        f.rails = how & 2 ? 1 : r.u8();
        m.bid = how & 4 ? r.u64() : g[host]->stream.posted + (int8_t) r.u8();
        f.root = how & 8 ? r.u32() : root_of(m.bid);
        f.index = how & 16 ? r.u32() : r.u8();
        f.frags = how & 32 ? r.u32() % (HWMC_WIRE_BITS_MAX + 1) : r.u8();
        f.bytes = how & 64 ? r.u32() : (uint32_t) bytes_of(m.bid).size();
        f.tree = r.u8();
        f.slot = r.u8();
        m.peer = r.u8();
        for (auto &word : bits)
            word = how & 128 ? r.u64() : UINT64_MAX;
        f.bits = bits;
        if (m.type == HWMC_MSG_REPORT || m.type == HWMC_MSG_DECIDE) {
            parameters = {r.u8(),
                          r.u8(),
                          r.u8(),
                          r.u8(),
                          how & 64 ? r.u32() : r.u16(),
                          r.u32(),
                          r.u32(),
                          how & 32 ? r.u8() : 0u,
                          r.u64(),
                          r.u64()};
            f.parameters = &parameters;
        }
        set_fields(m, f);
        if (f.parameters || m.type == HWMC_MSG_INVITE || m.type == HWMC_MSG_LOST ||
            (m.type == HWMC_MSG_PROBE && f.index == 0)) {
            id.generation = 0;
            m.bid = g[host]->cfg.key;
        }
        fuzz::Bytes payload = hwmc_wire_carries(m.type) ? r.bytes(r.u8() % 128) : fuzz::Bytes();
        if (hwmc_wire_carries(m.type) && (how & 3) == 3)
            payload.resize(std::min(f.bytes, 100u)); // a whole fragment
        if (m.type == HWMC_MSG_PROBE && (how & 1))
            payload.assign(hwmc_wire_probe_len(f.bytes), 0);
        void *body = hwmc_wire_carries(m.type) ? payload.data() : control;
        uint32_t len = hwmc_wire_encode(head, &id, m.peer, &m, body, (uint32_t) payload.size());
        fuzz::Bytes b(head, head + hwmc_wire_head_len(&m));
        b.insert(b.end(), (unsigned char *) body, (unsigned char *) body + len);
        if (keyed) {
            fuzz::Bytes auth = r.bytes(HWMC_AUTH);

            auth.resize(HWMC_AUTH);
            b.insert(b.begin(), auth.begin(), auth.end());
            deliver(host, m.multicast, b);
            return;
        }
        lied = true;
        if (m.multicast)
            net.fabric(host).in.push_back(b);
        else
            net.lanes[host]->in.push_back(b);
    }

    bool along_trees(uint64_t bid) const
    {
        return bid % 4 == 3 && trees && !bytes_of(bid).empty();
    }

    // What is multicast is cut to what one broadcast of the group may carry.
    fuzz::Bytes piece_of(uint32_t h, uint64_t bid) const
    {
        fuzz::Bytes b = bytes_of(bid);

        b.resize(std::min<size_t>(b.size(), g[h]->piece_bytes));
        return b;
    }

    void begin(uint32_t h)
    {
        uint64_t bid = posted[h];

        if (!hwmc_group_open(g[h])) {
            hwmc_group_stall(g[h], net.now);
            return;
        }
        posted[h]++;
        by_trees[h] = along_trees(bid) || !hwmc_group_casts_next(g[h]);
        if (by_trees[h]) {
            fuzz::Bytes data = bytes_of(bid), &mine = memory[h];

            data.resize(std::max<size_t>(data.size(), 1));
            mine.assign(data.size(), 0);
            if (h == root_of(bid))
                mine = data;
            hwmc_group_post_trees(g[h], root_of(bid), mine.data(), (uint32_t) mine.size(), net.now);
        } else if (h == root_of(bid)) {
            const fuzz::Bytes data = piece_of(h, bid);

            if (!data.empty())
                memcpy(hwmc_group_next_bytes(g[h], (uint32_t) data.size()), data.data(),
                       data.size());
            hwmc_group_post_root(g[h], (uint32_t) data.size(), false, net.now);
        } else {
            hwmc_group_post_member(g[h], root_of(bid), net.now);
        }
    }

    void take(uint32_t h)
    {
        uint64_t bid = consumed[h]++;

        if (by_trees[h]) {
            FUZZ_CHECK(lied || memory[h] == bytes_of(bid));
        } else {
            const uint32_t len = hwmc_stream_bytes(&g[h]->stream);
            auto *got = static_cast<const unsigned char *>(hwmc_group_last_bytes(g[h]));

            FUZZ_CHECK(len <= g[h]->piece_bytes);
            FUZZ_CHECK(lied || fuzz::Bytes(got, got + len) == piece_of(h, bid));
        }
        hwmc_group_consume(g[h], net.now);
    }

    // As far as the next MPI_Bcast of this rank gets.
    void call(uint32_t h)
    {
        if (g[h]->state != HWMC_GROUP_ON || (!g[h]->casts && !trees))
            return;
        if (posted[h] == consumed[h] && posted[h] < kBroadcasts &&
            (g[h]->casts || along_trees(posted[h])))
            begin(h);
        if (posted[h] > consumed[h] && hwmc_group_done(g[h]))
            take(h);
    }

    void check() const
    {
        for (uint32_t h = 0; h < kRanks; h++) {
            hwmc_negotiation_check(&g[h]->negotiation);
            if (g[h]->running)
                hwmc_stream_check(&g[h]->stream);
            FUZZ_CHECK(net.engines[h]->groups.memory_used <= net.engines[h]->wires.cfg.memory);
        }
    }

    mem::Net net;
    bool trees, keyed, lied = false;
    uint32_t loses = 0, datagrams = 0;
    std::vector<hwmc_group *> g;
    uint64_t posted[kRanks] = {}, consumed[kRanks] = {};
    fuzz::Bytes memory[kRanks];
    bool by_trees[kRanks] = {}; // the broadcast under way
    std::vector<Sent> history;
    hwmc_wire_in in;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz::Reader r(data, size);
    Job job(r.u8());

    while (!r.empty())
        job.step(r);
    job.finish();
    return 0;
}
