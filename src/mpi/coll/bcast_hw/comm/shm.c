/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Which communicators have a segment, and the end of it.
 */

#include "shm.h"
#include "../process/errors.h"
#include "../process/hosts.h"
#include "../stats/counters.h"
#include "../settings/settings.h"

static bool open_; /* between MPI_Init and MPI_Finalize */

void hwmc_shm_open(void)
{
    open_ = true;
}

void hwmc_shm_shut(void)
{
    open_ = false;
    hwmc_shm_close();
}

static bool on_one_host(MPIR_Comm *comm)
{
    uint32_t world;

    for (int i = 0; i < comm->local_size; i++)
        if (!hwmc_world_rank(comm, i, &world) || !hwmc_same_host(world))
            return false;
    return true;
}

/* What the user gave MPICH to select by goes before. */
static bool wanted(void)
{
    const char *file = MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE;

    return open_ && hwmc_settings.shm.on && !(file && *file);
}

static struct hwmc_shm_comm *create(MPIR_Comm *comm, bool twin)
{
    struct hwmc_shm_comm *n = MPL_calloc(1, sizeof(*n), MPL_MEM_COMM);

    if (!n)
        return NULL;
    n->twin = twin;
    hwmc_shm_choose_begin(&n->host);
    n->state = (uint32_t) comm->local_size <= HWMC_SHM_RANKS_MAX && on_one_host(comm)
                   ? HWMC_SHM_COUNTING
                   : HWMC_SHM_SPREAD;
    return n;
}

static bool has_any(const MPIR_Comm *comm)
{
    return wanted() && comm->comm_kind == MPIR_COMM_KIND__INTRACOMM && comm->local_size >= 2;
}

struct hwmc_shm_comm *hwmc_shm_of(MPIR_Comm *comm, struct hwmc_comm *c)
{
    if (c->shm || !has_any(comm))
        return c->shm;
    c->shm = create(comm, c->twin.is);
    hwmc_comm_show(comm, c);
    return c->shm;
}

struct hwmc_shm_comm *hwmc_shm_of_comm(MPIR_Comm *comm)
{
    struct hwmc_comm *c = hwmc_comm_state(comm);

    if (c && c->shm)
        return c->shm;
    if (!has_any(comm))
        return NULL;
    c = hwmc_state_of(comm);
    return c ? hwmc_shm_of(comm, c) : NULL;
}

bool hwmc_shm_lacks_memory(const MPIR_Comm *comm, const struct hwmc_shm_comm *n)
{
    return !n && has_any(comm);
}

int hwmc_shm_broken(const struct hwmc_shm_comm *n)
{
    return n->host.broken ? hwmc_error_shm("an earlier one did") : MPI_SUCCESS;
}

/* Counts a collective: whether it is the one that makes the segment. */
static inline bool is_due(struct hwmc_shm_comm *n)
{
    return n->state == HWMC_SHM_COUNTING &&
           (n->twin || n->calls++ >= (uint64_t) MPL_MAX(hwmc_settings.tune.shm_after, 0));
}

/* Where a collective that was counted runs, after this error of set-up. */
ATTRIBUTE((always_inline))
static inline struct hwmc_shm_host *find_host(struct hwmc_shm_comm *n, int *mpi_errno)
{
    if (unlikely(*mpi_errno))
        return &n->host;
    if (unlikely(n->host.broken)) {
        *mpi_errno = hwmc_shm_broken(n);
        return &n->host;
    }
    if (likely(n->state == HWMC_SHM_ON))
        return &n->host;
    if (n->state == HWMC_SHM_OFF)
        hwmc_shm_note_left();
    return NULL;
}

struct hwmc_shm_host *hwmc_shm_admit(MPIR_Comm *comm, int *mpi_errno)
{
    static struct hwmc_shm_host without_memory = {.broken = true};
    struct hwmc_shm_comm *n = hwmc_shm_of_comm(comm);

    if (unlikely(hwmc_shm_lacks_memory(comm, n))) { /* other ranks count this collective */
        *mpi_errno = hwmc_error_nomem();
        return &without_memory;
    }
    if (!n)
        return NULL;
    hwmc_comm_drain(hwmc_comm_state(comm));
    if (is_due(n)) {
        *mpi_errno = hwmc_shm_setup(n, comm);
        hwmc_comm_show(comm, hwmc_comm_state(comm));
    }
    return find_host(n, mpi_errno);
}

/* Sets *mpi_errno if the operation waits for ranks of its host, and one of them has failed. */
static void look_for_failure(const struct hwmc_await *a, int *mpi_errno)
{
    if (*mpi_errno == MPI_SUCCESS && a->kind == HWMC_AWAIT_HOST &&
        hwmc_shm_group_failed(&a->host->group))
        *mpi_errno = hwmc_shm_failed(a->host, HWMC_ERR_PEER);
}

bool hwmc_shm_ask(MPIR_Comm *comm, struct hwmc_comm *c, struct hwmc_shm_ask *q,
                  struct hwmc_await *a, struct hwmc_shm_host **host, int *mpi_errno)
{
    a->kind = HWMC_AWAIT_NOTHING;
    if (!q->in_setup && is_due(c->shm)) {
        hwmc_shm_setup_begin(c->shm, comm, q->tag);
        q->in_setup = true;
    }
    if (q->in_setup) {
        if (!hwmc_shm_setup_step(c->shm, a, mpi_errno)) {
            look_for_failure(a, mpi_errno);
            if (*mpi_errno == MPI_SUCCESS)
                return false;
            hwmc_shm_setup_step(c->shm, a, mpi_errno); /* ends it */
        }
        q->in_setup = false;
        hwmc_comm_show(comm, c);
    }
    *host = find_host(c->shm, mpi_errno);
    return true;
}

void hwmc_shm_free(struct hwmc_shm_comm *n)
{
    struct hwmc_shm_host *host = &n->host;

    if (host->segment.base) {
        hwmc_shm_note_segment(false, host->segment.bytes);
        hwmc_shm_group_fini(&host->group);
        hwmc_shm_segment_close(&host->segment);
    }
    hwmc_shm_choose_end(host);
    MPL_free(n->mates);
    MPL_free(n);
}
