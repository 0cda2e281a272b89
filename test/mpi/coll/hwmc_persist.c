/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include <pthread.h>
#include "hwmc_families.h"

/* Persistent collectives that each rank starts in an order of its own, as MPI allows: among each
 * other, and among blocking and nonblocking collectives of the same communicator; with different
 * roots, and buffers that change between starts; hundreds of them; freed while others run; on a
 * communicator that is freed before they are over; and by several threads at once.
 *
 *   -max=BYTES     the longest (100000)
 *   -rounds=N      rounds of each kind (20)
 *   -many=N        so many requests at once (200)
 *   -threads=N     threads that start requests of one communicator (1)
 *   -leave         some requests are not freed before MPI_Finalize
 *   -mpichs        all of them are MPICH's, by control variable
 *   -bcasts        broadcasts alone: MPICH 4.0 copies what ranks have for themselves in other
 *                  persistent collectives at initialization, not at a start
 *
 * With HWTEST_NODE=1 in the environment each of some starts must have run over the memory of the
 * host; with HWTEST_MULTICAST=1 or HWTEST_TREES=1 over hwmc's network. */

#define SOME 12
#define MOST_THREADS 8

static size_t max_bytes;
static int rounds, many, threads;
static bool only_bcasts, leaves;
static uint64_t key;

#if MPI_VERSION >= 4

/* An order of `num` that each rank draws by itself. */
static void shuffle(int *order, int num, uint64_t *own)
{
    for (int i = 0; i < num; i++) {
        int at = (int) hwtest_random(own, (uint64_t) i + 1);

        order[i] = order[at];
        order[at] = i;
    }
}

static uint64_t own_state(uint64_t seed)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return hwtest_mix(seed) + (uint64_t) rank * 1000003;
}

/* Calls of all kinds, every other one a broadcast. */
static void init_calls(struct hwtest_call *calls, MPI_Comm comm, uint64_t *state)
{
    int size;

    MPI_Comm_size(comm, &size);
    for (int i = 0; i < SOME; i++) {
        struct hwtest_call *c = &calls[i];

        hwtest_call_init(c, comm, hwtest_families_room(max_bytes, size));
        do
            hwtest_any_set(c, state, max_bytes);
        while ((only_bcasts || i % 2 == 0) && strcmp(c->name, "bcast") != 0);
        hwtest_family_prepare(c, *state);
        hwtest_family_issue(c, HWTEST_PERSISTS);
    }
}

/* Starts some, in this rank's order. */
static void start_calls(struct hwtest_call *calls, const int *order, int num, bool at_once)
{
    MPI_Request requests[SOME];

    for (int i = 0; i < num; i++)
        requests[i] = calls[order[i]].request;
    if (at_once)
        MPI_Startall(num, requests);
    for (int i = 0; i < num && !at_once; i++)
        MPI_Start(&requests[i]);
    for (int i = 0; i < num; i++)
        calls[order[i]].request = requests[i];
}

static int complete_calls(struct hwtest_call *calls, int manner)
{
    MPI_Request requests[SOME];
    int errs = 0;

    for (int i = 0; i < SOME; i++)
        requests[i] = calls[i].request;
    hwtest_complete_all(requests, SOME, manner);
    for (int i = 0; i < SOME; i++) {
        calls[i].request = requests[i];
        errs += hwtest_family_check(&calls[i]);
    }
    return errs;
}

static void free_calls(struct hwtest_call *calls)
{
    for (int i = 0; i < SOME; i++) {
        MPI_Request_free(&calls[i].request);
        hwtest_call_free(&calls[i]);
    }
}

