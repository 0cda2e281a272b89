/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * How the ranks of a communicator come to share a segment:
 *
 *   0. Each reads the selection. One that cannot takes part in what follows as one without memory.
 *   1. Rank 0 makes one, of chunks as its caches want them, and tells its name and layout to all.
 *   2. Each opens it, unless that takes more memory than the process may map, and becomes a rank of
 *      its group.
 *   3. All agree whether all have it. If so the name is taken away and each finds out by which
 *      method it reads the memory of the others; if not all forget it.
 *   4. Each tells all where it runs: trees follow that.
 *
 * Where not all can open a memfd of rank 0's, steps 1 to 3 are gone through again with shm_open.
 * Steps 1 and 3 are MPICH's own collectives. The segment's memory is the ranks' alone: nothing of
 * it outlives them.
 */

#include "shm.h"
#include "../process/mpich.h"
#include "../select/shm_csel.h"
#include "../shm/coll/bcast.h"
#include "../stats/counters.h"
#include "../shm/topo/affinity.h"
#include "../shm/topo/topo.h"
#include "../settings/settings.h"

#include <pthread.h>

/* What rank 0 tells, as integers. */
struct told {
    struct hwmc_shm_layout layout;
    char name[HWMC_SHM_NAME_MAX]; /* empty: there is no segment */
};

#define SLOTS 32u /* how many collectives a rank may be ahead */

_Static_assert(sizeof(struct told) % sizeof(int) == 0, "told as integers");

/* Where this process runs. Asked anew for each communicator, as a program may have bound it; what
 * hwloc knows of the host is read once. */
static struct hwmc_shm_topo *topo;
static pthread_mutex_t topo_lock = PTHREAD_MUTEX_INITIALIZER;

static void own_place(struct hwmc_shm_affinity *place)
{
    const char *synthetic = hwmc_settings.debug.topology;

    memset(place, 0, sizeof(*place));
    for (int i = 0; i < HWMC_SHM_PART_NUM; i++)
        place->part[i] = -1;
    pthread_mutex_lock(&topo_lock);
    if (!topo)
        hwmc_shm_topo_open(&topo, *synthetic ? synthetic : NULL);
    if (topo)
        hwmc_shm_topo_place(topo, NULL, place);
    pthread_mutex_unlock(&topo_lock);
}

void hwmc_shm_close(void)
{
    if (topo)
        hwmc_shm_topo_close(topo);
    topo = NULL;
    hwmc_shm_copy_close();
    hwmc_shm_csel_close();
}

static uint32_t chunk_bytes(const struct hwmc_shm_affinity *place, uint32_t ranks)
{
    struct hwmc_shm_caches caches = {
        .line = place->line,
        .l2 = place->l2,
        .llc = place->llc / ranks,
    };
    int said = hwmc_settings.tune.shm_chunk;

    if (said <= 0)
        return hwmc_shm_chunk(&caches);
    return MPL_MIN(((uint32_t) said + 63) / 64 * 64, HWMC_SHM_CHUNK_MAX);
}

static bool has_room(const struct hwmc_shm_layout *layout)
{
    return hwmc_shm_mapped() + hwmc_shm_segment_bytes(layout) <=
           (size_t) MPL_MAX(hwmc_settings.shm.memory, 0) << 20;
}

/* Step 1 at rank 0. */
static void create(struct hwmc_shm_comm *n, enum hwmc_shm_segment_kind kind, uint32_t ranks,
                   const struct hwmc_shm_affinity *place, struct told *told)
{
    told->layout = (struct hwmc_shm_layout){.ranks = ranks,
                                            .slots = SLOTS,
                                            .buffers = HWMC_SHM_BUFFERS,
                                            .chunk = chunk_bytes(place, ranks)};
    if (has_room(&told->layout) &&
        hwmc_shm_segment_create(&n->host.segment, &told->layout, kind) == HWMC_OK)
        memcpy(told->name, n->host.segment.name, sizeof(told->name));
}

static uint64_t copy_methods(void)
{
    const uint64_t xpmem = HWMC_SHM_COPY_BIT(HWMC_SHM_COPY_XPMEM);
    const uint64_t cma = HWMC_SHM_COPY_BIT(HWMC_SHM_COPY_CMA);

    switch (hwmc_settings.tune.shm_copy) {
        case HWMC_SET_COPY_NONE:
            return 0;
        case HWMC_SET_COPY_XPMEM:
            return xpmem;
        case HWMC_SET_COPY_CMA:
            return cma;
        default:
            return xpmem | cma;
    }
}

/* Step 2. False: this rank cannot. */
static bool enter(struct hwmc_shm_comm *n, uint32_t rank, const struct told *told)
{
    const struct hwmc_shm_params params = hwmc_shm_params_default(told->layout.chunk);

    if (!*told->name)
        return false;
    if (rank > 0 &&
        (!has_room(&told->layout) ||
         hwmc_shm_segment_attach(&n->host.segment, &told->layout, told->name) != HWMC_OK))
        return false;
    return hwmc_shm_group_init(&n->host.group, &n->host.segment, rank, copy_methods(), &params) ==
           HWMC_OK;
}

