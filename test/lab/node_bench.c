/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * node_bench: how long collectives take among the ranks of one host, seen from one clock.
 *
 *   node_bench -out=FILE [-ops=NAME,...] [-bytes=N,...] [-methods=each,loop] [-ms=MS]
 *              [-samples=N] [-least=N] [-batch=US] [-slow=MS] [-pool=BYTES] [-rotate] [-near=NS]
 *   node_bench -line=MS -out=FILE
 *
 * CLOCK_MONOTONIC is the same on every rank, so times of different ranks may be subtracted. A
 * sample begins at a fence of our own in shared memory, not at the library's barrier: the last rank
 * to come names a time a little later, at which all begin. So no library is judged by how its
 * barrier leaves the ranks. The sample ends when the slowest rank is through:
 *
 *   each   one call between two fences. No rank is ahead of another: what a call takes.
 *   loop   calls in a row, as many as fill a batch; the time is divided by their number. A root of
 *          a broadcast, and all but the root of a reduction, may run ahead as far as the library
 *          lets them: what a stream of calls takes. The same as `each` where every rank waits for
 *          all.
 *
 * With more ranks than processors not all can begin at the same time: those that wait at the fence
 * give way, and the sample begins when the last has come. They do not sleep: to be woken takes
 * longer than many a call, and would be in its time. Whoever waits calls MPI now and then: a
 * library may still owe others something when a call has returned.
 *
 * Messages from COLD bytes on have another place in a pool of -pool bytes every time, so that
 * neither source nor destination is in a cache; those below have the same place every time. copy
 * and copies are memcpy of the same bytes at the same places, by rank 0 and by as many ranks as
 * there are processors: what the memory allows. Where a call takes longer than -slow, larger
 * messages are left out; sizes are to ascend. Bytes are those of a message: of allgather, alltoall,
 * gather and scatter, a block. Data are doubles, and verified once per size before anything is
 * measured.
 *
 * A virtual machine's processors are near each other at some times, and far at others, when all
 * that crosses from one to the other takes several times as long. So before and after each cell
 * ranks 0 and 1 pass a cache line to and fro. With -near, what it takes at the best of times, a
 * cell is begun when it takes at most three times as long, or after a while, and done again if it
 * took longer in the end. -line measures nothing else, for so long, and says the least.
 *
 * Rank 0 writes a line a sample, one for each cell, and one at the end:
 *
 *   method,op,bytes,calls,time_ns,late_ns
 *   # cell METHOD OP BYTES calls N node M line NS
 *   # end ranks N crowded 0|1
 *
 * time: of all calls of the sample; late: how long after the beginning the last rank entered. N are
 * all calls of a cell, M how many of them ran over hwmc's node layer, or -1 where that is not
 * counted. NS: what the line took one way, the longer of before and after.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "node_bench_ops.h"

#define MAX_LIST 64
#define MAX_CALLS 16384
#define COLD (1 << 20)
#define GAP_NS 2000     /* from the last rank's coming to the fence to the beginning */
#define PROBE_NS 200000 /* between two calls of MPI by a rank that gives way at the fence */
#define SPINS 1000      /* between two by one that spins */
#define WARM_CALLS 50   /* of a cell, before samples are kept; fewer where they take long */
#define LEAST_WARM 8    /* but libraries may prepare themselves in the first few */
#define PATIENCE 8      /* budgets after which one sample is enough */
#define PASSES 20       /* of the line to and fro, in a row; the best of as many rows counts */
#define NAP_NS 20000000 /* before far processors are looked at again */
#define NAPS 500        /* of a job, at most */
#define TRIES 3         /* of a cell */

struct span {
    int64_t entry, exit; /* ns */
};

/* What is done behind a fence, the same on all ranks. */
struct round {
    int64_t start; /* ns, when all are to begin */
    int calls;     /* of the sample; 0: the cell is done */
    int slot;      /* where the sample is kept */
    int slow;      /* larger messages are left out */
};

/* Mapped by all ranks. The last to come to a fence makes `next`, which rank 0 wrote before it came,
 * the round `now`: then all have read the one before. */
struct shared {
    _Alignas(128) atomic_uint arrived;
    _Alignas(128) atomic_uint generation; /* grows when all have come */
    struct round now;
    _Alignas(128) struct round next;
    _Alignas(128) atomic_long ball;    /* rank 0 makes it odd, rank 1 even */
    _Alignas(128) int64_t line;        /* ns, one way */
    _Alignas(128) struct span spans[]; /* those of rank 0, then those of rank 1, ... */
};

