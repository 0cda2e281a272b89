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
#ifndef BCAST_HW_NODE_REDUCE_OP_H_INCLUDED
#define BCAST_HW_NODE_REDUCE_OP_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

/* name, text */
#define BCAST_HW_NODE_REDUCES(X)                                                                   \
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
#define BCAST_HW_NODE_TYPES(X)                                                                     \
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
    X(SHORT_INT, "short and int", struct bcast_hw_node_short_int)                                  \
    X(INT_INT, "int and int", struct bcast_hw_node_int_int)                                        \
    X(LONG_INT, "long and int", struct bcast_hw_node_long_int)                                     \
    X(FLOAT_INT, "float and int", struct bcast_hw_node_float_int)                                  \
    X(DOUBLE_INT, "double and int", struct bcast_hw_node_double_int)                               \
    X(LONG_DOUBLE_INT, "long double and int", struct bcast_hw_node_long_double_int)

enum bcast_hw_node_reduce_op {
#define X(name, text) BCAST_HW_NODE_REDUCE_##name,
    BCAST_HW_NODE_REDUCES(X)
#undef X
        BCAST_HW_NODE_REDUCE_NUM
};

enum bcast_hw_node_type {
#define X(name, text, ctype) BCAST_HW_NODE_TYPE_##name,
    BCAST_HW_NODE_TYPES(X)
#undef X
        BCAST_HW_NODE_TYPE_NUM
};

/* A pair as MPI_DOUBLE_INT and its like lay it out; bytes between or behind its members are
 * neither read nor written. */
#define BCAST_HW_NODE_PAIR(name, ctype)                                                            \
    struct bcast_hw_node_##name {                                                                  \
        ctype value;                                                                               \
        int at;                                                                                    \
    }
BCAST_HW_NODE_PAIR(short_int, short);
BCAST_HW_NODE_PAIR(int_int, int);
BCAST_HW_NODE_PAIR(long_int, long);
BCAST_HW_NODE_PAIR(float_int, float);
BCAST_HW_NODE_PAIR(double_int, double);
BCAST_HW_NODE_PAIR(long_double_int, long double);
#undef BCAST_HW_NODE_PAIR

/* out[i] = a[i] op b[i] for i < n. `out` may be `a` or `b`; otherwise it does not overlap them. No
 * alignment is needed. */
typedef void (*bcast_hw_node_kernel)(void *out, const void *a, const void *b, size_t n);

/* NULL: MPI does not define `op` for `type`. */
bcast_hw_node_kernel bcast_hw_node_kernel_of(enum bcast_hw_node_reduce_op op,
                                             enum bcast_hw_node_type type);

/* Bytes from one element to the next. */
size_t bcast_hw_node_type_size(enum bcast_hw_node_type type);

const char *bcast_hw_node_reduce_text(enum bcast_hw_node_reduce_op op);
const char *bcast_hw_node_type_text(enum bcast_hw_node_type type);

#endif /* BCAST_HW_NODE_REDUCE_OP_H_INCLUDED */
