/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Waiting for another rank of this host, in a collective over shared memory. A rank that waits
 * looks a number of times, and then has MPICH make progress, for the other rank may wait for a
 * message from here. What comes between looks core/wait/wait_policy says; it sleeps on the
 * segment's wakeup word (shm/segment/wakeup), and wakes by itself now and then, since MPICH's
 * messages do not wake it.
 *
 * A collective that need not wait makes progress as well: a program may call nothing but
 * collectives while messages or one-sided epochs of others need it. It polls once where anything is
 * outstanding that progress could move, and otherwise now and then.
 */

#include "wait.h"
#include "../core/wait/wait_policy.h"
#include "../process/errors.h"
#include "../stats/counters.h"
#include "../shm/segment/wakeup.h"
#include "../shm/segment/relax.h"

#define SPINS 200u /* looks of a rank with a processor of its own from progress to progress */

/* Yields of one without; then it sleeps. On one host ranks do equal work, and yields pass the
 * processor round. In a collective over hosts a leader does more than the others. A fair scheduler
 * then prefers the others: a yield of theirs returns at once, for half a millisecond, while the
 * leader for which they wait is ready to run. */
#define PATIENT 64u
#define PATIENT_IN_PART 4u

#define NAP_NS 500000u /* the longest that MPICH's messages wait for a rank that sleeps */
#define LOOKS 1024u /* steps that found nothing, from one look whether any ever will to the next */
#define STEPS_MOST 64u /* of a try: MPI_Test of a long message is to return soon */
#define FAILURE_LOOKS                                                                              \
    64u /* tries that found nothing, from one look whether another rank has failed to the next */
#define CALLS_QUIET 256u /* collectives from progress to progress, where nothing is outstanding */

#define AT_ANOTHER "it did so at another rank"
#define IN_A_CIRCLE "the ranks wait for each other"

_Static_assert(LOOKS >= HWMC_SHM_MISMATCH_STEPS, "looks are as far apart as they must be");

static __thread bool waiting __attribute__((tls_model("initial-exec")));
static __thread uint64_t finished __attribute__((tls_model("initial-exec")));
__thread bool hwmc_ended_in_poll __attribute__((tls_model("initial-exec")));

void hwmc_shm_watch(bool memory)
{
    waiting = memory;
}

bool hwmc_in_shm(void)
{
    return waiting;
}

void hwmc_note_finished(uint32_t operations)
{
    finished += operations;
    hwmc_ended_in_poll = operations > 0;
}

uint64_t hwmc_finished(void)
{
    return finished;
}

/* Others take their turn: MPICH's messages, and other threads of the program. */
static int poll_messages(void)
{
    int mpi_errno;

    waiting = true;
    mpi_errno = MPID_Progress_test(NULL);
    waiting = false;
    MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    return mpi_errno;
}

/* Between two steps that wait. */
static int progress(const struct hwmc_shm_host *n)
{
    int mpi_errno = poll_messages();

    if (mpi_errno == MPI_SUCCESS && hwmc_shm_group_failed(&n->group))
        mpi_errno = hwmc_error_shm(AT_ANOTHER);
    else if (n->part && mpi_errno == MPI_SUCCESS)
        mpi_errno = n->lost(n->of);
    return mpi_errno;
}

/* Sleeps until another rank rings, or MPICH may have a message; not before STEPS further steps
 * (shm/segment/wakeup). After a ring the next step comes before MPICH's progress. */
static int sleep_on_wakeup(struct hwmc_shm_host *n, struct hwmc_wait_policy *p,
                           struct hwmc_shm_wait *w, uint64_t now)
{
    bool rung;

    if (w->listens > 0 && hwmc_shm_wakeup_elsewhere(&n->group)) {
        hwmc_shm_wakeup_leave(&n->group);
        w->listens = 0;
    }
    if (w->listens == 0)
        w->heard = hwmc_shm_wakeup_listen(&n->group);
    if (w->listens++ < HWMC_SHM_WAKEUP_STEPS)
        return MPI_SUCCESS;
    rung = hwmc_shm_wakeup_sleep(&n->group, w->heard, NAP_NS);
    hwmc_wait_slept(p, &w->policy, rung ? 0 : now + NAP_NS, hwmc_now());
    w->listens = 0;
    return rung ? MPI_SUCCESS : progress(n);
}

/* What comes after steps that found nothing. It does not sleep where other threads may want MPICH,
 * whose lock it has, nor where others may wait for this rank's progress, as at the end of a
 * one-sided epoch: no message rings the wakeup word. */
static int pause_(struct hwmc_shm_host *n, struct hwmc_wait_policy *p, struct hwmc_shm_wait *w)
{
    const struct hwmc_wait_limits limits = {.ns = UINT64_MAX,
                                            .yields = n->part ? PATIENT_IN_PART : PATIENT};
    const bool owes = hwmc_owes_progress();
    const uint64_t now = hwmc_now();

    switch (hwmc_wait_next(p, &w->policy, &limits, now)) {
        case HWMC_WAIT_POLL:
            return progress(n);
        case HWMC_WAIT_SLEEP:
            if (!MPIR_IS_THREADED && !owes)
                return sleep_on_wakeup(n, p, w, now);
            hwmc_processor_yield(&w->policy, now);
            return progress(n);
        default:
            hwmc_processor_yield(&w->policy, now);
            return owes || hwmc_wait_is_alone(p) ? progress(n) : MPI_SUCCESS;
    }
}

