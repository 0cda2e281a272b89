/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The requester of a reliable connection: packets of the work requests, up to a window ahead of the
 * acknowledgements; going back to the oldest one that is missing after a timeout or a NAK
 * (InfiniBand specification, 9.7.5.1, 9.7.6). An RDMA read is asked for in chunks, of which each
 * takes the PSNs of its responses; a response also acknowledges everything before it.
 */
#include "qp.h"
#include "psn.h"

#include <infiniband/opcode.h>

/* Nanoseconds of the RNR timer codes (table 45). */
static uint64_t rnr_delay(unsigned code)
{
    static const uint16_t units[32] = {0,    1,    2,    3,     4,     6,     8,     12,
                                       16,   24,   32,   48,    64,    96,    128,   192,
                                       256,  384,  512,  768,   1024,  1536,  2048,  3072,
                                       4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

    return (code == 0 ? 65536u : units[code & 31u]) * (uint64_t) 10000u;
}

static struct em_swqe *wqe(struct em_requester *sq, uint32_t n)
{
    return &sq->ring[n % sq->cap];
}

void em_requester_start(struct em_qp *qp)
{
    struct em_requester *sq = &qp->sq;

    sq->una_psn = sq->snd_psn = sq->max_psn = qp->attr.sq_psn;
    sq->deadline = EM_NEVER;
}

static bool outstanding(const struct em_requester *sq)
{
    return sq->una_psn != sq->max_psn;
}

/* After RTS to SQD: everything that was started is complete. */
void em_requester_check_drained(struct em_qp *qp)
{
    if (!qp->attr.sq_draining || qp->sq.head != qp->sq.started)
        return;
    qp->attr.sq_draining = 0;
    if (qp->attr.en_sqd_async_notify)
        em_qp_event(qp, IBV_EVENT_SQ_DRAINED);
}

static void restart_timer(struct em_qp *qp, uint64_t now)
{
    struct em_requester *sq = &qp->sq;

    /* A code of 0 is no timeout at all. */
    if (!outstanding(sq) || qp->attr.timeout == 0)
        sq->deadline = EM_NEVER;
    else
        sq->deadline = now + ((uint64_t) 4096u << qp->attr.timeout);
}

uint64_t em_requester_deadline(const struct em_qp *qp)
{
    return qp->sq.rnr_until != 0 ? qp->sq.rnr_until : qp->sq.deadline;
}

/* Sends again from the oldest packet that is not acknowledged. */
static void go_back(struct em_qp *qp)
{
    struct em_requester *sq = &qp->sq;

    sq->snd_psn = sq->una_psn;
    sq->cur = sq->head;
    sq->rewound = true;
    qp->hca->count.retransmitted++;
    em_qp_activate(qp);
}

static void fail(struct em_qp *qp, enum ibv_wc_status status)
{
    em_qp_complete_send(qp, status);
    em_qp_to_error(qp);
}

/* The path is another one: what is outstanding was sent in vain, or would be answered there. */
void em_requester_restart(struct em_qp *qp)
{
    qp->sq.retry_left = qp->attr.retry_cnt;
    if (!outstanding(&qp->sq))
        return;
    go_back(qp);
    if (qp->sq.rnr_until == 0) {
        restart_timer(qp, em_hca_now(qp->hca));
        qp->hca->wire.timer(qp->hca->wire.arg, qp->sq.deadline);
    }
}

/* A packet was lost, or its acknowledgement: try again, on the other path if need be. */
static void retry(struct em_qp *qp, uint64_t now)
{
    struct em_requester *sq = &qp->sq;

    if (sq->retry_left > 0) {
        sq->retry_left--;
        go_back(qp);
        restart_timer(qp, now);
    } else if (!em_path_give_up(qp)) {
        fail(qp, IBV_WC_RETRY_EXC_ERR);
    }
}

void em_requester_timeout(struct em_qp *qp, uint64_t now)
{
    struct em_requester *sq = &qp->sq;

    if (sq->rnr_until != 0 && now >= sq->rnr_until) {
        sq->rnr_until = 0;
        restart_timer(qp, now);
        em_qp_activate(qp);
    } else if (now >= sq->deadline) {
        retry(qp, now);
    }
}

/* The next work request may be given PSNs. */
static bool may_start(const struct em_qp *qp, const struct em_swqe *w)
{
    if (qp->attr.qp_state != IBV_QPS_RTS)
        return false;
    if ((w->flags & IBV_SEND_FENCE) && qp->sq.reads > 0)
        return false;
    return w->opcode != IBV_WR_RDMA_READ || qp->sq.reads < qp->attr.max_rd_atomic;
}

static uint8_t opcode_of(const struct em_swqe *w, bool first, bool last)
{
    bool write = w->opcode == IBV_WR_RDMA_WRITE || w->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
    bool imm = w->opcode == IBV_WR_RDMA_WRITE_WITH_IMM || w->opcode == IBV_WR_SEND_WITH_IMM;
    uint8_t base = write ? IBV_OPCODE_RC_RDMA_WRITE_FIRST : IBV_OPCODE_RC_SEND_FIRST;

    /* Of both: first, middle, last, last with immediate data, only, only with immediate data. */
    if (first)
        return (uint8_t) (base + (!last ? 0 : imm ? 5 : 4));
    return (uint8_t) (base + (!last ? 1 : imm ? 3 : 2));
}

/* Makes packet `n` of a work request; for an RDMA read the request for what is missing from there,
 * and `*count` the responses. */
static void make_packet(const struct em_qp *qp, const struct em_swqe *w, uint32_t n,
                        uint32_t *count, struct em_packet *p)
{
    uint32_t mtu = em_mtu_bytes(qp->attr.path_mtu), offset = n * mtu, left = w->len - offset;

    *count = 1;
    if (w->opcode == IBV_WR_RDMA_READ) {
        /* Up to where the first request for this went: a repeated one has no new PSNs
         * (9.7.5.1.1). */
        *count = EM_READ_CHUNK - n % EM_READ_CHUNK;
        if (*count > w->packets - n)
            *count = w->packets - n;
        p->opcode = IBV_OPCODE_RC_RDMA_READ_REQUEST;
        p->remote_addr = w->remote_addr + offset;
        p->dma_len = left < *count * mtu ? left : *count * mtu;
        p->ack_req = true;
    } else {
        bool last = n + 1 == w->packets;

        p->opcode = opcode_of(w, n == 0, last);
        p->len = left < mtu ? left : mtu;
        p->remote_addr = w->remote_addr;
        p->dma_len = w->len;
        p->imm_data = w->imm_data;
        p->ack_req = last || n % EM_ACK_EVERY == EM_ACK_EVERY - 1;
        p->solicited = last && (w->flags & IBV_SEND_SOLICITED);
    }
    p->rkey = w->rkey;
    p->psn = em_psn_add(w->psn, n);
    p->dest_qpn = qp->attr.dest_qp_num;
    p->mig_req = qp->attr.path_mig_state == IBV_MIG_MIGRATED;
}

enum sent { SENT, BLOCKED, FAILED };

static enum sent send_one(struct em_qp *qp, struct em_swqe *w, uint32_t *count)
{
    uint32_t n = (uint32_t) em_psn_diff(qp->sq.snd_psn, w->psn);
    struct em_port *port = em_qp_port(qp);
    struct em_packet p = {0};
    struct iovec iov[EM_SGE_MAX];
    int pieces;

    make_packet(qp, w, n, count, &p);
    pieces = em_sgl_gather(qp->hca, qp->ibv.pd, &w->sgl,
                           (uint64_t) n * em_mtu_bytes(qp->attr.path_mtu), p.len, iov);
    if (pieces < 0)
        return FAILED;
    em_path_address(port, &qp->attr.ah_attr, &p);
    return em_hca_transmit(qp->hca, port, &p, iov, pieces) ? SENT : BLOCKED;
}

/* Gives the next work request its PSNs. */
static void start_wqe(struct em_requester *sq, struct em_swqe *w)
{
    w->psn = sq->snd_psn;
    sq->started++;
    if (w->opcode == IBV_WR_RDMA_READ)
        sq->reads++;
}

/* A work request that its own host forbids: it completes when those before it have. */
static void fail_local(struct em_qp *qp)
{
    if (qp->sq.cur == qp->sq.head)
        fail(qp, IBV_WC_LOC_PROT_ERR);
}

/* Sends what the window, and the wire, have room for. False: the wire had none. */
bool em_requester_send(struct em_qp *qp, uint64_t now)
{
    struct em_requester *sq = &qp->sq;

    while (sq->cur != sq->tail && sq->rnr_until == 0) {
        struct em_swqe *w = wqe(sq, sq->cur);
        uint32_t count;

        if (em_psn_diff(sq->snd_psn, sq->una_psn) >= (int32_t) EM_WINDOW)
            break;
        if (sq->cur == sq->started) {
            if (!may_start(qp, w))
                break;
            start_wqe(sq, w);
        }
        switch (send_one(qp, w, &count)) {
            case SENT:
                break;
            case BLOCKED:
                return false;
            case FAILED:
                fail_local(qp);
                return true;
        }
        sq->snd_psn = em_psn_add(sq->snd_psn, count);
        if (em_psn_diff(sq->snd_psn, sq->max_psn) > 0)
            sq->max_psn = sq->snd_psn;
        if (sq->snd_psn == em_psn_add(w->psn, w->packets))
            sq->cur++;
        if (sq->deadline == EM_NEVER) {
            restart_timer(qp, now);
            qp->hca->wire.timer(qp->hca->wire.arg, sq->deadline);
        }
    }
    return true;
}

/* Something new was acknowledged. */
static void made_progress(struct em_qp *qp, uint64_t now)
{
    struct em_requester *sq = &qp->sq;

    sq->retry_left = qp->attr.retry_cnt;
    sq->rnr_left = qp->attr.rnr_retry;
    sq->rewound = false;
    if (em_psn_diff(sq->snd_psn, sq->una_psn) < 0) {
        /* Acknowledged before it was sent again. */
        sq->snd_psn = sq->una_psn;
        sq->cur = sq->head;
    }
    restart_timer(qp, now);
    em_qp_activate(qp);
}

/* Completes what all packets before `psn` make up. True if it stopped at an RDMA read, of which the
 * responses must have been lost. */
static bool acknowledge(struct em_qp *qp, uint32_t psn, uint64_t now)
{
    struct em_requester *sq = &qp->sq;
    uint32_t before = sq->una_psn;
    bool stopped = false;

    if (em_psn_diff(psn, sq->una_psn) <= 0)
        return false;
    while (sq->head != sq->started) {
        const struct em_swqe *w = wqe(sq, sq->head);

        if (em_psn_diff(psn, w->psn) <= 0)
            break;
        if (w->opcode == IBV_WR_RDMA_READ) {
            stopped = true;
            if (em_psn_diff(w->psn, sq->una_psn) > 0)
                sq->una_psn = w->psn;
            break;
        }
        if (em_psn_diff(psn, em_psn_add(w->psn, w->packets)) < 0)
            break;
        em_qp_complete_send(qp, IBV_WC_SUCCESS);
    }
    if (!stopped)
        sq->una_psn = psn;
    if (sq->una_psn != before)
        made_progress(qp, now);
    return stopped;
}

/* The responder was not ready: try again after its timer. */
static void on_rnr(struct em_qp *qp, unsigned code, uint64_t now)
{
    struct em_requester *sq = &qp->sq;

    qp->hca->count.rnr_naks++;
    if (sq->rnr_left == 0) {
        fail(qp, IBV_WC_RNR_RETRY_EXC_ERR);
        return;
    }
    if (sq->rnr_left < 7)
        sq->rnr_left--;
    go_back(qp);
    sq->deadline = EM_NEVER;
    sq->rnr_until = now + rnr_delay(code);
    qp->hca->wire.timer(qp->hca->wire.arg, sq->rnr_until);
}

static void on_nak(struct em_qp *qp, const struct em_packet *p, uint64_t now)
{
    if ((p->syndrome & EM_SYNDROME_KIND) == EM_RNR_NAK) {
        on_rnr(qp, p->syndrome & 31u, now);
        return;
    }
    switch (p->syndrome) {
        case EM_NAK_SEQUENCE:
            qp->hca->count.sequence_naks++;
            if (!qp->sq.rewound)
                retry(qp, now);
            break;
        case EM_NAK_INVALID_REQUEST:
            fail(qp, IBV_WC_REM_INV_REQ_ERR);
            break;
        case EM_NAK_REMOTE_ACCESS:
            fail(qp, IBV_WC_REM_ACCESS_ERR);
            break;
        case EM_NAK_REMOTE_OPERATION:
            fail(qp, IBV_WC_REM_OP_ERR);
            break;
        default: /* reserved */
            break;
    }
}

static void on_acknowledge(struct em_qp *qp, const struct em_packet *p, uint64_t now)
{
    bool ack = (p->syndrome & EM_SYNDROME_KIND) == 0;
    bool lost = acknowledge(qp, ack ? em_psn_add(p->psn, 1) : p->psn, now);

    if (lost) {
        if (!qp->sq.rewound)
            go_back(qp);
    } else if (!ack && em_psn_diff(p->psn, qp->sq.una_psn) == 0 && outstanding(&qp->sq)) {
        on_nak(qp, p, now);
    }
}

/* The data of an RDMA read. */
static void on_read_response(struct em_qp *qp, const struct em_packet *p, uint64_t now)
{
    struct em_requester *sq = &qp->sq;
    uint32_t mtu = em_mtu_bytes(qp->attr.path_mtu), n, left;
    const struct em_swqe *w;
    enum ibv_wc_status status;

    if (acknowledge(qp, p->psn, now) && p->psn != sq->una_psn) {
        if (!sq->rewound)
            go_back(qp);
        return;
    }
    if (p->psn != sq->una_psn || sq->head == sq->started)
        return;
    w = wqe(sq, sq->head);
    n = (uint32_t) em_psn_diff(p->psn, w->psn);
    if (w->opcode != IBV_WR_RDMA_READ || n >= w->packets)
        return;
    left = w->len - n * mtu;
    if (p->len != (left < mtu ? left : mtu)) {
        fail(qp, IBV_WC_BAD_RESP_ERR);
        return;
    }
    status = em_sgl_scatter(qp->hca, qp->ibv.pd, &w->sgl, (uint64_t) n * mtu, p->payload, p->len);
    if (status != IBV_WC_SUCCESS) {
        fail(qp, status);
        return;
    }
    sq->una_psn = em_psn_add(sq->una_psn, 1);
    if (n + 1 == w->packets)
        em_qp_complete_send(qp, IBV_WC_SUCCESS);
    made_progress(qp, now);
}

/* An acknowledgement, or data of an RDMA read. */
void em_requester_receive(struct em_qp *qp, const struct em_packet *p, uint64_t now)
{
    struct em_requester *sq = &qp->sq;

    /* Of what was never sent, or acknowledged long ago. */
    if (em_psn_diff(p->psn, sq->max_psn) >= 0 || em_psn_diff(p->psn, sq->una_psn) < 0)
        return;
    if (p->opcode == IBV_OPCODE_RC_ACKNOWLEDGE)
        on_acknowledge(qp, p, now);
    else
        on_read_response(qp, p, now);
}
