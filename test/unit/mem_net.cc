// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
#include "mem_net.h"

#include <cassert>
#include <cstring>

namespace mem {

std::vector<Bytes> with_a_bit_changed(const Bytes &bytes)
{
    std::vector<Bytes> all(8 * bytes.size(), bytes);

    for (size_t bit = 0; bit < all.size(); bit++)
        all[bit][bit / 8] ^= (unsigned char) (1 << bit % 8);
    return all;
}

static Fabric *fabric_of(hwmc_fabric *f)
{
    return reinterpret_cast<Fabric *>(f);
}

static Lane *lane_of(hwmc_lane *l)
{
    return reinterpret_cast<Lane *>(l);
}

static void append(Bytes &to, const void *data, size_t len)
{
    auto *p = static_cast<const unsigned char *>(data);

    if (len > 0)
        to.insert(to.end(), p, p + len);
}

static void query(hwmc_fabric *f, hwmc_fabric_attr *attr)
{
    attr->max_datagram = fabric_of(f)->net->datagram;
    attr->window = fabric_of(f)->net->window;
    attr->group_bits = 18;
}

static int draw(hwmc_fabric *f, uint64_t *group)
{
    *group = fabric_of(f)->net->next_group++;
    return HWMC_OK;
}

static int join(hwmc_fabric *f, uint64_t group)
{
    Fabric *at = fabric_of(f);
    auto asked = at->under_way.find(group);

    if (at->slow_joins != 0) {
        at->slow_joins -= at->slow_joins > 0;
        if (asked == at->under_way.end())
            at->under_way.insert(group);
        return HWMC_AGAIN;
    }
    if (asked != at->under_way.end())
        at->under_way.erase(asked);
    if (at->refuses_join)
        return HWMC_ERR_GROUP;
    at->joined.insert(group);
    return HWMC_OK;
}

static int leave(hwmc_fabric *f, uint64_t group)
{
    auto &under_way = fabric_of(f)->under_way;
    auto &joined = fabric_of(f)->joined;
    auto asked = under_way.find(group);
    auto at = joined.find(group);

    if (asked != under_way.end()) {
        under_way.erase(asked);
        return HWMC_OK;
    }

    if (at == joined.end())
        return HWMC_ERR_GROUP;
    joined.erase(at);
    return HWMC_OK;
}

static void refresh(hwmc_fabric *f, uint64_t)
{
    fabric_of(f)->forgotten = false;
    fabric_of(f)->refreshed = fabric_of(f)->net->now;
}

static int post(hwmc_fabric *f, uint64_t group, const hwmc_out *out, int n)
{
    Fabric *from = fabric_of(f);
    int k = 0;

    if (from->fails)
        return HWMC_ERR_DEVICE;
    from->net->posting_rail = from->rail;
    from->longest = std::max(from->longest, n);
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
            else if (to->rail == from->rail && to->direct.joined.count(group) &&
                     (!from->net->passes || from->net->passes(from->host, to->host, bytes)))
                to->direct.arrive(bytes, to->in);
    }
    from->blocked = k < n;
    return k;
}

static bool lend(hwmc_fabric *f, const void *memory, size_t)
{
    return fabric_of(f)->lent.insert(memory).second;
}

static bool returned(hwmc_fabric *f, const void *memory)
{
    if (!fabric_of(f)->keeps)
        fabric_of(f)->lent.erase(memory);
    return !fabric_of(f)->lent.count(memory);
}

static int poll(hwmc_fabric *f, hwmc_in *in, int n)
{
    Fabric *at = fabric_of(f);
    int k = 0;

    at->held.clear();
    at->held.reserve((size_t) n); // `in` points there
    for (; k < n && !at->in.empty(); k++) {
        at->held.push_back(std::move(at->in.front()));
        at->in.pop_front();
        in[k] = at->direct.take(at->held[(size_t) k], at->in);
    }
    return k;
}

