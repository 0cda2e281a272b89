/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * message: see message.h. A message goes as one broadcast of the group's stream, or, where it is
 * longer than a channel, as several in a row, which the channels pipeline: a root packs and
 * multicasts piece by piece, running ahead of the members by the window; a member unpacks piece by
 * piece. A long message that lies in one piece is neither packed nor unpacked (engine/placement).
 * Or it goes along trees, in one piece in any case (core/bcast/multilane).
 *
 * Each piece says whether another follows. A member whose own length disagrees keeps in step by
 * that, takes what fits, and returns an error as MPICH's algorithms do.
 */

#include "message.h"
#include "contiguous.h"
#include "../engine/engine.h"
#include "../process/mpich.h"
#include "../stats/epoch.h"

static bool open_(struct hwmc_group *g)
{
    if (hwmc_group_open(g))
        return true;
    hwmc_group_stall(g, hwmc_now());
    return false;
}

static bool done(struct hwmc_group *g)
{
    return hwmc_group_done(g);
}

static bool sent(struct hwmc_group *g)
{
    return hwmc_group_sent(g);
}

/* A long message that lies in one piece is sent from there and placed there. */
static void pin(struct hwmc_group *g, struct hwmc_message *m)
{
    m->pinned =
        m->bytes > MPIR_CVAR_BCAST_HW_COPY_BYTES ? hwmc_contiguous(m->buffer, m->datatype) : NULL;
    if (m->pinned) {
        hwmc_lock();
        hwmc_group_pin(g, m->pinned, (size_t) m->bytes);
        hwmc_unlock();
    }
}

/* Also after an error: the group may be used no further, but what it has of the program's must
 * go. */
static void take_back(struct hwmc_group *g, const struct hwmc_message *m)
{
    if (m->pinned) {
        hwmc_lock();
        hwmc_group_unpin(g);
        hwmc_unlock();
    }
}

/* `memory` is where the message has its bytes from `at` on: nothing is to be copied. */
static bool in_place(const struct hwmc_message *m, MPI_Aint at, const char *memory)
{
    return m->pinned && memory == m->pinned + at;
}

/* Waits with the lock, as hwmc_wait_group does. */
static int wait_for(struct hwmc_group *g, const struct hwmc_message *m,
                    bool (*ready)(struct hwmc_group *g))
{
    return hwmc_wait_group(g, ready, m->pipeline);
}

/* Waits until this rank has the message's first `bytes`, which come to it from the root. */
static int is_here(const struct hwmc_message *m, MPI_Aint bytes)
{
    return m->pipeline ? hwmc_pipeline_wait(m->pipeline, bytes) : MPI_SUCCESS;
}

/* The network's broadcast that was posted brings what is from `at` on. */
static void bring(const struct hwmc_message *m, MPI_Aint at)
{
    if (m->pipeline) {
        m->pipeline->piece = at;
        m->pipeline->here = 0;
        m->pipeline->listens = true;
    }
}

/* It has brought all up to `bytes`. */
static void has_come(const struct hwmc_message *m, MPI_Aint bytes)
{
    if (m->pipeline) {
        m->pipeline->listens = false;
        hwmc_pipeline_more(m->pipeline, bytes);
    }
}

/* One piece from the root: bytes at..at + n of the message. Sets *cast to whether this broadcast is
 * multicast: if not, nothing was done. */
