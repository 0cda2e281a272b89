/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * MPI_Bcast over a group. The message goes as one broadcast of the group's stream, or, where it is
 * longer than a channel, as several in a row, which the channels pipeline: a root packs and multicasts
 * piece by piece, running ahead of the members by the window; a member unpacks piece by piece. A long
 * message that lies in one piece is neither packed nor unpacked (engine/homes). Or it goes along trees, in
 * one piece in any case (core/multilane).
 *
 * Each piece says whether another follows. A member whose own length disagrees keeps in step by that,
 * takes what fits, and returns an error as MPICH's algorithms do.
 */

#include "glue.h"

struct message {
    char *buffer;
    MPI_Aint count;
    MPI_Datatype datatype;
    MPI_Aint bytes;
    char *lent; /* the whole message as it lies in memory, lent to the group; NULL: it is packed */
};

char *MPIR_Bcast_hw_contiguous(void *buffer, MPI_Datatype datatype)
{
    MPIR_Datatype *type = NULL;

    if (MPIR_GPU_query_pointer_is_dev(buffer))
        return NULL;
    if (HANDLE_IS_BUILTIN(datatype))
        return buffer;
    MPIR_Datatype_get_ptr(datatype, type);
    return type->is_contig ? (char *) buffer + type->true_lb : NULL;
}

static bool open_(struct bcast_hw_group *g)
{
    if (bcast_hw_group_open(g))
        return true;
    bcast_hw_group_stall(g, MPIR_Bcast_hw_now());
    return false;
}

static bool done(struct bcast_hw_group *g)
{
    return bcast_hw_group_done(g);
}

static bool sent(struct bcast_hw_group *g)
{
    return bcast_hw_group_sent(g);
}

/* A long message that lies in one piece is sent from there and placed there. */
static void lend(struct bcast_hw_group *g, struct message *m)
{
    m->lent = m->bytes > MPIR_CVAR_BCAST_HW_COPY_BYTES
                  ? MPIR_Bcast_hw_contiguous(m->buffer, m->datatype)
                  : NULL;
    if (m->lent) {
        MPIR_Bcast_hw_lock();
        bcast_hw_group_lend(g, m->lent, (size_t) m->bytes);
        MPIR_Bcast_hw_unlock();
    }
}

/* Also after an error: the group may be used no further, but what it has of the program's must go. */
static void take_back(struct bcast_hw_group *g, const struct message *m)
{
    if (m->lent) {
        MPIR_Bcast_hw_lock();
        bcast_hw_group_return(g);
        MPIR_Bcast_hw_unlock();
    }
}

/* `memory` is where the message has its bytes from `at` on: nothing is to be copied. */
static bool in_place(const struct message *m, MPI_Aint at, const char *memory)
{
    return m->lent && memory == m->lent + at;
}