struct list {
    int num;
    const char *names[MAX_LIST];
};

struct plan {
    const char *out;
    struct list ops, bytes, methods;
    int64_t budget; /* ns for a cell */
    int64_t batch;  /* ns that a sample of `loop` takes at least */
    int64_t slow;   /* ns for a call; where one takes longer, larger messages are left out */
    int64_t near;   /* ns for the line, at best; 0: it does not matter */
    int64_t line;   /* ns to measure that, and nothing else */
    int samples, least;
    int64_t pool;
    int rotate;
};

/* A method, an op and a size. */
struct cell {
    const char *method;
    const struct op *op;
    int64_t bytes;  /* of a message */
    int64_t span;   /* of the longest buffer of a call */
    int places;     /* in the pool */
    int64_t batch;  /* ns; 0: one call is a sample */
    int64_t begun;  /* ns */
    int64_t total;  /* calls so far */
    int64_t serial; /* of the next call: decides its place and its root */
    int calls;      /* of a sample */
    int steady;     /* samples are kept from here on */
    int slot;
};

static int crowded, naps;
static struct shared *shared;
static double *send_pool, *recv_pool;
static MPI_T_pvar_session session;
static MPI_T_pvar_handle node_calls = MPI_T_PVAR_HANDLE_NULL;

static void fail(const char *what)
{
    fprintf(stderr, "node_bench: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* What is measured */

static const struct op *find_op(const char *name)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(ops[i].name, name) == 0)
            return &ops[i];
    fail("no such op");
    return NULL;
}

static int64_t span_of(const struct op *op, int64_t bytes)
{
    return op->send_all || op->recv_all ? bytes * size : bytes;
}

/* Small integers, whose sums are exact. */
static double value(int source, int block, int64_t i)
{
    return source * 64.0 + block + (double) (i % 7) * 65536.0;
}

static double wanted(const struct op *op, int root, int64_t count, int64_t i)
{
    double sum = 0;

    if (!op->sum)
        return value(op->recv_all ? (int) (i / count) : root, op->send_all ? rank : 0, i % count);
    for (int source = 0; source < size; source++)
        sum += value(source, 0, i);
    return sum;
}

static void verify(const struct op *op, int64_t bytes)
{
    int64_t count = bytes / (int64_t) sizeof(double);
    int root = size - 1;

    for (int64_t i = 0; i < (op->send_all ? size : 1) * count; i++)
        send_pool[i] = value(rank, (int) (i / count), i % count);
    for (int64_t i = 0; i < (op->recv_all ? size : 1) * count; i++)
        recv_pool[i] = -1;
    op->call(send_pool, recv_pool, (int) count, root);
    if (!(rank == root ? op->at_root : op->at_others))
        return;
    for (int64_t i = 0; i < (op->recv_all ? size : 1) * count; i++)
        if (recv_pool[i] != wanted(op, root, count, i))
            fail("wrong data");
}

/* The fence */

