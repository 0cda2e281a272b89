/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_NETMOD_BASE_VERSIONS_H_INCLUDED
#define HWMC_NETMOD_BASE_VERSIONS_H_INCLUDED

/* What differs between CH4 of MPICH 4.0, 4.2, 4.3 and 5.0, as far as hwmc's netmod uses it. What
 * differs outside the device is in bcast_hw/process/mpich.h. Needs mpi.h; read by all of MPICH. */

/* The lock of VCI 0. */
#if MPICH_NUMVERSION >= 50000000
#define HWMC_LOCK MPIDI_VCI_LOCK(0)
#else
#define HWMC_LOCK MPIDI_VCI(0).lock
#endif

/* A call of a generic function: from 4.2 on the netmod holds the lock around it; before, that takes
 * it. */
#if MPICH_NUMVERSION >= 40200000
#define HWMC_LOCKED(call)                                                                          \
    do {                                                                                           \
        MPID_THREAD_CS_ENTER(VCI, HWMC_LOCK);                                                      \
        mpi_errno = call;                                                                          \
        MPID_THREAD_CS_EXIT(VCI, HWMC_LOCK);                                                       \
    } while (0)
#else
#define HWMC_LOCKED(call) mpi_errno = call
#endif

/* What `attr` of a message is: since 4.2 more than the context's offset. */
#if MPICH_NUMVERSION >= 40200000
#define MPIDI_HWMC_CONTEXT_OFFSET(attr) MPIR_PT2PT_ATTR_CONTEXT_OFFSET(attr)
#else
#define MPIDI_HWMC_CONTEXT_OFFSET(attr) (attr)
#endif

/* In a probe: since 4.3 it says whether it looks for messages of this host. */
#if MPICH_NUMVERSION >= 40300000
#define HWMC_NOT_LOCAL false,
#else
#define HWMC_NOT_LOCAL
#endif

/* Cancelling says since 5.0 whether the receive has a partner. */
#if MPICH_NUMVERSION >= 50000000
#define MPIDI_HWMC_CANCEL_RECV(req) MPIDIG_mpi_cancel_recv(req, false)
#else
#define MPIDI_HWMC_CANCEL_RECV(req) MPIDIG_mpi_cancel_recv(req)
#endif

/* The number of workers of the ucx netmod. */
#if MPICH_NUMVERSION >= 40200000
#define MPIDI_HWMC_NUM_VCIS (MPIDI_UCX_global.num_vcis)
#else
#define MPIDI_HWMC_NUM_VCIS (MPIDI_UCX_global.num_vnis)
#endif

/* The entry of a process of MPI_COMM_WORLD in the ucx netmod's table. */
#if MPICH_NUMVERSION >= 50000000
#define MPIDI_HWMC_UCX_AV(rank) MPIDI_UCX_AV(MPIDIU_lpid_to_av(rank))
#else
#define MPIDI_HWMC_UCX_AV(rank) MPIDI_UCX_AV(&MPIDIU_get_av(0, rank))
#endif

/* Whether every process can be waited for in MPI_Finalize. */
#if MPICH_NUMVERSION >= 40200000
#define HWMC_FINALIZE_IS_COLLECTIVE (!MPIR_CVAR_NO_COLLECTIVE_FINALIZE)
#else
#define HWMC_FINALIZE_IS_COLLECTIVE true
#endif

#endif /* HWMC_NETMOD_BASE_VERSIONS_H_INCLUDED */
