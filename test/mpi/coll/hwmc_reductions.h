/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_TEST_MPI_REDUCTIONS_H_INCLUDED
#define HWMC_TEST_MPI_REDUCTIONS_H_INCLUDED

/* Reductions with a serial reference: a datatype, an operation, what a rank has, and what one
 * element combined with the next rank's is. Operations of MPI's, of its pairs, and of the program:
 * some that do not commute, and on elements with gaps. */

#include "hwmc_util.h"

/* Elements of the program's types */

struct hwtest_matrix {
    uint32_t of[4]; /* by rows */
};

/* With a gap that nobody may write to; MPI's datatype has the first and the last. */
struct hwtest_gapped {
    uint32_t first, gap, last;
};

struct hwtest_double_int {
    double value;
    int place;
};

struct hwtest_two_ints {
    int value, place;
};

static inline void hwtest_multiply(struct hwtest_matrix *a, const struct hwtest_matrix *b)
{
    const struct hwtest_matrix x = *a;

    for (int i = 0; i < 4; i++)
        a->of[i] = x.of[i & 2] * b->of[i & 1] + x.of[(i & 2) + 1] * b->of[(i & 1) + 2];
}

/* x -> first x + last, the left one after the right one */
static inline void hwtest_compose(struct hwtest_gapped *f, const struct hwtest_gapped *g)
{
    f->last = f->first * g->last + f->last;
    f->first *= g->first;
}

static inline void hwtest_larger(struct hwtest_gapped *f, const struct hwtest_gapped *g)
{
    f->first = f->first > g->first ? f->first : g->first;
    f->last = f->last > g->last ? f->last : g->last;
}

/* As MPI calls them: inout = in op inout. */
#define HWTEST_USER(name, element)                                                                 \
    static inline void hwtest_user_##name(void *in, void *inout, int *count, MPI_Datatype *type)   \
    {                                                                                              \
        struct element *a = in, *b = inout;                                                        \
                                                                                                   \
        (void) type;                                                                               \
        for (int i = 0; i < *count; i++) {                                                         \
            struct element left = a[i];                                                            \
                                                                                                   \
            hwtest_##name(&left, &b[i]);                                                           \
            HWTEST_ASSIGN_##element(b[i], left);                                                   \
        }                                                                                          \
    }
#define HWTEST_ASSIGN_hwtest_matrix(to, from) ((to) = (from))
#define HWTEST_ASSIGN_hwtest_gapped(to, from) ((to).first = (from).first, (to).last = (from).last)

HWTEST_USER(multiply, hwtest_matrix)
HWTEST_USER(compose, hwtest_gapped)
HWTEST_USER(larger, hwtest_gapped)

/* What a rank has; and acc = acc op next. */

typedef void hwtest_draw_fn(void *element, uint64_t draw, int rank);
typedef void hwtest_combine_fn(void *acc, const void *next);

#define HWTEST_REDUCTION(name, ctype, value, combined)                                             \
    static inline void hwtest_draw_##name(void *element, uint64_t draw, int rank)                  \
    {                                                                                              \
        const ctype drawn = value;                                                                 \
                                                                                                   \
        (void) rank;                                                                               \
        memcpy(element, &drawn, sizeof(drawn));                                                    \
    }                                                                                              \
    static inline void hwtest_combine_##name(void *acc, const void *next)                          \
    {                                                                                              \
        ctype a, b;                                                                                \
                                                                                                   \
        memcpy(&a, acc, sizeof(a));                                                                \
        memcpy(&b, next, sizeof(b));                                                               \
        a = combined;                                                                              \
        memcpy(acc, &a, sizeof(a));                                                                \
    }

HWTEST_REDUCTION(sum, uint32_t, (uint32_t) draw, a + b)
HWTEST_REDUCTION(max, int32_t, (int32_t) (draw % 20001) - 10000, a > b ? a : b)
HWTEST_REDUCTION(min, int16_t, (int16_t) (draw % 20001 - 10000), a < b ? a : b)
HWTEST_REDUCTION(prod, uint64_t, draw | 1, a *b)
HWTEST_REDUCTION(bxor, uint64_t, draw, a ^ b)
HWTEST_REDUCTION(band, uint8_t, (uint8_t) (draw | draw >> 8 | draw >> 16), a &b)
HWTEST_REDUCTION(bor, uint32_t, (uint32_t) (draw &draw >> 7 & draw >> 14), a | b)
HWTEST_REDUCTION(land, int32_t, draw % 16 != 0, a &&b)
/* Of very unequal size, so that the order of the sum shows in the last bits. */
HWTEST_REDUCTION(dsum, double, ((double) (draw >> 11) * 0x1p-53 - 0.5) * (double) (1 << draw % 8),
                 a + b)
