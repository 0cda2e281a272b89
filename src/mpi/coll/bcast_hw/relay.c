/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "relay.h"
#include "node/bell.h"

void MPIR_Bcast_hw_relay_begin(struct bcast_hw_relay *r, struct bcast_hw_node_comm *n,
                               uint32_t from, void *memory, MPI_Aint bytes, MPI_Aint here)
{
    const struct bcast_hw_node_choice *choice =
        MPIR_Bcast_hw_node_choose(n, BCAST_HW_NODE_KIND_BCAST, bytes);
    struct bcast_hw_node_tree tree = MPIR_Bcast_hw_node_tree(n, choice, from);

    r->n = n;
    r->also = NULL;
    r->over = false;
    r->piece = 0;
    r->listens = false;
    r->here = 0;
    bcast_hw_node_bcast_begin(&r->b, &n->group, &tree, from, memory, (uint64_t) bytes,
                              (uint64_t) here);
}

void MPIR_Bcast_hw_relay_more(struct bcast_hw_relay *r, MPI_Aint bytes)
{
    if (!r->over && (uint64_t) bytes > r->b.here)
        bcast_hw_node_bcast_more(&r->b, (uint64_t) bytes);
}

/* One step. OK: it is over; AGAIN; or an error. */
static int step_one(struct bcast_hw_relay *r)
{
    int err;

    if (r->over)
        return BCAST_HW_OK;
    do
        err = bcast_hw_node_op_step(&r->b.op);
    while (err == BCAST_HW_AGAIN && r->b.op.moved);
    r->over = err == BCAST_HW_OK;
    bcast_hw_node_bell_ring(&r->n->group);
    return err;
}

/* One of each. OK: all are over. */
static int step(void *what)
{
    int all = BCAST_HW_OK;

    for (struct bcast_hw_relay *r = what; r; r = r->also) {
        int err = step_one(r);

        if (err != BCAST_HW_OK && err != BCAST_HW_AGAIN)
            return err;
        all = err == BCAST_HW_OK ? all : err;
    }
    return all;
}

int MPIR_Bcast_hw_relay_step(struct bcast_hw_relay *r, bool *busy)
{
    int err = step(r);

    *busy = false;
    for (struct bcast_hw_relay *one = r; one; one = one->also)
        *busy |= !one->over && bcast_hw_node_bcast_behind(&one->b);
    return err == BCAST_HW_OK || err == BCAST_HW_AGAIN ? MPI_SUCCESS
                                                       : MPIR_Bcast_hw_node_failed(r->n, err);
}

struct until {
    struct bcast_hw_relay *r;
    uint64_t bytes;
};

static int step_until(void *what)
{
    struct until *u = what;
    int err = step(u->r);

    return err == BCAST_HW_AGAIN && u->r->b.here >= u->bytes ? BCAST_HW_OK : err;
}

int MPIR_Bcast_hw_relay_wait(struct bcast_hw_relay *r, MPI_Aint bytes)
{
    struct until u = {r, (uint64_t) bytes};

    return MPIR_Bcast_hw_node_wait_until(r->n, step_until, &u);
}

int MPIR_Bcast_hw_relay_end(struct bcast_hw_relay *r, bool failed)
{
    int mpi_errno = MPI_SUCCESS;

    MPIR_Bcast_hw_node_note_call();
    if (!failed)
        mpi_errno = MPIR_Bcast_hw_node_wait_until(r->n, step, r);
    /* Others may wait for any part. */
    if (failed || (mpi_errno && r->also))
        for (; r; r = r->also)
            MPIR_Bcast_hw_node_fail(r->n);
    return mpi_errno;
}
