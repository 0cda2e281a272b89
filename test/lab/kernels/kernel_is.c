/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "kernel.h"

/* Integer sort: the ranks share 2^n keys (16). Keys are counted by buckets, allreduce adds the
 * counts up, the buckets are dealt so that each rank has about as many keys, and alltoall and
 * alltoallv bring the keys there, where they are sorted by counting. Verified: keys are in order
 * inside and between ranks, there are as many as before, and they are the same ones.
 * Options: kernel.h. */

#define KEY_BITS 19
#define BUCKET_BITS 10
#define BUCKETS (1 << BUCKET_BITS)
#define KEYS (1 << KEY_BITS)

static uint32_t *keys, *by_bucket, *got; /* own ones; the same by buckets; those of own buckets */
static int mine, total, num_got;
static int own[BUCKETS], all[BUCKETS];
static int *send_count, *send_at, *recv_count, *recv_at;
static int *count;

static void open_is(const struct kernel_job *j)
{
    size_t ints = (size_t) j->size * sizeof(int);

    total = 1 << j->n;
    mine = kernel_begin(total, j->size, j->rank + 1) - kernel_begin(total, j->size, j->rank);
    keys = kernel_alloc((size_t) mine * sizeof(*keys));
    by_bucket = kernel_alloc((size_t) mine * sizeof(*keys));
    got = kernel_alloc((size_t) total * sizeof(*keys));
    count = kernel_alloc(KEYS * sizeof(*count));
    send_count = kernel_alloc(ints);
    send_at = kernel_alloc(ints);
    recv_count = kernel_alloc(ints);
    recv_at = kernel_alloc(ints);
}

/* As sums of four random numbers: many in the middle, few at the ends. */
static void prepare_is(const struct kernel_job *j)
{
    uint64_t first = (uint64_t) kernel_begin(total, j->size, j->rank);

    for (int i = 0; i < mine; i++) {
        uint64_t word = hwtest_mix(hwtest_mix(j->seed) + first + (uint64_t) i), sum = 0;

        for (int part = 0; part < 4; part++)
            sum += (word >> (16 * part)) & 0xffff;
        keys[i] = (uint32_t) (sum * KEYS >> 18);
    }
}

static uint32_t bucket_of(uint32_t key)
{
    return key >> (KEY_BITS - BUCKET_BITS);
}

static void sort_by_bucket(void)
{
    int at[BUCKETS], next = 0;

    memset(own, 0, sizeof(own));
    for (int i = 0; i < mine; i++)
        own[bucket_of(keys[i])]++;
    for (int b = 0; b < BUCKETS; b++) {
        at[b] = next;
        next += own[b];
    }
    for (int i = 0; i < mine; i++)
        by_bucket[at[bucket_of(keys[i])]++] = keys[i];
}

/* Which rank gets a bucket before which `before` keys are. */
static int taker(int before, int size)
{
    return (int) ((long) before * size / total);
}

static void deal_buckets(int size)
{
    int before = 0;

    memset(send_count, 0, (size_t) size * sizeof(int));
    for (int b = 0; b < BUCKETS; b++) {
        if (own[b] > 0)
            send_count[taker(before, size)] += own[b];
        before += all[b];
    }
}

static int offsets(const int *counts, int *at, int size)
{
    int next = 0;

    for (int i = 0; i < size; i++) {
        at[i] = next;
        next += counts[i];
    }
    return next;
}

static void sort_by_count(void)
{
    int out = 0;

    memset(count, 0, KEYS * sizeof(*count));
    for (int i = 0; i < num_got; i++)
        count[got[i]]++;
    for (uint32_t key = 0; key < KEYS; key++) {
        for (int i = 0; i < count[key]; i++)
            got[out++] = key;
    }
}

static void work_is(const struct kernel_job *j)
{
    sort_by_bucket();
    MPI_Allreduce(own, all, BUCKETS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    deal_buckets(j->size);
    MPI_Alltoall(send_count, 1, MPI_INT, recv_count, 1, MPI_INT, MPI_COMM_WORLD);
    offsets(send_count, send_at, j->size);
    num_got = offsets(recv_count, recv_at, j->size);
    MPI_Alltoallv(by_bucket, send_count, send_at, MPI_UINT32_T, got, recv_count, recv_at,
                  MPI_UINT32_T, MPI_COMM_WORLD);
    sort_by_count();
}

/* Of keys in any order: a sum that other keys would hardly have. */
static uint64_t sum_of(const uint32_t *of, int num)
{
    uint64_t sum = 0;

    for (int i = 0; i < num; i++)
        sum += hwtest_mix(of[i]);
    return sum;
}

static int verify_is(const struct kernel_job *j)
{
    uint64_t mine_of[3] = {sum_of(keys, mine), sum_of(got, num_got), (uint64_t) num_got}, sums[3];
    int last = num_got > 0 ? (int) got[num_got - 1] : -1, before = -1, errs = 0;

    for (int i = 1; i < num_got && errs == 0; i++)
        errs += kernel_expect(got[i - 1] <= got[i], "keys out of order", got[i - 1], got[i]);
    MPI_Exscan(&last, &before, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (j->rank > 0 && num_got > 0)
        errs += kernel_expect(before <= (int) got[0], "the rank before has a larger key", before,
                              got[0]);
    MPI_Allreduce(mine_of, sums, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    errs += kernel_expect(sums[2] == (uint64_t) total, "keys", (double) sums[2], total);
    return errs +
           kernel_expect(sums[0] == sums[1], "sum of keys", (double) sums[1], (double) sums[0]);
}

static void close_is(void)
{
    free(keys);
    free(by_bucket);
    free(got);
    free(count);
    free(send_count);
    free(send_at);
    free(recv_count);
    free(recv_at);
}

int main(int argc, char **argv)
{
    static const struct kernel is = {16, open_is, prepare_is, work_is, verify_is, close_is};

    return kernel_main(argc, argv, &is);
}
