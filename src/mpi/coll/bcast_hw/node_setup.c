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

#include "node_csel.h"
#include "node/place.h"
#include "node/topo.h"

#include <pthread.h>

/* What rank 0 tells, as integers. */
struct told {
    struct bcast_hw_node_layout layout;
    char name[BCAST_HW_NODE_NAME_MAX]; /* empty: there is no segment */
};

#define SLOTS 32u /* how many collectives a rank may be ahead */

_Static_assert(sizeof(struct told) % sizeof(int) == 0, "told as integers");

/* Where this process runs. Asked anew for each communicator, as a program may have bound it; what
 * hwloc knows of the host is read once. */
static struct bcast_hw_node_topo *topo;
static pthread_mutex_t topo_lock = PTHREAD_MUTEX_INITIALIZER;

static void own_place(struct bcast_hw_node_place *place)
{
    const char *synthetic = MPIR_CVAR_BCAST_HW_NODE_TOPOLOGY;

    memset(place, 0, sizeof(*place));
    for (int i = 0; i < BCAST_HW_NODE_PART_NUM; i++)
        place->part[i] = -1;
    pthread_mutex_lock(&topo_lock);
    if (!topo)
        bcast_hw_node_topo_open(&topo, synthetic && *synthetic ? synthetic : NULL);
    if (topo)
        bcast_hw_node_topo_place(topo, NULL, place);
    pthread_mutex_unlock(&topo_lock);
}

void MPIR_Bcast_hw_node_close(void)
{
    if (topo)
        bcast_hw_node_topo_close(topo);
    topo = NULL;
    bcast_hw_node_copy_close();
    MPIR_Bcast_hw_node_csel_close();
}

static uint32_t chunk_bytes(const struct bcast_hw_node_place *place, uint32_t ranks)
{
    struct bcast_hw_node_caches caches = {
        .line = place->line,
        .l2 = place->l2,
        .llc = place->llc / ranks,
    };
    int said = MPIR_CVAR_BCAST_HW_NODE_CHUNK_BYTES;

    if (said <= 0)
        return bcast_hw_node_chunk(&caches);
    return MPL_MIN(((uint32_t) said + 63) / 64 * 64, BCAST_HW_NODE_CHUNK_MAX);
}

static bool has_room(const struct bcast_hw_node_layout *layout)
{
    return MPIR_Bcast_hw_node_mapped() + bcast_hw_node_segment_bytes(layout) <=
           (size_t) MPL_MAX(MPIR_CVAR_BCAST_HW_NODE_MEMORY, 0) << 20;
}

/* Step 1 at rank 0. */
static void create(struct bcast_hw_node_comm *n, enum bcast_hw_node_segment_kind kind,
                   uint32_t ranks, const struct bcast_hw_node_place *place, struct told *told)
{
    told->layout = (struct bcast_hw_node_layout){.ranks = ranks,
                                                 .slots = SLOTS,
                                                 .buffers = BCAST_HW_NODE_BUFFERS,
                                                 .chunk = chunk_bytes(place, ranks)};
    if (has_room(&told->layout) &&
        bcast_hw_node_segment_create(&n->segment, &told->layout, kind) == BCAST_HW_OK)
        memcpy(told->name, n->segment.name, sizeof(told->name));
}

static uint64_t copy_methods(void)
{
    const uint64_t xpmem = BCAST_HW_NODE_COPY_BIT(BCAST_HW_NODE_COPY_XPMEM);
    const uint64_t cma = BCAST_HW_NODE_COPY_BIT(BCAST_HW_NODE_COPY_CMA);

    switch (MPIR_CVAR_BCAST_HW_NODE_COPY) {
        case MPIR_CVAR_BCAST_HW_NODE_COPY_none:
            return 0;
        case MPIR_CVAR_BCAST_HW_NODE_COPY_xpmem:
            return xpmem;
        case MPIR_CVAR_BCAST_HW_NODE_COPY_cma:
            return cma;
        default:
            return xpmem | cma;
    }
}

/* Step 2. False: this rank cannot. */
static bool enter(struct bcast_hw_node_comm *n, uint32_t rank, const struct told *told)
{
    const struct bcast_hw_node_params params = bcast_hw_node_params_default(told->layout.chunk);

    if (!*told->name)
        return false;
    if (rank > 0 &&
        (!has_room(&told->layout) ||
         bcast_hw_node_segment_attach(&n->segment, &told->layout, told->name) != BCAST_HW_OK))
        return false;
    return bcast_hw_node_group_init(&n->group, &n->segment, rank, copy_methods(), &params) ==
           BCAST_HW_OK;
}

