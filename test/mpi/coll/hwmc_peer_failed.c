/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include <sys/mman.h>
#include <unistd.h>
#include "hwmc_util.h"

/* A host goes for good, and every rank gets to know: broadcasts from all roots until one fails, and
 * the error's text from each rank; then it stays until it is ended. Errors return. The memory of
 * the broadcast that failed is unmapped at once, and MPI goes on without it.
 *
 * -bytes=N is how long messages are, -first=N how many there are before anything goes. -setup=1:
 * the host goes before the first broadcast on a communicator. -finalize=1: before MPI_Finalize.
 * Both begin that once the file in HWTEST_GO is there. */

#define AFTER 2000 /* calls of MPI when it has */

static void *map(size_t bytes)
{
    void *buf = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (buf == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return buf;
}

/* Whoever still has an eye on it dies of that here. */
static void unmap(void *buf, size_t bytes)
{
    int flag;

    munmap(buf, bytes);
    for (int i = 0; i < AFTER; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static void wait_for_go(void)
{
    const char *path = getenv("HWTEST_GO");

    while (path != NULL && access(path, F_OK) != 0)
        usleep(10000);
}

static int broadcast(MPI_Comm comm, void *buf, size_t bytes, int number)
{
    int rank, size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    hwtest_prepare(buf, bytes, rank == number % size, (uint64_t) number);
    return MPI_Bcast(buf, (int) bytes, MPI_BYTE, number % size, comm);
}

/* The last line of the text: what the others call says nothing more. */
static void tell(int rank, int err)
{
    char text[MPI_MAX_ERROR_STRING];
    int len;

    MPI_Error_string(err, text, &len);
    for (char *at = text; *at != '\0'; at++)
        if (*at == '\n')
            *at = ' ';
    printf("rank %d failed: %s\n", rank, text);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int rank, err = MPI_SUCCESS, errs = 0, number = 0;
    int first;
    size_t bytes;
    bool setup, finalize;
    MPI_Comm other;
    void *buf;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bytes = (size_t) hwtest_option(argc, argv, "-bytes", 1000);
    first = (int) hwtest_option(argc, argv, "-first", 20);
    setup = hwtest_option(argc, argv, "-setup", 0) != 0;
    finalize = hwtest_option(argc, argv, "-finalize", 0) != 0;
    buf = map(bytes + HWTEST_GUARD);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
    for (; number < first && errs == 0; number++) {
        errs += broadcast(MPI_COMM_WORLD, buf, bytes, number) != MPI_SUCCESS;
        errs += hwtest_verify(buf, bytes, (uint64_t) number, "before");
    }
    if (errs > 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("running\n");
        fflush(stdout);
    }
    if (setup || finalize)
        wait_for_go();
    while (err == MPI_SUCCESS && !finalize)
        err = broadcast(setup ? other : MPI_COMM_WORLD, buf, bytes, number++);
    if (finalize) {
        MPI_Finalize();
    } else {
        unmap(buf, bytes + HWTEST_GUARD);
        tell(rank, err);
    }
    while (true)
        pause();
}
