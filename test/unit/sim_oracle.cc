// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// The oracle of the simulated network: what ranks may send, and how it has to end. See sim_net.h.
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "sim_net.h"

namespace sim {

static std::string name(const char *what, uint64_t n)
{
    return std::string(what) + std::to_string(n);
}

uint64_t Net::sum(uint64_t hwmc_counts::*field) const
{
    uint64_t n = 0;

    for (const Rank &rank : ranks_)
        n += rank.counts.*field;
    return n;
}

uint8_t Net::pattern(uint64_t bid, uint32_t offset) const
{
    return (uint8_t) (hwmc_prng(cfg_.seed ^ bid << 40, offset / 8) >> offset % 8 * 8);
}

void Net::fail(const std::string &what)
{
    if (cfg_.strict && error_.empty())
        error_ = what + "\n" + state();
    else if (!cfg_.strict && (what.find("deadlock") == 0 || what.find("not over") == 0))
        error_ = what;
}

void Net::log(uint32_t r, const std::string &what)
{
    if (!cfg_.trace)
        return;
    std::string time = std::to_string((now() - S) / US);
    trace_ += std::string(time.size() < 6 ? 6 - time.size() : 0, ' ') + time + " " +
              std::to_string(r) + " " + what + "\n";
}

// What a message says, as traces have it: bid.index of data, {fragments} of requests.
std::string Net::said(const hwmc_msg &msg) const
{
    std::string way = msg.multicast ? "" : " lane";
    std::string list;

    switch (msg.type) {
        case HWMC_MSG_DATA:
            return std::to_string(msg.bid) + name(".", msg.data.index) + way +
                   (msg.flags & HWMC_FLAG_AT_ONCE ? " at once" : "");
        case HWMC_MSG_NACK:
            for (uint32_t i = 0; i < msg.nack.frags; i++)
                if (hwmc_bitmap_test(msg.nack.bits, i))
                    list += name(list.empty() ? "" : " ", i);
            return name("request ", msg.bid) + (msg.nack.frags ? " {" + list + "}" : " all");
        case HWMC_MSG_SEEK:
            for (uint32_t i = 0; i < msg.nack.frags; i++)
                if (hwmc_bitmap_test(msg.nack.bits, i))
                    list += name(list.empty() ? "" : " ", i);
            return name(msg.flags & HWMC_FLAG_AT_ONCE ? "take " : "seek ", msg.bid) +
                   (msg.nack.frags ? " {" + list + "}" : " all");
        case HWMC_MSG_OFFER:
            return name("offer ", msg.bid);
        case HWMC_MSG_READY:
            return name("ready ", msg.bid);
        case HWMC_MSG_SYNC_UP:
            return name("up ", msg.bid);
        case HWMC_MSG_SYNC_DOWN:
            return name("down ", msg.bid) + way + (msg.flags & HWMC_FLAG_LAST ? " last" : "");
        case HWMC_MSG_SYNC_ASK:
            return name("floor? ", msg.bid);
        case HWMC_MSG_EPOCH:
            return name("epoch ", msg.epoch.number) + name(" from ", msg.bid) +
                   name(" rails ", msg.epoch.rails);
        case HWMC_MSG_PROBE:
            return name("probe ", msg.probe.train) + name(".", msg.probe.number) +
                   name(" on rail ", msg.rail);
        case HWMC_MSG_GRANT:
            return name("grant ", msg.bid) + name(" of tree ", msg.grant.tree);
        case HWMC_MSG_SEGMENT:
            return name("segment ", msg.bid) + name(".", msg.segment.index) +
                   name(" of tree ", msg.segment.tree);
        default:
            return name("type ", msg.type);
    }
}

bool Net::pushes(uint32_t r, uint64_t bid) const
{
    const hwmc_stream &s = ranks_[r].stream;

    return s.slots[bid % s.channel.n].push;
}

void Net::watch(uint32_t r, const hwmc_msg &tx)
{
    bool of_broadcast = tx.type == HWMC_MSG_DATA || tx.type == HWMC_MSG_NACK ||
                        tx.type == HWMC_MSG_READY || tx.type == HWMC_MSG_GRANT ||
                        tx.type == HWMC_MSG_SEGMENT || tx.type == HWMC_MSG_SEEK ||
                        tx.type == HWMC_MSG_OFFER;

    if (cfg_.trace)
        log(r, "sends " + said(tx) + (tx.multicast ? " to all" : name(" to ", tx.peer)));
    if (tx.peer >= cfg_.ranks || (!tx.multicast && tx.peer == r && cfg_.ranks > 1))
        fail(name("a message to nobody by rank ", r));
    if (tx.multicast && cfg_.no_cast)
        fail(name("a multicast where there is none by rank ", r));
    if (!cfg_.strict)
        return;
    if (of_broadcast && (tx.bid >= cfg_.script.size() || tx.bid < ranks_[r].stream.channel.floor)) {
        fail(name("a message of a broadcast that is none or over by rank ", r));
        return;
    }
    if (tx.type == HWMC_MSG_DATA)
        watch_data(r, tx);
    else if (tx.type == HWMC_MSG_NACK)
        watch_request(r, tx);
    else if (tx.type == HWMC_MSG_SEEK)
        watch_seek(r, tx);
    else if (tx.type == HWMC_MSG_OFFER) {
        if (!sought_.count({tx.peer, r, tx.bid}))
            fail(name("an offer that nobody asked for by rank ", r));
    } else if (tx.type == HWMC_MSG_ROOT_NACK) {
        if (pushes(r, tx.bid) || tx.peer != cfg_.script[tx.bid].root)
            fail(name("an AGAIN astray or though fragments are pushed, by rank ", r));
    } else if (tx.type == HWMC_MSG_READY) {
        if (++readies_[tx.bid] > 1 || tx.peer != cfg_.script[tx.bid].root ||
            cfg_.delay != HWMC_DELAY_RANDOM)
            fail(name("a READY too much or astray by rank ", r));
    } else if (tx.type == HWMC_MSG_GRANT || tx.type == HWMC_MSG_SEGMENT)
        watch_trees(r, tx);
    else if (tx.type == HWMC_MSG_PROBE) {
        if (r > 1 || !tx.multicast || !cfg_.leaves)
            fail(name("a false PROBE by rank ", r));
    } else if (tx.type == HWMC_MSG_EPOCH) {
        bool up = r != 0 && tx.peer == hwmc_tree_parent(r, cfg_.fanout);

        if (tx.multicast || !cfg_.leaves || (!up && hwmc_tree_parent(tx.peer, cfg_.fanout) != r))
            fail(name("a false EPOCH by rank ", r));
    } else
        watch_sync(r, tx);
}

// All ranks call a broadcast with the same rails, and those of set-up.
void Net::watch_rails(uint32_t r, uint64_t bid)
{
    uint8_t rails = hwmc_stream_next_rails(&ranks_[r].stream);

    if (called_[bid] && rails_[bid] != rails)
        fail(name("other rails than the others' for ", bid) + name(" at rank ", r));
    if (rails != (cfg_.no_cast ? 0 : (1u << cfg_.rails) - 1) && !cfg_.leaves)
        fail(name("rails were left by rank ", r));
    called_[bid] = 1;
    rails_[bid] = rails;
}

// A segment goes to each rank once, but by rails that are tried, and only to one that has called
// the broadcast.
void Net::watch_trees(uint32_t r, const hwmc_msg &tx)
{
    const Bcast &bcast = cfg_.script[tx.bid];
    const Rank &to = ranks_[tx.peer];

    if (!by_trees(tx.bid) || tx.segment.root != bcast.root ||
        (tx.segment.bytes != bcast.bytes && !cfg_.own_bytes) || tx.multicast ||
        tx.segment.tree >= cfg_.trees)
        fail(name("a false message along trees by rank ", r));
    if (tx.type == HWMC_MSG_GRANT || (cfg_.own_bytes && (tx.flags & HWMC_FLAG_VOID)))
        return;
    if (tx.rail >=
        (cfg_.site.empty() || cfg_.site[r] == cfg_.site[tx.peer] ? cfg_.lanes : cfg_.far_lanes))
        fail(name("a segment over a lane that is none by rank ", r));
    if ((to.next != tx.bid || to.state != State::WAIT) && !cfg_.own_bytes)
        fail(name("a segment for a rank that is not in the call by rank ", r));
    if (!cfg_.speed.empty() && tx.segment.rails != 1u << tx.segment.lane % cfg_.speed.size())
        fail(name("a segment that names another rail by rank ", r));
    if (!segments_[tx.peer]
             .insert({tx.bid, tx.segment.index * cfg_.trees + tx.segment.tree})
             .second &&
        cfg_.speed.size() < 2)
        fail(name("a segment twice by rank ", r));
}

void Net::watch_data(uint32_t r, const hwmc_msg &tx)
{
    const Bcast &bcast = cfg_.script[tx.bid];
    size_t i = slot(tx.bid, tx.data.index);

    if (tx.data.root != bcast.root || tx.data.bytes != bcast.bytes ||
        tx.data.index >= tx.data.frags ||
        tx.data.frags != hwmc_frags_of(bcast.bytes, cfg_.frag_bytes)) {
        fail(name("a false fragment by rank ", r));
        return;
    }
    if (tx.multicast && (!(rails_[tx.bid] >> tx.rail & 1) || (tx.data.rails & ~rails_[tx.bid])))
        fail(name("multicast on a rail that was left by rank ", r));
    if (tx.multicast) {
        bool end = tx.data.index + 1 == tx.data.frags && !bcast.more &&
                   tx.data.frags > HWMC_STANDING_FRAGS;

        // At the end of a long message the last fragment goes once more on each rail; any, when
        // neighbours lack it.
        if (r != bcast.root || ++cast_[i] > 2 + (end ? cfg_.rails : 0))
            fail("multicast twice or by another than the root: " + said(tx));
        return;
    }
    if (tx.peer != bcast.root && taken_.count({tx.peer, r, tx.bid}))
        return;
    if (tx.peer != hwmc_ring_next(r, cfg_.ranks) || tx.peer == bcast.root)
        fail(name("forwarded off the ring or into the root by rank ", r) + ": " + said(tx));
    if (++forwarded_[r][i] > 1)
        fail(name("forwarded twice by rank ", r) + ": " + said(tx));
    if (!pushes(r, tx.bid) && !asked_[tx.peer][i])
        fail(name("forwarded though not asked for by rank ", r) + ": " + said(tx));
}

void Net::watch_request(uint32_t r, const hwmc_msg &tx)
{
    uint32_t frags = hwmc_frags_of(cfg_.script[tx.bid].bytes, cfg_.frag_bytes);
    bool fresh = false;

    if (pushes(r, tx.bid))
        fail(name("a request though fragments are pushed, by rank ", r));
    if (tx.peer != hwmc_ring_prev(r, cfg_.ranks) || (tx.nack.frags > 0 && tx.nack.frags != frags)) {
        fail(name("a false request by rank ", r));
        return;
    }
    for (uint32_t i = 0; i < frags; i++)
        if (tx.nack.frags == 0 || hwmc_bitmap_test(tx.nack.bits, i)) {
            fresh |= !named_[r][slot(tx.bid, i)];
            named_[r][slot(tx.bid, i)] |= tx.nack.frags > 0;
            asked_[r][slot(tx.bid, i)] = 1;
        }
    if (!fresh)
        fail(name("asked twice for the same by rank ", r) + ": " + said(tx));
    requests_[r][tx.bid]++;
}

// Others are asked by who waits in the call, for what is missing; no more of them than two
// questions in each of its first pauses, the shortest of which is two of the least waits. They are
// asked for the fragments when they have offered them.
void Net::watch_seek(uint32_t r, const hwmc_msg &tx)
{
    const Rank &rank = ranks_[r];
    const hwmc_two_stage &m = rank.stream.slots[tx.bid % cfg_.channels];
    uint64_t &n = seeks_[{r, tx.bid}];

    if (rank.state != State::WAIT || rank.next != tx.bid || cfg_.script[tx.bid].root == r ||
        tx.peer == hwmc_ring_prev(r, cfg_.ranks) || tx.nack.frags != m.frags)
        fail(name("a false SEEK by rank ", r));
    for (uint32_t i = 0; i < tx.nack.frags; i++)
        if (hwmc_bitmap_test(tx.nack.bits, i) && hwmc_bitmap_test(m.got, i))
            fail(name("sought though it is here by rank ", r));
    if (tx.flags & HWMC_FLAG_AT_ONCE) {
        if (!sought_.count({r, tx.peer, tx.bid}))
            fail(name("asked for what was not offered by rank ", r));
        taken_.insert({r, tx.peer, tx.bid});
        return;
    }
    sought_.insert({r, tx.peer, tx.bid});
    if (++n > 1 + (now() - called_at_[{r, tx.bid}]) / HWMC_RTT_START_NS)
        fail(name("asked others too often by rank ", r));
}

void Net::watch_sync(uint32_t r, const hwmc_msg &tx)
{
    uint64_t lowest = HWMC_NEVER;

    for (const Rank &rank : ranks_)
        lowest = std::min(lowest, rank.stream.channel.consumed);
    if (tx.type == HWMC_MSG_SYNC_UP) {
        if (r == 0 || tx.peer != hwmc_tree_parent(r, cfg_.fanout) || tx.bid <= last_up_[r])
            fail(name("a false SYNC_UP by rank ", r));
        last_up_[r] = tx.bid;
        ups_[r]++;
    } else if (tx.type == HWMC_MSG_SYNC_DOWN) {
        if (tx.bid > lowest)
            fail(name("a floor above what all have consumed, by rank ", r));
        if (tx.multicast && r != 0)
            fail(name("a floor multicast by rank ", r));
        downs_ += tx.multicast;
    } else if (r == 0 || tx.peer != hwmc_tree_parent(r, cfg_.fanout)) {
        fail(name("a false SYNC_ASK by rank ", r));
    }
}

// A rank that is closed has nothing left to do.
void Net::watch_end(uint32_t r)
{
    Rank &rank = ranks_[r];
    hwmc_msg tx;

    if (hwmc_stream_next_timer(&rank.stream) != HWMC_NEVER)
        fail(name("a timer is left at rank ", r));
    if (hwmc_stream_next_send(&rank.stream, {0xff, 0xff}, &tx, now()))
        fail(name("a message is left at rank ", r) + ": " + said(tx));
    for (const Rank &other : ranks_)
        if (other.stream.channel.consumed < cfg_.script.size())
            fail(name("closed before all have consumed: rank ", r));
}

// All ranks are closed: every fragment went out, no more synchronizations than the period allows.
void Net::watch_all()
{
    bool fine = std::any_of(cfg_.script.begin(), cfg_.script.end(), [](auto &b) { return b.more; });
    uint64_t least =
        cfg_.adapt && cfg_.channels >= 4 ? std::min(cfg_.period, cfg_.channels / 4) : cfg_.period;
    uint64_t period = fine ? std::max<uint64_t>(least / 4, 1) : least;
    uint64_t syncs = cfg_.script.size() / period + 1;

    size_t segments = 0;

    for (size_t bid = 0; bid < cfg_.script.size(); bid++) {
        const Bcast &b = cfg_.script[bid];

        segments += by_trees(bid) ? (b.bytes - 1) / cfg_.seg_bytes + 1 : 0;
        for (uint32_t i = 0; !by_trees(bid) && i < hwmc_frags_of(b.bytes, cfg_.frag_bytes); i++)
            if (cast_[slot(bid, i)] < 1)
                fail(name("never multicast: ", bid) + name(".", i));
    }
    for (uint32_t r = 0; r < cfg_.ranks; r++) {
        const hwmc_counts &n = counts(r);

        if (ups_[r] > syncs)
            fail(name("more synchronizations than the period allows by rank ", r));
        if (n.two_stage + n.multilane != cfg_.script.size() || n.bad != ranks_[r].injected_bad)
            fail(name("wrong counts at rank ", r));
    }
    if (downs_ > syncs)
        fail("more floors multicast than the period allows");
    if (segments > 0 && !cfg_.own_bytes &&
        sum(&hwmc_counts::got_segments) != segments * (cfg_.ranks - 1))
        fail("not every rank got every segment once");
}

std::string Net::state() const
{
    static const char *const states[] = {"thinks", "calls", "waits", "closes", "is gone"};
    std::string text = name("seed ", cfg_.seed) + name(", time us ", (now() - S) / US) +
                       name(", events ", happened_) + "\n";

    for (uint32_t r = 0; r < cfg_.ranks; r++) {
        const Rank &rank = ranks_[r];
        const hwmc_channel &c = rank.stream.channel;

        text += name("  rank ", r) + " " + states[(int) rank.state] + name(" next ", rank.next) +
                name(" posted ", rank.stream.posted) + name(" consumed ", c.consumed) +
                name(" floor ", c.floor) + name(" up ", c.up) + (c.ask ? " asked" : "") + ":";
        for (uint32_t i = 0; rank.stream.slots && i < cfg_.channels; i++) {
            const hwmc_two_stage &m = rank.stream.slots[i];
            text += name(" [", m.bid) + name(" phase ", m.phase) + name(" ", m.n_got) +
                    name("/", m.frags) + "]";
        }
        text += "\n";
    }
    return text;
}

static char line[512];

static void on_abort(int)
{
    ssize_t n = write(2, line, strlen(line));
    (void) n;
    signal(SIGABRT, SIG_DFL);
}

void replay_line(const std::string &text)
{
    strncpy(line, (text + "\n").c_str(), sizeof(line) - 1);
    signal(SIGABRT, on_abort);
}

} // namespace sim
