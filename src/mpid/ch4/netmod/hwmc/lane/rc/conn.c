/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * conn: a connection of the rc lane, from its queue pair's making to its end. See rc_impl.h.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "../../apm/load.h"
#include "rc_impl.h"

#define RNR_TIMER 12u /* 0.64 ms; receive buffers do not run out as a rule */
#define INLINE 256u   /* bytes that the device is asked to take along with a request */
#define PSN 0xffffffu

static struct ibv_qp *make_qp(struct hwmc_lane_rc *l)
{
    struct ibv_qp_init_attr init = {
        .send_cq = l->cq,
        .recv_cq = l->cq,
        .srq = l->srq,
        .cap = {.max_send_wr = RC_SENDS, .max_send_sge = 2, .max_inline_data = INLINE},
        .qp_type = IBV_QPT_RC,
        .sq_sig_all = 1};
    struct ibv_qp *qp = ibv_create_qp(l->pd, &init);

    if (qp == NULL) {
        init.cap.max_inline_data = 0;
        qp = ibv_create_qp(l->pd, &init);
    }
    if (qp != NULL)
        l->inline_max = init.cap.max_inline_data;
    return qp;
}

static bool to_init(const struct hwmc_lane_rc *l, struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                               .pkey_index = l->ports.port[0].pkey_index,
                               .port_num = l->ports.port[0].number};

    return ibv_modify_qp(qp, &attr,
                         IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0;
}

/* Where the peer's packets begin to count is chosen anew each time, so that none of an old
 * connection is taken. */
static bool describe_end(const struct hwmc_lane_rc *l, const struct ibv_qp *qp, struct rc_end *e)
{
    const struct rc_ports *ports = &l->ports;

    memset(e, 0, sizeof(*e));
    if (getrandom(&e->psn, sizeof(e->psn), 0) != (ssize_t) sizeof(e->psn))
        return false;
    e->psn &= PSN;
    e->qp_num = qp->qp_num;
    e->credits = RC_CREDITS;
    e->hardware = ports->apm == HWMC_LANE_RC_APM_HARDWARE;
    e->num_ports = ports->num;
    memcpy(e->port, ports->port, sizeof(e->port));
    memcpy(e->mtu, ports->mtu, sizeof(e->mtu));
    return true;
}

struct rc_conn *rc_conn_make(struct hwmc_lane_rc *l, uint32_t peer)
{
    struct rc_conn *c;
    struct ibv_qp *qp;

    if (l->num_conns == l->max_conns || rc_buffers_grow(l, l->num_conns + 1) != HWMC_OK)
        return NULL;
    c = calloc(1, sizeof(*c));
    if (c == NULL)
        return NULL;
    qp = make_qp(l);
    if (qp == NULL || !to_init(l, qp) || !describe_end(l, qp, &c->mine)) {
        if (qp != NULL)
            ibv_destroy_qp(qp);
        free(c);
        return NULL;
    }
    c->peer = peer;
    c->trust_at = UINT64_MAX;
    c->open_by = rc_now() + RC_ANSWER_NS;
    rc_wake_at(l, c->open_by);
    c->apm.qp = qp;
    rc_conns_enter(l, c);
    return c;
}

static enum ibv_mtu least_mtu(const struct rc_end *a, const struct rc_end *b)
{
    enum ibv_mtu least = IBV_MTU_4096;

    for (uint8_t i = 0; i < a->num_ports; i++)
        least = a->mtu[i] < least ? a->mtu[i] : least;
    for (uint8_t i = 0; i < b->num_ports; i++)
        least = b->mtu[i] < least ? b->mtu[i] : least;
    return least;
}

/* The alternate path has to have the primary one's MTU. */
static bool to_rtr(struct rc_conn *c, const struct rc_end *theirs)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
                               .path_mtu = least_mtu(&c->mine, theirs),
                               .dest_qp_num = theirs->qp_num,
                               .rq_psn = theirs->psn,
                               .max_dest_rd_atomic = 0,
                               .min_rnr_timer = RNR_TIMER};
    int alternate = hwmc_apm_specify_with(&c->apm, &attr);

    hwmc_apm_path_address(&c->apm.path[0], &attr.ah_attr);
    if (ibv_modify_qp(c->apm.qp, &attr,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER | alternate) != 0)
        return false;
    hwmc_apm_specified(&c->apm, alternate);
    hwmc_apm_conn_comm(&c->apm, IBV_QPS_RTR);
    return true;
}

static bool to_rts(const struct hwmc_lane_rc *l, struct rc_conn *c)
{
    bool active = l->params.rank < c->peer;
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS,
                               .timeout = c->apm.path[0].timeout,
                               .retry_cnt =
                                   active ? HWMC_LANE_RC_RETRIES_ACTIVE : HWMC_LANE_RC_RETRIES,
                               .rnr_retry = HWMC_LANE_RC_RETRIES,
                               .sq_psn = c->mine.psn,
                               .max_rd_atomic = 0};
    int load = hwmc_apm_load_with(&c->apm, &attr);

    if (ibv_modify_qp(c->apm.qp, &attr,
                      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                          IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC | load) != 0)
        return false;
    hwmc_apm_loaded(&c->apm, load);
    hwmc_apm_conn_comm(&c->apm, IBV_QPS_RTS);
    return true;
}

bool rc_conn_join(struct hwmc_lane_rc *l, struct rc_conn *c, const struct rc_end *theirs)
{
    rc_paths_choose(l, c, theirs);
    c->credits = c->credits_max = theirs->credits;
    return to_rtr(c, theirs) && to_rts(l, c);
}

void rc_conn_unmake(struct hwmc_lane_rc *l, struct rc_conn *c)
{
    rc_conns_leave(l, c);
    ibv_destroy_qp(c->apm.qp);
    rc_send_drop(l, c);
    free(c->whole.bytes);
    free(c);
}
