/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include <pthread.h>
#include "hwmc_families.h"

/* Nonblocking and persistent collectives of all kinds: several outstanding on a communicator, mixed
 * with blocking ones, completed in any order by any of MPI's functions; on communicators that are
 * freed meanwhile; with operations and datatypes that are freed meanwhile; persistent ones whose
 * buffers change between starts; from several threads; and lengths that disagree.
 *
 *   -max=BYTES     the longest (100000)
 *   -rounds=N      rounds of each kind (30)
 *   -compute=MS    time away from MPI after each round of starts (0)
 *   -threads=N     threads, each with a communicator of its own (1)
 *   -errors        lengths disagree (MPI promises nothing for that)
 *   -mpichs        MPI_Iallreduce is MPICH's by a control variable */

#define MANY 8
#define MOST_THREADS 8

static size_t max_bytes;
static int rounds;
static double compute_s;

/* What a thread works with. */
struct worker {
    pthread_t thread;
    MPI_Comm comm;
    uint64_t state; /* alike on all ranks */
    struct hwtest_call calls[MANY];
    int errs;
};

static void issue(struct hwtest_call *c, uint64_t *state, enum hwtest_how how)
{
    hwtest_any_set(c, state, max_bytes);
    hwtest_family_prepare(c, *state);
    hwtest_family_issue(c, how);
}

/* Completes the first `num` calls and checks them. */
static int complete_calls(struct worker *w, int num, int manner)
{
    MPI_Request requests[MANY];
    int errs = 0;

    for (int i = 0; i < num; i++)
        requests[i] = w->calls[i].request;
    hwtest_compute(compute_s);
    hwtest_complete_all(requests, num, manner);
    for (int i = 0; i < num; i++) {
        w->calls[i].request = requests[i];
        errs += hwtest_family_check(&w->calls[i]);
    }
    return errs;
}

static void use_comm(struct worker *w, MPI_Comm comm)
{
    for (int i = 0; i < MANY; i++)
        w->calls[i].comm = comm;
}

/* Several at once, in some rounds with blocking ones between them. */
static int several(struct worker *w)
{
    int errs = 0;

    for (int r = 0; r < rounds; r++) {
        int num = 0;

        for (int i = 0; i < MANY; i++) {
            struct hwtest_call *c = &w->calls[num];

            if (r % 2 == 1 && hwtest_random(&w->state, 4) == 0)
                errs += hwtest_any_call(c, &w->state, max_bytes);
            else {
                issue(c, &w->state, HWTEST_STARTS);
                num++;
            }
        }
        errs += complete_calls(w, num, r);
    }
    return errs;
}

/* On communicators that are freed before they are complete, several of them, and one of a single
 * rank. No barriers: these are checked on their communicator. */
static int freed(struct worker *w)
{
    MPI_Comm comms[3];
    int errs = 0, rank;

    MPI_Comm_rank(w->comm, &rank);
    for (int r = 0; r < rounds / 8 + 1; r++) {
        MPI_Comm_dup(w->comm, &comms[0]);
        MPI_Comm_split(w->comm, 0, -rank, &comms[1]);
        MPI_Comm_dup(MPI_COMM_SELF, &comms[2]);
        for (int i = 0; i < MANY; i++) {
            struct hwtest_call *c = &w->calls[i];

            c->comm = comms[i % 3];
            do
                hwtest_any_set(c, &w->state, max_bytes);
            while (strcmp(c->name, "barrier") == 0);
            c->root %= c->size;
            hwtest_family_prepare(c, w->state);
            hwtest_family_issue(c, HWTEST_STARTS);
        }
        for (int i = 0; i < 3; i++)
            MPI_Comm_free(&comms[i]);
        errs += complete_calls(w, MANY, r);
    }
    use_comm(w, w->comm);
    return errs;
}

/* What a buffer has at a start counts, and a blocking one between two starts goes between. */
static int persistent(struct worker *w)
{
    struct hwtest_call between = w->calls[0];
    MPI_Request requests[MANY];
    int errs = 0, size;

    if (MPI_VERSION < 4)
        return 0;
    MPI_Comm_size(w->comm, &size);
    hwtest_call_init(&between, w->comm, hwtest_families_room(max_bytes, size));
    for (int i = 0; i < MANY; i++)
        issue(&w->calls[i], &w->state, HWTEST_PERSISTS);
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < MANY; i++) {
            hwtest_family_prepare(&w->calls[i], ++w->state);
            requests[i] = w->calls[i].request;
        }
        MPI_Startall(MANY / 2, requests);
        errs += hwtest_any_call(&between, &w->state, max_bytes);
        for (int i = MANY / 2; i < MANY; i++)
            MPI_Start(&requests[i]);
        errs += complete_calls(w, MANY, r);
    }
    for (int i = 0; i < MANY; i++)
        MPI_Request_free(&w->calls[i].request);
    hwtest_call_free(&between);
    return errs;
}

/* Affine maps x -> a x + b, modulo 2^32, two ints with a hole between: composition is associative
 * and not commutative. */
struct map {
    uint32_t a, hole, b;
};

