/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include <complex.h>
#include "hwmc_util.h"
#include "hwmc_forms.h"

/* Every predefined operation on every type that MPI defines it for, by MPI_Reduce, MPI_Allreduce
 * and MPI_Scan, compared with MPI_Reduce_local in the order of ranks. The data are such that the
 * order in which they are combined does not show: integers of all bits, but small whole numbers
 * where there is rounding. Bytes between and behind the members of a pair stay as they were. A type
 * that the library does not have is left out, as are those of Fortran and C++ where it was built
 * without.
 *
 * -max=N   elements of the longest reduction */

#define RANKS 64
#define MOST 20000

enum kind { INTEGER, BYTE, LOGICAL, MULTI, REAL, COMPLEX, PAIR, KINDS };

/* What a number is in C. */
enum in_c { BITS, FLOAT, DOUBLE, LONG_DOUBLE };

struct type {
    const char *name;
    MPI_Datatype type;
    enum kind kind;
    enum in_c in_c;
    size_t size; /* of the number, of which complex has two */
};

struct op {
    const char *name;
    MPI_Op op;
    unsigned kinds; /* bit k: for types of kind k */
};

#define ON(kind) (1u << (kind))
#define COUNTS (ON(INTEGER) | ON(MULTI) | ON(REAL))
#define TESTS (ON(INTEGER) | ON(LOGICAL))
#define MASKS (ON(INTEGER) | ON(BYTE) | ON(MULTI))

static int max = MOST;

/* Puts a whole number. */
static void put(const struct type *t, unsigned char *to, int value)
{
    float f = (float) value;
    double d = value;
    long double l = value;

    if (t->in_c == FLOAT)
        memcpy(to, &f, sizeof(f));
    else if (t->in_c == DOUBLE)
        memcpy(to, &d, sizeof(d));
    else if (t->in_c == LONG_DOUBLE)
        memcpy(to, &l, sizeof(l));
    else if (value < 0)
        memset(to, 0xff, t->size);
    else
        to[0] = (unsigned char) value;
}

/* What `rank` has; the bytes between are the same on all. Short integers do not overflow, since not
 * all libraries let them wrap. */
static void fill(const struct type *t, const struct op *o, size_t extent, int rank, int count,
                 unsigned char *to)
{
    for (int i = 0; i < count; i++, to += extent) {
        uint64_t draw = hwtest_mix((uint64_t) rank * MOST + (uint64_t) i);
        int at = (int) (draw >> 40) % RANKS;

        memset(to, t->kind == PAIR ? HWTEST_POISON : 0, extent);
        if (t->kind == PAIR) {
            memset(to, 0, t->size);
            put(t, to, (int) (draw % 3));
            memcpy(to + (t->size + 3) / 4 * 4, &at, sizeof(at));
        } else if (t->kind == LOGICAL) {
            put(t, to, draw % 8 < 7);
        } else if (t->kind == REAL || t->kind == COMPLEX) {
            put(t, to, (int) (draw % 3) - 1);
            if (t->kind == COMPLEX)
                put(t, to + t->size, (int) (draw / 3 % 3) - 1);
        } else if (t->size <= 2 && (o->op == MPI_SUM || o->op == MPI_PROD)) {
            put(t, to, draw % 8 == 0 ? 2 : 1);
        } else {
            memcpy(to, &draw, t->size);
        }
    }
}

/* Numbers are equal as numbers: of a long double not all bytes are its own. */
static bool same_number(const struct type *t, const unsigned char *a, const unsigned char *b)
{
    long double x, y;

    if (t->in_c != LONG_DOUBLE)
        return memcmp(a, b, t->size) == 0 || (t->in_c == FLOAT && *(float *) a == *(float *) b) ||
               (t->in_c == DOUBLE && *(double *) a == *(double *) b);
    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    return x == y;
}

static bool same(const struct type *t, size_t extent, const unsigned char *a,
                 const unsigned char *b)
{
    if (!same_number(t, a, b))
        return false;
    if (t->kind == COMPLEX)
        return same_number(t, a + t->size, b + t->size);
    return memcmp(a + t->size, b + t->size, extent - t->size) == 0;
}