static void poke(void)
{
    int found;

    MPI_Iprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

static void wait_behind(unsigned generation)
{
    int64_t next = clock_now_ns() + PROBE_NS;

    for (int spins = 1; atomic_load(&shared->generation) == generation; spins++) {
        if (crowded) {
            sched_yield();
            if (clock_now_ns() >= next) {
                poke();
                next = clock_now_ns() + PROBE_NS;
            }
        } else if (spins % SPINS == 0) {
            poke();
        } else {
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
    }
}

/* Returns when all ranks have come: the round that begins. */
static struct round fence(void)
{
    unsigned generation = atomic_load(&shared->generation);

    if (atomic_fetch_add(&shared->arrived, 1) + 1 < (unsigned) size) {
        wait_behind(generation);
    } else {
        atomic_store(&shared->arrived, 0);
        shared->now = shared->next;
        shared->now.start = clock_now_ns() + (crowded ? 0 : GAP_NS);
        atomic_store(&shared->generation, generation + 1);
    }
    return shared->now;
}

/* All ranks map a file that has no name any more when this returns. */
static void share(const char *out, int samples)
{
    size_t length = sizeof *shared + sizeof(struct span) * (size_t) samples * (size_t) size;
    char path[4096];
    int fd = -1;

    snprintf(path, sizeof path, "%s.shared", out);
    if (rank == 0) {
        fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || ftruncate(fd, (off_t) length) != 0)
            fail("cannot make a shared file beside that given as -out");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0)
        fd = open(path, O_RDWR);
    if (fd >= 0)
        shared = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (fd < 0 || shared == MAP_FAILED)
        fail("cannot map the shared file; are all ranks on one host?");
    close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        unlink(path);
}

/* How near the processors are */

/* On a processor of its own, for ranks that may be anywhere; `which` is 0 or 1. *was: what to go
 * back to. */
static void settle(int which, cpu_set_t *was)
{
    cpu_set_t one;
    int cpu = 0;

    sched_getaffinity(0, sizeof *was, was);
    if (CPU_COUNT(was) < 2)
        return;
    for (int skip = which; skip > 0 || !CPU_ISSET(cpu, was); cpu++)
        skip -= CPU_ISSET(cpu, was) ? 1 : 0;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void pass_line(void)
{
    int64_t best = INT64_MAX;
    static long ball; /* as both have it */
    cpu_set_t was;

    settle(rank, &was);
    for (int row = 0; row < PASSES; row++) {
        int64_t begun = clock_now_ns(), took;

        for (int i = 0; i < PASSES; i++, ball += 2) {
            if (rank == 0)
                atomic_store_explicit(&shared->ball, ball + 1, memory_order_release);
            while (atomic_load_explicit(&shared->ball, memory_order_acquire) != ball + 2 - rank)
                ;
            if (rank == 1)
                atomic_store_explicit(&shared->ball, ball + 2, memory_order_release);
        }
        took = (clock_now_ns() - begun) / (2 * PASSES);
        best = took < best ? took : best;
    }
    if (rank == 0)
        shared->line = best;
    sched_setaffinity(0, sizeof was, &was);
}

/* All ranks call this: what the line takes, ns one way. */
static int64_t measure_line(void)
{
    fence();
    if (rank < 2 && size > 1)
        pass_line();
    fence();
    return shared->line;
}

static int is_far(const struct plan *plan, int64_t line)
{
    return plan->near > 0 && line > 3 * plan->near;
}

/* The same, when the processors are near, or after a while. */
static int64_t wait_until_near(const struct plan *plan)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    int64_t line = measure_line();

    while (is_far(plan, line) && naps++ < NAPS) {
        nanosleep(&nap, NULL);
        line = measure_line();
    }
    return line;
}

static void say_line(const struct plan *plan)
{
    int64_t begun = clock_now_ns(), least = INT64_MAX;

    for (int more = 1; more;) {
        int64_t line = measure_line();

        least = line < least ? line : least;
        if (rank == 0)
            shared->next.calls = clock_now_ns() - begun < plan->line;
        more = fence().calls;
    }
    if (rank == 0)
        printf("%lld\n", (long long) least);
}

/* Measuring */

/* What hwmc counts; in a library without it there is no such variable. */
static int64_t read_node_calls(void)
{
    unsigned long long value = 0;
    int index, count;

    if (node_calls == MPI_T_PVAR_HANDLE_NULL &&
        MPI_T_pvar_get_index("hwmc_shm_calls", MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS)
        MPI_T_pvar_handle_alloc(session, index, NULL, &node_calls, &count);
    if (node_calls == MPI_T_PVAR_HANDLE_NULL)
        return -1;
    MPI_T_pvar_read(session, node_calls, &value);
    return (int64_t) value;
}

/* Rank 0, before a fence: how many calls the next sample has, by how long the one before took (0:
 * there was none). Not by its own time of that: a root may have been ahead. */
static void next_sample(struct cell *cell, const struct plan *plan, int64_t took)
{
    int64_t spent = clock_now_ns() - cell->begun;
    int impatient = spent >= PATIENCE * plan->budget;

    if (cell->steady) {
        cell->slot++;
    } else {
        int full = took >= cell->batch || cell->calls >= MAX_CALLS;
        int warm =
            cell->total >= WARM_CALLS || (cell->total >= LEAST_WARM && spent >= plan->budget / 4);

        if (!full && took > 0)
            cell->calls *= 2;
        cell->steady = (full && warm) || (impatient && cell->total > 0);
    }
    if (cell->slot >= plan->samples || (cell->slot >= plan->least && spent >= plan->budget) ||
        (cell->slot > 0 && impatient))
        cell->calls = 0;
    shared->next.calls = cell->calls;
    shared->next.slot = cell->slot;
    shared->next.slow = cell->total > 0 && spent / cell->total > plan->slow;
}

static void sample(struct cell *cell, const struct plan *plan, struct round round)
{
    struct span *span = &shared->spans[rank * plan->samples + round.slot];
    int count = (int) (cell->bytes / (int64_t) sizeof(double));
    int64_t stride = (cell->span + 128) / (int64_t) sizeof *send_pool;

    while (!crowded && clock_now_ns() < round.start)
        ;
    span->entry = clock_now_ns();
    for (int i = 0; i < round.calls; i++, cell->serial++) {
        int64_t at = cell->serial % cell->places * stride;
        int root = plan->rotate ? (int) (cell->serial % size) : 0;

        cell->op->call(send_pool + at, recv_pool + at, count, root);
    }
    span->exit = clock_now_ns();
}

/* Rank 0. starts: when each sample began. */
static void put(FILE *out, const struct cell *cell, const struct plan *plan, int calls,
                const int64_t *starts)
{
    for (int i = 0; i < cell->slot; i++) {
        int64_t time = 0, late = 0;

        for (int r = 0; r < size; r++) {
            const struct span *s = &shared->spans[r * plan->samples + i];

            time = s->exit - starts[i] > time ? s->exit - starts[i] : time;
            late = s->entry - starts[i] > late ? s->entry - starts[i] : late;
        }
        fprintf(out, "%s,%s,%lld,%d,%lld,%lld\n", cell->method, cell->op->name,
                (long long) cell->bytes, calls, (long long) time, (long long) late);
    }
}

/* Returns whether larger messages would take too long. starts: of plan->samples. *calls: of a
 * sample. */
static int take_samples(struct cell *cell, const struct plan *plan, int64_t *starts, int *calls)
{
    struct round last = {0}, round;
    int64_t took = 0;

    fence();
    cell->begun = clock_now_ns();
    cell->calls = 1;
    cell->steady = cell->slot = 0;
    cell->total = 0;
    for (;;) {
        if (rank == 0)
            next_sample(cell, plan, took);
        round = fence();
        if (round.calls == 0)
            break;
        /* Known only now: how long the sample before took. */
        took = last.calls == round.calls ? round.start - last.start : 0;
        last = round;
        starts[round.slot] = round.start;
        sample(cell, plan, round);
        cell->total += round.calls;
    }
    *calls = last.calls;
    return round.slow;
}

/* Returns as take_samples. */
static int measure(struct cell *cell, const struct plan *plan, FILE *out)
{
    int64_t *starts = calloc((size_t) plan->samples, sizeof *starts);
    int64_t before, grown, line, after;
    int tries = TRIES, slow, calls;

    if (starts == NULL)
        fail("no memory");
    do {
        line = wait_until_near(plan);
        before = read_node_calls();
        slow = take_samples(cell, plan, starts, &calls);
        grown = read_node_calls() - before;
        after = measure_line();
    } while (is_far(plan, after) && --tries > 0 && !slow);
    if (rank == 0) {
        put(out, cell, plan, calls, starts);
        fprintf(out, "# cell %s %s %lld calls %lld node %lld line %lld\n", cell->method,
                cell->op->name, (long long) cell->bytes, (long long) cell->total,
                before < 0 ? -1 : (long long) grown, (long long) (after > line ? after : line));
    }
    free(starts);
    return slow;
}

/* As take_samples. */
static int measure_op(const struct plan *plan, const struct op *op, int64_t bytes, FILE *out)
{
    int64_t span = span_of(op, bytes);
    int slow = 0;

    verify(op, bytes);
    for (int m = 0; m < plan->methods.num; m++) {
        struct cell cell = {.method = plan->methods.names[m], .op = op, .bytes = bytes};

        cell.span = span;
        cell.places = span >= COLD && span < plan->pool ? (int) (plan->pool / span) : 1;
        cell.batch = strcmp(cell.method, "loop") == 0 ? plan->batch : 0;
        slow |= measure(&cell, plan, out);
    }
    return slow;
}

/* The communicator is used a little first: some libraries are at their best only then. */
static void measure_all(const struct plan *plan, FILE *out)
{
    for (int i = 0; i < 2 * LEAST_WARM; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < plan->ops.num; i++) {
        const struct op *op = find_op(plan->ops.names[i]);
        int slow = 0;

        if (op->call == call_barrier)
            measure_op(plan, op, 0, out);
        for (int j = 0; j < plan->bytes.num && op->call != call_barrier && !slow; j++)
            slow = measure_op(plan, op, atoll(plan->bytes.names[j]), out);
    }
}

/* For the largest message of any op, and for the pool with a little between two places; written, so
 * that every page is there. */
static double *make_pool(const struct plan *plan)
{
    int64_t length = plan->pool;
    void *pool = NULL;

    for (int i = 0; i < plan->ops.num; i++)
        for (int j = 0; j < plan->bytes.num; j++) {
            int64_t span = span_of(find_op(plan->ops.names[i]), atoll(plan->bytes.names[j]));

            length = span > length ? span : length;
        }
    length += 128 * (plan->pool / COLD + 1);
    if (posix_memalign(&pool, 4096, (size_t) length) != 0)
        fail("no memory");
    memset(pool, 0, (size_t) length);
    return pool;
}

/* Cuts text at its commas. */
static int parse_list(struct list *list, char *text)
{
    list->num = 0;
    for (char *word = strtok(text, ","); word != NULL; word = strtok(NULL, ",")) {
        if (list->num == MAX_LIST)
            return 0;
        list->names[list->num++] = word;
    }
    return list->num > 0;
}

static int parse(struct plan *plan, int argc, char **argv)
{
    int good = 1;

    for (int i = 1; i < argc && good; i++) {
        char *value = strchr(argv[i], '=');

        value = value != NULL ? value + 1 : "";
        if (strncmp(argv[i], "-out=", 5) == 0)
            plan->out = value;
        else if (strncmp(argv[i], "-ops=", 5) == 0)
            good = parse_list(&plan->ops, value);
        else if (strncmp(argv[i], "-bytes=", 7) == 0)
            good = parse_list(&plan->bytes, value);
        else if (strncmp(argv[i], "-methods=", 9) == 0)
            good = parse_list(&plan->methods, value);
        else if (strncmp(argv[i], "-ms=", 4) == 0)
            plan->budget = (int64_t) (atof(value) * 1e6);
        else if (strncmp(argv[i], "-batch=", 7) == 0)
            plan->batch = (int64_t) (atof(value) * 1e3);
        else if (strncmp(argv[i], "-slow=", 6) == 0)
            plan->slow = (int64_t) (atof(value) * 1e6);
        else if (strncmp(argv[i], "-near=", 6) == 0)
            plan->near = atoll(value);
        else if (strncmp(argv[i], "-line=", 6) == 0)
            plan->line = (int64_t) (atof(value) * 1e6);
        else if (strncmp(argv[i], "-samples=", 9) == 0)
            plan->samples = atoi(value);
        else if (strncmp(argv[i], "-least=", 7) == 0)
            plan->least = atoi(value);
        else if (strncmp(argv[i], "-pool=", 6) == 0)
            plan->pool = atoll(value);
        else if (strcmp(argv[i], "-rotate") == 0)
            plan->rotate = 1;
        else
            good = 0;
    }
    for (int j = 0; j < plan->bytes.num; j++)
        good = good && atoll(plan->bytes.names[j]) >= 8 && atoll(plan->bytes.names[j]) % 8 == 0;
    return good && plan->out != NULL && plan->least > 0 && plan->samples >= plan->least;
}

static void write_all(const struct plan *plan)
{
    FILE *out = NULL;

    send_pool = make_pool(plan);
    recv_pool = make_pool(plan);
    if (rank == 0 && (out = fopen(plan->out, "w")) == NULL)
        fail("cannot write the file given as -out");
    measure_all(plan, out);
    if (rank == 0) {
        fprintf(out, "# end ranks %d crowded %d\n", size, crowded);
        if (fclose(out) != 0)
            fail("the file given as -out could not be written to its end");
    }
}

int main(int argc, char **argv)
{
    struct plan plan = {.ops = {4, {"barrier", "bcast", "reduce", "allreduce"}},
                        .bytes = {3, {"8", "4096", "1048576"}},
                        .methods = {2, {"each", "loop"}},
                        .budget = 50000000,
                        .batch = 1000000,
                        .slow = 200000000,
                        .samples = 1000,
                        .least = 5,
                        .pool = 64 << 20};
    int provided;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_T_pvar_session_create(&session);
    processors = (int) sysconf(_SC_NPROCESSORS_ONLN);
    crowded = size > processors;
    if (!parse(&plan, argc, argv))
        fail("usage: node_bench -out=FILE [-ops=NAME,...] [-bytes=N,...] [-methods=each,loop] "
             "[-ms=MS] "
             "[-samples=N] [-least=N] [-batch=US] [-slow=MS] [-pool=BYTES] [-rotate] [-near=NS] "
             "[-line=MS]");
    share(plan.out, plan.samples);
    if (plan.line > 0)
        say_line(&plan);
    else
        write_all(&plan);
    MPI_Finalize();
    return 0;
}
