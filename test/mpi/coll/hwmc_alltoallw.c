/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_families.h"

/* MPI_Alltoallw with what only it may have: a type for each part, which is freed once the call has
 * been made, or persistent requests were; no valid type where there are no elements; parts within
 * each other's gaps, before the buffer's beginning, or anywhere at all, from MPI_BOTTOM; in place.
 * Blocking, nonblocking with several under way, and persistent with other data at each start.
 *
 *   -rounds=N      rounds of each (20)
 *   -max=N         elements of a part, at most about (20000)
 *   -persistent    also persistent ones, which MPICH 4.0.2 has not right: where hwmc takes all
 *   -report        rank 0 prints all counters in the end */

#define RANKS 64
#define OUTSTANDING 3
#define POISON (-77)

enum layout {
    INTERLEAVED, /* part i has every size-th element from i on: they lie in each other's gaps */
    BACKWARDS,   /* each part is before the one before it, and the last ends where memory begins */
    ANYWHERE,    /* each part has memory of its own; the type knows where */
    LAYOUTS
};

/* What a rank gives or gets. */
struct side {
    enum layout layout;
    int *memory[RANKS]; /* of each part; not ANYWHERE: only the first */
    size_t ints;        /* there, not ANYWHERE */
    void *buffer;
    int counts[RANKS], displs[RANKS], elements[RANKS];
    MPI_Datatype types[RANKS];
};

struct call {
    enum hwtest_how how;
    MPI_Request request;
    MPI_Comm comm;
    bool in_place;
    int rank, size, most;
    uint64_t key;
    struct side out, in;
};

/* Alike both ways, so that parts can be exchanged in place. */
static int elements_of(const struct call *c, int a, int b)
{
    return (a + b) % 3 == 0 ? 0 : c->most + (a + b) % 5;
}

static int value_of(const struct call *c, int from, int to, int i)
{
    return (int) (hwtest_mix(c->key + (uint64_t) from * 1000003 + (uint64_t) to * 1009) >> 33) ^ i;
}

static int *element_at(const struct call *c, const struct side *s, int part, int i)
{
    if (s->layout == INTERLEAVED)
        return s->memory[0] + part + (size_t) i * (size_t) c->size;
    if (s->layout == ANYWHERE)
        return s->memory[part] + i;
    return (int *) ((char *) s->buffer + s->displs[part]) + i;
}

static void lay_part(const struct call *c, struct side *s, int part, int elements)
{
    MPI_Aint address;

    switch (s->layout) {
        case INTERLEAVED:
            MPI_Type_vector(elements, 1, c->size, MPI_INT, &s->types[part]);
            s->displs[part] = part * (int) sizeof(int);
            s->counts[part] = 1;
            break;
        case BACKWARDS:
            MPI_Type_contiguous(elements, MPI_INT, &s->types[part]);
            s->counts[part] = 1;
            break;
        default:
            s->memory[part] = hwtest_alloc((size_t) elements * sizeof(int));
            MPI_Get_address(s->memory[part], &address);
            MPI_Type_create_hindexed(1, &elements, &address, MPI_INT, &s->types[part]);
            s->counts[part] = 1;
    }
    MPI_Type_commit(&s->types[part]);
}

static void lay_out(const struct call *c, struct side *s, enum layout layout)
{
    const size_t longest = (size_t) c->most + 5;

    s->layout = layout;
    s->ints = longest * (size_t) c->size;
    s->memory[0] = layout == ANYWHERE ? NULL : hwtest_alloc(s->ints * sizeof(int));
    s->buffer = layout == ANYWHERE ? MPI_BOTTOM : s->memory[0];
    if (layout == BACKWARDS) /* behind all */
        s->buffer = s->memory[0] + s->ints;
    for (int i = 0; i < c->size; i++) {
        s->elements[i] = elements_of(c, c->rank, i);
        s->counts[i] = s->displs[i] = 0;
        s->types[i] = MPI_DATATYPE_NULL;
        if (layout == BACKWARDS)
            s->displs[i] = -(i + 1) * (int) (longest * sizeof(int));
        if (layout == ANYWHERE)
            s->memory[i] = NULL;
        if (s->elements[i] > 0)
            lay_part(c, s, i, s->elements[i]);
    }
}

static void free_types(const struct call *c, struct side *s)
{
    for (int i = 0; i < c->size; i++)
        if (s->elements[i] > 0)
            MPI_Type_free(&s->types[i]);
}

static void free_memory(const struct call *c, struct side *s)
{
    for (int i = 0; i < (s->layout == ANYWHERE ? c->size : 1); i++)
        free(s->memory[i]);
}

static void fill(struct call *c)
{
    struct side *gives = c->in_place ? &c->in : &c->out;

    for (size_t i = 0; c->in.layout != ANYWHERE && i < c->in.ints; i++)
        c->in.memory[0][i] = POISON;
    for (int part = 0; part < c->size; part++) {
        for (int i = 0; i < c->in.elements[part]; i++)
            *element_at(c, &c->in, part, i) = POISON;
        for (int i = 0; i < gives->elements[part]; i++)
            *element_at(c, gives, part, i) = value_of(c, c->rank, part, i);
    }
}

