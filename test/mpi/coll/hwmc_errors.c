/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"

/* Wrong arguments give the errors that MPI names, on a communicator whose handler returns them,
 * and leave it usable. A receiver whose buffer is too short gets an error, not an overrun.
 *
 * -leaves   only ranks have too little room that pass nothing on in a binomial tree: from MPICH 5.0
 *           on its own broadcasts end where the error is, and who waits for that rank waits for
 *           ever */

static int expect(int code, int class, const char *what)
{
    int got = MPI_SUCCESS;

    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &got);
    if (got == class)
        return 0;
    printf("%s: error class %d instead of %d\n", what, got, class);
    fflush(stdout);
    return 1;
}

/* All ranks make the same mistake, which is found before anything is sent. */
static int wrong_arguments(MPI_Comm comm)
{
    char buf[16];
    int errs = 0, size;

    MPI_Comm_size(comm, &size);
    errs += expect(MPI_Bcast(buf, 4, MPI_BYTE, -1, comm), MPI_ERR_ROOT, "root -1");
    errs += expect(MPI_Bcast(buf, 4, MPI_BYTE, size, comm), MPI_ERR_ROOT, "root too large");
    errs += expect(MPI_Bcast(buf, -1, MPI_BYTE, 0, comm), MPI_ERR_COUNT, "count -1");
    errs += expect(MPI_Bcast(buf, 4, MPI_DATATYPE_NULL, 0, comm), MPI_ERR_TYPE, "no type");
    errs += expect(MPI_Bcast(NULL, 4, MPI_BYTE, 0, comm), MPI_ERR_BUFFER, "no buffer");
    errs += expect(MPI_Bcast(buf, 4, MPI_BYTE, 0, MPI_COMM_NULL), MPI_ERR_COMM, "no comm");
    errs += expect(MPI_Bcast(NULL, 0, MPI_BYTE, 0, comm), MPI_SUCCESS, "nothing of nothing");
    return errs;
}

/* The root sends more than the others, or the odd ones among them, have room for. */
static int too_long(MPI_Comm comm, size_t sent, size_t room, bool leaves)
{
    void *buf = hwtest_alloc(sent);
    int errs = 0, rank, code, class = MPI_SUCCESS;
    bool lacks;

    MPI_Comm_rank(comm, &rank);
    lacks = leaves ? rank % 2 == 1 : rank != 0;
    hwtest_prepare(buf, lacks ? room : sent, rank == 0, 7);
    code = MPI_Bcast(buf, (int) (lacks ? room : sent), MPI_BYTE, 0, comm);
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    if (lacks) {
        const unsigned char *guard = (unsigned char *) buf + room;
        for (int i = 0; i < HWTEST_GUARD; i++)
            errs += guard[i] != HWTEST_GUARD_BYTE;
        if (errs > 0)
            printf("%zu bytes into room for %zu: overrun\n", sent, room);
        if (class != MPI_ERR_TRUNCATE && class != MPI_ERR_OTHER) {
            printf("%zu bytes into room for %zu: error class %d\n", sent, room, class);
            errs++;
        }
        fflush(stdout);
    }
    free(buf);
    return errs;
}

int main(int argc, char **argv)
{
    bool leaves = hwtest_flag(argc, argv, "-leaves");
    int errs = 0;
    MPI_Comm comm;
    void *buf;

    MTest_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    buf = hwtest_alloc(5000);

    errs += wrong_arguments(comm);
    errs += hwtest_bcast(buf, 5000, 0, comm, 1, "after errors");
    errs += wrong_arguments(comm);
    MPI_Comm_free(&comm);

    /* The communicator of such a broadcast is not used again: MPI promises nothing for it. */
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    errs += too_long(comm, 64, 40, leaves);
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    errs += too_long(comm, 4000, 2000, leaves);
    MPI_Comm_free(&comm);
    errs += hwtest_bcast(buf, 5000, 0, MPI_COMM_WORLD, 2, "world after all");

    free(buf);
    return hwtest_finish(errs);
}
