/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * path: see path.h.
 */
#include "path.h"

#include <string.h>

void hwmc_apm_path_address(const struct hwmc_apm_path *path, struct ibv_ah_attr *ah)
{
    memset(ah, 0, sizeof(*ah));
    ah->dlid = path->dlid;
    ah->sl = path->sl;
    ah->src_path_bits = path->src_path_bits;
    ah->port_num = path->port;
    if (path->grh) {
        ah->is_global = 1;
        ah->grh.dgid = path->dgid;
        ah->grh.sgid_index = path->sgid_index;
        ah->grh.hop_limit = 64;
    }
}

bool hwmc_apm_path_has_migrated(struct ibv_qp *qp)
{
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;

    return ibv_query_qp(qp, &attr, IBV_QP_PATH_MIG_STATE, &init) == 0 &&
           attr.path_mig_state == IBV_MIG_MIGRATED;
}
