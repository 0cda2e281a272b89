/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Queue pairs: making and destroying them, posting, completing, flushing.
 */
#include "qp.h"
#include "device.h"

#include <errno.h>
#include <stdlib.h>

static int check_init(const struct ibv_pd *pd, const struct ibv_qp_init_attr *init)
{
    const struct ibv_qp_cap *cap = &init->cap;

    if (init->qp_type != IBV_QPT_RC && init->qp_type != IBV_QPT_UD)
        return EOPNOTSUPP;
    if (init->send_cq == NULL || init->recv_cq == NULL)
        return EINVAL;
    if (init->send_cq->context != pd->context || init->recv_cq->context != pd->context)
        return EINVAL;
    if (cap->max_send_wr > EM_WR_MAX || cap->max_send_sge > EM_SGE_MAX ||
        cap->max_inline_data > EM_INLINE_MAX)
        return EINVAL;
    if (init->srq == NULL && (cap->max_recv_wr > EM_WR_MAX || cap->max_recv_sge > EM_SGE_MAX))
        return EINVAL;
    return 0;
}

static int init_queues(struct em_qp *qp, const struct ibv_qp_init_attr *init)
{
    struct em_requester *sq = &qp->sq;
    size_t cap = init->cap.max_send_wr;
    /* Inline data is one piece, also where the QP was made for none. */
    size_t pieces = init->cap.max_send_sge > 0 ? init->cap.max_send_sge : 1;

    sq->cap = (uint32_t) cap;
    sq->ring = calloc(cap + 1, sizeof(*sq->ring));
    sq->sges = calloc((cap + 1) * pieces, sizeof(*sq->sges));
    sq->inlines = calloc(cap + 1, init->cap.max_inline_data + 1u);
    if (sq->ring == NULL || sq->sges == NULL || sq->inlines == NULL)
        return ENOMEM;
    for (size_t i = 0; i < cap; i++)
        sq->ring[i].sgl.sge = sq->sges + i * pieces;
    qp->resp.recv.sge = qp->resp.recv_sge;
    return em_rq_init(&qp->rq, init->srq == NULL ? init->cap.max_recv_wr : 0,
                      init->cap.max_recv_sge);
}

static void free_qp(struct em_qp *qp)
{
    free(qp->sq.ring);
    free(qp->sq.sges);
    free(qp->sq.inlines);
    em_rq_fini(&qp->rq);
    free(qp);
}

static void count_users(struct em_qp *qp, int n)
{
    ((struct em_pd *) qp->ibv.pd)->users += n;
    ((struct em_cq *) qp->ibv.send_cq)->users += n;
    ((struct em_cq *) qp->ibv.recv_cq)->users += n;
    if (qp->ibv.srq != NULL)
        ((struct em_srq *) qp->ibv.srq)->users += n;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
    struct em_hca *hca = em_context_of(pd->context)->hca;
    struct em_qp *qp;
    int e = check_init(pd, init);

    if (e != 0) {
        errno = e;
        return NULL;
    }
    qp = calloc(1, sizeof(*qp));
    if (qp == NULL)
        return NULL;
    qp->hca = hca;
    qp->cap = init->cap;
    qp->sig_all = init->sq_sig_all != 0;
    qp->ibv = (struct ibv_qp){.context = pd->context,
                              .qp_context = init->qp_context,
                              .pd = pd,
                              .send_cq = init->send_cq,
                              .recv_cq = init->recv_cq,
                              .srq = init->srq,
                              .qp_type = init->qp_type};
    pthread_mutex_init(&qp->ibv.mutex, NULL);
    pthread_cond_init(&qp->ibv.cond, NULL);
    e = init_queues(qp, init);
    pthread_mutex_lock(&hca->lock);
    if (e == 0)
        e = em_hca_add_qp(hca, qp, &qp->ibv.qp_num);
    if (e == 0) {
        qp->ibv.handle = qp->ibv.qp_num;
        count_users(qp, 1);
        em_qp_reset(qp);
    }
    pthread_mutex_unlock(&hca->lock);
    if (e != 0) {
        free_qp(qp);
        errno = e;
        return NULL;
    }
    return &qp->ibv;
}

int ibv_destroy_qp(struct ibv_qp *ibv)
{
    struct em_qp *qp = (struct em_qp *) ibv;
    struct em_hca *hca = qp->hca;
    unsigned events;

    pthread_mutex_lock(&hca->lock);
    if (qp->mcast > 0) {
        pthread_mutex_unlock(&hca->lock);
        return EBUSY;
    }
    em_qp_reset(qp);
    em_hca_remove_qp(hca, qp);
    em_event_forget(em_context_of(ibv->context), qp);
    count_users(qp, -1);
    events = qp->async_events;
    pthread_mutex_unlock(&hca->lock);

    pthread_mutex_lock(&ibv->mutex);
    while (ibv->events_completed != events)
        pthread_cond_wait(&ibv->cond, &ibv->mutex);
    pthread_mutex_unlock(&ibv->mutex);
    free_qp(qp);
    return 0;
}

