/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_refused.h"
#include "hwmc_util.h"

/* A rank has no memory for a collective over hosts, of LONG bytes a rank: some rank gets an error,
 * and nobody waits for ever, then, in the calls that follow, or when the communicator is freed.
 * With MPIR_CVAR_HWMC_TUNE=setup_after=0,setup_ahead=0, so that hwmc runs them. Up to RANKS ranks.
 *
 *   -interleaved   the ranks of a host do not follow each other: no reductions, some of which are
 *                  MPICH's then
 * Some call must have asked for memory. */

#define LONG 60000
#define RANKS 8
#define SETUP 3     /* collectives after which a communicator is set up */
#define LEAST 50000 /* bytes: shorter requests are given */

enum call { REDUCE, ALLREDUCE, SCAN, SCATTER_SUM, GATHER, SCATTER, ALLGATHER, BCAST, CALLS };

static char in[RANKS * LONG], out[2 * RANKS * LONG];

static int call_it(enum call call, int root, MPI_Datatype apart, MPI_Comm comm)
{
    switch (call) {
        case REDUCE:
            return MPI_Reduce(in, out, LONG, MPI_CHAR, MPI_MAX, root, comm);
        case ALLREDUCE:
            return MPI_Allreduce(in, out, LONG, MPI_CHAR, MPI_MAX, comm);
        case SCAN:
            return MPI_Scan(in, out, LONG, MPI_CHAR, MPI_MAX, comm);
        case SCATTER_SUM:
            return MPI_Reduce_scatter_block(in, out, LONG, MPI_CHAR, MPI_MAX, comm);
        case GATHER:
            return MPI_Gather(in, LONG, MPI_CHAR, out, 1, apart, root, comm);
        case SCATTER:
            return MPI_Scatter(in, LONG, MPI_CHAR, out, 1, apart, root, comm);
        case ALLGATHER:
            return MPI_Allgather(in, LONG, MPI_CHAR, out, 1, apart, comm);
        default:
            return MPI_Bcast(out, 1, apart, root, comm);
    }
}

/* Adds to *refusals those of all ranks. */
static int without(enum call call, int root, int odd, MPI_Datatype apart, int *refusals)
{
    int rank, mine[2] = {0, 0}, all[2];
    char byte = 0, most;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < SETUP; i++)
        MPI_Allreduce(&byte, &most, 1, MPI_CHAR, MPI_MAX, comm);
    if (rank == odd)
        hwtest_refuse(LEAST, SIZE_MAX);
    mine[0] = call_it(call, root, apart, comm) != MPI_SUCCESS;
    hwtest_refuse_none();
    mine[1] = rank == odd ? hwtest_refusals : 0;
    for (int i = 0; i < 2; i++)
        call_it(call, root, apart, comm);
    MPI_Comm_free(&comm);
    MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    *refusals += all[1];
    if ((all[0] > 0) == (all[1] > 0) || rank > 0)
        return 0;
    printf("call %d, root %d: rank %d was refused memory %d times, and %d ranks have errors\n",
           (int) call, root, odd, all[1], all[0]);
    return 1;
}

int main(int argc, char **argv)
{
    const bool interleaved = hwtest_flag(argc, argv, "-interleaved");
    int errs = 0, size, refusals = 0;
    MPI_Datatype apart;

    MTest_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    hwtest_refused_init();
    MPI_Type_vector(LONG, 1, 2, MPI_CHAR, &apart);
    MPI_Type_commit(&apart);
    for (int call = interleaved ? GATHER : 0; call < CALLS; call++)
        for (int root = 0; root < 2; root++)
            for (int odd = 0; odd < size; odd++)
                errs += without((enum call) call, root, odd, apart, &refusals);
    MPI_Type_free(&apart);
    if (refusals == 0)
        printf("nobody was refused memory\n");
    errs += refusals == 0;
    return hwtest_finish(errs);
}
