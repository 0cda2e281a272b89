/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * reduce_op: see reduce_op.h.
 *
 * gcc 12 vectorizes at -O2, but only loops of which it knows that no elements are left over: hence
 * the inner loop over a cache line's elements, and the rest after it. As `out` may be one of the
 * operands, `restrict` would be a lie; that no iteration needs what another one writes is the
 * truth, which ivdep states. (For clang, which does not know it, there is the check for overlap at
 * run time.)
 *
 * Signed and unsigned integers of a width have one kernel where the bits of the result are the
 * same: all but min and max. It works on the unsigned ones, which wrap.
 */
#include "reduce_op.h"

#include <assert.h>
#include <stdbool.h>

#if defined(__GNUC__) && !defined(__clang__)
#define INDEPENDENT _Pragma("GCC ivdep")
#else
#define INDEPENDENT
#endif

#define LINE 64u /* bytes; a multiple of every type's size */

/* User buffers and chunks of shared memory: of any alignment, written as any type. */
#define ANY __attribute__((aligned(1), may_alias))

/* `result` is an expression of x and y, an element each. */
#define KERNEL(name, ctype, result)                                                                \
    static void name(void *out, const void *a, const void *b, size_t n)                            \
    {                                                                                              \
        typedef ctype element ANY;                                                                 \
        enum { BLOCK = LINE / sizeof(ctype) };                                                     \
        element *to = out;                                                                         \
        const element *p = a, *q = b;                                                              \
                                                                                                   \
        for (; n >= BLOCK; n -= BLOCK, to += BLOCK, p += BLOCK, q += BLOCK) {                      \
            INDEPENDENT                                                                            \
            for (size_t i = 0; i < BLOCK; i++) {                                                   \
                const ctype x = p[i], y = q[i];                                                    \
                                                                                                   \
                to[i] = (ctype) (result);                                                          \
            }                                                                                      \
        }                                                                                          \
        for (size_t i = 0; i < n; i++) {                                                           \
            const ctype x = p[i], y = q[i];                                                        \
                                                                                                   \
            to[i] = (ctype) (result);                                                              \
        }                                                                                          \
    }

/* The pair whose value comes `before` the other's wins. Member by member: what lies between them
 * may not be the program's to read or write. */
#define PAIR_KERNEL(name, pair, ctype, before)                                                     \
    static void name(void *out, const void *a, const void *b, size_t n)                            \
    {                                                                                              \
        typedef ctype value ANY;                                                                   \
        typedef int index ANY;                                                                     \
        enum { SIZE = sizeof(struct pair), AT = offsetof(struct pair, at) };                       \
        char *to = out;                                                                            \
        const char *p = a, *q = b;                                                                 \
                                                                                                   \
        for (; n > 0; n--, to += SIZE, p += SIZE, q += SIZE) {                                     \
            const ctype x = *(const value *) p, y = *(const value *) q;                            \
            const int i = *(const index *) (p + AT), k = *(const index *) (q + AT);                \
            const bool first = x before y || (x == y && i <= k);                                   \
                                                                                                   \
            *(value *) to = first ? x : y;                                                         \
            *(index *) (to + AT) = first ? i : k;                                                  \
        }                                                                                          \
    }

