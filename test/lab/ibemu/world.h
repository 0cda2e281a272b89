/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Two HCAs and a network between them, without sockets, threads or a clock of the machine: packets
 * are encoded, wait in a queue, meet their fate, are decoded and received; when nothing is left to
 * do, time jumps to the next timer. HCA `i` is host i + 1; its port n has the address 10.77.(n -
 * 1).(i + 1).
 */
#ifndef HWMC_TEST_LAB_IBEMU_WORLD_H_INCLUDED
#define HWMC_TEST_LAB_IBEMU_WORLD_H_INCLUDED

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include <rdma/rdma_cma.h>

extern "C" {
#include "qp.h"
#include "mcast.h"
#include "device.h"
}

enum class Fate { Deliver, Lose, Twice, Late };

struct Frame {
    int from, port; /* HCA and port that it left by */
    bool multicast;
    std::vector<uint8_t> bytes;
};

class World {
  public:
    explicit World(unsigned lmc = 0, enum ibv_mtu mtu = IBV_MTU_1024);
    ~World();

    em_hca &hca(int i)
    {
        return *hcas[i];
    }
    ibv_context *context(int i)
    {
        return &contexts[i].verbs.context;
    }

    /* Until nothing is on its way and no timer is due before `limit` ns from now. */
    void run(uint64_t limit = 60000000000u);

    /* Packets only: until none is on its way. */
    void deliver();

    /* The next event of a context, or -1. */
    int event(int i, void **object = nullptr);

    std::function<Fate(const em_packet &, const Frame &)> fate;
    uint64_t now = 1000000000u;
    int room = 1 << 30; /* packets that the wire takes before it is full */

  private:
    bool step();
    void receive(const Frame &f);
    static bool send(void *arg, int port, const em_packet *p, const iovec *iov, int n);

    struct End {
        World *world;
        int index;
    };
    End ends[2];
    std::unique_ptr<em_hca> hcas[2];
    em_context contexts[2];
    std::deque<Frame> queue;
};

/* A QP of one HCA with what it needs, and a buffer of its own that is registered for everything. */
class Side {
  public:
    Side(World &w, int i, ibv_qp_type type = IBV_QPT_RC, ibv_srq *srq = nullptr,
         ibv_pd *pd = nullptr);
    ~Side();
    Side(const Side &) = delete;

    /* States of an RC QP, with path `port` of both, towards the other side. */
    int init(int port = 1);
    int rtr(const Side &peer, int path_bits = 0);
    int rts(uint8_t timeout = 14, uint8_t retry = 7, uint8_t rnr_retry = 7);
    int load_alternate(const Side &peer, int port, int path_bits = 0);
    int mig(ibv_mig_state state);
    ibv_mig_state mig_state() const;
    int state() const;
    ibv_ah_attr path_to(const Side &peer, int port, int path_bits = 0) const;

    int send(size_t len, size_t offset = 0, unsigned flags = IBV_SEND_SIGNALED,
             ibv_wr_opcode opcode = IBV_WR_SEND, uint64_t raddr = 0, uint32_t rkey = 0);
    int recv(size_t len, size_t offset = 0);
    std::vector<ibv_wc> poll();

    World &world;
    int index;
    ibv_pd *pd;
    bool own_pd;
    ibv_cq *cq;
    ibv_qp *qp;
    ibv_mr *mr;
    std::vector<uint8_t> buffer;
    uint32_t psn;
    uint64_t next_id = 1;
    uint64_t recv_id = 1000000;
};

/* Two RC sides that are connected. */
void connect(Side &a, Side &b, uint8_t timeout = 14, uint8_t retry = 7, uint8_t rnr_retry = 7);

#endif /* HWMC_TEST_LAB_IBEMU_WORLD_H_INCLUDED */