static int send_piece(struct hwmc_group *g, const struct hwmc_message *m, MPI_Aint at, MPI_Aint n,
                      bool *cast)
{
    int mpi_errno;
    MPI_Aint packed = n;
    char *to;

    mpi_errno = is_here(m, at + n);
    if (mpi_errno)
        return mpi_errno;
    mpi_errno = wait_for(g, m, open_);
    MPIR_ERR_CHECK(mpi_errno);
    *cast = hwmc_group_casts_next(g);
    if (!*cast)
        goto fn_exit;
    to = hwmc_group_next_bytes(g, (uint32_t) n);
    /* No other thread uses this channel: it is between broadcasts of one communicator. */
    hwmc_unlock();
    if (!in_place(m, at, to))
        mpi_errno = MPIR_Typerep_pack(m->buffer, m->count, m->datatype, at, to, n,
                                      &packed HWMC_TYPEREP_FLAGS);
    MPIR_Assert(mpi_errno != MPI_SUCCESS || packed == n);
    hwmc_lock();
    MPIR_ERR_CHECK(mpi_errno);
    hwmc_group_post_root(g, (uint32_t) n, at + n < m->bytes, hwmc_now());
    hwmc_unlock();
    mpi_errno = wait_for(g, m, done);
    MPIR_ERR_CHECK(mpi_errno);
    hwmc_group_consume(g, hwmc_now());

fn_exit:
    hwmc_unlock();
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* One piece at a member: `n` bytes expected at `at`. Sets *cast as send_piece does; if so, *got to
 * what came and *more to whether another piece follows. */
static int recv_piece(struct hwmc_group *g, const struct hwmc_message *m, int root, MPI_Aint at,
                      MPI_Aint n, bool *cast, MPI_Aint *got, bool *more)
{
    int mpi_errno;
    MPI_Aint unpacked = 0;
    const char *from;

    mpi_errno = wait_for(g, m, open_);
    MPIR_ERR_CHECK(mpi_errno);
    *cast = hwmc_group_casts_next(g);
    if (!*cast)
        goto fn_exit;
    hwmc_group_post_member(g, (uint32_t) root, hwmc_now());
    bring(m, at);
    hwmc_unlock();
    mpi_errno = wait_for(g, m, done);
    MPIR_ERR_CHECK(mpi_errno);
    *got = hwmc_stream_bytes(&g->stream);
    *more = hwmc_stream_more(&g->stream);
    n = *got < n ? *got : n;
    from = hwmc_group_last_bytes(g);
    /* The bytes stay where they are until this rank has consumed the broadcast. */
    hwmc_unlock();
    if (n > 0 && !in_place(m, at, from))
        mpi_errno = MPIR_Typerep_unpack(from, n, m->buffer, m->count, m->datatype, at,
                                        &unpacked HWMC_TYPEREP_FLAGS);
    has_come(m, at + n);
    hwmc_lock();
    hwmc_group_consume(g, hwmc_now());
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    hwmc_unlock();
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Sends it, or the part before the first broadcast that is not multicast: *at bytes. */
static int send_message(struct hwmc_group *g, struct hwmc_message *m, MPI_Aint *at)
{
    int mpi_errno = MPI_SUCCESS;
    MPI_Aint piece = g->piece_bytes;
    bool cast = true;

    pin(g, m);
    for (*at = 0; *at < m->bytes; *at += piece) {
        MPI_Aint left = m->bytes - *at;

        mpi_errno = send_piece(g, m, *at, left < piece ? left : piece, &cast);
        MPIR_ERR_CHECK(mpi_errno);
        if (!cast)
            break;
    }
    if (m->pinned) {
        mpi_errno = wait_for(g, m, sent);
        if (mpi_errno == MPI_SUCCESS) { /* before anything of it can be multicast again */
            hwmc_group_unpin(g);
            m->pinned = NULL;
        }
        hwmc_unlock();
        MPIR_ERR_CHECK(mpi_errno);
    }

fn_exit:
    take_back(g, m);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Receives it, or that part of it. Sets *more to whether another part follows. */
static int recv_message(struct hwmc_group *g, struct hwmc_message *m, int root, MPI_Aint *at,
                        bool *more)
{
    int mpi_errno = MPI_SUCCESS;
    MPI_Aint piece = g->piece_bytes, got = 0;
    bool cast = true;

    *at = 0;
    *more = true;
    pin(g, m);
    while (*more) {
        MPI_Aint left = m->bytes > *at ? m->bytes - *at : 0;

        mpi_errno = recv_piece(g, m, root, *at, left < piece ? left : piece, &cast, &got, more);
        MPIR_ERR_CHECK(mpi_errno);
        if (!cast)
            break;
        *at += got;
    }
    if (!*more && *at != m->bytes)
        MPIR_ERR_SETANDJUMP2(mpi_errno, MPI_ERR_OTHER, "**collective_size_mismatch",
                             "**collective_size_mismatch %d %d", (int) *at, (int) m->bytes);

fn_exit:
    take_back(g, m);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Along trees. The message lies in one piece, the program's or one made for it. */

#define TREES_PIECE ((MPI_Aint) 1 << 30) /* bytes of one broadcast along trees */
#define TREES_PIECE_FROM_MATE                                                                      \
    ((MPI_Aint) 1 << 20) /* the same where who sends it gets it from the root */

/* The message's `n` bytes from `at` on, which are at `memory`. */
static int piece_along_trees(struct hwmc_group *g, const struct hwmc_message *m, MPI_Aint at,
                             char *memory, MPI_Aint n, int root, bool is_root)
{
    int mpi_errno;
    uint32_t theirs;
    bool failed;

    mpi_errno = wait_for(g, m, open_);
    MPIR_ERR_CHECK(mpi_errno);
    hwmc_group_post_trees(g, (uint32_t) root, memory, (uint32_t) n, hwmc_now());
    if (!is_root)
        bring(m, at);
    hwmc_unlock();
    mpi_errno = wait_for(g, m, done);
    if (mpi_errno)
        hwmc_withdraw(g);
    MPIR_ERR_CHECK(mpi_errno);
    failed = hwmc_stream_failed(&g->stream, &theirs);
    hwmc_group_consume(g, hwmc_now());
    if (failed)
        MPIR_ERR_SETANDJUMP2(mpi_errno, MPI_ERR_OTHER, "**collective_size_mismatch",
                             "**collective_size_mismatch %d %d", (int) theirs, (int) n);

fn_exit:
    hwmc_unlock();
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* The message from `from` on. */
static int message_along_trees(struct hwmc_group *g, const struct hwmc_message *m, MPI_Aint from,
                               int root, bool is_root)
{
    int mpi_errno = MPI_SUCCESS;
    const MPI_Aint piece = m->from_mate ? TREES_PIECE_FROM_MATE : TREES_PIECE;
    const MPI_Aint bytes = m->bytes - from;
    char *memory = hwmc_contiguous(m->buffer, m->datatype), *own = NULL;
    MPI_Aint moved = bytes;

    if (memory) {
        memory += from;
    } else {
        memory = own = MPL_malloc(bytes, MPL_MEM_BUFFER);
        MPIR_ERR_CHKANDJUMP(!own, mpi_errno, MPI_ERR_OTHER, "**nomem");
    }
    if (own && is_root)
        mpi_errno = MPIR_Typerep_pack(m->buffer, m->count, m->datatype, from, own, bytes,
                                      &moved HWMC_TYPEREP_FLAGS);
    MPIR_ERR_CHECK(mpi_errno);
    for (MPI_Aint at = from; at < m->bytes; at += piece) {
        MPI_Aint n = m->bytes - at < piece ? m->bytes - at : piece;

        if (is_root)
            mpi_errno = is_here(m, at + n);
        MPIR_ERR_CHECK(mpi_errno);
        mpi_errno = piece_along_trees(g, m, at, memory + (at - from), n, root, is_root);
        MPIR_ERR_CHECK(mpi_errno);
        if (!is_root)
            has_come(m, at + n);
    }
    if (own && !is_root)
        mpi_errno = MPIR_Typerep_unpack(own, bytes, m->buffer, m->count, m->datatype, from,
                                        &moved HWMC_TYPEREP_FLAGS);
    MPIR_ERR_CHECK(mpi_errno);
    MPIR_Assert(moved == bytes);

fn_exit:
    MPL_free(own);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* The root has more to send along trees than this member knows of. It takes part, for nobody is to
 * wait for it. */
static int refuse(struct hwmc_group *g, const struct hwmc_message *m, int root)
{
    int mpi_errno = MPI_SUCCESS;
    char byte;

    mpi_errno = piece_along_trees(g, m, m->bytes, &byte, 1, root, false);
    MPIR_ERR_CHECK(mpi_errno);
    MPIR_ERR_SETANDJUMP2(mpi_errno, MPI_ERR_OTHER, "**collective_size_mismatch",
                         "**collective_size_mismatch %d %d", (int) m->bytes + 1, (int) m->bytes);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

int hwmc_move(struct hwmc_group *g, bool along_trees, struct hwmc_message *m, int root,
              bool is_root)
{
    int mpi_errno = MPI_SUCCESS;
    MPI_Aint at = 0;
    bool more = false;

    if (!along_trees) {
        mpi_errno = is_root ? send_message(g, m, &at) : recv_message(g, m, root, &at, &more);
        MPIR_ERR_CHECK(mpi_errno);
    }
    if (at < m->bytes)
        mpi_errno = message_along_trees(g, m, at, root, is_root);
    else if (more)
        mpi_errno = refuse(g, m, root);
    MPIR_ERR_CHECK(mpi_errno);
    hwmc_note_epoch(g);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
