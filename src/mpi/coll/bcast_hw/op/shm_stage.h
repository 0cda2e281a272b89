/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * shm_stage: a collective inside the host (shm/coll) as a stage.
 */

#ifndef HWMC_OP_SHM_STAGE_H_INCLUDED
#define HWMC_OP_SHM_STAGE_H_INCLUDED

#include "../shm/segment/op.h"
#include "stage.h"

struct hwmc_shm_stage {
    struct hwmc_op_stage stage;
    struct hwmc_shm_op *op; /* begun; the caller's */
};

void hwmc_shm_stage_begin(struct hwmc_shm_stage *s, struct hwmc_shm_op *op);

#endif /* HWMC_OP_SHM_STAGE_H_INCLUDED */
