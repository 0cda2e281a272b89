/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_TEST_MPI_FAMILIES_H_INCLUDED
#define HWMC_TEST_MPI_FAMILIES_H_INCLUDED

/* One call of any of MPI's collectives, checked: what a rank's memory must look like after it is
 * worked out before, from a key that the ranks count alike, and compared byte for byte, what must
 * not be written to with it. A call is prepared, issued as a blocking, nonblocking or persistent
 * one, and, when it is complete, checked. Parts of a vector form have unequal lengths, some none,
 * and lie in descending order with gaps between. Reductions here are sums of integers; see
 * hwmc_shm_ops for the others. */

#include <time.h>
#include "hwmc_util.h"

#define HWTEST_RANKS 64
#define HWTEST_GAP 3 /* bytes between parts */

enum hwtest_how { HWTEST_WAITS, HWTEST_STARTS, HWTEST_PERSISTS };

struct hwtest_call {
    MPI_Comm comm;
    enum hwtest_how how;
    MPI_Request request; /* of a call that does not wait */
    int family;
    int rank, size, root;
    size_t bytes; /* of a part; of reductions, of the whole */
    bool in_place, vector;
    uint64_t key;
    const char *name;
    unsigned char *send, *recv, *want; /* of `room` bytes each */
    size_t room;
    int counts[HWTEST_RANKS], places[HWTEST_RANKS];  /* of parts */
    int sent[HWTEST_RANKS], sent_from[HWTEST_RANKS]; /* likewise, of MPI_Alltoallv */
    size_t span;                                     /* that they lie in */
    size_t loose[2]; /* bytes of `recv` from here to there are MPI's to change */
    double came;     /* barrier: when this rank did */
};

/* Issues the call in its form. */
#if MPI_VERSION >= 4
#define HWTEST_PERSIST(Name, ...) MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &c->request)
#else
#define HWTEST_PERSIST(Name, ...) MPI_Abort(MPI_COMM_WORLD, 1)
#endif

#define HWTEST_ISSUE(Name, name, ...)                                                              \
    do {                                                                                           \
        if (c->how == HWTEST_WAITS)                                                                \
            MPI_##Name(__VA_ARGS__);                                                               \
        else if (c->how == HWTEST_STARTS)                                                          \
            MPI_I##name(__VA_ARGS__, &c->request);                                                 \
        else                                                                                       \
            HWTEST_PERSIST(Name, __VA_ARGS__);                                                     \
    } while (0)

static inline void hwtest_call_init(struct hwtest_call *c, MPI_Comm comm, size_t room)
{
    memset(c, 0, sizeof(*c));
    c->comm = comm;
    c->room = room + HWTEST_GUARD;
    c->send = hwtest_alloc(c->room);
    c->recv = hwtest_alloc(c->room);
    c->want = hwtest_alloc(c->room);
}

static inline void hwtest_call_free(struct hwtest_call *c)
{
    free(c->send);
    free(c->recv);
    free(c->want);
}

static inline void *hwtest_in(const struct hwtest_call *c, bool in_place)
{
    return in_place ? MPI_IN_PLACE : c->send;
}

/* What `from` has for `to`. */
static inline uint64_t hwtest_part_key(const struct hwtest_call *c, int from, int to)
{
    return hwtest_mix(c->key) + (uint64_t) from * HWTEST_RANKS + (uint64_t) to;
}

static inline size_t hwtest_part_bytes(const struct hwtest_call *c, int from, int to)
{
    if (!c->vector)
        return c->bytes;
    return (from + to) % 3 == 2 ? 0 : c->bytes + (size_t) (2 * from + to) % 5;
}

/* Lays out a part for each rank: those that `from` has for all, or else that all have for `to`. */
static inline void hwtest_lay_out(struct hwtest_call *c, bool of_from, int rank)
{
    size_t at = 0;

    for (int i = 0; i < c->size; i++) {
        int part = c->vector ? c->size - 1 - i : i;
        size_t bytes =
            of_from ? hwtest_part_bytes(c, rank, part) : hwtest_part_bytes(c, part, rank);

        c->counts[part] = (int) bytes;
        c->places[part] = (int) at;
        at += bytes + (c->vector ? HWTEST_GAP : 0);
    }
    c->span = at;
}

static inline void hwtest_poison(struct hwtest_call *c)
{
    memset(c->recv, HWTEST_POISON, c->span + HWTEST_GUARD);
    memset(c->want, HWTEST_POISON, c->span + HWTEST_GUARD);
}

