/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"

/* One large message, by MPI_Bcast and by the function that takes a large count, contiguous and
 * with holes. -mib=N is its size. */

static int with_holes(void *buf, size_t bytes, bool is_root)
{
    /* every second block of 4096 bytes: half of the buffer travels */
    MPI_Datatype type;
    int errs = 0, blocks = (int) (bytes / 8192);

    MPI_Type_vector(blocks, 4096, 8192, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    if (is_root)
        hwtest_fill(buf, bytes, 3);
    else
        memset(buf, HWTEST_POISON, bytes);
    MPI_Bcast(buf, 1, type, 0, MPI_COMM_WORLD);
    MPI_Type_free(&type);

    /* The pattern is a function of place, so a block is checked as the difference of two. */
    void *expected = hwtest_alloc(bytes);
    hwtest_fill(expected, bytes, 3);
    for (int i = 0; i < blocks; i++) {
        size_t at = (size_t) i * 8192;
        if (memcmp((char *) buf + at, (char *) expected + at, 4096) != 0 && errs++ == 0)
            printf("with holes: block %d is wrong\n", i);
    }
    free(expected);
    return errs;
}

int main(int argc, char **argv)
{
    int errs = 0, rank, size;
    size_t bytes;
    void *buf;

    MTest_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    bytes = ((size_t) hwtest_option(argc, argv, "-mib", 96) << 20) + 13;
    buf = hwtest_alloc(bytes);

    errs += hwtest_bcast(buf, bytes, size - 1, MPI_COMM_WORLD, 1, "large");
#if MTEST_HAVE_MIN_MPI_VERSION(4, 0)
    hwtest_prepare(buf, bytes, rank == 0, 2);
    MPI_Bcast_c(buf, (MPI_Count) bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    errs += hwtest_verify(buf, bytes, 2, "large count");
#endif
    errs += with_holes(buf, bytes - 13, rank == 0);

    free(buf);
    return hwtest_finish(errs);
}