/* Other collectives come between them, at each rank at another place. */
static int in_any_order(MPI_Comm comm, uint64_t seed)
{
    struct hwtest_call calls[SOME], between;
    int errs = 0, rank, size, order[SOME];
    uint64_t state = seed, own = own_state(seed);

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    hwtest_call_init(&between, comm, hwtest_families_room(max_bytes, size));
    init_calls(calls, comm, &state);
    for (int r = 0; r < rounds; r++) {
        int first = (int) hwtest_random(&own, SOME + 1), one = 1, sum = 0;
        MPI_Request nonblocking;

        for (int i = 0; i < SOME; i++)
            hwtest_family_prepare(&calls[i], ++state);
        shuffle(order, SOME, &own);
        start_calls(calls, order, first, r % 2 == 0);
        errs += hwtest_any_call(&between, &state, max_bytes);
        MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &nonblocking);
        start_calls(calls, order + first, SOME - first, hwtest_random(&own, 2) == 0);
        if (hwtest_random(&own, 2) == 0)
            MPI_Wait(&nonblocking, MPI_STATUS_IGNORE);
        errs += complete_calls(calls, r + rank);
        MPI_Wait(&nonblocking, MPI_STATUS_IGNORE);
        errs += sum != size;
    }
    free_calls(calls);
    hwtest_call_free(&between);
    return errs;
}

/* All ranks start the first half before a blocking collective, and some of them wait for it first:
 * so the others must go on with it from inside the blocking one. */
static int waited_for_before(MPI_Comm comm, uint64_t seed)
{
    const int half = SOME / 2;
    struct hwtest_call calls[SOME], between;
    int errs = 0, size, order[SOME];
    uint64_t state = seed, own = own_state(seed);

    MPI_Comm_size(comm, &size);
    hwtest_call_init(&between, comm, hwtest_families_room(max_bytes, size));
    init_calls(calls, comm, &state);
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < SOME; i++)
            hwtest_family_prepare(&calls[i], ++state);
        shuffle(order, half, &own);
        start_calls(calls, order, half, false);
        for (int i = 0; i < half && hwtest_random(&own, 2) == 0; i++)
            MPI_Wait(&calls[order[i]].request, MPI_STATUS_IGNORE);
        errs += hwtest_any_call(&between, &state, max_bytes);
        shuffle(order, SOME - half, &own);
        for (int i = 0; i < SOME - half; i++)
            MPI_Start(&calls[half + order[i]].request);
        errs += hwtest_any_call(&between, &state, max_bytes);
        errs += complete_calls(calls, r);
    }
    free_calls(calls);
    hwtest_call_free(&between);
    return errs;
}

/* Broadcasts, mostly short ones, from all roots by turns. */
struct messages {
    MPI_Request *requests;
    unsigned char **bufs;
    size_t *bytes;
    uint64_t *keys;
    int *order;
    int num, rank, size;
};

static void init_messages(struct messages *m, MPI_Comm comm, int num, size_t most)
{
    *m = (struct messages){.requests = malloc((size_t) num * sizeof(*m->requests)),
                           .bufs = malloc((size_t) num * sizeof(*m->bufs)),
                           .bytes = malloc((size_t) num * sizeof(*m->bytes)),
                           .keys = malloc((size_t) num * sizeof(*m->keys)),
                           .order = malloc((size_t) num * sizeof(*m->order)),
                           .num = num};
    MPI_Comm_rank(comm, &m->rank);
    MPI_Comm_size(comm, &m->size);
    for (int i = 0; i < num; i++) {
        m->bytes[i] = 1 + (i % 20 == 7 ? most - 1 : (size_t) i * 13 % 1000);
        m->bufs[i] = hwtest_alloc(m->bytes[i]);
        MPI_Bcast_init(m->bufs[i], (int) m->bytes[i], MPI_BYTE, i % m->size, comm, MPI_INFO_NULL,
                       &m->requests[i]);
    }
}

static void prepare_messages(struct messages *m, int from)
{
    for (int i = from; i < m->num; i++) {
        m->keys[i] = key + (uint64_t) i;
        hwtest_prepare(m->bufs[i], m->bytes[i], i % m->size == m->rank, m->keys[i]);
    }
    key += (uint64_t) m->num;
}

static int verify_messages(const struct messages *m, int from)
{
    int errs = 0;

    for (int i = from; i < m->num; i++)
        errs += hwtest_verify(m->bufs[i], m->bytes[i], m->keys[i], "persistent broadcast");
    return errs;
}

static void free_messages(struct messages *m, int from)
{
    for (int i = from; i < m->num; i++)
        MPI_Request_free(&m->requests[i]);
    for (int i = 0; i < m->num; i++)
        free(m->bufs[i]);
    free(m->requests);
    free(m->bufs);
    free(m->bytes);
    free(m->keys);
    free(m->order);
}

