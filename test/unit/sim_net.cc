// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// The simulated network: time, chance, the wire and the ranks' drivers. See sim_net.h.
#include "sim_net.h"

#include <algorithm>

// What a trace says is put together only for a trace.
#define LOG(r, what)                                                                               \
    do {                                                                                           \
        if (cfg_.trace)                                                                            \
            log(r, what);                                                                          \
    } while (0)

namespace sim {

Net::Net(Config cfg) : cfg_(std::move(cfg)), rng_(cfg_.seed), ranks_(cfg_.ranks)
{
    size_t n_frags = cfg_.script.size() * cfg_.max_frags;

    if (!cfg_.site.empty()) {
        site_memory_.resize(hwmc_sites_words(cfg_.ranks));
        hwmc_sites_init(&sites_, cfg_.ranks, cfg_.site.data(), site_memory_.data());
    }
    for (uint32_t r = 0; r < cfg_.ranks; r++) {
        Rank &rank = ranks_[r];
        hwmc_stream_cfg c = {};

        c.size = cfg_.ranks;
        c.rank = r;
        c.policy.first.push = cfg_.push;
        c.policy.adapt_repair = c.policy.adapt_period = cfg_.adapt;
        c.channels = cfg_.channels;
        c.policy.first.period = cfg_.period;
        c.fanout = cfg_.fanout;
        c.frag_bytes = cfg_.frag_bytes;
        c.max_bytes = cfg_.frag_bytes * cfg_.max_frags;
        c.delay = cfg_.delay;
        c.delay_ns = cfg_.delay_ns;
        c.seed = cfg_.seed;
        c.trees = cfg_.trees;
        hwmc_wrr_init(&c.near, cfg_.lanes, nullptr);
        hwmc_wrr_init(&c.far, cfg_.far_lanes, nullptr);
        c.weights.rails = (uint32_t) cfg_.speed.size();
        std::copy(cfg_.speed.begin(), cfg_.speed.end(), c.weights.speed);
        c.lanes = cfg_.lanes;
        c.far_lanes = cfg_.far_lanes;
        c.window = cfg_.window;
        c.far_window = cfg_.far_window;
        c.sites = cfg_.site.empty() ? nullptr : &sites_;
        c.policy.first.rails = cfg_.no_cast ? 0 : (uint8_t) ((1u << cfg_.rails) - 1);
        c.policy.stay = !cfg_.leaves;
        c.policy.pause_ns = cfg_.pause;
        c.policy.pause_max_ns = cfg_.pause_max;
        for (const Bcast &b : cfg_.script)
            if (b.trees || (cfg_.leaves && cfg_.trees > 0))
                c.max_segments =
                    std::max(c.max_segments,
                             (std::max(b.bytes, cfg_.own_bytes ? cfg_.own_bytes(r, b) : 0) - 1) /
                                     cfg_.seg_bytes +
                                 1);
        c.counts = &rank.counts;
        rank.memory.resize(hwmc_stream_footprint(&c) / 8);
        hwmc_stream_init(&rank.stream, &c, rank.memory.data());
        rank.channels.assign(cfg_.channels, std::vector<uint8_t>(c.max_bytes, 0xee));
        rank.lane_free.assign(cfg_.ranks * (1 + cfg_.far_lanes), 0);
        rank.call_at = now() + think(r);
        turn_at(r, now());
    }
    cast_.assign(n_frags, 0);
    forwarded_.assign(cfg_.ranks, std::vector<uint8_t>(n_frags, 0));
    asked_ = named_ = forwarded_;
    requests_.assign(cfg_.ranks, std::vector<uint32_t>(cfg_.script.size(), 0));
    readies_.assign(cfg_.script.size(), 0);
    called_ = rails_ = std::vector<uint8_t>(cfg_.script.size(), 0);
    segments_.resize(cfg_.ranks);
    ups_.assign(cfg_.ranks, 0);
    last_up_ = ups_;
}

std::string Net::run()
{
    size_t open = cfg_.ranks;

    while (error_.empty() && open > 0) {
        if (events_.empty()) {
            fail("deadlock: nothing will ever happen again");
            break;
        }
        Event event = events_.take();
        if (now() > S + cfg_.deadline || ++happened_ > cfg_.max_events) {
            fail("not over in time");
            break;
        }
        if (ranks_[event.rank].state == State::GONE)
            continue;
        if (event.packet) {
            arrive(event.rank, event.packet);
        } else if (event.token >= 0) {
            hwmc_stream_on_sent(&ranks_[event.rank].stream, (uint32_t) event.token);
            after_event(event.rank);
            turn(event.rank);
        } else if (ranks_[event.rank].turn_at == now()) {
            ranks_[event.rank].turn_at = HWMC_NEVER;
            turn(event.rank);
        }
        open -= ranks_[event.rank].state == State::GONE;
    }
    if (error_.empty())
        watch_all();
    return error_;
}

uint64_t Net::think(uint32_t r)
{
    uint64_t ns = 0;

    if (!cfg_.think.empty())
        ns = cfg_.think[std::min<size_t>(r, cfg_.think.size() - 1)];
    if (cfg_.think_max > 0)
        ns += rng_.below(cfg_.think_max);
    return ns;
}

uint8_t Net::some_rails(uint8_t of)
{
    uint8_t some = 0;

    if (!(of & (of - 1)))
        return of;
    while (some == 0)
        some = of & (uint8_t) rng_.between(1, (1u << cfg_.rails) - 1);
    return some;
}

// Room on all rails; any may be the best.
hwmc_room Net::some_room()
{
    uint64_t best = cfg_.rails == 1 ? 0 : rng_.below(cfg_.rails);

    return {(uint8_t) ((1u << cfg_.rails) - 1), (uint8_t) (1u << best)};
}

void Net::at(uint64_t when, uint32_t rank, PacketPtr packet, int64_t token)
{
    events_.put(when, {rank, std::move(packet), token});
}

// The rank gets a turn at `when` or before.
void Net::turn_at(uint32_t r, uint64_t when)
{
    if (when >= ranks_[r].turn_at)
        return;
    ranks_[r].turn_at = when;
    at(when, r, nullptr);
}

// The rank does nothing now; its turn comes when it is back.
bool Net::away(uint32_t r)
{
    Rank &rank = ranks_[r];

    for (const Outage &o : cfg_.stalls)
        if (o.ranks >> r & 1 && now() >= S + o.from && now() < S + o.until)
            rank.busy_until = std::max(rank.busy_until, S + o.until);
    if (now() >= rank.busy_until && cfg_.stall_max > 0 && rng_.chance(cfg_.stall))
        rank.busy_until = now() + rng_.below(cfg_.stall_max);
    if (now() >= rank.busy_until)
        return false;
    turn_at(r, rank.busy_until);
    return true;
}

void Net::arrive(uint32_t r, PacketPtr packet)
{
    Rank &rank = ranks_[r];

    if (packet->msg.multicast && cfg_.rx_slots > 0 && rank.inbox.size() >= cfg_.rx_slots) {
        LOG(r, "overflows " + said(packet->msg));
        return;
    }
    rank.inbox.push_back(std::move(packet));
    turn(r);
}

void Net::turn(uint32_t r)
{
    Rank &rank = ranks_[r];

    if (away(r))
        return;
    while (!rank.inbox.empty()) {
        PacketPtr packet = rank.inbox.front();
        rank.inbox.pop_front();
        receive(r, *packet);
    }
    timers(r);
    while (program(r) || sends(r)) {
        if (!error_.empty() || rank.state == State::GONE)
            return;
    }
    turn_at(r, hwmc_stream_next_timer(&rank.stream));
}

// What is here from the first byte on only grows, is found from any earlier figure, and is all in
// the end.
void Net::look_at_prefix(uint32_t r)
{
    Rank &rank = ranks_[r];
    const hwmc_stream &s = rank.stream;
    bool under_way = s.posted > s.channel.consumed;
    uint32_t prefix, theirs;

    if (!under_way || hwmc_stream_failed(&s, &theirs))
        return;
    if (rank.prefix_bid != s.posted) {
        rank.prefix_bid = s.posted;
        rank.prefix = 0;
    }
    prefix = hwmc_stream_prefix(&s, rank.prefix);
    if (prefix < rank.prefix || prefix != hwmc_stream_prefix(&s, 0) ||
        (hwmc_stream_done(&s) && prefix != hwmc_stream_bytes(&s)))
        fail("rank " + std::to_string(r) + " has " + std::to_string(prefix) + " bytes, and had " +
             std::to_string(rank.prefix));
    rank.prefix = prefix;
}

void Net::after_event(uint32_t r)
{
    hwmc_stream_check(&ranks_[r].stream);
    look_at_prefix(r);
    if (cfg_.hook)
        cfg_.hook(*this, r);
}

hwmc_verdict Net::inject(uint32_t r, const hwmc_msg &msg)
{
    Rank &rank = ranks_[r];
    hwmc_verdict verdict = hwmc_stream_on_recv(&rank.stream, &msg, now());

    if (verdict == HWMC_PLACE) {
        uint32_t len = hwmc_frag_len(msg.data.bytes, cfg_.frag_bytes, msg.data.index);
        memset(rank.channels[msg.bid % cfg_.channels].data() + msg.data.index * cfg_.frag_bytes, 0,
               len);
    }
    rank.injected_bad += verdict == HWMC_BAD;
    hwmc_stream_check(&rank.stream);
    return verdict;
}

void Net::receive(uint32_t r, const Packet &packet)
{
    Rank &rank = ranks_[r];
    const hwmc_msg &msg = packet.msg;
    hwmc_verdict verdict = hwmc_stream_on_recv(&rank.stream, &msg, now());

    if (verdict == HWMC_PLACE && msg.type == HWMC_MSG_SEGMENT) {
        uint32_t len, offset = hwmc_multilane_at(&rank.stream.multilane, &msg, &len);

        if (packet.payload.size() != len)
            fail("a segment of another length");
        std::copy(packet.payload.begin(), packet.payload.end(), rank.user.begin() + offset);
        LOG(r, "places " + said(msg));
    } else if (verdict == HWMC_PLACE) {
        std::vector<uint8_t> &to = rank.channels[msg.bid % cfg_.channels];
        std::copy(packet.payload.begin(), packet.payload.end(),
                  to.begin() + msg.data.index * cfg_.frag_bytes);
        LOG(r, "places " + said(msg));
    } else if (verdict == HWMC_DUP) {
        LOG(r, "has already " + said(msg));
    } else if (verdict == HWMC_BAD) {
        fail("rank " + std::to_string(r) + " calls an honest message bad: " + said(msg) + " of " +
             std::to_string(msg.peer));
    }
    after_event(r);
}

void Net::timers(uint32_t r)
{
    Rank &rank = ranks_[r];

    if (hwmc_stream_next_timer(&rank.stream) > now())
        return;
    hwmc_stream_on_timer(&rank.stream, now());
    if (hwmc_stream_next_timer(&rank.stream) <= now())
        fail("rank " + std::to_string(r) + " has a timer that does not go off");
    after_event(r);
}

// The program of a rank goes one step; false when it waits.
bool Net::program(uint32_t r)
{
    Rank &rank = ranks_[r];

    switch (rank.state) {
        case State::THINK:
            if (now() < rank.call_at) {
                turn_at(r, rank.call_at);
                return false;
            }
            rank.state = State::CALL;
            return true;
        case State::CALL:
            return post(r);
        case State::WAIT:
            return hwmc_stream_done(&rank.stream) && finish(r);
        case State::CLOSING:
            if (!hwmc_stream_closed(&rank.stream))
                return false;
            watch_end(r);
            LOG(r, "closed");
            rank.state = State::GONE;
            rank.memory = {}; // whoever touches it now is found out
            rank.stream.slots = nullptr;
            return true;
        default:
            return false;
    }
}

bool Net::post(uint32_t r)
{
    Rank &rank = ranks_[r];

    if (rank.next == cfg_.script.size()) {
        hwmc_stream_close(&rank.stream);
        rank.state = State::CLOSING;
        LOG(r, "closes");
        after_event(r);
        return true;
    }
    if (!hwmc_stream_open(&rank.stream)) {
        if (!rank.stalled) {
            hwmc_stream_stall(&rank.stream, now());
            LOG(r, "stalls at " + std::to_string(rank.next));
            after_event(r);
        }
        rank.stalled = true;
        return false;
    }
    rank.stalled = false;

    const Bcast &bcast = cfg_.script[rank.next];
    uint64_t bid = hwmc_stream_next_bid(&rank.stream);

    if (bid != rank.next)
        fail("a bid that is not the number of the call");
    watch_rails(r, bid);
    if (by_trees(bid)) {
        uint32_t bytes = cfg_.own_bytes ? cfg_.own_bytes(r, bcast) : bcast.bytes;

        rank.user.assign(bytes, 0xee);
        for (uint32_t i = 0; bcast.root == r && i < bytes; i++)
            rank.user[i] = pattern(bid, i);
        LOG(r, "calls " + std::to_string(bid) + " along trees");
        hwmc_stream_post_trees(&rank.stream, bcast.root, bytes, cfg_.seg_bytes);
    } else if (bcast.root == r) {
        std::vector<uint8_t> &bytes = rank.channels[bid % cfg_.channels];
        for (uint32_t i = 0; i < bcast.bytes; i++)
            bytes[i] = pattern(bid, i);
        LOG(r, "calls " + std::to_string(bid) + " as root");
        hwmc_stream_post_root(&rank.stream, bcast.bytes, bcast.more,
                              some_rails(hwmc_stream_next_rails(&rank.stream)), now());
    } else {
        LOG(r, "calls " + std::to_string(bid));
        called_at_[{r, bid}] = now();
        hwmc_stream_post_member(&rank.stream, bcast.root, now());
    }
    rank.state = State::WAIT;
    after_event(r);
    return true;
}

// The broadcast is done: look at every byte, consume, think.
bool Net::finish(uint32_t r)
{
    Rank &rank = ranks_[r];
    uint64_t bid = rank.next;
    uint32_t bytes = hwmc_stream_bytes(&rank.stream), theirs;
    bool failed = hwmc_stream_failed(&rank.stream, &theirs);

    const Bcast &bcast = cfg_.script[bid];
    uint32_t roots = cfg_.own_bytes ? cfg_.own_bytes(bcast.root, bcast) : bcast.bytes;

    rank.failed += failed;
    const std::vector<uint8_t> &got =
        by_trees(bid) ? rank.user : rank.channels[bid % cfg_.channels];

    if ((bytes != roots && !failed) ||
        (!by_trees(bid) && hwmc_stream_more(&rank.stream) != cfg_.script[bid].more))
        fail("rank " + std::to_string(r) + " has a wrong length of " + std::to_string(bid));
    for (uint32_t i = 0; i < bytes && cfg_.strict && !failed; i++)
        if (got[i] != pattern(bid, i)) {
            fail("rank " + std::to_string(r) + ", broadcast " + std::to_string(bid) +
                 ": wrong byte at " + std::to_string(i));
            break;
        }
    LOG(r, "has all of " + std::to_string(bid));
    hwmc_stream_consume(&rank.stream, now());
    rank.next++;
    rank.call_at = now() + think(r);
    rank.state = State::THINK;
    after_event(r);
    if (!cfg_.async && rank.call_at > now()) {
        sends(r); // what is due goes before the program goes on
        rank.busy_until = rank.call_at;
        turn_at(r, rank.busy_until);
        return false;
    }
    return true;
}

// True when something went out.
bool Net::sends(uint32_t r)
{
    Rank &rank = ranks_[r];
    hwmc_msg tx;
    uint32_t n = 0;

    if (now() < rank.busy_until)
        return false;
    while (cfg_.credits == 0 || n < cfg_.credits) {
        if (!hwmc_stream_next_send(&rank.stream, some_room(), &tx, now())) {
            if (hwmc_stream_casts(&rank.stream, {0xff, 0xff}))
                turn_at(r, now() + US); // the rail that is best now is none of the broadcast's
            return n > 0;
        }
        n++;
        watch(r, tx);
        transmit(r, tx);
        after_event(r);
    }
    rank.busy_until = now() + US; // the wire is full
    turn_at(r, rank.busy_until);
    return false;
}

// Is the way between two ranks cut now, and until when?
bool Net::crosses(uint32_t a, uint32_t b, uint64_t *until) const
{
    bool cut = false;

    for (const Outage &o : cfg_.partitions)
        if (((o.ranks >> a ^ o.ranks >> b) & 1) && now() >= S + o.from && now() < S + o.until) {
            *until = std::max(cut ? *until : 0, S + o.until);
            cut = true;
        }
    return cut;
}

bool Net::falls_in_hole(const hwmc_msg &msg, uint32_t to)
{
    for (const Hole &h : cfg_.holes)
        if ((h.ranks >> to & 1) && (h.rails >> msg.rail & 1) && now() >= S + h.from &&
            now() < S + h.until && rng_.chance(h.chance))
            return true;
    return false;
}

void Net::transmit(uint32_t r, const hwmc_msg &tx)
{
    auto packet = std::make_shared<Packet>();
    uint32_t to = tx.peer;

    packet->msg = tx;
    packet->msg.peer = r;
    if (tx.type == HWMC_MSG_DATA) {
        const uint8_t *from =
            ranks_[r].channels[tx.bid % cfg_.channels].data() + tx.data.index * cfg_.frag_bytes;
        packet->payload.assign(from,
                               from + hwmc_frag_len(tx.data.bytes, cfg_.frag_bytes, tx.data.index));
    }
    if (tx.type == HWMC_MSG_NACK || tx.type == HWMC_MSG_SEEK || tx.type == HWMC_MSG_ROOT_NACK) {
        packet->bits.assign(tx.nack.bits, tx.nack.bits + hwmc_bitmap_words(tx.nack.frags));
        packet->msg.nack.bits = packet->bits.data();
    }
    if (tx.multicast) {
        multicast(r, packet);
        return;
    }
    if (tx.type != HWMC_MSG_SEGMENT || (tx.flags & HWMC_FLAG_VOID)) {
        by_lane(r, to, 0, packet);
        return;
    }
    uint32_t len, offset = hwmc_multilane_at(&ranks_[r].stream.multilane, &tx, &len);

    packet->payload.assign(ranks_[r].user.begin() + offset, ranks_[r].user.begin() + offset + len);
    at(by_lane(r, to, 1 + tx.segment.lane, packet), r, nullptr, tx.segment.token);
}

// Returns when it arrives.
uint64_t Net::by_lane(uint32_t r, uint32_t to, uint32_t lane, const PacketPtr &packet)
{
    uint64_t when = now();
    uint64_t &free = ranks_[r].lane_free[to * (1 + cfg_.far_lanes) + lane];

    crosses(r, to, &when);
    when += rng_.between(cfg_.lane_min, cfg_.lane_max);
    free = when = std::max(when, free);
    at(when, to, packet);
    return when;
}

void Net::multicast(uint32_t r, const PacketPtr &packet)
{
    uint64_t until;

    for (uint32_t to = 0; to < cfg_.ranks; to++) {
        uint32_t loss = 0;

        if (to == r)
            continue;
        if (!cfg_.loss.empty())
            loss = cfg_.loss[std::min<size_t>(to, cfg_.loss.size() - 1)];
        if (rng_.chance(loss) || crosses(r, to, &until) || rng_.chance(cfg_.corrupt) ||
            (cfg_.lose && cfg_.lose(packet->msg, to)) || falls_in_hole(packet->msg, to)) {
            LOG(to, "loses " + said(packet->msg));
            continue;
        }
        for (int copies = rng_.chance(cfg_.dup) ? 2 : 1; copies > 0; copies--)
            at(now() + rng_.between(cfg_.cast_min, cfg_.cast_max) +
                   packet->msg.rail * cfg_.rail_skew,
               to, packet);
    }
}

} // namespace sim
