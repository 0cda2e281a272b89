/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include <sys/mman.h>
#include <unistd.h>
#include "hwmc_families.h"

/* A host goes for good, and every rank gets to know: broadcasts from all roots until one fails, and
 * the error's text from each rank; then it stays until it is ended. Errors return. The memory of
 * the call that failed is unmapped at once, and MPI goes on without it.
 *
 * -bytes=N is how long messages are, -first=N how many there are before anything goes. -setup=1:
 * the host goes before the first broadcast on a communicator. -finalize=1: before MPI_Finalize.
 * Both begin that once the file in HWTEST_GO is there.
 *
 * -call=NAME: another collective than bcast (hwmc_families.h), of so many bytes in all; -started=1:
 * nonblocking. -gone=A,B: ranks A to B are the host's. Then those and the others each make a
 * communicator of theirs and go on with the collective: "rank N goes on". */

#define AFTER 2000    /* calls of MPI when it has */
#define MORE 20       /* of the collective on the new communicator */
#define LOOK_US 20000 /* from one call of MPI to the next, at the end */

struct test {
    MPI_Comm comm;
    struct hwtest_call call;
    size_t bytes;
    int rank, size, number, family;
    enum hwtest_how how;
};

static int seen = MPI_SUCCESS; /* the first error of a collective */

static void note_error(MPI_Comm *comm, int *err, ...)
{
    (void) comm;
    if (seen == MPI_SUCCESS)
        seen = *err;
}

static void *map(size_t bytes)
{
    void *buf = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (buf == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return buf;
}

static void map_call(struct test *t)
{
    struct hwtest_call *c = &t->call;

    c->comm = t->comm;
    c->room = hwtest_families_room(t->bytes, t->size) + HWTEST_GUARD;
    c->send = map(c->room);
    c->recv = map(c->room);
    c->want = map(c->room);
}

/* Not of MPI_COMM_SELF: that makes no progress. */
static void look(void)
{
    int flag;

    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

/* Whoever still has an eye on it dies of that here. */
static void unmap_call(struct test *t)
{
    munmap(t->call.send, t->call.room);
    munmap(t->call.recv, t->call.room);
    munmap(t->call.want, t->call.room);
    for (int i = 0; i < AFTER; i++)
        look();
}

static void wait_for_go(void)
{
    const char *path = getenv("HWTEST_GO");

    while (path != NULL && access(path, F_OK) != 0)
        usleep(10000);
}

/* One collective; of one without an error wrong bytes, if any. */
static int collective(struct test *t)
{
    hwtest_family_set(&t->call, t->family, 0, t->number % t->size, t->bytes);
    hwtest_family_prepare(&t->call, (uint64_t) t->number++);
    hwtest_family_issue(&t->call, t->how);
    if (t->how == HWTEST_STARTS && seen == MPI_SUCCESS) {
        const int err = MPI_Wait(&t->call.request, MPI_STATUS_IGNORE);

        seen = seen == MPI_SUCCESS ? err : seen;
    }
    if (seen != MPI_SUCCESS || strcmp(t->call.name, "barrier") == 0)
        return 0;
    return hwtest_compare(&t->call);
}

static void use(struct test *t, MPI_Comm comm)
{
    MPI_Errhandler handler;

    t->comm = t->call.comm = comm;
    MPI_Comm_rank(comm, &t->rank);
    MPI_Comm_size(comm, &t->size);
    MPI_Comm_create_errhandler(note_error, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
}

/* The last line of the text: what the others call says nothing more. */
static void tell(int rank)
{
    char text[MPI_MAX_ERROR_STRING];
    int len;

    MPI_Error_string(seen, text, &len);
    for (char *at = text; *at != '\0'; at++)
        if (*at == '\n')
            *at = ' ';
    printf("rank %d failed: %s\n", rank, text);
    fflush(stdout);
}

/* Ranks from gone[0] to gone[1], or all others, whichever this one is of. */
static void go_on(struct test *t, int gone[2])
{
    int range[1][3] = {{gone[0], gone[1], 1}}, errs = 0, rank = t->rank;
    MPI_Group world, part;
    MPI_Comm comm;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    if (rank >= gone[0] && rank <= gone[1])
        MPI_Group_range_incl(world, 1, range, &part);
    else
        MPI_Group_range_excl(world, 1, range, &part);
    MPI_Comm_create_group(MPI_COMM_WORLD, part, 1, &comm);
    seen = MPI_SUCCESS;
    t->number = 0; /* ranks may have failed in different calls */
    use(t, comm);
    map_call(t);
    for (int i = 0; i < MORE && errs == 0 && seen == MPI_SUCCESS; i++)
        errs = collective(t);
    if (errs > 0 || seen != MPI_SUCCESS)
        tell(rank);
    else
        printf("rank %d goes on\n", rank);
    fflush(stdout);
    while (usleep(LOOK_US) == 0) /* others may wait for what is on its way from here */
        look();
}

static void parse(int argc, char **argv, struct test *t, int gone[2])
{
    const char *name = "bcast";

    t->bytes = (size_t) hwtest_option(argc, argv, "-bytes", 1000);
    t->how = hwtest_option(argc, argv, "-started", 0) != 0 ? HWTEST_STARTS : HWTEST_WAITS;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "-call=", 6) == 0)
            name = argv[i] + 6;
        if (strncmp(argv[i], "-gone=", 6) == 0)
            sscanf(argv[i] + 6, "%d,%d", &gone[0], &gone[1]);
    }
    while (t->family < HWTEST_FAMILIES && strcmp(hwtest_families[t->family].name, name) != 0)
        t->family++;
    if (t->family == HWTEST_FAMILIES)
        MPI_Abort(MPI_COMM_WORLD, 2);
}

int main(int argc, char **argv)
{
    struct test t = {.number = 0};
    int errs = 0, gone[2] = {-1, -1};
    int first;
    bool setup, finalize;
    MPI_Comm other;

    MPI_Init(&argc, &argv);
    parse(argc, argv, &t, gone);
    first = (int) hwtest_option(argc, argv, "-first", 20);
    setup = hwtest_option(argc, argv, "-setup", 0) != 0;
    finalize = hwtest_option(argc, argv, "-finalize", 0) != 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    use(&t, MPI_COMM_WORLD);
    map_call(&t);
    while (t.number < first && errs == 0)
        errs += collective(&t) + (seen != MPI_SUCCESS);
    if (errs > 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (t.rank == 0) {
        printf("running\n");
        fflush(stdout);
    }
    if (setup || finalize)
        wait_for_go();
    if (setup)
        use(&t, other);
    while (seen == MPI_SUCCESS && errs == 0 && !finalize)
        errs += collective(&t);
    if (errs > 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (finalize) {
        MPI_Finalize();
    } else {
        unmap_call(&t);
        tell(t.rank);
    }
    if (gone[0] >= 0)
        go_on(&t, gone);
    while (true)
        pause();
}