/* The first of them are freed while the others run. */
static int hundreds(MPI_Comm comm)
{
    const int half = many / 2;
    uint64_t own = own_state(9);
    struct messages m;
    int errs = 0;

    init_messages(&m, comm, many, max_bytes);
    for (int r = 0; r < 3; r++) {
        shuffle(m.order, many, &own);
        prepare_messages(&m, 0);
        for (int i = 0; i < many; i++)
            MPI_Start(&m.requests[m.order[i]]);
        MPI_Waitall(many, m.requests, MPI_STATUSES_IGNORE);
        errs += verify_messages(&m, 0);
    }
    prepare_messages(&m, half);
    MPI_Startall(many - half, m.requests + half);
    shuffle(m.order, half, &own);
    for (int i = 0; i < half; i++)
        MPI_Request_free(&m.requests[m.order[i]]);
    MPI_Waitall(many - half, m.requests + half, MPI_STATUSES_IGNORE);
    errs += verify_messages(&m, half);
    free_messages(&m, half);
    return errs;
}

/* Requests that come and go, on communicators that do; of some, the communicator goes first. */
static int coming_and_going(MPI_Comm parent)
{
    int errs = 0;

    for (int r = 0; r < rounds; r++) {
        struct messages m;
        MPI_Comm comm = parent;

        if (r % 3 > 0)
            MPI_Comm_dup(parent, &comm);
        init_messages(&m, comm, 3, max_bytes);
        prepare_messages(&m, 0);
        MPI_Start(&m.requests[m.rank % 3]);
        MPI_Start(&m.requests[(m.rank + 2) % 3]);
        MPI_Start(&m.requests[(m.rank + 1) % 3]);
        if (r % 3 == 1)
            MPI_Comm_free(&comm);
        MPI_Waitall(3, m.requests, MPI_STATUSES_IGNORE);
        errs += verify_messages(&m, 0);
        free_messages(&m, 0);
        if (r % 3 == 2)
            MPI_Comm_free(&comm);
    }
    return errs;
}

/* A request that is freed while its broadcast is under way is complete some time later. */
static int freed_while_under_way(MPI_Comm comm)
{
    struct messages m;
    int errs = 0, flag;

    init_messages(&m, comm, 4, max_bytes);
    prepare_messages(&m, 0);
    for (int i = 0; i < 4; i++)
        MPI_Start(&m.requests[(i + m.rank) % 4]);
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&m.requests[i]);
    for (int i = 0; i < 4; i++) {
        unsigned char *want = hwtest_alloc(m.bytes[i]);

        hwtest_fill(want, m.bytes[i], m.keys[i]);
        while (memcmp(want, m.bufs[i], m.bytes[i]) != 0)
            MPI_Iprobe(MPI_ANY_SOURCE, 1, comm, &flag, MPI_STATUS_IGNORE);
        free(want);
    }
    MPI_Barrier(comm); /* the memory of roots is theirs again */
    errs += verify_messages(&m, 0);
    free_messages(&m, 4);
    return errs;
}

struct starter {
    pthread_t thread;
    struct messages m;
    uint64_t own;
    int errs;
};

static void *start_again(void *arg)
{
    struct starter *s = arg;

    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < s->m.num; i++) {
            s->m.keys[i] = (uint64_t) r * 100 + (uint64_t) i;
            hwtest_prepare(s->m.bufs[i], s->m.bytes[i], i % s->m.size == s->m.rank, s->m.keys[i]);
        }
        shuffle(s->m.order, s->m.num, &s->own);
        for (int i = 0; i < s->m.num; i++)
            MPI_Start(&s->m.requests[s->m.order[i]]);
        MPI_Waitall(s->m.num, s->m.requests, MPI_STATUSES_IGNORE);
        s->errs += verify_messages(&s->m, 0);
    }
    return NULL;
}

