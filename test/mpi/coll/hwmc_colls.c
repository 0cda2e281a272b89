/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_colls.h"

/* All collectives with random shapes: lengths (mostly short), datatypes, operations of MPI's and
 * the program's, roots, in place, no elements, unequal parts; blocking, nonblocking with up to
 * OUTSTANDING under way, and persistent; on several communicators by turns. What a step does
 * follows from the seed and its number, alike on all ranks; every rank works out every rank's data
 * and compares its memory with what must be there, gaps and margins with it. Sums of floating-point
 * numbers must have the same bits on all ranks, and again if the call is repeated, but for the few
 * times that a communicator's collectives are set up.
 *
 *   -seed=N        other steps (1)
 *   -steps=N       so many (400)
 *   -first=N       from this one on: to look at one that failed
 *   -only=A,B,...  these collectives alone
 *   -persistent    also persistent ones, which MPICH 4.0.2 has not right: where hwmc takes all
 *   -any-root      also MPI_Reduce in place over hosts at any root, likewise
 *   -max=BYTES     of all parts together (2 MiB; of reductions an eighth)
 *   -minutes=M     for so long, however many steps that takes
 *   -verbose       what each step is
 *   -report        rank 0 prints "running" when it begins, and in the end all counters
 *
 * A step that fails says its seed, its number and the first element that is wrong. */

#define BATCH 50  /* steps between two looks at the clock */
#define CHANGES 3 /* MPICH's, inside a host, over hosts; and of one of these when it is set up */

static size_t most;
static const char *only;
static bool verbose, persistent, any_root;
static int hosts;
static struct hwtest_kinds kinds;
static struct hwtest_reductions reductions;
static MPI_Comm comms[COMMS]; /* MPI_COMM_NULL: this rank is not in it */

static const struct family families[] = {
    {"barrier", prepare_barrier, issue_barrier, 0, false, false, false},
    {"bcast", prepare_bcast, issue_bcast, BCAST, true, false, false},
    {"gather", prepare_moves, issue_gather, GATHER, true, true, false},
    {"gatherv", prepare_moves, issue_gather, GATHER, true, true, true},
    {"scatter", prepare_moves, issue_scatter, SCATTER, true, true, false},
    {"scatterv", prepare_moves, issue_scatter, SCATTER, true, true, true},
    {"allgather", prepare_moves, issue_allgather, ALLGATHER, false, true, false},
    {"allgatherv", prepare_moves, issue_allgather, ALLGATHER, false, true, true},
    {"alltoall", prepare_moves, issue_alltoall, ALLTOALL, false, true, false},
    {"alltoallv", prepare_moves, issue_alltoall, ALLTOALL, false, true, true},
    {"alltoallw", prepare_moves, issue_alltoallw, ALLTOALLW, false, true, true},
    {"reduce", prepare_reduction, issue_reduce, REDUCE, true, true, false},
    {"allreduce", prepare_reduction, issue_allreduce, ALLREDUCE, false, true, false},
    {"scan", prepare_reduction, issue_scan, SCAN, false, true, false},
    {"exscan", prepare_reduction, issue_scan, EXSCAN, false, true, false},
    {"reduce_scatter", prepare_reduction, issue_reduce_scatter, REDUCE_SCATTER, false, true, true},
    {"reduce_scatter_block", prepare_reduction, issue_reduce_scatter, REDUCE_SCATTER, false, true,
     false},
};
#define FAMILIES ((uint64_t) (sizeof(families) / sizeof(families[0])))

static bool is_reduction(const struct call *c)
{
    return c->family->prepare == prepare_reduction;
}

/* Of floating-point numbers, that all ranks get. */
static bool is_float_sum(const struct call *c)
{
    return is_reduction(c) && c->reduction->tolerance > 0 && c->family->which == ALLREDUCE;
}

/* Steps */

static void free_call(struct call *c)
{
    free_memory(&c->out.memory);
    free_memory(&c->in.memory);
    free_memory(&c->give);
    free_memory(&c->result);
    free_memory(&c->want);
}

static int check(struct call *c)
{
    int errs;

    hwtest_done++;
    hwtest_done_bytes += c->bytes;
    if (c->family->prepare == prepare_barrier)
        return check_barrier(c);
    errs = is_reduction(c) ? check_reduction(c) : check_moves(c);
    if (is_float_sum(c))
        errs += check_same_bits(c);
    return errs;
}

/* Once more, in new memory; whether any rank has other bits than before. */
static bool differs_again(struct call *c, long *where)
{
    struct hwtest_memory before = c->result;
    int differs, any;

    c->result.base = NULL;
    free_call(c);
    c->family->prepare(c);
    c->family->issue(c);
    if (c->how == HWTEST_STARTS)
        MPI_Wait(&c->request, MPI_STATUS_IGNORE);
    differs = hwtest_find_difference(&before, &c->result, where);
    free_memory(&before);
    MPI_Allreduce(&differs, &any, 1, MPI_INT, MPI_MAX, c->comm);
    return any;
}

