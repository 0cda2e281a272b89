/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The collective layer as MPICH's own files see it. Read before MPIR_Comm is complete, and by all
 * of MPICH: what need not be here is not. MPIR_Bcast_intra_hw itself is declared by MPICH, from
 * coll_algorithms.txt.
 */

#ifndef HWMC_ENTRY_HOOKS_H_INCLUDED
#define HWMC_ENTRY_HOOKS_H_INCLUDED

#include <stdbool.h>
#include "../process/mpich.h"

/* When MPICH is about to ask the launcher for rank and size: speak the PMI that it speaks, unless
 * the user has set MPIR_CVAR_PMI_VERSION. */
void MPIR_Hwmc_choose_pmi(void);

/* When MPICH has written why it aborts, and is about to: waits, not for long, until mpiexec has
 * taken that. With the first rank that aborts it ends, whatever pipes still hold. */
void MPIR_Hwmc_before_abort(void);

/* Whether MPIR_Bcast_intra_hw shall run this broadcast: the same answer on every rank of COMM.
 * Where it is false MPICH's own selection goes on. May wait, with progress, for a set-up of COMM
 * that every member has begun or is about to. */
bool MPIR_Hwmc_takes(MPI_Aint count, MPI_Datatype datatype, MPIR_Comm *comm);

/* Nonblocking and persistent collectives: MPID_I<collective>, MPID_<Collective>_init. True:
 * *request is made, or *mpi_errno is an error; false: it is MPICH's to run. The same on every rank
 * of `comm`. None waits. */
enum hwmc_form { HWMC_NONBLOCKING, HWMC_PERSISTENT };

bool MPIR_Hwmc_ibarrier(MPIR_Comm *comm, enum hwmc_form form, MPIR_Request **request,
                        int *mpi_errno);
bool MPIR_Hwmc_ibcast(void *buffer, MPI_Aint count, MPI_Datatype datatype, int root,
                      MPIR_Comm *comm, enum hwmc_form form, MPIR_Request **request, int *mpi_errno);
bool MPIR_Hwmc_ireduce(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                       MPI_Op op, int root, MPIR_Comm *comm, enum hwmc_form form,
                       MPIR_Request **request, int *mpi_errno);
bool MPIR_Hwmc_iallreduce(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                          MPI_Op op, MPIR_Comm *comm, enum hwmc_form form, MPIR_Request **request,
                          int *mpi_errno);
bool MPIR_Hwmc_igather(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                       void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype, int root,
                       MPIR_Comm *comm, enum hwmc_form form, MPIR_Request **request,
                       int *mpi_errno);
bool MPIR_Hwmc_igatherv(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                        void *recvbuf, const MPI_Aint *recvcounts, const MPI_Aint *displs,
                        MPI_Datatype recvtype, int root, MPIR_Comm *comm, enum hwmc_form form,
                        MPIR_Request **request, int *mpi_errno);
bool MPIR_Hwmc_iallgather(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                          void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype, MPIR_Comm *comm,
                          enum hwmc_form form, MPIR_Request **request, int *mpi_errno);
bool MPIR_Hwmc_iallgatherv(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                           void *recvbuf, const MPI_Aint *recvcounts, const MPI_Aint *displs,
                           MPI_Datatype recvtype, MPIR_Comm *comm, enum hwmc_form form,
                           MPIR_Request **request, int *mpi_errno);
bool MPIR_Hwmc_iscatter(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                        void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype, int root,
                        MPIR_Comm *comm, enum hwmc_form form, MPIR_Request **request,
                        int *mpi_errno);
bool MPIR_Hwmc_iscatterv(const void *sendbuf, const MPI_Aint *sendcounts, const MPI_Aint *displs,
                         MPI_Datatype sendtype, void *recvbuf, MPI_Aint recvcount,
                         MPI_Datatype recvtype, int root, MPIR_Comm *comm, enum hwmc_form form,
                         MPIR_Request **request, int *mpi_errno);
bool MPIR_Hwmc_ialltoall(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                         void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype, MPIR_Comm *comm,
                         enum hwmc_form form, MPIR_Request **request, int *mpi_errno);
bool MPIR_Hwmc_ialltoallv(const void *sendbuf, const MPI_Aint *sendcounts, const MPI_Aint *sdispls,
                          MPI_Datatype sendtype, void *recvbuf, const MPI_Aint *recvcounts,
                          const MPI_Aint *rdispls, MPI_Datatype recvtype, MPIR_Comm *comm,
                          enum hwmc_form form, MPIR_Request **request, int *mpi_errno);
bool MPIR_Hwmc_ialltoallw(const void *sendbuf, const MPI_Aint *sendcounts, const MPI_Aint *sdispls,
                          const MPI_Datatype *sendtypes, void *recvbuf, const MPI_Aint *recvcounts,
                          const MPI_Aint *rdispls, const MPI_Datatype *recvtypes, MPIR_Comm *comm,
                          enum hwmc_form form, MPIR_Request **request, int *mpi_errno);