/* `recv` and what lies behind are as wanted: 0, or 1 and a line that says where not. */
static inline int hwtest_compare(struct hwtest_call *c)
{
    static int printed;
    size_t at = 0;

    hwtest_done++;
    memcpy(c->want + c->loose[0], c->recv + c->loose[0], c->loose[1] - c->loose[0]);
    if (memcmp(c->recv, c->want, c->span + HWTEST_GUARD) == 0)
        return 0;
    while (c->recv[at] == c->want[at])
        at++;
    if (printed++ < HWTEST_MAX_PRINTED)
        printf("%s%s%s, rank %d of %d, root %d, %zu bytes, key %llu: wrong at %zu\n", c->name,
               c->vector ? "v" : "", c->in_place ? " in place" : "", c->rank, c->size, c->root,
               c->bytes, (unsigned long long) c->key, at);
    fflush(stdout);
    return 1;
}

static inline void hwtest_prepare_bcast(struct hwtest_call *c)
{
    c->span = c->bytes;
    hwtest_poison(c);
    hwtest_fill(c->want, c->bytes, c->key);
    if (c->rank == c->root)
        memcpy(c->recv, c->want, c->bytes);
}

static inline void hwtest_issue_bcast(struct hwtest_call *c)
{
    HWTEST_ISSUE(Bcast, bcast, c->recv, (int) c->bytes, MPI_BYTE, c->root, c->comm);
}

static inline double hwtest_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static inline void hwtest_prepare_barrier(struct hwtest_call *c)
{
    c->came = hwtest_clock();
}

static inline void hwtest_issue_barrier(struct hwtest_call *c)
{
    HWTEST_ISSUE(Barrier, barrier, c->comm);
}

/* Nobody leaves before all have come; told by the clock of the host, where all are on one. */
static inline int hwtest_check_barrier(struct hwtest_call *c)
{
    double when[2] = {c->came, -hwtest_clock()}, limits[2];

    MPI_Allreduce(when, limits, 2, MPI_DOUBLE, MPI_MAX, c->comm);
    hwtest_done++;
    if (limits[0] <= -limits[1] || getenv("HWTEST_SEVERAL_HOSTS") != NULL)
        return 0;
    printf("barrier: a rank left %.0f us before the last had come\n",
           1e6 * (limits[0] + limits[1]));
    fflush(stdout);
    return 1;
}

static inline void hwtest_prepare_gather(struct hwtest_call *c)
{
    const bool is_root = c->rank == c->root;
    size_t mine = hwtest_part_bytes(c, c->rank, c->root);

    hwtest_lay_out(c, false, c->root);
    hwtest_poison(c);
    hwtest_fill(c->send, mine, hwtest_part_key(c, c->rank, c->root));
    for (int i = 0; i < c->size && is_root; i++)
        hwtest_fill(c->want + c->places[i], (size_t) c->counts[i], hwtest_part_key(c, i, c->root));
    if (c->in_place && is_root)
        memcpy(c->recv + c->places[c->rank], c->send, mine);
}

static inline void hwtest_issue_gather(struct hwtest_call *c)
{
    const void *in = hwtest_in(c, c->in_place && c->rank == c->root);
    int mine = (int) hwtest_part_bytes(c, c->rank, c->root);

    if (c->vector)
        HWTEST_ISSUE(Gatherv, gatherv, in, mine, MPI_BYTE, c->recv, c->counts, c->places, MPI_BYTE,
                     c->root, c->comm);
    else
        HWTEST_ISSUE(Gather, gather, in, mine, MPI_BYTE, c->recv, (int) c->bytes, MPI_BYTE, c->root,
                     c->comm);
}

static inline void hwtest_prepare_allgather(struct hwtest_call *c)
{
    size_t mine = hwtest_part_bytes(c, c->rank, 0);

    hwtest_lay_out(c, false, 0);
    hwtest_poison(c);
    hwtest_fill(c->send, mine, hwtest_part_key(c, c->rank, 0));
    for (int i = 0; i < c->size; i++)
        hwtest_fill(c->want + c->places[i], (size_t) c->counts[i], hwtest_part_key(c, i, 0));
    if (c->in_place)
        memcpy(c->recv + c->places[c->rank], c->send, mine);
}

