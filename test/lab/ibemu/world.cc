/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The network of world.h, and sides that connect over it.
 */
#include "world.h"

#include <gtest/gtest.h>

#include <cstring>

namespace {

int no_member(void *, int, uint16_t, bool)
{
    return 0;
}

void no_timer(void *, uint64_t)
{
}

} // namespace

bool World::send(void *arg, int port, const em_packet *p, const iovec *iov, int n)
{
    End *end = static_cast<End *>(arg);
    World *w = end->world;
    Frame f = {end->index, port, p->dest_qpn == EM_MULTICAST_QPN, {}};
    uint8_t head[EM_HEADERS_MAX];

    if (w->room == 0)
        return false;
    w->room--;
    f.bytes.assign(head, head + em_packet_encode(p, head));
    for (int i = 0; i < n; i++) {
        const uint8_t *from = static_cast<const uint8_t *>(iov[i].iov_base);

        f.bytes.insert(f.bytes.end(), from, from + iov[i].iov_len);
    }
    w->queue.push_back(f);
    return true;
}

World::World(unsigned lmc, enum ibv_mtu mtu)
{
    memset(static_cast<void *>(contexts), 0, sizeof(contexts));
    for (int i = 0; i < 2; i++) {
        hcas[i] = std::make_unique<em_hca>();
        em_hca *h = hcas[i].get();

        em_hca_init(h);
        h->slot = 1 + (uint32_t) i;
        h->num_ports = 2;
        for (int k = 0; k < 2; k++) {
            h->ports[k].num = k + 1;
            h->ports[k].addr = 0x0a4d0001u + ((uint32_t) k << 8) + (uint32_t) i;
            h->ports[k].lmc = (uint8_t) lmc;
            h->ports[k].mtu = mtu;
            h->ports[k].up = true;
            em_port_assign(&h->ports[k]);
        }
        ends[i] = {this, i};
        h->wire = {send, no_member, no_timer,
                   [](void *arg) { return static_cast<End *>(arg)->world->now; }, &ends[i]};
        em_context_init(&contexts[i], h);
        TAILQ_INSERT_TAIL(&h->contexts, &contexts[i], link);
    }
}

World::~World()
{
    for (auto &c : contexts)
        em_fdqueue_fini(&c.async);
}

void World::receive(const Frame &f)
{
    const em_port &out = hcas[f.from]->ports[f.port - 1];
    em_packet p;

    ASSERT_TRUE(em_packet_decode(&p, f.bytes.data(), f.bytes.size()));
    for (auto &h : hcas) {
        em_port *in = &h->ports[f.port - 1];

        if (f.multicast || em_port_addr_of_lid(&out, p.dlid) == in->addr)
            em_hca_receive(h.get(), in, &p, now);
    }
    for (auto &h : hcas)
        em_hca_send(h.get(), now);
}

void World::deliver()
{
    while (!queue.empty()) {
        Frame f = queue.front();
        em_packet p;

        queue.pop_front();
        ASSERT_TRUE(em_packet_decode(&p, f.bytes.data(), f.bytes.size()));
        switch (fate ? fate(p, f) : Fate::Deliver) {
            case Fate::Lose:
                break;
            case Fate::Twice:
                receive(f);
                [[fallthrough]];
            case Fate::Deliver:
                receive(f);
                break;
            case Fate::Late:
                queue.push_back(f);
                break;
        }
    }
}

void World::run(uint64_t limit)
{
    const uint64_t end = now + limit;

    for (;;) {
        uint64_t next = EM_NEVER;

        deliver();
        for (auto &h : hcas)
            next = std::min(next, em_hca_run_timers(h.get(), now));
        for (auto &h : hcas)
            em_hca_send(h.get(), now);
        if (!queue.empty())
            continue;
        if (next == EM_NEVER || next > end)
            return;
        now = std::max(now, next);
    }
}

int World::event(int i, void **object)
{
    em_event *e = reinterpret_cast<em_event *>(em_fdqueue_pop(&contexts[i].async));
    int type;

    if (e == nullptr)
        return -1;
    type = e->event.event_type;
    if (object != nullptr)
        *object = e->event.element.qp;
    free(e);
    return type;
}

