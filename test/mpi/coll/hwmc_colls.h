/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_TEST_MPI_COLLS_H_INCLUDED
#define HWMC_TEST_MPI_COLLS_H_INCLUDED

/* What hwmc_colls calls, each collective with typed data: its memory before, the call, and what its
 * memory must be after it. For hwmc_colls.c alone. */

#include "hwmc_families.h" /* the forms of a call */
#include "hwmc_blocks.h"
#include "hwmc_reductions.h"

#define OUTSTANDING 4
#define COMMS 7

enum mover { BCAST, GATHER, SCATTER, ALLGATHER, ALLTOALL, ALLTOALLW };

struct call;

/* A collective. Vector forms are of their own. */
struct family {
    const char *name;
    void (*prepare)(struct call *c);
    void (*issue)(struct call *c);
    int which; /* of those with the same `prepare` */
    bool rooted, has_in_place, vector;
};

struct call {
    bool busy; /* nonblocking, under way */
    MPI_Comm comm;
    int comm_index, rank, size, root;
    int step;
    const struct family *family;
    enum hwtest_how how;
    MPI_Request request;
    bool in_place, apart;
    uint64_t key;
    size_t bytes; /* of a block, about */
    /* moves data */
    const struct hwtest_kind *sends, *receives;
    struct hwtest_side out, in;
    /* reduces */
    const struct hwtest_reduction *reduction;
    int counts[HWTEST_RANKS]; /* by rank, of reduce_scatter; else counts[0] */
    size_t total, from, got;  /* elements: given; the first of the result, and how many of it */
    size_t span;              /* bytes behind the result's first that are not MPI's to change */
    struct hwtest_memory give, result;
    /* either */
    struct hwtest_memory want;
    double came; /* to a barrier */
};

static uint64_t seed;
static struct call calls[OUTSTANDING];
static const char *const comm_names[COMMS] = {"world",      "host by host", "reversed, odd or even",
                                              "some hosts", "backwards",    "one host",
                                              "itself"};

static int complain(const struct call *c, const char *what, long where)
{
    static int printed;

    if (printed++ < HWTEST_MAX_PRINTED) {
        printf("seed %llu, step %d: %s%s, rank %d of %d (%s), root %d, %s: %s, the first at %ld\n",
               (unsigned long long) seed, c->step, c->family->name, c->in_place ? " in place" : "",
               c->rank, c->size, comm_names[c->comm_index], c->root,
               c->reduction ? c->reduction->name
               : c->sends   ? c->sends->name
                            : "",
               what, where);
        fflush(stdout);
    }
    return 1;
}

static void free_memory(struct hwtest_memory *m)
{
    free(m->base);
    m->base = NULL;
}

/* Moving data */

/* Elements of the type of `c->sends`: what `from` has for `to`. In place two ranks exchange blocks
 * of one length. */
static int elements(const struct call *c, int from, int to)
{
    const int each = (int) (c->bytes / (size_t) c->sends->size);

    if (!c->family->vector)
        return each;
    if ((from + to) % 3 == 2)
        return 0;
    return each + (c->in_place ? from + to : 2 * from + to) % 5;
}

static uint64_t block_key(const struct call *c, int from, int to)
{
    return hwtest_mix(c->key) + (uint64_t) from * HWTEST_RANKS + (uint64_t) to;
}

/* Sets block i of a side, from `from` to `to`. */
static void set_block(const struct call *c, struct hwtest_side *s, int i, int from, int to,
                      const struct hwtest_kind *kind)
{
    if (c->family->which == ALLTOALLW && (from + to) % 2 == 1)
        kind = kind == c->sends ? c->receives : c->sends;
    s->kinds[i] = kind;
    s->counts[i] = elements(c, from, to) * c->sends->per_element / kind->per_element;
}

/* Who the blocks are from and for, that a rank sends or receives: of which it has one, or one of
 * each rank. */
static bool sends_each(const struct call *c)
{
    const int which = c->family->which;

    return which == ALLTOALL || which == ALLTOALLW || (which == SCATTER && c->rank == c->root);
}

static bool gets_each(const struct call *c)
{
    const int which = c->family->which;

    return which == ALLTOALL || which == ALLTOALLW || which == ALLGATHER ||
           (which == GATHER && c->rank == c->root);
}