HWTEST_REDUCTION(fsum, float, ((float) (draw >> 40) * 0x1p-24f - 0.5f) * (float) (1 << draw % 8),
                 a + b)

static inline void hwtest_draw_two_ints(void *element, uint64_t draw, int rank)
{
    const struct hwtest_two_ints drawn = {(int) (draw % 5), rank};

    memcpy(element, &drawn, sizeof(drawn));
}

/* Of equal values, the lower place. */
static inline void hwtest_combine_minloc(void *acc, const void *next)
{
    struct hwtest_two_ints *a = acc;
    const struct hwtest_two_ints *b = next;

    if (b->value < a->value || (b->value == a->value && b->place < a->place))
        *a = *b;
}

static inline void hwtest_draw_double_int(void *element, uint64_t draw, int rank)
{
    struct hwtest_double_int *e = element;

    e->value = (double) (draw % 7) / 2;
    e->place = 1000 - rank;
}

static inline void hwtest_combine_maxloc(void *acc, const void *next)
{
    struct hwtest_double_int *a = acc;
    const struct hwtest_double_int *b = next;

    if (b->value > a->value || (b->value == a->value && b->place < a->place)) {
        a->value = b->value;
        a->place = b->place;
    }
}

static inline void hwtest_draw_matrix(void *element, uint64_t draw, int rank)
{
    struct hwtest_matrix *m = element;

    (void) rank;
    for (int i = 0; i < 4; i++)
        m->of[i] = (uint32_t) (draw >> (i * 16) & 0xffff) * 2 + (i == 0 || i == 3);
}

static inline void hwtest_combine_matrix(void *acc, const void *next)
{
    hwtest_multiply(acc, next);
}

static inline void hwtest_draw_gapped(void *element, uint64_t draw, int rank)
{
    struct hwtest_gapped *e = element;

    (void) rank;
    e->first = (uint32_t) draw | 1;
    e->last = (uint32_t) (draw >> 32);
}

static inline void hwtest_combine_compose(void *acc, const void *next)
{
    hwtest_compose(acc, next);
}

static inline void hwtest_combine_larger(void *acc, const void *next)
{
    hwtest_larger(acc, next);
}

/* Elements of a reduction; `tolerance`: by how much, for each rank, an element may differ. */
struct hwtest_reduction {
    const char *name;
    size_t extent;
    hwtest_draw_fn *draw;
    hwtest_combine_fn *combine;
    double tolerance; /* of doubles, or floats by extent; 0: none */
    MPI_Datatype type;
    MPI_Op op;
};

#define HWTEST_REDUCTIONS 16

struct hwtest_reductions {
    struct hwtest_reduction of[HWTEST_REDUCTIONS];
    int num, floats; /* the first of two sums of floating-point numbers */
    MPI_Datatype matrix, gapped;
    MPI_Op multiply, compose, larger;
};

static inline void hwtest_add_reduction(struct hwtest_reductions *all, const char *name,
                                        size_t extent, hwtest_draw_fn *draw,
                                        hwtest_combine_fn *combine, MPI_Datatype type, MPI_Op op)
{
    all->of[all->num++] = (struct hwtest_reduction){name, extent, draw, combine, 0, type, op};
}

static inline void hwtest_make_types(struct hwtest_reductions *all)
{
    int lengths[2] = {1, 1};
    MPI_Aint places[2] = {0, 8};
    MPI_Datatype parts;

    MPI_Type_contiguous(4, MPI_UINT32_T, &all->matrix);
    MPI_Type_commit(&all->matrix);
    MPI_Type_create_hindexed(2, lengths, places, MPI_UINT32_T, &parts);
    MPI_Type_create_resized(parts, 0, sizeof(struct hwtest_gapped), &all->gapped);
    MPI_Type_commit(&all->gapped);
    MPI_Type_free(&parts);
    MPI_Op_create(hwtest_user_multiply, 0, &all->multiply);
    MPI_Op_create(hwtest_user_compose, 0, &all->compose);
    MPI_Op_create(hwtest_user_larger, 1, &all->larger);
}

