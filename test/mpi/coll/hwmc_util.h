/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_TEST_MPI_UTIL_H_INCLUDED
#define HWMC_TEST_MPI_UTIL_H_INCLUDED

/* What the hwmc_* programs share: data that tells a wrong, stale or shifted byte from a right
 * one, a broadcast that is checked on every rank, and command line options.
 *
 * Every rank knows what a broadcast must deliver: its bytes follow from a key, which the ranks
 * count alike. */

#ifdef HWTEST_WITHOUT_MTEST
#include <mpi.h>
#else
#include "mpitest.h"
#endif
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HWTEST_GUARD 64 /* bytes behind the data that a broadcast must leave alone */
#define HWTEST_GUARD_BYTE 0xa5
#define HWTEST_POISON 0x5a
#define HWTEST_MAX_PRINTED 10

/* splitmix64: the same numbers on all ranks and machines */
static inline uint64_t hwtest_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/* The next number below bound of the generator; bound > 0. */
static inline uint64_t hwtest_random(uint64_t *state, uint64_t bound)
{
    return hwtest_mix((*state)++) % bound;
}

/* A size up to max: small ones are common and large ones rare, so that each order of magnitude
 * takes its share of the time. */
static inline size_t hwtest_random_bytes(uint64_t *state, size_t max)
{
    unsigned most = 20, bits;
    size_t bytes;

    while (most < 40 && ((size_t) 2 << most) <= max)
        most++;
    bits = (unsigned) hwtest_random(state, most + 1);
    if (hwtest_random(state, 8) != 0)
        bits /= 2;
    bytes = hwtest_random(state, ((size_t) 1 << bits) + 1);
    return bytes <= max ? bytes : bytes % (max + 1);
}

static inline void hwtest_fill(void *buf, size_t bytes, uint64_t key)
{
    unsigned char *p = buf;

    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = hwtest_mix(hwtest_mix(key) + i);
        memcpy(p + i, &word, bytes - i < 8 ? bytes - i : 8);
    }
}

/* Returns the number of wrong bytes, and prints where the first is. */
static inline int hwtest_check(const void *buf, size_t bytes, uint64_t key, const char *what)
{
    static int printed;
    const unsigned char *p = buf;
    size_t wrong = 0, first = 0;

    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = hwtest_mix(hwtest_mix(key) + i);
        size_t n = bytes - i < 8 ? bytes - i : 8;
        if (memcmp(p + i, &word, n) == 0)
            continue;
        for (size_t j = 0; j < n; j++) {
            if (p[i + j] != ((unsigned char *) &word)[j] && wrong++ == 0)
                first = i + j;
        }
    }
    if (wrong > 0 && printed++ < HWTEST_MAX_PRINTED) {
        int rank;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        printf("rank %d, %s, key %llu: %zu of %zu bytes wrong, the first at %zu\n", rank, what,
               (unsigned long long) key, wrong, bytes, first);
        fflush(stdout);
    }
    return wrong > 0;
}

