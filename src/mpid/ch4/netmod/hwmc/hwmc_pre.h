/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_PRE_H_INCLUDED
#define HWMC_PRE_H_INCLUDED

/* What MPICH's own structures hold of hwmc. Read before MPIR_Comm is complete. */

#include "../ucx/ucx_pre.h"
#include "../../../../mpi/coll/bcast_hw/bcast_hw.h"
#include "hwmc_wait.h"

/* MPICH's UCX context shall be one that can be waited for: see hwmc_wait.c. The ucx netmod's sources
 * stay as they are. */
#define ucp_init MPIDI_HWMC_ucp_init

typedef struct {
    struct bcast_hw_comm *group; /* NULL until the first broadcast that hwmc may take */
} MPIDI_HWMC_comm_t;

#endif /* HWMC_PRE_H_INCLUDED */
