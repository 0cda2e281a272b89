/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Multicast groups of the HCA: a list, for there are few.
 */
#include "mcast.h"
#include "device.h"
#include "qp.h"

#include <errno.h>
#include <stdlib.h>

static struct em_group *find(struct em_hca *hca, const union ibv_gid *mgid)
{
    struct em_group *g;

    LIST_FOREACH(g, &hca->groups, link)
    if (memcmp(g->mgid.raw, mgid->raw, sizeof(mgid->raw)) == 0)
        break;
    return g;
}

static struct em_group *find_or_add(struct em_hca *hca, const union ibv_gid *mgid)
{
    struct em_group *g = find(hca, mgid);

    if (g != NULL)
        return g;
    g = calloc(1, sizeof(*g));
    if (g == NULL)
        return NULL;
    g->mgid = *mgid;
    g->mlid = em_mlid_of(mgid);
    LIST_INSERT_HEAD(&hca->groups, g, link);
    return g;
}

/* A group that nobody needs any more goes. */
static void release(struct em_group *g)
{
    for (int i = 0; i < EM_PORTS_MAX; i++)
        if (g->joins[i] > 0)
            return;
    if (g->num_qps > 0)
        return;
    LIST_REMOVE(g, link);
    free(g->qps);
    free(g);
}

int em_group_join(struct em_hca *hca, int port_num, const union ibv_gid *mgid)
{
    struct em_group *g = find_or_add(hca, mgid);
    int e = 0;

    if (g == NULL)
        return ENOMEM;
    if (g->joins[port_num - 1] == 0)
        e = hca->wire.member(hca->wire.arg, port_num, g->mlid, true);
    if (e == 0)
        g->joins[port_num - 1]++;
    release(g);
    return e;
}

int em_group_leave(struct em_hca *hca, int port_num, const union ibv_gid *mgid)
{
    struct em_group *g = find(hca, mgid);

    if (g == NULL || g->joins[port_num - 1] == 0)
        return EINVAL;
    if (--g->joins[port_num - 1] == 0)
        hca->wire.member(hca->wire.arg, port_num, g->mlid, false);
    release(g);
    return 0;
}

void em_group_receive(struct em_hca *hca, const struct em_port *port, const struct em_packet *p)
{
    struct em_group *g = p->has_grh ? find(hca, &p->dgid) : NULL;

    if (g == NULL || g->mlid != p->dlid || g->joins[port->num - 1] == 0) {
        hca->count.dropped_header++;
        return;
    }
    for (int i = 0; i < g->num_qps; i++) {
        struct em_qp *qp = g->qps[i];

        if (qp->attr.port_num == port->num && qp->attr.qp_state >= IBV_QPS_RTR &&
            qp->attr.qp_state != IBV_QPS_ERR)
            em_ud_receive(qp, p);
    }
}

static int attach(struct em_qp *qp, const union ibv_gid *mgid)
{
    struct em_group *g = find_or_add(qp->hca, mgid);
    struct em_qp **qps;

    if (g == NULL)
        return ENOMEM;
    for (int i = 0; i < g->num_qps; i++)
        if (g->qps[i] == qp)
            return 0;
    qps = realloc(g->qps, ((size_t) g->num_qps + 1) * sizeof(struct em_qp *));
    if (qps == NULL) {
        release(g);
        return ENOMEM;
    }
    g->qps = qps;
    g->qps[g->num_qps++] = qp;
    qp->mcast++;
    return 0;
}

static int detach(struct em_qp *qp, const union ibv_gid *mgid)
{
    struct em_group *g = find(qp->hca, mgid);

    for (int i = 0; g != NULL && i < g->num_qps; i++)
        if (g->qps[i] == qp) {
            g->qps[i] = g->qps[--g->num_qps];
            qp->mcast--;
            release(g);
            return 0;
        }
    return EINVAL;
}

/* The LID follows from the group here; that of the caller is checked, as it would lead nowhere. */
static int check(const struct ibv_qp *ibv, const union ibv_gid *gid, uint16_t lid)
{
    if (ibv->qp_type != IBV_QPT_UD || gid->raw[0] != 0xff)
        return EINVAL;
    return lid == em_mlid_of(gid) ? 0 : EINVAL;
}

int ibv_attach_mcast(struct ibv_qp *ibv, const union ibv_gid *gid, uint16_t lid)
{
    struct em_qp *qp = (struct em_qp *) ibv;
    int e = check(ibv, gid, lid);

    if (e != 0)
        return e;
    pthread_mutex_lock(&qp->hca->lock);
    e = attach(qp, gid);
    pthread_mutex_unlock(&qp->hca->lock);
    return e;
}

int ibv_detach_mcast(struct ibv_qp *ibv, const union ibv_gid *gid, uint16_t lid)
{
    struct em_qp *qp = (struct em_qp *) ibv;
    int e = check(ibv, gid, lid);

    if (e != 0)
        return e;
    pthread_mutex_lock(&qp->hca->lock);
    e = detach(qp, gid);
    pthread_mutex_unlock(&qp->hca->lock);
    return e;
}
