/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

/* labcast: the program that test/check-lab runs on the hosts of a lab. It broadcasts for some
 * time, sizes mixed and roots rotating, and checks every byte on every rank every time.
 *
 *   -seconds=S   for how long (5)
 *   -max=BYTES   the largest message (262144)
 *   -bytes=BYTES all messages are long: of so many bytes, or up to 4095 less
 *   -count=N     so many broadcasts, however long they take
 *   -seed=N      other sizes and other data
 *   -late=MS     in every batch some rank, in every other batch the root, comes MS later
 *   -compute=MS  in every batch some rank computes that long while the others go on
 *   -outstanding=N  so many at once, by MPI_Ibcast
 *   -near=N      rank r is near to rail r mod N
 *   -sites=N     at so many sites, of neighbouring ranks; -partly: only the first one has a name
 *
 * What a broadcast brings follows from its root, the place in the message and which broadcast it
 * is.
 *
 * Rank 0 prints "running" after the first batch, from which on seconds count; at the end
 * "checked ..." and each counter hwmc_* summed over the ranks, then "finalizing". The exit status
 * is 1 if a byte was wrong. */

#ifndef HWTEST_WITHOUT_MTEST
#define HWTEST_WITHOUT_MTEST
#endif
#include "../mpi/coll/hwmc_util.h"
#include <unistd.h>

#define BATCH 32 /* broadcasts between two looks at the clock */

#define OUTSTANDING_MAX 16

/* A broadcast under way. */
struct message {
    MPI_Request request;
    void *buf;
    size_t bytes;
    uint64_t key;
};

struct run {
    int outstanding; /* 0: MPI_Bcast */
    struct message message[OUTSTANDING_MAX];
    double seconds;
    size_t max, bytes_each;
    unsigned long long count; /* 0: until the seconds are over */
    int batch;
    uint64_t state;
    unsigned late_ms, compute_ms;
    unsigned long long done, bytes, errors;
};

static size_t next_bytes(struct run *run)
{
    if (run->bytes_each == 0)
        return hwtest_random_bytes(&run->state, run->max);
    return run->bytes_each - hwtest_random(&run->state, 4096) % run->bytes_each;
}

static bool at_end(const struct run *run, double elapsed)
{
    return run->count > 0 ? run->done >= run->count : elapsed >= run->seconds;
}

static void complete(struct run *run, struct message *m)
{
    if (m->request == MPI_REQUEST_NULL)
        return;
    MPI_Wait(&m->request, MPI_STATUS_IGNORE);
    run->errors += hwtest_verify(m->buf, m->bytes, m->key, "labcast");
}

/* One broadcast, or its start; then the one before it that has the same buffer is complete. */
static void broadcast(struct run *run, void *buf, size_t bytes, int root, uint64_t key)
{
    struct message *m;
    int rank;

    if (run->outstanding == 0) {
        run->errors += hwtest_bcast(buf, bytes, root, MPI_COMM_WORLD, key, "labcast");
        return;
    }
    m = &run->message[run->done % (unsigned) run->outstanding];
    complete(run, m);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    m->bytes = bytes;
    m->key = key;
    hwtest_prepare(m->buf, bytes, rank == root, key);
    MPI_Ibcast(m->buf, (int) bytes, MPI_BYTE, root, MPI_COMM_WORLD, &m->request);
}

static void batch(struct run *run, void *buf, int batch_number)
{
    int rank, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < run->batch; i++) {
        size_t bytes = next_bytes(run);
        int root = (int) (run->done % size);
        uint64_t key = run->state * (uint64_t) size + (uint64_t) root;

        if (i == run->batch / 2 && run->late_ms > 0) {
            int late = (root + (batch_number % 2 ? batch_number : 0)) % size;
            if (rank == late)
                usleep(run->late_ms * 1000);
        }
        if (i == run->batch / 4 && run->compute_ms > 0 && rank == batch_number % size)
            hwtest_compute(run->compute_ms / 1000.0);
        broadcast(run, buf, bytes, root, key);
        run->done++;
        run->bytes += bytes;
    }
}

static unsigned long long sum(unsigned long long value)
{
    unsigned long long total = 0;

    MPI_Reduce(&value, &total, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    return total;
}

static bool is_ours(const char *name)
{
    return strncmp(name, "hwmc_", 5) == 0;
}

int main(int argc, char **argv)
{
    struct run run = {0};
    double start, elapsed = 0;
    unsigned long long errors;
    int provided, rank, failed;
    void *buf;

    hwtest_settle(argc, argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    run.seconds = hwtest_option(argc, argv, "-seconds", 5);
    run.max = (size_t) hwtest_option(argc, argv, "-max", 262144);
    run.state = (uint64_t) hwtest_option(argc, argv, "-seed", 1);
    run.late_ms = (unsigned) hwtest_option(argc, argv, "-late", 0);
    run.compute_ms = (unsigned) hwtest_option(argc, argv, "-compute", 0);
    run.bytes_each = (size_t) hwtest_option(argc, argv, "-bytes", 0);
    run.count = (unsigned long long) hwtest_option(argc, argv, "-count", 0);
    run.batch = run.bytes_each > 0 || run.count > 0 ? 1 : BATCH;
    buf = hwtest_alloc(run.bytes_each > 0 ? run.bytes_each : run.max);
    run.outstanding = (int) hwtest_option(argc, argv, "-outstanding", 0);
    for (int i = 0; i < run.outstanding; i++)
        run.message[i] = (struct message){
            MPI_REQUEST_NULL, hwtest_alloc(run.bytes_each > 0 ? run.bytes_each : run.max), 0, 0};

    start = MPI_Wtime();
    for (int i = 0; !at_end(&run, elapsed); i++) {
        batch(&run, buf, i);
        if (i == 0) /* where all is slow, too, what happens from now on meets messages */
            start = MPI_Wtime();
        elapsed = MPI_Wtime() - start;
        MPI_Bcast(&elapsed, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (i == 0 && rank == 0) {
            printf("running\n");
            fflush(stdout);
        }
    }
    for (int i = 0; i < run.outstanding; i++) {
        complete(&run, &run.message[i]);
        free(run.message[i].buf);
    }
    free(buf);

    errors = sum(run.errors);
    hwtest_print_counters(is_ours);
    if (rank == 0) {
        printf("checked %llu broadcasts, %llu KiB, %llu errors\nfinalizing\n", run.done,
               run.bytes >> 10, errors);
        fflush(stdout);
    }
    failed = errors > 0;
    MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_T_finalize();
    MPI_Finalize();
    return failed;
}