void em_qp_activate(struct em_qp *qp)
{
    if (qp->active)
        return;
    qp->active = true;
    TAILQ_INSERT_TAIL(&qp->hca->active, qp, link);
}

void em_qp_event(struct em_qp *qp, enum ibv_event_type type)
{
    struct ibv_async_event event = {.element.qp = &qp->ibv, .event_type = type};

    em_event_raise(em_context_of(qp->ibv.context), &event, &qp->async_events);
}

struct em_port *em_qp_port(const struct em_qp *qp)
{
    return em_hca_port(qp->hca, qp->attr.port_num);
}

static int check_send(const struct em_qp *qp, const struct ibv_send_wr *wr, uint64_t len)
{
    bool ud = qp->ibv.qp_type == IBV_QPT_UD;

    if (wr->num_sge < 0 || (uint32_t) wr->num_sge > qp->cap.max_send_sge)
        return EINVAL;
    if ((wr->send_flags & IBV_SEND_INLINE) && len > qp->cap.max_inline_data)
        return EINVAL;
    if (len > EM_MESSAGE_MAX)
        return EINVAL;
    switch (wr->opcode) {
        case IBV_WR_SEND:
        case IBV_WR_SEND_WITH_IMM:
            return ud && wr->wr.ud.ah == NULL ? EINVAL : 0;
        case IBV_WR_RDMA_READ:
            if (wr->send_flags & IBV_SEND_INLINE)
                return EINVAL;
            return ud || qp->attr.max_rd_atomic == 0 ? EINVAL : 0;
        case IBV_WR_RDMA_WRITE:
        case IBV_WR_RDMA_WRITE_WITH_IMM:
            return ud ? EINVAL : 0;
        default:
            return EOPNOTSUPP;
    }
}

static void copy_data(struct em_qp *qp, struct em_swqe *e, const struct ibv_send_wr *wr)
{
    struct ibv_sge *to = (struct ibv_sge *) e->sgl.sge;
    uint8_t *at = qp->sq.inlines + (size_t) (e - qp->sq.ring) * qp->cap.max_inline_data;

    e->sgl.inlined = (wr->send_flags & IBV_SEND_INLINE) != 0;
    if (!e->sgl.inlined) {
        e->sgl.num = wr->num_sge;
        for (int i = 0; i < wr->num_sge; i++)
            to[i] = wr->sg_list[i];
        return;
    }
    e->sgl.num = 1;
    *to = (struct ibv_sge){(uintptr_t) at, e->len, 0};
    for (int i = 0; i < wr->num_sge; i++) {
        if (wr->sg_list[i].length > 0)
            memcpy(at, (const void *) (uintptr_t) wr->sg_list[i].addr, wr->sg_list[i].length);
        at += wr->sg_list[i].length;
    }
}

static int add_send(struct em_qp *qp, const struct ibv_send_wr *wr)
{
    struct em_requester *sq = &qp->sq;
    const struct em_sgl l = {wr->sg_list, wr->num_sge, false};
    uint64_t len = em_sgl_len(&l);
    struct em_swqe *e;
    int err = check_send(qp, wr, len);

    if (err != 0)
        return err;
    if (sq->tail - sq->head == sq->cap)
        return ENOMEM;
    e = &sq->ring[sq->tail % sq->cap];
    e->wr_id = wr->wr_id;
    e->opcode = wr->opcode;
    e->flags = wr->send_flags;
    e->imm_data = wr->imm_data;
    e->len = (uint32_t) len;
    if (qp->ibv.qp_type == IBV_QPT_UD) {
        e->ah = ((const struct em_ah *) wr->wr.ud.ah)->attr;
        e->dest_qpn = wr->wr.ud.remote_qpn & 0xffffffu;
        /* 10.2.5: the upper bit asks for the QP's own key. */
        e->qkey = wr->wr.ud.remote_qkey >> 31 ? qp->attr.qkey : wr->wr.ud.remote_qkey;
        e->packets = 1;
    } else {
        uint32_t mtu = em_mtu_bytes(qp->attr.path_mtu);

        e->remote_addr = wr->wr.rdma.remote_addr;
        e->rkey = wr->wr.rdma.rkey;
        e->packets = e->len == 0 ? 1 : (e->len + mtu - 1) / mtu;
    }
    copy_data(qp, e, wr);
    sq->tail++;
    return 0;
}

