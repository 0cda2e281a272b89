/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_PROCESS_MPICH_H_INCLUDED
#define HWMC_PROCESS_MPICH_H_INCLUDED

/* What differs between MPICH 4.0, 4.2, 4.3 and 5.0 outside the device, as far as hwmc uses it.
 * Needs mpi.h. */

/* The last parameter of a blocking collective: its type, and its name in MPICH's sources. */
#if MPICH_NUMVERSION >= 50000000
#define HWMC_TAIL_T int
#define MPIR_HWMC_TAIL coll_attr
#elif MPICH_NUMVERSION >= 40200000
#define HWMC_TAIL_T MPIR_Errflag_t
#define MPIR_HWMC_TAIL errflag
#else
#define HWMC_TAIL_T MPIR_Errflag_t *
#define MPIR_HWMC_TAIL errflag
#endif

/* The second parameter of a netmod's progress function: may it block, or did it do anything. */
#if MPICH_NUMVERSION >= 40200000
#define HWMC_PROGRESS_ARG_T int *
#else
#define HWMC_PROGRESS_ARG_T int
#endif

/* In a call of a collective's implementation: the types of an int, a byte and 64 bits, and what
 * says that nothing went wrong. */
#if MPICH_NUMVERSION >= 50000000
#define HWMC_INT MPIR_INT_INTERNAL
#define HWMC_BYTE MPIR_BYTE_INTERNAL
#define HWMC_UINT64 MPIR_UINT64
#define HWMC_NO_ERRORS 0
#elif MPICH_NUMVERSION >= 40200000
#define HWMC_INT MPI_INT
#define HWMC_BYTE MPI_BYTE
#define HWMC_UINT64 MPI_UINT64_T
#define HWMC_NO_ERRORS MPIR_ERR_NONE
#else
#define HWMC_INT MPI_INT
#define HWMC_BYTE MPI_BYTE
#define HWMC_UINT64 MPI_UINT64_T
#define HWMC_NO_ERRORS (&(MPIR_Errflag_t){MPIR_ERR_NONE})
#endif

/* Receiving inside a collective says nothing of errors since 4.2. */
#if MPICH_NUMVERSION >= 40200000
#define HWMC_RECV_TAIL
#else
#define HWMC_RECV_TAIL , HWMC_NO_ERRORS
#endif

/* Packing has flags since 4.2. */
#if MPICH_NUMVERSION >= 40200000
#define HWMC_TYPEREP_FLAGS , MPIR_TYPEREP_FLAG_NONE
#else
#define HWMC_TYPEREP_FLAGS
#endif

/* A communicator that MPICH made for itself inside another: a node's ranks, or the nodes' first. */
#if MPICH_NUMVERSION >= 50000000
#define HWMC_IS_SUBCOMM(comm) (((comm)->attr & MPIR_COMM_ATTR__SUBCOMM) != 0)
#else
#define HWMC_IS_SUBCOMM(comm)                                                                      \
    ((comm)->hierarchy_kind == MPIR_COMM_HIERARCHY_KIND__NODE ||                                   \
     (comm)->hierarchy_kind == MPIR_COMM_HIERARCHY_KIND__NODE_ROOTS)
#endif

/* Which PMI a process speaks is chosen when it starts since 4.2, in 5.0 by MPICH itself. MPICH's
 * own library has functions of PMIx's names, but speaks to mpiexec only; it has no version. */
#if defined(ENABLE_PMIX) && defined(PMIX_VERSION_MAJOR)
#define HWMC_PMIX_VERSION MPIR_CVAR_PMI_VERSION_x
#else
#define HWMC_PMIX_VERSION MPIR_CVAR_PMI_VERSION_1
#endif
#if MPICH_NUMVERSION >= 40200000
#define HWMC_CHOOSE_PMI(launcher)                                                                  \
    do {                                                                                           \
        if ((launcher) == HWMC_LAUNCHER_PMI)                                                       \
            MPIR_CVAR_PMI_VERSION = MPIR_CVAR_PMI_VERSION_1;                                       \
        else if ((launcher) == HWMC_LAUNCHER_PMIX)                                                 \
            MPIR_CVAR_PMI_VERSION = HWMC_PMIX_VERSION;                                             \
    } while (0)
#else
#define HWMC_CHOOSE_PMI(launcher) ((void) (launcher))
#endif

/* Fences are of all processes. */
#if MPICH_NUMVERSION >= 50000000
#define HWMC_PMI_WITHOUT_GROUPS() ((void) (MPIR_CVAR_PMI_DISABLE_GROUP = 1))
#else
#define HWMC_PMI_WITHOUT_GROUPS() ((void) 0)
#endif

#endif /* HWMC_PROCESS_MPICH_H_INCLUDED */
