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

/* Two calls of the ucx netmod, whose sources stay as they are, are hwmc's to answer: its UCX context
 * shall be one that can be waited for (hwmc_wait.c), and its endpoints shall not be closed one by one
 * when none needs it (hwmc_finalize.c). */
#define ucp_init MPIDI_HWMC_ucp_init
#define ucp_disconnect_nb MPIDI_HWMC_ucp_disconnect_nb

typedef struct {
    struct bcast_hw_comm *group; /* NULL until the first broadcast that hwmc may take */
} MPIDI_HWMC_comm_t;

#endif /* HWMC_PRE_H_INCLUDED */