/* One piece from the root: bytes at..at + n of the message. */
static int send_piece(struct bcast_hw_group *g, const struct message *m, MPI_Aint at, MPI_Aint n)
{
    int mpi_errno;
    MPI_Aint packed = n;
    char *to;

    mpi_errno = MPIR_Bcast_hw_wait(g, open_);
    MPIR_ERR_CHECK(mpi_errno);
    to = bcast_hw_group_next_bytes(g, (uint32_t) n);
    /* No other thread uses this channel: it is between broadcasts of one communicator. */
    MPIR_Bcast_hw_unlock();
    if (!in_place(m, at, to))
        mpi_errno = MPIR_Typerep_pack(m->buffer, m->count, m->datatype, at, to, n,
                                      &packed MPIR_BCAST_HW_TYPEREP_FLAGS);
    MPIR_Assert(mpi_errno != MPI_SUCCESS || packed == n);
    MPIR_Bcast_hw_lock();
    MPIR_ERR_CHECK(mpi_errno);
    bcast_hw_group_post_root(g, (uint32_t) n, at + n < m->bytes, MPIR_Bcast_hw_now());
    MPIR_Bcast_hw_unlock();
    mpi_errno = MPIR_Bcast_hw_wait(g, done);
    MPIR_ERR_CHECK(mpi_errno);
    bcast_hw_group_consume(g, MPIR_Bcast_hw_now());

fn_exit:
    MPIR_Bcast_hw_unlock();
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* One piece at a member: `n` bytes expected at `at`. Sets *got to what came and *more to whether
 * another piece follows. */
static int recv_piece(struct bcast_hw_group *g, const struct message *m, int root, MPI_Aint at,
                      MPI_Aint n, MPI_Aint *got, bool *more)
{
    int mpi_errno;
    MPI_Aint unpacked = 0;
    const char *from;

    mpi_errno = MPIR_Bcast_hw_wait(g, open_);
    MPIR_ERR_CHECK(mpi_errno);
    bcast_hw_group_post_member(g, (uint32_t) root, MPIR_Bcast_hw_now());
    MPIR_Bcast_hw_unlock();
    mpi_errno = MPIR_Bcast_hw_wait(g, done);
    MPIR_ERR_CHECK(mpi_errno);
    *got = bcast_hw_stream_bytes(&g->stream);
    *more = bcast_hw_stream_more(&g->stream);
    n = *got < n ? *got : n;
    from = bcast_hw_group_last_bytes(g);
    /* The bytes stay where they are until this rank has consumed the broadcast. */
    MPIR_Bcast_hw_unlock();
    if (n > 0 && !in_place(m, at, from))
        mpi_errno = MPIR_Typerep_unpack(from, n, m->buffer, m->count, m->datatype, at,
                                        &unpacked MPIR_BCAST_HW_TYPEREP_FLAGS);
    MPIR_Bcast_hw_lock();
    bcast_hw_group_consume(g, MPIR_Bcast_hw_now());
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    MPIR_Bcast_hw_unlock();
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static int send_message(struct bcast_hw_group *g, struct message *m)
{
    int mpi_errno = MPI_SUCCESS;
    MPI_Aint piece = g->piece_bytes;

    lend(g, m);
    for (MPI_Aint at = 0; at < m->bytes; at += piece) {
        mpi_errno = send_piece(g, m, at, m->bytes - at < piece ? m->bytes - at : piece);
        MPIR_ERR_CHECK(mpi_errno);
    }
    if (m->lent) {
        mpi_errno = MPIR_Bcast_hw_wait(g, sent);
        if (mpi_errno == MPI_SUCCESS) { /* before anything of it can be multicast again */
            bcast_hw_group_return(g);
            m->lent = NULL;
        }
        MPIR_Bcast_hw_unlock();
        MPIR_ERR_CHECK(mpi_errno);
    }

fn_exit:
    take_back(g, m);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static int recv_message(struct bcast_hw_group *g, struct message *m, int root)
{
    int mpi_errno = MPI_SUCCESS;
    MPI_Aint piece = g->piece_bytes, at = 0, got = 0;
    bool more = true;

    lend(g, m);
    while (more) {
        MPI_Aint left = m->bytes > at ? m->bytes - at : 0;

        mpi_errno = recv_piece(g, m, root, at, left < piece ? left : piece, &got, &more);
        MPIR_ERR_CHECK(mpi_errno);
        at += got;
    }
    if (at != m->bytes)
        MPIR_ERR_SETANDJUMP2(mpi_errno, MPI_ERR_OTHER, "**collective_size_mismatch",
                             "**collective_size_mismatch %d %d", (int) at, (int) m->bytes);

fn_exit:
    take_back(g, m);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Along trees. The message lies in one piece, the program's or one made for it. */

#define TREES_PIECE ((MPI_Aint) 1 << 30) /* bytes of one broadcast along trees */

/* `n` bytes from and into `memory`. */
static int piece_along_trees(struct bcast_hw_group *g, char *memory, MPI_Aint n, int root)
{
    int mpi_errno;
    uint32_t theirs;
    bool failed;

    mpi_errno = MPIR_Bcast_hw_wait(g, open_);
    MPIR_ERR_CHECK(mpi_errno);
    bcast_hw_group_post_trees(g, (uint32_t) root, memory, (uint32_t) n, MPIR_Bcast_hw_now());
    MPIR_Bcast_hw_unlock();
    mpi_errno = MPIR_Bcast_hw_wait(g, done);
    MPIR_ERR_CHECK(mpi_errno);
    failed = bcast_hw_stream_failed(&g->stream, &theirs);
    bcast_hw_group_consume(g, MPIR_Bcast_hw_now());
    if (failed)
        MPIR_ERR_SETANDJUMP2(mpi_errno, MPI_ERR_OTHER, "**collective_size_mismatch",
                             "**collective_size_mismatch %d %d", (int) theirs, (int) n);

fn_exit:
    MPIR_Bcast_hw_unlock();
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static int message_along_trees(struct bcast_hw_group *g, const struct message *m, int root,
                               bool is_root)
{
    int mpi_errno = MPI_SUCCESS;
    char *memory = MPIR_Bcast_hw_contiguous(m->buffer, m->datatype), *own = NULL;
    MPI_Aint moved = m->bytes;

    if (!memory) {
        memory = own = MPL_malloc(m->bytes, MPL_MEM_BUFFER);
        MPIR_ERR_CHKANDJUMP(!own, mpi_errno, MPI_ERR_OTHER, "**nomem");
    }
    if (own && is_root)
        mpi_errno = MPIR_Typerep_pack(m->buffer, m->count, m->datatype, 0, own, m->bytes,
                                      &moved MPIR_BCAST_HW_TYPEREP_FLAGS);
    MPIR_ERR_CHECK(mpi_errno);
    for (MPI_Aint at = 0; at < m->bytes; at += TREES_PIECE) {
        MPI_Aint left = m->bytes - at;

        mpi_errno =
            piece_along_trees(g, memory + at, left < TREES_PIECE ? left : TREES_PIECE, root);
        MPIR_ERR_CHECK(mpi_errno);
    }
    if (own && !is_root)
        mpi_errno = MPIR_Typerep_unpack(own, m->bytes, m->buffer, m->count, m->datatype, 0,
                                        &moved MPIR_BCAST_HW_TYPEREP_FLAGS);
    MPIR_ERR_CHECK(mpi_errno);
    MPIR_Assert(moved == m->bytes);

fn_exit:
    MPL_free(own);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* MPICH's own choice for a whole communicator, made here: the general selection could name this
 * algorithm again. */
static int leave_to_mpich(void *buffer, MPI_Aint count, MPI_Datatype datatype, MPI_Aint bytes,
                          int root, MPIR_Comm *comm, MPIR_BCAST_HW_TAIL_T MPIR_BCAST_HW_TAIL)
{
    if (bytes < MPIR_CVAR_BCAST_SHORT_MSG_SIZE || comm->local_size < MPIR_CVAR_BCAST_MIN_PROCS)
        return MPIR_Bcast_intra_binomial(buffer, count, datatype, root, comm, MPIR_BCAST_HW_TAIL);
    if (bytes < MPIR_CVAR_BCAST_LONG_MSG_SIZE && (comm->local_size & (comm->local_size - 1)) == 0)
        return MPIR_Bcast_intra_scatter_recursive_doubling_allgather(buffer, count, datatype, root,
                                                                     comm, MPIR_BCAST_HW_TAIL);
    return MPIR_Bcast_intra_scatter_ring_allgather(buffer, count, datatype, root, comm,
                                                   MPIR_BCAST_HW_TAIL);
}

/* Comes from MPID_Bcast, which has asked MPIR_Bcast_hw_takes, or from MPICH's selection by CVAR or
 * JSON file, which has not. */
int MPIR_Bcast_intra_hw(void *buffer, MPI_Aint count, MPI_Datatype datatype, int root,
                        MPIR_Comm *comm, MPIR_BCAST_HW_TAIL_T MPIR_BCAST_HW_TAIL)
{
    int mpi_errno = MPI_SUCCESS;
    struct bcast_hw_comm *c;
    struct message m = {.buffer = buffer, .count = count, .datatype = datatype};
    MPI_Aint size;

    MPIR_FUNC_ENTER;

    MPIR_Datatype_get_size_macro(datatype, size);
    m.bytes = size * count;
    c = MPIR_Bcast_hw_comm(comm);
    if (!(c && c->admitted) && !MPIR_Bcast_hw_takes(count, datatype, comm)) {
        MPIR_Bcast_hw_note_call(false, m.bytes);
        mpi_errno =
            leave_to_mpich(buffer, count, datatype, m.bytes, root, comm, MPIR_BCAST_HW_TAIL);
        MPIR_ERR_CHECK(mpi_errno);
        goto fn_exit;
    }
    c = MPIR_Bcast_hw_comm(comm);
    c->admitted = false;
    MPIR_Bcast_hw_note_call(true, m.bytes);
    if (c->along_trees)
        mpi_errno = message_along_trees(c->group, &m, root, comm->rank == root);
    else
        mpi_errno =
            comm->rank == root ? send_message(c->group, &m) : recv_message(c->group, &m, root);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    MPIR_FUNC_EXIT;
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
