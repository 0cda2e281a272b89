/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_NETMOD_AM_AM_OVERRIDE_H_INCLUDED
#define HWMC_NETMOD_AM_AM_OVERRIDE_H_INCLUDED

#include "../base/versions.h"

/*
 * With MPIR_CVAR_HWMC_RESILIENT hwmc carries MPICH's own messages. Point-to-point and one-sided
 * operations take the form of CH4's active messages, and those use hwmc's sessions, which survive
 * the failure of a rail, instead of the endpoints of the ucx netmod.
 *
 * The transport of a message depends on its communicator alone, so that all its processes agree. A
 * communicator with processes outside MPI_COMM_WORLD, which have no sessions, uses the ucx netmod.
 * A window of a carried communicator is treated as one whose memory UCX does not know, and MPICH
 * sends what such windows need as messages. All of MPICH includes this, by netmod_inline.h, after
 * the functions that it overrides.
 */

MPL_STATIC_INLINE_PREFIX bool hwmc_am_override_comm(const MPIR_Comm *comm)
{
    return hwmc_am_override && comm->dev.ch4.netmod.hwmc.carried;
}

/* Of a request made by an active message the communicator is always known. */
MPL_STATIC_INLINE_PREFIX bool hwmc_am_override_request(const MPIR_Request *req)
{
    return hwmc_am_override && req->comm && req->comm->dev.ch4.netmod.hwmc.carried;
}

/* Point-to-point. */

MPL_STATIC_INLINE_PREFIX int MPIDI_NM_mpi_isend(const void *buf, MPI_Aint count,
                                                MPI_Datatype datatype, int rank, int tag,
                                                MPIR_Comm *comm, int attr, MPIDI_av_entry_t *addr,
                                                MPIR_Request **request)
{
    int mpi_errno;

    if (!hwmc_am_override_comm(comm))
        return MPIDI_HWMC_super_mpi_isend(buf, count, datatype, rank, tag, comm, attr, addr,
                                          request);
#if MPICH_NUMVERSION >= 40200000
    HWMC_LOCKED(MPIDIG_mpi_isend(
        buf, count, datatype, rank, tag, comm, MPIDI_HWMC_CONTEXT_OFFSET(attr), addr, 0, 0, request,
        MPIR_PT2PT_ATTR_GET_SYNCFLAG(attr) != 0, MPIR_PT2PT_ATTR_GET_ERRFLAG(attr)));
#else
    HWMC_LOCKED(MPIDIG_mpi_isend(buf, count, datatype, rank, tag, comm,
                                 MPIDI_HWMC_CONTEXT_OFFSET(attr), addr, 0, 0, request));
#endif
    return mpi_errno;
}

#if MPICH_NUMVERSION < 40200000
MPL_STATIC_INLINE_PREFIX int MPIDI_NM_mpi_issend(const void *buf, MPI_Aint count,
                                                 MPI_Datatype datatype, int rank, int tag,
                                                 MPIR_Comm *comm, int attr, MPIDI_av_entry_t *addr,
                                                 MPIR_Request **request)
{
    if (!hwmc_am_override_comm(comm))
        return MPIDI_HWMC_super_mpi_issend(buf, count, datatype, rank, tag, comm, attr, addr,
                                           request);
    return MPIDIG_mpi_issend(buf, count, datatype, rank, tag, comm, attr, addr, 0, 0, request);
}

MPL_STATIC_INLINE_PREFIX int MPIDI_NM_isend_coll(const void *buf, MPI_Aint count,
                                                 MPI_Datatype datatype, int rank, int tag,
                                                 MPIR_Comm *comm, int attr, MPIDI_av_entry_t *addr,
                                                 MPIR_Request **request, MPIR_Errflag_t *errflag)
{
    if (!hwmc_am_override_comm(comm))
        return MPIDI_HWMC_super_isend_coll(buf, count, datatype, rank, tag, comm, attr, addr,
                                           request, errflag);
    return MPIDIG_isend_coll(buf, count, datatype, rank, tag, comm, attr, addr, 0, 0, request,
                             errflag);
}
#endif

