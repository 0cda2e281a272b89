/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * am: what comes from the links, and progress. See hwmc_am_impl.h.
 */

#include "hwmc_am_impl.h"

static struct hwmc_links *links; /* NULL: closed */
static bool no_memory;           /* a message could not be taken, or not be answered */
static int depth;                /* calls of tell that are inside each other */

/* MPICH, told of something, may make progress itself, as from 4.2 on when a communicator is
 * deleted. That tells what comes next, so order is kept; at this depth it waits for those outside,
 * for stacks have an end. */
#define DEPTH_MAX 16

/* What MPICH is to be told next, one of them or neither. */
struct news {
    struct am_out *gone;
    struct am_in *whole;
};

static void on_recv(void *ctx, uint32_t rank, const void *head, size_t head_len, const void *body,
                    size_t body_len)
{
    struct am_head h;

    (void) ctx;
    if (head_len != sizeof(h))
        return;
    memcpy(&h, head, sizeof(h));
    switch (h.kind) {
        case AM_DATA:
        case AM_REACH:
            no_memory = !MPIDI_HWMC_am_in_frame(rank, &h, body, body_len) || no_memory;
            break;
        case AM_GOT:
            MPIDI_HWMC_am_out_got(rank, h.id);
            break;
        case AM_SEND:
            MPIDI_HWMC_am_out_refused(rank, h.id);
            break;
        default:
            break;
    }
}

/* With the engine's lock. False: nothing. */
static bool next(struct news *n)
{
    if (depth >= DEPTH_MAX)
        return false;
    n->gone = MPIDI_HWMC_am_out_gone();
    n->whole = n->gone ? NULL : MPIDI_HWMC_am_in_whole();
    return n->gone || n->whole;
}

/* Tells n and what comes after it. An error of one does not keep the others waiting. */
static int tell(struct news *n, int *events)
{
    int mpi_errno = MPI_SUCCESS, err;
    bool more;

    do {
        depth++;
        err = n->gone ? MPIDI_HWMC_am_out_tell(n->gone) : MPIDI_HWMC_am_in_tell(n->whole);
        depth--;
        mpi_errno = mpi_errno ? mpi_errno : err;
        ++*events;
        MPIR_Bcast_hw_lock();
        more = next(n);
        MPIR_Bcast_hw_unlock();
    } while (more);
    return mpi_errno;
}

int MPIDI_HWMC_am_progress(bool polled, int *events)
{
    int mpi_errno = MPI_SUCCESS;
    struct news n;
    bool lacked, any;

    MPIR_Bcast_hw_lock();
    *events = polled ? 0 : hwmc_links_poll(links);
    MPIDI_HWMC_am_out_pump();
    any = next(&n);
    lacked = no_memory;
    MPIR_Bcast_hw_unlock();
    if (any)
        mpi_errno = tell(&n, events);
    MPIR_ERR_CHKANDJUMP(mpi_errno == MPI_SUCCESS && lacked, mpi_errno, MPI_ERR_OTHER, "**nomem");

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

bool MPIDI_HWMC_am_idle(void)
{
    bool idle;

    MPIR_Bcast_hw_lock();
    idle = MPIDI_HWMC_am_out_idle();
    MPIR_Bcast_hw_unlock();
    return idle;
}

bool MPIDI_HWMC_am_open(struct hwmc_links *l, uint32_t first, uint32_t num)
{
    const struct hwmc_links_upper upper = {.recv = on_recv};

    MPL_COMPILE_TIME_ASSERT(MPIDI_AM_HANDLERS_MAX <= UINT8_MAX + 1);
    if (!MPIDI_HWMC_am_out_open(l, first, num) || !MPIDI_HWMC_am_in_open())
        return false;
    links = l;
    for (uint32_t i = 0; i < num; i++)
        hwmc_links_use(l, first + i, &upper);
    return true;
}

void MPIDI_HWMC_am_close(void)
{
    MPIDI_HWMC_am_out_close();
    MPIDI_HWMC_am_in_close();
    links = NULL;
}