// Writes to all of the memory that is offered. What is as expected is read apart.
static int poll_into(hwmc_fabric *f, const hwmc_expected *e, hwmc_in *in, int n)
{
    Fabric *at = fabric_of(f);
    int k = poll(f, in, n);

    memset(e->at, 0xee, e->bytes);
    for (int i = 0; i < k; i++) {
        const size_t from = (size_t) i * e->body, room = from < e->bytes ? e->bytes - from : 0;
        const Bytes &whole = at->held[i].bytes;

        if (whole.size() <= e->head || whole.size() - e->head > std::min(e->body, room) ||
            !e->is_next(e->ctx, whole.data(), (uint32_t) i))
            break;
        memcpy(e->at + from, whole.data() + e->head, whole.size() - e->head);
        in[i] = {whole.data(), e->head, e->at + from, whole.size() - e->head};
    }
    return k;
}

static size_t queued(hwmc_fabric *f)
{
    return fabric_of(f)->queued;
}

static int no_fds(hwmc_fabric *, int *, int)
{
    return 0;
}

static uint64_t deadline(hwmc_fabric *f)
{
    const Fabric *of = fabric_of(f);

    return of->blocked && of->tells ? of->net->now + 100000 : UINT64_MAX;
}

static void close_fabric(hwmc_fabric *f)
{
    fabric_of(f)->joined.clear();
}

static int join_twin(hwmc_fabric *f, uint64_t group, uint64_t *twin)
{
    Fabric *at = fabric_of(f);

    if (!at->direct.works)
        return HWMC_ERR_GROUP;
    assert(at->joined.count(group));
    *twin = group | Direct::TWIN;
    at->direct.joined.insert(*twin);
    return HWMC_OK;
}

static int leave_twin(hwmc_fabric *f, uint64_t twin)
{
    auto at = fabric_of(f)->direct.joined.find(twin);

    if (at == fabric_of(f)->direct.joined.end())
        return HWMC_ERR_GROUP;
    fabric_of(f)->direct.joined.erase(at);
    return HWMC_OK;
}

static uint64_t begin_run(hwmc_fabric *f, const hwmc_expected *e)
{
    return fabric_of(f)->direct.begin(*e);
}

static size_t extend_run(hwmc_fabric *f, uint64_t run, size_t bytes)
{
    return fabric_of(f)->direct.extend(run, bytes);
}

static void end_run(hwmc_fabric *f, uint64_t run, bool goes_on)
{
    fabric_of(f)->direct.end(run, goes_on, fabric_of(f)->in);
}

static const hwmc_fabric_direct_ops direct_ops = {join_twin, leave_twin, begin_run, extend_run,
                                                  end_run};

static const hwmc_fabric_ops fabric_ops = {
    "mem",    query,  draw, join,      leave,  refresh,  post,         lend,
    returned, queued, poll, poll_into, no_fds, deadline, close_fabric, &direct_ops};

static void address(hwmc_lane *, const void **addr, size_t *len)
{
    *addr = nullptr;
    *len = 0;
}

static int ready(hwmc_lane *l, uint32_t peer)
{
    lane_of(l)->met.insert(peer);
    return lane_of(l)->dead.count(peer) ? HWMC_ERR_PEER : HWMC_OK;
}

static int send(hwmc_lane *l, uint32_t peer, const void *head, size_t head_len, const void *body,
                size_t body_len)
{
    Lane *from = lane_of(l);
    Bytes bytes;

    if (from->dead.count(peer))
        return HWMC_ERR_PEER;
    append(bytes, head, head_len);
    append(bytes, body, body_len);
    if (!from->silent)
        from->net->lane(peer, from->index).in.push_back(bytes);
    return HWMC_OK;
}

// The body is taken at the next poll only: who changes it before is found out.
static int send_from(hwmc_lane *l, uint32_t peer, const void *head, size_t head_len,
                     const void *body, size_t body_len, uint64_t tag)
{
    Lane *from = lane_of(l);

    if (from->dead.count(peer))
        return HWMC_ERR_PEER;
    Bytes bytes;
    append(bytes, head, head_len);
    auto leave = [=] {
        Bytes all = bytes;

        append(all, body, body_len);
        from->net->lane(peer, from->index).in.push_back(all);
        from->segments++;
        hwmc_engine_on_sent(from->net->engines[from->host], tag);
    };
    from->later.push_back(
        {leave, tag, peer, from->net->lane(peer, from->index).polls + from->handshake});
    return HWMC_OK;
}

