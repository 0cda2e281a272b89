/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"

/* Every rank takes the same one, hwmc or MPICH, for each collective over hosts, whatever differs
 * between them: all but rank 0 are told other figures of the network. Each notes who ran each
 * collective, by what the counters grew; at the end the notes are compared.
 *
 *   -ours      fail if some was not hwmc's once the communicator was ready
 *   -left      fail if some was hwmc's
 *   -both      fail if one of them ran none
 *   -barriers=hw, -barriers=mpich   fail if one was run by another one, once it was ready
 *   -report    print the counters
 *   -verbose   rank 0 prints its notes */

#define LENGTHS 4
#define ROUNDS 8
#define MOST 65536 /* bytes of a part */
#define COLLS 8
#define NOTES (COLLS * LENGTHS * ROUNDS)

enum who { OURS = 'h', LEFT = 'm', NOT_READY = '.' };

static const char *const names[COLLS] = {"barrier", "reduce",    "allreduce", "gather",
                                         "scatter", "allgather", "alltoall",  "reduce_scatter"};
static char *in, *out;

/* Before MPI reads the environment: what rank 0 is told counts. */
static void differ(void)
{
    const char *text = getenv("PMI_RANK");
    const int rank = text ? atoi(text) : 0;

    if (rank > 0)
        setenv("MPIR_CVAR_HWMC_NETWORK",
               rank % 2 ? "latency_us=1,mbit=40000" : "latency_us=900,mbit=1,loaded_us=90000", 1);
}

static void run_one(int coll, int count, MPI_Comm comm)
{
    switch (coll) {
        case 0:
            MPI_Barrier(comm);
            break;
        case 1:
            MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, 0, comm);
            break;
        case 2:
            MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
            break;
        case 3:
            MPI_Gather(in, count, MPI_INT, out, count, MPI_INT, 0, comm);
            break;
        case 4:
            MPI_Scatter(in, count, MPI_INT, out, count, MPI_INT, 0, comm);
            break;
        case 5:
            MPI_Allgather(in, count, MPI_INT, out, count, MPI_INT, comm);
            break;
        case 6:
            MPI_Alltoall(in, count, MPI_INT, out, count, MPI_INT, comm);
            break;
        default:
            MPI_Reduce_scatter_block(in, out, count, MPI_INT, MPI_SUM, comm);
    }
}

static char note(int coll, int count, MPI_Comm comm)
{
    const unsigned long long ours = hwtest_counter("hwmc_spread_calls");
    const unsigned long long left = hwtest_counter("hwmc_spread_left");

    run_one(coll, count, comm);
    if (hwtest_counter("hwmc_spread_calls") > ours)
        return OURS;
    return hwtest_counter("hwmc_spread_left") > left ? LEFT : NOT_READY;
}

static void note_all(char *notes, MPI_Comm comm)
{
    static const int counts[LENGTHS] = {1, 1024, 8192, MOST / (int) sizeof(int)};

    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < LENGTHS; i++)
            for (int coll = 0; coll < COLLS; coll++)
                *notes++ = note(coll, counts[i], comm);
}

static int compare(const char *notes, MPI_Comm comm)
{
    int errs = 0, rank, size;
    char *all;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    all = malloc((size_t) size * NOTES);
    MPI_Allgather(notes, NOTES, MPI_CHAR, all, NOTES, MPI_CHAR, comm);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < NOTES; i++)
            if (all[r * NOTES + i] != notes[i] && errs++ == 0)
                printf("call %d, %s: rank %d notes %c, rank %d %c\n", i, names[i % COLLS], rank,
                       notes[i], r, all[r * NOTES + i]);
    fflush(stdout);
    free(all);
    return errs;
}

/* From the first call on that was hwmc's to decide all have to be hwmc's. */
static int all_ours(const char *notes)
{
    const size_t first = strspn(notes, (char[]){NOT_READY, '\0'});
    const size_t ours = strspn(notes + first, (char[]){OURS, '\0'});

    if (ours > 0 && first + ours == NOTES)
        return 0;
    printf("call %d is not hwmc's\n", (int) (first + ours));
    fflush(stdout);
    return 1;
}

static int barriers(const char *notes, enum who who)
{
    size_t i = strspn(notes, (char[]){NOT_READY, '\0'});

    for (i = (i + COLLS - 1) / COLLS * COLLS; i < NOTES; i += COLLS) {
        if (notes[i] == (char) who)
            continue;
        printf("call %d, a barrier, is %c, not %c\n", (int) i, notes[i], who);
        fflush(stdout);
        return 1;
    }
    return 0;
}

static bool is_spread(const char *name)
{
    return strncmp(name, "hwmc_spread_", 12) == 0;
}

int main(int argc, char **argv)
{
    int errs = 0, rank, size, provided;
    char notes[NOTES + 1] = "";
    MPI_Comm comm;

    differ();
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MTest_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    in = calloc((size_t) size, MOST);
    out = calloc((size_t) size, MOST);
    note_all(notes, comm);
    errs += compare(notes, comm);
    if (hwtest_flag(argc, argv, "-ours"))
        errs += all_ours(notes);
    errs += hwtest_flag(argc, argv, "-left") && strchr(notes, OURS);
    if (hwtest_flag(argc, argv, "-barriers=hw"))
        errs += barriers(notes, OURS);
    if (hwtest_flag(argc, argv, "-barriers=mpich"))
        errs += barriers(notes, LEFT);
    if (hwtest_flag(argc, argv, "-report"))
        hwtest_print_counters(is_spread);
    if (hwtest_flag(argc, argv, "-both") && (!strchr(notes, OURS) || !strchr(notes, LEFT))) {
        printf("all were run by one\n");
        errs++;
    }
    if (hwtest_flag(argc, argv, "-verbose") && rank == 0)
        fprintf(stderr, "%s\n", notes);
    free(in);
    free(out);
    MPI_Comm_free(&comm);
    errs = hwtest_finish(errs);
    MPI_T_finalize();
    return errs;
}
