/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_PROGRESS_H_INCLUDED
#define HWMC_PROGRESS_H_INCLUDED

#include "../../../../mpi/coll/bcast_hw/compat.h"

/* Entered with the lock of the VCI held. */
MPL_STATIC_INLINE_PREFIX int MPIDI_NM_progress(int vci, MPIR_BCAST_HW_PROGRESS_ARG_T arg)
{
    return MPIDI_HWMC_super_progress(vci, arg);
}

#endif /* HWMC_PROGRESS_H_INCLUDED */
