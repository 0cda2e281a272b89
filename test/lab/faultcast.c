/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

/* faultcast: the program that test/check-faults runs on the hosts of a lab while it spoils the
 * network. It does what it is told, and checks every byte on every rank every time.
 *
 *   -orders=FILE  a pipe, from which rank 0 reads what to do next, a line each:
 *     short MS    broadcasts of up to 16 KiB for so long, roots in turn
 *     long MS     the same of 256 KiB to 1 MiB
 *     late MS     short ones, to which now and then some rank comes 20 ms late
 *     comms MS    communicators made, used for a few broadcasts, and freed at once
 *     NAME MS     this collective (hwmc_families.h), its forms, lengths and roots by turns,
 *                 blocking and nonblocking
 *     any MS      all collectives, likewise
 *     ahead MS    nonblocking ones of up to 64 KiB and a persistent one under way at the same time,
 *                 a blocking one behind them, finished in any order
 *     started MS  any collectives, likewise, on two communicators
 *     idle MS     nothing for so long, then a broadcast from each root
 *     quit        the last broadcasts, and MPI_Finalize
 *
 * After each rank 0 prints "did ORDER N calls E errors W us", N those of a rank, W the time of the
 * longest one on any rank; at first "ready", at the end "grown F descriptors K KiB", the most
 * on any rank since the first order was done, then "finalizing". The exit status is 1 if a byte was
 * wrong. */

#ifndef HWTEST_WITHOUT_MTEST
#define HWTEST_WITHOUT_MTEST
#endif
#include "../mpi/coll/hwmc_families.h"
#include "../mpi/coll/hwmc_proc.h"
#include <unistd.h>

#define SHORT_MAX 16384
#define LONG_MIN (256 << 10)
#define LONG_MAX (1 << 20)
#define BATCH 8 /* broadcasts between two looks at the clock */
#define USED 5  /* broadcasts on a communicator that is made to be freed */
#define AHEAD 5 /* under way at the same time; the first one is persistent */
#define AHEAD_MAX 65536
#define RESTARTS 2           /* of the persistent one */
#define PARTS_MIN (48 << 10) /* of half of the collectives: all their parts together */
#define PARTS_MAX (384 << 10)
#define STARTED 4 /* collectives under way at the same time */
#define LINE 64

/* A broadcast that was started. */
struct message {
    char *buf;
    size_t bytes;
    int root;
    uint64_t key;
    double begin; /* s */
};

struct run {
    FILE *orders;
    char *buf;
    struct message ahead[AHEAD];
    struct hwtest_call started[STARTED];
    MPI_Comm other; /* of all ranks */
    int rank, size;
    uint64_t state;          /* of sizes and data, alike on all ranks */
    unsigned long long done; /* calls on all communicators */
    unsigned long long errors;
    double longest; /* s */
};

static void note_time(struct run *run, double begin)
{
    const double took = MPI_Wtime() - begin;

    run->longest = took > run->longest ? took : run->longest;
}

static void cast(struct run *run, MPI_Comm comm, size_t bytes)
{
    double begin;
    int size;

    MPI_Comm_size(comm, &size);
    begin = MPI_Wtime();
    run->errors += hwtest_bcast(run->buf, bytes, (int) (run->done % size), comm,
                                run->state + run->done, "faultcast");
    note_time(run, begin);
    run->done++;
}

static size_t any_bytes(struct run *run, const char *order)
{
    if (strcmp(order, "long") == 0)
        return LONG_MIN + hwtest_random(&run->state, LONG_MAX - LONG_MIN);
    return hwtest_random_bytes(&run->state, SHORT_MAX);
}

static void use_communicators(struct run *run)
{
    MPI_Comm comm[2];

    MPI_Comm_dup(MPI_COMM_WORLD, &comm[0]);
    MPI_Comm_split(MPI_COMM_WORLD, run->rank % 2, -run->rank, &comm[1]);
    for (int i = 0; i < USED; i++) {
        cast(run, comm[0], any_bytes(run, "comms"));
        run->errors += hwtest_bcast(run->buf, 1000 + 100 * i, 0, comm[1], (uint64_t) i, "a half");
    }
    MPI_Comm_free(&comm[1]);
    MPI_Comm_free(&comm[0]);
}

/* The collective of this name; -1: none. */
static int family_of(const char *name)
{
    for (int i = 0; i < HWTEST_FAMILIES; i++)
        if (strcmp(hwtest_families[i].name, name) == 0)
            return i;
    return -1;
}

