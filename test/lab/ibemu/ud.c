/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Unreliable datagrams: one packet a message, which starts with 40 bytes of GRH where it is
 * received. What does not fit, has another key or finds no buffer is dropped without a word
 * (InfiniBand specification, 9.8.3).
 */
#include "qp.h"

#include <infiniband/opcode.h>

/* The send queue stops: state SQE, the rest is flushed. */
static void fail(struct em_qp *qp, enum ibv_wc_status status)
{
    em_qp_complete_send(qp, status);
    while (qp->sq.head != qp->sq.tail)
        em_qp_complete_send(qp, IBV_WC_WR_FLUSH_ERR);
    qp->attr.qp_state = qp->ibv.state = IBV_QPS_SQE;
}

static void make_packet(struct em_qp *qp, const struct em_port *port, const struct em_swqe *w,
                        struct em_packet *p)
{
    p->opcode = w->opcode == IBV_WR_SEND_WITH_IMM ? IBV_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE
                                                  : IBV_OPCODE_UD_SEND_ONLY;
    p->solicited = (w->flags & IBV_SEND_SOLICITED) != 0;
    p->dest_qpn = w->dest_qpn;
    p->qkey = w->qkey;
    p->src_qpn = qp->ibv.qp_num;
    p->imm_data = w->imm_data;
    p->psn = qp->sq.max_psn;
    p->len = w->len;
    em_path_address(port, &w->ah, p);
}

/* Sends what is queued. False: the wire had no room. */
bool em_ud_send(struct em_qp *qp)
{
    struct em_requester *sq = &qp->sq;

    while (sq->head != sq->tail && qp->attr.qp_state == IBV_QPS_RTS) {
        const struct em_swqe *w = &sq->ring[sq->head % sq->cap];
        struct em_port *port = em_qp_port(qp);
        struct em_packet p = {0};
        struct iovec iov[EM_SGE_MAX];
        int pieces = em_sgl_gather(qp->hca, qp->ibv.pd, &w->sgl, 0, w->len, iov);

        if (pieces < 0) {
            fail(qp, IBV_WC_LOC_PROT_ERR);
            break;
        }
        if (w->len > em_mtu_bytes(port->mtu)) {
            fail(qp, IBV_WC_LOC_LEN_ERR);
            break;
        }
        if (w->ah.port_num != port->num) {
            fail(qp, IBV_WC_LOC_QP_OP_ERR);
            break;
        }
        make_packet(qp, port, w, &p);
        if (!em_hca_transmit(qp->hca, port, &p, iov, pieces))
            return false;
        sq->max_psn = (sq->max_psn + 1) & 0xffffffu;
        em_qp_complete_send(qp, IBV_WC_SUCCESS);
    }
    return true;
}

void em_ud_receive(struct em_qp *qp, const struct em_packet *p)
{
    struct ibv_sge sge[EM_SGE_MAX];
    struct em_rwqe recv = {.sge = sge};
    struct em_rq *rq = qp->ibv.srq != NULL ? &((struct em_srq *) qp->ibv.srq)->rq : &qp->rq;
    const struct ibv_pd *pd = qp->ibv.srq != NULL ? qp->ibv.srq->pd : qp->ibv.pd;
    uint8_t grh[EM_GRH_BYTES];
    struct em_sgl l;
    struct ibv_wc wc;

    if (p->qkey != qp->attr.qkey) {
        qp->hca->count.dropped_qkey++;
        return;
    }
    if (!em_qp_take_recv(qp, &recv)) {
        qp->hca->count.dropped_no_recv++;
        return;
    }
    l = (struct em_sgl){recv.sge, recv.num_sge, false};
    if (em_sgl_len(&l) < EM_GRH_BYTES + p->len) {
        em_rq_untake(rq);
        qp->hca->count.dropped_no_recv++;
        return;
    }
    em_grh_encode(p, grh);
    wc = (struct ibv_wc){.wr_id = recv.wr_id,
                         .opcode = IBV_WC_RECV,
                         .byte_len = EM_GRH_BYTES + p->len,
                         .imm_data = p->imm_data,
                         .src_qp = p->src_qpn,
                         .slid = p->slid,
                         .sl = p->sl};
    if (p->has_grh)
        wc.wc_flags |= IBV_WC_GRH;
    if (em_opcode_flags(p->opcode) & EM_OP_IMM)
        wc.wc_flags |= IBV_WC_WITH_IMM;
    if (p->dest_qpn != EM_MULTICAST_QPN)
        wc.dlid_path_bits = (uint8_t) (p->dlid - em_qp_port(qp)->lid);
    wc.status = em_sgl_scatter(qp->hca, pd, &l, 0, grh, EM_GRH_BYTES);
    if (wc.status == IBV_WC_SUCCESS)
        wc.status = em_sgl_scatter(qp->hca, pd, &l, EM_GRH_BYTES, p->payload, p->len);
    em_qp_complete_recv(qp, &wc, p->solicited);
    if (wc.status != IBV_WC_SUCCESS)
        em_qp_to_error(qp);
}