/* A sum of floating-point numbers is repeated until it has the same bits twice. They may change
 * when a communicator's collectives go another way from then on: CHANGES times. */
static int repeat(struct call *c)
{
    static int changes[COMMS];
    long where = 0;

    while (is_float_sum(c) && differs_again(c, &where)) {
        if (++changes[c->comm_index] > CHANGES)
            return complain(c, "bits differ between calls", where / (long) c->reduction->extent);
    }
    return 0;
}

static int complete(struct call *c)
{
    int errs;

    if (!c->busy)
        return 0;
    MPI_Wait(&c->request, MPI_STATUS_IGNORE);
    c->busy = false;
    errs = check(c) + repeat(c);
    free_call(c);
    return errs;
}

static int complete_all(void)
{
    int errs = 0;

    for (int i = 0; i < OUTSTANDING; i++)
        errs += complete(&calls[i]);
    return errs;
}

/* Started twice, with other data, in the memory that was given when it was made. */
static int run_persistent(struct call *c)
{
    int errs = 0;

    c->family->issue(c);
    for (int i = 0; i < 2; i++) {
        struct hwtest_memory in = c->in.memory, out = c->out.memory;
        struct hwtest_memory give = c->give, result = c->result;

        if (i > 0) {
            c->key++;
            free_memory(&c->want);
            c->family->prepare(c);
#define HWTEST_KEEP(now, old)                                                                      \
    do {                                                                                           \
        if ((old).base) {                                                                          \
            memcpy((old).base, (now).base, (old).bytes);                                           \
            free((now).base);                                                                      \
            (now) = (old);                                                                         \
        }                                                                                          \
    } while (0)
            HWTEST_KEEP(c->in.memory, in);
            HWTEST_KEEP(c->out.memory, out);
            HWTEST_KEEP(c->give, give);
            HWTEST_KEEP(c->result, result);
        }
        MPI_Start(&c->request);
        MPI_Wait(&c->request, MPI_STATUS_IGNORE);
        errs += check(c);
    }
    MPI_Request_free(&c->request);
    return errs;
}

/* MPICH 4.0.2's own persistent collectives, started again, send old data or free the communicator;
 * hwmc has none of a single rank. */
static bool can_persist(const struct call *c)
{
    return MPI_VERSION >= 4 && persistent && c->size > 1;
}

/* MPICH 4.0.2's MPI_Reduce between hosts reads from MPI_IN_PLACE if the root is not the first rank
 * of its host. */
static bool can_reduce_in_place(const struct call *c)
{
    return hosts == 1 || any_root || c->family->issue != issue_reduce;
}

/* Of 100 more than a third are sums of floating-point numbers. */
static const struct hwtest_reduction *draw_reduction(uint64_t of_100)
{
    if (of_100 < 30)
        return &reductions.of[reductions.floats + of_100 % 2];
    return &reductions.of[of_100 % (uint64_t) reductions.num];
}

/* What the ranks of a communicator draw alike. */
static void draw(struct call *c, uint64_t *state, int step)
{
    const uint64_t family = hwtest_random(state, FAMILIES), kind = hwtest_random(state, 100);
    const size_t total = hwtest_random_bytes(state, most);
    const uint64_t how = hwtest_random(state, 8), root = hwtest_random(state, 1 << 20);
    bool flat;

    c->step = step;
    c->family = &families[family];
    MPI_Comm_rank(c->comm, &c->rank);
    MPI_Comm_size(c->comm, &c->size);
    c->root = c->family->rooted ? (int) (root % (uint64_t) c->size) : 0;
    c->in_place = hwtest_random(state, 3) == 0 && c->family->has_in_place;
    if (c->in_place && !can_reduce_in_place(c))
        c->root = 0;
    c->apart = hwtest_random(state, 2) == 0;
    c->how = how < 4 ? HWTEST_WAITS : how < 7 ? HWTEST_STARTS : HWTEST_PERSISTS;
    if (c->how == HWTEST_PERSISTS && !can_persist(c))
        c->how = HWTEST_STARTS;
    flat = hwtest_random(state, 2) == 0;
    c->key = hwtest_random(state, UINT64_MAX);
    c->reduction = is_reduction(c) ? draw_reduction(kind) : NULL;
    c->sends = &kinds.kind[kind % (uint64_t) kinds.num];
    c->receives = flat && c->sends->basic == MPI_INT ? &kinds.flat : c->sends;
    if (c->in_place && (c->family->which == ALLTOALL || c->family->which == ALLTOALLW))
        c->receives = c->sends;
    c->bytes = is_reduction(c)             ? total / 8
               : c->family->which == BCAST ? total
                                           : total / (size_t) c->size;
}

static void tell(const struct call *c)
{
    static const char *const hows[] = {"waits", "starts", "persists"};

    if (verbose && c->rank == 0)
        printf("step %d: %s%s, %s, %s, %d ranks, root %d, %zu bytes, %s\n", c->step,
               c->family->name, c->in_place ? " in place" : "", hows[c->how],
               comm_names[c->comm_index], c->size, c->root, c->bytes,
               c->reduction ? c->reduction->name : c->sends->name);
    fflush(stdout);
}

