/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * How the ranks of a communicator come to share a segment:
 *
 *   0. Each reads the selection. One that cannot takes part in what follows as one without memory.
 *   1. Rank 0 makes one, of chunks that suit its caches, and tells its name and layout to all.
 *   2. Each opens it, unless that takes more memory than the process may map, and becomes a rank of
 *      its group.
 *   3. All agree whether all have it. If so, the name is removed, and each finds out by which
 *      method it reads the memory of the others; if not, all forget it.
 *   4. Each tells all where it runs: trees follow from that.
 *
 * If not all can open a memfd of rank 0's, steps 1 to 3 are repeated with shm_open. Steps 1 and 3
 * are MPICH's own collectives. The segment's memory belongs to the ranks alone: nothing of it
 * outlives them.
 */

#include "shm.h"
#include "../process/mpich.h"
#include "../select/shm_csel.h"
#include "../shm/coll/bcast.h"
#include "../stats/counters.h"
#include "../shm/segment/wakeup.h"
#include "../shm/topo/affinity.h"
#include "../shm/topo/topo.h"
#include "../settings/settings.h"

#include <pthread.h>

#define SLOTS 32u /* how many collectives a rank may be ahead */

/* Of a persistent collective (twin.h), of which a program may have hundreds. */
#define TWIN_SLOTS 4u
#define TWIN_BUFFERS 4u
#define TWIN_CHUNK 8192u

