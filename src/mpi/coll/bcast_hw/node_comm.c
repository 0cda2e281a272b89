/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Which communicators have a segment, waiting, and the end of it.
 *
 * A rank that waits for another one looks a number of times, then has MPICH make progress: that one may wait for
 * a message from here. Where ranks share processors it gives way each time that it finds nothing, and
 * sleeps when that has been of no use for long (node/bell): others may have much to do, or wait for the network.
 */

#include "node_csel.h"
#include "node/bell.h"
#include "node/wait.h"

#include <sched.h>

/*
=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

cvars:
    - name        : MPIR_CVAR_BCAST_HW_NODE
      category    : BCAST_HW
      type        : boolean
      default     : true
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Collectives of communicators whose ranks all run on one host go over memory that these share. Those for
        which MPICH's own algorithm is named, by its control variable or a selection file, do not.

    - name        : MPIR_CVAR_BCAST_HW_NODE_MEMORY
      category    : BCAST_HW
      type        : int
      default     : 256
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        The bound (in MiB) on the shared memory that a process uses, for all its communicators. One for which it
        does not suffice is left to MPICH.

    - name        : MPIR_CVAR_BCAST_HW_NODE_AFTER
      category    : BCAST_HW
      type        : int
      default     : 4
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Collectives on a communicator before its ranks share memory.

    - name        : MPIR_CVAR_BCAST_HW_NODE_TOPOLOGY
      category    : BCAST_HW
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        For tests: the host's topology in hwloc's words, as package:2 l3:2 l2:4 pu:2, instead of the
        true one.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

#define SPINS 200u  /* looks of a rank with a processor of its own from progress to progress */
#define PATIENT 64u /* yields of one without; then it sleeps */
#define HURRIED 8u  /* the same where others of its host wait for the network, which takes longer */
#define NAP_NS 500000u /* the longest that MPICH's messages wait for a rank that sleeps */
#define LOOKS 1024u /* steps that found nothing, from one look whether any ever will to the next */

_Static_assert(LOOKS >= BCAST_HW_NODE_STUCK_STEPS, "looks are as far apart as they must be");

static bool open_; /* between MPI_Init and MPI_Finalize */
static __thread bool waiting __attribute__((tls_model("initial-exec")));
static __thread uint64_t finished __attribute__((tls_model("initial-exec")));

void MPIR_Bcast_hw_node_open(void)
{
    open_ = true;
}

void MPIR_Bcast_hw_node_watch(bool memory)
{
    waiting = memory;
}

void MPIR_Bcast_hw_node_shut(void)
{
    open_ = false;
    MPIR_Bcast_hw_node_close();
}

bool MPIR_Bcast_hw_in_node(void)
{
    return waiting;
}

uint64_t MPIR_Bcast_hw_node_finished(void)
{
    return finished;
}

static bool on_one_host(MPIR_Comm *comm)
{
    uint32_t world;

    for (int i = 0; i < comm->local_size; i++)
        if (!MPIR_Bcast_hw_world_rank(comm, i, &world) || !MPIR_Bcast_hw_same_host(world))
            return false;
    return true;
}

/* What the user gave MPICH to select by goes before. */
static bool wanted(void)
{
    const char *file = MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE;

    return open_ && MPIR_CVAR_BCAST_HW_NODE && !(file && *file);
}

static struct bcast_hw_node_comm *allocate(void)
{
    struct bcast_hw_node_comm *n = MPL_calloc(1, sizeof(*n), MPL_MEM_COMM);

    for (int i = 0; n && i < BCAST_HW_NODE_KIND_NUM; i++)
        n->last_bytes[i] = -1;
    return n;
}

static struct bcast_hw_node_comm *create(MPIR_Comm *comm)
{
    struct bcast_hw_node_comm *n = allocate();

    if (!n)
        return NULL;
    n->state = (uint32_t) comm->local_size <= BCAST_HW_NODE_RANKS_MAX && on_one_host(comm)
                   ? BCAST_HW_NODE_COUNTING
                   : BCAST_HW_NODE_SPREAD;
    return n;
}

