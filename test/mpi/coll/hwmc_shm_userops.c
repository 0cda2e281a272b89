/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"
#include "hwmc_forms.h"

/* The program's own operations, on types of its own: composition of affine maps, which depends on
 * the order of ranks, and a maximum of each component, which does not. An element is two integers:
 * next to each other, with gaps, partly below the address that the program gives, far above, at
 * addresses from MPI_BOTTOM, or in two columns, so that elements lie within each other. All
 * reductions, in place too, compared with what memory must look like, gaps with it.
 *
 * -max=N   elements of the longest reduction
 * -bold    also types for which algorithms of MPICH and Open MPI take too little memory: elements
 *          that are further apart than they are long, backwards, or in columns */

#define MOST 9000
#define COLUMN 1000 /* elements; each is then short enough for a host's shared memory */
#define RANKS 64

struct layout {
    const char *name;
    MPI_Aint extent, at[2]; /* of an element's integers, in bytes */
    bool absolute;          /* with addresses: `out` is MPI_BOTTOM */
    MPI_Datatype type;
};

struct element {
    uint32_t of[2];
};

static int max = MOST;
static const struct layout *current; /* of the reduction under way */

static uint32_t *number(const void *base, MPI_Aint i, int which)
{
    return (uint32_t *) ((uintptr_t) base + (uintptr_t) (i * current->extent + current->at[which]));
}

static struct element get(const void *base, MPI_Aint i)
{
    return (struct element){{*number(base, i, 0), *number(base, i, 1)}};
}

static void put(void *base, MPI_Aint i, struct element e)
{
    *number(base, i, 0) = e.of[0];
    *number(base, i, 1) = e.of[1];
}

/* x -> f[0] x + f[1] after x -> g[0] x + g[1] */
static struct element after(struct element f, struct element g)
{
    return (struct element){{f.of[0] * g.of[0], f.of[0] * g.of[1] + f.of[1]}};
}

static struct element larger(struct element f, struct element g)
{
    return (struct element){
        {f.of[0] > g.of[0] ? f.of[0] : g.of[0], f.of[1] > g.of[1] ? f.of[1] : g.of[1]}};
}

static void affine(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *count; i++)
        put(inout, i, after(get(in, i), get(inout, i)));
}

static void maximum(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *count; i++)
        put(inout, i, larger(get(in, i), get(inout, i)));
}

static const struct op {
    const char *name;
    MPI_User_function *function;
    struct element (*of)(struct element f, struct element g);
    int commutes;
} ops[] = {{"affine", affine, after, 0}, {"maximum", maximum, larger, 1}};

/* What `rank` has; the factor is odd, so that no map forgets. */
static struct element value(int rank, int i)
{
    uint64_t draw = hwtest_mix((uint64_t) rank * MOST + (uint64_t) i);

    return (struct element){{(uint32_t) draw | 1, (uint32_t) (draw >> 32)}};
}

static struct element result(const struct op *o, int ranks, int i)
{
    struct element e = value(ranks - 1, i);

    for (int rank = ranks - 2; rank >= 0; rank--)
        e = o->of(value(rank, i), e);
    return e;
}

/* Memory that holds all elements of any layout, and its middle. */

#define AREA ((size_t) (4 * 48 * (MOST + 4)))

static unsigned char *new_area(void)
{
    return hwtest_alloc(AREA);
}

static MPI_Aint bottom; /* what addresses are counted from; 0, or for MPI_BOTTOM that of `out` */

static void *origin(unsigned char *area)
{
    return (void *) ((uintptr_t) area + AREA / 4 / 16 * 16 - (uintptr_t) bottom);
}

static unsigned char *in, *out, *want;

/* Poison everywhere, but what the rank has to `in`, or to `out` if in place. */
static const void *prepare(int rank, int count, bool in_place)
{
    memset(in, HWTEST_POISON, AREA);
    memset(out, HWTEST_POISON, AREA);
    memset(want, HWTEST_POISON, AREA);
    for (int i = 0; i < count; i++)
        put(origin(in_place ? out : in), i, value(rank, i));
    return in_place ? MPI_IN_PLACE : origin(in);
}

/* `want` gets the result over the first `ranks` of elements `from` to `from` + `count`. */
static void expect(const struct op *o, int ranks, int from, int count)
{
    for (int i = 0; i < count; i++)
        put(origin(want), i, result(o, ranks, from + i));
}

/* Below `rest` elements all must be as wanted, and all gaps; those from `count` on are MPI's. */
static int check(const struct op *o, const char *by, int count, int rest)
{
    static int printed;

    for (int i = count; i < rest; i++)
        put(origin(want), i, get(origin(out), i));
    hwtest_done++;
    if (memcmp(out, want, AREA) == 0)
        return 0;
    if (printed++ < HWTEST_MAX_PRINTED)
        printf("%s of %d %s by %s: wrong\n", o->name, count, current->name, by);
    fflush(stdout);
    return 1;
}

