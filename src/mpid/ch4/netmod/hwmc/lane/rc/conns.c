/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * conns: the connections of an rc lane, in a list and by queue pair. See rc_impl.h.
 */
#include "rc_impl.h"

static uint32_t bucket_of(uint32_t qp_num)
{
    return qp_num & (RC_QPS_BUCKETS - 1);
}

void rc_conns_enter(struct hwmc_lane_rc *l, struct rc_conn *c)
{
    struct rc_conn **of_qp = &l->of_qp[bucket_of(c->apm.qp->qp_num)];

    c->next_of_qp = *of_qp;
    *of_qp = c;
    c->at = l->num_conns;
    l->conns[l->num_conns++] = c;
}

void rc_conns_leave(struct hwmc_lane_rc *l, struct rc_conn *c)
{
    struct rc_conn **of_qp = &l->of_qp[bucket_of(c->apm.qp->qp_num)];

    while (*of_qp != c)
        of_qp = &(*of_qp)->next_of_qp;
    *of_qp = c->next_of_qp;
    l->conns[c->at] = l->conns[--l->num_conns];
    l->conns[c->at]->at = c->at;
}

struct rc_conn *rc_conns_of_qp(const struct hwmc_lane_rc *l, uint32_t qp_num)
{
    struct rc_conn *c = l->of_qp[bucket_of(qp_num)];

    while (c != NULL && c->apm.qp->qp_num != qp_num)
        c = c->next_of_qp;
    return c;
}