struct bcast_hw_node_comm *MPIR_Bcast_hw_node_another(const struct bcast_hw_node_comm *n)
{
    struct bcast_hw_node_comm *another = allocate();
    const size_t bytes = (size_t) n->num_mates * sizeof(*n->mates);

    if (!another)
        return NULL;
    another->state = BCAST_HW_NODE_SPREAD;
    another->num_mates = n->num_mates;
    another->mates = MPL_malloc(bytes, MPL_MEM_COMM);
    if (!another->mates) {
        MPL_free(another);
        return NULL;
    }
    memcpy(another->mates, n->mates, bytes);
    return another;
}

struct bcast_hw_node_comm *MPIR_Bcast_hw_node_of_comm(MPIR_Comm *comm)
{
    struct bcast_hw_comm *c = MPIR_Bcast_hw_comm(comm);

    if (c && c->node)
        return c->node;
    if (!wanted() || comm->comm_kind != MPIR_COMM_KIND__INTRACOMM || comm->local_size < 2)
        return NULL;
    c = MPIR_Bcast_hw_state_of(comm);
    if (!c)
        return NULL;
    c->node = create(comm);
    MPIR_Bcast_hw_live_show(comm, c);
    return c->node;
}

int MPIR_Bcast_hw_node_broken(const struct bcast_hw_node_comm *n)
{
    int mpi_errno = MPI_SUCCESS;

    if (n->state == BCAST_HW_NODE_BROKEN)
        MPIR_ERR_SET1(mpi_errno, MPI_ERR_OTHER, "**bcast_hw_node", "**bcast_hw_node %s",
                      "an earlier one did");
    return mpi_errno;
}

struct bcast_hw_node_comm *MPIR_Bcast_hw_node_admit(MPIR_Comm *comm, int *mpi_errno)
{
    struct bcast_hw_node_comm *n = MPIR_Bcast_hw_node_of_comm(comm);

    if (!n)
        return NULL;
    if (n->state == BCAST_HW_NODE_COUNTING &&
        n->calls++ >= (uint64_t) MPL_MAX(MPIR_CVAR_BCAST_HW_NODE_AFTER, 0)) {
        *mpi_errno = MPIR_Bcast_hw_node_setup(n, comm);
        MPIR_Bcast_hw_live_show(comm, MPIR_Bcast_hw_comm(comm));
    }
    if (unlikely(*mpi_errno))
        return n;
    if (likely(n->state == BCAST_HW_NODE_ON))
        return n;
    if (n->state == BCAST_HW_NODE_OFF)
        MPIR_Bcast_hw_node_note_left();
    *mpi_errno = MPIR_Bcast_hw_node_broken(n);
    return *mpi_errno ? n : NULL;
}

/* A wait: what it does between two steps. */
struct wait {
    uint32_t times;   /* steps in a row that found nothing */
    uint32_t listens; /* of these, since it listens; 0: it does not */
    uint32_t heard;   /* what it will sleep on */
};

/* Others take their turn: MPICH's messages, and other threads of the program. */
static int progress(const struct bcast_hw_node_comm *n)
{
    int mpi_errno = MPI_SUCCESS;

    waiting = true;
    mpi_errno = MPID_Progress_test(NULL);
    waiting = false;
    MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    if (bcast_hw_node_group_failed(&n->group))
        MPIR_ERR_SET1(mpi_errno, MPI_ERR_OTHER, "**bcast_hw_node", "**bcast_hw_node %s",
                      "it did so at another rank");
    return mpi_errno;
}

/* A step has found nothing, where ranks share processors: gives way, and when that has been of no use for
 * long sleeps until another rank rings, or MPICH may have a message. Where other threads may want MPICH it
 * does not sleep: it has MPICH's lock. */
static int idle_crowded(struct bcast_hw_node_comm *n, struct wait *w)
{
    bcast_hw_node_bell_ring(&n->group);
    if (w->times < (n->mates ? HURRIED : PATIENT)) {
        sched_yield();
        return MPI_SUCCESS;
    }
    if (MPIR_IS_THREADED) {
        sched_yield();
        return progress(n);
    }
    if (w->listens == 0)
        w->heard = bcast_hw_node_bell_listen(&n->group);
    if (w->listens++ < BCAST_HW_NODE_BELL_STEPS)
        return MPI_SUCCESS;
    bcast_hw_node_bell_sleep(&n->group, w->heard, NAP_NS);
    w->listens = 0;
    return progress(n);
}

