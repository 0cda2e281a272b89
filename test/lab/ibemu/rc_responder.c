/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The responder of a reliable connection: requests in the order of their PSNs, each once;
 * duplicates are acknowledged again and RDMA reads answered again, a gap is answered with one NAK
 * (InfiniBand specification, 9.7.5.1, 9.7.7.1). What it has to say is sent later, so that one
 * acknowledgement does for all packets that came together.
 */
#include "qp.h"
#include "psn.h"

#include <infiniband/opcode.h>

static void reply(struct em_qp *qp, unsigned syndrome, uint32_t psn)
{
    struct em_responder *r = &qp->resp;

    r->reply_due = true;
    r->syndrome = (uint8_t) syndrome;
    r->reply_psn = psn;
    em_qp_activate(qp);
}

static void acknowledge(struct em_qp *qp)
{
    reply(qp, EM_ACK, em_psn_add(qp->resp.exp_psn, EM_PSN_MASK)); /* the one before */
}

/* The request cannot be served: NAK, and the end of this QP. What is queued is flushed after the
 * reply has gone. */
static void refuse(struct em_qp *qp, unsigned syndrome, uint32_t psn, enum ibv_event_type event)
{
    reply(qp, syndrome, psn);
    qp->resp.num_jobs = 0;
    em_responder_send(qp);
    em_qp_event(qp, event);
    em_qp_to_error(qp);
}

/* The receive request in progress fails: its completion, the NAK, and the end. */
static void fail_recv(struct em_qp *qp, const struct em_packet *p, enum ibv_wc_status status)
{
    struct ibv_wc wc = {.wr_id = qp->resp.recv.wr_id, .status = status, .opcode = IBV_WC_RECV};

    qp->resp.message = EM_MESSAGE_NONE;
    em_qp_complete_recv(qp, &wc, false);
    refuse(qp, status == IBV_WC_LOC_LEN_ERR ? EM_NAK_INVALID_REQUEST : EM_NAK_REMOTE_OPERATION,
           p->psn, IBV_EVENT_QP_REQ_ERR);
}

static void not_ready(struct em_qp *qp, const struct em_packet *p)
{
    reply(qp, EM_RNR_NAK + qp->attr.min_rnr_timer, p->psn);
    qp->resp.nak_sent = true;
}

static void complete(struct em_qp *qp, const struct em_packet *p, bool write, uint32_t len)
{
    struct ibv_wc wc = {
        .wr_id = qp->resp.recv.wr_id,
        .status = IBV_WC_SUCCESS,
        .opcode = write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV,
        .byte_len = len,
        .src_qp = qp->attr.dest_qp_num,
        .slid = p->slid,
        .sl = p->sl,
        .dlid_path_bits = (uint8_t) (p->dlid - em_qp_port(qp)->lid),
    };

    if (em_opcode_flags(p->opcode) & EM_OP_IMM) {
        wc.wc_flags = IBV_WC_WITH_IMM;
        wc.imm_data = p->imm_data;
    }
    em_qp_complete_recv(qp, &wc, p->solicited);
}

/* The request was served as far as this packet goes. */
static void advance(struct em_qp *qp, const struct em_packet *p, uint32_t psns)
{
    struct em_responder *r = &qp->resp;

    r->exp_psn = em_psn_add(r->exp_psn, psns);
    r->nak_sent = false;
    if (em_opcode_flags(p->opcode) & EM_OP_END) {
        r->msn = em_psn_add(r->msn, 1);
        r->message = EM_MESSAGE_NONE;
    }
}

static void on_send(struct em_qp *qp, const struct em_packet *p, unsigned flags)
{
    struct em_responder *r = &qp->resp;
    struct em_sgl l;
    enum ibv_wc_status status;

    if (flags & EM_OP_START) {
        if (!em_qp_take_recv(qp, &r->recv)) {
            not_ready(qp, p);
            return;
        }
        r->message = EM_MESSAGE_SEND;
        r->offset = 0;
    }
    l = (struct em_sgl){r->recv.sge, r->recv.num_sge, false};
    status = em_sgl_scatter(qp->hca, qp->ibv.srq ? qp->ibv.srq->pd : qp->ibv.pd, &l, r->offset,
                            p->payload, p->len);
    if (status != IBV_WC_SUCCESS) {
        fail_recv(qp, p, status);
        return;
    }
    r->offset += p->len;
    if (flags & EM_OP_END)
        complete(qp, p, false, r->offset);
    advance(qp, p, 1);
}