static inline void hwtest_issue_allgather(struct hwtest_call *c)
{
    const void *in = hwtest_in(c, c->in_place);
    int mine = (int) hwtest_part_bytes(c, c->rank, 0);

    if (c->vector)
        HWTEST_ISSUE(Allgatherv, allgatherv, in, mine, MPI_BYTE, c->recv, c->counts, c->places,
                     MPI_BYTE, c->comm);
    else
        HWTEST_ISSUE(Allgather, allgather, in, mine, MPI_BYTE, c->recv, (int) c->bytes, MPI_BYTE,
                     c->comm);
}

static inline void hwtest_prepare_scatter(struct hwtest_call *c)
{
    const bool is_root = c->rank == c->root;
    size_t mine = hwtest_part_bytes(c, c->root, c->rank);

    hwtest_lay_out(c, true, c->root);
    for (int i = 0; i < c->size && is_root; i++)
        hwtest_fill(c->send + c->places[i], (size_t) c->counts[i], hwtest_part_key(c, c->root, i));
    c->span = mine;
    hwtest_poison(c);
    if (!c->in_place || !is_root)
        hwtest_fill(c->want, mine, hwtest_part_key(c, c->root, c->rank));
}

static inline void hwtest_issue_scatter(struct hwtest_call *c)
{
    void *out = c->in_place && c->rank == c->root ? MPI_IN_PLACE : c->recv;
    int mine = (int) hwtest_part_bytes(c, c->root, c->rank);

    if (c->vector)
        HWTEST_ISSUE(Scatterv, scatterv, c->send, c->counts, c->places, MPI_BYTE, out, mine,
                     MPI_BYTE, c->root, c->comm);
    else
        HWTEST_ISSUE(Scatter, scatter, c->send, (int) c->bytes, MPI_BYTE, out, mine, MPI_BYTE,
                     c->root, c->comm);
}

/* In place two ranks exchange parts of one length. */
static inline void hwtest_prepare_alltoall(struct hwtest_call *c)
{
    c->vector = c->vector && !c->in_place;
    hwtest_lay_out(c, true, c->rank);
    memcpy(c->sent, c->counts, sizeof(c->sent));
    memcpy(c->sent_from, c->places, sizeof(c->sent_from));
    for (int i = 0; i < c->size; i++)
        hwtest_fill(c->send + c->places[i], (size_t) c->counts[i], hwtest_part_key(c, c->rank, i));
    hwtest_lay_out(c, false, c->rank);
    hwtest_poison(c);
    for (int i = 0; i < c->size; i++)
        hwtest_fill(c->want + c->places[i], (size_t) c->counts[i], hwtest_part_key(c, i, c->rank));
    if (c->in_place)
        memcpy(c->recv, c->send, c->span);
}

static inline void hwtest_issue_alltoall(struct hwtest_call *c)
{
    if (c->vector)
        HWTEST_ISSUE(Alltoallv, alltoallv, c->send, c->sent, c->sent_from, MPI_BYTE, c->recv,
                     c->counts, c->places, MPI_BYTE, c->comm);
    else
        HWTEST_ISSUE(Alltoall, alltoall, hwtest_in(c, c->in_place), (int) c->bytes, MPI_BYTE,
                     c->recv, (int) c->bytes, MPI_BYTE, c->comm);
}

/* Reductions: elements are of 4 bytes where these make up the length, else of 1. */

static inline MPI_Datatype hwtest_sum_type(const struct hwtest_call *c)
{
    return c->bytes % 4 == 0 ? MPI_UINT32_T : MPI_UINT8_T;
}

static inline int hwtest_sum_count(const struct hwtest_call *c)
{
    return (int) (c->bytes % 4 == 0 ? c->bytes / 4 : c->bytes);
}

/* Adds what `rank` has to `sums`. Bytes are below 4: of 64 ranks they do not overflow, which not
 * all libraries let wrap. */
static inline void hwtest_add(const struct hwtest_call *c, int rank, void *sums)
{
    uint32_t base = (uint32_t) hwtest_part_key(c, rank, 0) * 2654435761u;
    uint32_t step = 2 * (uint32_t) rank + 40503u;
    int count = hwtest_sum_count(c);

    for (int i = 0; i < count; i++) {
        uint32_t value = base + (uint32_t) i * step;

        if (c->bytes % 4 == 0)
            ((uint32_t *) sums)[i] += value;
        else
            ((uint8_t *) sums)[i] = (uint8_t) (((uint8_t *) sums)[i] + value % 4);
    }
}