static int poll_lane(hwmc_lane *l)
{
    Lane *at = lane_of(l);
    std::vector<Lane::Later> now;
    int n = 0;

    at->polls++;
    if (!at->mismatch)
        now.swap(at->later);
    for (auto &what : now)
        if (at->net->lane(what.peer, at->index).polls < what.after)
            at->later.push_back(what);
        else
            what.leave();

    for (; !at->in.empty(); n++) {
        Bytes bytes = std::move(at->in.front());

        at->in.pop_front();
        size_t head = at->net->lane_head;
        const auto recv = at->auth_lane ? hwmc_auth_lane_on_recv : hwmc_engine_on_lane;
        void *ctx = at->auth_lane ? (void *) at->auth_lane : at->net->engines[at->host];
        recv(ctx, bytes.data(), head, bytes.data() + head, bytes.size() - head);
    }
    return n;
}

static int no_fd(hwmc_lane *)
{
    return -1;
}

static int ok(hwmc_lane *)
{
    return HWMC_OK;
}

static void close_lane(hwmc_lane *)
{
}

static void cut(hwmc_lane *l)
{
    Lane *at = lane_of(l);
    std::vector<Lane::Later> now;

    now.swap(at->later);
    for (auto &what : now)
        hwmc_engine_on_sent(at->net->engines[at->host], what.tag);
    for (uint32_t h = 0; h < at->net->hosts; h++)
        at->dead.insert(h);
    for (uint32_t h = 0; h < at->net->hosts; h++)
        hwmc_engine_on_lost(at->net->engines[at->host], h);
}

static uint64_t no_deadline(hwmc_lane *)
{
    return UINT64_MAX;
}

static const hwmc_lane_ops lane_ops = {"mem", address, ready,       send, send_from,  poll_lane,
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
        hwmc_wires_cfg cfg = {};

        add_lane(h, 0);
        cfg.job = 0x1122334455667788;
        cfg.world_rank = h;
        for (uint32_t r = 0; r < rails; r++)
            cfg.fabrics[r] = &fabric(h, r).base;
        cfg.lane = &lanes[h]->base;
        cfg.memory = memory;
        counts.push_back(std::make_unique<Counts>());
        engines.push_back(hwmc_engine_create(&counts[h]->machines, &counts[h]->engine));
        hwmc_engine_open(engines[h], &cfg);
    }
}

void Net::add_lane(uint32_t host, uint32_t index)
{
    lanes.push_back(std::make_unique<Lane>());
    lanes.back()->base.ops = &lane_ops;
    lanes.back()->auth_lane = nullptr;
    lanes.back()->net = this;
    lanes.back()->host = host;
    lanes.back()->index = index;
}

void Net::lanes_on(const std::vector<uint8_t> &rails)
{
    for (uint32_t i = 0; i < rails.size(); i++)
        for (uint32_t h = 0; h < hosts; h++) {
            hwmc_wires_cfg cfg = engines[h]->wires.cfg;

            add_lane(h, i + 1);
            cfg.lanes[i] = seals.empty() ? &lane(h, i + 1).base : auth_lane(lane(h, i + 1));
            cfg.lane_rail[i] = rails[i];
            cfg.num_lanes = cfg.num_far_lanes = cfg.num_rails = i + 1;
            hwmc_engine_open(engines[h], &cfg);
        }
}

void Net::auth(const unsigned char *secret)
{
    lane_head = HWMC_AUTH + HWMC_WIRE_HEAD;
    for (uint32_t h = 0; h < hosts; h++) {
        hwmc_wires_cfg cfg = engines[h]->wires.cfg;

        seals.push_back(hwmc_auth_create(h, secret));
        cfg.integrity = HWMC_INTEGRITY_KEYED;
        cfg.auth = seals[h];
        cfg.lane = auth_lane(lane(h, 0));
        for (uint32_t i = 0; i < cfg.num_far_lanes; i++)
            cfg.lanes[i] = auth_lane(lane(h, i + 1));
        hwmc_engine_open(engines[h], &cfg);
    }
}