static int idle(struct bcast_hw_node_comm *n, struct wait *w)
{
    w->times++;
    if (n->crowded)
        return idle_crowded(n, w);
    bcast_hw_node_wait_relax();
    return w->times % SPINS == 0 ? progress(n) : MPI_SUCCESS;
}

/* A step has found something, or the wait is over. */
static void awake(struct bcast_hw_node_comm *n, struct wait *w)
{
    if (w->listens > 0)
        bcast_hw_node_bell_leave(&n->group);
    w->listens = 0;
    w->times = 0;
}

static void end_wait(struct bcast_hw_node_comm *n, struct wait *w)
{
    awake(n, w);
    if (n->crowded)
        bcast_hw_node_bell_ring(&n->group);
}

void MPIR_Bcast_hw_node_fail(struct bcast_hw_node_comm *n)
{
    n->state = BCAST_HW_NODE_BROKEN;
    bcast_hw_node_group_fail(&n->group);
}

int MPIR_Bcast_hw_node_failed(struct bcast_hw_node_comm *n, int err)
{
    int mpi_errno = MPI_SUCCESS;

    if (!bcast_hw_node_group_in_step(&n->group))
        MPIR_Bcast_hw_node_fail(n);
    MPIR_ERR_SET1(mpi_errno, MPI_ERR_OTHER, "**bcast_hw_node", "**bcast_hw_node %s",
                  err == BCAST_HW_ERR_INVAL ? "the ranks' messages differ in length"
                                            : bcast_hw_err_text(err));
    return mpi_errno;
}

int MPIR_Bcast_hw_node_wait(struct bcast_hw_node_comm *n, struct bcast_hw_node_op *op)
{
    int mpi_errno = MPI_SUCCESS, err;
    struct wait w = {0};

    MPIR_Bcast_hw_node_note_call();
    while ((err = bcast_hw_node_op_step(op)) == BCAST_HW_AGAIN) {
        if (op->moved) {
            awake(n, &w);
        } else {
            mpi_errno = idle(n, &w);
            MPIR_ERR_CHECK(mpi_errno);
            if (w.times % LOOKS == 0 && bcast_hw_node_stuck_look(&n->group))
                MPIR_ERR_SETANDJUMP1(mpi_errno, MPI_ERR_OTHER, "**bcast_hw_node",
                                     "**bcast_hw_node %s", "the ranks wait for each other");
        }
    }
    finished++;
    if (unlikely(err != BCAST_HW_OK))
        mpi_errno = MPIR_Bcast_hw_node_failed(n, err);

fn_exit:
    end_wait(n, &w);
    return mpi_errno;
fn_fail:
    MPIR_Bcast_hw_node_fail(n);
    goto fn_exit;
}

int MPIR_Bcast_hw_node_wait_until(struct bcast_hw_node_comm *n, int (*step)(void *what), void *what)
{
    int mpi_errno = MPI_SUCCESS, err;
    struct wait w = {0};

    while ((err = step(what)) == BCAST_HW_AGAIN) {
        mpi_errno = idle(n, &w);
        MPIR_ERR_CHECK(mpi_errno);
    }
    if (err != BCAST_HW_OK)
        mpi_errno = MPIR_Bcast_hw_node_failed(n, err);

fn_exit:
    end_wait(n, &w);
    return mpi_errno;
fn_fail:
    MPIR_Bcast_hw_node_fail(n);
    goto fn_exit;
}

void MPIR_Bcast_hw_node_free(struct bcast_hw_node_comm *n)
{
    if (n->segment.base) {
        MPIR_Bcast_hw_node_note_segment(false, n->segment.bytes);
        bcast_hw_node_group_fini(&n->group);
        bcast_hw_node_segment_close(&n->segment);
    }
    for (int i = 0; i < BCAST_HW_NODE_TREES; i++)
        MPL_free(n->kept[i].children);
    MPIR_Bcast_hw_node_csel_end(n);
    MPL_free(n->mates);
    MPL_free(n);
}