static int compare(const struct type *t, const struct op *o, size_t extent, int count,
                   const unsigned char *got, const unsigned char *want, const char *by)
{
    static int printed;

    for (int i = 0; i < count; i++, got += extent, want += extent) {
        if (same(t, extent, got, want))
            continue;
        if (printed++ < HWTEST_MAX_PRINTED)
            printf("%s of %d %s by %s: element %d is wrong\n", o->name, count, t->name, by, i);
        fflush(stdout);
        return 1;
    }
    return 0;
}

/* The result over ranks first to last, by MPI_Reduce_local. */
static int work_out(const struct type *t, const struct op *o, size_t extent, int last, int count,
                    unsigned char *result, unsigned char *next)
{
    fill(t, o, extent, last, count, result);
    for (int rank = last - 1; rank >= 0; rank--) {
        fill(t, o, extent, rank, count, next);
        if (MPI_Reduce_local(next, result, count, t->type, o->op) != MPI_SUCCESS)
            return -1;
    }
    return 0;
}

static int by_all(const struct type *t, const struct op *o, size_t extent, int count, int root)
{
    size_t bytes = (size_t) count * extent;
    unsigned char *in = hwtest_alloc(bytes), *out = hwtest_alloc(bytes);
    unsigned char *want = hwtest_alloc(bytes), *partial = hwtest_alloc(bytes);
    int errs = 0, rank, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (work_out(t, o, extent, size - 1, count, want, in) == 0 &&
        work_out(t, o, extent, rank, count, partial, in) == 0) {
        fill(t, o, extent, rank, count, in);
        fill(t, o, extent, 0, count, out); /* for what is between */
        MPI_Reduce(in, out, count, t->type, o->op, root, MPI_COMM_WORLD);
        errs += rank == root ? compare(t, o, extent, count, out, want, "reduce") : 0;
        MPI_Allreduce(in, out, count, t->type, o->op, MPI_COMM_WORLD);
        errs += compare(t, o, extent, count, out, want, "allreduce");
        MPI_Scan(in, out, count, t->type, o->op, MPI_COMM_WORLD);
        errs += compare(t, o, extent, count, out, partial, "scan");
        hwtest_done += 3;
    }
    free(in);
    free(out);
    free(want);
    free(partial);
    return errs;
}

/* All lengths up to the longest, a few elements, one more than a chunk. */
static int one_pair(const struct type *t, const struct op *o)
{
    static int turn;
    MPI_Aint lower, extent;
    int errs = 0, size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_get_extent(t->type, &lower, &extent);
    for (int count = 1; count <= max; count = count * 7 + 4)
        errs += by_all(t, o, (size_t) extent, count, turn++ % size);
    return errs;
}

#define C_TYPE(name, kind, in_c, ctype)                                                            \
    {                                                                                              \
#name, name, kind, in_c, sizeof(ctype)                                                     \
    }

