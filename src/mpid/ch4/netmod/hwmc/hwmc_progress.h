/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_PROGRESS_H_INCLUDED
#define HWMC_PROGRESS_H_INCLUDED

#include "../../../../mpi/coll/bcast_hw/compat.h"
#include "hwmc_wait.h"

/* Entered with the lock of the VCI held. The engine lives with VCI 0. */
MPL_STATIC_INLINE_PREFIX int MPIDI_NM_progress(int vci, MPIR_BCAST_HW_PROGRESS_ARG_T arg)
{
    struct MPIDI_HWMC_wait *w = &MPIDI_HWMC_wait;
    int mpi_errno;

    MPIDI_HWMC_wait_poll(w);
    mpi_errno = MPIDI_HWMC_super_progress(vci, arg);
    if (vci == 0)
        w->events += (unsigned) MPIR_Bcast_hw_progress();
    MPIDI_HWMC_wait_polled(w, w->events);
    return mpi_errno;
}

#endif /* HWMC_PROGRESS_H_INCLUDED */
