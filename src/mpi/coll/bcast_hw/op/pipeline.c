/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "pipeline.h"
#include "../shm/segment/wakeup.h"
#include "../stats/counters.h"

void hwmc_pipeline_begin(struct hwmc_pipeline *r, struct hwmc_shm_host *n, uint32_t from,
                         void *memory, MPI_Aint bytes, MPI_Aint here)
{
    const struct hwmc_shm_choice *choice = hwmc_shm_choose(n, HWMC_SHM_KIND_BCAST, bytes);
    struct hwmc_shm_tree tree = hwmc_shm_comm_tree(n, choice, from);

    r->n = n;
    r->over = false;
    r->piece = 0;
    r->listens = false;
    r->here = 0;
    hwmc_shm_bcast_begin(&r->b, &n->group, &tree, from, memory, (uint64_t) bytes, (uint64_t) here);
}

void hwmc_pipeline_more(struct hwmc_pipeline *r, MPI_Aint bytes)
{
    if (!r->over && (uint64_t) bytes > r->b.here)
        hwmc_shm_bcast_more(&r->b, (uint64_t) bytes);
}

/* One step. OK: it is over; AGAIN; or an error. */
static int step(void *what)
{
    struct hwmc_pipeline *r = what;
    int err;

    if (r->over)
        return HWMC_OK;
    do
        err = hwmc_shm_op_step(&r->b.op);
    while (err == HWMC_AGAIN && r->b.op.moved);
    r->over = err == HWMC_OK;
    hwmc_shm_wakeup_ring(&r->n->group);
    return err;
}

int hwmc_pipeline_step(struct hwmc_pipeline *r, bool *busy)
{
    int err = step(r);

    *busy = !r->over && hwmc_shm_bcast_behind(&r->b);
    return err == HWMC_OK || err == HWMC_AGAIN ? MPI_SUCCESS : hwmc_shm_failed(r->n, err);
}

struct until {
    struct hwmc_pipeline *r;
    uint64_t bytes;
};

static int step_until(void *what)
{
    struct until *u = what;
    int err = step(u->r);

    return err == HWMC_AGAIN && u->r->b.here >= u->bytes ? HWMC_OK : err;
}

int hwmc_pipeline_wait(struct hwmc_pipeline *r, MPI_Aint bytes)
{
    struct until u = {r, (uint64_t) bytes};

    return hwmc_shm_wait_until(r->n, step_until, &u);
}

int hwmc_pipeline_end(struct hwmc_pipeline *r, bool failed)
{
    int mpi_errno = MPI_SUCCESS;

    hwmc_shm_note_call();
    if (!failed)
        mpi_errno = hwmc_shm_wait_until(r->n, step, r);
    else
        hwmc_shm_fail(r->n);
    return mpi_errno;
}