static void compose(void *in, void *inout, int *len, MPI_Datatype *type)
{
    const struct map *first = in;
    struct map *then = inout;

    (void) type;
    for (int i = 0; i < *len; i++) {
        then[i].b = then[i].a * first[i].b + then[i].b;
        then[i].a = then[i].a * first[i].a;
    }
}

static struct map map_of(int rank, int i)
{
    return (struct map){.a = (uint32_t) (3 + 2 * rank + i), .b = (uint32_t) (7 * rank + i)};
}

/* Of ranks `from` to before `end`. */
static struct map map_of_ranks(int from, int end, int i)
{
    struct map all = map_of(from, i);

    for (int r = from + 1; r < end; r++) {
        struct map next = map_of(r, i);

        compose(&all, &next, &(int){1}, NULL);
        all = next;
    }
    return all;
}

#define MAPS 600

static int verify_maps(const struct map *got, int num, int end, int first, const char *what)
{
    int wrong = 0;

    for (int i = 0; i < num && end > 0; i++) {
        struct map want = map_of_ranks(0, end, first + i);

        wrong += got[i].a != want.a || got[i].b != want.b || got[i].hole != HWTEST_POISON;
    }
    if (wrong > 0)
        printf("%s of maps: %d of %d wrong\n", what, wrong, num);
    return wrong > 0;
}

/* The operation and the datatype are freed before the collectives are complete. */
static int user_operations(struct worker *w)
{
    static const char *const names[] = {"iallreduce", "ireduce", "iscan", "iexscan",
                                        "ireduce_scatter_block"};
    struct map *in = calloc(MAPS, sizeof(*in)), *out = calloc(5 * MAPS, sizeof(*out));
    MPI_Datatype parts, type;
    MPI_Request requests[5];
    int errs = 0, rank, size, each, root;
    MPI_Op op;

    MPI_Comm_rank(w->comm, &rank);
    MPI_Comm_size(w->comm, &size);
    each = MAPS / size;
    for (int r = 0; r < rounds; r++) {
        int count = r % 3 == 0 ? 1 : each * size, share = count / size;

        root = r % size;
        for (int i = 0; i < MAPS; i++)
            in[i] = map_of(rank, i);
        for (int i = 0; i < 5 * MAPS; i++)
            out[i] = (struct map){.hole = HWTEST_POISON};
        MPI_Op_create(compose, 0, &op);
        MPI_Type_vector(2, 1, 2, MPI_UINT32_T, &parts);
        MPI_Type_create_resized(parts, 0, sizeof(struct map), &type);
        MPI_Type_commit(&type);
        MPI_Type_free(&parts);
        MPI_Iallreduce(in, out, count, type, op, w->comm, &requests[0]);
        MPI_Ireduce(in, out + MAPS, count, type, op, root, w->comm, &requests[1]);
        MPI_Iscan(in, out + 2 * MAPS, count, type, op, w->comm, &requests[2]);
        MPI_Iexscan(in, out + 3 * MAPS, count, type, op, w->comm, &requests[3]);
        MPI_Ireduce_scatter_block(in, out + 4 * MAPS, share, type, op, w->comm, &requests[4]);
        MPI_Op_free(&op);
        MPI_Type_free(&type);
        hwtest_complete_all(requests, 5, r);
        for (int k = 0; k < 5; k++) {
            const int ends[] = {size, rank == root ? size : 0, rank + 1, rank, size};

            errs += verify_maps(out + k * MAPS, k == 4 ? share : count, ends[k],
                                k == 4 ? rank * share : 0, names[k]);
        }
    }
    free(out);
    free(in);
    return errs;
}

/* Columns of a matrix by rows go to other ranks, and come back as rows; the type is freed
 * meanwhile. */
#define COLUMN 300

static int pieces(struct worker *w)
{
    int errs = 0, rank, size, *from, *to;

    MPI_Comm_rank(w->comm, &rank);
    MPI_Comm_size(w->comm, &size);
    from = malloc((size_t) size * COLUMN * sizeof(int));
    to = malloc((size_t) size * COLUMN * sizeof(int));
    for (int r = 0; r < rounds; r++) {
        MPI_Datatype vector, column;
        MPI_Request requests[3];
        int bcast[2 * COLUMN], all = -1;

        for (int i = 0; i < size * COLUMN; i++) {
            from[i] = rank * 1000000 + i + r;
            to[i] = -1;
        }
        for (int i = 0; i < 2 * COLUMN; i++)
            bcast[i] = rank == r % size ? i + r : -1;
        MPI_Type_vector(COLUMN, 1, size, MPI_INT, &vector);
        MPI_Type_create_resized(vector, 0, sizeof(int), &column);
        MPI_Type_commit(&column);
        MPI_Type_free(&vector);
        MPI_Ialltoall(from, 1, column, to, COLUMN, MPI_INT, w->comm, &requests[0]);
        MPI_Type_free(&column);
        MPI_Type_vector(COLUMN, 1, 2, MPI_INT, &vector);
        MPI_Type_commit(&vector);
        MPI_Ibcast(bcast, 1, vector, r % size, w->comm, &requests[1]);
        MPI_Type_free(&vector);
        MPI_Iallreduce(&r, &all, 1, MPI_INT, MPI_MAX, w->comm, &requests[2]);
        hwtest_complete_all(requests, 3, r);
        for (int i = 0; i < size * COLUMN; i++)
            errs += to[i] != i / COLUMN * 1000000 + i % COLUMN * size + rank + r;
        for (int i = 0; i < 2 * COLUMN; i++)
            errs += bcast[i] != (rank == r % size || i % 2 == 0 ? i + r : -1);
        errs += all != r;
    }
    if (errs > 0)
        printf("rank %d: %d ints of pieces wrong\n", rank, errs);
    free(from);
    free(to);
    return errs > 0;
}

