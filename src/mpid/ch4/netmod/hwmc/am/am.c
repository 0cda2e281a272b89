/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * am: what comes from the sessions, and progress. See am_impl.h.
 */

#include "am_impl.h"

static struct hwmc_sessions *sessions; /* NULL: closed */
static bool no_memory;                 /* a message could not be taken, or not be answered */
static int depth;                      /* calls of tell that are inside each other */

/* MPICH, told of something, may make progress itself, as from 4.2 on when a communicator is
 * deleted. That tells what comes next, so order is kept; at this depth it waits for those outside,
 * for stacks have an end. */
#define DEPTH_MAX 16

/* What MPICH is to be told next, one of them or neither. */
struct news {
    struct am_out *failed;
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
        case AM_CMA:
            no_memory = !hwmc_am_in_frame(rank, &h, body, body_len) || no_memory;
            break;
        case AM_GOT:
            hwmc_am_out_got(rank, h.id);
            break;
        case AM_SEND:
            hwmc_am_out_refused(rank, h.id);
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
    n->failed = hwmc_am_out_failed();
    n->whole = n->failed ? NULL : hwmc_am_in_whole();
    return n->failed || n->whole;
}

/* Tells n and what comes after it. An error of one does not keep the others waiting. */
static int tell(struct news *n, int *events)
{
    int mpi_errno = MPI_SUCCESS, err;
    bool more;

    do {
        depth++;
        err = n->failed ? hwmc_am_out_tell(n->failed) : hwmc_am_in_tell(n->whole);
        depth--;
        mpi_errno = mpi_errno ? mpi_errno : err;
        ++*events;
        hwmc_lock();
        more = next(n);
        hwmc_unlock();
    } while (more);
    return mpi_errno;
}

int hwmc_am_progress(bool polled, int *events)
{
    int mpi_errno = MPI_SUCCESS;
    struct news n;
    bool lacked, any;

    hwmc_lock();
    *events = polled ? 0 : hwmc_sessions_poll(sessions);
    hwmc_am_out_pump();
    any = next(&n);
    lacked = no_memory;
    hwmc_unlock();
    if (any)
        mpi_errno = tell(&n, events);
    MPIR_ERR_CHKANDJUMP(mpi_errno == MPI_SUCCESS && lacked, mpi_errno, MPI_ERR_OTHER, "**nomem");

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

bool hwmc_am_idle(void)
{
    bool idle;

    hwmc_lock();
    idle = hwmc_am_out_idle();
    hwmc_unlock();
    return idle;
}

bool hwmc_am_open(struct hwmc_sessions *l, uint32_t first, uint32_t num)
{
    const struct hwmc_sessions_upper upper = {.recv = on_recv};

    MPL_COMPILE_TIME_ASSERT(MPIDI_AM_HANDLERS_MAX <= UINT8_MAX + 1);
    if (!hwmc_am_out_open(l, first, num) || !hwmc_am_in_open(hwmc_am_out_answer))
        return false;
    sessions = l;
    for (uint32_t i = 0; i < num; i++)
        hwmc_sessions_use(l, first + i, &upper);
    return true;
}

void hwmc_am_close(void)
{
    hwmc_am_out_close();
    hwmc_am_in_close();
    sessions = NULL;
}
