/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What the objects of the HCA share: their numbers, where packets go when they come in, and whose
 * turn it is to send.
 */
#include "hca.h"
#include "mcast.h"
#include "qp.h"

#include <errno.h>
#include <string.h>

#define EM_RETRY_NS 100000u /* after a full socket: some packets at 1 Gbit/s */
#define QP_INDEX(qpn) ((qpn) % EM_QPS_MAX)

void em_hca_init(struct em_hca *hca)
{
    memset(hca, 0, sizeof(*hca));
    pthread_mutex_init(&hca->lock, NULL);
    TAILQ_INIT(&hca->active);
    TAILQ_INIT(&hca->contexts);
    LIST_INIT(&hca->groups);
    hca->slot = 1;
    hca->retry_at = EM_NEVER;
}

struct em_port *em_hca_port(struct em_hca *hca, int num)
{
    return num >= 1 && num <= hca->num_ports ? &hca->ports[num - 1] : NULL;
}

/* Numbers go round through all 1 << EM_QPN_BITS of the process, so that a late packet does not find
 * another QP of the same number soon. */
int em_hca_add_qp(struct em_hca *hca, struct em_qp *qp, uint32_t *qpn)
{
    for (uint32_t i = 0; i < EM_QPS_MAX; i++) {
        uint32_t n = hca->next_qp++ % (1u << EM_QPN_BITS);

        if (hca->qps[QP_INDEX(n)] == NULL) {
            hca->qps[QP_INDEX(n)] = qp;
            if (QP_INDEX(n) >= hca->qps_end)
                hca->qps_end = QP_INDEX(n) + 1;
            *qpn = hca->slot << EM_QPN_BITS | n;
            return 0;
        }
    }
    return ENOMEM;
}

void em_hca_remove_qp(struct em_hca *hca, struct em_qp *qp)
{
    hca->qps[QP_INDEX(qp->ibv.qp_num)] = NULL;
}

struct em_qp *em_hca_find_qp(struct em_hca *hca, uint32_t qpn)
{
    struct em_qp *qp = hca->qps[QP_INDEX(qpn)];

    return qp != NULL && qp->ibv.qp_num == qpn ? qp : NULL;
}

void em_path_address(const struct em_port *port, const struct ibv_ah_attr *ah, struct em_packet *p)
{
    p->slid = (uint16_t) (port->lid + ah->src_path_bits);
    p->dlid = ah->dlid;
    p->sl = ah->sl;
    p->pkey = EM_PKEY_DEFAULT;
    p->has_grh = ah->is_global != 0;
    if (p->has_grh) {
        p->sgid = port->gid;
        p->dgid = ah->grh.dgid;
        p->hop_limit = ah->grh.hop_limit;
        p->traffic_class = ah->grh.traffic_class;
        p->flow_label = ah->grh.flow_label & 0xfffffu;
    }
}

bool em_hca_transmit(struct em_hca *hca, struct em_port *port, const struct em_packet *p,
                     const struct iovec *iov, int n)
{
    if (!port->up || port->cut || em_faults_lose(&hca->faults, p)) {
        hca->count.lost_by_faults++;
        return true;
    }
    if (!hca->wire.send(hca->wire.arg, port->num, p, iov, n))
        return false;
    hca->count.sent++;
    return true;
}

static void receive_rc(struct em_qp *qp, struct em_port *port, const struct em_packet *p,
                       uint64_t now)
{
    enum ibv_qp_state state = qp->attr.qp_state;
    bool response = (em_opcode_flags(p->opcode) & EM_OP_RESPONSE) != 0;

    if (state < (response ? IBV_QPS_RTS : IBV_QPS_RTR) || state > IBV_QPS_SQD ||
        !em_path_accept(qp, port, p)) {
        qp->hca->count.dropped_header++;
        return;
    }
    if (state == IBV_QPS_RTR && !qp->comm_est) {
        qp->comm_est = true;
        em_qp_event(qp, IBV_EVENT_COMM_EST);
    }
    if (response)
        em_requester_receive(qp, p, now);
    else
        em_responder_receive(qp, p);
}

void em_hca_receive(struct em_hca *hca, struct em_port *port, const struct em_packet *p,
                    uint64_t now)
{
    bool ud = (em_opcode_flags(p->opcode) & EM_OP_DETH) != 0;
    struct em_qp *qp;

    if (!port->up || port->cut || em_faults_lose(&hca->faults, p)) {
        hca->count.lost_by_faults++;
        return;
    }
    hca->count.received++;
    if (p->dest_qpn == EM_MULTICAST_QPN) {
        em_group_receive(hca, port, p);
        return;
    }
    qp = em_hca_find_qp(hca, p->dest_qpn);
    if (qp == NULL || (qp->ibv.qp_type == IBV_QPT_UD) != ud || !em_port_has_lid(port, p->dlid) ||
        ((p->pkey ^ EM_PKEY_DEFAULT) & 0x7fffu) != 0) {
        hca->count.dropped_header++;
        return;
    }
    if (!ud)
        receive_rc(qp, port, p, now);
    else if (qp->attr.qp_state >= IBV_QPS_RTR && qp->attr.qp_state != IBV_QPS_ERR &&
             qp->attr.port_num == port->num)
        em_ud_receive(qp, p);
    else
        hca->count.dropped_header++;
}

static bool send_qp(struct em_qp *qp, uint64_t now)
{
    enum ibv_qp_state state = qp->attr.qp_state;

    if (qp->ibv.qp_type == IBV_QPT_UD)
        return em_ud_send(qp);
    if (state >= IBV_QPS_RTR && state <= IBV_QPS_SQD && !em_responder_send(qp))
        return false;
    return state < IBV_QPS_RTS || state > IBV_QPS_SQD || em_requester_send(qp, now);
}

/* A QP that finds the wire full stays, and those behind it have their turn: they may use another
 * port. */
void em_hca_send(struct em_hca *hca, uint64_t now)
{
    struct em_qp *qp = TAILQ_FIRST(&hca->active), *next;
    bool room = true;

    for (; qp != NULL; qp = next) {
        bool done = send_qp(qp, now);

        em_requester_check_drained(qp);
        next = TAILQ_NEXT(qp, link);
        if (done) {
            TAILQ_REMOVE(&hca->active, qp, link);
            qp->active = false;
        }
        room = room && done;
    }
    hca->retry_at = room ? EM_NEVER : now + EM_RETRY_NS;
    if (!room)
        hca->wire.timer(hca->wire.arg, hca->retry_at);
}

uint64_t em_hca_run_timers(struct em_hca *hca, uint64_t now)
{
    uint64_t next;

    if (hca->retry_at <= now)
        em_hca_send(hca, now);
    next = hca->retry_at;
    for (uint32_t i = 0; i < hca->qps_end; i++) {
        struct em_qp *qp = hca->qps[i];
        uint64_t at;

        if (qp == NULL || qp->ibv.qp_type != IBV_QPT_RC)
            continue;
        if (em_requester_deadline(qp) <= now)
            em_requester_timeout(qp, now);
        at = em_requester_deadline(qp);
        next = at < next ? at : next;
    }
    return next;
}

void em_hca_port_changed(struct em_hca *hca, struct em_port *port, bool up)
{
    if (port->up == up)
        return;
    port->up = up;
    em_event_raise_port(hca, up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR, port->num);
}
