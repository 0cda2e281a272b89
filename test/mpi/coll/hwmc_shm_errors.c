/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_families.h"
#include "hwmc_forms.h"

/* Ranks whose messages differ in length: who has too little room gets an error, nobody waits for
 * ever, nothing is written behind a buffer, and other communicators are as before. The communicator
 * itself is not used again: MPI promises nothing for it.
 *
 * MPI promises nothing for these calls either, and many algorithms of MPICH and Open MPI wait for
 * ever. So long broadcasts and gathers are for where it is known that they do not:
 *
 * -long     broadcasts that are not short
 * -gather   gathers to a root that has room for less than is sent */

#define ROOM ((size_t) 200000)
#define WARM 8 /* calls before, so that the communicator has all it will have */

struct mismatch {
    size_t sent, room;
};

static int report(const char *what, const struct mismatch *m, const char *wrong)
{
    printf("%s of %zu bytes into room for %zu: %s\n", what, m->sent, m->room, wrong);
    fflush(stdout);
    return 1;
}

static bool guarded(const unsigned char *buf, size_t bytes)
{
    for (size_t i = 0; i < HWTEST_GUARD; i++) {
        if (buf[bytes + i] != HWTEST_GUARD_BYTE)
            return false;
    }
    return true;
}

/* The last rank has room for another length than the root sends; it passes nothing on. */
static int bcast(MPI_Comm comm, const struct mismatch *m)
{
    unsigned char *buf = hwtest_alloc(ROOM);
    int errs = 0, rank, size, code;
    bool differs;
    size_t bytes;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    differs = rank == size - 1 && size > 1;
    bytes = differs ? m->room : m->sent;
    hwtest_prepare(buf, bytes, rank == 0, 5);
    code = MPI_Bcast(buf, (int) bytes, MPI_BYTE, 0, comm);
    if (!guarded(buf, bytes))
        errs += report("bcast", m, "overrun");
    if (differs && m->sent > m->room && code == MPI_SUCCESS)
        errs += report("bcast", m, "no error");
    free(buf);
    return errs;
}

/* The root has room for less than each of the others sends. */
static int gather(MPI_Comm comm, const struct mismatch *m)
{
    unsigned char *buf = hwtest_alloc(ROOM), *parts;
    int errs = 0, rank, size, code;
    size_t bytes;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    parts = hwtest_alloc(ROOM * (size_t) size);
    bytes = rank == 0 ? m->room : m->sent;
    hwtest_prepare(buf, bytes, true, 6);
    hwtest_prepare(parts, m->room * (size_t) size, false, 0);
    code = MPI_Gather(buf, (int) bytes, MPI_BYTE, parts, (int) m->room, MPI_BYTE, 0, comm);
    if (!guarded(parts, m->room * (size_t) size))
        errs += report("gather", m, "overrun");
    if (rank == 0 && size > 1 && m->sent > m->room && code == MPI_SUCCESS)
        errs += report("gather", m, "no error");
    free(parts);
    free(buf);
    return errs;
}

/* On a communicator of its own, that has been in use. */
static int on_its_own(struct hwtest_call *c, int (*what)(MPI_Comm, const struct mismatch *),
                      const struct mismatch *m, uint64_t *state)
{
    int errs = 0;

    MPI_Comm_dup(MPI_COMM_WORLD, &c->comm);
    for (int i = 0; i < WARM; i++)
        errs += hwtest_any_call(c, state, 3000);
    errs += what(c->comm, m);
    MPI_Comm_free(&c->comm);
    c->comm = MPI_COMM_WORLD;
    for (int i = 0; i < WARM; i++)
        errs += hwtest_any_call(c, state, 3000);
    return errs;
}

int main(int argc, char **argv)
{
    static const struct mismatch cases[] = {{64, 40},       {89, 88},         {4000, 2000},
                                            {70000, 300},   {70000, 65536},   {200000, 100000},
                                            {2000, 4000},   {300, 70000},     {100000, 200000},
                                            {40000, 40001}, {120000, 119999}, {88, 89}};
    struct hwtest_call call;
    uint64_t state = 9;
    int errs = 0, size;
    size_t most;
    bool gathers;

    MTest_Init(&argc, &argv);
    hwtest_forms_init(argc, argv);
    most = hwtest_flag(argc, argv, "-long") ? ROOM : 4000;
    gathers = hwtest_flag(argc, argv, "-gather");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    hwtest_call_init(&call, MPI_COMM_WORLD, hwtest_families_room(3000, size));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (cases[i].sent <= most && cases[i].room <= most)
            errs += on_its_own(&call, bcast, &cases[i], &state);
        if (gathers && cases[i].sent > cases[i].room)
            errs += on_its_own(&call, gather, &cases[i], &state);
    }
    hwtest_call_free(&call);
    return hwtest_finish(errs + hwtest_forms_check());
}