/* A buffer for up to max bytes, and a guard behind them. */
static inline void *hwtest_alloc(size_t max)
{
    void *buf = malloc(max + HWTEST_GUARD);

    if (buf == NULL) {
        printf("no memory for %zu bytes\n", max);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return buf;
}

static inline void hwtest_prepare(void *buf, size_t bytes, bool is_root, uint64_t key)
{
    if (is_root)
        hwtest_fill(buf, bytes, key);
    else
        memset(buf, HWTEST_POISON, bytes);
    memset((char *) buf + bytes, HWTEST_GUARD_BYTE, HWTEST_GUARD);
}

static inline int hwtest_verify(const void *buf, size_t bytes, uint64_t key, const char *what)
{
    const unsigned char *guard = (const unsigned char *) buf + bytes;
    int errs = hwtest_check(buf, bytes, key, what);

    for (int i = 0; i < HWTEST_GUARD; i++) {
        if (guard[i] != HWTEST_GUARD_BYTE) {
            printf("%s, %zu bytes: written %d bytes behind the buffer\n", what, bytes, i);
            fflush(stdout);
            return errs + 1;
        }
    }
    return errs;
}

/* Broadcasts that this rank has checked, and their bytes. */
static _Atomic unsigned long long hwtest_done, hwtest_done_bytes; /* threads count together */

/* One broadcast of bytes, checked on every rank; buf is from hwtest_alloc. Returns errors. */
static inline int hwtest_bcast(void *buf, size_t bytes, int root, MPI_Comm comm, uint64_t key,
                               const char *what)
{
    int rank;

    MPI_Comm_rank(comm, &rank);
    hwtest_prepare(buf, bytes, rank == root, key);
    MPI_Bcast(buf, (int) bytes, MPI_BYTE, root, comm);
    hwtest_done++;
    hwtest_done_bytes += bytes;
    return hwtest_verify(buf, bytes, key, what);
}

#define HWTEST_REQUESTS 16

/* Completes `num` requests, HWTEST_REQUESTS at most, by one of MPI's functions for that: `manner`
 * says which one, and a program counts it up. */
static inline void hwtest_complete_all(MPI_Request *requests, int num, int manner)
{
    MPI_Status statuses[HWTEST_REQUESTS];
    int indices[HWTEST_REQUESTS], done, left = num, flag;

    switch (manner % 5) {
        case 0:
            MPI_Waitall(num, requests, statuses);
            break;
        case 1:
            for (int i = num - 1; i >= 0; i--)
                MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
            break;
        case 2:
            while (left-- > 0)
                MPI_Waitany(num, requests, &done, &statuses[0]);
            break;
        case 3:
            while (left > 0) {
                MPI_Testsome(num, requests, &done, indices, statuses);
                left = done == MPI_UNDEFINED ? 0 : left - done; /* undefined: none is active */
            }
            break;
        default:
            do
                MPI_Testall(num, requests, &flag, statuses);
            while (!flag);
    }
}

/* The value of an option -name=VALUE, or otherwise. */
static inline double hwtest_option(int argc, char **argv, const char *name, double otherwise)
{
    size_t length = strlen(name);

    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=')
            return atof(argv[i] + length + 1);
    }
    return otherwise;
}

static inline bool hwtest_flag(int argc, char **argv, const char *name)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], name) == 0)
            return true;
    }
    return false;
}

/* The site of a rank: with -sites=N one of N, of neighbouring ranks, or dealt by turns with
 * -mixed. */
static inline int hwtest_site(int argc, char **argv, int rank, int size)
{
    int sites = (int) hwtest_option(argc, argv, "-sites", 1);

    return hwtest_flag(argc, argv, "-mixed") ? rank % sites : (int) ((long) rank * sites / size);
}

/* Names this process's site, with -partly only on the first one; with -near=N this process is near
 * to rail number rank mod N. To be called before MPI reads the environment, which the process
 * manager has given its part. */
static inline void hwtest_settle(int argc, char **argv)
{
    const char *rank = getenv("PMI_RANK"), *size = getenv("PMI_SIZE");
    int near = (int) hwtest_option(argc, argv, "-near", 0);
    char name[32];
    int site;

    if (rank != NULL && near > 0) {
        snprintf(name, sizeof(name), "near_rail=%d", atoi(rank) % near);
        setenv("MPIR_CVAR_HWMC_DEBUG", name, 1);
    }
    if (rank == NULL || size == NULL || hwtest_option(argc, argv, "-sites", 1) < 2)
        return;
    site = hwtest_site(argc, argv, atoi(rank), atoi(size));
    snprintf(name, sizeof(name), "site %d", site);
    if (site == 0 || !hwtest_flag(argc, argv, "-partly"))
        setenv("MPIR_CVAR_HWMC_SITE", name, 1);
}

/* Be away from MPI for some time without giving up the processor. */
static inline void hwtest_compute(double seconds)
{
    double end = MPI_Wtime() + seconds;

    while (MPI_Wtime() < end)
        ;
}

/* The value of a performance variable that counts and belongs to no object; 0 if there is none. The
 * tools interface stays open: closed and opened again, that of MPICH 4.0 ends a program. */
static inline unsigned long long hwtest_counter(const char *wanted)
{
    static bool is_open;
    unsigned long long value[1] = {0};
    MPI_T_pvar_session session;
    int num, provided;

    if (!is_open)
        MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    is_open = true;
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_num(&num);
    for (int i = 0; i < num; i++) {
        char name[128];
        int name_length = sizeof(name), desc_length = 0;
        int verbosity, class, bind, readonly, continuous, atomic, count;
        MPI_Datatype type;
        MPI_T_enum enumeration;
        MPI_T_pvar_handle handle;

        MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &class, &type, &enumeration, NULL,
                            &desc_length, &bind, &readonly, &continuous, &atomic);
        if (strcmp(name, wanted) != 0 || type != MPI_UNSIGNED_LONG_LONG)
            continue;
        MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &count);
        if (count == 1)
            MPI_T_pvar_read(session, handle, value);
        MPI_T_pvar_handle_free(session, &handle);
        break;
    }
    MPI_T_pvar_session_free(&session);
    return value[0];
}