static int receiver(const struct call *c, int i)
{
    return sends_each(c) ? i : c->family->which == GATHER ? c->root : 0;
}

static int sender(const struct call *c, int i)
{
    return gets_each(c) ? i : c->family->which == SCATTER ? c->root : 0;
}

/* Where the data for the receiver `rank` are from; those that go to all are for rank 0. */
static int meant_for(const struct call *c)
{
    const int which = c->family->which;

    return which == ALLGATHER || which == BCAST ? 0 : c->rank;
}

static bool gives(const struct call *c)
{
    return c->family->which != SCATTER || c->rank == c->root;
}

static bool gets(const struct call *c)
{
    return c->family->which != GATHER || c->rank == c->root;
}

/* This rank's memory is given and got at once. */
static bool is_in_place(const struct call *c)
{
    return c->in_place && (!c->family->rooted || c->rank == c->root);
}

static void lay_out_moves(struct call *c)
{
    const bool mixed = c->family->which == ALLTOALLW;

    c->out.num = gives(c) ? (sends_each(c) ? c->size : 1) : 0;
    c->in.num = gets(c) ? (gets_each(c) ? c->size : 1) : 0;
    for (int i = 0; i < c->out.num; i++)
        set_block(c, &c->out, i, c->rank, receiver(c, i), c->sends);
    for (int i = 0; i < c->in.num; i++)
        set_block(c, &c->in, i, sender(c, i), meant_for(c), c->receives);
    hwtest_lay_out_side(&c->out, c->apart && sends_each(c) && c->family->vector, mixed);
    hwtest_lay_out_side(&c->in, c->apart && gets_each(c) && c->family->vector, mixed);
}

/* All memory before the call, and `want` as `in` must be after it. */
static void prepare_moves(struct call *c)
{
    lay_out_moves(c);
    c->out.memory = hwtest_new_memory(c->out.span);
    c->in.memory = hwtest_new_memory(c->in.span);
    c->want = hwtest_new_memory(c->in.span);
    for (int i = 0; i < c->out.num; i++)
        hwtest_write_block(&c->out, i, &c->out.memory, block_key(c, c->rank, receiver(c, i)));
    for (int i = 0; i < c->in.num; i++) {
        const int from = sender(c, i);
        const uint64_t key = block_key(c, from, meant_for(c));

        /* A root that scatters in place receives nothing. */
        if (c->family->which != SCATTER || !is_in_place(c))
            hwtest_write_block(&c->in, i, &c->want, key);
        if (!is_in_place(c))
            continue;
        if (c->family->which == ALLTOALL || c->family->which == ALLTOALLW)
            hwtest_write_block(&c->in, i, &c->in.memory, block_key(c, c->rank, from));
        else if (c->family->which != SCATTER && from == c->rank)
            hwtest_write_block(&c->in, i, &c->in.memory, key);
    }
}

/* Data of the root are for all, under the root's key. */
static void prepare_bcast(struct call *c)
{
    const bool is_root = c->rank == c->root;

    c->in.num = 1;
    c->out.num = 0;
    set_block(c, &c->in, 0, c->root, 0, is_root ? c->sends : c->receives);
    hwtest_lay_out_side(&c->in, false, false);
    c->in.memory = hwtest_new_memory(c->in.span);
    c->want = hwtest_new_memory(c->in.span);
    hwtest_write_block(&c->in, 0, &c->want, block_key(c, c->root, 0));
    if (is_root)
        hwtest_write_block(&c->in, 0, &c->in.memory, block_key(c, c->root, 0));
}

static void *given(struct call *c)
{
    return is_in_place(c) && c->family->which != SCATTER ? MPI_IN_PLACE : c->out.memory.origin;
}

/* Counts and types for who gives or gets nothing are not looked at. */
#define OUT c->out.counts[0], c->sends->type
#define IN c->in.counts[0], c->receives->type

static void issue_bcast(struct call *c)
{
    HWTEST_ISSUE(Bcast, bcast, c->in.memory.origin, c->in.counts[0], c->in.kinds[0]->type, c->root,
                 c->comm);
}