/* Fills `send`, and `recv` with the same if in place; `want` with the sum over ranks below
 * `end`. */
static inline void hwtest_sum(struct hwtest_call *c, int end, bool in_place)
{
    c->span = c->bytes;
    hwtest_poison(c);
    memset(c->send, 0, c->bytes);
    hwtest_add(c, c->rank, c->send);
    if (in_place)
        memcpy(c->recv, c->send, c->bytes);
    if (end > 0)
        memset(c->want, 0, c->bytes);
    for (int i = 0; i < end; i++)
        hwtest_add(c, i, c->want);
}

static inline void hwtest_prepare_reduce(struct hwtest_call *c)
{
    const bool is_root = c->rank == c->root;

    hwtest_sum(c, is_root ? c->size : 0, c->in_place && is_root);
}

static inline void hwtest_issue_reduce(struct hwtest_call *c)
{
    HWTEST_ISSUE(Reduce, reduce, hwtest_in(c, c->in_place && c->rank == c->root), c->recv,
                 hwtest_sum_count(c), hwtest_sum_type(c), MPI_SUM, c->root, c->comm);
}

static inline void hwtest_prepare_allreduce(struct hwtest_call *c)
{
    hwtest_sum(c, c->size, c->in_place);
}

static inline void hwtest_issue_allreduce(struct hwtest_call *c)
{
    HWTEST_ISSUE(Allreduce, allreduce, hwtest_in(c, c->in_place), c->recv, hwtest_sum_count(c),
                 hwtest_sum_type(c), MPI_SUM, c->comm);
}

static inline void hwtest_prepare_scan(struct hwtest_call *c)
{
    hwtest_sum(c, c->rank + 1, c->in_place);
}

static inline void hwtest_issue_scan(struct hwtest_call *c)
{
    HWTEST_ISSUE(Scan, scan, hwtest_in(c, c->in_place), c->recv, hwtest_sum_count(c),
                 hwtest_sum_type(c), MPI_SUM, c->comm);
}

/* Of rank 0 the result is not defined. */
static inline void hwtest_prepare_exscan(struct hwtest_call *c)
{
    hwtest_sum(c, c->rank, c->in_place);
    c->loose[1] = c->rank > 0 ? 0 : c->bytes;
}

static inline void hwtest_issue_exscan(struct hwtest_call *c)
{
    HWTEST_ISSUE(Exscan, exscan, hwtest_in(c, c->in_place), c->recv, hwtest_sum_count(c),
                 hwtest_sum_type(c), MPI_SUM, c->comm);
}

/* The result is a part of the sums: an equal one, or in the vector form nothing for some ranks. In
 * place, what is behind the part is MPI's. */
static inline void hwtest_prepare_reduce_scatter(struct hwtest_call *c)
{
    size_t element, mine, at = 0;
    int left, each;

    if (!c->vector)
        c->bytes -= c->bytes % (4 * (size_t) c->size);
    hwtest_sum(c, c->size, c->in_place);
    element = c->bytes % 4 == 0 ? 4 : 1;
    left = hwtest_sum_count(c);
    each = left / c->size;
    for (int i = 0; i < c->size; i++) {
        int part = c->vector && i % 3 == 1 ? 0 : each + (c->vector && i % 3 == 2 ? each / 2 : 0);

        c->counts[i] = c->vector && i == c->size - 1 ? left : (part < left ? part : left);
        left -= c->counts[i];
        at += i < c->rank ? (size_t) c->counts[i] * element : 0;
    }
    mine = (size_t) c->counts[c->rank] * element;
    memmove(c->want, c->want + at, mine);
    memset(c->want + mine, HWTEST_POISON, c->bytes - mine);
    c->loose[0] = c->in_place ? mine : 0;
    c->loose[1] = c->in_place ? c->bytes : 0;
}

static inline void hwtest_issue_reduce_scatter(struct hwtest_call *c)
{
    if (c->vector)
        HWTEST_ISSUE(Reduce_scatter, reduce_scatter, hwtest_in(c, c->in_place), c->recv, c->counts,
                     hwtest_sum_type(c), MPI_SUM, c->comm);
    else
        HWTEST_ISSUE(Reduce_scatter_block, reduce_scatter_block, hwtest_in(c, c->in_place), c->recv,
                     c->counts[0], hwtest_sum_type(c), MPI_SUM, c->comm);
}