/* Memory for a call, touched: it is not to look like growth. */
static void begin_call(struct hwtest_call *c, MPI_Comm comm, int size)
{
    hwtest_call_init(c, comm, hwtest_families_room(PARTS_MAX, size));
    memset(c->send, 0, c->room);
    memset(c->recv, 0, c->room);
    memset(c->want, 0, c->room);
}

/* Draws a call of `family`, -1: of any, and prepares it. MPICH 4.0.2's MPI_Reduce between hosts
 * reads from MPI_IN_PLACE if the root is not the first rank of its host. */
static void draw_call(struct run *run, struct hwtest_call *c, int family)
{
    const int any = (int) hwtest_random(&run->state, (uint64_t) HWTEST_FAMILIES);
    const int form = (int) hwtest_random(&run->state, 4);
    int root = (int) hwtest_random(&run->state, (uint64_t) run->size);
    size_t total = hwtest_random_bytes(&run->state, PARTS_MIN);

    if (hwtest_random(&run->state, 2) == 0)
        total = PARTS_MIN + hwtest_random(&run->state, PARTS_MAX - PARTS_MIN);
    family = family < 0 ? any : family;
    if (form % 2 == 1 && family == family_of("reduce"))
        root = 0;
    hwtest_family_set(c, family, form, root, total);
    hwtest_family_prepare(c, run->state + run->done++);
}

static void use_family(struct run *run, int family)
{
    struct hwtest_call *c = &run->started[0];
    double begin;

    draw_call(run, c, family);
    begin = MPI_Wtime();
    hwtest_family_issue(c, run->done % 2 == 0 ? HWTEST_WAITS : HWTEST_STARTS);
    MPI_Wait(&c->request, MPI_STATUS_IGNORE);
    note_time(run, begin);
    run->errors += (unsigned) hwtest_family_check(c);
}

static void prepare(struct run *run, struct message *m)
{
    m->key = run->state + run->done++;
    hwtest_prepare(m->buf, m->bytes, run->rank == m->root, m->key);
    m->begin = MPI_Wtime();
}

/* All of `m` are under way, and a blocking one behind them. */
static void finish_ahead(struct run *run, struct message *m, MPI_Request *request)
{
    cast(run, MPI_COMM_WORLD, any_bytes(run, "ahead"));
    for (int n = 0; n < AHEAD; n++) {
        int at;

        MPI_Waitany(AHEAD, request, &at, MPI_STATUS_IGNORE);
        run->errors += hwtest_verify(m[at].buf, m[at].bytes, m[at].key, "faultcast, ahead");
        note_time(run, m[at].begin);
    }
}

static void use_ahead(struct run *run)
{
    struct message *m = run->ahead;
    MPI_Request request[AHEAD];

    for (int i = 0; i < AHEAD; i++) {
        m[i].bytes = hwtest_random_bytes(&run->state, AHEAD_MAX);
        m[i].root = (int) ((run->done + (unsigned) i) % (unsigned) run->size);
    }
    MPI_Bcast_init(m[0].buf, (int) m[0].bytes, MPI_BYTE, m[0].root, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &request[0]);
    for (int round = 0; round < RESTARTS; round++) {
        prepare(run, &m[0]);
        MPI_Start(&request[0]);
        for (int i = 1; i < AHEAD; i++) {
            prepare(run, &m[i]);
            MPI_Ibcast(m[i].buf, (int) m[i].bytes, MPI_BYTE, m[i].root, MPI_COMM_WORLD,
                       &request[i]);
        }
        finish_ahead(run, m, request);
    }
    MPI_Request_free(&request[0]);
}

/* Several are under way, on two communicators by turns, and a broadcast behind them. */
static void use_started(struct run *run)
{
    struct hwtest_call *c = run->started;
    MPI_Request request[STARTED];
    const double begin = MPI_Wtime();

    for (int i = 0; i < STARTED; i++) {
        draw_call(run, &c[i], -1);
        hwtest_family_issue(&c[i], HWTEST_STARTS);
        request[i] = c[i].request;
    }
    cast(run, MPI_COMM_WORLD, any_bytes(run, "started"));
    hwtest_complete_all(request, STARTED, (int) (run->done % 5));
    note_time(run, begin);
    for (int i = 0; i < STARTED; i++)
        run->errors += (unsigned) hwtest_family_check(&c[i]);
}