static void on_write(struct em_qp *qp, const struct em_packet *p, unsigned flags)
{
    struct em_responder *r = &qp->resp;
    bool imm = (flags & EM_OP_IMM) != 0;
    void *to = NULL;

    if (flags & EM_OP_START) {
        r->write_addr = p->remote_addr;
        r->write_rkey = p->rkey;
        r->write_len = p->dma_len;
        r->offset = 0;
    }
    if (p->len > r->write_len - r->offset ||
        ((flags & EM_OP_END) && p->len != r->write_len - r->offset)) {
        refuse(qp, EM_NAK_INVALID_REQUEST, p->psn, IBV_EVENT_QP_REQ_ERR);
        return;
    }
    /* 9.7.4.1.5: a message without data needs no key. The whole range is checked at the start. */
    if (r->write_len > 0)
        to = em_mr_find(qp->hca, qp->ibv.pd, r->write_rkey, r->write_addr, r->write_len,
                        IBV_ACCESS_REMOTE_WRITE);
    if (!(qp->attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) || (r->write_len > 0 && to == NULL)) {
        refuse(qp, EM_NAK_REMOTE_ACCESS, p->psn, IBV_EVENT_QP_ACCESS_ERR);
        return;
    }
    if (imm && !em_qp_take_recv(qp, &r->recv)) {
        not_ready(qp, p);
        return;
    }
    if (p->len > 0)
        memcpy((char *) to + r->offset, p->payload, p->len);
    r->offset += p->len;
    r->message = EM_MESSAGE_WRITE;
    if (imm)
        complete(qp, p, true, r->write_len);
    advance(qp, p, 1);
}

static bool add_job(struct em_qp *qp, const struct em_packet *p)
{
    struct em_responder *r = &qp->resp;

    if (r->num_jobs == EM_READS_MAX)
        return false;
    r->jobs[(r->first_job + r->num_jobs++) % EM_READS_MAX] =
        (struct em_read_job){p->psn, p->remote_addr, p->rkey, p->dma_len, true};
    em_qp_activate(qp);
    return true;
}

static bool may_read(const struct em_qp *qp, const struct em_packet *p)
{
    return (qp->attr.qp_access_flags & IBV_ACCESS_REMOTE_READ) &&
           (p->dma_len == 0 || em_mr_find(qp->hca, qp->ibv.pd, p->rkey, p->remote_addr, p->dma_len,
                                          IBV_ACCESS_REMOTE_READ) != NULL);
}

static void on_read(struct em_qp *qp, const struct em_packet *p)
{
    uint32_t mtu = em_mtu_bytes(qp->attr.path_mtu);

    if (qp->attr.max_dest_rd_atomic == 0) {
        refuse(qp, EM_NAK_INVALID_REQUEST, p->psn, IBV_EVENT_QP_REQ_ERR);
    } else if (!may_read(qp, p)) {
        refuse(qp, EM_NAK_REMOTE_ACCESS, p->psn, IBV_EVENT_QP_ACCESS_ERR);
    } else if (add_job(qp, p)) { /* else it comes again */
        advance(qp, p, p->dma_len == 0 ? 1 : (p->dma_len + mtu - 1) / mtu);
    }
}

/* A packet that came before: C9-105 ff. */
static void on_duplicate(struct em_qp *qp, const struct em_packet *p)
{
    qp->hca->count.duplicates++;
    if (p->opcode == IBV_OPCODE_RC_RDMA_READ_REQUEST) {
        if (may_read(qp, p))
            add_job(qp, p);
    } else if (!qp->resp.reply_due || !qp->resp.nak_sent) { /* a NAK says as much, and more */
        acknowledge(qp);
    }
}