/* Whether -only has it. */
static bool is_wanted(const char *name)
{
    const size_t length = strlen(name);

    for (const char *at = only; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return only == NULL;
}

/* One step: the call under way in its slot is completed, and another one made or started. */
static int step(int number)
{
    uint64_t state = hwtest_mix(seed) + (uint64_t) number * 1000;
    struct call *c = &calls[number % OUTSTANDING];
    const int comm_index = (int) hwtest_random(&state, COMMS);
    int errs = complete(c);

    memset(c, 0, sizeof(*c));
    c->comm_index = comm_index;
    c->comm = comms[comm_index];
    if (c->comm == MPI_COMM_NULL)
        return errs;
    draw(c, &state, number);
    if (!is_wanted(c->family->name))
        return errs;
    tell(c);
    c->family->prepare(c);
    if (c->how == HWTEST_PERSISTS) {
        errs += run_persistent(c);
    } else {
        c->family->issue(c);
        c->busy = c->how == HWTEST_STARTS;
        if (c->busy)
            return errs;
        errs += check(c) + repeat(c);
    }
    free_call(c);
    return errs;
}

/* The number of this rank's host, in the order of their first ranks; counts hosts. */
static int find_host(int rank, int size)
{
    int first[HWTEST_RANKS], mine = rank, number = 0;
    MPI_Comm host;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
    MPI_Bcast(&mine, 1, MPI_INT, 0, host);
    MPI_Comm_free(&host);
    MPI_Allgather(&mine, 1, MPI_INT, first, 1, MPI_INT, MPI_COMM_WORLD);
    hosts = 0;
    for (int i = 0; i < size; i++) {
        number = first[i] == i && i == mine ? hosts : number;
        hosts += first[i] == i;
    }
    return number;
}

/* Some hosts: all but the last one; of a single host, all ranks but the last one. Whatever the
 * order of ranks of the world, there is a communicator in which those of each host follow each
 * other. */
static void make_comms(void)
{
    int rank, size, host;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > HWTEST_RANKS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    host = find_host(rank, size);
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_split(MPI_COMM_WORLD, 0, host * size + rank, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[2]);
    MPI_Comm_split(MPI_COMM_WORLD,
                   (hosts > 1 ? host < hosts - 1 : rank < size - 1) ? 0 : MPI_UNDEFINED, rank,
                   &comms[3]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[4]);
    MPI_Comm_split(MPI_COMM_WORLD, host, rank, &comms[5]);
    MPI_Comm_dup(MPI_COMM_SELF, &comms[6]);
}

static void free_comms(void)
{
    for (int i = 1; i < COMMS; i++)
        if (comms[i] != MPI_COMM_NULL)
            MPI_Comm_free(&comms[i]);
}

/* Rank 0 decides: all are to stop at the same step. */
static bool at_end(int number, int last, double end)
{
    int over = end > 0 ? MPI_Wtime() >= end : number >= last;

    if (end > 0 && number % BATCH == 0)
        MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return end > 0 ? number % BATCH == 0 && over : over;
}

static bool is_ours(const char *name)
{
    return strncmp(name, "hwmc_", 5) == 0;
}

static void say_running(void)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("running\n");
    fflush(stdout);
}

/* Arguments; returns the first step and the one behind the last. */
static void parse(int argc, char **argv, int *first, int *last)
{
    seed = (uint64_t) hwtest_option(argc, argv, "-seed", 1);
    *first = (int) hwtest_option(argc, argv, "-first", 0);
    *last = *first + (int) hwtest_option(argc, argv, "-steps", 400);
    most = (size_t) hwtest_option(argc, argv, "-max", 2 << 20);
    persistent = hwtest_flag(argc, argv, "-persistent");
    any_root = hwtest_flag(argc, argv, "-any-root");
    verbose = hwtest_flag(argc, argv, "-verbose");
    for (int i = 1; i < argc; i++)
        only = strncmp(argv[i], "-only=", 6) == 0 ? argv[i] + 6 : only;
}

int main(int argc, char **argv)
{
    bool report = hwtest_flag(argc, argv, "-report");
    int errs = 0, first, last, provided;
    double minutes, end;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided); /* it is not begun twice */
    MTest_Init(&argc, &argv);
    parse(argc, argv, &first, &last);
    hwtest_make_kinds(&kinds);
    hwtest_make_reductions(&reductions);
    make_comms();
    if (report)
        say_running();
    minutes = hwtest_option(argc, argv, "-minutes", 0);
    end = minutes > 0 ? MPI_Wtime() + minutes * 60 : 0;
    for (int number = first; !at_end(number, last, end); number++)
        errs += step(number);
    errs += complete_all();
    free_comms();
    hwtest_free_reductions(&reductions);
    hwtest_free_kinds(&kinds);
    if (report)
        hwtest_print_counters(is_ours);
    errs = hwtest_finish(errs);
    MPI_T_finalize();
    return errs;
}
