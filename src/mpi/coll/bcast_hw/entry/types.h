/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * MPI's operations and datatypes as the collectives inside hosts's reductions know them: how two
 * elements become one, and where in memory the elements lie.
 *
 * A predefined operation on a predefined type is one of our kernels (shm/coll/reduce_op); all else,
 * the program's own operations above all, is MPICH's MPIR_Reduce_local.
 *
 * It moves elements as bytes, one behind the other, so it writes all bytes from an
 * element to the next. Where the type fills them all it works on the program's memory. A type with
 * gaps must leave what is in them alone, so its elements are copied to memory of ours and the
 * result is copied back, as MPICH's own algorithms do; there they are an extent apart, as they are
 * in the program's. A type whose elements lie within each other, such as a column of a matrix by
 * rows, has them there apart, and its operation is called for one element at a time.
 */

#ifndef HWMC_ENTRY_TYPES_H_INCLUDED
#define HWMC_ENTRY_TYPES_H_INCLUDED

#include "mpiimpl.h"
#include "../shm/coll/reduce_op.h"
#include "../shm/coll/reduction.h"

struct hwmc_operation {
    struct hwmc_shm_operation of; /* its ctx is this */
    MPI_Op op;
    MPI_Datatype type;
    hwmc_shm_kernel kernel; /* NULL: MPIR_Reduce_local */
    MPI_Aint extent;        /* bytes from an element to the next in the program's memory */
    MPI_Aint first;         /* of an element, in bytes from where MPI counts it */
    bool lies;              /* as the collectives inside hosts wants it, in the program's memory */
    bool apart;             /* in ours `of.element` bytes apart, which is not the extent */
    int mpi_errno;          /* the first error of the operation so far */
};

/* An operation on elements of `type`. False: this is left to MPICH, and of.element is 0; that
 * depends on `op` and `type` alone, and so do all fields of `of` but ctx. `o` does not move while
 * it is in use. */
bool hwmc_operation_init(struct hwmc_operation *o, MPI_Op op, MPI_Datatype type);

/* Elements are combined to the same bits in whatever order: integers, and pairs of them. Depends on
 * its operation and type alone. */
bool hwmc_operation_is_exact(const struct hwmc_operation *o);

/* What a reduction reads and writes. */
struct hwmc_operands {
    const void *in; /* for the collectives inside hosts: elements of `o`, `of.element` bytes each */
    void *out;      /* the same as `in` if in place */
    void *made[2];  /* for in and out; NULL: the program's memory, or nothing */
    void *result;   /* where the program wants `num_result` elements of `made`, if `copies` */
    MPI_Aint num_result;
    bool copies;
};

/* Finds or copies what is to be read: `num_in` elements at `sendbuf`, or at `recvbuf` if that is
 * MPI_IN_PLACE; and has memory for the `num_out` that will be written, num_in at most if in place:
 * for the program at `recvbuf`, or else for nobody, as TREEMM needs it of ranks that are not the
 * root. Num_out 0 for nobody: `out` is NULL. Returns MPICH's error code, and on error there is
 * nothing to end. */
int hwmc_operands_begin(struct hwmc_operands *a, const struct hwmc_operation *o,
                        const void *sendbuf, MPI_Aint num_in, void *recvbuf, MPI_Aint num_out,
                        bool for_program);

/* Gives the program its result, if `whole`, and frees what was made. Returns MPICH's error code. */
int hwmc_operands_end(struct hwmc_operands *a, const struct hwmc_operation *o, bool whole);

#endif /* HWMC_ENTRY_TYPES_H_INCLUDED */