/* Whether the packet's place in its message fits what came before, and its length the MTU. */
static bool in_place(const struct em_qp *qp, const struct em_packet *p, unsigned flags)
{
    uint32_t mtu = em_mtu_bytes(qp->attr.path_mtu);

    if ((flags & EM_OP_START) != (qp->resp.message == EM_MESSAGE_NONE ? EM_OP_START : 0))
        return false;
    if (!(flags & EM_OP_START) &&
        (qp->resp.message == EM_MESSAGE_WRITE) != ((flags & EM_OP_WRITE) != 0))
        return false;
    return flags & EM_OP_END ? p->len <= mtu : p->len == mtu;
}

/* A request. */
void em_responder_receive(struct em_qp *qp, const struct em_packet *p)
{
    struct em_responder *r = &qp->resp;
    int32_t d = em_psn_diff(p->psn, r->exp_psn);
    unsigned flags = em_opcode_flags(p->opcode);

    if (d > 0) {
        if (!r->nak_sent)
            reply(qp, EM_NAK_SEQUENCE, r->exp_psn);
        r->nak_sent = true;
        return;
    }
    if (d < 0) {
        on_duplicate(qp, p);
        return;
    }
    if (!in_place(qp, p, flags)) {
        refuse(qp, EM_NAK_INVALID_REQUEST, p->psn, IBV_EVENT_QP_REQ_ERR);
        return;
    }
    if (p->opcode == IBV_OPCODE_RC_RDMA_READ_REQUEST)
        on_read(qp, p);
    else if (flags & EM_OP_WRITE)
        on_write(qp, p, flags);
    else
        on_send(qp, p, flags);
    if (p->ack_req && p->opcode != IBV_OPCODE_RC_RDMA_READ_REQUEST && r->exp_psn != p->psn)
        acknowledge(qp);
}

static bool transmit(struct em_qp *qp, struct em_packet *p, const struct iovec *iov, int n)
{
    struct em_port *port = em_qp_port(qp);

    p->dest_qpn = qp->attr.dest_qp_num;
    p->mig_req = qp->attr.path_mig_state == IBV_MIG_MIGRATED;
    p->msn = qp->resp.msn;
    em_path_address(port, &qp->attr.ah_attr, p);
    return em_hca_transmit(qp->hca, port, p, iov, n);
}

/* Sends the next packet of a read's answer. */
static bool answer(struct em_qp *qp, struct em_read_job *j)
{
    uint32_t mtu = em_mtu_bytes(qp->attr.path_mtu);
    struct em_packet p = {.psn = j->psn, .syndrome = EM_ACK, .len = j->left < mtu ? j->left : mtu};
    struct iovec iov = {NULL, p.len};
    bool last = j->left == p.len;

    if (p.len > 0) {
        iov.iov_base =
            em_mr_find(qp->hca, qp->ibv.pd, j->rkey, j->addr, p.len, IBV_ACCESS_REMOTE_READ);
        if (iov.iov_base == NULL) {
            j->left = 0; /* taken away meanwhile; if it is asked for again, that is refused */
            j->first = false;
            return true;
        }
    }
    p.opcode = (uint8_t) (j->first ? (last ? IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY
                                           : IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST)
                                   : (last ? IBV_OPCODE_RC_RDMA_READ_RESPONSE_LAST
                                           : IBV_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE));
    if (!transmit(qp, &p, &iov, p.len > 0))
        return false;
    j->first = false;
    j->psn = em_psn_add(j->psn, 1);
    j->addr += p.len;
    j->left -= p.len;
    return true;
}

/* Sends what is due. False: the wire has no room. */
bool em_responder_send(struct em_qp *qp)
{
    struct em_responder *r = &qp->resp;

    while (r->num_jobs > 0) {
        struct em_read_job *j = &r->jobs[r->first_job];

        if (!answer(qp, j))
            return false;
        if (j->left == 0) {
            r->first_job = (r->first_job + 1) % EM_READS_MAX;
            r->num_jobs--;
        }
    }
    if (r->reply_due) {
        struct em_packet p = {
            .opcode = IBV_OPCODE_RC_ACKNOWLEDGE, .psn = r->reply_psn, .syndrome = r->syndrome};

        if (!transmit(qp, &p, NULL, 0))
            return false;
        r->reply_due = false;
    }
    return true;
}
