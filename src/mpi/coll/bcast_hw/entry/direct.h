/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * direct: collectives in which each block is one message from process to process, by MPICH's
 * algorithms for that, where it has any: a block is copied nowhere on its way, and no rank waits
 * for another one's. The cost model (core/model/collective.h) and trials (comm/trials.h) say when
 * that is faster than along a tree or by way of leaders. 4 hosts of 4 ranks without a rate, gather
 * of 32 KiB: 140 us, by leaders 320, MPICH's binomial tree 390.
 *
 * Arguments are MPI's; datatypes and counts are alike on all ranks. Each returns MPICH's error
 * code. Where there is no memory at the root, others may wait, as with MPICH's own.
 */

#ifndef HWMC_ENTRY_DIRECT_H_INCLUDED
#define HWMC_ENTRY_DIRECT_H_INCLUDED

#include "combination.h"
#include "vbuf.h"

/* Parts that are alike. Of `out`, or `in`, only the root's is looked at. */
int hwmc_direct_gather(const struct hwmc_vbuf *in, const struct hwmc_vbuf *out, int root,
                       MPIR_Comm *comm);
int hwmc_direct_scatter(const struct hwmc_vbuf *in, const struct hwmc_vbuf *out, int root,
                        MPIR_Comm *comm);

/* After so many direct gathers or reduces in a row ranks wait for each other (rehearse.c): who
 * sends to a root is not held by anything else, and what the root has not asked for yet it must
 * keep. 4 hosts of 4 ranks, 1 Gbit/s, 1,000 gathers of 1 KiB in a row: 1 to 2.5 ms each without
 * that. */
#define HWMC_DIRECT_ROW 16u

/* Not in place. */
int hwmc_direct_alltoall(const struct hwmc_vbuf *in, const struct hwmc_vbuf *out, MPIR_Comm *comm);

/* An alltoallv or -w of parts that are not alike; without elements they are no message. Begin sends
 * and receives the first ones, so that others may be on the way meanwhile; end the rest, and waits
 * for all. Of a rank that has failed it waits for ever, as MPICH's own do. */
#define HWMC_DIRECT_AT_ONCE 32 /* MPICH's, by default */
struct hwmc_direct_parts {
    struct hwmc_vbuf in, out;
    MPIR_Comm *comm;
    MPIR_Request *requests[2 * HWMC_DIRECT_AT_ONCE];
    MPI_Status statuses[2 * HWMC_DIRECT_AT_ONCE];
    int num;  /* ... that are not waited for yet */
    int next; /* distance in ranks from which on nothing was sent or received */
};
int hwmc_direct_parts_begin(struct hwmc_direct_parts *x, const struct hwmc_vbuf *in,
                            const struct hwmc_vbuf *out, MPIR_Comm *comm);
int hwmc_direct_parts_end(struct hwmc_direct_parts *x);

/* The root combines all vectors, in the order of ranks, from the last one to the first. They have
 * HWMC_COLL_DIRECT_BYTES together at most. */
int hwmc_direct_reduce(struct hwmc_combination *x, int root, MPIR_Comm *comm);

/* Along a chain of ranks, each of which adds its vector to what the ranks before it have. Of
 * HWMC_COLL_DIRECT_BYTES at most. */
int hwmc_direct_scan(struct hwmc_combination *x, bool exclusive, MPIR_Comm *comm);

/* That can be: elements lie in the program's memory as they are combined, from its beginning on.
 * Depends on operation and datatype alone. */
static inline bool hwmc_direct_combines(const struct hwmc_combination *x)
{
    return x->operation.of.element > 0 && x->operation.lies && x->operation.first == 0;
}

#endif /* HWMC_ENTRY_DIRECT_H_INCLUDED */