int em_qp_post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct em_qp *qp = (struct em_qp *) ibv;
    int e = 0;

    pthread_mutex_lock(&qp->hca->lock);
    if (qp->attr.qp_state < IBV_QPS_RTS)
        e = EINVAL;
    for (; wr != NULL && e == 0; wr = wr->next) {
        e = add_send(qp, wr);
        if (e != 0)
            break;
    }
    if (e != 0)
        *bad = wr;
    if (qp->attr.qp_state == IBV_QPS_ERR) {
        em_qp_to_error(qp);
    } else {
        em_qp_activate(qp);
        em_hca_send(qp->hca, em_hca_now(qp->hca));
    }
    pthread_mutex_unlock(&qp->hca->lock);
    return e;
}

int em_qp_post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct em_qp *qp = (struct em_qp *) ibv;
    int e;

    pthread_mutex_lock(&qp->hca->lock);
    *bad = wr;
    if (qp->attr.qp_state == IBV_QPS_RESET || ibv->srq != NULL)
        e = EINVAL;
    else
        e = em_rq_post(&qp->rq, wr, bad);
    if (qp->attr.qp_state == IBV_QPS_ERR)
        em_qp_to_error(qp);
    pthread_mutex_unlock(&qp->hca->lock);
    return e;
}

bool em_qp_take_recv(struct em_qp *qp, struct em_rwqe *to)
{
    if (qp->ibv.srq != NULL)
        return em_srq_take((struct em_srq *) qp->ibv.srq, to);
    return em_rq_take(&qp->rq, to);
}

void em_qp_complete_send(struct em_qp *qp, enum ibv_wc_status status)
{
    static const enum ibv_wc_opcode opcodes[] = {
        [IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
        [IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
        [IBV_WR_SEND] = IBV_WC_SEND,
        [IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND,
        [IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
    };
    struct em_requester *sq = &qp->sq;
    const struct em_swqe *e = &sq->ring[sq->head % sq->cap];
    struct ibv_wc wc = {.wr_id = e->wr_id,
                        .status = status,
                        .opcode = opcodes[e->opcode],
                        .byte_len = e->len,
                        .qp_num = qp->ibv.qp_num};

    if (status != IBV_WC_SUCCESS || qp->sig_all || (e->flags & IBV_SEND_SIGNALED))
        em_cq_push((struct em_cq *) qp->ibv.send_cq, &wc, false);
    if (e->opcode == IBV_WR_RDMA_READ && sq->head != sq->started)
        sq->reads--;
    if (sq->cur == sq->head)
        sq->cur++;
    if (sq->started == sq->head)
        sq->started++;
    sq->head++;
}

void em_qp_complete_recv(struct em_qp *qp, struct ibv_wc *wc, bool solicited)
{
    wc->qp_num = qp->ibv.qp_num;
    em_cq_push((struct em_cq *) qp->ibv.recv_cq, wc, solicited);
}

void em_qp_to_error(struct em_qp *qp)
{
    bool entered = qp->attr.qp_state != IBV_QPS_ERR;
    struct ibv_sge sge[EM_SGE_MAX];
    struct em_rwqe recv = {.sge = sge};
    struct ibv_wc wc = {.status = IBV_WC_WR_FLUSH_ERR, .opcode = IBV_WC_RECV};

    qp->attr.qp_state = qp->ibv.state = IBV_QPS_ERR;
    qp->sq.deadline = EM_NEVER;
    qp->sq.rnr_until = 0;
    qp->resp.num_jobs = 0;
    while (qp->sq.head != qp->sq.tail)
        em_qp_complete_send(qp, IBV_WC_WR_FLUSH_ERR);
    if (qp->resp.message == EM_MESSAGE_SEND) {
        wc.wr_id = qp->resp.recv.wr_id;
        em_qp_complete_recv(qp, &wc, false);
    }
    qp->resp.message = EM_MESSAGE_NONE;
    while (em_rq_take(&qp->rq, &recv)) {
        wc.wr_id = recv.wr_id;
        em_qp_complete_recv(qp, &wc, false);
    }
    if (entered && qp->ibv.srq != NULL)
        em_qp_event(qp, IBV_EVENT_QP_LAST_WQE_REACHED);
}

void em_qp_reset(struct em_qp *qp)
{
    struct em_requester *sq = &qp->sq;

    if (qp->active)
        TAILQ_REMOVE(&qp->hca->active, qp, link);
    qp->active = false;
    em_cq_forget_qp((struct em_cq *) qp->ibv.send_cq, qp->ibv.qp_num);
    em_cq_forget_qp((struct em_cq *) qp->ibv.recv_cq, qp->ibv.qp_num);
    sq->head = sq->cur = sq->started = sq->tail = 0;
    sq->reads = 0;
    sq->rewound = false;
    sq->deadline = EM_NEVER;
    sq->rnr_until = 0;
    qp->rq.head = qp->rq.tail = 0;
    qp->resp = (struct em_responder){.recv.sge = qp->resp.recv_sge};
    qp->attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RESET, .path_mig_state = IBV_MIG_MIGRATED};
    qp->ibv.state = IBV_QPS_RESET;
    qp->alt_loaded = qp->mig_err_reported = qp->comm_est = false;
}
