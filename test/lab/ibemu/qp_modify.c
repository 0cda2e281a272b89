/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What ibv_modify_qp accepts, and what it does. The table of transitions is that of the InfiniBand
 * specification, 10.3.1 and 11.2.5.2 (tables 91 ff.), for RC and UD.
 */
#include "qp.h"
#include "device.h"
#include "psn.h"

#include <errno.h>

#define ALT IBV_QP_ALT_PATH
#define ACCESS IBV_QP_ACCESS_FLAGS
#define PKEY IBV_QP_PKEY_INDEX
#define MIG IBV_QP_PATH_MIG_STATE
#define CUR IBV_QP_CUR_STATE
#define RNR IBV_QP_MIN_RNR_TIMER
#define QKEY IBV_QP_QKEY

/* The attributes that a transition needs, and those it allows besides. */
struct transition {
    enum ibv_qp_type type;
    enum ibv_qp_state from, to;
    int required, optional;
};

static const struct transition transitions[] = {
    {IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, PKEY | IBV_QP_PORT | ACCESS, 0},
    {IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_INIT, 0, PKEY | IBV_QP_PORT | ACCESS},
    {IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR,
     IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
         RNR,
     ALT | ACCESS | PKEY},
    {IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS,
     IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
     CUR | ALT | ACCESS | RNR | MIG},
    {IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_RTS, 0, CUR | ALT | ACCESS | RNR | MIG},
    {IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
    {IBV_QPT_RC, IBV_QPS_SQD, IBV_QPS_RTS, 0, CUR | ALT | ACCESS | RNR | MIG},
    {IBV_QPT_RC, IBV_QPS_SQD, IBV_QPS_SQD, 0,
     IBV_QP_PORT | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
         IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | ALT | ACCESS | PKEY | RNR | MIG},
    {IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_INIT, PKEY | IBV_QP_PORT | QKEY, 0},
    {IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_INIT, 0, PKEY | IBV_QP_PORT | QKEY},
    {IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_RTR, 0, PKEY | QKEY},
    {IBV_QPT_UD, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, CUR | QKEY},
    {IBV_QPT_UD, IBV_QPS_RTS, IBV_QPS_RTS, 0, CUR | QKEY},
    {IBV_QPT_UD, IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
    {IBV_QPT_UD, IBV_QPS_SQD, IBV_QPS_RTS, 0, CUR | QKEY},
    {IBV_QPT_UD, IBV_QPS_SQD, IBV_QPS_SQD, 0, PKEY | QKEY},
    {IBV_QPT_UD, IBV_QPS_SQE, IBV_QPS_RTS, 0, CUR | QKEY},
};

static bool transition_ok(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to,
                          int mask)
{
    mask &= ~IBV_QP_STATE;
    if ((mask & CUR) && (from < IBV_QPS_RTR || from > IBV_QPS_SQE))
        return false;
    /* From every state to RESET, and to ERR but from RESET, with nothing else. */
    if (to == IBV_QPS_RESET)
        return mask == 0;
    if (to == IBV_QPS_ERR)
        return mask == 0 && from != IBV_QPS_RESET;
    for (size_t i = 0; i < sizeof(transitions) / sizeof(transitions[0]); i++) {
        const struct transition *t = &transitions[i];

        if (t->type == type && t->from == from && t->to == to)
            return (mask & t->required) == t->required &&
                   (mask & ~(t->required | t->optional)) == 0;
    }
    return false;
}

static int check_path(const struct em_qp *qp, const struct ibv_ah_attr *ah, int port_num,
                      int pkey_index)
{
    const struct em_port *port = em_hca_port(qp->hca, port_num);

    if (port == NULL || pkey_index >= EM_PKEYS)
        return EINVAL;
    if (ah->dlid == 0 || ah->dlid >= EM_MLID_FIRST || ah->src_path_bits >> port->lmc != 0)
        return EINVAL;
    return ah->is_global && ah->grh.sgid_index >= EM_GIDS ? EINVAL : 0;
}

static int check_values(const struct em_qp *qp, const struct ibv_qp_attr *a, int mask)
{
    const struct em_port *port =
        em_hca_port(qp->hca, mask & IBV_QP_PORT ? a->port_num : qp->attr.port_num);

    if ((mask & IBV_QP_PORT) && port == NULL)
        return EINVAL;
    if ((mask & PKEY) && a->pkey_index >= EM_PKEYS)
        return EINVAL;
    if ((mask & IBV_QP_PATH_MTU) && (a->path_mtu < IBV_MTU_256 || a->path_mtu > IBV_MTU_4096 ||
                                     (port != NULL && a->path_mtu > port->mtu)))
        return EINVAL;
    if (((mask & RNR) && a->min_rnr_timer > 31) || ((mask & IBV_QP_TIMEOUT) && a->timeout > 31) ||
        ((mask & IBV_QP_RETRY_CNT) && a->retry_cnt > 7) ||
        ((mask & IBV_QP_RNR_RETRY) && a->rnr_retry > 7))
        return EINVAL;
    if (((mask & IBV_QP_MAX_QP_RD_ATOMIC) && a->max_rd_atomic > EM_READS_MAX) ||
        ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) && a->max_dest_rd_atomic > EM_READS_MAX))
        return EINVAL;
    if ((mask & IBV_QP_AV) && check_path(qp, &a->ah_attr, a->ah_attr.port_num, 0) != 0)
        return EINVAL;
    if ((mask & ALT) && (check_path(qp, &a->alt_ah_attr, a->alt_port_num, a->alt_pkey_index) != 0 ||
                         a->alt_timeout > 31))
        return EINVAL;
    return 0;
}

