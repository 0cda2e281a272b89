/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"

/* Info key hwmc_path: a program has the connections between the ranks of a communicator migrate
 * to another path and back while messages pass. No message may be wrong. A value that is not
 * understood changes nothing. MPI_Comm_get_info has the key if it had an effect. A library that
 * ignores the key passes.
 *
 * -adapters      the job has connections that migrate: an error if they do not, or if there is a
 *                word that has no effect
 * -report        prints all counters */

#define BYTES 100000
#define PATIENCE 60 /* s, for migrations that are asked for */

static const char *const words[] = {"1", "0", "alternate", "balance", "default", "eth1", "eth0"};
#define WORDS (int) (sizeof(words) / sizeof(*words))

static uint64_t key;

/* Each rank with each other one, both ways at the same time. */
static int exchange(MPI_Comm comm, unsigned char *out, unsigned char *in)
{
    int errs = 0, rank, size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    key += (uint64_t) size;
    for (int step = 1; step < size; step++) {
        int to = (rank + step) % size, from = (rank + size - step) % size;

        hwtest_fill(out, BYTES, key + (uint64_t) rank);
        hwtest_prepare(in, BYTES, false, 0);
        MPI_Sendrecv(out, BYTES, MPI_BYTE, to, 0, in, BYTES, MPI_BYTE, from, 0, comm,
                     MPI_STATUS_IGNORE);
        errs += hwtest_verify(in, BYTES, key + (uint64_t) from, "exchange");
    }
    hwtest_done++;
    return errs;
}

/* Of all ranks. */
static unsigned long long count_migrations(void)
{
    unsigned long long mine = hwtest_counter("hwmc_rc_moved") + hwtest_counter("hwmc_rc_migrated");
    unsigned long long all;

    MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void set_path(MPI_Comm comm, const char *word)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "hwmc_path", word);
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
}

/* Whether MPI_Comm_get_info tells that this is in effect. */
static bool has_path(MPI_Comm comm, const char *word)
{
    char value[MPI_MAX_INFO_VAL];
    MPI_Info info;
    int has;

    MPI_Comm_get_info(comm, &info);
    MPI_Info_get(info, "hwmc_path", sizeof(value) - 1, value, &has);
    MPI_Info_free(&info);
    return has && strcmp(value, word) == 0;
}

/* Exchanges until connections have migrated, which those of some ranks must. */
static int await_migration(MPI_Comm comm, unsigned long long before, unsigned char *out,
                           unsigned char *in, const char *word)
{
    double until = MPI_Wtime() + PATIENCE;
    int errs = 0, over = 0;

    while (!over && count_migrations() == before) {
        errs += exchange(comm, out, in);
        over = MPI_Wtime() > until;
        MPI_Bcast(&over, 1, MPI_INT, 0, comm);
    }
    if (over)
        printf("hwmc_path=%s: no connection has migrated\n", word);
    return errs + over;
}

static int go_everywhere(MPI_Comm comm, bool adapters, unsigned char *out, unsigned char *in)
{
    int errs = exchange(comm, out, in);

    for (int i = 0; i < WORDS; i++) {
        unsigned long long before = count_migrations();

        set_path(comm, words[i]);
        if (adapters) {
            errs += await_migration(comm, before, out, in, words[i]);
            if (!has_path(comm, words[i])) {
                printf("hwmc_path=%s: MPI_Comm_get_info does not tell\n", words[i]);
                errs++;
            }
        }
        for (int k = 0; k < 3; k++)
            errs += exchange(comm, out, in);
    }
    return errs;
}

/* Words that make no sense change nothing, not even what is told. */
static int make_no_sense(MPI_Comm comm, unsigned char *out, unsigned char *in)
{
    static const char *const nonsense[] = {
        "7", "eth9", " 1", "-1", "balanced", "a word of more than thirty-two characters, alas"};
    unsigned long long ignored = hwtest_counter("hwmc_path_ignored");
    unsigned long long asked = hwtest_counter("hwmc_path_asked");
    int errs = 0;

    for (size_t i = 0; i < sizeof(nonsense) / sizeof(*nonsense); i++) {
        set_path(comm, nonsense[i]);
        errs += has_path(comm, nonsense[i]);
    }
    if (hwtest_counter("hwmc_path_ignored") - ignored !=
        hwtest_counter("hwmc_path_asked") - asked) {
        printf("nonsense was not ignored\n");
        errs++;
    }
    return errs + exchange(comm, out, in);
}

static bool is_ours(const char *name)
{
    return strncmp(name, "hwmc_", 5) == 0;
}

int main(int argc, char **argv)
{
    unsigned char *out = hwtest_alloc(BYTES), *in = hwtest_alloc(BYTES);
    MPI_Comm comm;
    int errs;

    MTest_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    errs = make_no_sense(comm, out, in);
    errs += go_everywhere(comm, hwtest_flag(argc, argv, "-adapters"), out, in);
    errs += make_no_sense(comm, out, in);
    MPI_Comm_free(&comm);
    if (hwtest_flag(argc, argv, "-report"))
        hwtest_print_counters(is_ours);
    free(out);
    free(in);
    return hwtest_finish(errs);
}
