/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_TEST_MPI_TRAFFIC_H_INCLUDED
#define HWMC_TEST_MPI_TRAFFIC_H_INCLUDED

/* A round of all that a program does with MPI: broadcasts, reductions, messages of two and of any
 * sender, one-sided operations. The roots and who is whose neighbour change from round to round, so
 * that with time all pairs of ranks talk. What each must deliver follows from round and sender. */

#include "hwmc_util.h"

#define TRAFFIC_LEAST_MAX ((size_t) 1 << 17)
#define TRAFFIC_TAG 11
#define TRAFFIC_BURST 3   /* messages that each rank sends to the hub of a round */
#define TRAFFIC_PUT 65536 /* bytes for a neighbour */
#define TRAFFIC_SUMS 64   /* words */
#define TRAFFIC_COUNT 64  /* bytes, of which the first 8 count */
#define TRAFFIC_SLOT 2048 /* bytes at the hub for each rank */

struct traffic {
    int rank, size;
    size_t max;                /* bytes of the longest message; TRAFFIC_LEAST_MAX or more */
    unsigned long long round;  /* from 0 */
    int to, from;              /* neighbours of this round: to's from is this rank */
    int hub;                   /* where all send to in this round */
    unsigned char *out, *in;   /* max bytes each, and guards */
    unsigned char *out2, *in2; /* the same */
    MPI_Win win;
    unsigned char *mine; /* the window: TRAFFIC_PUT bytes, TRAFFIC_SUMS words, what counts,
                          * and TRAFFIC_SLOT bytes for each rank */
};

enum traffic_op {
    TRAFFIC_BCAST = 0, /* and a number below 16, which tells the messages of a kind apart */
    TRAFFIC_SUM = 16,
    TRAFFIC_SENDRECV = 32,
    TRAFFIC_FORTH = 48,
    TRAFFIC_BACK = 64,
    TRAFFIC_MANY = 80,
    TRAFFIC_RMA = 96
};

static inline uint64_t traffic_key(const struct traffic *t, int op, int sender)
{
    return (t->round * 128 + (uint64_t) op) * 65536 + (uint64_t) sender;
}

/* Where in the window what begins, in bytes. */
static inline size_t traffic_sums(void)
{
    return TRAFFIC_PUT;
}

static inline size_t traffic_count(void)
{
    return traffic_sums() + TRAFFIC_SUMS * sizeof(uint64_t);
}

static inline size_t traffic_slot(int rank)
{
    return traffic_count() + TRAFFIC_COUNT + (size_t) rank * TRAFFIC_SLOT;
}

static inline int traffic_wrong(const struct traffic *t, const char *what)
{
    printf("rank %d, round %llu: %s\n", t->rank, t->round, what);
    fflush(stdout);
    return 1;
}

/* Collective. The window is a multiple of 64 bytes long: ranks of one host do not agree in MPICH
 * 4.0 where a window begins whose length is an odd multiple of 8. */