hwmc_lane *Net::auth_lane(Lane &lane)
{
    hwmc_auth_lane_params params = {};

    params.up.recv = hwmc_engine_on_lane;
    params.up.lost = hwmc_engine_on_lost;
    params.up.sent = hwmc_engine_on_sent;
    params.up.ctx = engines[lane.host];
    params.auth = seals[lane.host];
    params.counts = &counts[lane.host]->auth_lane;
    params.size = hosts;
    params.rank = lane.host;
    params.number = lane.index;
    lane.auth_lane = hwmc_auth_lane_open(&params, &lane.base);
    return lane.auth_lane;
}

void Net::lose_rail(uint32_t host, uint32_t rail)
{
    hwmc_rails *rails = &engines[host]->wires.rails;

    rails->one[rail].fabric = nullptr;
    rails->mask &= (uint8_t) ~(1u << rail);
}

Net::~Net()
{
    for (auto *e : engines) {
        hwmc_engine_close(e);
        hwmc_engine_destroy(e);
    }
    for (auto *s : seals)
        hwmc_auth_destroy(s);
}

hwmc_group_cfg Net::group_cfg(const std::vector<uint32_t> &members, const Tweak &tweak)
{
    hwmc_group_cfg cfg = {};

    cfg.context = 7;
    cfg.size = (uint32_t) members.size();
    cfg.world = members.data();
    cfg.key = 99;
    cfg.channels = 4;
    cfg.policy.first.period = 2;
    cfg.fanout = 2;
    cfg.piece_bytes = 1000;
    cfg.join_ns = 1000000000;
    cfg.probe_ns = 250000000;
    cfg.policy.stay = true;
    if (tweak)
        tweak(cfg);
    return cfg;
}

static hwmc_decline_cfg decline_cfg(const hwmc_group_cfg &cfg)
{
    hwmc_decline_cfg d = {};

    d.context = cfg.context;
    d.size = cfg.size;
    d.rank = cfg.rank;
    d.fanout = cfg.fanout;
    d.key = cfg.key;
    d.leader = cfg.world[0];
    hwmc_decline_list(&d);
    for (uint32_t i = 0; i < d.num_neighbours; i++)
        d.world[i] = cfg.world[d.neighbour[i]];
    return d;
}

hwmc_group *Net::begin(hwmc_group_cfg cfg, uint32_t rank)
{
    cfg.rank = rank;
    hwmc_engine *e = engines[cfg.world[rank]];
    hwmc_group *g = hwmc_group_create(&e->groups, &cfg, now);

    if (!g) {
        const hwmc_decline_cfg d = decline_cfg(cfg);

        hwmc_decline_begin(&e->groups, &d, now);
    }
    return g;
}

std::vector<hwmc_group *> Net::group(const std::vector<uint32_t> &members, const Tweak &tweak)
{
    std::vector<hwmc_group *> groups;
    const hwmc_group_cfg cfg = group_cfg(members, tweak);

    for (uint32_t r = 0; r < cfg.size; r++)
        groups.push_back(begin(cfg, r));
    return groups;
}

bool Net::step()
{
    bool any = false;

    for (uint32_t h = 0; h < hosts; h++)
        any = (!away.count(h) && hwmc_engine_progress(engines[h], now) > 0) || any;
    return any;
}

void Net::settle(uint64_t until)
{
    uint64_t end = now + until;

    for (;;) {
        uint64_t next = HWMC_NEVER;

        while (step())
            ;
        for (uint32_t h = 0; h < hosts; h++)
            if (!away.count(h))
                next = std::min(next, hwmc_engine_deadline(engines[h]));
        if (next > end)
            return;
        now = std::max(now, next);
    }
}

} // namespace mem
