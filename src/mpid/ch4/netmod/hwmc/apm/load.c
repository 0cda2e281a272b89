/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * load: see load.h.
 */
#include "load.h"

#include <errno.h>

int hwmc_apm_load_with(const struct hwmc_apm_conn *c, struct ibv_qp_attr *attr)
{
    struct hwmc_apm trial = c->state;

    if (hwmc_apm_on_event(&trial, HWMC_APM_ON_LOAD) != HWMC_APM_TAKEN)
        return 0;
    attr->path_mig_state = IBV_MIG_REARM;
    return IBV_QP_PATH_MIG_STATE;
}

void hwmc_apm_loaded(struct hwmc_apm_conn *c, int mask)
{
    if (mask & IBV_QP_PATH_MIG_STATE)
        hwmc_apm_on_event(&c->state, HWMC_APM_ON_LOAD);
}

int hwmc_apm_load(struct hwmc_apm_conn *const *conns, int n)
{
    int taken = 0;

    for (int i = 0; i < n; i++) {
        struct hwmc_apm_conn *c = conns[i];
        struct ibv_qp_attr attr = {0};
        int mask = c->state.comm == HWMC_APM_RTS ? hwmc_apm_load_with(c, &attr) : 0;

        c->error = mask == 0 ? EINVAL : ibv_modify_qp(c->qp, &attr, mask);
        if (c->error != 0)
            continue;
        hwmc_apm_loaded(c, mask);
        taken++;
    }
    return taken;
}

int hwmc_apm_load_poll(struct hwmc_apm_conn *const *conns, int n)
{
    int loading = 0;

    for (int i = 0; i < n; i++) {
        struct hwmc_apm_conn *c = conns[i];
        struct ibv_qp_attr attr;
        struct ibv_qp_init_attr init;

        if (c->state.path != HWMC_APM_REARM)
            continue;
        if (ibv_query_qp(c->qp, &attr, IBV_QP_PATH_MIG_STATE, &init) == 0 &&
            attr.path_mig_state == IBV_MIG_ARMED)
            hwmc_apm_on_event(&c->state, HWMC_APM_ON_ARMED);
        if (c->state.path == HWMC_APM_REARM)
            loading++;
    }
    return loading;
}
