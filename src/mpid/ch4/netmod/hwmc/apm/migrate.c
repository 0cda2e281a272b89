/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * migrate: see migrate.h.
 */
#include "migrate.h"

#include <errno.h>

#include "load.h"

static int request_migration(struct hwmc_apm_conn *c)
{
    struct ibv_qp_attr attr = {.path_mig_state = IBV_MIG_MIGRATED};
    struct hwmc_apm trial;
    int error;

    if (hwmc_apm_load_poll(&c, 1) > 0)
        return EAGAIN;
    trial = c->state;
    if (hwmc_apm_on_event(&trial, HWMC_APM_ON_MIGRATE) != HWMC_APM_TAKEN)
        return EINVAL;
    error = ibv_modify_qp(c->qp, &attr, IBV_QP_PATH_MIG_STATE);
    if (error == 0)
        c->state = trial;
    else if (hwmc_apm_path_has_migrated(c->qp))
        error = EALREADY;
    return error;
}

int hwmc_apm_migrate(struct hwmc_apm_conn *const *conns, int n)
{
    int taken = 0;

    for (int i = 0; i < n; i++) {
        conns[i]->error = request_migration(conns[i]);
        taken += conns[i]->error == 0;
    }
    return taken;
}
