/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"

/* Nonblocking and persistent broadcasts: several outstanding on a communicator, with different
 * roots and lengths, mixed with blocking ones and with other collectives; on communicators that are
 * freed meanwhile; completed in any order by any of MPI's functions; and persistent ones whose
 * buffer changes between starts.
 *
 *   -max=BYTES     the longest message (300001)
 *   -rounds=N      rounds of each kind (20)
 *   -compute=MS    time away from MPI after each round of starts (0)
 */

#define MANY 8

static size_t max_bytes;
static int rounds;
static double compute_s;
static uint64_t key;

struct message {
    void *buf;
    size_t bytes;
    int root;
    uint64_t key;
};

static struct message messages[MANY];

static void begin_message(struct message *m, MPI_Comm comm, uint64_t *random)
{
    int rank, size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    m->bytes = hwtest_random_bytes(random, max_bytes);
    m->root = (int) hwtest_random(random, (uint64_t) size);
    m->key = ++key;
    hwtest_prepare(m->buf, m->bytes, rank == m->root, m->key);
}

static void start(struct message *m, MPI_Comm comm, uint64_t *random, MPI_Request *request)
{
    begin_message(m, comm, random);
    MPI_Ibcast(m->buf, (int) m->bytes, MPI_BYTE, m->root, comm, request);
}

static int verify(const struct message *m, const char *what)
{
    return hwtest_verify(m->buf, m->bytes, m->key, what);
}

/* Several at once; beside them a message from neighbour to neighbour. */
static int several(MPI_Comm comm, uint64_t seed)
{
    MPI_Request requests[MANY + 2];
    int errs = 0, rank, size, from, given;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int r = 0; r < rounds; r++) {
        int num = 1 + (int) hwtest_random(&seed, MANY - 1);

        from = -1;
        given = rank * 1000 + r;
        for (int i = 0; i < num; i++)
            start(&messages[i], comm, &seed, &requests[i]);
        MPI_Irecv(&from, 1, MPI_INT, (rank + 1) % size, 7, comm, &requests[num]);
        MPI_Send(&given, 1, MPI_INT, (rank + size - 1) % size, 7, comm);
        hwtest_compute(compute_s);
        hwtest_complete_all(requests, num + 1, r);
        for (int i = 0; i < num; i++)
            errs += verify(&messages[i], "several");
        if (from != (rank + 1) % size * 1000 + r) {
            printf("rank %d: a message beside broadcasts is wrong\n", rank);
            errs++;
        }
    }
    return errs;
}

/* Blocking ones and other collectives between them. */
static int mixed(MPI_Comm comm, uint64_t seed)
{
    MPI_Request requests[MANY];
    int errs = 0, size, sum, one = 1;
    void *buf = hwtest_alloc(max_bytes);

    MPI_Comm_size(comm, &size);
    for (int r = 0; r < rounds; r++) {
        int num = 0;

        for (int i = 0; i < MANY; i++) {
            int root = (int) hwtest_random(&seed, (uint64_t) size);

            switch (hwtest_random(&seed, 5)) {
                case 0:
                    errs += hwtest_bcast(buf, hwtest_random_bytes(&seed, max_bytes), root, comm,
                                         ++key, "blocking");
                    break;
                case 1:
                    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
                    errs += sum != size;
                    break;
                case 2:
                    MPI_Barrier(comm);
                    break;
                default:
                    start(&messages[num], comm, &seed, &requests[num]);
                    num++;
            }
        }
        hwtest_complete_all(requests, num, r);
        for (int i = 0; i < num; i++)
            errs += verify(&messages[i], "mixed");
    }
    free(buf);
    return errs;
}

