/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_TEST_MPI_FAMILIES_H_INCLUDED
#define HWMC_TEST_MPI_FAMILIES_H_INCLUDED

/* One call of any of MPI's blocking collectives, checked: what a rank's memory must look like after
 * it is worked out before, from a key that the ranks count alike, and compared byte for byte, what
 * must not be written to with it. Parts of a vector form have unequal lengths, some none, and lie
 * in descending order with gaps between. Reductions here are sums of integers; see
 * hwmc_shm_ops for the others. */

#include <time.h>
#include "hwmc_util.h"

#define HWTEST_RANKS 64
#define HWTEST_GAP 3 /* bytes between parts */

struct hwtest_call {
    MPI_Comm comm;
    int rank, size, root;
    size_t bytes; /* of a part; of reductions, of the whole */
    bool in_place, vector;
    uint64_t key;
    const char *name;
    unsigned char *send, *recv, *want; /* of `room` bytes each */
    size_t room;
    int counts[HWTEST_RANKS], places[HWTEST_RANKS]; /* of parts */
    size_t span;                                    /* that they lie in */
};

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

/* The first `bytes` of `recv` are as wanted: 0, or 1 and a line that says where not. */
static inline int hwtest_compare(const struct hwtest_call *c, size_t bytes)
{
    static int printed;
    size_t at = 0;

    hwtest_done++;
    if (memcmp(c->recv, c->want, bytes) == 0)
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

/* All of `recv`, and what lies behind. */
static inline int hwtest_compare_all(const struct hwtest_call *c)
{
    return hwtest_compare(c, c->span + HWTEST_GUARD);
}

static inline int hwtest_call_bcast(struct hwtest_call *c)
{
    c->span = c->bytes;
    hwtest_poison(c);
    hwtest_fill(c->want, c->bytes, c->key);
    if (c->rank == c->root)
        memcpy(c->recv, c->want, c->bytes);
    MPI_Bcast(c->recv, (int) c->bytes, MPI_BYTE, c->root, c->comm);
    return hwtest_compare_all(c);
}

/* Nobody leaves before all have come; told by the clock of the host, where all are on one. */
static inline int hwtest_call_barrier(struct hwtest_call *c)
{
    struct timespec came, left;
    double when[2], limits[2];

    clock_gettime(CLOCK_MONOTONIC, &came);
    MPI_Barrier(c->comm);
    clock_gettime(CLOCK_MONOTONIC, &left);
    when[0] = (double) came.tv_sec + 1e-9 * (double) came.tv_nsec;
    when[1] = -((double) left.tv_sec + 1e-9 * (double) left.tv_nsec);
    MPI_Allreduce(when, limits, 2, MPI_DOUBLE, MPI_MAX, c->comm);
    hwtest_done++;
    if (limits[0] <= -limits[1] || getenv("HWTEST_SEVERAL_HOSTS") != NULL)
        return 0;
    printf("barrier: a rank left %.0f us before the last had come\n",
           1e6 * (limits[0] + limits[1]));
    fflush(stdout);
    return 1;
}

static inline int hwtest_call_gather(struct hwtest_call *c)
{
    bool is_root = c->rank == c->root, in_place = c->in_place && is_root;
    size_t mine = hwtest_part_bytes(c, c->rank, c->root);

    hwtest_lay_out(c, false, c->root);
    hwtest_poison(c);
    hwtest_fill(c->send, mine, hwtest_part_key(c, c->rank, c->root));
    for (int i = 0; i < c->size && is_root; i++)
        hwtest_fill(c->want + c->places[i], (size_t) c->counts[i], hwtest_part_key(c, i, c->root));
    if (in_place)
        memcpy(c->recv + c->places[c->rank], c->send, mine);
    if (c->vector)
        MPI_Gatherv(hwtest_in(c, in_place), (int) mine, MPI_BYTE, c->recv, c->counts, c->places,
                    MPI_BYTE, c->root, c->comm);
    else
        MPI_Gather(hwtest_in(c, in_place), (int) mine, MPI_BYTE, c->recv, (int) c->bytes, MPI_BYTE,
                   c->root, c->comm);
    return hwtest_compare_all(c);
}

static inline int hwtest_call_allgather(struct hwtest_call *c)
{
    size_t mine = hwtest_part_bytes(c, c->rank, 0);

    hwtest_lay_out(c, false, 0);
    hwtest_poison(c);
    hwtest_fill(c->send, mine, hwtest_part_key(c, c->rank, 0));
    for (int i = 0; i < c->size; i++)
        hwtest_fill(c->want + c->places[i], (size_t) c->counts[i], hwtest_part_key(c, i, 0));
    if (c->in_place)
        memcpy(c->recv + c->places[c->rank], c->send, mine);
    if (c->vector)
        MPI_Allgatherv(hwtest_in(c, c->in_place), (int) mine, MPI_BYTE, c->recv, c->counts,
                       c->places, MPI_BYTE, c->comm);
    else
        MPI_Allgather(hwtest_in(c, c->in_place), (int) mine, MPI_BYTE, c->recv, (int) c->bytes,
                      MPI_BYTE, c->comm);
    return hwtest_compare_all(c);
}

static inline int hwtest_call_scatter(struct hwtest_call *c)
{
    bool is_root = c->rank == c->root, in_place = c->in_place && is_root;
    size_t mine = hwtest_part_bytes(c, c->root, c->rank);

    hwtest_lay_out(c, true, c->root);
    for (int i = 0; i < c->size && is_root; i++)
        hwtest_fill(c->send + c->places[i], (size_t) c->counts[i], hwtest_part_key(c, c->root, i));
    c->span = mine;
    hwtest_poison(c);
    if (!in_place)
        hwtest_fill(c->want, mine, hwtest_part_key(c, c->root, c->rank));
    if (c->vector)
        MPI_Scatterv(c->send, c->counts, c->places, MPI_BYTE, in_place ? MPI_IN_PLACE : c->recv,
                     (int) mine, MPI_BYTE, c->root, c->comm);
    else
        MPI_Scatter(c->send, (int) c->bytes, MPI_BYTE, in_place ? MPI_IN_PLACE : c->recv,
                    (int) mine, MPI_BYTE, c->root, c->comm);
    return hwtest_compare_all(c);
}

/* In place two ranks exchange parts of one length. */
static inline int hwtest_call_alltoall(struct hwtest_call *c)
{
    int counts[HWTEST_RANKS], places[HWTEST_RANKS];
    bool vector = c->vector && !c->in_place;

    c->vector = vector;
    hwtest_lay_out(c, true, c->rank);
    memcpy(counts, c->counts, sizeof(counts));
    memcpy(places, c->places, sizeof(places));
    for (int i = 0; i < c->size; i++)
        hwtest_fill(c->send + places[i], (size_t) counts[i], hwtest_part_key(c, c->rank, i));
    hwtest_lay_out(c, false, c->rank);
    hwtest_poison(c);
    for (int i = 0; i < c->size; i++)
        hwtest_fill(c->want + c->places[i], (size_t) c->counts[i], hwtest_part_key(c, i, c->rank));
    if (c->in_place)
        memcpy(c->recv, c->send, c->span);
    if (vector)
        MPI_Alltoallv(c->send, counts, places, MPI_BYTE, c->recv, c->counts, c->places, MPI_BYTE,
                      c->comm);
    else
        MPI_Alltoall(hwtest_in(c, c->in_place), (int) c->bytes, MPI_BYTE, c->recv, (int) c->bytes,
                     MPI_BYTE, c->comm);
    return hwtest_compare_all(c);
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

static inline int hwtest_call_reduce(struct hwtest_call *c)
{
    bool is_root = c->rank == c->root, in_place = c->in_place && is_root;

    hwtest_sum(c, is_root ? c->size : 0, in_place);
    MPI_Reduce(hwtest_in(c, in_place), c->recv, hwtest_sum_count(c), hwtest_sum_type(c), MPI_SUM,
               c->root, c->comm);
    return hwtest_compare_all(c);
}

static inline int hwtest_call_allreduce(struct hwtest_call *c)
{
    hwtest_sum(c, c->size, c->in_place);
    MPI_Allreduce(hwtest_in(c, c->in_place), c->recv, hwtest_sum_count(c), hwtest_sum_type(c),
                  MPI_SUM, c->comm);
    return hwtest_compare_all(c);
}

static inline int hwtest_call_scan(struct hwtest_call *c)
{
    hwtest_sum(c, c->rank + 1, c->in_place);
    MPI_Scan(hwtest_in(c, c->in_place), c->recv, hwtest_sum_count(c), hwtest_sum_type(c), MPI_SUM,
             c->comm);
    return hwtest_compare_all(c);
}

/* Of rank 0 the result is not defined. */
static inline int hwtest_call_exscan(struct hwtest_call *c)
{
    hwtest_sum(c, c->rank, c->in_place);
    MPI_Exscan(hwtest_in(c, c->in_place), c->recv, hwtest_sum_count(c), hwtest_sum_type(c), MPI_SUM,
               c->comm);
    return c->rank > 0 ? hwtest_compare_all(c) : 0;
}

/* The result is a part of the sums: an equal one, or in the vector form nothing for some ranks. */
static inline int hwtest_call_reduce_scatter(struct hwtest_call *c)
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
    memmove(c->want, c->want + at, (size_t) c->counts[c->rank] * element);
    if (c->vector)
        MPI_Reduce_scatter(hwtest_in(c, c->in_place), c->recv, c->counts, hwtest_sum_type(c),
                           MPI_SUM, c->comm);
    else
        MPI_Reduce_scatter_block(hwtest_in(c, c->in_place), c->recv, each, hwtest_sum_type(c),
                                 MPI_SUM, c->comm);
    mine = (size_t) c->counts[c->rank] * element;
    if (c->in_place) /* what is behind the part is MPI's */
        memcpy(c->want + mine, c->recv + mine, c->bytes - mine);
    else
        memset(c->want + mine, HWTEST_POISON, c->bytes - mine);
    return hwtest_compare_all(c);
}

/* All of them. `divided`: c->bytes is what each rank has, or has for each. */
static const struct hwtest_family {
    const char *name;
    int (*call)(struct hwtest_call *c);
    bool rooted, has_in_place, has_vector, divided;
} hwtest_families[] = {
    {"bcast", hwtest_call_bcast, true, false, false, false},
    {"barrier", hwtest_call_barrier, false, false, false, false},
    {"reduce", hwtest_call_reduce, true, true, false, false},
    {"allreduce", hwtest_call_allreduce, false, true, false, false},
    {"gather", hwtest_call_gather, true, true, true, true},
    {"scatter", hwtest_call_scatter, true, true, true, true},
    {"allgather", hwtest_call_allgather, false, true, true, true},
    {"alltoall", hwtest_call_alltoall, false, true, true, true},
    {"scan", hwtest_call_scan, false, true, false, false},
    {"exscan", hwtest_call_exscan, false, true, false, false},
    {"reduce_scatter", hwtest_call_reduce_scatter, false, true, true, false},
};
#define HWTEST_FAMILIES ((int) (sizeof(hwtest_families) / sizeof(hwtest_families[0])))

/* Memory for calls of up to so many bytes in all. */
static inline size_t hwtest_families_room(size_t bytes, int size)
{
    return bytes + (size_t) size * (4 + HWTEST_GAP);
}

/* One call, checked; `total` is the bytes of all parts. Returns errors. */
static inline int hwtest_family_call(struct hwtest_call *c, int family, int form, int root,
                                     size_t total, uint64_t key)
{
    const struct hwtest_family *f = &hwtest_families[family];

    MPI_Comm_rank(c->comm, &c->rank);
    MPI_Comm_size(c->comm, &c->size);
    c->name = f->name;
    c->root = root;
    c->bytes = f->divided ? total / (size_t) c->size : total;
    c->in_place = f->has_in_place && form % 2 == 1;
    c->vector = f->has_vector && form >= 2;
    c->key = hwtest_mix(key) + (uint64_t) family;
    return f->call(c);
}

/* Any of them, by numbers that the ranks draw alike. */
static inline int hwtest_any_call(struct hwtest_call *c, uint64_t *state, size_t max)
{
    int size, family = (int) hwtest_random(state, (uint64_t) HWTEST_FAMILIES);
    int form = (int) hwtest_random(state, 4), root;
    size_t total = hwtest_random_bytes(state, max);

    MPI_Comm_size(c->comm, &size);
    root = (int) hwtest_random(state, (uint64_t) size);
    return hwtest_family_call(c, family, form, root, total, *state);
}

#endif /* HWMC_TEST_MPI_FAMILIES_H_INCLUDED */