/* Each collective that was started is one that ran over the host's memory, or none is. */
static int counted(struct worker *w, bool by_mpich)
{
    const bool asked = getenv("HWTEST_NODE") != NULL;
    unsigned long long before = hwtest_counter("hwmc_shm_calls"), ran;
    MPI_Request requests[MANY];
    int size, one = 1, sums[MANY], errs = 0;

    MPI_Comm_size(w->comm, &size);
    for (int i = 0; i < MANY; i++)
        MPI_Iallreduce(&one, &sums[i], 1, MPI_INT, MPI_SUM, w->comm, &requests[i]);
    hwtest_complete_all(requests, MANY, 0);
    for (int i = 0; i < MANY; i++)
        errs += sums[i] != size;
    ran = hwtest_counter("hwmc_shm_calls") - before;
    if (asked && ran != (by_mpich ? 0 : MANY)) {
        printf("of %d collectives %llu ran over the memory of the host\n", MANY, ran);
        errs++;
    }
    return errs;
}

/* Lengths disagree at the last rank: it gets an error where more comes than it has room for, in the
 * status and by MPI_Waitall; nobody waits for ever, and other communicators are as before. */
static int disagree(struct worker *w, size_t sent, size_t room)
{
    unsigned char *buf = hwtest_alloc(sent > room ? sent : room);
    int errs = 0, rank, size, err;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Comm comm;
    bool is_last;

    MPI_Comm_dup(w->comm, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Barrier(comm);
    is_last = rank > 0 && rank == size - 1;
    hwtest_prepare(buf, is_last ? room : sent, rank == 0, 11);
    statuses[0].MPI_ERROR = statuses[1].MPI_ERROR = MPI_SUCCESS;
    MPI_Ibcast(buf, (int) (is_last ? room : sent), MPI_BYTE, 0, comm, &requests[0]);
    err = MPI_Waitall(1, requests, statuses);
    if (is_last && sent > room && (err == MPI_SUCCESS || statuses[0].MPI_ERROR == MPI_SUCCESS)) {
        printf("%zu bytes into room for %zu: no error\n", sent, room);
        errs++;
    }
    for (int i = 0; i < HWTEST_GUARD; i++)
        errs += buf[(is_last ? room : sent) + (size_t) i] != HWTEST_GUARD_BYTE;
    MPI_Comm_free(&comm);
    free(buf);
    return errs;
}

static int errors(struct worker *w)
{
    int errs = 0;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* MPI_Waitall's */
    for (int r = 0; r < 4; r++) {
        errs += disagree(w, 4000, 2000);
        errs += several(w);
        errs += disagree(w, 70000, 300);
        errs += disagree(w, 64, 40);
        errs += disagree(w, 2000, 4000);
    }
    return errs;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    int size;

    MPI_Comm_size(w->comm, &size);
    for (int i = 0; i < MANY; i++)
        hwtest_call_init(&w->calls[i], w->comm, hwtest_families_room(max_bytes, size));
    w->errs += several(w);
    w->errs += persistent(w);
    w->errs += freed(w);
    w->errs += pieces(w);
    w->errs += user_operations(w);
    w->errs += several(w);
    return NULL;
}

static void end_work(struct worker *w)
{
    for (int i = 0; i < MANY; i++)
        hwtest_call_free(&w->calls[i]);
}

int main(int argc, char **argv)
{
    static struct worker workers[MOST_THREADS];
    int errs = 0, threads, provided, size;

    threads = (int) hwtest_option(argc, argv, "-threads", 1);
    MTest_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                      &provided);
    max_bytes = (size_t) hwtest_option(argc, argv, "-max", 100000);
    rounds = (int) hwtest_option(argc, argv, "-rounds", 30);
    compute_s = hwtest_option(argc, argv, "-compute", 0) / 1000;
    threads = provided == MPI_THREAD_MULTIPLE && threads <= MOST_THREADS ? threads : 1;
    for (int i = 0; i < threads; i++) {
        workers[i].state = 1000 * (uint64_t) i;
        MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
    }
    for (int i = 1; i < threads; i++)
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    work(&workers[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > 1)
        errs += counted(&workers[0], hwtest_flag(argc, argv, "-mpichs"));
    if (hwtest_flag(argc, argv, "-errors"))
        errs += errors(&workers[0]);
    for (int i = 0; i < threads; i++) {
        errs += workers[i].errs;
        end_work(&workers[i]);
        MPI_Comm_free(&workers[i].comm);
    }
    return hwtest_finish(errs);
}