bool MPIR_Hwmc_iscan(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                     MPI_Op op, MPIR_Comm *comm, enum hwmc_form form, MPIR_Request **request,
                     int *mpi_errno);
bool MPIR_Hwmc_iexscan(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                       MPI_Op op, MPIR_Comm *comm, enum hwmc_form form, MPIR_Request **request,
                       int *mpi_errno);
bool MPIR_Hwmc_ireduce_scatter(const void *sendbuf, void *recvbuf, const MPI_Aint *recvcounts,
                               MPI_Datatype datatype, MPI_Op op, MPIR_Comm *comm,
                               enum hwmc_form form, MPIR_Request **request, int *mpi_errno);
bool MPIR_Hwmc_ireduce_scatter_block(const void *sendbuf, void *recvbuf, MPI_Aint recvcount,
                                     MPI_Datatype datatype, MPI_Op op, MPIR_Comm *comm,
                                     enum hwmc_form form, MPIR_Request **request, int *mpi_errno);

/* A persistent collective is started, or its request is freed: true: it is hwmc's, and that was
 * done; false: MPICH's. */
bool MPIR_Hwmc_persist_start(MPIR_Request *request, int *mpi_errno);
bool MPIR_Hwmc_persist_free(MPIR_Request *request);

/* Collectives of communicators whose ranks all run on one host. True: it was run, and *mpi_errno is
 * set; false: it is MPICH's to run. The same on every rank of `comm`. */
bool MPIR_Hwmc_barrier(MPIR_Comm *comm, int *mpi_errno);
bool MPIR_Hwmc_bcast(void *buffer, MPI_Aint count, MPI_Datatype datatype, int root, MPIR_Comm *comm,
                     int *mpi_errno);
bool MPIR_Hwmc_reduce(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                      MPI_Op op, int root, MPIR_Comm *comm, int *mpi_errno);
bool MPIR_Hwmc_allreduce(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                         MPI_Op op, MPIR_Comm *comm, int *mpi_errno);
bool MPIR_Hwmc_gather(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype, void *recvbuf,
                      MPI_Aint recvcount, MPI_Datatype recvtype, int root, MPIR_Comm *comm,
                      int *mpi_errno);
bool MPIR_Hwmc_gatherv(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                       void *recvbuf, const MPI_Aint *recvcounts, const MPI_Aint *displs,
                       MPI_Datatype recvtype, int root, MPIR_Comm *comm, int *mpi_errno);
bool MPIR_Hwmc_allgather(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                         void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype, MPIR_Comm *comm,
                         int *mpi_errno);
bool MPIR_Hwmc_allgatherv(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                          void *recvbuf, const MPI_Aint *recvcounts, const MPI_Aint *displs,
                          MPI_Datatype recvtype, MPIR_Comm *comm, int *mpi_errno);
bool MPIR_Hwmc_scatter(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                       void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype, int root,
                       MPIR_Comm *comm, int *mpi_errno);
bool MPIR_Hwmc_scatterv(const void *sendbuf, const MPI_Aint *sendcounts, const MPI_Aint *displs,
                        MPI_Datatype sendtype, void *recvbuf, MPI_Aint recvcount,
                        MPI_Datatype recvtype, int root, MPIR_Comm *comm, int *mpi_errno);
bool MPIR_Hwmc_alltoall(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                        void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype, MPIR_Comm *comm,
                        int *mpi_errno);
bool MPIR_Hwmc_alltoallv(const void *sendbuf, const MPI_Aint *sendcounts, const MPI_Aint *sdispls,
                         MPI_Datatype sendtype, void *recvbuf, const MPI_Aint *recvcounts,
                         const MPI_Aint *rdispls, MPI_Datatype recvtype, MPIR_Comm *comm,
                         int *mpi_errno);
bool MPIR_Hwmc_alltoallw(const void *sendbuf, const MPI_Aint *sendcounts, const MPI_Aint *sdispls,
                         const MPI_Datatype *sendtypes, void *recvbuf, const MPI_Aint *recvcounts,
                         const MPI_Aint *rdispls, const MPI_Datatype *recvtypes, MPIR_Comm *comm,
                         int *mpi_errno);
bool MPIR_Hwmc_scan(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                    MPI_Op op, MPIR_Comm *comm, int *mpi_errno);
bool MPIR_Hwmc_exscan(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                      MPI_Op op, MPIR_Comm *comm, int *mpi_errno);
bool MPIR_Hwmc_reduce_scatter(const void *sendbuf, void *recvbuf, const MPI_Aint *recvcounts,
                              MPI_Datatype datatype, MPI_Op op, MPIR_Comm *comm, int *mpi_errno);
bool MPIR_Hwmc_reduce_scatter_block(const void *sendbuf, void *recvbuf, MPI_Aint recvcount,
                                    MPI_Datatype datatype, MPI_Op op, MPIR_Comm *comm,
                                    int *mpi_errno);

#endif /* HWMC_ENTRY_HOOKS_H_INCLUDED */