static void issue_gather(struct call *c)
{
    if (c->family->vector)
        HWTEST_ISSUE(Gatherv, gatherv, given(c), OUT, c->in.memory.origin, c->in.counts,
                     c->in.places, c->receives->type, c->root, c->comm);
    else
        HWTEST_ISSUE(Gather, gather, given(c), OUT, c->in.memory.origin, IN, c->root, c->comm);
}

static void issue_scatter(struct call *c)
{
    void *to = is_in_place(c) ? MPI_IN_PLACE : c->in.memory.origin;

    if (c->family->vector)
        HWTEST_ISSUE(Scatterv, scatterv, c->out.memory.origin, c->out.counts, c->out.places,
                     c->sends->type, to, IN, c->root, c->comm);
    else
        HWTEST_ISSUE(Scatter, scatter, c->out.memory.origin, OUT, to, IN, c->root, c->comm);
}

static void issue_allgather(struct call *c)
{
    if (c->family->vector)
        HWTEST_ISSUE(Allgatherv, allgatherv, given(c), OUT, c->in.memory.origin, c->in.counts,
                     c->in.places, c->receives->type, c->comm);
    else
        HWTEST_ISSUE(Allgather, allgather, given(c), OUT, c->in.memory.origin, IN, c->comm);
}

static void issue_alltoall(struct call *c)
{
    if (c->family->vector)
        HWTEST_ISSUE(Alltoallv, alltoallv, given(c), c->out.counts, c->out.places, c->sends->type,
                     c->in.memory.origin, c->in.counts, c->in.places, c->receives->type, c->comm);
    else
        HWTEST_ISSUE(Alltoall, alltoall, given(c), OUT, c->in.memory.origin, IN, c->comm);
}

/* MPI keeps the arrays of a call until it is complete. */
static void issue_alltoallw(struct call *c)
{
    static MPI_Datatype types[OUTSTANDING + 1][2][HWTEST_RANKS];
    const int slot = c >= calls && c < calls + OUTSTANDING ? (int) (c - calls) : OUTSTANDING;

    for (int i = 0; i < c->size; i++) {
        types[slot][0][i] = c->out.kinds[i]->type;
        types[slot][1][i] = c->in.kinds[i]->type;
    }
    HWTEST_ISSUE(Alltoallw, alltoallw, given(c), c->out.counts, c->out.at, types[slot][0],
                 c->in.memory.origin, c->in.counts, c->in.at, types[slot][1], c->comm);
}

static int check_moves(struct call *c)
{
    char what[80];
    long where, element;
    int block;

    if (!hwtest_find_difference(&c->want, &c->in.memory, &where))
        return 0;
    element = hwtest_element_at(&c->in, where, &block);
    if (element < 0)
        return complain(c, "bytes outside of all data", where);
    snprintf(what, sizeof(what), "wrong elements, or gaps in them, in block %d of %d", block,
             c->in.counts[block]);
    return complain(c, what, element);
}

/* Reductions */

enum reducer { REDUCE, ALLREDUCE, SCAN, EXSCAN, REDUCE_SCATTER };

/* Elements of each rank's part, and this rank's. */
static void divide(struct call *c, size_t each)
{
    for (int i = 0; i < c->size; i++) {
        c->counts[i] = (int) each;
        if (c->family->vector)
            c->counts[i] = i % 3 == 1 ? 0 : (int) each + i % 5;
        c->from = i == c->rank ? c->total : c->from;
        c->total += (size_t) c->counts[i];
    }
    c->got = (size_t) c->counts[c->rank];
}

/* How much the call is about, and what of the result this rank gets, of how many ranks' data. */
static int set_reduction(struct call *c)
{
    const size_t elements = c->bytes / c->reduction->extent;

    c->from = c->total = 0;
    if (c->family->which == REDUCE_SCATTER) {
        divide(c, elements / (size_t) c->size);
        return c->size;
    }
    c->counts[0] = (int) elements;
    c->total = c->got = elements;
    if (c->family->which == SCAN)
        return c->rank + 1;
    if (c->family->which == EXSCAN)
        return c->rank;
    return c->family->which == REDUCE && c->rank != c->root ? 0 : c->size;
}