MPL_STATIC_INLINE_PREFIX int MPIDI_NM_mpi_irecv(void *buf, MPI_Aint count, MPI_Datatype datatype,
                                                int rank, int tag, MPIR_Comm *comm, int attr,
                                                MPIDI_av_entry_t *addr, MPIR_Request **request,
                                                MPIR_Request *partner)
{
    int mpi_errno;

    if (!hwmc_am_override_comm(comm))
        return MPIDI_HWMC_super_mpi_irecv(buf, count, datatype, rank, tag, comm, attr, addr,
                                          request, partner);
    HWMC_LOCKED(MPIDIG_mpi_irecv(buf, count, datatype, rank, tag, comm,
                                 MPIDI_HWMC_CONTEXT_OFFSET(attr), 0, request, 0, partner));
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_NM_mpi_imrecv(void *buf, MPI_Aint count, MPI_Datatype datatype,
                                                 MPIR_Request *message)
{
    int mpi_errno;

    if (!hwmc_am_override_request(message))
        return MPIDI_HWMC_super_mpi_imrecv(buf, count, datatype, message);
    HWMC_LOCKED(MPIDIG_mpi_imrecv(buf, count, datatype, message));
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_NM_mpi_iprobe(int source, int tag, MPIR_Comm *comm, int attr,
                                                 MPIDI_av_entry_t *addr, int *flag,
                                                 MPI_Status *status)
{
    int mpi_errno;

    if (!hwmc_am_override_comm(comm))
        return MPIDI_HWMC_super_mpi_iprobe(source, tag, comm, attr, addr, flag, status);
    HWMC_LOCKED(MPIDIG_mpi_iprobe(source, tag, comm, MPIDI_HWMC_CONTEXT_OFFSET(attr), 0, flag,
                                  HWMC_NOT_LOCAL status));
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_NM_mpi_improbe(int source, int tag, MPIR_Comm *comm, int attr,
                                                  MPIDI_av_entry_t *addr, int *flag,
                                                  MPIR_Request **message, MPI_Status *status)
{
    int mpi_errno;

    if (!hwmc_am_override_comm(comm))
        return MPIDI_HWMC_super_mpi_improbe(source, tag, comm, attr, addr, flag, message, status);
    HWMC_LOCKED(MPIDIG_mpi_improbe(source, tag, comm, MPIDI_HWMC_CONTEXT_OFFSET(attr), 0, flag,
                                   HWMC_NOT_LOCAL message, status));
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_NM_mpi_cancel_send(MPIR_Request *sreq)
{
    return hwmc_am_override_request(sreq) ? MPIDIG_mpi_cancel_send(sreq)
                                          : MPIDI_HWMC_super_mpi_cancel_send(sreq);
}

#if MPICH_NUMVERSION >= 40200000
MPL_STATIC_INLINE_PREFIX int MPIDI_NM_mpi_cancel_recv(MPIR_Request *rreq, bool is_blocking)
{
    int mpi_errno;

    if (!hwmc_am_override_request(rreq))
        return MPIDI_HWMC_super_mpi_cancel_recv(rreq, is_blocking);
    HWMC_LOCKED(MPIDI_HWMC_CANCEL_RECV(rreq));
    return mpi_errno;
}
#else
MPL_STATIC_INLINE_PREFIX int MPIDI_NM_mpi_cancel_recv(MPIR_Request *rreq)
{
    return hwmc_am_override_request(rreq) ? MPIDI_HWMC_CANCEL_RECV(rreq)
                                          : MPIDI_HWMC_super_mpi_cancel_recv(rreq);
}
#endif

/* Active messages. */

MPL_STATIC_INLINE_PREFIX int MPIDI_NM_am_isend(int rank, MPIR_Comm *comm, int handler_id,
                                               const void *am_hdr, MPI_Aint am_hdr_sz,
                                               const void *data, MPI_Aint count,
                                               MPI_Datatype datatype, int src_vci, int dst_vci,
                                               MPIR_Request *sreq)
{
    if (hwmc_am_override_comm(comm))
        return hwmc_am_isend(rank, comm, handler_id, am_hdr, am_hdr_sz, data, count, datatype,
                             sreq);
    return MPIDI_HWMC_super_am_isend(rank, comm, handler_id, am_hdr, am_hdr_sz, data, count,
                                     datatype, src_vci, dst_vci, sreq);
}

MPL_STATIC_INLINE_PREFIX int MPIDI_NM_am_isend_reply(MPIR_Comm *comm, int src_rank, int handler_id,
                                                     const void *am_hdr, MPI_Aint am_hdr_sz,
                                                     const void *data, MPI_Aint count,
                                                     MPI_Datatype datatype, int src_vci,
                                                     int dst_vci, MPIR_Request *sreq)
{
    return MPIDI_NM_am_isend(src_rank, comm, handler_id, am_hdr, am_hdr_sz, data, count, datatype,
                             src_vci, dst_vci, sreq);
}

MPL_STATIC_INLINE_PREFIX int MPIDI_NM_am_send_hdr(int rank, MPIR_Comm *comm, int handler_id,
                                                  const void *am_hdr, MPI_Aint am_hdr_sz,
                                                  int src_vci, int dst_vci)
{
    if (hwmc_am_override_comm(comm))
        return hwmc_am_send_hdr(rank, comm, handler_id, am_hdr, am_hdr_sz);
    return MPIDI_HWMC_super_am_send_hdr(rank, comm, handler_id, am_hdr, am_hdr_sz, src_vci,
                                        dst_vci);
}

MPL_STATIC_INLINE_PREFIX int MPIDI_NM_am_send_hdr_reply(MPIR_Comm *comm, int rank, int handler_id,
                                                        const void *am_hdr, MPI_Aint am_hdr_sz,
                                                        int src_vci, int dst_vci)
{
    return MPIDI_NM_am_send_hdr(rank, comm, handler_id, am_hdr, am_hdr_sz, src_vci, dst_vci);
}

/* Whether a message is sent before it is asked for. UCX of today takes any length, for it asks
 * itself; what sessions carry is asked for by CH4, which has room of a limited length for what
 * nobody receives yet. */
MPL_STATIC_INLINE_PREFIX bool MPIDI_NM_am_check_eager(MPI_Aint am_hdr_sz, MPI_Aint data_sz,
                                                      const void *data, MPI_Aint count,
                                                      MPI_Datatype datatype, MPIR_Request *sreq)
{
    if (hwmc_am_override_request(sreq))
        return am_hdr_sz + data_sz <= MPIDI_NM_am_eager_limit();
    return MPIDI_HWMC_super_am_check_eager(am_hdr_sz, data_sz, data, count, datatype, sreq);
}

/* Whether a long message that was asked for comes as one of UCX. 4.3 does not say which; active
 * messages serve all. */
#if MPICH_NUMVERSION >= 50000000
MPL_STATIC_INLINE_PREFIX bool MPIDI_NM_am_can_do_tag(MPIR_Request *rreq)
{
    return !hwmc_am_override_request(rreq) && MPIDI_HWMC_super_am_can_do_tag(rreq);
}
#elif MPICH_NUMVERSION >= 40300000
MPL_STATIC_INLINE_PREFIX bool MPIDI_NM_am_can_do_tag(void)
{
    return !hwmc_am_override && MPIDI_HWMC_super_am_can_do_tag();
}
#endif

#endif /* HWMC_NETMOD_AM_AM_OVERRIDE_H_INCLUDED */