static inline void hwtest_make_reductions(struct hwtest_reductions *all)
{
#define HWTEST_ADD(name, ctype, type, op)                                                          \
    hwtest_add_reduction(all, #name, sizeof(ctype), hwtest_draw_##name, hwtest_combine_##name,     \
                         type, op)
    all->num = 0;
    hwtest_make_types(all);
    HWTEST_ADD(sum, uint32_t, MPI_UINT32_T, MPI_SUM);
    HWTEST_ADD(max, int32_t, MPI_INT32_T, MPI_MAX);
    HWTEST_ADD(min, int16_t, MPI_INT16_T, MPI_MIN);
    HWTEST_ADD(prod, uint64_t, MPI_UINT64_T, MPI_PROD);
    HWTEST_ADD(bxor, uint64_t, MPI_UINT64_T, MPI_BXOR);
    HWTEST_ADD(band, uint8_t, MPI_UINT8_T, MPI_BAND);
    HWTEST_ADD(bor, uint32_t, MPI_UINT32_T, MPI_BOR);
    HWTEST_ADD(land, int32_t, MPI_INT32_T, MPI_LAND);
    all->floats = all->num;
    HWTEST_ADD(dsum, double, MPI_DOUBLE, MPI_SUM);
    all->of[all->num - 1].tolerance = 128 * 0x1p-50;
    HWTEST_ADD(fsum, float, MPI_FLOAT, MPI_SUM);
    all->of[all->num - 1].tolerance = 128 * 0x1p-21;
#undef HWTEST_ADD
    hwtest_add_reduction(all, "minloc", sizeof(struct hwtest_two_ints), hwtest_draw_two_ints,
                         hwtest_combine_minloc, MPI_2INT, MPI_MINLOC);
    hwtest_add_reduction(all, "maxloc", sizeof(struct hwtest_double_int), hwtest_draw_double_int,
                         hwtest_combine_maxloc, MPI_DOUBLE_INT, MPI_MAXLOC);
    hwtest_add_reduction(all, "matrix product", sizeof(struct hwtest_matrix), hwtest_draw_matrix,
                         hwtest_combine_matrix, all->matrix, all->multiply);
    hwtest_add_reduction(all, "composition", sizeof(struct hwtest_gapped), hwtest_draw_gapped,
                         hwtest_combine_compose, all->gapped, all->compose);
    hwtest_add_reduction(all, "larger of each", sizeof(struct hwtest_gapped), hwtest_draw_gapped,
                         hwtest_combine_larger, all->gapped, all->larger);
}

static inline void hwtest_free_reductions(struct hwtest_reductions *all)
{
    MPI_Type_free(&all->matrix);
    MPI_Type_free(&all->gapped);
    MPI_Op_free(&all->multiply);
    MPI_Op_free(&all->compose);
    MPI_Op_free(&all->larger);
}

static inline void hwtest_draw_element(const struct hwtest_reduction *r, void *element,
                                       uint64_t key, int rank, size_t i)
{
    r->draw(element, hwtest_mix(hwtest_mix(key + (uint64_t) rank) + i), rank);
}

/* The result over ranks 0 to ranks - 1 of element i; `element` may have gaps, which stay. */
static inline void hwtest_reduce_element(const struct hwtest_reduction *r, void *element,
                                         uint64_t key, int ranks, size_t i)
{
    union {
        char bytes[64];
        uint64_t aligned;
    } next;

    hwtest_draw_element(r, element, key, 0, i);
    for (int rank = 1; rank < ranks; rank++) {
        hwtest_draw_element(r, &next, key, rank, i);
        r->combine(element, &next);
    }
}

/* Whether an element is as it is to be, of a sum of so many. What MPI may choose, last bits and
 * padding of its pairs, is then made the same in `want`. */
static inline bool hwtest_same_element(const struct hwtest_reduction *r, void *want,
                                       const void *got, int ranks)
{
    double difference = 0;

    if (r->tolerance > 0) {
        difference = r->extent == sizeof(double) ? *(double *) want - *(const double *) got
                                                 : *(float *) want - *(const float *) got;
    } else if (r->combine == hwtest_combine_maxloc) {
        const struct hwtest_double_int *a = want, *b = got;

        difference = a->value != b->value || a->place != b->place;
    } else {
        return memcmp(want, got, r->extent) == 0;
    }
    if (!(difference <= r->tolerance * ranks && -difference <= r->tolerance * ranks))
        return false;
    memcpy(want, got, r->extent);
    return true;
}

#endif /* HWMC_TEST_MPI_REDUCTIONS_H_INCLUDED */