/* Orders of which a batch is one. */
static bool is_slow(const char *order)
{
    return strcmp(order, "long") == 0 || strcmp(order, "comms") == 0 ||
           strcmp(order, "ahead") == 0 || strcmp(order, "started") == 0;
}

static void batch(struct run *run, const char *order, unsigned number)
{
    const int family = family_of(order);

    for (int i = 0; i < BATCH; i++) {
        if (strcmp(order, "late") == 0 && i == BATCH / 2 && run->rank == (int) number % run->size)
            usleep(20000);
        if (strcmp(order, "comms") == 0)
            use_communicators(run);
        else if (strcmp(order, "ahead") == 0)
            use_ahead(run);
        else if (strcmp(order, "started") == 0)
            use_started(run);
        else if (family >= 0 || strcmp(order, "any") == 0)
            use_family(run, family);
        else
            cast(run, MPI_COMM_WORLD, any_bytes(run, order));
        if (is_slow(order))
            break;
    }
}

/* Until rank 0's clock says that it is over. */
static void obey(struct run *run, const char *order, int ms)
{
    double begin = MPI_Wtime();
    int more = 1;

    if (strcmp(order, "idle") == 0) {
        usleep((useconds_t) ms * 1000);
        ms = 0;
    }
    for (unsigned number = 0; more; number++) {
        batch(run, order, number);
        more = MPI_Wtime() - begin < ms / 1000.0;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

static void report(struct run *run, const char *order)
{
    unsigned long long errors = 0;
    double longest = 0;

    MPI_Reduce(&run->errors, &errors, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&run->longest, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (run->rank == 0) {
        printf("did %s %llu calls %llu errors %.0f us\n", order, run->done, errors, longest * 1e6);
        fflush(stdout);
    }
    run->longest = 0;
}

/* The next order, on all ranks alike; false: to quit, also when nobody gives orders any more. */
static bool next_order(struct run *run, char *order, int *ms)
{
    char line[LINE] = "quit";

    if (run->rank == 0 && !fgets(line, LINE, run->orders))
        strcpy(line, "quit");
    MPI_Bcast(line, LINE, MPI_CHAR, 0, MPI_COMM_WORLD);
    *ms = 0;
    return sscanf(line, "%15s %d", order, ms) >= 1 && strcmp(order, "quit") != 0;
}

static void begin_run(struct run *run)
{
    run->buf = hwtest_alloc(LONG_MAX);
    for (int i = 0; i < AHEAD; i++)
        run->ahead[i].buf = hwtest_alloc(AHEAD_MAX);
    MPI_Comm_dup(MPI_COMM_WORLD, &run->other);
    for (int i = 0; i < STARTED; i++)
        begin_call(&run->started[i], i % 2 == 0 ? MPI_COMM_WORLD : run->other, run->size);
}

static void end_run(struct run *run)
{
    for (int i = 0; i < STARTED; i++)
        hwtest_call_free(&run->started[i]);
    MPI_Comm_free(&run->other);
    for (int i = 0; i < AHEAD; i++)
        free(run->ahead[i].buf);
    free(run->buf);
}

int main(int argc, char **argv)
{
    struct run run = {.state = 1};
    long mine[2], grown[2] = {0, 0}, first[2] = {0, 0};
    const char *path = "/dev/null";
    char order[16];
    int ms, failed = 0;

    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "-orders=", 8) == 0)
            path = argv[i] + 8;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &run.size);
    run.state = (uint64_t) hwtest_option(argc, argv, "-seed", 1);
    begin_run(&run);
    if (run.rank == 0) {
        printf("ready\n");
        fflush(stdout);
        run.orders = fopen(path, "r");
        if (!run.orders) {
            perror(path);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
    }
    for (int i = 0; next_order(&run, order, &ms); i++) {
        obey(&run, order, ms);
        if (i == 0) {
            first[0] = hwtest_entries("/proc/self/fd");
            first[1] = hwtest_status_kib("RssAnon");
        }
        report(&run, order);
    }
    mine[0] = hwtest_entries("/proc/self/fd") - first[0];
    mine[1] = hwtest_status_kib("RssAnon") - first[1];
    MPI_Reduce(mine, grown, 2, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    obey(&run, "short", 0);
    report(&run, "quit");
    failed = run.errors > 0;
    if (run.rank == 0) {
        printf("grown %ld descriptors %ld KiB\nfinalizing\n", grown[0], grown[1]);
        fflush(stdout);
        fclose(run.orders);
    }
    end_run(&run);
    MPI_Finalize();
    return failed;
}