static inline void traffic_init(struct traffic *t, size_t max)
{
    size_t bytes;

    MPI_Comm_rank(MPI_COMM_WORLD, &t->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &t->size);
    t->max = max > TRAFFIC_LEAST_MAX ? max : TRAFFIC_LEAST_MAX;
    t->out = hwtest_alloc(t->max);
    t->in = hwtest_alloc(t->max);
    t->out2 = hwtest_alloc(t->max);
    t->in2 = hwtest_alloc(t->max);
    bytes = traffic_slot(t->size);
    MPI_Win_allocate((MPI_Aint) bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &t->mine, &t->win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t->rank, 0, t->win);
    memset(t->mine, 0, bytes);
    MPI_Win_unlock(t->rank, t->win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Collective. */
static inline void traffic_fini(struct traffic *t)
{
    MPI_Win_free(&t->win);
    free(t->out);
    free(t->in);
    free(t->out2);
    free(t->in2);
}

static inline int traffic_bcast(struct traffic *t)
{
    const size_t sizes[] = {8, 1000, 16384, 65539, t->max};
    int errs = 0, num = sizeof(sizes) / sizeof(sizes[0]);

    for (int i = 0; i < num; i++) {
        int root = (int) ((t->round * (unsigned) num + (unsigned) i) % (unsigned) t->size);

        errs += hwtest_bcast(t->in, sizes[i], root, MPI_COMM_WORLD,
                             traffic_key(t, TRAFFIC_BCAST + i, root), "broadcast");
    }
    return errs;
}

/* Rank r adds key + (r + 1) * i to word i. */
static inline void traffic_addends(const struct traffic *t, uint64_t *words, size_t num,
                                   uint64_t key)
{
    for (size_t i = 0; i < num; i++)
        words[i] = key + (uint64_t) (t->rank + 1) * i;
}

static inline int traffic_check_sums(const struct traffic *t, const uint64_t *words, size_t num,
                                     uint64_t key, const char *what)
{
    uint64_t p = (uint64_t) t->size;

    for (size_t i = 0; i < num; i++)
        if (words[i] != p * key + p * (p + 1) / 2 * i)
            return traffic_wrong(t, what);
    return 0;
}

static inline int traffic_reduce(struct traffic *t)
{
    const size_t nums[] = {1, 500, t->max / 4 / sizeof(uint64_t)};
    uint64_t *in = (uint64_t *) t->in, *out = (uint64_t *) t->out;
    int errs = 0;

    for (int i = 0; i < 3; i++) {
        uint64_t key = traffic_key(t, TRAFFIC_SUM + i, 0);

        traffic_addends(t, out, nums[i], key);
        memset(in, HWTEST_POISON, nums[i] * sizeof(*in));
        MPI_Allreduce(out, in, (int) nums[i], MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        errs += traffic_check_sums(t, in, nums[i], key, "wrong result of MPI_Allreduce");
        memset(in, HWTEST_POISON, nums[i] * sizeof(*in));
        MPI_Reduce(out, in, (int) nums[i], MPI_UINT64_T, MPI_SUM, t->hub, MPI_COMM_WORLD);
        if (t->rank == t->hub)
            errs += traffic_check_sums(t, in, nums[i], key, "wrong result of MPI_Reduce");
    }
    return errs;
}

static inline int traffic_sendrecv(struct traffic *t)
{
    const size_t sizes[] = {0, 64, 5000, t->max};
    int errs = 0;

    for (int i = 0; i < 4; i++) {
        size_t bytes = sizes[i];

        hwtest_fill(t->out, bytes, traffic_key(t, TRAFFIC_SENDRECV + i, t->rank));
        hwtest_prepare(t->in, bytes, false, 0);
        MPI_Sendrecv(t->out, (int) bytes, MPI_BYTE, t->to, TRAFFIC_TAG, t->in, (int) bytes,
                     MPI_BYTE, t->from, TRAFFIC_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        errs += hwtest_verify(t->in, bytes, traffic_key(t, TRAFFIC_SENDRECV + i, t->from),
                              "MPI_Sendrecv");
    }
    return errs;
}

static inline void traffic_post(struct traffic *t, size_t bytes, MPI_Request *requests)
{
    MPI_Irecv(t->in, (int) bytes, MPI_BYTE, t->from, TRAFFIC_TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(t->in2, (int) bytes, MPI_BYTE, t->to, TRAFFIC_TAG, MPI_COMM_WORLD, &requests[1]);
}

/* Both ways at once; in every other round most messages arrive before their receives are posted. */
static inline int traffic_nonblocking(struct traffic *t)
{
    const size_t sizes[] = {8, 20000, t->max / 2};
    int errs = 0;

    for (int i = 0; i < 3; i++) {
        size_t bytes = sizes[i];
        bool late = t->round % 2 != 0;
        MPI_Request requests[4];
        MPI_Status statuses[4];

        hwtest_fill(t->out, bytes, traffic_key(t, TRAFFIC_FORTH + i, t->rank));
        hwtest_fill(t->out2, bytes, traffic_key(t, TRAFFIC_BACK + i, t->rank));
        hwtest_prepare(t->in, bytes, false, 0);
        hwtest_prepare(t->in2, bytes, false, 0);
        if (!late)
            traffic_post(t, bytes, requests);
        MPI_Isend(t->out, (int) bytes, MPI_BYTE, t->to, TRAFFIC_TAG, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(t->out2, (int) bytes, MPI_BYTE, t->from, TRAFFIC_TAG, MPI_COMM_WORLD,
                  &requests[3]);
        if (late)
            traffic_post(t, bytes, requests);
        MPI_Waitall(4, requests, statuses);
        /* Two ranks alone are both neighbours of each other: the first sent is the first
         * received. */
        errs += hwtest_verify(t->in, bytes, traffic_key(t, TRAFFIC_FORTH + i, t->from), "forth");
        errs += hwtest_verify(t->in2, bytes, traffic_key(t, TRAFFIC_BACK + i, t->to), "back");
    }
    return errs;
}

/* The hub takes whatever comes. Messages of one sender keep their order, which their sizes show. */
static inline int traffic_hub(struct traffic *t, const size_t *sizes)
{
    int errs = 0, *seen = calloc((size_t) t->size, sizeof(int));

    for (int left = TRAFFIC_BURST * (t->size - 1); left > 0; left--) {
        MPI_Status status;
        int sender, bytes, number;

        memset(t->in, HWTEST_POISON, t->max);
        MPI_Recv(t->in, (int) t->max, MPI_BYTE, MPI_ANY_SOURCE, TRAFFIC_TAG, MPI_COMM_WORLD,
                 &status);
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        sender = status.MPI_SOURCE;
        number = seen[sender]++;
        if (number >= TRAFFIC_BURST || (size_t) bytes != sizes[number])
            errs += traffic_wrong(t, "a message of any source is out of order");
        else
            errs += hwtest_check(t->in, (size_t) bytes,
                                 traffic_key(t, TRAFFIC_MANY + number, sender), "any source");
    }
    free(seen);
    return errs;
}

static inline int traffic_many_to_one(struct traffic *t)
{
    const size_t sizes[TRAFFIC_BURST] = {16, 3000, t->max / 8};

    if (t->rank == t->hub)
        return traffic_hub(t, sizes);
    for (int i = 0; i < TRAFFIC_BURST; i++) {
        hwtest_fill(t->out, sizes[i], traffic_key(t, TRAFFIC_MANY + i, t->rank));
        MPI_Send(t->out, (int) sizes[i], MPI_BYTE, t->hub, TRAFFIC_TAG, MPI_COMM_WORLD);
    }
    return 0;
}

/* Between fences: data to one neighbour, sums at the hub; then what the other one has been
 * given. */
static inline int traffic_fence(struct traffic *t)
{
    uint64_t key = traffic_key(t, TRAFFIC_RMA + 1, 0), *sums = (uint64_t *) t->out2;
    uint64_t *at_hub = (uint64_t *) (t->mine + traffic_sums());
    int giver = (2 * t->from - t->rank + t->size) % t->size;
    int errs = 0;

    hwtest_fill(t->out, TRAFFIC_PUT, traffic_key(t, TRAFFIC_RMA, t->rank));
    hwtest_prepare(t->in, TRAFFIC_PUT, false, 0);
    traffic_addends(t, sums, TRAFFIC_SUMS, key);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, t->win);
    MPI_Put(t->out, TRAFFIC_PUT, MPI_BYTE, t->to, 0, TRAFFIC_PUT, MPI_BYTE, t->win);
    MPI_Accumulate(sums, TRAFFIC_SUMS, MPI_UINT64_T, t->hub, (MPI_Aint) traffic_sums(),
                   TRAFFIC_SUMS, MPI_UINT64_T, MPI_SUM, t->win);
    MPI_Win_fence(0, t->win);
    errs += hwtest_check(t->mine, TRAFFIC_PUT, traffic_key(t, TRAFFIC_RMA, t->from), "MPI_Put");
    if (t->rank == t->hub) {
        errs += traffic_check_sums(t, at_hub, TRAFFIC_SUMS, key, "wrong MPI_Accumulate");
        memset(at_hub, 0, TRAFFIC_SUMS * sizeof(*at_hub));
    }
    MPI_Get(t->in, TRAFFIC_PUT, MPI_BYTE, t->from, 0, TRAFFIC_PUT, MPI_BYTE, t->win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, t->win);
    return errs +
           hwtest_verify(t->in, TRAFFIC_PUT, traffic_key(t, TRAFFIC_RMA, giver), "MPI_Get, fence");
}

/* What all ranks have left at this one, the hub; made ready for the next time it is. */
static inline int traffic_check_slots(struct traffic *t)
{
    uint64_t *count = (uint64_t *) (t->mine + traffic_count());
    int errs = 0;

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t->rank, 0, t->win);
    if (*count != (uint64_t) t->size)
        errs += traffic_wrong(t, "wrong MPI_Fetch_and_op");
    *count = 0;
    for (int i = 0; i < t->size; i++)
        errs += hwtest_check(t->mine + traffic_slot(i), TRAFFIC_SLOT,
                             traffic_key(t, TRAFFIC_RMA + 2, i), "MPI_Put, lock");
    memset(t->mine + traffic_slot(0), HWTEST_POISON, (size_t) t->size * TRAFFIC_SLOT);
    MPI_Win_unlock(t->rank, t->win);
    return errs;
}

/* All write to the hub, one after the other; all read again what they had put at a neighbour. */
static inline int traffic_lock(struct traffic *t)
{
    const uint64_t one = 1;
    uint64_t before = UINT64_MAX;
    int errs = 0;

    hwtest_fill(t->out2, TRAFFIC_SLOT, traffic_key(t, TRAFFIC_RMA + 2, t->rank));
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t->hub, 0, t->win);
    MPI_Put(t->out2, TRAFFIC_SLOT, MPI_BYTE, t->hub, (MPI_Aint) traffic_slot(t->rank), TRAFFIC_SLOT,
            MPI_BYTE, t->win);
    MPI_Fetch_and_op(&one, &before, MPI_UINT64_T, t->hub, (MPI_Aint) traffic_count(), MPI_SUM,
                     t->win);
    MPI_Win_unlock(t->hub, t->win);
    if (before >= (uint64_t) t->size)
        errs += traffic_wrong(t, "MPI_Fetch_and_op fetched what it cannot have");

    hwtest_prepare(t->in, TRAFFIC_PUT, false, 0);
    MPI_Win_lock(MPI_LOCK_SHARED, t->to, 0, t->win);
    MPI_Get(t->in, TRAFFIC_PUT, MPI_BYTE, t->to, 0, TRAFFIC_PUT, MPI_BYTE, t->win);
    MPI_Win_unlock(t->to, t->win);
    errs +=
        hwtest_verify(t->in, TRAFFIC_PUT, traffic_key(t, TRAFFIC_RMA, t->rank), "MPI_Get, lock");

    MPI_Barrier(MPI_COMM_WORLD);
    return t->rank == t->hub ? errs + traffic_check_slots(t) : errs;
}

typedef int traffic_step(struct traffic *t);

/* The steps of a round, in their order. Each is collective and returns the errors this rank has
 * seen. */
static traffic_step *const traffic_steps[] = {
    traffic_bcast,       traffic_reduce, traffic_sendrecv, traffic_nonblocking,
    traffic_many_to_one, traffic_fence,  traffic_lock};

#define TRAFFIC_STEPS (sizeof(traffic_steps) / sizeof(traffic_steps[0]))

/* Before the steps of a round. */
static inline void traffic_begin(struct traffic *t, unsigned long long round)
{
    int distance = 1 + (int) (round % (unsigned) (t->size > 1 ? t->size - 1 : 1));

    t->round = round;
    t->to = (t->rank + distance) % t->size;
    t->from = (t->rank - distance + t->size) % t->size;
    t->hub = (int) (round % (unsigned) t->size);
}

#endif /* HWMC_TEST_MPI_TRAFFIC_H_INCLUDED */