static void prepare_reduction(struct call *c)
{
    const struct hwtest_reduction *r = c->reduction;
    const int ranks = set_reduction(c);
    const size_t bytes = c->total * r->extent;

    c->got = ranks > 0 ? c->got : 0;
    c->give = hwtest_new_memory(bytes);
    c->result = hwtest_new_memory(bytes);
    c->want = hwtest_new_memory(bytes);
    for (size_t i = 0; i < c->total; i++)
        hwtest_draw_element(r, (is_in_place(c) ? c->result : c->give).origin + i * r->extent,
                            c->key, c->rank, i);
    for (size_t i = 0; i < c->got; i++)
        hwtest_reduce_element(r, c->want.origin + i * r->extent, c->key, ranks, c->from + i);
    /* In place, what is behind the result is MPI's, and rank 0's after an MPI_Exscan. */
    c->span = is_in_place(c) ? bytes : c->got * r->extent;
    if (c->family->which == EXSCAN && c->rank == 0)
        c->span = bytes;
}

#define REDUCED is_in_place(c) ? MPI_IN_PLACE : (void *) c->give.origin, c->result.origin
#define BY c->reduction->type, c->reduction->op

static void issue_reduce(struct call *c)
{
    HWTEST_ISSUE(Reduce, reduce, REDUCED, c->counts[0], BY, c->root, c->comm);
}

static void issue_allreduce(struct call *c)
{
    HWTEST_ISSUE(Allreduce, allreduce, REDUCED, c->counts[0], BY, c->comm);
}

static void issue_scan(struct call *c)
{
    if (c->family->which == SCAN)
        HWTEST_ISSUE(Scan, scan, REDUCED, c->counts[0], BY, c->comm);
    else
        HWTEST_ISSUE(Exscan, exscan, REDUCED, c->counts[0], BY, c->comm);
}

static void issue_reduce_scatter(struct call *c)
{
    if (c->family->vector)
        HWTEST_ISSUE(Reduce_scatter, reduce_scatter, REDUCED, c->counts, BY, c->comm);
    else
        HWTEST_ISSUE(Reduce_scatter_block, reduce_scatter_block, REDUCED, c->counts[0], BY,
                     c->comm);
}

static int check_reduction(struct call *c)
{
    const struct hwtest_reduction *r = c->reduction;
    const size_t own = c->got * r->extent;
    long where;

    for (size_t i = 0; i < c->got; i++)
        if (!hwtest_same_element(r, c->want.origin + i * r->extent,
                                 c->result.origin + i * r->extent, c->size))
            return complain(c, "wrong elements", (long) i);
    memcpy(c->want.origin + own, c->result.origin + own, c->span - own);
    if (hwtest_find_difference(&c->want, &c->result, &where))
        return complain(c, "bytes outside of the result", where);
    return 0;
}

/* Sums of floating-point numbers: all ranks have the same bits. */
static int check_same_bits(struct call *c)
{
    uint64_t hash[2] = {0, 0}, greatest[2];
    const size_t bytes = c->got * c->reduction->extent;

    for (size_t i = 0; i + 4 <= bytes; i += 4) {
        uint32_t word;

        memcpy(&word, c->result.origin + i, 4);
        hash[0] = hwtest_mix(hash[0] ^ word);
    }
    hash[1] = ~hash[0];
    MPI_Allreduce(hash, greatest, 2, MPI_UINT64_T, MPI_MAX, c->comm);
    if (greatest[0] == ~greatest[1])
        return 0;
    return complain(c, "bits differ between ranks", 0);
}

/* Barriers: nobody leaves before all have come, by the clock that a machine's processes share. */

static void prepare_barrier(struct call *c)
{
    c->came = hwtest_clock();
}

static void issue_barrier(struct call *c)
{
    HWTEST_ISSUE(Barrier, barrier, c->comm);
}

static int check_barrier(struct call *c)
{
    double when[2] = {c->came, -hwtest_clock()}, limits[2];

    MPI_Allreduce(when, limits, 2, MPI_DOUBLE, MPI_MAX, c->comm);
    return limits[0] > -limits[1] ? complain(c, "left before the last had come", 0) : 0;
}

#endif /* HWMC_TEST_MPI_COLLS_H_INCLUDED */
