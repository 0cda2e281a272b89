/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Automatic Path Migration (InfiniBand specification, 17.2.8), as the drivers do it that implement
 * it in software (qib, hfi1 over rdmavt). The states:
 *
 *   MIGRATED --verb--> REARM --packet without MigReq on the primary path--> ARMED
 *   ARMED --verb | packet with MigReq on the alternate path | retries used up--> MIGRATED
 *
 * MigReq is set in every packet that is sent in state MIGRATED. Migration makes the alternate path
 * the primary one and raises IBV_EVENT_PATH_MIG. The new path has all the retries, whatever the old
 * one used up, and what is outstanding is sent again at once. Before REARM another alternate path
 * must be loaded. Where migration should happen and the alternate path is of no use,
 * IBV_EVENT_PATH_MIG_ERR is raised and nothing changes.
 */
#include "qp.h"

#include <errno.h>

static void migrate(struct em_qp *qp)
{
    struct ibv_qp_attr *a = &qp->attr;

    a->ah_attr = a->alt_ah_attr;
    a->port_num = a->alt_port_num;
    a->pkey_index = a->alt_pkey_index;
    a->timeout = a->alt_timeout;
    a->path_mig_state = IBV_MIG_MIGRATED;
    qp->alt_loaded = false;
    qp->hca->count.migrations++;
    em_requester_restart(qp);
    em_qp_event(qp, IBV_EVENT_PATH_MIG);
}

/* Once for an alternate path: who retries would raise it with every packet. */
static void report_failure(struct em_qp *qp)
{
    if (!qp->mig_err_reported)
        em_qp_event(qp, IBV_EVENT_PATH_MIG_ERR);
    qp->mig_err_reported = true;
}

/* Whether a packet came by a path: C9-54 ff., the port and the sender's LID. */
static bool came_by(const struct em_port *port, const struct em_packet *p,
                    const struct ibv_ah_attr *ah, int port_num)
{
    return port->num == port_num && p->slid == ah->dlid && p->has_grh == (ah->is_global != 0) &&
           (!ah->is_global || memcmp(p->sgid.raw, ah->grh.dgid.raw, 16) == 0);
}

/* Whether a packet may be for this QP; the state of migration follows it. */
bool em_path_accept(struct em_qp *qp, const struct em_port *port, const struct em_packet *p)
{
    struct ibv_qp_attr *a = &qp->attr;

    if (a->path_mig_state == IBV_MIG_ARMED && p->mig_req) {
        if (!came_by(port, p, &a->alt_ah_attr, a->alt_port_num)) {
            report_failure(qp);
            return false;
        }
        migrate(qp);
        return true;
    }
    if (!came_by(port, p, &a->ah_attr, a->port_num))
        return false;
    if (a->path_mig_state == IBV_MIG_REARM && !p->mig_req)
        a->path_mig_state = IBV_MIG_ARMED;
    return true;
}

/* Called where the retries on the primary path are used up. True: the QP has another path now. */
bool em_path_give_up(struct em_qp *qp)
{
    const struct em_port *port = em_hca_port(qp->hca, qp->attr.alt_port_num);

    if (qp->attr.path_mig_state != IBV_MIG_ARMED)
        return false;
    if (port == NULL || !port->up) {
        report_failure(qp);
        return false;
    }
    migrate(qp);
    return true;
}

int em_path_check_request(const struct em_qp *qp, const struct ibv_qp_attr *attr, int mask,
                          enum ibv_qp_state next)
{
    enum ibv_mig_state now = qp->attr.path_mig_state;

    switch (attr->path_mig_state) {
        case IBV_MIG_REARM:
            if (now == IBV_MIG_ARMED || next != IBV_QPS_RTS)
                return EINVAL;
            return qp->alt_loaded || (mask & IBV_QP_ALT_PATH) ? 0 : EINVAL;
        case IBV_MIG_MIGRATED:
            return now == IBV_MIG_ARMED && (next == IBV_QPS_RTS || next == IBV_QPS_SQD) ? 0
                                                                                        : EINVAL;
        default: /* software arms nothing: the first packet of the peer does */
            return EINVAL;
    }
}

void em_path_request(struct em_qp *qp, enum ibv_mig_state to)
{
    const struct em_port *port = em_hca_port(qp->hca, qp->attr.alt_port_num);

    if (to == IBV_MIG_REARM)
        qp->attr.path_mig_state = IBV_MIG_REARM;
    else if (port != NULL && port->up)
        migrate(qp);
    else
        report_failure(qp);
}

void em_path_load(struct em_qp *qp, const struct ibv_qp_attr *attr)
{
    qp->attr.alt_ah_attr = attr->alt_ah_attr;
    qp->attr.alt_ah_attr.port_num = attr->alt_port_num;
    qp->attr.alt_port_num = attr->alt_port_num;
    qp->attr.alt_pkey_index = attr->alt_pkey_index;
    qp->attr.alt_timeout = attr->alt_timeout;
    qp->alt_loaded = true;
    qp->mig_err_reported = false;
}
