/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * queue: operations that were started and are not over yet, for each communicator in the order in
 * which the program started them.
 *
 *   QUEUED -> RUNNING -> OVER -> ENDED
 *
 * Only the first operation of a queue runs. So what a communicator decides while operations run
 * (set up a group, choose an algorithm) it decides in the same order on all ranks, and its groups
 * carry one operation at a time. A root's broadcast is over when it is sent, so those of one root
 * still follow each other without a pause.
 *
 * Operations are stepped by start, by MPICH's progress, and, while the program computes, by the
 * helper thread, which leaves alone what needs MPICH. One thread steps at a time; who finds another
 * at it, or is inside a step, does not wait but does nothing. For a step may give MPICH's lock away
 * and take it back, around a function of the program, and who starts an operation has that lock.
 *
 * Invariants: an operation is in one queue at most; `ops->end` is called once, after it has left
 * its queue, outside steps, in the order in which operations of a queue were started; then the
 * operation, its queue and its communicator may be gone.
 *
 * Nothing here knows MPICH: entry/request.c makes requests of operations.
 */

#ifndef HWMC_OP_QUEUE_H_INCLUDED
#define HWMC_OP_QUEUE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hwmc_op;

/* Who steps an operation. */
enum hwmc_stepper {
    HWMC_STEP_BY_PROGRAM, /* a thread that is inside MPI */
    HWMC_STEP_BY_HELPER   /* hwmc's own: it must not call MPICH */
};

struct hwmc_op_ops {
    /* Does what can be done now; never waits. True: it is over. One that needs MPICH for its next
     * step does nothing for the helper. */
    bool (*step)(struct hwmc_op *op, enum hwmc_stepper by);
    /* It is over: see the invariants. */
    void (*end)(struct hwmc_op *op);
    /* It waits for a store of another rank of this host. No descriptor becomes ready then. */
    bool (*in_memory)(const struct hwmc_op *op);
};

struct hwmc_op {
    const struct hwmc_op_ops *ops;
    struct hwmc_op *next;
};

/* Of a communicator. Zero to begin with; it may go when it is empty. */
struct hwmc_queue {
    struct hwmc_op *first, *last;
    struct hwmc_queue *next; /* of those that have operations */
};

static inline bool hwmc_queue_is_empty(const struct hwmc_queue *q)
{
    return __atomic_load_n(&q->first, __ATOMIC_ACQUIRE) == NULL;
}

/* Puts `op` behind those of `q`, and steps it if it is the first and no other thread steps. Never
 * waits for a step. It may have ended on return; `q` stays until then. */
void hwmc_queue_start(struct hwmc_queue *q, struct hwmc_op *op);

/* Steps the first operation of every queue, and those that follow one that is over. By the program:
 * ends what is over; how many it has ended. */
uint32_t hwmc_queues_step(enum hwmc_stepper by);

/* Operations that were started and have not ended. */
uint32_t hwmc_queues_pending(void);

/* One of those that run waits for memory of this host: who waits must not sleep until a descriptor
 * is ready. */
bool hwmc_queues_in_memory(void);

/* Asserts what is said above. */
void hwmc_queue_check(const struct hwmc_queue *q);

#endif /* HWMC_OP_QUEUE_H_INCLUDED */