int em_qp_modify_check(const struct em_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
    enum ibv_qp_state from = qp->attr.qp_state, to = mask & IBV_QP_STATE ? attr->qp_state : from;
    int e;

    if ((mask & CUR) && attr->cur_qp_state != from)
        return EINVAL;
    if (!transition_ok(qp->ibv.qp_type, from, to, mask))
        return EINVAL;
    /* 10.3.1.5: the paths of a send queue are changed once it is drained. */
    if (from == IBV_QPS_SQD && (mask & (IBV_QP_AV | IBV_QP_PORT)) && qp->attr.sq_draining)
        return EINVAL;
    e = check_values(qp, attr, mask);
    if (e == 0 && (mask & MIG))
        e = em_path_check_request(qp, attr, mask, to);
    return e;
}

static void apply_values(struct em_qp *qp, const struct ibv_qp_attr *a, int mask)
{
    struct ibv_qp_attr *to = &qp->attr;

    if (mask & ACCESS)
        to->qp_access_flags = a->qp_access_flags;
    if (mask & PKEY)
        to->pkey_index = a->pkey_index;
    if (mask & IBV_QP_PORT)
        to->port_num = a->port_num;
    if (mask & QKEY)
        to->qkey = a->qkey;
    if (mask & IBV_QP_AV) {
        to->ah_attr = a->ah_attr;
        to->port_num = a->ah_attr.port_num;
    }
    if (mask & IBV_QP_PATH_MTU)
        to->path_mtu = a->path_mtu;
    if (mask & IBV_QP_TIMEOUT)
        to->timeout = a->timeout;
    if (mask & IBV_QP_RETRY_CNT)
        to->retry_cnt = qp->sq.retry_left = a->retry_cnt;
    if (mask & IBV_QP_RNR_RETRY)
        to->rnr_retry = qp->sq.rnr_left = a->rnr_retry;
    if (mask & IBV_QP_RQ_PSN)
        to->rq_psn = qp->resp.exp_psn = a->rq_psn & EM_PSN_MASK;
    if (mask & IBV_QP_SQ_PSN)
        to->sq_psn = a->sq_psn & EM_PSN_MASK;
    if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
        to->max_rd_atomic = a->max_rd_atomic;
    if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
        to->max_dest_rd_atomic = a->max_dest_rd_atomic;
    if (mask & RNR)
        to->min_rnr_timer = a->min_rnr_timer;
    if (mask & IBV_QP_DEST_QPN)
        to->dest_qp_num = a->dest_qp_num & EM_PSN_MASK;
    if (mask & IBV_QP_EN_SQD_ASYNC_NOTIFY)
        to->en_sqd_async_notify = a->en_sqd_async_notify;
    if (mask & ALT)
        em_path_load(qp, a);
}

static void enter_state(struct em_qp *qp, enum ibv_qp_state to)
{
    enum ibv_qp_state from = qp->attr.qp_state;

    if (to == IBV_QPS_ERR) {
        em_qp_to_error(qp);
        return;
    }
    if (to == IBV_QPS_RESET) {
        em_qp_reset(qp);
        return;
    }
    if (to == IBV_QPS_RTS && from == IBV_QPS_RTR)
        em_requester_start(qp);
    if (to == IBV_QPS_SQD && from == IBV_QPS_RTS)
        qp->attr.sq_draining = 1;
    if (to == IBV_QPS_RTS)
        qp->attr.sq_draining = 0;
    qp->attr.qp_state = qp->ibv.state = to;
    em_qp_activate(qp);
}

int ibv_modify_qp(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask)
{
    struct em_qp *qp = (struct em_qp *) ibv;
    int e;

    pthread_mutex_lock(&qp->hca->lock);
    e = em_qp_modify_check(qp, attr, mask);
    if (e == 0) {
        apply_values(qp, attr, mask);
        if (mask & IBV_QP_STATE)
            enter_state(qp, attr->qp_state);
        if (mask & MIG)
            em_path_request(qp, attr->path_mig_state);
        em_hca_send(qp->hca, em_hca_now(qp->hca));
    }
    pthread_mutex_unlock(&qp->hca->lock);
    return e;
}

int ibv_query_qp(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask,
                 struct ibv_qp_init_attr *init)
{
    struct em_qp *qp = (struct em_qp *) ibv;

    (void) mask; /* what was not asked for is given too */
    pthread_mutex_lock(&qp->hca->lock);
    *attr = qp->attr;
    attr->cur_qp_state = attr->qp_state;
    attr->sq_psn = qp->sq.max_psn;
    attr->rq_psn = qp->resp.exp_psn;
    attr->cap = qp->cap;
    *init = (struct ibv_qp_init_attr){.qp_context = ibv->qp_context,
                                      .send_cq = ibv->send_cq,
                                      .recv_cq = ibv->recv_cq,
                                      .srq = ibv->srq,
                                      .cap = qp->cap,
                                      .qp_type = ibv->qp_type,
                                      .sq_sig_all = qp->sig_all};
    pthread_mutex_unlock(&qp->hca->lock);
    return 0;
}