/* Rank 0 prints "NAME LEAST MOST" of a performance variable that does not count. */
static inline void hwtest_print_extremes(const char *name, unsigned long long value)
{
    unsigned long long least = 0, most = 0;
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Reduce(&value, &least, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&value, &most, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %llu %llu\n", name, least, most);
}

/* Of a number, or of a state, which is an int. */
static inline unsigned long long hwtest_read_pvar(MPI_T_pvar_session session,
                                                  MPI_T_pvar_handle handle, MPI_Datatype type)
{
    unsigned long long value[1] = {0};
    int state[1] = {0};

    if (type == MPI_INT) {
        MPI_T_pvar_read(session, handle, state);
        return (unsigned long long) state[0];
    }
    MPI_T_pvar_read(session, handle, value);
    return value[0];
}

/* Rank 0 prints "NAME VALUE", summed over the ranks, of each counting performance variable that
 * belongs to no object and is wanted, and the least and the most of others. Collective over
 * MPI_COMM_WORLD; all ranks run the same library, so they find the same variables in the same
 * order. The tools interface must be initialized. */
static inline void hwtest_print_counters(bool (*wanted)(const char *name))
{
    MPI_T_pvar_session session;
    int num, rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_num(&num);
    for (int i = 0; i < num; i++) {
        char name[128];
        int name_length = sizeof(name), desc_length = 0, verbosity, class, bind, readonly;
        int continuous, atomic, count;
        unsigned long long value = 0, sum = 0;
        MPI_Datatype type;
        MPI_T_enum enumeration;
        MPI_T_pvar_handle handle;

        MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &class, &type, &enumeration, NULL,
                            &desc_length, &bind, &readonly, &continuous, &atomic);
        if (!wanted(name) || (type != MPI_UNSIGNED_LONG_LONG && type != MPI_INT) ||
            bind != MPI_T_BIND_NO_OBJECT)
            continue;
        MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &count);
        if (count == 1)
            value = hwtest_read_pvar(session, handle, type);
        MPI_T_pvar_handle_free(session, &handle);
        if (class != MPI_T_PVAR_CLASS_COUNTER) {
            hwtest_print_extremes(name, value);
            continue;
        }
        MPI_Reduce(&value, &sum, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%s %llu\n", name, sum);
    }
    MPI_T_pvar_session_free(&session);
}

#ifdef HWTEST_WITHOUT_MTEST
/* Stand-ins. Rank 0 tells what test/check-lab reads. */
static inline int MTest_Init(int *argc, char ***argv)
{
    return MPI_Init(argc, argv);
}

static inline int MTest_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return MPI_Init_thread(argc, argv, required, provided);
}

static inline int MTestReturnValue(int errs)
{
    return errs > 0;
}

static inline void MTest_Finalize(int errs)
{
    int rank, all;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Reduce(&errs, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("checked %llu broadcasts, %llu KiB, %d errors\nfinalizing\n", hwtest_done,
               hwtest_done_bytes >> 10, all);
    fflush(stdout);
    MPI_Finalize();
}
#endif

/* With the setting in the environment, a rank where the counter is 0 is an error. */
static inline int hwtest_expect(const char *setting, const char *counter)
{
    const char *expected = getenv(setting);

    if (expected == NULL || strcmp(expected, "1") != 0 || hwtest_counter(counter) > 0)
        return 0;
    printf("%s is 0: nothing went that way\n", counter);
    fflush(stdout);
    return 1;
}

/* The end of a test: the status for main to return. With HWTEST_MULTICAST=1 in the environment a
 * test also fails on a rank where nothing went by multicast, with HWTEST_TREES=1 where nothing went
 * along trees, with HWTEST_NODE=1 where nothing went through the memory of the node, with
 * HWTEST_LENT=1 where no adapter sent from the program's memory, with HWTEST_DIRECT=1 where none
 * received into it: right data alone would not show that the library quietly used another
 * algorithm. */
static inline int hwtest_finish(int errs)
{
    errs += hwtest_expect("HWTEST_MULTICAST", "hwmc_two_stage");
    errs += hwtest_expect("HWTEST_TREES", "hwmc_multilane");
    errs += hwtest_expect("HWTEST_NODE", "hwmc_shm_calls");
    errs += hwtest_expect("HWTEST_LENT", "hwmc_lent");
    errs += hwtest_expect("HWTEST_DIRECT", "hwmc_direct");
    MTest_Finalize(errs);
    return MTestReturnValue(errs);
}

#endif /* HWMC_TEST_MPI_UTIL_H_INCLUDED */