static int check(struct call *c)
{
    static int printed;
    size_t poison = 0, gaps = c->in.ints;

    hwtest_done++;
    for (int part = 0; part < c->size; part++)
        for (int i = 0; i < c->in.elements[part]; i++, gaps--) {
            const int got = *element_at(c, &c->in, part, i);

            if (got == value_of(c, part, c->rank, i))
                continue;
            if (printed++ < HWTEST_MAX_PRINTED)
                printf("rank %d: layouts %d and %d%s, about %d elements: element %d of rank %d's "
                       "part is wrong\n",
                       c->rank, c->out.layout, c->in.layout, c->in_place ? ", in place" : "",
                       c->most, i, part);
            fflush(stdout);
            return 1;
        }
    for (size_t i = 0; c->in.layout != ANYWHERE && i < c->in.ints; i++)
        poison += c->in.memory[0][i] == POISON;
    if (c->in.layout == ANYWHERE || poison >= gaps)
        return 0;
    printf("rank %d: %zu elements are changed that are in no part\n", c->rank, gaps - poison);
    return 1;
}

static void issue(struct call *c)
{
    void *from = c->in_place ? MPI_IN_PLACE : c->out.buffer;

    HWTEST_ISSUE(Alltoallw, alltoallw, from, c->out.counts, c->out.displs, c->out.types,
                 c->in.buffer, c->in.counts, c->in.displs, c->in.types, c->comm);
}

static void begin(struct call *c, MPI_Comm comm, enum hwtest_how how, uint64_t *state, int most)
{
    memset(c, 0, sizeof(*c));
    c->how = how;
    c->comm = comm;
    MPI_Comm_rank(comm, &c->rank);
    MPI_Comm_size(comm, &c->size);
    c->most = 1 + (int) hwtest_random_bytes(state, (size_t) most);
    c->key = *state;
    c->in_place = hwtest_random(state, 3) == 0;
    lay_out(c, &c->out, (enum layout) hwtest_random(state, LAYOUTS));
    lay_out(c, &c->in, (enum layout) hwtest_random(state, LAYOUTS));
    fill(c);
    issue(c);
    if (how != HWTEST_PERSISTS) {
        free_types(c, &c->out);
        free_types(c, &c->in);
    }
}

static void end(struct call *c)
{
    free_memory(c, &c->out);
    free_memory(c, &c->in);
}

static int several(MPI_Comm comm, enum hwtest_how how, uint64_t *state, int most)
{
    struct call calls[OUTSTANDING];
    int errs = 0;

    for (int i = 0; i < OUTSTANDING; i++)
        begin(&calls[i], comm, how, state, most);
    for (int i = 0; i < OUTSTANDING; i++) {
        if (how == HWTEST_STARTS)
            MPI_Wait(&calls[i].request, MPI_STATUS_IGNORE);
        errs += check(&calls[i]);
        end(&calls[i]);
    }
    return errs;
}

#if MPI_VERSION >= 4
/* Each rank starts them in another order. */
static int again(MPI_Comm comm, uint64_t *state, int most)
{
    struct call calls[OUTSTANDING];
    int errs = 0;

    for (int i = 0; i < OUTSTANDING; i++)
        begin(&calls[i], comm, HWTEST_PERSISTS, state, most);
    for (int start = 0; start < 3; start++) {
        for (int i = 0; i < OUTSTANDING; i++) {
            calls[i].key = *state + (uint64_t) (3 * start + i);
            fill(&calls[i]);
        }
        for (int i = 0; i < OUTSTANDING; i++)
            MPI_Start(&calls[(i + calls[0].rank) % OUTSTANDING].request);
        for (int i = 0; i < OUTSTANDING; i++) {
            MPI_Wait(&calls[i].request, MPI_STATUS_IGNORE);
            errs += check(&calls[i]);
        }
    }
    for (int i = 0; i < OUTSTANDING; i++) {
        MPI_Request_free(&calls[i].request);
        free_types(&calls[i], &calls[i].out);
        free_types(&calls[i], &calls[i].in);
        end(&calls[i]);
    }
    return errs;
}
#else
static int again(MPI_Comm comm, uint64_t *state, int most)
{
    return several(comm, HWTEST_WAITS, state, most);
}
#endif

static bool is_ours(const char *name)
{
    return strncmp(name, "hwmc_", 5) == 0;
}

int main(int argc, char **argv)
{
    int errs = 0, rounds, most, size, provided;
    const bool persistent = hwtest_flag(argc, argv, "-persistent");
    uint64_t state = 1;
    MPI_Comm reversed;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MTest_Init(&argc, &argv);
    rounds = (int) hwtest_option(argc, argv, "-rounds", 20);
    most = (int) hwtest_option(argc, argv, "-max", 20000);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > RANKS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -size, &reversed);
    for (int r = 0; r < rounds; r++) {
        MPI_Comm comm = r % 2 == 0 ? MPI_COMM_WORLD : reversed;

        errs += several(comm, HWTEST_STARTS, &state, most);
        errs += several(comm, HWTEST_WAITS, &state, most);
        if (persistent)
            errs += again(comm, &state, most);
    }
    MPI_Comm_free(&reversed);
    if (hwtest_flag(argc, argv, "-report"))
        hwtest_print_counters(is_ours);
    errs = hwtest_finish(errs);
    MPI_T_finalize();
    return errs;
}
