// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
#include "mem_net.h"

#include <cstring>

namespace mem {

std::vector<Bytes> with_a_bit_changed(const Bytes &bytes)
{
    std::vector<Bytes> all(8 * bytes.size(), bytes);

    for (size_t bit = 0; bit < all.size(); bit++)
        all[bit][bit / 8] ^= (unsigned char) (1 << bit % 8);
    return all;
}

static Fabric *fabric_of(bcast_hw_fabric *f)
{
    return reinterpret_cast<Fabric *>(f);
}

static Lane *lane_of(bcast_hw_lane *l)
{
    return reinterpret_cast<Lane *>(l);
}

static void append(Bytes &to, const void *data, size_t len)
{
    auto *p = static_cast<const unsigned char *>(data);

    if (len > 0)
        to.insert(to.end(), p, p + len);
}

static void query(bcast_hw_fabric *f, bcast_hw_fabric_attr *attr)
{
    attr->max_datagram = fabric_of(f)->net->datagram;
    attr->window = fabric_of(f)->net->window;
    attr->group_bits = 18;
}

static int draw(bcast_hw_fabric *f, uint64_t *group)
{
    *group = fabric_of(f)->net->next_group++;
    return BCAST_HW_OK;
}

static int join(bcast_hw_fabric *f, uint64_t group)
{
    Fabric *at = fabric_of(f);
    auto asked = at->under_way.find(group);

    if (at->slow_joins != 0) {
        at->slow_joins -= at->slow_joins > 0;
        if (asked == at->under_way.end())
            at->under_way.insert(group);
        return BCAST_HW_AGAIN;
    }
    if (asked != at->under_way.end())
        at->under_way.erase(asked);
    if (at->refuses_join)
        return BCAST_HW_ERR_GROUP;
    at->joined.insert(group);
    return BCAST_HW_OK;
}

static int leave(bcast_hw_fabric *f, uint64_t group)
{
    auto &under_way = fabric_of(f)->under_way;
    auto &joined = fabric_of(f)->joined;
    auto asked = under_way.find(group);
    auto at = joined.find(group);

    if (asked != under_way.end()) {
        under_way.erase(asked);
        return BCAST_HW_OK;
    }

    if (at == joined.end())
        return BCAST_HW_ERR_GROUP;
    joined.erase(at);
    return BCAST_HW_OK;
}

static void refresh(bcast_hw_fabric *f, uint64_t)
{
    fabric_of(f)->forgotten = false;
}

static int post(bcast_hw_fabric *f, uint64_t group, const bcast_hw_out *out, int n)
{
    Fabric *from = fabric_of(f);
    int k = 0;

    if (from->fails)
        return BCAST_HW_ERR_DEVICE;
    from->net->posting_rail = from->rail;
    if (from->hiccups > 0) {
        from->hiccups--;
        from->blocked = true;
        return 0;
    }
    for (; k < n && from->credits != 0; k++) {
        Bytes bytes;

        from->credits -= from->credits > 0;
        append(bytes, out[k].head, out[k].head_len);
        append(bytes, out[k].body, out[k].body_len);
        from->net->wire.push_back(bytes);
        if (from->net->on_post)
            from->net->on_post(*from, bytes);
        for (auto &to : from->net->fabrics)
            if (to->rail == from->rail && to->joined.count(group) && !to->forgotten &&
                (!from->net->passes || from->net->passes(from->host, to->host, bytes)))
                to->in.push_back(bytes);
    }
    from->blocked = k < n;
    return k;
}

static int poll(bcast_hw_fabric *f, bcast_hw_in *in, int n)
{
    Fabric *at = fabric_of(f);
    int k = 0;

    at->held.clear();
    while (k < n && !at->in.empty()) {
        at->held.push_back(std::move(at->in.front()));
        at->in.pop_front();
        k++;
    }
    for (int i = 0; i < k; i++)
        in[i] = {at->held[i].data(), at->held[i].size()};
    return k;
}

static size_t queued(bcast_hw_fabric *f)
{
    return fabric_of(f)->queued;
}

static int no_fds(bcast_hw_fabric *, int *, int)
{
    return 0;
}

static uint64_t deadline(bcast_hw_fabric *f)
{
    return fabric_of(f)->blocked ? fabric_of(f)->net->now + 100000 : UINT64_MAX;
}

static void close_fabric(bcast_hw_fabric *f)
{
    fabric_of(f)->joined.clear();
}

static const bcast_hw_fabric_ops fabric_ops = {"mem", query,  draw, join,   leave,    refresh,
                                               post,  queued, poll, no_fds, deadline, close_fabric};

static void address(bcast_hw_lane *, const void **addr, size_t *len)
{
    *addr = nullptr;
    *len = 0;
}

static int ready(bcast_hw_lane *l, uint32_t peer)
{
    lane_of(l)->met.insert(peer);
    return lane_of(l)->dead.count(peer) ? BCAST_HW_ERR_PEER : BCAST_HW_OK;
}

static int send(bcast_hw_lane *l, uint32_t peer, const void *head, size_t head_len,
                const void *body, size_t body_len)
{
    Lane *from = lane_of(l);
    Bytes bytes;

    if (from->dead.count(peer))
        return BCAST_HW_ERR_PEER;
    append(bytes, head, head_len);
    append(bytes, body, body_len);
    if (!from->silent)
        from->net->lane(peer, from->index).in.push_back(bytes);
    return BCAST_HW_OK;
}

// The body is taken at the next poll only: who changes it before is found out.
static int send_from(bcast_hw_lane *l, uint32_t peer, const void *head, size_t head_len,
                     const void *body, size_t body_len, uint64_t tag)
{
    Lane *from = lane_of(l);

    if (from->dead.count(peer))
        return BCAST_HW_ERR_PEER;
    Bytes bytes;
    append(bytes, head, head_len);
    auto leave = [=] {
        Bytes all = bytes;

        append(all, body, body_len);
        from->net->lane(peer, from->index).in.push_back(all);
        from->segments++;
        bcast_hw_engine_on_sent(from->net->engines[from->host], tag);
    };
    from->later.push_back({leave, tag});
    return BCAST_HW_OK;
}

static int poll_lane(bcast_hw_lane *l)
{
    Lane *at = lane_of(l);
    std::vector<Lane::Later> now;
    int n = 0;

    if (!at->stuck)
        now.swap(at->later);
    for (auto &what : now)
        what.leave();

    for (; !at->in.empty(); n++) {
        Bytes bytes = std::move(at->in.front());

        at->in.pop_front();
        size_t head = at->net->lane_head;
        const auto recv = at->sealed ? hwmc_sealed_on_recv : bcast_hw_engine_on_lane;
        void *ctx = at->sealed ? (void *) at->sealed : at->net->engines[at->host];
        recv(ctx, bytes.data(), head, bytes.data() + head, bytes.size() - head);
    }
    return n;
}

static int no_fd(bcast_hw_lane *)
{
    return -1;
}

static int ok(bcast_hw_lane *)
{
    return BCAST_HW_OK;
}

static void close_lane(bcast_hw_lane *)
{
}

static void cut(bcast_hw_lane *l)
{
    Lane *at = lane_of(l);
    std::vector<Lane::Later> now;

    now.swap(at->later);
    for (auto &what : now)
        bcast_hw_engine_on_sent(at->net->engines[at->host], what.tag);
    for (uint32_t h = 0; h < at->net->hosts; h++)
        at->dead.insert(h);
    for (uint32_t h = 0; h < at->net->hosts; h++)
        bcast_hw_engine_on_lost(at->net->engines[at->host], h);
}

static uint64_t no_deadline(bcast_hw_lane *)
{
    return UINT64_MAX;
}

static const bcast_hw_lane_ops lane_ops = {"mem", address, ready,       send, send_from,  poll_lane,
                                           no_fd, ok,      no_deadline, ok,   close_lane, cut};

Net::Net(uint32_t hosts_, size_t memory, size_t datagram_, size_t window_, uint32_t rails)
    : datagram(datagram_), window(window_), hosts(hosts_)
{
    for (uint32_t i = 0; i < rails * hosts; i++) {
        fabrics.push_back(std::make_unique<Fabric>());
        fabrics[i]->base.ops = &fabric_ops;
        fabrics[i]->net = this;
        fabrics[i]->host = i % hosts;
        fabrics[i]->rail = i / hosts;
    }
    for (uint32_t h = 0; h < hosts; h++) {
        bcast_hw_engine_cfg cfg = {};

        add_lane(h, 0);
        cfg.job = 0x1122334455667788;
        cfg.world_rank = h;
        for (uint32_t r = 0; r < rails; r++)
            cfg.fabrics[r] = &fabric(h, r).base;
        cfg.lane = &lanes[h]->base;
        cfg.memory = memory;
        counts.push_back(std::make_unique<Counts>());
        engines.push_back(bcast_hw_engine_create(&counts[h]->machines, &counts[h]->engine));
        bcast_hw_engine_open(engines[h], &cfg);
    }
}

void Net::add_lane(uint32_t host, uint32_t index)
{
    lanes.push_back(std::make_unique<Lane>());
    lanes.back()->base.ops = &lane_ops;
    lanes.back()->sealed = nullptr;
    lanes.back()->net = this;
    lanes.back()->host = host;
    lanes.back()->index = index;
}

void Net::lanes_on(const std::vector<uint8_t> &rails)
{
    for (uint32_t i = 0; i < rails.size(); i++)
        for (uint32_t h = 0; h < hosts; h++) {
            bcast_hw_engine_cfg cfg = engines[h]->cfg;

            add_lane(h, i + 1);
            cfg.lanes[i] = seals.empty() ? &lane(h, i + 1).base : sealed(lane(h, i + 1));
            cfg.lane_rail[i] = rails[i];
            cfg.num_lanes = cfg.num_far_lanes = cfg.num_rails = i + 1;
            bcast_hw_engine_open(engines[h], &cfg);
        }
}

void Net::seal(const unsigned char *secret)
{
    lane_head = BCAST_HW_SEAL + BCAST_HW_WIRE_HEAD;
    for (uint32_t h = 0; h < hosts; h++) {
        bcast_hw_engine_cfg cfg = engines[h]->cfg;

        seals.push_back(bcast_hw_seal_create(h, secret));
        cfg.integrity = BCAST_HW_INTEGRITY_KEYED;
        cfg.seal = seals[h];
        cfg.lane = sealed(lane(h, 0));
        for (uint32_t i = 0; i < cfg.num_far_lanes; i++)
            cfg.lanes[i] = sealed(lane(h, i + 1));
        bcast_hw_engine_open(engines[h], &cfg);
    }
}

bcast_hw_lane *Net::sealed(Lane &lane)
{
    hwmc_sealed_params params = {};

    params.up.recv = bcast_hw_engine_on_lane;
    params.up.lost = bcast_hw_engine_on_lost;
    params.up.sent = bcast_hw_engine_on_sent;
    params.up.ctx = engines[lane.host];
    params.seal = seals[lane.host];
    params.counts = &counts[lane.host]->sealed;
    params.size = hosts;
    params.rank = lane.host;
    params.number = lane.index;
    lane.sealed = hwmc_sealed_open(&params, &lane.base);
    return lane.sealed;
}

void Net::lose_rail(uint32_t host, uint32_t rail)
{
    bcast_hw_rails *rails = &engines[host]->rails;

    rails->one[rail].fabric = nullptr;
    rails->mask &= (uint8_t) ~(1u << rail);
}

Net::~Net()
{
    for (auto *e : engines) {
        bcast_hw_engine_close(e);
        bcast_hw_engine_destroy(e);
    }
    for (auto *s : seals)
        bcast_hw_seal_destroy(s);
}

bcast_hw_group_cfg Net::group_cfg(const std::vector<uint32_t> &members, const Tweak &tweak)
{
    bcast_hw_group_cfg cfg = {};

    cfg.context = 7;
    cfg.size = (uint32_t) members.size();
    cfg.world = members.data();
    cfg.key = 99;
    cfg.channels = 4;
    cfg.period = 2;
    cfg.fanout = 2;
    cfg.piece_bytes = 1000;
    cfg.join_ns = 1000000000;
    cfg.probe_ns = 250000000;
    cfg.stay = true;
    if (tweak)
        tweak(cfg);
    return cfg;
}

static bcast_hw_decline_cfg decline_cfg(const bcast_hw_group_cfg &cfg)
{
    bcast_hw_decline_cfg d = {};

    d.context = cfg.context;
    d.size = cfg.size;
    d.rank = cfg.rank;
    d.fanout = cfg.fanout;
    d.key = cfg.key;
    d.leader = cfg.world[0];
    bcast_hw_decline_list(&d);
    for (uint32_t i = 0; i < d.num_neighbours; i++)
        d.world[i] = cfg.world[d.neighbour[i]];
    return d;
}

bcast_hw_group *Net::begin(bcast_hw_group_cfg cfg, uint32_t rank)
{
    cfg.rank = rank;
    bcast_hw_engine *e = engines[cfg.world[rank]];
    bcast_hw_group *g = bcast_hw_group_create(e, &cfg, now);

    if (!g) {
        const bcast_hw_decline_cfg d = decline_cfg(cfg);

        bcast_hw_decline_begin(e, &d, now);
    }
    return g;
}

std::vector<bcast_hw_group *> Net::group(const std::vector<uint32_t> &members, const Tweak &tweak)
{
    std::vector<bcast_hw_group *> groups;
    const bcast_hw_group_cfg cfg = group_cfg(members, tweak);

    for (uint32_t r = 0; r < cfg.size; r++)
        groups.push_back(begin(cfg, r));
    return groups;
}

bool Net::step()
{
    bool any = false;

    for (uint32_t h = 0; h < hosts; h++)
        any = (!away.count(h) && bcast_hw_engine_progress(engines[h], now) > 0) || any;
    return any;
}

void Net::settle(uint64_t until)
{
    uint64_t end = now + until;

    for (;;) {
        uint64_t next = BCAST_HW_NEVER;

        while (step())
            ;
        for (uint32_t h = 0; h < hosts; h++)
            if (!away.count(h))
                next = std::min(next, bcast_hw_engine_deadline(engines[h]));
        if (next > end)
            return;
        now = std::max(now, next);
    }
}

} // namespace mem
