/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * verbs_recv: the receive queue of the verbs fabric: as many slots as its window has datagrams. A
 * slot is posted, or holds a datagram that came (in `wc`), or one that the caller looks at (given),
 * or is idle; idle ones are posted again in batches.
 */
#ifndef HWMC_NETMOD_FABRIC_VERBS_RECV_H_INCLUDED
#define HWMC_NETMOD_FABRIC_VERBS_RECV_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "../../../../../mpi/coll/bcast_hw/port/fabric.h"
#include "verbs_address.h"

#define HWMC_VERBS_RECV_BATCH 64

struct hwmc_verbs_recv {
    struct ibv_qp *qp;
    struct ibv_cq *cq;
    struct ibv_mr *mr;
    unsigned char *data; /* num slots: route header, then payload */
    size_t slot_bytes;
    uint32_t num;
    struct ibv_recv_wr *wr;           /* of each slot; wr_id is its index */
    struct ibv_sge *sge;              /* of each slot */
    struct ibv_recv_wr *idle, *given; /* chains */
    uint32_t num_idle;
    struct ibv_wc *wc; /* completions taken, of other queue pairs too; wc_most at most */
    int wc_most;
    int wc_num;
    int wc_at;   /* the first one not looked at; == wc_num: none */
    bool broken; /* a receive failed: nothing more comes */
};

/* Of a slot: it begins with a cache line. */
static inline size_t hwmc_verbs_slot_bytes(size_t max_datagram)
{
    return (HWMC_VERBS_GRH + max_datagram + 63) / 64 * 64;
}

/* A datagram that came: its bytes after the route header, valid until given back. */
struct hwmc_verbs_came {
    const void *grh; /* HWMC_VERBS_GRH bytes */
    const unsigned char *data;
    size_t len;
    uint32_t src_qp;
};

/* The datagram of a completion without error; `slot` is where it is. */
static inline struct hwmc_verbs_came hwmc_verbs_came_to(const unsigned char *slot,
                                                        const struct ibv_wc *wc)
{
    const bool has_route = wc->byte_len > HWMC_VERBS_GRH && (wc->wc_flags & IBV_WC_GRH);

    return (struct hwmc_verbs_came){.grh = slot,
                                    .data = slot + HWMC_VERBS_GRH,
                                    .len = has_route ? wc->byte_len - HWMC_VERBS_GRH : 0,
                                    .src_qp = wc->src_qp};
}

/* Allocates and registers `num` slots for datagrams of up to `max_datagram` bytes; `others`:
 * requests of other queue pairs that complete to the same queue. ERR_NOMEM; ERR_LIMIT: no more
 * memory can be locked. */
int hwmc_verbs_recv_open(struct hwmc_verbs_recv *r, struct ibv_pd *pd, uint32_t num,
                         size_t max_datagram, uint32_t others);

/* Posts idle slots, if they are many or `all`. ERR_DEVICE: none can be. */
int hwmc_verbs_recv_post(struct hwmc_verbs_recv *r, bool all);

/* Takes completions, if none wait. True: some wait. */
bool hwmc_verbs_recv_look(struct hwmc_verbs_recv *r);

/* Takes as many completions as there are, behind those that wait. */
void hwmc_verbs_recv_gather(struct hwmc_verbs_recv *r);

/* The next completion of those that wait, as a copy: false when there is none. */
bool hwmc_verbs_recv_next(struct hwmc_verbs_recv *r, struct ibv_wc *wc);

/* The datagram of a completion of this queue pair: false if there is none. Its slot is given. */
bool hwmc_verbs_recv_take(struct hwmc_verbs_recv *r, const struct ibv_wc *wc,
                          struct hwmc_verbs_came *came);

/* All given slots are idle. */
void hwmc_verbs_recv_give_back(struct hwmc_verbs_recv *r);

/* After the queue pair is gone. */
void hwmc_verbs_recv_close(struct hwmc_verbs_recv *r);

#endif /* HWMC_NETMOD_FABRIC_VERBS_RECV_H_INCLUDED */