static int tell(const struct hwmc_shm_comm *n, MPIR_Comm *comm, int num, struct told *told)
{
    int mpi_errno = MPI_SUCCESS;
    const int ints = (int) (sizeof(*told) / sizeof(int));

    if (!n->mates)
        return MPIR_Bcast_allcomm_auto(told, ints, HWMC_INT, 0, comm, HWMC_NO_ERRORS);
    if (comm->rank != n->mates[0])
        return MPIC_Recv(told, ints, HWMC_INT, n->mates[0], MPIR_BCAST_TAG, comm,
                         MPI_STATUS_IGNORE HWMC_RECV_TAIL);
    for (int i = 1; i < num && mpi_errno == MPI_SUCCESS; i++)
        mpi_errno =
            MPIC_Send(told, ints, HWMC_INT, n->mates[i], MPIR_BCAST_TAG, comm, HWMC_NO_ERRORS);
    return mpi_errno;
}

static void forget(struct hwmc_shm_comm *n)
{
    hwmc_shm_group_fini(&n->host.group);
    if (n->host.segment.base)
        hwmc_shm_segment_close(&n->host.segment);
}

/* Steps 1 to 3, by one kind of memory, for rank `rank` of `num`. Sets *all if all ranks have the
 * segment. */
static int share(struct hwmc_shm_comm *n, enum hwmc_shm_segment_kind kind, MPIR_Comm *comm,
                 int rank, int num, const struct hwmc_shm_affinity *place, int *all)
{
    int mpi_errno = MPI_SUCCESS;
    struct told told = {.name = ""};
    int mine;

    *all = 0;
    if (rank == 0 && place)
        create(n, kind, (uint32_t) num, place, &told);
    mpi_errno = tell(n, comm, num, &told);
    MPIR_ERR_CHECK(mpi_errno);
    mine = place && enter(n, (uint32_t) rank, &told);
    mpi_errno = MPIR_Allreduce_allcomm_auto(&mine, all, 1, HWMC_INT, MPI_MIN, comm, HWMC_NO_ERRORS);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    if (*all)
        hwmc_shm_segment_seal(&n->host.segment);
    else
        forget(n);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static int join(void *what)
{
    return hwmc_shm_group_join(what);
}

/* Step 4. */
static int tell_places(struct hwmc_shm_comm *n, struct hwmc_shm_affinity *places)
{
    int mpi_errno = MPI_SUCCESS;
    struct hwmc_shm_tree star;
    struct hwmc_shm_bcast b;
    struct hwmc_shm_caches caches;

    for (uint32_t r = 0; r < n->host.group.size; r++) {
        uint64_t here = r == n->host.group.rank ? sizeof(*places) : 0;

        star = hwmc_shm_group_star(&n->host.group, r);
        hwmc_shm_bcast_begin(&b, &n->host.group, &star, r, &places[r], sizeof(*places), here);
        mpi_errno = hwmc_shm_wait(&n->host, &b.op);
        MPIR_ERR_CHECK(mpi_errno);
    }
    n->host.crowded = hwmc_shm_crowded(places, n->host.group.size);
    hwmc_shm_caches_of(places, n->host.group.size, &caches);
    n->host.stream_min = hwmc_shm_nontemporal_min(&caches);
    hwmc_shm_levels_init(&n->host.levels, places, n->host.group.size);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

int hwmc_shm_setup(struct hwmc_shm_comm *n, MPIR_Comm *comm)
{
    int mpi_errno = MPI_SUCCESS, unusable;
    const int num = n->mates ? n->num_mates : comm->local_size;
    struct hwmc_shm_affinity *places = MPL_calloc((size_t) num, sizeof(*places), MPL_MEM_COMM);
    struct hwmc_shm_affinity *own = NULL;
    int all = 0, rank = 0;

    n->state = n->mates ? HWMC_SHM_SPREAD : HWMC_SHM_OFF;
    n->host.part = n->mates != NULL;
    n->host.crowded = true; /* until it is known better */
    while ((n->mates ? n->mates[rank] : rank) != comm->rank)
        rank++;
    unusable = hwmc_shm_csel_begin(&n->host, (uint32_t) num);
    if (places && !unusable) {
        own = &places[rank];
        own_place(own);
    }
    mpi_errno = share(n, HWMC_SHM_SEGMENT_MEMFD, comm, rank, num, own, &all);
    MPIR_ERR_CHECK(mpi_errno);
    if (!all)
        mpi_errno = share(n, HWMC_SHM_SEGMENT_SHM, comm, rank, num, own, &all);
    MPIR_ERR_CHECK(mpi_errno);
    if (!all)
        goto fn_exit;
    n->state = n->mates ? HWMC_SHM_PART : HWMC_SHM_ON;
    hwmc_shm_note_segment(true, n->host.segment.bytes);
    mpi_errno = hwmc_shm_wait_until(&n->host, join, &n->host.group);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = tell_places(n, places);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    MPL_free(places);
    return mpi_errno ? mpi_errno : unusable;
fn_fail: /* others may have gone on: this rank can take no other way */
    n->host.broken = true;
    goto fn_exit;
}
