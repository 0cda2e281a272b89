/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * reduce_op: the predefined operations of MPI on C's types, element by element (MPI 4.0, sections
 * 6.9.2 and 6.9.4). One kernel for each pair that MPI defines; all are commutative, and
 * associative but for rounding. The types are by width, as kernels are: which of them MPI_LONG or
 * MPI_BYTE is, the caller knows.
 *
 *   sum prod                integers, floating point, complex
 *   min max                 integers, floating point
 *   land lor lxor           integers; the result is 0 or 1
 *   band bor bxor           integers
 *   minloc maxloc           pairs of a value and an int; of equal values the lower int
 *
 * Integers wrap. Complex products are C's, with its care for infinities. Where a value is NaN,
 * min, max, minloc and maxloc give one of the two operands; MPI does not say which.
 */
#ifndef HWMC_SHM_COLL_REDUCE_OP_H_INCLUDED
#define HWMC_SHM_COLL_REDUCE_OP_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

/* name, text */
#define HWMC_SHM_REDUCES(X)                                                                        \
    X(SUM, "sum")                                                                                  \
    X(PROD, "prod")                                                                                \
    X(MIN, "min")                                                                                  \
    X(MAX, "max")                                                                                  \
    X(LAND, "land")                                                                                \
    X(LOR, "lor")                                                                                  \
    X(LXOR, "lxor")                                                                                \
    X(BAND, "band")                                                                                \
    X(BOR, "bor")                                                                                  \
    X(BXOR, "bxor")                                                                                \
    X(MINLOC, "minloc")                                                                            \
    X(MAXLOC, "maxloc")

/* name, text, type in C */
#define HWMC_SHM_TYPES(X)                                                                          \
    X(INT8, "int8", int8_t)                                                                        \
    X(INT16, "int16", int16_t)                                                                     \
    X(INT32, "int32", int32_t)                                                                     \
    X(INT64, "int64", int64_t)                                                                     \
    X(UINT8, "uint8", uint8_t)                                                                     \
    X(UINT16, "uint16", uint16_t)                                                                  \
    X(UINT32, "uint32", uint32_t)                                                                  \
    X(UINT64, "uint64", uint64_t)                                                                  \
    X(FLOAT, "float", float)                                                                       \
    X(DOUBLE, "double", double)                                                                    \
    X(LONG_DOUBLE, "long double", long double)                                                     \
    X(FLOAT_COMPLEX, "float complex", float _Complex)                                              \
    X(DOUBLE_COMPLEX, "double complex", double _Complex)                                           \
    X(LONG_DOUBLE_COMPLEX, "long double complex", long double _Complex)                            \
    X(SHORT_INT, "short and int", struct hwmc_shm_short_int)                                       \
    X(INT_INT, "int and int", struct hwmc_shm_int_int)                                             \
    X(LONG_INT, "long and int", struct hwmc_shm_long_int)                                          \
    X(FLOAT_INT, "float and int", struct hwmc_shm_float_int)                                       \
    X(DOUBLE_INT, "double and int", struct hwmc_shm_double_int)                                    \
    X(LONG_DOUBLE_INT, "long double and int", struct hwmc_shm_long_double_int)

enum hwmc_shm_reduce_op {
#define X(name, text) HWMC_SHM_REDUCE_##name,
    HWMC_SHM_REDUCES(X)
#undef X
        HWMC_SHM_REDUCE_NUM
};

enum hwmc_shm_type {
#define X(name, text, ctype) HWMC_SHM_TYPE_##name,
    HWMC_SHM_TYPES(X)
#undef X
        HWMC_SHM_TYPE_NUM
};

/* A pair as MPI_DOUBLE_INT and its like lay it out; bytes between or behind its members are
 * neither read nor written. */
#define HWMC_SHM_PAIR(name, ctype)                                                                 \
    struct hwmc_shm_##name {                                                                       \
        ctype value;                                                                               \
        int at;                                                                                    \
    }
HWMC_SHM_PAIR(short_int, short);
HWMC_SHM_PAIR(int_int, int);
HWMC_SHM_PAIR(long_int, long);
HWMC_SHM_PAIR(float_int, float);
HWMC_SHM_PAIR(double_int, double);
HWMC_SHM_PAIR(long_double_int, long double);
#undef HWMC_SHM_PAIR

/* out[i] = a[i] op b[i] for i < n. `out` may be `a` or `b`; otherwise it does not overlap them. No
 * alignment is needed. */
typedef void (*hwmc_shm_kernel)(void *out, const void *a, const void *b, size_t n);

/* NULL: MPI does not define `op` for `type`. */
hwmc_shm_kernel hwmc_shm_kernel_of(enum hwmc_shm_reduce_op op, enum hwmc_shm_type type);

/* Bytes from one element to the next. */
size_t hwmc_shm_type_size(enum hwmc_shm_type type);

const char *hwmc_shm_reduce_text(enum hwmc_shm_reduce_op op);
const char *hwmc_shm_type_text(enum hwmc_shm_type type);

#endif /* HWMC_SHM_COLL_REDUCE_OP_H_INCLUDED */