Side::Side(World &w, int i, ibv_qp_type type, ibv_srq *srq, ibv_pd *domain)
    : world(w), index(i), own_pd(domain == nullptr), buffer(1 << 20), psn(0xfffff0u + (uint32_t) i)
{
    ibv_qp_init_attr init = {};

    pd = own_pd ? ibv_alloc_pd(w.context(i)) : domain;
    cq = ibv_create_cq(w.context(i), 4096, nullptr, nullptr, 0);
    init.send_cq = init.recv_cq = cq;
    init.srq = srq;
    init.cap = {256, 256, 4, 4, 256};
    init.qp_type = type;
    qp = ibv_create_qp(pd, &init);
    mr = ibv_reg_mr(pd, buffer.data(), buffer.size(),
                    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
}

Side::~Side()
{
    EXPECT_EQ(0, ibv_destroy_qp(qp));
    EXPECT_EQ(0, ibv_destroy_cq(cq));
    EXPECT_EQ(0, ibv_dereg_mr(mr));
    if (own_pd) {
        EXPECT_EQ(0, ibv_dealloc_pd(pd));
    }
}

int Side::init(int port)
{
    ibv_qp_attr a = {};
    int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

    a.qp_state = IBV_QPS_INIT;
    a.port_num = (uint8_t) port;
    a.qkey = 0x11;
    a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    return ibv_modify_qp(qp, &a,
                         mask | (qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
}

ibv_ah_attr Side::path_to(const Side &peer, int port, int path_bits) const
{
    ibv_ah_attr ah = {};

    ah.dlid = (uint16_t) (peer.world.hca(peer.index).ports[port - 1].lid + path_bits);
    ah.src_path_bits = (uint8_t) path_bits;
    ah.port_num = (uint8_t) port;
    return ah;
}

int Side::rtr(const Side &peer, int path_bits)
{
    ibv_qp_attr a = {};

    a.qp_state = IBV_QPS_RTR;
    if (qp->qp_type == IBV_QPT_UD)
        return ibv_modify_qp(qp, &a, IBV_QP_STATE);
    a.ah_attr = path_to(peer, reinterpret_cast<em_qp *>(qp)->attr.port_num, path_bits);
    a.path_mtu = world.hca(index).ports[0].mtu;
    a.dest_qp_num = peer.qp->qp_num;
    a.rq_psn = peer.psn;
    a.max_dest_rd_atomic = 4;
    a.min_rnr_timer = 1;
    return ibv_modify_qp(qp, &a,
                         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                             IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

int Side::rts(uint8_t timeout, uint8_t retry, uint8_t rnr_retry)
{
    ibv_qp_attr a = {};
    int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

    a.qp_state = IBV_QPS_RTS;
    a.sq_psn = psn;
    a.timeout = timeout;
    a.retry_cnt = retry;
    a.rnr_retry = rnr_retry;
    a.max_rd_atomic = 4;
    if (qp->qp_type != IBV_QPT_UD)
        mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    return ibv_modify_qp(qp, &a, mask);
}

int Side::load_alternate(const Side &peer, int port, int path_bits)
{
    ibv_qp_attr a = {};

    a.alt_ah_attr = path_to(peer, port, path_bits);
    a.alt_port_num = (uint8_t) port;
    a.alt_timeout = 14;
    return ibv_modify_qp(qp, &a, IBV_QP_ALT_PATH);
}

int Side::mig(ibv_mig_state to)
{
    ibv_qp_attr a = {};

    a.path_mig_state = to;
    return ibv_modify_qp(qp, &a, IBV_QP_PATH_MIG_STATE);
}

ibv_mig_state Side::mig_state() const
{
    ibv_qp_attr a = {};
    ibv_qp_init_attr init = {};

    EXPECT_EQ(0, ibv_query_qp(qp, &a, IBV_QP_PATH_MIG_STATE, &init));
    return a.path_mig_state;
}

int Side::state() const
{
    return qp->state;
}

int Side::send(size_t len, size_t offset, unsigned flags, ibv_wr_opcode opcode, uint64_t raddr,
               uint32_t rkey)
{
    ibv_sge sge = {reinterpret_cast<uint64_t>(buffer.data()) + offset, (uint32_t) len, mr->lkey};
    ibv_send_wr wr = {}, *bad;

    wr.wr_id = next_id++;
    wr.sg_list = &sge;
    wr.num_sge = len > 0;
    wr.opcode = opcode;
    wr.send_flags = flags;
    wr.imm_data = 0x12345678;
    wr.wr.rdma.remote_addr = raddr;
    wr.wr.rdma.rkey = rkey;
    return ibv_post_send(qp, &wr, &bad);
}

int Side::recv(size_t len, size_t offset)
{
    ibv_sge sge = {reinterpret_cast<uint64_t>(buffer.data()) + offset, (uint32_t) len, mr->lkey};
    ibv_recv_wr wr = {}, *bad;

    wr.wr_id = recv_id++;
    wr.sg_list = &sge;
    wr.num_sge = len > 0;
    return qp->srq != nullptr ? ibv_post_srq_recv(qp->srq, &wr, &bad)
                              : ibv_post_recv(qp, &wr, &bad);
}

std::vector<ibv_wc> Side::poll()
{
    std::vector<ibv_wc> all;
    ibv_wc wc;

    while (ibv_poll_cq(cq, 1, &wc) > 0)
        all.push_back(wc);
    return all;
}

void connect(Side &a, Side &b, uint8_t timeout, uint8_t retry, uint8_t rnr_retry)
{
    ASSERT_EQ(0, a.init());
    ASSERT_EQ(0, b.init());
    ASSERT_EQ(0, a.rtr(b));
    ASSERT_EQ(0, b.rtr(a));
    ASSERT_EQ(0, a.rts(timeout, retry, rnr_retry));
    ASSERT_EQ(0, b.rts(timeout, retry, rnr_retry));
}