_Static_assert(sizeof(struct hwmc_shm_told) % sizeof(int) == 0, "told as integers");

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
                   const struct hwmc_shm_affinity *place, struct hwmc_shm_told *told)
{
    const uint32_t chunk = chunk_bytes(place, ranks);

    told->layout = (struct hwmc_shm_layout){.ranks = ranks,
                                            .slots = n->twin ? TWIN_SLOTS : SLOTS,
                                            .buffers = n->twin ? TWIN_BUFFERS : HWMC_SHM_BUFFERS,
                                            .chunk = n->twin ? MPL_MIN(chunk, TWIN_CHUNK) : chunk};
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
static bool enter(struct hwmc_shm_comm *n, uint32_t rank, const struct hwmc_shm_told *told)
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

/* Steps 1 to 4 as a machine, which waits for messages, then for the ranks of the host:
 *
 *   BEGIN -> TELL -> AGREE -> JOIN -> PLACES -> ENDED
 *             ^--------'         (by the other kind of memory, once)
 */
static void setup_forget(struct hwmc_shm_comm *n)
{
    hwmc_shm_group_fini(&n->host.group);
    if (n->host.segment.base)
        hwmc_shm_segment_close(&n->host.segment);
}

/* Step 1, by one kind of memory. */
static int setup_tell(struct hwmc_shm_comm *n)
{
    struct hwmc_shm_setup *s = &n->setup;
    const int ints = (int) (sizeof(s->told) / sizeof(int));

    memset(&s->told, 0, sizeof(s->told));
    if (s->rank == 0 && s->own)
        create(n, s->kind, (uint32_t) s->num, s->own, &s->told);
    s->state = HWMC_SHM_SETUP_TELL;
    if (n->mates)
        return hwmc_messages_tell(&s->messages, (int *) &s->told, ints, n->mates, s->num);
    return hwmc_messages_bcast(&s->messages, &s->told, ints, HWMC_INT, 0);
}

/* Step 2, and the question of step 3. */
static int setup_agree(struct hwmc_shm_comm *n)
{
    struct hwmc_shm_setup *s = &n->setup;

    if (s->own && enter(n, (uint32_t) s->rank, &s->told))
        s->mine = (int) s->told.layout.chunk;
    else
        s->mine = 0;
    s->state = HWMC_SHM_SETUP_AGREE;
    return hwmc_messages_least(&s->messages, &s->mine, &s->all);
}

/* The answer: all have it, or it is tried by the other kind of memory, or all do without. */
static int setup_agreed(struct hwmc_shm_comm *n)
{
    struct hwmc_shm_setup *s = &n->setup;

    if (s->all > 0) {
        n->host.chunk_least = (uint32_t) s->all;
        hwmc_shm_segment_seal(&n->host.segment);
        n->state = n->mates ? HWMC_SHM_PART : HWMC_SHM_ON;
        hwmc_shm_note_segment(true, n->host.segment.bytes);
        s->state = HWMC_SHM_SETUP_JOIN;
        s->join = HWMC_AGAIN;
        return MPI_SUCCESS;
    }
    setup_forget(n);
    if (s->kind == HWMC_SHM_SEGMENT_MEMFD) {
        s->kind = HWMC_SHM_SEGMENT_SHM;
        return setup_tell(n);
    }
    s->state = HWMC_SHM_SETUP_ENDED;
    return MPI_SUCCESS;
}

static int setup_join(void *what)
{
    struct hwmc_shm_comm *n = what;

    if (n->setup.join == HWMC_AGAIN)
        n->setup.join = hwmc_shm_group_join(&n->host.group);
    hwmc_shm_wakeup_ring(&n->host.group);
    return n->setup.join;
}

/* Step 4: the place of rank `from`. */
static void setup_place(struct hwmc_shm_comm *n, uint32_t from)
{
    struct hwmc_shm_setup *s = &n->setup;
    struct hwmc_shm_group *g = &n->host.group;
    const uint64_t bytes = sizeof(*s->places);

    s->from = from;
    s->star = hwmc_shm_group_star(g, from);
    hwmc_shm_bcast_begin(&s->bcast, g, &s->star, from, &s->places[from], bytes,
                         from == g->rank ? bytes : 0);
    s->shm = (struct hwmc_await_shm){.op = &s->bcast.op, .err = HWMC_AGAIN};
    s->state = HWMC_SHM_SETUP_PLACES;
}

static void setup_placed(struct hwmc_shm_comm *n)
{
    struct hwmc_shm_setup *s = &n->setup;
    const uint32_t size = n->host.group.size;
    struct hwmc_shm_caches caches;

    n->host.crowded = hwmc_shm_crowded(s->places, size);
    hwmc_shm_caches_of(s->places, size, &caches);
    n->host.stream_min = hwmc_shm_nontemporal_min(&caches);
    hwmc_shm_levels_init(&n->host.levels, s->places, size);
    s->state = HWMC_SHM_SETUP_ENDED;
}

void hwmc_shm_setup_begin(struct hwmc_shm_comm *n, MPIR_Comm *comm, int tag)
{
    struct hwmc_shm_setup *s = &n->setup;

    memset(s, 0, sizeof(*s));
    n->state = n->mates ? HWMC_SHM_SPREAD : HWMC_SHM_OFF;
    n->host.part = n->mates != NULL;
    n->host.crowded = true; /* until it is known better */
    s->messages = hwmc_messages_of(comm, tag);
    s->kind = HWMC_SHM_SEGMENT_MEMFD;
    s->num = n->mates ? n->num_mates : comm->local_size;
    while ((n->mates ? n->mates[s->rank] : s->rank) != comm->rank)
        s->rank++;
    s->places = MPL_calloc((size_t) s->num, sizeof(*s->places), MPL_MEM_COMM);
    s->unusable = hwmc_shm_csel_begin(&n->host, (uint32_t) s->num);
    if (s->places && !s->unusable) {
        s->own = &s->places[s->rank];
        own_place(s->own);
    }
}

/* What follows what the machine has waited for. */
static int setup_go_on(struct hwmc_shm_comm *n)
{
    struct hwmc_shm_setup *s = &n->setup;
    int mpi_errno = MPI_SUCCESS;

    switch (s->state) {
        case HWMC_SHM_SETUP_BEGIN:
            return setup_tell(n);
        case HWMC_SHM_SETUP_TELL:
            return setup_agree(n);
        case HWMC_SHM_SETUP_AGREE:
            return setup_agreed(n);
        case HWMC_SHM_SETUP_JOIN:
            if (s->join != HWMC_OK)
                return hwmc_shm_failed(&n->host, s->join);
            setup_place(n, 0);
            return mpi_errno;
        case HWMC_SHM_SETUP_PLACES:
            if (s->shm.err != HWMC_OK)
                return hwmc_shm_failed(&n->host, s->shm.err);
            if (s->from + 1 < n->host.group.size)
                setup_place(n, s->from + 1);
            else
                setup_placed(n);
            return mpi_errno;
        default:
            return mpi_errno;
    }
}

/* Whether it waits, and for what; or the error of what it has waited for. */
static bool setup_waits(struct hwmc_shm_comm *n, struct hwmc_await *a, int *mpi_errno)
{
    struct hwmc_shm_setup *s = &n->setup;

    *mpi_errno = MPI_SUCCESS;
    a->kind = HWMC_AWAIT_NOTHING;
    a->host = &n->host;
    if (s->state == HWMC_SHM_SETUP_TELL || s->state == HWMC_SHM_SETUP_AGREE) {
        a->messages = &s->messages;
        a->kind =
            hwmc_messages_over(&s->messages, mpi_errno) ? HWMC_AWAIT_NOTHING : HWMC_AWAIT_MESSAGES;
    } else if (s->state == HWMC_SHM_SETUP_JOIN) {
        a->step = setup_join;
        a->what = n;
        a->kind = setup_join(n) == HWMC_AGAIN ? HWMC_AWAIT_HOST : HWMC_AWAIT_NOTHING;
    } else if (s->state == HWMC_SHM_SETUP_PLACES) {
        a->step = hwmc_await_shm_step;
        a->what = &s->shm;
        a->kind = hwmc_await_shm_step(&s->shm) == HWMC_AGAIN ? HWMC_AWAIT_HOST : HWMC_AWAIT_NOTHING;
    }
    return a->kind != HWMC_AWAIT_NOTHING;
}

bool hwmc_shm_setup_step(struct hwmc_shm_comm *n, struct hwmc_await *a, int *mpi_errno)
{
    struct hwmc_shm_setup *s = &n->setup;

    while (*mpi_errno == MPI_SUCCESS && s->state != HWMC_SHM_SETUP_ENDED) {
        if (setup_waits(n, a, mpi_errno))
            return false;
        if (*mpi_errno == MPI_SUCCESS)
            *mpi_errno = setup_go_on(n);
    }
    /* Others may have gone on: this rank can take no other way. A segment that was not agreed on is
     * not counted either. */
    if (*mpi_errno) {
        n->host.broken = true;
        if (s->state == HWMC_SHM_SETUP_TELL || s->state == HWMC_SHM_SETUP_AGREE)
            setup_forget(n);
    } else {
        *mpi_errno = s->unusable;
    }
    MPL_free(s->places);
    s->places = NULL;
    return true;
}

int hwmc_shm_setup(struct hwmc_shm_comm *n, MPIR_Comm *comm)
{
    struct hwmc_await a;
    int mpi_errno, tag;

    mpi_errno = hwmc_messages_tag(comm, &tag);
    hwmc_shm_setup_begin(n, comm, tag);
    while (!hwmc_shm_setup_step(n, &a, &mpi_errno))
        mpi_errno = hwmc_await(&a);
    return mpi_errno;
}