static int by_threads(MPI_Comm comm)
{
    struct starter starters[MOST_THREADS];
    int errs = 0;

    for (int i = 0; i < threads; i++) {
        starters[i] = (struct starter){.own = own_state((uint64_t) i)};
        init_messages(&starters[i].m, comm, 5, max_bytes);
    }
    for (int i = 0; i < threads; i++)
        pthread_create(&starters[i].thread, NULL, start_again, &starters[i]);
    for (int i = 0; i < threads; i++)
        pthread_join(starters[i].thread, NULL);
    for (int i = 0; i < threads; i++) {
        errs += starters[i].errs;
        free_messages(&starters[i].m, 0);
    }
    return errs;
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);

    return value && strcmp(value, "1") == 0;
}

/* Where the environment says so: each start was one that hwmc ran, or with -mpichs none was. */
static int counted(MPI_Comm comm, bool by_mpich)
{
    const char *counter = is_set("HWTEST_NODE")                                  ? "hwmc_shm_calls"
                          : is_set("HWTEST_MULTICAST") || is_set("HWTEST_TREES") ? "hwmc_calls"
                                                                                 : NULL;
    unsigned long long before = counter ? hwtest_counter(counter) : 0, ran;
    struct messages m;
    int errs = 0;

    init_messages(&m, comm, 6, max_bytes);
    for (int r = 0; r < 4; r++) {
        prepare_messages(&m, 0);
        for (int i = 0; i < 6; i++)
            MPI_Start(&m.requests[(i + m.rank) % 6]);
        MPI_Waitall(6, m.requests, MPI_STATUSES_IGNORE);
        errs += verify_messages(&m, 0);
    }
    free_messages(&m, 0);
    ran = counter ? hwtest_counter(counter) - before : 0;
    MPI_Barrier(comm); /* one for hwtest_finish where the others are MPICH's */
    if (counter && ran != (by_mpich ? 0 : 24)) {
        printf("rank %d: hwmc ran %llu of 24 persistent broadcasts\n", m.rank, ran);
        errs++;
    }
    return errs;
}

/* Nobody frees them; the last ones were never started. */
static int left_to_finalize(MPI_Comm comm)
{
    struct messages m;
    int errs = 0;

    init_messages(&m, comm, 12, max_bytes);
    prepare_messages(&m, 0);
    for (int i = 0; i < 8; i++)
        MPI_Start(&m.requests[(i + m.rank) % 8]);
    MPI_Waitall(8, m.requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 8; i++)
        errs += hwtest_verify(m.bufs[i], m.bytes[i], m.keys[i], "left to MPI_Finalize");
    return errs;
}

static int persist(bool by_mpich)
{
    int errs = 0, rank, size;
    MPI_Comm half;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > 1)
        errs += counted(MPI_COMM_WORLD, by_mpich);
    errs += in_any_order(MPI_COMM_WORLD, 1);
    errs += waited_for_before(MPI_COMM_WORLD, 4);
    errs += hundreds(MPI_COMM_WORLD);
    errs += coming_and_going(MPI_COMM_WORLD);
    if (!by_mpich) /* MPI leaves that open */
        errs += freed_while_under_way(MPI_COMM_WORLD);
    if (threads > 1)
        errs += by_threads(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    errs += in_any_order(half, 2);
    errs += waited_for_before(half, 5);
    MPI_Comm_free(&half);
    errs += coming_and_going(MPI_COMM_SELF);
    if (leaves)
        errs += left_to_finalize(MPI_COMM_WORLD);
    return errs;
}
#else
static int persist(bool by_mpich)
{
    (void) by_mpich;
    return 0;
}
#endif

int main(int argc, char **argv)
{
    int errs, provided;

    threads = (int) hwtest_option(argc, argv, "-threads", 1);
    hwtest_settle(argc, argv);
    MTest_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                      &provided);
    max_bytes = (size_t) hwtest_option(argc, argv, "-max", 100000);
    rounds = (int) hwtest_option(argc, argv, "-rounds", 20);
    only_bcasts = hwtest_flag(argc, argv, "-bcasts");
    leaves = hwtest_flag(argc, argv, "-leave");
    many = (int) hwtest_option(argc, argv, "-many", 200);
    threads = provided == MPI_THREAD_MULTIPLE && threads <= MOST_THREADS ? threads : 1;
    errs = persist(hwtest_flag(argc, argv, "-mpichs"));
    return hwtest_finish(errs);
}