static int tell(const struct bcast_hw_node_comm *n, MPIR_Comm *comm, int num, struct told *told)
{
    int mpi_errno = MPI_SUCCESS;
    const int ints = (int) (sizeof(*told) / sizeof(int));

    if (!n->mates)
        return MPIR_Bcast_allcomm_auto(told, ints, MPIR_BCAST_HW_INT, 0, comm,
                                       MPIR_BCAST_HW_NO_ERRORS);
    if (comm->rank != n->mates[0])
        return MPIC_Recv(told, ints, MPIR_BCAST_HW_INT, n->mates[0], MPIR_BCAST_TAG, comm,
                         MPI_STATUS_IGNORE MPIR_BCAST_HW_RECV_TAIL);
    for (int i = 1; i < num && mpi_errno == MPI_SUCCESS; i++)
        mpi_errno = MPIC_Send(told, ints, MPIR_BCAST_HW_INT, n->mates[i], MPIR_BCAST_TAG, comm,
                              MPIR_BCAST_HW_NO_ERRORS);
    return mpi_errno;
}

static void forget(struct bcast_hw_node_comm *n)
{
    bcast_hw_node_group_fini(&n->group);
    if (n->segment.base)
        bcast_hw_node_segment_close(&n->segment);
}

/* Steps 1 to 3, by one kind of memory, for rank `rank` of `num`. Sets *all if all ranks have the
 * segment. */
static int share(struct bcast_hw_node_comm *n, enum bcast_hw_node_segment_kind kind,
                 MPIR_Comm *comm, int rank, int num, const struct bcast_hw_node_place *place,
                 int *all)
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
    mpi_errno = MPIR_Allreduce_allcomm_auto(&mine, all, 1, MPIR_BCAST_HW_INT, MPI_MIN, comm,
                                            MPIR_BCAST_HW_NO_ERRORS);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    if (*all)
        bcast_hw_node_segment_seal(&n->segment);
    else
        forget(n);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static int join(void *what)
{
    return bcast_hw_node_group_join(what);
}

/* Step 4. */
static int tell_places(struct bcast_hw_node_comm *n, struct bcast_hw_node_place *places)
{
    int mpi_errno = MPI_SUCCESS;
    struct bcast_hw_node_tree star;
    struct bcast_hw_node_bcast b;
    struct bcast_hw_node_caches caches;

    for (uint32_t r = 0; r < n->group.size; r++) {
        uint64_t here = r == n->group.rank ? sizeof(*places) : 0;

        star = bcast_hw_node_group_star(&n->group, r);
        bcast_hw_node_bcast_begin(&b, &n->group, &star, r, &places[r], sizeof(*places), here);
        mpi_errno = MPIR_Bcast_hw_node_wait(n, &b.op);
        MPIR_ERR_CHECK(mpi_errno);
    }
    n->crowded = bcast_hw_node_crowded(places, n->group.size);
    bcast_hw_node_caches_of(places, n->group.size, &caches);
    n->stream_min = bcast_hw_node_stream_min(&caches);
    bcast_hw_node_levels_init(&n->levels, places, n->group.size);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

int MPIR_Bcast_hw_node_setup(struct bcast_hw_node_comm *n, MPIR_Comm *comm)
{
    int mpi_errno = MPI_SUCCESS, unusable;
    const int num = n->mates ? n->num_mates : comm->local_size;
    struct bcast_hw_node_place *places = MPL_calloc((size_t) num, sizeof(*places), MPL_MEM_COMM);
    struct bcast_hw_node_place *own = NULL;
    int all = 0, rank = 0;

    n->state = n->mates ? BCAST_HW_NODE_SPREAD : BCAST_HW_NODE_OFF;
    n->crowded = true; /* until it is known better */
    while ((n->mates ? n->mates[rank] : rank) != comm->rank)
        rank++;
    unusable = MPIR_Bcast_hw_node_csel_begin(n, (uint32_t) num);
    if (places && !unusable) {
        own = &places[rank];
        own_place(own);
    }
    mpi_errno = share(n, BCAST_HW_NODE_SEGMENT_MEMFD, comm, rank, num, own, &all);
    MPIR_ERR_CHECK(mpi_errno);
    if (!all)
        mpi_errno = share(n, BCAST_HW_NODE_SEGMENT_SHM, comm, rank, num, own, &all);
    MPIR_ERR_CHECK(mpi_errno);
    if (!all)
        goto fn_exit;
    n->state = n->mates ? BCAST_HW_NODE_PART : BCAST_HW_NODE_ON;
    MPIR_Bcast_hw_node_note_segment(true, n->segment.bytes);
    mpi_errno = MPIR_Bcast_hw_node_wait_until(n, join, &n->group);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = tell_places(n, places);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    MPL_free(places);
    return mpi_errno ? mpi_errno : unusable;
fn_fail: /* others may have gone on: this rank can take no other way */
    n->state = BCAST_HW_NODE_BROKEN;
    goto fn_exit;
}