int hwmc_shm_idle(struct hwmc_shm_host *n, struct hwmc_shm_wait *w)
{
    struct hwmc_wait_policy *p = hwmc_processor_wait_policy();

    w->times++;
    if (hwmc_wait_is_alone(p) && w->listens == 0) {
        if (w->times == 1)
            hwmc_shm_wakeup_ring(&n->group);
        hwmc_shm_relax();
        return w->times % SPINS == 0 ? pause_(n, p, w) : MPI_SUCCESS;
    }
    hwmc_shm_wakeup_ring(&n->group);
    return pause_(n, p, w);
}

void hwmc_shm_awake(struct hwmc_shm_host *n, struct hwmc_shm_wait *w)
{
    if (w->listens > 0)
        hwmc_shm_wakeup_leave(&n->group);
    w->listens = 0;
    w->times = 0;
    w->policy.since = 0;
}

static void end_wait(struct hwmc_shm_host *n, struct hwmc_shm_wait *w)
{
    hwmc_shm_awake(n, w);
    hwmc_shm_wakeup_ring(&n->group);
}

/* A collective is over: progress for who needs it. What was sent to this rank before the others
 * came to the collective is seen by this poll, not by one during the wait. */
static int progress_for_others(void)
{
    return hwmc_owes_progress() || hwmc_active() || finished % CALLS_QUIET == 0 ? poll_messages()
                                                                                : MPI_SUCCESS;
}

void hwmc_shm_fail(struct hwmc_shm_host *n)
{
    n->broken = true;
    hwmc_shm_group_fail(&n->group);
}

int hwmc_shm_failed(struct hwmc_shm_host *n, int err)
{
    if (!hwmc_shm_group_in_step(&n->group))
        hwmc_shm_fail(n);
    return hwmc_error_shm(err == HWMC_ERR_INVAL ? "the ranks' messages differ in length"
                                                : hwmc_err_text(err));
}

int hwmc_shm_wait(struct hwmc_shm_host *n, struct hwmc_shm_op *op)
{
    int mpi_errno = MPI_SUCCESS, err;
    struct hwmc_shm_wait w = {.times = 0};

    hwmc_shm_note_call();
    while ((err = hwmc_shm_op_step(op)) == HWMC_AGAIN) {
        if (op->moved) {
            hwmc_shm_awake(n, &w);
        } else {
            mpi_errno = hwmc_shm_idle(n, &w);
            MPIR_ERR_CHECK(mpi_errno);
            if (w.times % LOOKS == 0 && hwmc_shm_mismatch_look(&n->group))
                mpi_errno = hwmc_error_shm(IN_A_CIRCLE);
            MPIR_ERR_CHECK(mpi_errno);
        }
    }
    finished++;
    end_wait(n, &w);
    if (unlikely(err != HWMC_OK))
        return hwmc_shm_failed(n, err);
    return progress_for_others();
fn_fail:
    end_wait(n, &w);
    hwmc_shm_fail(n);
    return mpi_errno;
}

/* Tries have found nothing: whether no further one ever will. Sets the MPI error then. */
static bool try_is_hopeless(struct hwmc_shm_host *n, uint32_t fruitless, int *mpi_errno)
{
    const char *why = NULL;

    if (fruitless % FAILURE_LOOKS != 0)
        return false;
    if (hwmc_shm_group_failed(&n->group))
        why = AT_ANOTHER;
    else if (fruitless % LOOKS == 0 && hwmc_shm_mismatch_look(&n->group))
        why = IN_A_CIRCLE;
    if (!why)
        return false;
    hwmc_shm_fail(n);
    *mpi_errno = hwmc_error_shm(why);
    return true;
}

bool hwmc_shm_try(struct hwmc_shm_host *n, struct hwmc_shm_op *op, uint32_t *fruitless,
                  int *mpi_errno)
{
    uint32_t steps = 0;
    int err;

    *mpi_errno = MPI_SUCCESS;
    do
        err = hwmc_shm_op_step(op);
    while (err == HWMC_AGAIN && op->moved && ++steps < STEPS_MOST);
    hwmc_shm_wakeup_ring(&n->group);
    if (err == HWMC_AGAIN) {
        *fruitless = op->moved ? 0 : *fruitless + 1;
        return *fruitless > 0 && try_is_hopeless(n, *fruitless, mpi_errno);
    }
    if (err != HWMC_OK)
        *mpi_errno = hwmc_shm_failed(n, err);
    return true;
}

int hwmc_shm_wait_until(struct hwmc_shm_host *n, int (*step)(void *what), void *what)
{
    int mpi_errno = MPI_SUCCESS, err;
    struct hwmc_shm_wait w = {.times = 0};

    n->group.awaits = HWMC_SHM_ANYONE;
    while ((err = step(what)) == HWMC_AGAIN) {
        mpi_errno = hwmc_shm_idle(n, &w);
        MPIR_ERR_CHECK(mpi_errno);
    }
    if (err != HWMC_OK)
        mpi_errno = hwmc_shm_failed(n, err);

fn_exit:
    end_wait(n, &w);
    return mpi_errno;
fn_fail:
    hwmc_shm_fail(n);
    goto fn_exit;
}