static int reduces(const struct op *o, MPI_Op op, int count, bool in_place)
{
    int errs = 0, rank, size;
    const void *from;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int root = 0; root < size; root += 1 + count / 100) {
        from = prepare(rank, count, in_place && rank == root);
        if (rank == root)
            expect(o, size, 0, count);
        MPI_Reduce(from, origin(out), count, current->type, op, root, MPI_COMM_WORLD);
        errs += check(o, "reduce", rank == root ? count : 0, 0);
    }
    from = prepare(rank, count, in_place);
    expect(o, size, 0, count);
    MPI_Allreduce(from, origin(out), count, current->type, op, MPI_COMM_WORLD);
    return errs + check(o, "allreduce", count, count);
}

static int scans(const struct op *o, MPI_Op op, int count, bool in_place)
{
    int errs = 0, rank;
    const void *from;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    from = prepare(rank, count, in_place);
    expect(o, rank + 1, 0, count);
    MPI_Scan(from, origin(out), count, current->type, op, MPI_COMM_WORLD);
    errs += check(o, "scan", count, count);
    from = prepare(rank, count, in_place);
    if (rank > 0)
        expect(o, rank, 0, count);
    MPI_Exscan(from, origin(out), count, current->type, op, MPI_COMM_WORLD);
    return errs + check(o, "exscan", rank > 0 ? count : 0, count);
}

/* Unequal parts, of which the last rank's has what is left. */
static int scatters(const struct op *o, MPI_Op op, int count, bool in_place)
{
    int errs = 0, rank, size, counts[RANKS], each, at = 0;
    const void *from;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    each = count / size;
    from = prepare(rank, each * size, in_place);
    expect(o, size, rank * each, each);
    MPI_Reduce_scatter_block(from, origin(out), each, current->type, op, MPI_COMM_WORLD);
    errs += check(o, "reduce_scatter_block", each, in_place ? each * size : each);
    for (int i = 0; i < size; i++) {
        counts[i] = i == size - 1 ? count - at : each / (1 + i % 3);
        at += counts[i];
    }
    at = 0;
    for (int i = 0; i < rank; i++)
        at += counts[i];
    from = prepare(rank, count, in_place);
    expect(o, size, at, counts[rank]);
    MPI_Reduce_scatter(from, origin(out), counts, current->type, op, MPI_COMM_WORLD);
    errs += check(o, "reduce_scatter", counts[rank], in_place ? count : counts[rank]);
    return errs;
}

/* Two integers of an element at their places, an extent apart. */
static void make_type(struct layout *l)
{
    int lengths[2] = {1, 1};
    MPI_Datatype parts;

    bottom = 0;
    if (l->absolute)
        MPI_Get_address(origin(out), &bottom);
    l->at[0] += bottom;
    l->at[1] += bottom;
    MPI_Type_create_hindexed(2, lengths, l->at, MPI_UINT32_T, &parts);
    MPI_Type_create_resized(parts, 0, l->extent, &l->type);
    MPI_Type_free(&parts);
    MPI_Type_commit(&l->type);
}

static int all_lengths(const struct op *o, bool in_place, bool is_plain)
{
    MPI_Op op;
    int errs = 0;

    MPI_Op_create(o->function, o->commutes, &op);
    for (int count = 1; count <= max && count <= (is_plain ? MOST : COLUMN);
         count = 7 * count + 4) {
        errs += reduces(o, op, count, in_place);
        errs += scans(o, op, count, in_place);
        errs += scatters(o, op, count, !in_place);
        in_place = !in_place;
    }
    MPI_Op_free(&op);
    return errs;
}

int main(int argc, char **argv)
{
    struct layout layouts[] = {{"next to each other", 8, {0, 4}, false, MPI_DATATYPE_NULL},
                               {"with gaps", 12, {0, 8}, false, MPI_DATATYPE_NULL},
                               {"below", 16, {-8, 4}, false, MPI_DATATYPE_NULL},
                               {"far up", 8, {1000, 1004}, false, MPI_DATATYPE_NULL},
                               {"at addresses", 12, {0, 8}, true, MPI_DATATYPE_NULL},
                               {"apart", 20, {4, 12}, false, MPI_DATATYPE_NULL},
                               {"backwards", -12, {0, 4}, false, MPI_DATATYPE_NULL},
                               {"in columns", 4, {0, 4 * COLUMN}, false, MPI_DATATYPE_NULL}};
    const int num = (int) (sizeof(layouts) / sizeof(layouts[0]));
    int errs = 0, plain = num - 3;

    MTest_Init(&argc, &argv);
    hwtest_forms_init(argc, argv);
    max = (int) hwtest_option(argc, argv, "-max", MOST);
    in = new_area();
    out = new_area();
    want = new_area();
    for (int l = 0; l < (hwtest_flag(argc, argv, "-bold") ? num : plain); l++) {
        make_type(&layouts[l]);
        current = &layouts[l];
        for (size_t o = 0; o < sizeof(ops) / sizeof(ops[0]); o++)
            errs += all_lengths(&ops[o], l % 2 == 0, l < plain);
        MPI_Type_free(&layouts[l].type);
    }
    free(in);
    free(out);
    free(want);
    return hwtest_finish(errs + hwtest_forms_check());
}
