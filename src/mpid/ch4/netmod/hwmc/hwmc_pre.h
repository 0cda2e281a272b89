/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_PRE_H_INCLUDED
#define HWMC_PRE_H_INCLUDED

/* What MPICH's own structures hold of hwmc. Read before MPIR_Comm is complete. */

#include "../ucx/ucx_pre.h"
#include "../../../../mpi/coll/bcast_hw/bcast_hw.h"

typedef struct {
    struct bcast_hw_comm *group; /* NULL until the first broadcast that hwmc may take */
} MPIDI_HWMC_comm_t;

#endif /* HWMC_PRE_H_INCLUDED */