#define ARITHMETIC(name, ctype)                                                                    \
    KERNEL(sum_##name, ctype, x + y)                                                               \
    KERNEL(prod_##name, ctype, x *y)

#define EXTREMES(name, ctype)                                                                      \
    KERNEL(min_##name, ctype, x < y ? x : y)                                                       \
    KERNEL(max_##name, ctype, x > y ? x : y)

/* 1u: of 16 bits and less C multiplies in int, which would overflow. */
#define WRAPPING(bits)                                                                             \
    KERNEL(sum_##bits, uint##bits##_t, x + y)                                                      \
    KERNEL(prod_##bits, uint##bits##_t, 1u * x * y)                                                \
    KERNEL(land_##bits, uint##bits##_t, (x != 0) & (y != 0))                                       \
    KERNEL(lor_##bits, uint##bits##_t, (x | y) != 0)                                               \
    KERNEL(lxor_##bits, uint##bits##_t, (x != 0) ^ (y != 0))                                       \
    KERNEL(band_##bits, uint##bits##_t, x &y)                                                      \
    KERNEL(bor_##bits, uint##bits##_t, x | y)                                                      \
    KERNEL(bxor_##bits, uint##bits##_t, x ^ y)                                                     \
    EXTREMES(int##bits, int##bits##_t)                                                             \
    EXTREMES(uint##bits, uint##bits##_t)

#define PAIRS(name, ctype)                                                                         \
    PAIR_KERNEL(minloc_##name, hwmc_shm_##name, ctype, <)                                          \
    PAIR_KERNEL(maxloc_##name, hwmc_shm_##name, ctype, >)

WRAPPING(8)
WRAPPING(16)
WRAPPING(32)
WRAPPING(64)
ARITHMETIC(float, float)
ARITHMETIC(double, double)
ARITHMETIC(long_double, long double)
EXTREMES(float, float)
EXTREMES(double, double)
EXTREMES(long_double, long double)
ARITHMETIC(float_complex, float _Complex)
ARITHMETIC(double_complex, double _Complex)
ARITHMETIC(long_double_complex, long double _Complex)
PAIRS(short_int, short)
PAIRS(int_int, int)
PAIRS(long_int, long)
PAIRS(float_int, float)
PAIRS(double_int, double)
PAIRS(long_double_int, long double)

#define AT(op, type) [HWMC_SHM_REDUCE_##op][HWMC_SHM_TYPE_##type]

#define INTEGER_ENTRIES(TYPE, bits, name)                                                          \
    AT(SUM, TYPE) = sum_##bits, AT(PROD, TYPE) = prod_##bits, AT(MIN, TYPE) = min_##name,          \
            AT(MAX, TYPE) = max_##name, AT(LAND, TYPE) = land_##bits, AT(LOR, TYPE) = lor_##bits,  \
            AT(LXOR, TYPE) = lxor_##bits, AT(BAND, TYPE) = band_##bits,                            \
            AT(BOR, TYPE) = bor_##bits, AT(BXOR, TYPE) = bxor_##bits

#define COMPLEX_ENTRIES(TYPE, name) AT(SUM, TYPE) = sum_##name, AT(PROD, TYPE) = prod_##name

#define REAL_ENTRIES(TYPE, name)                                                                   \
    COMPLEX_ENTRIES(TYPE, name), AT(MIN, TYPE) = min_##name, AT(MAX, TYPE) = max_##name

#define PAIR_ENTRIES(TYPE, name) AT(MINLOC, TYPE) = minloc_##name, AT(MAXLOC, TYPE) = maxloc_##name

static const hwmc_shm_kernel kernel_table[HWMC_SHM_REDUCE_NUM][HWMC_SHM_TYPE_NUM] = {
    INTEGER_ENTRIES(INT8, 8, int8),
    INTEGER_ENTRIES(INT16, 16, int16),
    INTEGER_ENTRIES(INT32, 32, int32),
    INTEGER_ENTRIES(INT64, 64, int64),
    INTEGER_ENTRIES(UINT8, 8, uint8),
    INTEGER_ENTRIES(UINT16, 16, uint16),
    INTEGER_ENTRIES(UINT32, 32, uint32),
    INTEGER_ENTRIES(UINT64, 64, uint64),
    REAL_ENTRIES(FLOAT, float),
    REAL_ENTRIES(DOUBLE, double),
    REAL_ENTRIES(LONG_DOUBLE, long_double),
    COMPLEX_ENTRIES(FLOAT_COMPLEX, float_complex),
    COMPLEX_ENTRIES(DOUBLE_COMPLEX, double_complex),
    COMPLEX_ENTRIES(LONG_DOUBLE_COMPLEX, long_double_complex),
    PAIR_ENTRIES(SHORT_INT, short_int),
    PAIR_ENTRIES(INT_INT, int_int),
    PAIR_ENTRIES(LONG_INT, long_int),
    PAIR_ENTRIES(FLOAT_INT, float_int),
    PAIR_ENTRIES(DOUBLE_INT, double_int),
    PAIR_ENTRIES(LONG_DOUBLE_INT, long_double_int),
};

hwmc_shm_kernel hwmc_shm_kernel_of(enum hwmc_shm_reduce_op op, enum hwmc_shm_type type)
{
    assert(op < HWMC_SHM_REDUCE_NUM && type < HWMC_SHM_TYPE_NUM);
    return kernel_table[op][type];
}

size_t hwmc_shm_type_size(enum hwmc_shm_type type)
{
    static const size_t sizes[] = {
#define X(name, text, ctype) sizeof(ctype),
        HWMC_SHM_TYPES(X)
#undef X
    };

    assert(type < HWMC_SHM_TYPE_NUM);
    return sizes[type];
}

const char *hwmc_shm_reduce_text(enum hwmc_shm_reduce_op op)
{
    static const char *const texts[] = {
#define X(name, text) text,
        HWMC_SHM_REDUCES(X)
#undef X
    };

    assert(op < HWMC_SHM_REDUCE_NUM);
    return texts[op];
}

const char *hwmc_shm_type_text(enum hwmc_shm_type type)
{
    static const char *const texts[] = {
#define X(name, text, ctype) text,
        HWMC_SHM_TYPES(X)
#undef X
    };

    assert(type < HWMC_SHM_TYPE_NUM);
    return texts[type];
}