/* On communicators that are freed before the broadcasts are complete, and on several at once. */
static int freed(MPI_Comm parent, uint64_t seed)
{
    MPI_Request requests[MANY];
    int errs = 0, rank;

    MPI_Comm_rank(parent, &rank);
    for (int r = 0; r < rounds / 4 + 1; r++) {
        MPI_Comm comms[3];

        MPI_Comm_dup(parent, &comms[0]);
        MPI_Comm_split(parent, 0, -rank, &comms[1]);
        MPI_Comm_dup(MPI_COMM_SELF, &comms[2]);
        for (int i = 0; i < MANY; i++)
            start(&messages[i], comms[i % 3], &seed, &requests[i]);
        for (int i = 0; i < 3; i++)
            MPI_Comm_free(&comms[i]);
        hwtest_complete_all(requests, MANY, r);
        for (int i = 0; i < MANY; i++)
            errs += verify(&messages[i], "freed");
    }
    return errs;
}

/* Messages that lie in pieces, whose type is freed before they have come; and empty ones. */
static int typed(MPI_Comm comm, uint64_t seed)
{
    int errs = 0, rank, size, *data = malloc(4000 * sizeof(int));

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int r = 0; r < rounds; r++) {
        const int count = 1 + (int) hwtest_random(&seed, 999), root = r % size;
        MPI_Request requests[2];
        MPI_Datatype type;

        for (int i = 0; i < 4000; i++)
            data[i] = rank == root ? i + r : -1;
        MPI_Type_vector(count, 1, 4, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Ibcast(data, 1, type, root, comm, &requests[0]);
        MPI_Type_free(&type);
        MPI_Ibcast(NULL, 0, MPI_INT, root, comm, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 4000; i++)
            errs += data[i] != (rank == root || (i % 4 == 0 && i < 4 * count) ? i + r : -1);
    }
    free(data);
    if (errs > 0)
        printf("rank %d: %d wrong integers in pieces\n", rank, errs);
    return errs > 0;
}

/* Whether MPI_Bcast_init is there: since MPI 4. */
#if MPI_VERSION >= 4
static int persistent(MPI_Comm comm, uint64_t seed)
{
    MPI_Request requests[MANY];
    int errs = 0, rank, size;
    void *buf = hwtest_alloc(max_bytes);

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < MANY; i++) {
        begin_message(&messages[i], comm, &seed);
        MPI_Bcast_init(messages[i].buf, (int) messages[i].bytes, MPI_BYTE, messages[i].root, comm,
                       MPI_INFO_NULL, &requests[i]);
    }
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < MANY; i++) { /* what the buffer has at the start counts */
            struct message *m = &messages[i];

            m->key = ++key;
            hwtest_prepare(m->buf, m->bytes, rank == m->root, m->key);
        }
        MPI_Startall(MANY / 2, requests);
        errs += hwtest_bcast(buf, 100, r % size, comm, ++key, "blocking, beside persistent");
        for (int i = MANY / 2; i < MANY; i++)
            MPI_Start(&requests[i]);
        hwtest_compute(compute_s);
        hwtest_complete_all(requests, MANY, r);
        for (int i = 0; i < MANY; i++)
            errs += verify(&messages[i], "persistent");
    }
    for (int i = 0; i < MANY; i++)
        MPI_Request_free(&requests[i]);
    free(buf);
    return errs;
}
#else
static int persistent(MPI_Comm comm, uint64_t seed)
{
    (void) comm;
    (void) seed;
    return 0;
}
#endif

int main(int argc, char **argv)
{
    int errs = 0, rank;
    MPI_Comm half;

    hwtest_settle(argc, argv);
    MTest_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    max_bytes = (size_t) hwtest_option(argc, argv, "-max", 300001);
    rounds = (int) hwtest_option(argc, argv, "-rounds", 20);
    compute_s = hwtest_option(argc, argv, "-compute", 0) / 1000;
    for (int i = 0; i < MANY; i++)
        messages[i].buf = hwtest_alloc(max_bytes);

    errs += several(MPI_COMM_WORLD, 1);
    errs += mixed(MPI_COMM_WORLD, 2);
    errs += freed(MPI_COMM_WORLD, 3);
    errs += typed(MPI_COMM_WORLD, 4);
    errs += persistent(MPI_COMM_WORLD, 5);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    errs += several(half, 6);
    errs += persistent(half, 7);
    MPI_Comm_free(&half);

    for (int i = 0; i < MANY; i++)
        free(messages[i].buf);
    return hwtest_finish(errs);
}