static int all_pairs(void)
{
    const struct op ops[] = {
        {"sum", MPI_SUM, COUNTS | ON(COMPLEX)},
        {"prod", MPI_PROD, COUNTS | ON(COMPLEX)},
        {"min", MPI_MIN, COUNTS},
        {"max", MPI_MAX, COUNTS},
        {"land", MPI_LAND, TESTS},
        {"lor", MPI_LOR, TESTS},
        {"lxor", MPI_LXOR, TESTS},
        {"band", MPI_BAND, MASKS},
        {"bor", MPI_BOR, MASKS},
        {"bxor", MPI_BXOR, MASKS},
        {"minloc", MPI_MINLOC, ON(PAIR)},
        {"maxloc", MPI_MAXLOC, ON(PAIR)},
    };
    const struct type types[] = {
        C_TYPE(MPI_SIGNED_CHAR, INTEGER, BITS, signed char),
        C_TYPE(MPI_UNSIGNED_CHAR, INTEGER, BITS, unsigned char),
        C_TYPE(MPI_SHORT, INTEGER, BITS, short),
        C_TYPE(MPI_UNSIGNED_SHORT, INTEGER, BITS, unsigned short),
        C_TYPE(MPI_INT, INTEGER, BITS, int),
        C_TYPE(MPI_UNSIGNED, INTEGER, BITS, unsigned),
        C_TYPE(MPI_LONG, INTEGER, BITS, long),
        C_TYPE(MPI_UNSIGNED_LONG, INTEGER, BITS, unsigned long),
        C_TYPE(MPI_LONG_LONG, INTEGER, BITS, long long),
        C_TYPE(MPI_UNSIGNED_LONG_LONG, INTEGER, BITS, unsigned long long),
        C_TYPE(MPI_INT8_T, INTEGER, BITS, int8_t),
        C_TYPE(MPI_INT16_T, INTEGER, BITS, int16_t),
        C_TYPE(MPI_INT32_T, INTEGER, BITS, int32_t),
        C_TYPE(MPI_INT64_T, INTEGER, BITS, int64_t),
        C_TYPE(MPI_UINT8_T, INTEGER, BITS, uint8_t),
        C_TYPE(MPI_UINT16_T, INTEGER, BITS, uint16_t),
        C_TYPE(MPI_UINT32_T, INTEGER, BITS, uint32_t),
        C_TYPE(MPI_UINT64_T, INTEGER, BITS, uint64_t),
        C_TYPE(MPI_BYTE, BYTE, BITS, char),
        C_TYPE(MPI_C_BOOL, LOGICAL, BITS, _Bool),
        C_TYPE(MPI_CXX_BOOL, LOGICAL, BITS, _Bool),
        C_TYPE(MPI_AINT, MULTI, BITS, MPI_Aint),
        C_TYPE(MPI_OFFSET, MULTI, BITS, MPI_Offset),
        C_TYPE(MPI_COUNT, MULTI, BITS, MPI_Count),
        C_TYPE(MPI_FLOAT, REAL, FLOAT, float),
        C_TYPE(MPI_DOUBLE, REAL, DOUBLE, double),
        C_TYPE(MPI_LONG_DOUBLE, REAL, LONG_DOUBLE, long double),
        C_TYPE(MPI_C_FLOAT_COMPLEX, COMPLEX, FLOAT, float),
        C_TYPE(MPI_C_DOUBLE_COMPLEX, COMPLEX, DOUBLE, double),
        C_TYPE(MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX, LONG_DOUBLE, long double),
        C_TYPE(MPI_CXX_FLOAT_COMPLEX, COMPLEX, FLOAT, float),
        C_TYPE(MPI_CXX_DOUBLE_COMPLEX, COMPLEX, DOUBLE, double),
        C_TYPE(MPI_CXX_LONG_DOUBLE_COMPLEX, COMPLEX, LONG_DOUBLE, long double),
        C_TYPE(MPI_2INT, PAIR, BITS, int),
        C_TYPE(MPI_SHORT_INT, PAIR, BITS, short),
        C_TYPE(MPI_LONG_INT, PAIR, BITS, long),
        C_TYPE(MPI_FLOAT_INT, PAIR, FLOAT, float),
        C_TYPE(MPI_DOUBLE_INT, PAIR, DOUBLE, double),
        C_TYPE(MPI_LONG_DOUBLE_INT, PAIR, LONG_DOUBLE, long double),
        C_TYPE(MPI_INTEGER, INTEGER, BITS, int),
        C_TYPE(MPI_LOGICAL, LOGICAL, BITS, int),
        C_TYPE(MPI_REAL, REAL, FLOAT, float),
        C_TYPE(MPI_DOUBLE_PRECISION, REAL, DOUBLE, double),
        C_TYPE(MPI_COMPLEX, COMPLEX, FLOAT, float),
        C_TYPE(MPI_2INTEGER, PAIR, BITS, int),
    };
    int errs = 0;

    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
        int size = 0;

        if (types[t].type == MPI_DATATYPE_NULL ||
            MPI_Type_size(types[t].type, &size) != MPI_SUCCESS || size < (int) types[t].size)
            continue;
        for (size_t o = 0; o < sizeof(ops) / sizeof(ops[0]); o++) {
            if (ops[o].kinds & ON(types[t].kind))
                errs += one_pair(&types[t], &ops[o]);
        }
    }
    return errs;
}

int main(int argc, char **argv)
{
    int errs;

    MTest_Init(&argc, &argv);
    hwtest_forms_init(argc, argv);
    max = (int) hwtest_option(argc, argv, "-max", MOST);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    errs = all_pairs();
    return hwtest_finish(errs + hwtest_forms_check());
}
