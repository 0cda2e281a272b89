/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

/* Broadcasts buffers of growing size, checks every byte on every rank, and says how long it took
 * and what hwmc's own counters (MPI_T performance variables) have seen on rank 0. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 4 << 20, ROUNDS = 10 };

static unsigned char byte_at(size_t i, int round)
{
    return (unsigned char) (i * 131 + (i >> 8) * 7 + round);
}

/* Broadcast BYTES bytes ROUNDS times from changing roots; return the wrong bytes this rank saw. */
static long run(unsigned char *buf, int bytes, int rank, int size)
{
    long wrong = 0;

    for (int round = 0; round < ROUNDS; round++) {
        int root = round % size;
        if (rank == root) {
            for (int i = 0; i < bytes; i++)
                buf[i] = byte_at(i, round);
        } else {
            memset(buf, 0, bytes);
        }
        MPI_Bcast(buf, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
        for (int i = 0; i < bytes; i++)
            wrong += buf[i] != byte_at(i, round);
    }
    return wrong;
}

/* Print each 64-bit counter of hwmc that is not zero. */
static void print_counters(MPI_T_pvar_session session)
{
    int num;

    MPI_T_pvar_get_num(&num);
    for (int i = 0; i < num; i++) {
        char name[128], desc[256];
        int name_len = sizeof(name), desc_len = sizeof(desc);
        int verbosity, class, bind, readonly, continuous, atomic, count;
        MPI_Datatype type;
        MPI_T_enum values;
        MPI_T_pvar_handle handle;
        unsigned long long value = 0;

        MPI_T_pvar_get_info(i, name, &name_len, &verbosity, &class, &type, &values, desc, &desc_len,
                            &bind, &readonly, &continuous, &atomic);
        if (type != MPI_UNSIGNED_LONG_LONG || bind != MPI_T_BIND_NO_OBJECT || !strstr(name, "hwmc"))
            continue;
        MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &count);
        if (count == 1) {
            MPI_T_pvar_read(session, handle, &value);
            if (value)
                printf("  %-40s %llu\n", name, value);
        }
        MPI_T_pvar_handle_free(session, &handle);
    }
}

int main(int argc, char **argv)
{
    int rank, size, provided;
    long wrong = 0, all_wrong;
    unsigned char *buf = malloc(MAX_BYTES);
    MPI_T_pvar_session session;

    if (buf == NULL)
        return 1;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (int bytes = 1; bytes <= MAX_BYTES; bytes *= 16) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        wrong += run(buf, bytes, rank, size);
        MPI_Barrier(MPI_COMM_WORLD);
        double us = (MPI_Wtime() - start) / ROUNDS * 1e6;
        if (rank == 0)
            printf("%8d bytes to %d ranks: %9.1f us, filling and checking included\n", bytes, size,
                   us);
    }

    MPI_Reduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("wrong bytes: %ld\n", all_wrong);
        printf("hwmc counters on rank 0:\n");
        print_counters(session);
    }
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Finalize();
    free(buf);
    return wrong != 0;
}
