/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * wait: the waits of collectives. Inside a host for other ranks' steps over shared memory; between
 * hosts for a group of the network. For stages, which wait for either: wait_stage.h.
 */

#ifndef HWMC_OP_WAIT_H_INCLUDED
#define HWMC_OP_WAIT_H_INCLUDED

#include "mpiimpl.h"
#include "../process/process.h"
#include "../core/wait/wait_policy.h"
#include "../process/processors.h"
#include "../select/shm_choose.h"

struct hwmc_group;

/* There is anything of MPICH's that progress of this process could move, for it or for others: a
 * request, or a window. */
static inline bool hwmc_owes_progress(void)
{
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
    return true; /* requests are in many pools */
#else
    return MPIR_Request_mem[0].num_allocated > MPIR_Request_mem[0].num_avail ||
           MPIR_Win_mem.num_allocated > MPIR_Win_mem.num_avail;
#endif
}

/* Steps until it is done, with MPICH's progress where it has to wait. MPICH's error code; after an
 * error `n` is broken. */
int hwmc_shm_wait(struct hwmc_shm_host *n, struct hwmc_shm_op *op);

/* For who does not wait, but comes again until it is over: steps as far as that goes now, and not
 * for long. True: it is over, and *mpi_errno is as hwmc_shm_wait returns it. *fruitless counts
 * calls in a row that found nothing: 0 at first. */
bool hwmc_shm_try(struct hwmc_shm_host *n, struct hwmc_shm_op *op, uint32_t *fruitless,
                  int *mpi_errno);

/* The same as hwmc_shm_wait with what a step returned, for set-up. */
int hwmc_shm_wait_until(struct hwmc_shm_host *n, int (*step)(void *what), void *what);

/* The MPI error of what a step returned; `n` is broken unless the ranks are still in step. */
int hwmc_shm_failed(struct hwmc_shm_host *n, int err);

/* This rank can take no further part: the others, who may wait for it, get an error. */
void hwmc_shm_fail(struct hwmc_shm_host *n);

/* What this thread waits for in MPICH's progress is, or is not, in memory that others write to. */
void hwmc_shm_watch(bool memory);

/* Whether it is: no descriptor tells of that. */
bool hwmc_in_shm(void);

/* How many collectives inside the host, and operations, this thread has finished: it does not wait
 * any more for what it waited for before. */
uint64_t hwmc_finished(void);

/* It has finished so many operations, in a poll in which maybe no message came. */
void hwmc_note_finished(uint32_t operations);

/* ... and nobody has looked since: a poll need not go on, as its request may be complete. */
extern __thread bool hwmc_ended_in_poll __attribute__((tls_model("initial-exec")));

/* What a wait inside a host does between two steps. Zero to begin with. */
struct hwmc_shm_wait {
    struct hwmc_wait policy;
    uint32_t times;   /* steps in a row that found nothing */
    uint32_t listens; /* of these, since it listens; 0: it does not */
    uint32_t heard;   /* what it will sleep on */
};

/* A step has found nothing: polls, yields or sleeps. MPICH's error code. */
int hwmc_shm_idle(struct hwmc_shm_host *n, struct hwmc_shm_wait *w);

/* The wait is over, or a step has found something. */
void hwmc_shm_awake(struct hwmc_shm_host *n, struct hwmc_shm_wait *w);

/* Waits, with MPICH's progress, until `ready`, asked under the lock. Returns MPICH's error code,
 * with the lock held in any case; an error when a lane of the group is lost. */
int hwmc_wait_group(struct hwmc_group *g, bool (*ready)(struct hwmc_group *g));

/* Time (hwmc_now) at which progress has something to do, or the thread that waits, though nothing
 * comes; UINT64_MAX. */
uint64_t hwmc_deadline(void);

#endif /* HWMC_OP_WAIT_H_INCLUDED */
