/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * combination: what the collectives that combine what ranks have in common: arguments, operation
 * and operands.
 */

#ifndef HWMC_ENTRY_COMBINATION_H_INCLUDED
#define HWMC_ENTRY_COMBINATION_H_INCLUDED

#include "../select/shm_choose.h"
#include "types.h"
#include "../comm/trials.h"

/* What ranks have is combined: arguments, and what is made of them. */
struct hwmc_combination {
    const void *sendbuf;
    void *recvbuf;
    MPI_Aint count; /* elements, as MPI gives them */
    struct hwmc_operation operation;
    struct hwmc_operands operands; /* from begin to end of the call */
};

/* With these arguments of MPI's. `x` does not move from here on. */
void hwmc_combination_init(struct hwmc_combination *x, const void *sendbuf, void *recvbuf,
                           MPI_Aint count, MPI_Datatype datatype, MPI_Op op);

/* Whether collectives at `n` can combine so. Depends on datatype, operation and the least chunk of
 * all hosts, which are alike on all ranks. */
static inline bool hwmc_combination_fits(const struct hwmc_combination *x,
                                         const struct hwmc_shm_host *n)
{
    const uint32_t element = x->operation.of.element;

    return element > 0 && element <= n->chunk_least / 2;
}

/* What a trial of a collective that combines so is made of. */
enum hwmc_tries hwmc_combination_tries(const struct hwmc_combination *x);

/* This rank's vector in the program's memory. */
static inline const void *hwmc_combination_own(const struct hwmc_combination *x)
{
    return x->sendbuf == MPI_IN_PLACE ? x->recvbuf : x->sendbuf;
}

/* What the operation itself met, as MPICH's error code; it can be used again. */
int hwmc_combination_error(struct hwmc_combination *x);

/* The collective is over, with this code of MPICH's: ends the operands. The program gets what is
 * there if `result` and there was no error. Returns MPICH's error code, also for what the operation
 * itself met: as hwmc_combination_error. */
int hwmc_combination_end(struct hwmc_combination *x, int mpi_errno, bool result);

#endif /* HWMC_ENTRY_COMBINATION_H_INCLUDED */