/* All of them. `divided`: c->bytes is what each rank has, or has for each. */
static const struct hwtest_family {
    const char *name;
    void (*prepare)(struct hwtest_call *c);
    void (*issue)(struct hwtest_call *c);
    bool rooted, has_in_place, has_vector, divided;
} hwtest_families[] = {
#define HWTEST_FAMILY(name, ...)                                                                   \
    {                                                                                              \
#name, hwtest_prepare_##name, hwtest_issue_##name, __VA_ARGS__                             \
    }
    HWTEST_FAMILY(bcast, true, false, false, false),
    HWTEST_FAMILY(barrier, false, false, false, false),
    HWTEST_FAMILY(reduce, true, true, false, false),
    HWTEST_FAMILY(allreduce, false, true, false, false),
    HWTEST_FAMILY(gather, true, true, true, true),
    HWTEST_FAMILY(scatter, true, true, true, true),
    HWTEST_FAMILY(allgather, false, true, true, true),
    HWTEST_FAMILY(alltoall, false, true, true, true),
    HWTEST_FAMILY(scan, false, true, false, false),
    HWTEST_FAMILY(exscan, false, true, false, false),
    HWTEST_FAMILY(reduce_scatter, false, true, true, false),
#undef HWTEST_FAMILY
};
#define HWTEST_FAMILIES ((int) (sizeof(hwtest_families) / sizeof(hwtest_families[0])))

/* Memory for calls of up to so many bytes in all. */
static inline size_t hwtest_families_room(size_t bytes, int size)
{
    return bytes + (size_t) size * (4 + HWTEST_GAP);
}

/* What a call is; `total` is the bytes of all parts. */
static inline void hwtest_family_set(struct hwtest_call *c, int family, int form, int root,
                                     size_t total)
{
    const struct hwtest_family *f = &hwtest_families[family];

    MPI_Comm_rank(c->comm, &c->rank);
    MPI_Comm_size(c->comm, &c->size);
    c->family = family;
    c->name = f->name;
    c->root = root;
    c->bytes = f->divided ? total / (size_t) c->size : total;
    c->in_place = f->has_in_place && form % 2 == 1;
    c->vector = f->has_vector && form >= 2;
}

/* Fills memory; persistent ones may be prepared again between two starts. */
static inline void hwtest_family_prepare(struct hwtest_call *c, uint64_t key)
{
    c->key = hwtest_mix(key) + (uint64_t) c->family;
    c->loose[0] = c->loose[1] = 0;
    hwtest_families[c->family].prepare(c);
}

static inline void hwtest_family_issue(struct hwtest_call *c, enum hwtest_how how)
{
    c->how = how;
    c->request = MPI_REQUEST_NULL;
    hwtest_families[c->family].issue(c);
}

/* It is complete: returns errors. Of barriers collective, all ranks check in the same order. */
static inline int hwtest_family_check(struct hwtest_call *c)
{
    return hwtest_families[c->family].prepare == hwtest_prepare_barrier ? hwtest_check_barrier(c)
                                                                        : hwtest_compare(c);
}

/* One blocking call, checked. Returns errors. */
static inline int hwtest_family_call(struct hwtest_call *c, int family, int form, int root,
                                     size_t total, uint64_t key)
{
    hwtest_family_set(c, family, form, root, total);
    hwtest_family_prepare(c, key);
    hwtest_family_issue(c, HWTEST_WAITS);
    return hwtest_family_check(c);
}

/* What a call is, by numbers that the ranks draw alike. */
static inline void hwtest_any_set(struct hwtest_call *c, uint64_t *state, size_t max)
{
    int size, family = (int) hwtest_random(state, (uint64_t) HWTEST_FAMILIES);
    int form = (int) hwtest_random(state, 4), root;
    size_t total = hwtest_random_bytes(state, max);

    MPI_Comm_size(c->comm, &size);
    root = (int) hwtest_random(state, (uint64_t) size);
    hwtest_family_set(c, family, form, root, total);
}

/* Any of them, blocking. */
static inline int hwtest_any_call(struct hwtest_call *c, uint64_t *state, size_t max)
{
    hwtest_any_set(c, state, max);
    hwtest_family_prepare(c, *state);
    hwtest_family_issue(c, HWTEST_WAITS);
    return hwtest_family_check(c);
}

#endif /* HWMC_TEST_MPI_FAMILIES_H_INCLUDED */
