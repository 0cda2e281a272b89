/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"

/* Processes at several sites: broadcasts from every root, of lengths around a segment's, on
 * communicators whose ranks are sorted by site, mixed, and all at one site. Along trees every rank
 * but the root gets every segment once, whatever the sites.
 *
 * -sites=N       so many sites, of neighbouring ranks (1)
 * -mixed         ranks are dealt to the sites by turns instead
 * -partly        only ranks of the first site are told where they are
 * -subnets=N     nobody is told: neighbouring hosts are in so many subnets, each a site
 * -report        prints all counters */

static int all_roots(void *buf, MPI_Comm comm, const char *what)
{
    static const size_t sizes[] = {1, 100, 8192, 8193, 40000, 300000};
    int errs = 0, size;

    MPI_Comm_size(comm, &size);
    for (int root = 0; root < size; root++)
        for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
            errs += hwtest_bcast(buf, sizes[i], root, comm, (uint64_t) root * 8 + i, what);
    return errs;
}

/* What is sent in all is what is received in all. */
static int compare_segments(void)
{
    unsigned long long mine[2] = {hwtest_counter("hwmc_sent_segments"),
                                  hwtest_counter("hwmc_got_segments")};
    unsigned long long all[2];

    MPI_Allreduce(mine, all, 2, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (all[0] == all[1])
        return 0;
    printf("%llu segments sent, %llu received\n", all[0], all[1]);
    fflush(stdout);
    return 1;
}

static bool is_ours(const char *name)
{
    return strncmp(name, "hwmc_", 5) == 0;
}

int main(int argc, char **argv)
{
    int errs = 0, provided, rank, size, site;
    MPI_Comm comm;
    void *buf;

    hwtest_settle(argc, argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MTest_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    site = hwtest_site(argc, argv, rank, size);
    if (hwtest_option(argc, argv, "-subnets", 0) > 0)
        site = (int) (rank * hwtest_option(argc, argv, "-subnets", 0) / size);
    buf = hwtest_alloc(300000);
    errs += all_roots(buf, MPI_COMM_WORLD, "world");
    MPI_Comm_split(MPI_COMM_WORLD, 0, (int) (hwtest_mix((uint64_t) rank) % 1000), &comm);
    errs += all_roots(buf, comm, "another order");
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, site, rank, &comm);
    errs += all_roots(buf, comm, "one site");
    MPI_Comm_free(&comm);
    MPI_Barrier(MPI_COMM_WORLD);
    errs += compare_segments();
    if (hwtest_flag(argc, argv, "-report"))
        hwtest_print_counters(is_ours);
    free(buf);
    errs = hwtest_finish(errs);
    MPI_T_finalize();
    return errs;
}
